import PatchFilters
import PatchGraph
import PatchMedia

/// One picture on a mixer's canvas: what it shows, where, and how. A plain description, in pixels of the canvas.
///
/// Thread-safety: a value.
public struct MixerSlot: Sendable {
    public var source: GraphNode
    /// A node whose luminance times alpha covers the slot.
    public var mask: GraphNode?
    /// One of `MixerSchema.blends`.
    public var blend = "normal"
    /// The top left corner, pixels.
    public var position = SIMD2<Float>.zero
    /// Width and height, pixels; nil takes the whole canvas.
    public var size: SIMD2<Float>?
    /// Higher lies above lower.
    public var z: Float = 0
    /// 0…1: 1 is not seen.
    public var transparency: Float = 0
    public var isVisible = true
    public var aspect = FillMode.stretch
    /// x, y, width, height of what is shown, in parts of the source.
    public var crop = SIMD4<Float>(0, 0, 1, 1)
    /// Beside a fitted picture: R'G'B'A, straight, 0…1.
    public var fill = SIMD4<Float>.zero
    public var cornerRadius: Float = 0
    public var borderWidth: Float = 0
    public var borderColor = SIMD4<Float>(1, 1, 1, 1)
    public var shadowOffset = SIMD2<Float>.zero
    public var shadowBlur: Float = 0
    public var shadowColor = SIMD4<Float>.zero

    public init(
        _ source: GraphNode, position: SIMD2<Float> = .zero, size: SIMD2<Float>? = nil, z: Float = 0,
        aspect: FillMode = .stretch
    ) {
        self.source = source
        self.position = position
        self.size = size
        self.z = z
        self.aspect = aspect
    }

    /// The parameters of the slot by the names of `MixerSchema.slotParameters`.
    fileprivate func values(canvas: SIMD2<Float>) -> [String: [Float]] {
        func list(_ vector: SIMD2<Float>) -> [Float] { [vector.x, vector.y] }
        func list(_ vector: SIMD4<Float>) -> [Float] { [vector.x, vector.y, vector.z, vector.w] }
        return [
            "position": list(position), "size": list(size ?? canvas), "z": [z], "transparency": [transparency],
            "visible": [isVisible ? 1 : 0], "aspect": [Float(MixerSchema.aspects.firstIndex(of: aspect.rawValue) ?? 0)],
            "crop": list(crop), "fill": list(fill), "cornerRadius": [cornerRadius], "borderWidth": [borderWidth],
            "borderColor": list(borderColor), "shadowOffset": list(shadowOffset), "shadowBlur": [shadowBlur],
            "shadowColor": list(shadowColor),
        ]
    }
}

extension Graph {
    /// A canvas with slots.
    ///
    /// ```swift
    /// let mix = try graph.mixer("mix", size: (1280, 720))
    /// try mix.set("host", MixerSlot(camera, aspect: .fill))
    /// try mix.set("guest", MixerSlot(call, position: [880, 440], size: [360, 240], z: 1))
    /// mix.node --> graph.display("view")
    /// try mix.transition("guest", seconds: 0.5, easing: .easeInOut) { $0.position = [0, 0]; $0.size = [1280, 720] }
    /// ```
    /// - Parameter fill: the canvas's colour, R'G'B'A, straight.
    public func mixer(
        _ name: String, size: (width: Int, height: Int), fill: SIMD4<Float> = SIMD4(0, 0, 0, 1)
    ) throws -> GraphMixer {
        let sides = 1...VideoFormat.maximumSide
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw PatchError(
                .graph, "the mixer's canvas is \(size.width)x\(size.height)",
                remedy: "each side goes from 1 to \(VideoFormat.maximumSide)", node: name)
        }
        let node = add(
            kind: "mixer", name: name, body: .kernels(MixerSchema.filter([], width: size.width, height: size.height)),
            options: ["size": .vector([Double(size.width), Double(size.height)])],
            parameters: ["fill": .constant([fill.x, fill.y, fill.z, fill.w])])
        state.withLock { $0.mixers[node.id] = [] }
        return GraphMixer(node: node, width: size.width, height: size.height)
    }
}

/// A mixer of a `Graph`. While the graph runs, each call is an edit of its own, or part of the `edit` around it.
///
/// Thread-safety: all members may be called from any thread.
public struct GraphMixer: Sendable {
    /// What the mixer shows: wire it on.
    public let node: GraphNode
    let width: Int
    let height: Int
    private var graph: Graph { node.graph }
    private var canvas: SIMD2<Float> { SIMD2(Float(width), Float(height)) }

    /// Names of the slots, in the order in which they were made.
    public var slotNames: [String] { graph.state.withLock { $0.mixers[node.id, default: []].map(\.name) } }

    /// What a slot was told last; a transition's goal while it runs.
    public subscript(name: String) -> MixerSlot? {
        graph.state.withLock { $0.mixers[node.id, default: []].first { $0.name == name }?.slot }
    }

    /// Makes a slot, or makes it anew.
    /// - Throws: `PatchError` for a name that is none, a value out of range, an unknown blend, or a graph that cannot run.
    public func set(_ name: String, _ slot: MixerSlot) throws {
        let isWord = name.utf8.allSatisfy { $0 == 95 || 48...57 ~= $0 || 65...90 ~= $0 || 97...122 ~= $0 }
        guard isWord, (1...32).contains(name.utf8.count), name != "fill" else {
            throw problem("'\(name.prefix(32))' is no name for a slot", "use letters, digits and _, such as guest")
        }
        guard MixerSchema.blends.contains(slot.blend) else {
            throw problem(
                "slot '\(name)' has the blend '\(slot.blend)'",
                Spelling.nearest(to: slot.blend, in: MixerSchema.blends).map { "did you mean '\($0)'?" }
                    ?? "there are \(MixerSchema.blends.joined(separator: ", "))")
        }
        let values = try checked(slot, name)
        try graph.edit {
            try graph.state.withLock { state in
                var slots = state.mixers[node.id, default: []]
                if let index = slots.firstIndex(where: { $0.name == name }) {
                    slots[index].slot = slot
                } else {
                    guard slots.count < MixerSchema.mostSlots else {
                        throw problem("it has \(slots.count) slots", "that is the limit: use a second mixer")
                    }
                    slots.append((name, slot))
                }
                rebuild(slots, &state)
            }
            for (field, floats) in values { graph.set(node, "\(name).\(field)", .constant(floats)) }
        }
    }

