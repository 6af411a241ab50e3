import Glibc
import PatchFFmpeg
import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import PatchSound
import PatchTesting
import Testing

/// Kinds of node that exist only by name, as scripts see the real ones.
enum FakeGraph {
    static let registry = NodeRegistry(
        [
            source(
                "camera",
                [OptionSchema("device", .string, ""), size, fps, orientation, mirror, InputPolicy.offsetSchema]
                    + InputPolicy.schemas),
            source(
                "video",
                [OptionSchema("file", .file, ""), OptionSchema("url", .url, ""), OptionSchema("loop", .bool, "")]),
            source("image", [OptionSchema("file", .file, "The picture.", required: true)]),
            source("color", [OptionSchema("rgba", .color, ""), size]),
            source("testPattern", [OptionSchema("kind", .choice(["bars", "ramp"]), ""), size, fps]),
            source(
                "text",
                [
                    OptionSchema("string", .string, "What it says.", required: true, live: true),
                    OptionSchema("font", .string, ""),
                    OptionSchema("size", .number(1...2000), "", live: true),
                    OptionSchema("color", .color, "", live: true),
                    OptionSchema("width", .integer(1...16384), "", live: true),
                    OptionSchema("height", .integer(1...16384), "", live: true),
                    OptionSchema("align", .choice(["left", "center", "right"]), "", live: true),
                    OptionSchema(
                        "shadow",
                        .record([
                            OptionSchema("y", .number(-200...200), ""), OptionSchema("blur", .number(0...200), ""),
                        ]),
                        "", live: true),
                    OptionSchema(
                        "outline",
                        .record([OptionSchema("width", .number(0...100), ""), OptionSchema("color", .color, "")]), "",
                        live: true),
                ]),
            source("input", [size, fps, mirror, OptionSchema("default", .choice(["camera", "host", "test"]), "")]),
            source(
                "stream",
                [
                    OptionSchema("url", .url, "", required: true), OptionSchema("timeout", .number(1...120), ""),
                    InputPolicy.offsetSchema,
                ] + InputPolicy.schemas),
            sink(
                "rawDataOutput", [size, OptionSchema("format", .choice(["bgra", "rgba", "yuv420p"]), ""), file],
                forwards: true),
            sink(
                "display",
                [OptionSchema("title", .string, ""), OptionSchema("fill", .choice(["stretch", "fit", "fill"]), "")]),
            sink(
                "publisher",
                [
                    OptionSchema("url", .url, "", required: true), OptionSchema("preset", .string, ""),
                    OptionSchema("adaptive", .bool, ""), OptionSchema("keyframe", .number(0.1...20), ""),
                    OptionSchema("required", .bool, ""), OptionSchema("size", .size, ""),
                    OptionSchema("bitrate", .number(1...1e9), ""), OptionSchema("master", .string, ""),
                ]),
            sink(
                "recorder",
                [
                    OptionSchema("file", .outputFile, "", required: true),
                    OptionSchema("bitrate", .number(1...100_000), "", unit: "kbit/s"),
                    OptionSchema("split", .number(0...86_400), ""),
                ]),
            NodeKind(
                NodeSchema(
                    kind: "sharpenHard", role: .filter, summary: "",
                    parameters: [ParameterSchema("strength", default: [1], range: 0...2)]),
                .processor { _, _ in throw PatchError(.unavailable, "fake") }), .delay, microphone,
        ] + SoundNodes.kinds + FFmpegSound.kinds, operators: NativeOperators.all)

    private static let size = OptionSchema("size", .size, "", unit: "px")
    private static let fps = OptionSchema("fps", .number(1...240), "", unit: "1/s")
    private static let mirror = OptionSchema("mirror", .bool, "")
    private static let file = OptionSchema("file", .outputFile, "")
    private static let orientation = OptionSchema("orientation", .choice(["landscape", "portrait"]), "")

    private static let microphone: NodeKind = {
        var kind = source("microphone", [OptionSchema("channels", .integer(1...8), "")])
        kind.schema.hasPicture = false
        return kind
    }()
    private static func source(_ kind: String, _ options: [OptionSchema]) -> NodeKind {
        NodeKind(
            NodeSchema(kind: kind, role: .source, summary: "", options: options),
            .source { _, _ in throw PatchError(.unavailable, "fake") })
    }
    private static func sink(_ kind: String, _ options: [OptionSchema], forwards: Bool = false) -> NodeKind {
        NodeKind(
            NodeSchema(kind: kind, role: .sink, summary: "", options: options, forwards: forwards),
            .sink { _, _ in throw PatchError(.unavailable, "fake") })
    }

