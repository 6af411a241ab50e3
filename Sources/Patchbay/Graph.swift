import PatchGraph
import PatchLua
import PatchMedia
import PatchSound
import Synchronization

/// A graph that a Swift program wires, in the words of the scripts: sources, filters and sinks joined by `-->`.
///
/// ```swift
/// let graph = Graph()
/// let camera = graph.camera("cam", orientation: .portrait, mirror: true)
/// let smooth = try graph.filter("brightness", "bright", ["amount": 0.1])
/// camera --> smooth --> graph.display("view")
/// try graph.start()
/// ```
/// Before `start`, calls only describe. While running, each `edit { … }` goes on air at one tick; a wiring call outside an
/// `edit` is an edit of its own.
/// Thread-safety: all members may be called from any thread; `edit` blocks run one at a time.
public final class Graph: Sendable {
    /// Pushes frames out of `rawDataOutput` nodes into closures.
    public let rawData = RawDataHandlers()
    public let registry: NodeRegistry
    private let catalog = FilterCatalog.standard

    struct State {
        var patch = Patch()
        var engine: Engine?
        var depth = 0
        var counts: [String: Int] = [:]
        var listeners: [@Sendable (NodeID, NodeEvent) -> Void] = []
        /// The slots of each mixer, as they were told.
        var mixers: [NodeID: [(name: String, slot: MixerSlot)]] = [:]
    }
    let state: Mutex<State>

    /// - Parameters:
    ///   - size: canvas for nodes that have none of their own, in pixels.
    ///   - rate: frames a second; nil takes the sources' rate.
    public init(size: (width: Int, height: Int)? = nil, rate: FrameRate? = nil) {
        registry = .standard(rawData: rawData)
        var patch = Patch()
        patch.settings.width = size?.width
        patch.settings.height = size?.height
        patch.settings.rate = rate
        state = Mutex(State(patch: patch))
    }

    /// What has been described so far.
    public var patch: Patch { state.withLock { $0.patch } }

    /// The running engine; nil before `start`.
    public var engine: Engine? { state.withLock { $0.engine } }

    // MARK: Nodes

    /// A node of any registered kind.
    /// - Parameter name: its stable name; nil numbers it by kind.
    @discardableResult
    public func node(
        _ kind: String, _ name: String? = nil, options: [String: OptionValue] = [:],
        parameters: [String: ParameterValue] = [:]
    ) -> GraphNode {
        add(kind: kind, name: name, body: .registered, options: options, parameters: parameters)
    }

    /// A filter of the library by name, such as "brightness"; numbers set its parameters.
    /// - Parameter options: what the filter is built for; those that are not given have their defaults.
    /// - Throws: `PatchError` with the nearest name when there is no such filter or parameter, or a value is out of range.
    public func filter(
        _ kind: String, _ name: String? = nil, _ parameters: [String: Double] = [:],
        options: [String: OptionValue] = [:]
    ) throws -> GraphNode {
        let filter = try catalog.filter(kind, options: NodeOptions(options))
        for key in options.keys.sorted() where key != "size" && !filter.options.contains(where: { $0.name == key }) {
            throw PatchError(
                .graph, "filter '\(kind)' has no option '\(key)'",
                remedy: Spelling.nearest(to: key, in: filter.options.map(\.name)).map { "did you mean '\($0)'?" } ?? "")
        }
        var values: [String: ParameterValue] = [:]
        for (key, number) in parameters {
            guard let schema = filter.parameters.first(where: { $0.name == key }) else {
                let near = Spelling.nearest(to: key, in: filter.parameters.map(\.name))
                throw PatchError(
                    .graph, "filter '\(kind)' has no parameter '\(key)'",
                    remedy: near.map { "did you mean '\($0)'?" }
                        ?? "its parameters: \(filter.parameters.map(\.name).joined(separator: ", "))")
            }
            let value = Float(number)
            if let range = schema.range, !range.contains(value) {
                throw PatchError(
                    .graph, "'\(key)' of filter '\(kind)' is \(number)",
                    remedy: "its range is \(range.lowerBound)…\(range.upperBound)")
            }
            values[key] = .constant(Array(repeating: value, count: schema.form.count))
        }
        return add(kind: "filter.\(kind)", name: name, body: .kernels(filter), options: options, parameters: values)
    }

