import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import Synchronization
import Testing

/// Runs a node over one 8-bit picture, as cameras and files deliver them: a graph in Lua, the planner, the engine.
enum ByteEngine {
    /// - Parameters:
    ///   - node: a constructor in Lua, such as `filter.beautify { smooth = 1 }`.
    ///   - picture: R G B A, row by row.
    /// - Returns: R G B A of the result.
    static func run(_ node: String, _ picture: [UInt8], width: Int, height: Int, threads: Int = 2) throws -> [UInt8] {
        let format = VideoFormat(.rgba, width: width, height: height, color: .srgb)
        let source = ByteSource(picture, format)
        let sink = ByteSink(format)
        let registry = NodeRegistry(
            [
                NodeKind(NodeSchema(kind: "bytes", role: .source, summary: ""), .source { _, _ in source }),
                NodeKind(NodeSchema(kind: "result", role: .sink, summary: ""), .sink { _, _ in sink }),
            ], operators: NativeOperators.all)
        let workspace = Workspace()
        let patch = try ScriptHost(
            path: workspace.write("graph.lua", "bytes { \"in\" } >> \(node) >> result { \"out\" }"), registry: registry,
            catalog: FakeGraph.catalog
        ).build()
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = threads
        configuration.duration = FrameRate(30).time(ofFrame: 1)
        configuration.graphDirectory = workspace.folder
        let engine = try Engine(configuration, registry: registry)
        defer { engine.stop() }
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 120_000_000_000), "the engine hangs")
        // Sinks have threads of their own: stopping waits for what they were given.
        engine.stop()
        return try #require(sink.picture)
    }

    private final class ByteSource: MediaSource {
        private let frame: Frame

        init(_ bytes: [UInt8], _ format: VideoFormat) {
            frame = Frame(allocating: format)
            for y in 0..<format.height {
                bytes.withUnsafeBytes {
                    frame.plane(0).row(y).copyMemory(
                        from: $0.baseAddress! + 4 * format.width * y, byteCount: 4 * format.width)
                }
            }
        }

        func open() throws -> SourceFormat { SourceFormat(video: frame.format, rate: FrameRate(30)) }
        func start() throws {}
        func frame(at tick: Tick) -> SourceReading { .frame(frame) }
        func stop() {}
    }

    private final class ByteSink: MediaSink {
        private let format: VideoFormat
        private let kept = Mutex<[UInt8]?>(nil)
        init(_ format: VideoFormat) { self.format = format }

        func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
            SinkRequest(video: format, fill: .stretch, queue: .block(depth: 4, limit: .max / 4))
        }
        func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
        func consume(_ delivery: Delivery) throws {
            guard let frame = delivery.frame else { return }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(4 * frame.width * frame.height)
            for y in 0..<frame.height {
                bytes += UnsafeRawBufferPointer(start: frame.plane(0).row(y), count: 4 * frame.width)
            }
            kept.withLock { $0 = bytes }
        }
        func finish() {}
        var picture: [UInt8]? { kept.withLock { $0 } }
    }
}
