import Foundation
import PatchGraph
import PatchKernel
import PatchLua
import PatchMedia
import Patchbay

/// A graph of ours on an engine whose ticks the bench makes: what the product does for each frame, without clock and outputs.
final class OurRun {
    private final class Picture: MediaSource {
        private let frame: Frame
        init(_ frame: Frame) { self.frame = frame }
        func open() throws -> SourceFormat { SourceFormat(video: frame.format, rate: FrameRate(30)) }
        func start() throws {}
        func stop() {}
        func frame(at tick: Tick) -> SourceReading { .frame(frame) }
    }

    private final class Result: MediaSink {
        private let format: VideoFormat
        init(_ format: VideoFormat) { self.format = format }
        func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
            SinkRequest(video: format, fill: .stretch)
        }
        func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
        func consume(_ delivery: Delivery) throws {}
        func finish() {}
    }

    let engine: Engine
    private var tick: Int64 = 0

    /// The library's files as they are now, with PATCHBAY_LIBRARY, else those that were built in.
    static let catalog: FilterCatalog = {
        guard let folder = ProcessInfo.processInfo.environment["PATCHBAY_LIBRARY"],
            let library = try? FilterLibrary(folder: folder)
        else { return .standard }
        return FilterCatalog(library: library, lookups: .standard)
    }()

    /// - Parameters:
    ///   - pictures: by the names that the graph uses.
    ///   - results: the formats of its results, by name.
    ///   - folder: where the graph's file may stand, beside what it reads.
    /// - Throws: `PatchError` when the graph cannot be built or planned.
    init(
        _ way: OurWay, size: (width: Int, height: Int), pictures: [String: Frame], results: [String: VideoFormat],
        folder: String, threads: Int, processor: String?
    ) throws {
        let registry = NodeRegistry.standard()
        registry.register([
            NodeKind(
                NodeSchema(kind: "picture", role: .source, summary: "A picture of the bench."),
                .source { _, environment in
                    guard let frame = pictures[environment.nodeID] else {
                        throw PatchError(.notFound, "there is no picture '\(environment.nodeID)'")
                    }
                    return Picture(frame)
                }),
            NodeKind(
                NodeSchema(kind: "result", role: .sink, summary: "Takes frames of the bench.", forwards: true),
                .sink { _, environment in
                    guard let format = results[environment.nodeID] else {
                        throw PatchError(.notFound, "there is no result '\(environment.nodeID)'")
                    }
                    return Result(format)
                }),
        ])
        let path = "\(folder)/graph-\(ProcessInfo.processInfo.processIdentifier).lua"
        let light = way.light.map { ", light = '\($0)'" } ?? ""
        let text = "graph{ size = '\(size.width)x\(size.height)', fps = 30\(light) }\n\(way.graph)\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { unlink(path) }
        let patch = try ScriptHost(path: path, registry: registry, catalog: Self.catalog).build()
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = threads
        configuration.graphDirectory = folder
        configuration.compiler.processor = processor
        engine = try Engine(configuration, registry: registry)
        try engine.load(patch)
    }

    deinit { engine.stop(drainLimit: 0) }

    /// One frame.
    func run() throws {
        try engine.renderOnce(tick: tick)
        tick += 1
    }

    /// The bytes of the last frame.
    /// - Throws: `BenchProblem` when none came.
    func output() throws -> [UInt8] {
        guard let frame = engine.frame(forSink: "out") else { throw BenchProblem("no frame came out") }
        return frame.bytes
    }

    /// Milliseconds of each of so many frames.
    func times(_ count: Int) throws -> [Double] {
        try (0..<count).map { _ in
            let start = monotonicNanoseconds()
            try run()
            return Double(monotonicNanoseconds() - start) / 1e6
        }
    }
}
