import Glibc
import PatchFrei0r
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// What a node reported.
final class Events: Sendable {
    private let events = Monitor<[NodeEvent]>([])
    func add(_ event: NodeEvent) { events.notify { $0.append(event) } }
    var problems: [PatchError] {
        events.withLock { $0.compactMap { if case .problem(let error) = $0 { error } else { nil } } }
    }
}

/// Plugins written for the tests, compiled once into a folder that FREI0R_PATH names for the whole test run.
enum TestPlugins {
    static let folder: String? = {
        guard let directory = try? TemporaryDirectory() else { return nil }
        kept = directory
        for name in ["misbehave", "crashAtLoad", "noPlugin", "cover"] {
            guard let source = try? Fixtures.package("Tests/PatchFrei0rTests/Plugins/\(name).c"),
                (try? Program.run("clang", ["-shared", "-fPIC", "-O1", "-o", directory.file("\(name).so"), source]))
                    != nil
            else { return nil }
        }
        setenv("FREI0R_PATH", directory.path + ":/usr/lib/frei0r-1", 1)
        if let helper = try? Executable.path(of: "patchbay-guest") { setenv("PATCHBAY_GUEST_HOST", helper, 1) }
        return directory.path
    }()
    // Written once, while `folder` is made.
    nonisolated(unsafe) private static var kept: TemporaryDirectory?
}

/// A plugin's node as a patch makes it.
func makeNode(_ plugin: String, _ options: [String: OptionValue] = [:], _ events: Events) throws -> any NativeNode {
    _ = try #require(TestPlugins.folder, "the test plugins cannot be compiled: clang and frei0r-plugins-dev are needed")
    let kind = try Frei0rGuests.family.kind(plugin)
    guard case .native(let make) = kind.factory else { throw TestProblem("\(plugin) is no native node") }
    let environment = NodeEnvironment(
        nodeID: "guest", location: SourceLocation(file: "test.lua", line: 3), report: { events.add($0) })
    return try make(NodeOptions(options), environment)
}

/// A run with its node's parameters by name.
struct TestRun {
    let run: any FrameOperator
    var floats: [Float]
    private let offsets: [String: Range<Int>]

    init(_ plugin: String, _ events: Events, sizes: [VideoFormat]) throws {
        let node = try makeNode(plugin, [:], events)
        let schema = try Frei0rGuests.family.kind(plugin).schema
        run = try node.prepare(inputs: sizes, rate: FrameRate(10))
        floats = schema.parameters.flatMap(\.defaultValue)
        var offsets: [String: Range<Int>] = [:]
        var next = 0
        for parameter in schema.parameters {
            offsets[parameter.name] = next..<next + parameter.form.count
            next += parameter.form.count
        }
        self.offsets = offsets
        try run.activate()
    }

    mutating func set(_ name: String, _ values: [Float]) throws {
        floats.replaceSubrange(try #require(offsets[name], "no parameter \(name)"), with: values)
    }

    func frame(_ inputs: [Frame], tick index: Int64, offline: Bool = true) -> Frame? {
        let optional: [Frame?] = inputs
        return optional.withUnsafeBufferPointer { frames in
            (floats + [0]).withUnsafeBufferPointer { floats in
                guard let base = floats.baseAddress else { return nil }
                return run.frame(
                    frames, parameters: base,
                    at: Tick(index: index, rate: FrameRate(10), hostTime: monotonicNanoseconds(), isOffline: offline))
            }
        }
    }
}

extension Frame {
    /// Red, green, blue, alpha in memory order of `rgba`.
    convenience init(_ format: VideoFormat, _ pixel: (Int, Int) -> [UInt8]) {
        self.init(allocating: format)
        for y in 0..<format.height {
            let row = plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<format.width {
                for (c, value) in pixel(x, y).enumerated() { row[4 * x + c] = value }
            }
        }
    }
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let row = plane(0).row(y).assumingMemoryBound(to: UInt8.self)
        return (0..<4).map { row[4 * x + $0] }
    }
}
