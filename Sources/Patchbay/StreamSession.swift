import PatchGraph
import PatchMedia
import Synchronization

/// Streams to and from one server by name, in the words of the broadcast SDKs: `connect`, `publish`, `play`, `stop`,
/// `disconnect`.
///
/// ```swift
/// let service = StreamSession(graph, "studio", url: "rtmp://host/app")
/// service.onEvent { event in print(event) }
/// try service.connect()
/// try service.publish("mine", from: look)
/// let theirs = try service.play("theirs")
/// ```
/// Each stream is a node of the graph and has a connection of its own, as FFmpeg makes them. Streams of a session that is not
/// connected, and those that were stopped, are not in the graph; `connect` and `publish` bring them back with their wires.
/// The address is kept out of every message.
/// Thread-safety: all members may be called from any thread, but not from `onEvent`.
public final class StreamSession: Sendable {
    /// What happens to a stream.
    public enum Event: Sendable {
        /// `connecting`, `live`, `stalled`, `retrying`, `failed`, `ended`.
        case state(String, stream: String)
        case problem(PatchError, stream: String)
    }

    private struct Stream {
        var node: PatchNode
        /// Its wires when it was taken out.
        var wires: [Wire] = []
        var isStopped = false
    }

    private struct State {
        var isConnected = false
        var streams: [NodeID: (name: String, stream: Stream)] = [:]
    }

    public let graph: Graph
    public let name: String
    private let url: String
    private let state = Mutex(State())

    /// - Parameter url: the server's address without a stream's name.
    public init(_ graph: Graph, _ name: String, url: String) {
        self.graph = graph
        self.name = name
        self.url = url
    }

    /// Hears what happens to the session's streams, on any thread; must return soon.
    public func onEvent(_ handler: @escaping @Sendable (Event) -> Void) {
        graph.onNodeEvent { [weak self] id, event in
            guard let stream = self?.state.withLock({ $0.streams[id]?.name }) else { return }
            switch event {
            case .state(let state): handler(.state(state, stream: stream))
            case .problem(let error): handler(.problem(error, stream: stream))
            case .lost(let error):
                handler(.problem(error, stream: stream))
                handler(.state("retrying", stream: stream))
            case .back: handler(.state("live", stream: stream))
            case .ended: handler(.state("ended", stream: stream))
            case .notice, .key, .closed: break
            }
        }
    }

    /// Streams run from now on.
    /// - Throws: `PatchError` when the running graph cannot take them.
    public func connect() throws {
        state.withLock { $0.isConnected = true }
        try settle()
    }

    /// Ends all streams; `connect` brings them back.
    public func disconnect() throws {
        state.withLock { $0.isConnected = false }
        try settle()
    }

    /// Sends a node's picture and sound to the server under this name.
    /// - Parameter options: the publisher's, such as `"preset"`.
    /// - Throws: `PatchError` when the running graph cannot take it. A server that is away is no error but an event.
    @discardableResult
    public func publish(_ stream: String, from source: GraphNode, options: [String: OptionValue] = [:]) throws
        -> GraphNode
    {
        let node = add(stream, "publisher", options.merging(["required": .bool(false)]) { said, _ in said })
        state.withLock { state in
            state.streams[node.id]?.stream.wires.removeAll { $0.to == node.id }
            state.streams[node.id]?.stream.wires.append(Wire(from: source.id, to: node.id, port: 0))
        }
        try settle()
        return node
    }

    /// A stream of the server as a source.
    /// - Throws: `PatchError` when the running graph cannot take it. A stream that is not there is no error but an event; it
    ///   is tried again and again.
    public func play(_ stream: String, options: [String: OptionValue] = [:]) throws -> GraphNode {
        let node = add(stream, "stream", options.merging(["required": .bool(false)]) { said, _ in said })
        try settle()
        return node
    }

    /// Ends the streams of this name.
    /// - Throws: `PatchError.usage` when there is none.
    public func stop(_ stream: String) throws {
        let isKnown = state.withLock { state in
            let ids = state.streams.filter { $0.value.name == stream }.map(\.key)
            for id in ids { state.streams[id]?.stream.isStopped = true }
            return !ids.isEmpty
        }
        guard isKnown else {
            throw PatchError(.usage, "session '\(name)' has no stream '\(stream)'", remedy: "publish or play it first")
        }
        try settle()
    }

    private func add(_ stream: String, _ kind: String, _ options: [String: OptionValue]) -> GraphNode {
        let id = "\(name)/\(kind == "stream" ? "play" : "publish")/\(stream)"
        let address = Secret(value: url + "/" + stream, redacted: "<url of \(id)>")
        state.withLock { state in
            var node = PatchNode(id: id, kind: kind, body: .registered, isNamed: true)
            node.options = NodeOptions(options.merging(["url": .secret(address)]) { $1 })
            let wires = state.streams[id]?.stream.wires ?? []
            state.streams[id] = (stream, Stream(node: node, wires: wires))
        }
        return GraphNode(graph: graph, id: id)
    }

    /// Brings the graph in line with what was asked for, as one edit.
    private func settle() throws {
        try graph.edit {
            state.withLock { state in
                for (id, entry) in state.streams {
                    let isWanted = state.isConnected && !entry.stream.isStopped
                    if isWanted {
                        graph.insert(entry.stream.node, entry.stream.wires)
                    } else if let wires = graph.remove(id) {
                        state.streams[id]?.stream.wires = wires
                    }
                }
            }
        }
    }
}

extension Graph {
    /// Puts a node with its wires into the graph; one of the same name is replaced and keeps the wires that it has.
    fileprivate func insert(_ node: PatchNode, _ wires: [Wire]) {
        state.withLock { state in
            if let index = state.patch.nodes.firstIndex(where: { $0.id == node.id }) {
                state.patch.nodes[index] = node
            } else {
                state.patch.nodes.append(node)
            }
            let known = Set(state.patch.nodes.map(\.id))
            for wire in wires where known.contains(wire.from) && known.contains(wire.to) {
                if !state.patch.wires.contains(where: { $0.to == wire.to && $0.port == wire.port }) {
                    state.patch.wires.append(wire)
                }
            }
        }
    }

    /// Takes a node out; gives the wires that it had, or nil when it was not there.
    fileprivate func remove(_ id: NodeID) -> [Wire]? {
        state.withLock { state in
            guard let index = state.patch.nodes.firstIndex(where: { $0.id == id }) else { return nil }
            state.patch.nodes.remove(at: index)
            let wires = state.patch.wires.filter { $0.from == id || $0.to == id }
            state.patch.wires.removeAll { $0.from == id || $0.to == id }
            return wires
        }
    }
}
