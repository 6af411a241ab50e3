import Glibc
import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import Synchronization
import Testing

/// One case of Fixtures/mixer/mixer.txt: sources, what a script says of the slots, and the codes that must come out.
struct MixerCase: Sendable, CustomTestStringConvertible {
    struct Source: Sendable {
        var name: String
        var kind: String
        var width: Int
        var height: Int
        var seed: Int
    }

    var name = ""
    var size = (width: 0, height: 0)
    var fill = ""
    var format = PixelFormat.rgba
    var limit = 0
    var sources: [Source] = []
    var lines: [String] = []
    var rows: [[UInt8]] = []

    var testDescription: String { name }

    static let all: [MixerCase] = {
        let path = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Fixtures/mixer/mixer.txt"
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 22)
        let count = fread(&bytes, 1, bytes.count, file)
        var cases: [MixerCase] = []
        var current = MixerCase()
        for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map { String($0) }
            let rest = words.count > 1 ? words[1] : ""
            func sides(_ text: String) -> (Int, Int) {
                let parts = text.split(separator: "x").compactMap { Int($0) }
                return parts.count == 2 ? (parts[0], parts[1]) : (0, 0)
            }
            switch words[0] {
            case "case": current = MixerCase(name: rest)
            case "size": current.size = sides(rest)
            case "fill": current.fill = rest
            case "format": current.format = PixelFormat(rawValue: rest) ?? .rgba
            case "within": current.limit = Int(rest) ?? 0
            case "source":
                let parts = rest.split(separator: " ").map { String($0) }
                let (width, height) = sides(parts[2])
                current.sources.append(
                    Source(name: parts[0], kind: parts[1], width: width, height: height, seed: Int(parts[3]) ?? 0))
            case "lua": current.lines.append(rest)
            case "row":
                let digits = Array(rest.utf8)
                current.rows.append(
                    stride(from: 0, to: digits.count - 1, by: 2).map {
                        UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
                    })
            default: cases.append(current)
            }
        }
        return cases
    }()
}

/// The pattern that mixer.py's sources show; `changing` is `clear`, and of the next seed from tick 12 on.
final class PatternSource: MediaSource {
    let frame: Frame
    private let next: Frame?

    init(_ source: MixerCase.Source) {
        if source.kind == "changing" {
            var (now, then) = (source, source)
            (now.kind, then.kind) = ("clear", "clear")
            then.seed += 1
            frame = Self.frame(now)
            next = Self.frame(then)
        } else {
            frame = Self.frame(source)
            next = nil
        }
    }

    private static func frame(_ source: MixerCase.Source) -> Frame {
        let isVideo = source.kind == "yuv420p"
        let frame = Frame(
            allocating: VideoFormat(isVideo ? .yuv420p : .rgba, width: source.width, height: source.height))
        func value(_ x: Int, _ y: Int, _ c: Int, _ seed: Int) -> Int {
            (x * 37 + y * 59 + c * 83 + seed * 101 + x * y * 7 / 2) & 255
        }
        if isVideo {
            for plane in 0..<3 {
                let layout = PixelFormat.yuv420p.layout(ofPlane: plane)
                for y in 0..<layout.height(of: source.height) {
                    let row = frame.plane(plane).row(y).assumingMemoryBound(to: UInt8.self)
                    for x in 0..<layout.width(of: source.width) {
                        row[x] = UInt8(value(x, y, 0, source.seed + plane) / 2 + (plane == 0 ? 40 : 64))
                    }
                }
            }
        } else {
            for y in 0..<source.height {
                let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
                for x in 0..<source.width {
                    for c in 0..<3 { row[4 * x + c] = UInt8(value(x, y, source.kind == "grey" ? 0 : c, source.seed)) }
                    row[4 * x + 3] = 255
                    guard source.kind == "clear" else { continue }
                    let alpha = value(x, y, 3, source.seed)
                    for c in 0..<3 { row[4 * x + c] = UInt8((Int(row[4 * x + c]) * alpha + 127) / 255) }
                    row[4 * x + 3] = UInt8(alpha)
                }
            }
        }
        return frame
    }

