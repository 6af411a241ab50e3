import Glibc
import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import Synchronization
import Testing

/// Runs a filter as users do: a graph in Lua, the planner, the engine, pictures of half floats in and out.
enum FilterEngine {
    /// - Parameters:
    ///   - text: a graph in Lua with sources `source_PORT` and the sink `pictures`: see `graph`.
    ///   - inputs: for each source its pictures in time; the last one stays.
    ///   - threads: workers of the engine.
    ///   - output: size that the sink asks for; nil takes what comes.
    /// - Returns: the pictures of all ticks, premultiplied.
    static func run(
        _ text: String, inputs: [(port: String, pictures: [FilterPicture])], ticks: Int = 1, threads: Int = 2,
        output: (width: Int, height: Int)? = nil
    ) throws -> [FilterPicture] {
        let sink = PictureSink(output)
        let sources = try inputs.map { input in
            let source = try PictureSource(input.pictures)
            return NodeKind(
                NodeSchema(kind: "source_\(input.port)", role: .source, summary: ""), .source { _, _ in source })
        }
        let registry = NodeRegistry(
            sources + [NodeKind(NodeSchema(kind: "pictures", role: .sink, summary: ""), .sink { _, _ in sink })],
            operators: NativeOperators.all)
        let workspace = workspace(for: text)
        let patch = try ScriptHost(
            path: workspace.write("graph.lua", text), registry: registry, catalog: FakeGraph.catalog
        ).build()
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = threads
        configuration.duration = FrameRate(30).time(ofFrame: Int64(ticks))
        configuration.graphDirectory = workspace.folder
        let problems = Mutex<[String]>([])
        configuration.onEvent = { event in
            if case .node(let id, .problem(let error), _) = event { problems.withLock { $0.append("\(id): \(error)") } }
        }
        let engine = try Engine(configuration, registry: registry)
        defer { engine.stop() }
        try engine.load(patch)
        try engine.start()
        let isFinished = engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000)
        #expect(isFinished, "the engine hangs")
        engine.stop()
        #expect(problems.withLock { $0 } == [])
        return sink.pictures
    }

    /// A folder for the graph, with the files that it names below Fixtures/filters/files.
    private static func workspace(for text: String) -> Workspace {
        let workspace = Workspace()
        if text.contains("\"files/") { _ = system("cp -r '\(FilterCase.folder)/files' '\(workspace.folder)/files'") }
        return workspace
    }

    /// A filter as it is when a node gives these options.
    static func filter(_ name: String, options: [(name: String, text: String)]) throws -> KernelFilter {
        if options.isEmpty { return try FakeGraph.catalog.filter(name) }
        let text = graph(name, ports: [], options: options, forms: [:])
        let lines = text.split(separator: "\n").filter { !$0.hasSuffix("pictures { \"out\" }") }
        let workspace = workspace(for: text)
        let path = workspace.write("graph.lua", lines.joined(separator: "\n"))
        let patch = try ScriptHost(path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog).build()
        guard case .kernels(let filter)? = patch.node("node")?.body else {
            throw PatchError(.kernel, "'\(name)' is no filter of kernels")
        }
        return filter
    }

    /// The graph that has a filter between its sources and the sink.
    static func graph(
        _ name: String, ports: [String], parameters: [String: [Float]] = [:],
        options: [(name: String, text: String)] = [], forms: [String: ParameterSchema.Form]
    ) -> String {
        var fields = ["\"node\""]
        for (key, floats) in parameters.sorted(by: { $0.key < $1.key }) {
            let value =
                forms[key] == .bool
                ? (floats.first == 0 ? "false" : "true")
                : floats.count == 1 ? "\(floats[0])" : "{" + floats.map { "\($0)" }.joined(separator: ", ") + "}"
            fields.append("\(key) = \(value)")
        }
        for option in options {
            let isPlain = Float(option.text) != nil || ["true", "false"].contains(option.text)
            fields.append("\(option.name) = \(isPlain ? option.text : "\"\(option.text)\"")")
        }
        let word = name.contains(".") ? name : "filter." + name
        var lines = ["local node = \(word) { \(fields.joined(separator: ", ")) }"]
        for port in ports { lines.append("source_\(port) { \"\(port)\" } >> node.\(port)") }
        lines.append("node >> pictures { \"out\" }")
        return lines.joined(separator: "\n")
    }
}

/// Hands out given pictures, one a tick.
final class PictureSource: MediaSource {
    private let frames: [Frame]
    private let format: VideoFormat

    init(_ pictures: [FilterPicture]) throws {
        frames = try pictures.map { try $0.frame() }
        format = try #require(pictures.first).format
    }

    func open() throws -> SourceFormat { SourceFormat(video: format, rate: FrameRate(30)) }
    func start() throws {}
    func frame(at tick: Tick) -> SourceReading { .frame(frames[min(frames.count - 1, Int(tick.index))]) }
    func stop() {}
}

/// Keeps what arrives.
final class PictureSink: MediaSink {
    private let size: (width: Int, height: Int)?
    private let kept = Mutex<[FilterPicture]>([])

    init(_ size: (width: Int, height: Int)?) { self.size = size }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        let size = size ?? offered?.displaySize ?? (1, 1)
        return SinkRequest(
            video: VideoFormat(.half4, width: size.width, height: size.height, color: .srgb), fill: .stretch,
            queue: .block(depth: 4, limit: .max / 4))
    }
    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
    func consume(_ delivery: Delivery) throws {
        guard let frame = delivery.frame else { return }
        kept.withLock { $0.append(FilterPicture(premultiplied: frame)) }
    }
    func finish() {}
    var pictures: [FilterPicture] { kept.withLock { $0 } }
}