    /// Takes a slot away.
    /// - Throws: `PatchError` when there is none of that name.
    public func remove(_ name: String) throws {
        _ = try existing(name)
        try graph.edit {
            graph.state.withLock { state in
                rebuild(state.mixers[node.id, default: []].filter { $0.name != name }, &state)
            }
        }
    }

    /// Changes some of a slot's values, at the next tick.
    public func change(_ name: String, _ body: (inout MixerSlot) -> Void) throws {
        try transition(name, seconds: 0, body)
    }

    /// Lets a slot go to other values, from where it is now; what cannot be in between (`isVisible`, `aspect`) changes at once.
    /// - Throws: `PatchError` when there is no such slot or a value is out of range.
    public func transition(
        _ name: String, seconds: Double, easing: Easing = .linear, _ body: (inout MixerSlot) -> Void
    ) throws {
        let before = try existing(name)
        var after = before
        body(&after)
        let isRewired =
            after.source.id != before.source.id || after.mask?.id != before.mask?.id || after.blend != before.blend
        if isRewired {
            // A new source, mask or blend is an edit; the rest then moves from where it was.
            var rewired = before
            (rewired.source, rewired.mask, rewired.blend) = (after.source, after.mask, after.blend)
            try set(name, rewired)
        }
        let (old, new) = (before.values(canvas: canvas), try checked(after, name))
        graph.state.withLock { state in
            guard let index = state.mixers[node.id]?.firstIndex(where: { $0.name == name }) else { return }
            state.mixers[node.id]?[index].slot = after
        }
        let schemas = MixerSchema.slotParameters(width: width, height: height)
        for schema in schemas {
            guard let floats = new[schema.name], floats != old[schema.name] else { continue }
            let moves = seconds > 0 && schema.isAnimatable
            graph.set(
                node, "\(name).\(schema.name)",
                moves ? .ramp(to: floats, seconds: seconds, easing: easing) : .constant(floats))
        }
    }

    /// Arranges slots in one of the usual ways.
    /// - Parameters:
    ///   - names: the slots in order, the most important first; nil takes all of them.
    ///   - configure: sets gap, margin, part or corner of the arrangement.
    public func layout(
        _ kind: MixerArrangement.Kind, slots names: [String]? = nil, seconds: Double = 0, easing: Easing = .linear,
        _ configure: (inout MixerArrangement) -> Void = { _ in }
    ) throws {
        var arrangement = MixerArrangement(kind, width: width, height: height)
        configure(&arrangement)
        let names = names ?? slotNames
        for (name, place) in zip(names, arrangement.places(names.count)) {
            try transition(name, seconds: seconds, easing: easing) { slot in
                slot.position = SIMD2(Float(place.x), Float(place.y))
                slot.size = SIMD2(Float(place.width), Float(place.height))
                slot.z = Float(place.z)
                slot.isVisible = true
            }
        }
    }

    // MARK: Helpers

    private func problem(_ message: String, _ remedy: String) -> PatchError {
        PatchError(.graph, message, remedy: remedy, node: node.id)
    }

    private func existing(_ name: String) throws -> MixerSlot {
        if let slot = self[name] { return slot }
        throw problem(
            "there is no slot '\(name)'",
            Spelling.nearest(to: name, in: slotNames).map { "did you mean '\($0)'?" }
                ?? (slotNames.isEmpty ? "make it with set" : "there are \(slotNames.joined(separator: ", "))"))
    }

    private func checked(_ slot: MixerSlot, _ name: String) throws -> [String: [Float]] {
        let values = slot.values(canvas: canvas)
        for schema in MixerSchema.slotParameters(width: width, height: height) {
            guard let floats = values[schema.name], let range = schema.range else { continue }
            guard floats.allSatisfy({ range.contains($0) }) else {
                throw problem(
                    "\(schema.name) of slot '\(name)' is \(floats.map { "\($0)" }.joined(separator: ", "))",
                    "it goes from \(range.lowerBound) to \(range.upperBound)")
            }
        }
        return values
    }

    /// Makes the node's ports, parameters and wires agree with these slots.
    private func rebuild(_ slots: [(name: String, slot: MixerSlot)], _ state: inout Graph.State) {
        state.mixers[node.id] = slots
        guard let index = state.patch.nodes.firstIndex(where: { $0.id == node.id }) else { return }
        let filter = MixerSchema.filter(
            slots.map { MixerSchema.Slot($0.name, blend: $0.slot.blend, hasMask: $0.slot.mask != nil) },
            width: width, height: height)
        let names = Set(filter.parameters.map(\.name))
        state.patch.nodes[index].body = .kernels(filter)
        state.patch.nodes[index].parameters = state.patch.nodes[index].parameters.filter { names.contains($0.key) }
        state.patch.wires.removeAll { $0.to == node.id }
        for (name, slot) in slots {
            for (port, source) in [(name, slot.source), (name + ".mask", slot.mask)] {
                guard let source, let place = filter.ports.firstIndex(of: port) else { continue }
                state.patch.wires.append(Wire(from: source.id, to: node.id, port: place))
            }
        }
    }
}
