import PatchKernel
import PatchMedia

/// Pictures of earlier ticks: what a stage reads as `"previous"` or `"NAME@3"`, and `delay`.
extension Planner {
    /// Bytes that the memories of a plan may hold together.
    static let mostMemory = 4 << 30
    /// Frames of a source that a memory may hold: devices and decoders have few.
    static let mostSourceFrames = 2

    /// The slot that an earlier picture of this filter comes in.
    mutating func past(
        _ source: KernelFilter.Stage.Input, readBy reader: Int, _ work: inout FilterWork
    ) throws -> StoredPicture {
        let remembered: FilterWork.Remembered
        let ticks: Int
        switch source {
        case .pastPort(let port, let count): (remembered, ticks) = (.port(port), count)
        case .pastStage(let stage, let count): (remembered, ticks) = (.stage(stage), count)
        case .port, .stage: throw PatchError(.kernel, "the input is of this tick")
        }
        guard (1...120).contains(ticks) else {
            throw PatchError(
                .kernel, "'\(work.filter.name)' reads a picture of \(ticks) ticks ago", remedy: "1 to 120 are possible")
        }
        let memory: Int
        if let known = work.memories[remembered] {
            memory = known
        } else {
            memory = plan.memories.count
            work.memories[remembered] = memory
            let (format, label, fingerprint) = try description(of: remembered, readBy: reader, &work)
            plan.memories.append(
                PlanMemory(
                    key: PlanMemory.Key(
                        node: work.node.id, picture: label, format: format, fingerprint: fingerprint), source: -1,
                    depth: 1, outputs: [], beginsBlank: work.filter.ports.isEmpty))
        }
        let format = plan.memories[memory].key.format
        plan.memories[memory].depth = max(plan.memories[memory].depth, ticks)
        if let known = plan.memories[memory].outputs.first(where: { $0.ticks == ticks }) {
            return StoredPicture(slot: known.slot, format: format)
        }
        let slot = newSlot(format)
        plan.memories[memory].outputs.append((slot, ticks))
        if !plan.memories[memory].beginsBlank {
            // In the first tick there is nothing to remember: the picture of now, else what the reader reads first.
            var beginning = remembered
            if case .stage(let stage) = remembered, stage >= reader {
                switch work.filter.stages[reader].inputs.first {
                case .stage(let first)?: beginning = .stage(first)
                case .port(let port)?: beginning = .port(port)
                default: beginning = .port(0)
                }
            }
            switch beginning {
            case .port(let port):
                try seed(slot, with: input(port, of: work), ofNode: work.upstream(port), format)
            case .stage(let stage): try seed(slot, with: work.results[stage], ofNode: nil, format)
            }
        }
        return StoredPicture(slot: slot, format: format)
    }

    /// Fills a memory's slot from a picture of now while the memory is empty.
    private mutating func seed(
        _ slot: Int, with picture: Picture, ofNode upstream: NodeID?, _ format: VideoFormat
    ) throws {
        var expression: PictureExpression
        if picture.size == format.displaySize {
            expression = try asExpression(picture)
        } else {
            expression = try resized(try store(picture, ofNode: upstream), to: format)
        }
        if format.orientation != .identity, case .stored = picture {
            // The memory keeps frames as they lie: so must its first one.
            expression.inputs[0].format.orientation = .identity
        }
        _ = try compute(
            expression, as: format, reason: "there is no earlier picture in the first tick", into: slot, isSeed: true)
    }

    private func resized(_ stored: StoredPicture, to format: VideoFormat) throws -> PictureExpression {
        PictureExpression(
            kernel: StandardKernels.resize(), inputs: [stored], uniforms: [], width: format.displaySize.width,
            height: format.displaySize.height, nodes: [])
    }

    // MARK: Delay

    /// A delay: its output comes from a memory; its input is captured at once, or, in a loop, when it is planned.
    mutating func addDelay(_ node: PatchNode, _ checked: CheckedPatch) throws {
        guard let wire = checked.inputs[node.id]?[0] else { throw PatchError(.graph, "delay has no input") }
        let ticks = node.options.integer("frames") ?? 1
        let format: VideoFormat
        let picture = pictures[wire.from]
        switch picture {
        case nil:
            var seen: Set<NodeID> = []
            let size = predictedSize(of: node.id, checked, &seen) ?? defaultSize
            format = VideoFormat(.half4, width: size.width, height: size.height, color: .srgb)
        case .stored(let stored)?: format = stored.format
        case .expression(let expression)?:
            format =
                ticks > Self.mostSourceFrames
                ? VideoFormat(.rgba, width: expression.width, height: expression.height) : intermediate(expression)
        }
        let slot = newSlot(format)
        let memory = plan.memories.count
        plan.memories.append(
            PlanMemory(
                key: PlanMemory.Key(node: node.id, picture: "picture", format: format, fingerprint: 0), source: -1,
                depth: ticks, outputs: [(slot, ticks)], beginsBlank: picture == nil))
        if let picture {
            try seed(slot, with: picture, ofNode: wire.from, format)
            try capture(picture, ofNode: wire.from, in: memory)
        } else {
            loops.append((node, memory))
        }
        pictures[node.id] = .stored(StoredPicture(slot: slot, format: format))
        let bytes = plan.memories[memory].bytes
        plan.notes.append(
            PatchNote(
                message:
                    "'\(node.id)' keeps \(ticks) frame\(ticks == 1 ? "" : "s"), \((bytes + (1 << 20) - 1) >> 20) MB",
                node: node.id, location: node.location))
    }

