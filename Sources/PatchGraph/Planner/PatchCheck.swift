import PatchMedia

/// A patch whose wiring is known to be sound, in an order in which every node comes after what it reads.
struct CheckedPatch {
    let patch: Patch
    /// Nodes that reach a sink, sources and sinks included, upstream first.
    let order: [PatchNode]
    /// For each node, the wire into each port.
    let inputs: [NodeID: [Int: Wire]]
    /// The wires that bring sound only, in the order they were made; their sounds are added.
    let soundWires: [NodeID: [Wire]]
    /// How many ports read each node's picture.
    let readers: [NodeID: Int]
    let notes: [PatchNote]
}

extension Patch {
    /// Checks names, ports and cycles, and drops what reaches no sink.
    /// - Throws: `PatchError.graph` that names the node and its line.
    func checked(ports: (PatchNode) throws -> NodePorts) throws -> CheckedPatch {
        var byID: [NodeID: PatchNode] = [:]
        var portsOf: [NodeID: NodePorts] = [:]
        for node in nodes {
            if let other = byID[node.id] {
                throw PatchError(
                    .graph, "two nodes are named '\(node.id)'",
                    remedy: other.location.map { "the first is at \($0); give one another name" } ?? "rename one",
                    node: node.id, at: node.location)
            }
            byID[node.id] = node
            portsOf[node.id] = try ports(node)
        }

        var inputs: [NodeID: [Int: Wire]] = [:]
        var soundWires: [NodeID: [Wire]] = [:]
        var outgoing: [NodeID: [NodeID]] = [:]
        for wire in wires {
            guard let from = byID[wire.from], let to = byID[wire.to], let fromPorts = portsOf[wire.from],
                let toPorts = portsOf[wire.to]
            else {
                throw PatchError(
                    .graph,
                    "a wire leads to or from '\(byID[wire.from] == nil ? wire.from : wire.to)', which is no node",
                    at: wire.location)
            }
            guard fromPorts.hasOutput else {
                throw PatchError(
                    .graph, "\(from.kind) has no output to wire on", remedy: "wire the node before it", node: from.id,
                    at: wire.location ?? from.location)
            }
            outgoing[wire.from, default: []].append(wire.to)
            if wire.media == .audio || fromPorts.isSound || toPorts.isSound {
                guard wire.media != .video else {
                    throw PatchError(
                        .graph, "\(fromPorts.isSound ? from.kind : to.kind) has no picture",
                        remedy: "wire sound to it: \(from.id).audio >> \(to.id).audio", node: to.id,
                        at: wire.location ?? to.location)
                }
                if soundWires[wire.to]?.contains(where: { $0.from == wire.from && $0.port == wire.port }) != true {
                    soundWires[wire.to, default: []].append(wire)
                }
                continue
            }
            guard wire.port >= 0, wire.port < toPorts.names.count else {
                let legal =
                    toPorts.names.isEmpty ? "it is a source and has none" : toPorts.names.joined(separator: ", ")
                throw PatchError(
                    .graph, "\(to.kind) has no input \(wire.port + 1)", remedy: "its inputs: \(legal)", node: to.id,
                    at: wire.location ?? to.location)
            }
            if let other = inputs[wire.to]?[wire.port] {
                throw PatchError(
                    .graph,
                    "input '\(toPorts.names[wire.port])' is already fed by '\(other.from)'"
                        + (other.location.map { " (\($0))" } ?? ""),
                    remedy: "remove that wire first, or name another port", node: to.id,
                    at: wire.location ?? to.location)
            }
            inputs[wire.to, default: [:]][wire.port] = wire
        }

        // Depth first from the sinks: what is reached is needed, in upstream-first order; a node met on the way to itself
        // closes a cycle.
        var order: [PatchNode] = []
        var state: [NodeID: Bool] = [:]
        var path: [NodeID] = []
        // Delays that close loops: what feeds them is visited when all else is in order.
        var late: [PatchNode] = []
        func upstream(of id: NodeID) -> [NodeID] {
            (inputs[id] ?? [:]).sorted { $0.key < $1.key }.map(\.value.from)
                + (soundWires[id] ?? []).map(\.from)
        }
        func closesLoop(_ id: NodeID) -> Bool {
            var seen: Set<NodeID> = []
            var next = upstream(of: id)
            while let from = next.popLast() {
                if from == id { return true }
                if seen.insert(from).inserted { next += upstream(of: from) }
            }
            return false
        }
        func visit(_ node: PatchNode) throws {
            if let done = state[node.id] {
                if done { return }
                let loop = path[(path.firstIndex(of: node.id) ?? 0)...] + [node.id]
                throw PatchError(
                    .graph, "the wires form a loop: \(loop.joined(separator: " -> "))",
                    remedy: "take one wire out, or put a delay{ frames = 1 } into it: a frame cannot depend on itself",
                    node: node.id, at: node.location)
            }
            if portsOf[node.id]?.isDelay == true, closesLoop(node.id) {
                state[node.id] = true
                order.append(node)
                late.append(node)
                return
            }
            state[node.id] = false
            path.append(node.id)
            for from in upstream(of: node.id) { if let node = byID[from] { try visit(node) } }
            path.removeLast()
            state[node.id] = true
            order.append(node)
        }
        func visitLate() throws {
            while let delay = late.popLast() {
                for from in upstream(of: delay.id) { if let node = byID[from] { try visit(node) } }
            }
        }
        var notes: [PatchNote] = []
        let standIns = standIns { upstream(of: $0) }
        for node in nodes
        where node.isWatched && inputs[node.id] != nil
            || portsOf[node.id]?.isMeter == true && soundWires[node.id] != nil
        {
            try visit(node)
        }
        for node in nodes where portsOf[node.id]?.isSink == true {
            let isFed = inputs[node.id] != nil || soundWires[node.id] != nil
            if isFed {
                try visit(node)
            } else {
                notes.append(
                    PatchNote(
                        message: "'\(node.id)' (\(node.kind)) has nothing wired to it", node: node.id,
                        location: node.location))
            }
        }
        try visitLate()
        // A loop that no sink reads is as wrong as one that is read.
        for node in nodes where state[node.id] == nil && (inputs[node.id] != nil || soundWires[node.id] != nil) {
            let before = order.count
            try visit(node)
            try visitLate()
            for dropped in order[before...] where state[dropped.id] == true && !standIns.contains(dropped.id) {
                notes.append(
                    PatchNote(
                        message: "'\(dropped.id)' (\(dropped.kind)) reaches no sink", node: dropped.id,
                        location: dropped.location))
            }
            order.removeSubrange(before...)
        }

        let reached = Set(order.map(\.id))
        var readers: [NodeID: Int] = [:]
        for node in order {
            let ports = portsOf[node.id]?.isSound == true ? [] : portsOf[node.id]?.names ?? []
            if portsOf[node.id]?.isSound == true, soundWires[node.id] == nil {
                throw PatchError(
                    .graph, "\(node.kind) has no sound wired to it",
                    remedy: "wire a node's sound to it, as in camera.audio >> \(node.id)", node: node.id,
                    at: node.location)
            }
            for (index, name) in ports.enumerated() {
                guard let wire = inputs[node.id]?[index] else {
                    let isOptional = portsOf[node.id]?.optional.contains(index) == true
                    if portsOf[node.id]?.isSink == true || isOptional || node.absentPorts.contains(index) {
                        continue
                    }
                    throw PatchError(
                        .graph, "input '\(name)' of \(node.kind) has no source",
                        remedy: "wire a node to it, as in other:addTarget(\(node.id), \"\(name)\")", node: node.id,
                        at: node.location)
                }
                if reached.contains(wire.from) { readers[wire.from, default: 0] += 1 }
            }
        }
        return CheckedPatch(
            patch: self, order: order, inputs: inputs, soundWires: soundWires, readers: readers, notes: notes)
    }
}

/// The ports that a node has.
struct NodePorts {
    var names: [String]
    var hasOutput: Bool
    var isSink: Bool
    /// The node takes and gives sound only.
    var isSound = false
    /// It is there for the numbers that it publishes, and works though its sound may reach no sink.
    var isMeter = false
    /// Its output does not depend on its input of the same tick.
    var isDelay = false
    /// Indices of the ports that need no wire.
    var optional: Set<Int> = []
}
