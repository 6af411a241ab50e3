import PatchMedia

/// Sound: which sources and sound filters each sink hears.
extension Planner {
    /// Where sound comes from.
    enum SoundOrigin: Hashable {
        /// A source or a sound filter.
        case node(NodeID)
        /// What goes through one port of a mixer or a transition.
        case strip(NodeID, port: Int)
    }

    /// What arrives at a node: the sounds of its sound wires, else what the wire into its first port carries along, past nodes
    /// that only change the picture. Of a mixer or a transition, all of its ports count.
    func soundOrigins(of node: NodeID, _ checked: CheckedPatch, past seen: Set<NodeID> = []) -> [SoundOrigin] {
        // A loop through a delay carries no sound of its own.
        guard !seen.contains(node) else { return [] }
        let past = seen.union([node])
        let wires = checked.soundWires[node] ?? []
        guard let ports = mixedPorts(of: node, checked) else {
            if !wires.isEmpty { return wires.flatMap { soundOrigin(along: $0, checked, past) } }
            let carried = checked.inputs[node]?.filter { $0.value.media == .both }.min { $0.key < $1.key }?.value
            return carried.map { soundOrigin(along: $0, checked, past) } ?? []
        }
        let strips = ports.filter { !soundOrigins(ofPort: $0, of: node, checked, past: past).isEmpty }
        return strips.map { .strip(node, port: $0) }
            + wires.filter { $0.port == Wire.noPort }.flatMap { soundOrigin(along: $0, checked, past) }
    }

    /// What arrives at one port of a node that mixes.
    private func soundOrigins(
        ofPort port: Int, of node: NodeID, _ checked: CheckedPatch, past seen: Set<NodeID>
    ) -> [SoundOrigin] {
        let wires = checked.soundWires[node]?.filter { $0.port == port } ?? []
        if !wires.isEmpty { return wires.flatMap { soundOrigin(along: $0, checked, seen) } }
        guard let carried = checked.inputs[node]?[port], carried.media == .both else { return [] }
        return soundOrigin(along: carried, checked, seen)
    }

    private func soundOrigin(along wire: Wire, _ checked: CheckedPatch, _ seen: Set<NodeID>) -> [SoundOrigin] {
        if soundSources[wire.from] != nil { return [.node(wire.from)] }
        guard let node = checked.order.first(where: { $0.id == wire.from }) else { return [] }
        if (try? provider.ports(of: node))?.isSound == true { return [.node(node.id)] }
        return soundOrigins(of: node.id, checked, past: seen)
    }

    /// The ports whose sounds a node adds; nil when it only passes its first port's sound on.
    private func mixedPorts(of node: NodeID, _ checked: CheckedPatch) -> Range<Int>? {
        checked.order.first { $0.id == node }?.soundMix?.ports
    }

    /// Plans what a node hears. Indices into `plan.sounds`, none twice.
    mutating func sounds(into node: NodeID, _ checked: CheckedPatch) throws -> [Int] {
        try sounds(of: soundOrigins(of: node, checked), checked)
    }

    /// A node that works though nobody may hear it.
    mutating func addMeter(_ node: PatchNode, _ checked: CheckedPatch) throws {
        if let index = try sound(of: .node(node.id), checked) { plan.meters.append(index) }
    }

    private mutating func sounds(of origins: [SoundOrigin], _ checked: CheckedPatch) throws -> [Int] {
        var result: [Int] = []
        for origin in origins {
            if let index = try sound(of: origin, checked), !result.contains(index) { result.append(index) }
        }
        return result
    }

    /// nil for what hears itself.
    private mutating func sound(of origin: SoundOrigin, _ checked: CheckedPatch) throws -> Int? {
        if let known = soundIndex[origin] { return known }
        let id =
            switch origin {
            case .node(let id), .strip(let id, _): id
            }
        guard let node = checked.order.first(where: { $0.id == id }) else {
            throw PatchError(.graph, "'\(id)' has no sound")
        }
        guard soundsUnderWay.insert(origin).inserted else { return nil }
        defer { soundsUnderWay.remove(origin) }
        let sound: PlanSound
        switch origin {
        case .node where soundSources[id] != nil:
            let source = soundSources[id] ?? 0
            sound = PlanSound(
                id: id, location: node.location, body: .source(source), inputs: [],
                format: plan.sources[source].audio ?? AudioFormat(), uniformOffset: 0, uniformCount: 0)
        case .node:
            do { sound = try filter(node, checked) } catch { throw PatchError.placing(error, node) }
        case .strip(_, let port):
            do { sound = try strip(port, of: node, checked) } catch { throw PatchError.placing(error, node) }
        }
        plan.sounds.append(sound)
        soundIndex[origin] = plan.sounds.count - 1
        return plan.sounds.count - 1
    }

    /// One port of a mixer or transition: a gain of its own, turned by the node's parameters.
    private mutating func strip(_ port: Int, of node: PatchNode, _ checked: CheckedPatch) throws -> PlanSound {
        guard let mix = node.soundMix, case .kernels(let filter) = node.body else {
            throw PatchError(.graph, "'\(node.id)' does not mix sound")
        }
        let inputs = try sounds(of: soundOrigins(ofPort: port, of: node.id, checked, past: [node.id]), checked)
        // A strip can be panned, so that it is stereo at least.
        let format = AudioFormat(
            sampleRate: SoundRing.rate, channels: max(2, inputs.map { plan.sounds[$0].format.channels }.max() ?? 2))
        let stand = PatchNode(
            id: SoundStrips.id(of: node.id, port: filter.ports[port]), kind: mix.kind(ofPort: port), at: node.location)
        let processor = try provider.soundProcessor(of: stand, format: format)
        let schemas = mix.parameters(ofPort: filter.ports[port]).compactMap { name in
            filter.parameters.first { $0.name == name }
        }
        let (offset, count) = uniforms(of: node, schemas)
        return PlanSound(
            id: stand.id, location: node.location, body: .filter(processor), inputs: inputs, format: format,
            uniformOffset: offset, uniformCount: count)
    }

    /// Places for the present values of parameters, one after the other.
    private mutating func uniforms(of node: PatchNode, _ schemas: [ParameterSchema]) -> (offset: Int, count: Int) {
        let offset = plan.uniformCount
        for schema in schemas {
            let declared = node.parameters[schema.name] ?? .constant(schema.defaultValue)
            let index = parameters.reserve(node: node.id, schema, declared: declared)
            plan.parameters.append(
                PlanParameter(node: node.id, name: schema.name, storeIndex: index, declared: declared))
            plan.uniformTargets.append(
                UniformTarget(storeIndex: index, offset: plan.uniformCount, count: schema.form.count))
            plan.uniformCount += schema.form.count
        }
        return (offset, plan.uniformCount - offset)
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
        let (offset, count) = uniforms(of: node, try provider.kindSchema(of: node).parameters)
        return PlanSound(
            id: node.id, location: node.location, body: .filter(processor), inputs: inputs, format: format,
            uniformOffset: offset, uniformCount: count)
    }
}
