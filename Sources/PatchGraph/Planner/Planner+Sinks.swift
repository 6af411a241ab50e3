import PatchKernel
import PatchMedia

/// Sinks: what each wants, and how pictures get into that form.
extension Planner {
    mutating func addSink(_ node: PatchNode, _ checked: CheckedPatch) throws {
        let wire = checked.inputs[node.id]?[0]
        let picture = try wire.map { _ in try input(0, of: node, checked) }
        let request = try request(of: node)
        if let request { requests[node.id] = request }
        guard let request else {
            plan.sinks.append(
                PlanSink(
                    id: node.id, kind: node.kind, location: node.location, slot: nil, video: nil, sounds: [],
                    audio: nil, queue: .dropNewest(depth: 1), tap: plan.sinks.count, isLeftOut: true))
            pictures[node.id] = picture
            return
        }
        var slot: Int?
        if let picture, let wanted = request.video {
            // BT.601's and BT.709's primaries differ too little to be worth a word at every sink.
            let wide: Set<ColorSpec.Primaries> = [.bt2020, .displayP3]
            let colors = colors(of: picture).filter {
                wide.contains($0.primaries) || wide.contains(wanted.color.primaries)
            }
            notePrimaries(node, colors + (colors.isEmpty ? [] : [wanted.color]))
            let stored = try converted(picture, ofNode: wire?.from, to: wanted, fill: request.fill, for: node)
            slot = stored.slot
            // What is wired on behind a sink sees the sink's own frames.
            pictures[node.id] = .stored(stored)
        }
        let sounds = request.audio == nil ? [] : try sounds(into: node.id, checked)
        let same = plan.sinks.firstIndex { $0.slot == slot && $0.sounds == sounds && $0.audio == request.audio }
        plan.sinks.append(
            PlanSink(
                id: node.id, kind: node.kind, location: node.location, slot: slot, video: request.video,
                sounds: sounds, audio: request.audio, queue: request.queue, tap: same ?? plan.sinks.count,
                isLeftOut: false))
    }

    /// The picture in exactly this format and size, computed once however many ask for it.
    mutating func converted(
        _ picture: Picture, ofNode upstream: NodeID?, to wanted: VideoFormat, fill: FillMode, for node: PatchNode
    ) throws -> StoredPicture {
        if case .stored(let stored) = picture, stored.format == wanted { return stored }
        let target = wanted.displaySize
        // Where shapes agree the fill mode does not matter.
        let key = upstream.map {
            ConversionKey(node: $0, format: wanted, fill: picture.size == target ? .stretch : fill)
        }
        if let key, let known = conversions[key] { return known }

        var current = picture
        if case .expression(let expression) = picture, let upstream, !isCheap(expression),
            try readersDiffer(upstream, wanted)
        {
            current = .stored(try store(picture, ofNode: upstream))
        }
        if picture.size != target {
            let placement = Placement(from: picture.size, to: target, fill: fill)
            // More than halving with a four-pixel filter skips pixels: average whole blocks first.
            let (shrinkX, shrinkY) = placement.shrink(from: picture.size, to: target)
            let blocks = (x: max(1, min(16, Int(shrinkX))), y: max(1, min(16, Int(shrinkY))))
            if blocks.x > 1 || blocks.y > 1 {
                let kernel = inGraphsLight(StandardKernels.reduce(x: blocks.x, y: blocks.y))
                let stored = try store(current, ofNode: upstream, readIn: kernel.space)
                let reduced = PictureExpression(
                    kernel: kernel, inputs: [try inLight(stored, of: kernel, ofNode: upstream)], uniforms: [],
                    width: (stored.size.width + blocks.x - 1) / blocks.x,
                    height: (stored.size.height + blocks.y - 1) / blocks.y, nodes: [])
                let format = intermediate(reduced, readIn: kernel.space)
                let shrunk = kernel.light == .linear ? linear(format) : format
                current = .stored(
                    try compute(reduced, as: shrunk, reason: "shrinks for '\(node.id)'"))
            }
            let kernel = inGraphsLight(StandardKernels.place(filter: .bilinear))
            let owner = blocks == (1, 1) ? upstream : nil
            let stored = try store(current, ofNode: owner, readIn: kernel.space)
            current = .expression(
                PictureExpression(
                    kernel: kernel, inputs: [try inLight(stored, of: kernel, ofNode: owner)],
                    uniforms: [placement.destination, [0, 0, 0, 1], placement.crop].map { .constant($0) },
                    width: target.width, height: target.height, nodes: []))
        }
        let result = try compute(
            try asExpression(current), as: wanted, reason: "'\(node.id)' takes \(wanted.pixelFormat.rawValue)")
        if let key { conversions[key] = result }
        return result
    }

    /// A picture that a kernel reads at another size, pixel by pixel: where that more than halves a side, whole blocks of its
    /// pixels are averaged first, because a bilinear read takes in four pixels only.
    mutating func reduced(_ stored: StoredPicture, to size: (width: Int, height: Int)) throws -> StoredPicture {
        let (width, height) = stored.size
        let blocks = (x: max(1, min(16, width / size.width)), y: max(1, min(16, height / size.height)))
        guard blocks.x > 1 || blocks.y > 1 else { return stored }
        let expression = PictureExpression(
            kernel: StandardKernels.reduce(x: blocks.x, y: blocks.y), inputs: [stored], uniforms: [],
            width: (width + blocks.x - 1) / blocks.x, height: (height + blocks.y - 1) / blocks.y, nodes: [])
        return try compute(
            expression, as: intermediate(expression, readIn: .any),
            reason: "its reader is at most half as large")
    }

    func isCheap(_ expression: PictureExpression) -> Bool {
        expression.kernel.valueCount <= Self.cheapInstructions
    }

    /// Whether a node's picture is wanted in another form than `wanted` too: by a filter, or by a sink of another format.
    func readersDiffer(_ node: NodeID, _ wanted: VideoFormat) throws -> Bool {
        for wire in checked?.patch.wires ?? [] where wire.from == node && wire.media != .audio {
            guard let reader = checked?.order.first(where: { $0.id == wire.to }) else { continue }
            guard case .role(.sink) = try provider.kindOrKernel(of: reader) else { return true }
            if let known = requests[reader.id] {
                if known.video != wanted { return true }
            } else if let request = try request(of: reader), request.video != wanted {
                return true
            }
        }
        return false
    }

    /// What a sink wants of the picture that is wired to it; asked once.
    func request(of node: PatchNode) throws -> SinkRequest? {
        guard let checked else { return nil }
        let wire = checked.inputs[node.id]?[0]
        let offered = try wire.map { _ in try input(0, of: node, checked) }.map { picture -> VideoFormat in
            let size = picture.size
            if case .stored(let stored) = picture {
                var format = stored.format
                (format.width, format.height) = size
                format.orientation = .identity
                return format
            }
            if case .expression(let expression) = picture, let video = videoFormat(expression) { return video }
            return VideoFormat(.half4, width: size.width, height: size.height)
        }
        return try provider.request(
            of: node, offered: offered, hasSound: !soundOrigins(of: node.id, checked).isEmpty, rate: plan.rate)
    }
}