    /// With PATCHBAY_LIBRARY=Sources/PatchFilters/Library, the files as they are now instead of those that were built in.
    static let catalog: FilterCatalog = {
        guard let folder = getenv("PATCHBAY_LIBRARY").map({ String(cString: $0) }) else { return FilterCatalog() }
        do { return FilterCatalog(library: try FilterLibrary(folder: folder)) } catch {
            Issue.record(error)
            return FilterCatalog()
        }
    }()
}

/// A folder for one test, removed at its end.
final class Workspace: Sendable {
    private let temporary: TemporaryDirectory?
    var folder: String { temporary?.path ?? "/nonexistent" }

    init() {
        do { temporary = try TemporaryDirectory() } catch {
            temporary = nil
            Issue.record(error)
        }
    }

    /// Writes as editors do: beside, then renamed.
    @discardableResult func write(_ name: String, _ text: String, inPlace: Bool = false) -> String {
        let path = folder + "/" + name
        _ = system("mkdir -p '\(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])'")
        let target = inPlace ? path : path + "~"
        if let file = fopen(target, "w") {
            fputs(text, file)
            fclose(file)
        }
        if !inPlace { rename(target, path) }
        return path
    }

    func remove(_ name: String) { unlink(folder + "/" + name) }

    /// The patch of a graph with this text.
    func build(
        _ text: String, options: ScriptOptions = ScriptOptions(), registry: NodeRegistry = FakeGraph.registry
    ) throws -> Patch {
        let path = write("graph.lua", text)
        return try ScriptHost(
            path: path, registry: registry, catalog: FakeGraph.catalog, options: options
        ).build()
    }

    /// The error of a graph with this text, without the folder in front.
    func errorText(_ text: String, options: ScriptOptions = ScriptOptions()) -> String {
        do {
            _ = try build(text, options: options)
            return "no error"
        } catch {
            let description = (error as? PatchError)?.description ?? "\(error)"
            return description.hasPrefix(folder + "/") ? String(description.dropFirst(folder.count + 1)) : description
        }
    }
}

/// An engine that only remembers what it was told.
final class FakeHost: GraphHost {
    struct Record {
        var patches: [(patch: Patch, reload: Bool)] = []
        var parameters: [(node: NodeID, name: String, value: ParameterValue)] = []
        var options: [(node: NodeID, name: String, value: OptionValue?)] = []
        var controls: [String: ControlValue] = [:]
        var errors: [PatchError] = []
        var logs: [String] = []
        var reloads: [ReloadReport] = []
        var refusal: PatchError?
        var data: [NodeID: OperatorData.Snapshot] = [:]
    }

    let record = Monitor(Record())

    func apply(_ patch: Patch, reload: Bool) throws {
        try record.notify { record in
            if let refusal = record.refusal { throw refusal }
            record.patches.append((patch, reload))
        }
    }
    func setParameter(node: NodeID, name: String, value: ParameterValue) {
        record.notify { $0.parameters.append((node, name, value)) }
    }
    func setOption(node: NodeID, name: String, value: OptionValue?) {
        record.notify { $0.options.append((node, name, value)) }
    }
    func options(of node: NodeID) -> NodeOptions? { nil }
    func controlValue(_ name: String) -> ControlValue? { record.withLock { $0.controls[name] } }
    func setControl(_ name: String, _ value: ControlValue) { record.notify { $0.controls[name] = value } }
    func parameterFloats(node: NodeID, name: String) -> [Float]? { nil }
    func operatorData(node: NodeID, after seen: Int64) -> OperatorData.Snapshot? {
        record.withLock { $0.data[node].flatMap { $0.tick == seen ? nil : $0 } }
    }

    /// Options that report to this host.
    var options: ScriptOptions {
        var options = ScriptOptions()
        options.onError = { [record] error in record.notify { $0.errors.append(error) } }
        options.log = { [record] entry in record.notify { $0.logs.append(entry.message) } }
        options.onReload = { [record] report in record.notify { $0.reloads.append(report) } }
        return options
    }

    /// Whether a condition comes true within 20 s.
    func waits(for condition: (Record) -> Bool) -> Bool { wait { condition($0) ? true : nil } != nil }

    /// Waits for a value, at most 20 s.
    func wait<R>(_ body: (inout Record) -> R?) -> R? {
        record.wait(until: monotonicNanoseconds() + 20_000_000_000, body)
    }
}

func symlinkFile(_ target: String, _ path: String) { _ = symlink(target, path) }

/// Memory of this process.
func residentKilobytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 256)
    guard fgets(&buffer, 256, file) != nil else { return 0 }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4 : 0
}
