import PatchMedia

/// Sound: which sources and sound filters each sink hears.
extension Planner {
    /// The nodes whose sound arrives at a node: those of its sound wires, else what the wire into its first port carries
    /// along, past nodes that only change the picture.
    func soundOrigins(of node: NodeID, _ checked: CheckedPatch, past seen: Set<NodeID> = []) -> [NodeID] {
        // A loop through a delay carries no sound of its own.
        guard !seen.contains(node) else { return [] }
        let seen = seen.union([node])
        if let wires = checked.soundWires[node] { return wires.flatMap { soundOrigin(along: $0, checked, seen) } }
        let carried = checked.inputs[node]?.filter { $0.value.media == .both }.min { $0.key < $1.key }?.value
        return carried.map { soundOrigin(along: $0, checked, seen) } ?? []
    }

    private func soundOrigin(along wire: Wire, _ checked: CheckedPatch, _ seen: Set<NodeID>) -> [NodeID] {
        if soundSources[wire.from] != nil { return [wire.from] }
        guard let node = checked.order.first(where: { $0.id == wire.from }) else { return [] }
        if (try? provider.ports(of: node))?.isSound == true { return [node.id] }
        return soundOrigins(of: node.id, checked, past: seen)
    }

    /// Plans what a node hears. Indices into `plan.sounds`, none twice.
    mutating func sounds(into node: NodeID, _ checked: CheckedPatch) throws -> [Int] {
        var result: [Int] = []
        for origin in soundOrigins(of: node, checked) {
            let index = try sound(of: origin, checked)
            if !result.contains(index) { result.append(index) }
        }
        return result
    }

    private mutating func sound(of id: NodeID, _ checked: CheckedPatch) throws -> Int {
        if let known = soundIndex[id] { return known }
        guard let node = checked.order.first(where: { $0.id == id }) else {
            throw PatchError(.graph, "'\(id)' has no sound")
        }
        let sound: PlanSound
        if let source = soundSources[id] {
            sound = PlanSound(
                id: id, location: node.location, body: .source(source), inputs: [],
                format: plan.sources[source].audio ?? AudioFormat(), uniformOffset: 0, uniformCount: 0)
        } else {
            do { sound = try filter(node, checked) } catch { throw PatchError.placing(error, node) }
        }
        plan.sounds.append(sound)
        soundIndex[id] = plan.sounds.count - 1
        return plan.sounds.count - 1
    }

    private mutating func filter(_ node: PatchNode, _ checked: CheckedPatch) throws -> PlanSound {
        let inputs = try sounds(into: node.id, checked)
        guard !inputs.isEmpty else {
            throw PatchError(
                .graph, "what is wired to '\(node.id)' has no sound",
                remedy: "wire a camera, file or stream that has, or another sound filter")
        }
        // As many channels as the widest of what is added.
        let format = AudioFormat(
            sampleRate: SoundRing.rate, channels: inputs.map { plan.sounds[$0].format.channels }.max() ?? 2)
        let processor = try provider.soundProcessor(of: node, format: format)
        let offset = plan.uniformCount
        for schema in try provider.kindSchema(of: node).parameters {
            let declared = node.parameters[schema.name] ?? .constant(schema.defaultValue)
            let index = parameters.reserve(node: node.id, schema, declared: declared)
            plan.parameters.append(
                PlanParameter(node: node.id, name: schema.name, storeIndex: index, declared: declared))
            plan.uniformTargets.append(
                UniformTarget(storeIndex: index, offset: plan.uniformCount, count: schema.form.count))
            plan.uniformCount += schema.form.count
        }
        return PlanSound(
            id: node.id, location: node.location, body: .filter(processor), inputs: inputs, format: format,
            uniformOffset: offset, uniformCount: plan.uniformCount - offset)
    }
}