    /// Now that everything is planned: what the delays in loops take.
    mutating func captureLoops(_ checked: CheckedPatch) throws {
        for (node, memory) in loops {
            do { try capture(input(0, of: node, checked), ofNode: checked.inputs[node.id]?[0]?.from, in: memory) } catch
            {
                throw PatchError.placing(error, node)
            }
        }
    }

    /// The size that a node's picture will have, as far as its options and what feeds it tell.
    private func predictedSize(
        of id: NodeID, _ checked: CheckedPatch, _ seen: inout Set<NodeID>
    ) -> (width: Int, height: Int)? {
        if let picture = pictures[id] { return picture.size }
        guard seen.insert(id).inserted, let node = checked.order.first(where: { $0.id == id }) else { return nil }
        if let size = node.options.size("size") { return size }
        for (_, wire) in (checked.inputs[id] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let size = predictedSize(of: wire.from, checked, &seen) else { continue }
            if case .kernels(let filter) = node.body { return filter.stages.last?.size.applied(to: size) ?? size }
            return size
        }
        return nil
    }

    // MARK: Memories

    /// Format, name and fingerprint of a picture to remember. A picture that is not stored yet is stored by this, as far as
    /// it is known already.
    private mutating func description(
        of remembered: FilterWork.Remembered, readBy reader: Int, _ work: inout FilterWork
    ) throws -> (VideoFormat, String, Int) {
        switch remembered {
        case .port(let port):
            let stored = try store(input(port, of: work), ofNode: work.upstream(port))
            return (stored.format, "port \(work.filter.ports[port])", 0)
        case .stage(let index):
            let stage = work.filter.stages[index]
            let size = stage.size.applied(to: work.size)
            let isLast = index == work.filter.stages.count - 1
            let label = isLast ? "result" : stage.kernel?.name ?? "stage \(index + 1)"
            if index < reader {
                let stored = try store(work.results[index], ofNode: nil)
                work.results[index] = .stored(stored)
                return (stored.format, label, stage.hashValue)
            }
            var storage = stage.storage
            if case .native(let native) = stage.work {
                storage = try provider.nativeOperator(native.name).formats.first ?? .half4
            }
            let format = VideoFormat(
                storage, width: size.width, height: size.height, color: storage.isFloat ? .srgb : nil)
            return (format, label, stage.hashValue)
        }
    }

    /// Says which slots the memories of a planned filter take their pictures from.
    mutating func capturePast(_ work: inout FilterWork) throws {
        for (remembered, memory) in work.memories.sorted(by: { $0.value < $1.value }) {
            switch remembered {
            case .port(let port):
                let picture = try input(port, of: work)
                try capture(picture, ofNode: work.upstream(port), in: memory)
            case .stage(let stage):
                let stored = try store(work.results[stage], ofNode: nil)
                work.results[stage] = .stored(stored)
                try capture(.stored(stored), ofNode: nil, in: memory)
            }
        }
    }

    /// Lets a memory take this picture at the end of each tick, converted to its format and size where it has another.
    mutating func capture(_ picture: Picture, ofNode upstream: NodeID?, in memory: Int) throws {
        let format = plan.memories[memory].key.format
        var stored: StoredPicture
        if case .stored(let known) = picture {
            stored = known
        } else if picture.size == format.displaySize, case .expression(let expression) = picture {
            stored = try compute(
                expression, as: format, reason: "it is kept for later ticks", heldFrames: plan.memories[memory].depth)
            if let upstream, intermediate(expression) == format { pictures[upstream] = .stored(stored) }
        } else {
            stored = try store(picture, ofNode: upstream)
        }
        let isOfSource = plan.sources.contains { $0.slot == stored.slot }
        if stored.format != format || isOfSource && plan.memories[memory].depth > Self.mostSourceFrames {
            var expression = try asExpression(.stored(stored))
            if stored.size != format.displaySize {
                expression = try resized(stored, to: format)
            } else if stored.format.orientation == format.orientation, format.orientation != .identity {
                expression.inputs[0].format.orientation = .identity
            }
            stored = try compute(
                expression, as: format, reason: "it is kept for later ticks", heldFrames: plan.memories[memory].depth)
        }
        plan.memories[memory].source = stored.slot
        for index in plan.steps.indices where plan.steps[index].output == stored.slot {
            if case .pass(var pass) = plan.steps[index], !pass.isSeed {
                pass.heldFrames = max(pass.heldFrames, plan.memories[memory].depth)
                plan.steps[index] = .pass(pass)
            }
        }
        let total = plan.memories.reduce(0) { $0 + $1.bytes }
        guard total <= Self.mostMemory else {
            throw PatchError(
                .budget,
                "the graph would keep \(total >> 20) MB of earlier frames, of which '\(plan.memories[memory].node)' "
                    + "\(plan.memories[memory].bytes >> 20) MB",
                remedy: "\(Self.mostMemory >> 20) MB are the limit: use fewer frames, or put a resize before it")
        }
    }
}