    func open() throws -> SourceFormat { SourceFormat(video: frame.format, rate: FrameRate(30)) }
    func start() throws {}
    func frame(at tick: Tick) -> SourceReading { .frame(tick.index < 12 ? frame : next ?? frame) }
    func stop() {}
}

/// Keeps the codes of each frame, plane after plane, row after row.
final class CodesSink: MediaSink {
    let format: VideoFormat
    private let kept = Mutex<[[[UInt8]]]>([])

    init(_ format: VideoFormat) { self.format = format }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        SinkRequest(video: format, fill: .stretch, queue: .block(depth: 4, limit: .max / 4))
    }
    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
    func consume(_ delivery: Delivery) throws {
        guard let frame = delivery.frame else { return }
        var rows: [[UInt8]] = []
        for index in 0..<format.pixelFormat.planeCount {
            let layout = format.pixelFormat.layout(ofPlane: index)
            for y in 0..<layout.height(of: format.height) {
                rows.append(
                    Array(
                        UnsafeRawBufferPointer(
                            start: frame.plane(index).row(y),
                            count: layout.width(of: format.width) * layout.bytesPerPixel)))
            }
        }
        kept.withLock { $0.append(rows) }
    }
    func finish() {}
    var pictures: [[[UInt8]]] { kept.withLock { $0 } }
}

/// Runs mixers as users do: a graph in Lua, the planner, the engine.
enum MixerRunner {
    /// - Parameter text: what comes after the sources; wires something to `out`.
    /// - Returns: the codes of all ticks, and the engine, which has stopped.
    static func run(
        _ sources: [MixerCase.Source], _ text: String, output: VideoFormat, ticks: Int = 1, threads: Int = 2,
        beforeTick: (@Sendable (Tick, Engine?) -> Void)? = nil
    ) throws -> (pictures: [[[UInt8]]], engine: Engine) {
        let (registry, patch, sink) = try build(sources, text, output)
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = threads
        configuration.duration = FrameRate(30).time(ofFrame: Int64(ticks))
        let running = Mutex<Engine?>(nil)
        if let beforeTick { configuration.beforeTick = { tick in beforeTick(tick, running.withLock { $0 }) } }
        let engine = try Engine(configuration, registry: registry)
        running.withLock { $0 = engine }
        try engine.load(patch)
        try engine.start()
        let isFinished = engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000)
        #expect(isFinished, "the engine hangs")
        engine.stop()
        running.withLock { $0 = nil }
        return (sink.pictures, engine)
    }

    /// An engine with the graph loaded, whose ticks the caller renders.
    static func loaded(
        _ sources: [MixerCase.Source], _ text: String, output: VideoFormat, threads: Int
    ) throws -> Engine {
        let (registry, patch, _) = try build(sources, text, output)
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = threads
        let engine = try Engine(configuration, registry: registry)
        try engine.load(patch)
        return engine
    }

    private static func build(
        _ sources: [MixerCase.Source], _ text: String, _ output: VideoFormat
    ) throws -> (NodeRegistry, Patch, CodesSink) {
        let sink = CodesSink(output)
        let kinds = sources.map { source in
            let pattern = PatternSource(source)
            return NodeKind(
                NodeSchema(kind: "source_\(source.name)", role: .source, summary: ""), .source { _, _ in pattern })
        }
        let registry = NodeRegistry(
            kinds + [NodeKind(NodeSchema(kind: "codes", role: .sink, summary: ""), .sink { _, _ in sink }), .delay],
            operators: NativeOperators.all)
        let made = sources.map { "local \($0.name) = source_\($0.name){ \"\($0.name)\" }" }
        let workspace = Workspace()
        let patch = try ScriptHost(
            path: workspace.write(
                "graph.lua", (made + ["local out = codes{ \"out\" }", text]).joined(separator: "\n")),
            registry: registry, catalog: FakeGraph.catalog
        ).build()
        return (registry, patch, sink)
    }
}