    /// A filter in Swift.
    public func processor(_ name: String, _ processor: any VideoProcessor) -> GraphNode {
        let kind = "processor.\(name)"
        let schema = NodeSchema(kind: kind, role: .filter, summary: "A filter of the host program.")
        registry.register([NodeKind(schema, .processor { _, _ in processor })])
        return add(kind: kind, name: name, body: .registered, options: [:], parameters: [:])
    }

    /// A filter for sound in Swift: changes blocks of samples in place.
    /// - Parameter make: called for each run of the node, and again when its channels change.
    public func soundProcessor(
        _ name: String, _ make: @escaping @Sendable () throws -> any SoundProcessor
    ) -> GraphNode {
        let kind = "processor.\(name)"
        let schema = NodeSchema(
            kind: kind, role: .filter, summary: "A sound filter of the host program.", ports: ["audio"])
        registry.register([NodeKind(schema, .sound { _, _ in try make() })])
        return add(kind: kind, name: name, body: .registered, options: [:], parameters: [:])
    }

    /// A V4L2 camera.
    public func camera(
        _ name: String? = nil, device: String? = nil, size: (width: Int, height: Int)? = nil, fps: Double? = nil,
        orientation: String? = nil, mirror: Bool = false
    ) -> GraphNode {
        var options: [String: OptionValue] = [:]
        if let device { options["device"] = .string(device) }
        if let size { options["size"] = .vector([Double(size.width), Double(size.height)]) }
        if let fps { options["fps"] = .number(fps) }
        if let orientation { options["orientation"] = .string(orientation) }
        if mirror { options["mirror"] = .bool(true) }
        return node("camera", name, options: options)
    }

    /// A media file.
    public func video(_ name: String? = nil, file: String, loop: Bool = false) -> GraphNode {
        node("video", name, options: ["file": .string(file), "loop": .bool(loop)])
    }

    /// A generated picture: `bars`, `ramp` or `zonePlate`.
    public func testPattern(_ name: String? = nil, kind: String = "bars") -> GraphNode {
        node("testPattern", name, options: ["kind": .string(kind)])
    }

    /// A line or more of text.
    /// - Parameter options: font, size, color and the others that `patchbay` scripts give to `text`.
    public func text(_ name: String? = nil, _ string: String, options: [String: OptionValue] = [:]) -> GraphNode {
        node("text", name, options: options.merging(["string": .string(string)]) { $1 })
    }

    /// A window.
    public func display(_ name: String? = nil, fill: FillMode = .fit) -> GraphNode {
        node("display", name, options: ["fill": .string(fill.rawValue)])
    }

    /// Raw frames in a closure, which runs on the output's own thread.
    public func rawDataOutput(
        _ name: String, size: (width: Int, height: Int)? = nil, format: PixelFormat = .bgra,
        onFrame: @escaping RawDataHandlers.Handler
    ) -> GraphNode {
        var options: [String: OptionValue] = ["format": .string(format.rawValue)]
        if let size { options["size"] = .vector([Double(size.width), Double(size.height)]) }
        rawData.onFrame(of: name, onFrame)
        return node("rawDataOutput", name, options: options)
    }

    /// A live output to an RTMP, SRT, UDP or RTSP address, or an HLS playlist. The address may hold a stream key: it is kept
    /// out of every message.
    public func publisher(_ name: String, url: String, preset: String? = nil) -> GraphNode {
        let hidden = Secret(value: url, redacted: "<url of \(name)>")
        var options: [String: OptionValue] = ["url": .secret(hidden)]
        if let preset { options["preset"] = .string(preset) }
        return node("publisher", name, options: options)
    }

    /// A recording; the container follows from the file's extension.
    public func recorder(_ name: String, file: String) -> GraphNode {
        node("recorder", name, options: ["file": .string(file)])
    }

