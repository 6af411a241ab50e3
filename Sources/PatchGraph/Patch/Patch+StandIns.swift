import PatchKernel
import PatchMedia

extension Patch {
    /// The patch as it is to run while these inputs deliver nothing: their policies put something else in their place.
    ///
    /// - `freeze`, `branch`: every wire that leads from the input leads from the stand-in.
    /// - `drop`: what has the input as its only picture vanishes with it; a filter with several inputs gives its first that
    ///   is left as it is; a mixer leaves the slot out; a sink that would show nothing gets black.
    /// - Parameters:
    ///   - size: of the input's picture, upright; nil when it has none.
    ///   - schema: of a node's ports.
    ///   - leavesOut: whether a node copes with a port that has no picture.
    /// - Throws: `PatchError` when a stand-in is no node or feeds itself.
    func standingIn(
        for lost: [NodeID: InputPolicy], size: (NodeID) -> (width: Int, height: Int)?,
        ports: (PatchNode) throws -> NodePorts, leavesOut: (PatchNode) -> Bool
    ) throws -> Patch {
        guard !lost.isEmpty else { return self }
        var result = self
        var replaced: [NodeID: NodeID] = [:]
        var dropped: Set<NodeID> = []
        for (id, policy) in lost.sorted(by: { $0.key < $1.key }) {
            switch (policy.kind, policy.standIn) {
            case (.hold, _): break
            case (.drop, _): dropped.insert(id)
            case (_, .node(let other)): replaced[id] = other
            case (_, .color(let color)):
                let card = try Self.card("\(id) slate", color, size(id))
                result.nodes.append(card)
                replaced[id] = card.id
            }
        }
        try result.replace(replaced)
        if !dropped.isEmpty { try result.drop(dropped, ports: ports, leavesOut: leavesOut) }
        return result
    }

    /// Checks that every policy's stand-in exists and does not need the very input that it stands in for.
    /// - Throws: `PatchError` that names the input and its line.
    func checkStandIns(_ policies: [NodeID: InputPolicy]) throws {
        var upstream: [NodeID: [NodeID]] = [:]
        for wire in wires { upstream[wire.to, default: []].append(wire.from) }
        for (id, policy) in policies {
            guard policy.kind == .freeze || policy.kind == .branch else { continue }
            let place = node(id)?.location
            let option = policy.kind == .branch ? "branch" : "slate"
            guard case .node(let other) = policy.standIn else {
                if policy.kind == .freeze { continue }
                throw PatchError(
                    .graph, "'\(id)' has policy = \"branch\" and no branch =", remedy: "write branch = node", node: id,
                    at: place)
            }
            guard node(other) != nil else {
                throw PatchError(.graph, "\(option) = of '\(id)' is no node of this graph", node: id, at: place)
            }
            var seen: Set<NodeID> = []
            var next = [other]
            while let from = next.popLast() {
                guard from != id else {
                    throw PatchError(
                        .graph, "\(option) = of '\(id)' is '\(other)', which shows '\(id)' itself",
                        remedy: "name a node that does not need it", node: id, at: place)
                }
                if seen.insert(from).inserted { next += upstream[from] ?? [] }
            }
        }
    }

    /// What waits to stand in for an input, and what feeds it.
    func standIns(upstream: (NodeID) -> [NodeID]) -> Set<NodeID> {
        var found: Set<NodeID> = []
        var next = nodes.flatMap { node -> [NodeID] in
            guard node.body == .registered, case .node(let other) = InputPolicy(node.options).standIn else { return [] }
            return [other]
        }
        while let id = next.popLast() { if found.insert(id).inserted { next += upstream(id) } }
        return found
    }

    private mutating func replace(_ replaced: [NodeID: NodeID]) throws {
        func last(_ id: NodeID) -> NodeID {
            var (id, steps) = (id, 0)
            // Two inputs that stand in for each other, both lost: each keeps its last picture.
            while let next = replaced[id] {
                id = next
                steps += 1
                if steps > replaced.count { return id }
            }
            return id
        }
        for index in wires.indices where replaced[wires[index].from] != nil {
            wires[index].from = last(wires[index].from)
        }
    }

    /// One colour everywhere.
    private static func card(_ id: NodeID, _ color: [Float], _ size: (width: Int, height: Int)?) throws -> PatchNode {
        do {
            var builder = KernelBuilder(name: "card", inputs: [], uniforms: [], alpha: .straight)
            let result = try builder.construct(.vec4, color.map { builder.constant($0) })
            let filter = KernelFilter(
                name: "card", summary: "One colour.", ports: [], parameters: [],
                stages: [.init(kernel: try builder.finish(result), inputs: [], uniforms: [])])
            let options = size.map { ["size": OptionValue.vector([Double($0.width), Double($0.height)])] } ?? [:]
            return PatchNode(id: id, kind: "card", body: .kernels(filter), options: NodeOptions(options))
        } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    private mutating func drop(
        _ dropped: Set<NodeID>, ports: (PatchNode) throws -> NodePorts, leavesOut: (PatchNode) -> Bool
    ) throws {
        var byID: [NodeID: PatchNode] = [:]
        for node in nodes { byID[node.id] = node }
        var pictureWires: [NodeID: [Wire]] = [:]
        for wire in wires where wire.media != .audio { pictureWires[wire.to, default: []].append(wire) }
        // What a node's output becomes: itself, another node's, or nothing.
        var known: [NodeID: NodeID?] = [:]
        func output(_ id: NodeID) throws -> NodeID? {
            if let answer = known[id] { return answer }
            if dropped.contains(id) {
                known[id] = .some(nil)
                return nil
            }
            // A loop of wires through a delay ends here.
            known[id] = id
            guard let node = byID[id], let wires = pictureWires[id] else { return id }
            let (sides, names) = (wires.sorted { $0.port < $1.port }, try ports(node))
            if leavesOut(node) || names.isSink || names.isSound { return id }
            let left = try sides.map { try output($0.from) }
            var answer: NodeID? = id
            let isMissing = zip(sides, left).contains { $1 == nil && !names.optional.contains($0.port) }
            if isMissing { answer = left.compactMap { $0 }.first }
            known[id] = answer
            return answer
        }
        var kept: [Wire] = []
        for var wire in wires {
            guard let from = try output(wire.from) else {
                guard let reader = byID[wire.to], let index = nodes.firstIndex(where: { $0.id == wire.to }) else {
                    continue
                }
                // Its sound goes too, with a fade.
                if wire.media == .audio { continue }
                if leavesOut(reader) {
                    nodes[index].absentPorts.insert(wire.port)
                } else if try ports(reader).isSink {
                    let card = try Self.card("\(wire.to) black", InputPolicy.black, nil)
                    if byID[card.id] == nil {
                        nodes.append(card)
                        byID[card.id] = card
                    }
                    wire.from = card.id
                    kept.append(wire)
                }
                continue
            }
            wire.from = from
            kept.append(wire)
        }
        // Nodes whose place others have taken are wired to nothing.
        wires = kept.filter { wire in known[wire.to].map { $0 == wire.to } ?? true }
    }
}
