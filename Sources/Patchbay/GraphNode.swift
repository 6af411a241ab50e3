import PatchGraph
import PatchMedia

infix operator --> : AdditionPrecedence

/// A node of a `Graph`, with GPUImage's wiring calls.
///
/// Thread-safety: all members may be called from any thread.
public struct GraphNode: Sendable {
    public let graph: Graph
    public let id: NodeID

    /// Wires this node's output to an input of `target`, at once when the graph runs.
    /// - Parameter port: name or 1-based number of the input; nil takes the first free one.
    /// - Throws: `PatchError` when there is no such or no free input, or the running graph cannot take the change.
    public func addTarget(_ target: GraphNode, port: InputPort? = nil) throws {
        try graph.edit { try graph.connect(id, to: target.id, port: port) }
    }

    /// Wires this node's sound alone; sounds that lead to one input are added.
    /// - Throws: `PatchError` when the running graph cannot take the change.
    public func addSoundTarget(_ target: GraphNode) throws {
        try graph.edit { graph.connectSound(id, to: target.id) }
    }

    public func removeTarget(_ target: GraphNode) throws {
        try graph.edit { graph.disconnect(id, from: target.id) }
    }

    public func removeAllTargets() throws {
        try graph.edit { graph.disconnect(id, from: nil) }
    }

    /// The nodes that this one feeds, in wiring order.
    public var targets: [GraphNode] {
        graph.patch.wires.filter { $0.from == id }.map { GraphNode(graph: graph, id: $0.to) }
    }

    /// Wires left to right and gives the right one, so that chains read as they flow. An impossible wire (no free input)
    /// is reported when the graph starts.
    @discardableResult
    public static func --> (source: GraphNode, target: GraphNode) -> GraphNode {
        source.graph.connectUnchecked(source.id, to: target.id)
        return target
    }

    /// Fans out to several.
    @discardableResult
    public static func --> (source: GraphNode, targets: [GraphNode]) -> [GraphNode] {
        for target in targets { source.graph.connectUnchecked(source.id, to: target.id) }
        return targets
    }
}

/// An input of a node, by name or by 1-based number.
public enum InputPort: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    case name(String)
    case number(Int)
    public init(stringLiteral value: String) { self = .name(value) }
    public init(integerLiteral value: Int) { self = .number(value) }
}

extension Graph {
    private func ports(of id: NodeID, in patch: Patch) -> [String] {
        guard let node = patch.node(id) else { return [] }
        switch node.body {
        case .kernels(let filter): return filter.ports
        case .sound: return ["audio"]
        case .registered: return registry[node.kind]?.schema.ports ?? []
        }
    }

    /// Whether a node has no picture.
    private func isSoundOnly(_ id: NodeID, in patch: Patch) -> Bool {
        guard let node = patch.node(id) else { return false }
        if case .sound = node.body { return true }
        return registry[node.kind].map { $0.isSound || !$0.schema.hasPicture } ?? false
    }

    func connectSound(_ from: NodeID, to target: NodeID) {
        state.withLock { state in addSound(from, target, &state.patch) }
    }

    private func addSound(_ from: NodeID, _ target: NodeID, _ patch: inout Patch) {
        var port = 0
        if case .kernels(let filter)? = patch.node(target)?.body, filter.mixesSound { port = Wire.noPort }
        patch.wires.append(Wire(from: from, to: target, port: port, media: .audio))
    }

    func connect(_ from: NodeID, to target: NodeID, port: InputPort?) throws {
        try state.withLock { state in
            if port == nil, isSoundOnly(from, in: state.patch) || isSoundOnly(target, in: state.patch) {
                return addSound(from, target, &state.patch)
            }
            let names = ports(of: target, in: state.patch)
            let taken = Set(state.patch.wires.filter { $0.to == target && $0.media != .audio }.map(\.port))
            let index: Int
            switch port {
            case .name(let name)?:
                guard let found = names.firstIndex(of: name) else {
                    let near = Spelling.nearest(to: name, in: names)
                    throw PatchError(
                        .graph, "no input '\(name)'",
                        remedy: near.map { "did you mean '\($0)'?" } ?? "its inputs: \(names.joined(separator: ", "))",
                        node: target)
                }
                index = found
            case .number(let number)?: index = number - 1
            case nil:
                guard let free = names.indices.first(where: { !taken.contains($0) }) else {
                    throw PatchError(
                        .graph, names.isEmpty ? "is a source and has no input" : "has no free input",
                        remedy: names.isEmpty ? "" : "remove a wire first", node: target)
                }
                index = free
            }
            state.patch.wires.append(Wire(from: from, to: target, port: index))
        }
    }

    func connectUnchecked(_ from: NodeID, to target: NodeID) {
        do { try edit { try connect(from, to: target, port: nil) } } catch {
            // Keep the wire, on a port that does not exist, so that `start` names the node.
            state.withLock { state in
                let count = ports(of: target, in: state.patch).count
                state.patch.wires.append(Wire(from: from, to: target, port: count))
            }
        }
    }

    func disconnect(_ from: NodeID, from target: NodeID?) {
        state.withLock { state in
            state.patch.wires.removeAll { $0.from == from && (target == nil || $0.to == target) }
        }
    }
}