    func add(
        kind: String, name: String?, body: PatchNode.Body, options: [String: OptionValue],
        parameters: [String: ParameterValue]
    ) -> GraphNode {
        let id = state.withLock { state in
            let count = state.counts[kind, default: 0] + 1
            state.counts[kind] = count
            let id = name ?? "\(kind)-\(count)"
            state.patch.nodes.append(
                PatchNode(
                    id: id, kind: kind, body: body, options: NodeOptions(options), parameters: parameters,
                    isNamed: name != nil))
            return id
        }
        return GraphNode(graph: self, id: id)
    }

    // MARK: Running

    /// Hears what nodes say while the graph runs, on any thread; must return soon.
    public func onNodeEvent(_ listener: @escaping @Sendable (NodeID, NodeEvent) -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// Plans the graph, opens its nodes and goes on air.
    /// - Throws: `PatchError` that names the node; nothing runs then.
    public func start(_ configuration: EngineConfiguration = EngineConfiguration()) throws {
        var configuration = configuration
        if configuration.makeMeter == nil { configuration.makeMeter = { LoudnessMeter() } }
        let onEvent = configuration.onEvent
        configuration.onEvent = { [weak self] event in
            onEvent(event)
            guard let self, case .node(let id, let nodeEvent, _) = event else { return }
            for listener in state.withLock({ $0.listeners }) { listener(id, nodeEvent) }
        }
        let engine = try Engine(configuration, registry: registry)
        do {
            try engine.load(patch)
            try engine.start()
        } catch {
            engine.stop(drainLimit: 0)
            throw error
        }
        state.withLock { $0.engine = engine }
    }

    /// Waits until every source has ended or the duration is over.
    public func waitUntilFinished() { _ = engine?.waitUntilFinished() }

    /// Ends the graph; files are finished properly.
    public func stop() {
        let engine = state.withLock { state in
            defer { state.engine = nil }
            return state.engine
        }
        engine?.stop()
    }

    /// Several changes as one: they go on air together, at one tick.
    /// - Throws: what `body` throws, and `PatchError` when the changed graph cannot run; the old wiring is back then.
    public func edit(_ body: () throws -> Void) throws {
        let (before, mixers) = state.withLock { state in
            state.depth += 1
            return (state.patch, state.mixers)
        }
        do {
            try body()
            let (isOutermost, engine, patch) = state.withLock { ($0.depth == 1, $0.engine, $0.patch) }
            if isOutermost, let engine { try engine.load(patch, isReload: false) }
            state.withLock { $0.depth -= 1 }
        } catch {
            state.withLock {
                $0.patch = before
                $0.mixers = mixers
                $0.depth -= 1
            }
            throw error
        }
    }

    /// The newest numbers that a node's native operators publish: a mean colour, a histogram, corners. nil before the first.
    public func data(of node: GraphNode) -> OperatorData.Snapshot? { engine?.operatorData(node: node.id) }

    /// Lets a node run for its numbers though its picture may reach no sink.
    public func watch(_ node: GraphNode) {
        state.withLock { state in
            guard let index = state.patch.nodes.firstIndex(where: { $0.id == node.id }) else { return }
            state.patch.nodes[index].isWatched = true
        }
    }

    /// Turns a knob of a node from the next tick on, and remembers it for later edits.
    public func set(_ node: GraphNode, _ parameter: String, _ value: ParameterValue) {
        let engine = state.withLock { state in
            if let index = state.patch.nodes.firstIndex(where: { $0.id == node.id }) {
                state.patch.nodes[index].parameters[parameter] = value
            }
            return state.engine
        }
        engine?.setParameter(node: node.id, name: parameter, value)
    }

    /// Changes an option that may change on air, such as a text's "string", and remembers it for later edits.
    /// - Throws: `PatchError.usage` when the graph runs and the option is fixed.
    public func set(_ node: GraphNode, option: String, _ value: OptionValue?) throws {
        try engine?.setOption(node: node.id, name: option, value)
        state.withLock { state in
            if let index = state.patch.nodes.firstIndex(where: { $0.id == node.id }) {
                state.patch.nodes[index].options.values[option] = value
            }
        }
    }
}
