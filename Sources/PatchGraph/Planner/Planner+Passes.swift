import PatchKernel
import PatchMedia

/// Passes: expressions become machine code with a slot to write to.
extension Planner {
    func asExpression(_ picture: Picture) throws -> PictureExpression {
        switch picture {
        case .expression(let expression): return expression
        case .stored(let stored):
            return PictureExpression(
                kernel: StandardKernels.copy, inputs: [stored], uniforms: [], width: stored.size.width,
                height: stored.size.height, nodes: [])
        }
    }

    /// - Parameter reader: the space in which the picture will be read.
    func intermediate(_ expression: PictureExpression, readIn reader: KernelSpace = .rgb) -> VideoFormat {
        if let planar = planarFormat(expression), reader != .rgb || prefersPlanes(expression) { return planar }
        let isGrey =
            expression.storage == .half3 && expression.kernel.isGrey(reading: expression.inputs.map(\.passInput))
        return VideoFormat(
            isGrey ? .half1 : expression.storage, width: expression.width, height: expression.height,
            color: encodedColor(expression))
    }

    /// The picture in a slot, computed as an intermediate when it was not; later readers of the node find it there.
    mutating func store(
        _ picture: Picture, ofNode upstream: NodeID?, readIn reader: KernelSpace = .rgb, asLight: Bool = false,
        because reason: String = "its reader looks at other pixels"
    ) throws -> StoredPicture {
        switch picture {
        case .stored(let stored): return stored
        case .expression(let expression):
            let format = intermediate(expression, readIn: reader)
            let stored = try compute(
                expression, as: asLight ? linear(format) : format, reason: reason)
            if let upstream { pictures[upstream] = .stored(stored) }
            return stored
        }
    }

    /// The picture as half floats the right way up, converted once for all who read many of its pixels.
    mutating func unpacked(_ stored: StoredPicture, ofNode upstream: NodeID?) throws -> StoredPicture {
        guard stored.format.pixelFormat.isYCbCr || stored.format.orientation != .identity else { return stored }
        let expression = try asExpression(.stored(stored))
        let format = intermediate(expression)
        let key = upstream.map { ConversionKey(node: $0, format: format, fill: .stretch) }
        if let key, let known = conversions[key] { return known }
        let result = try compute(expression, as: format, reason: "its reader looks at many pixels around each")
        if let key { conversions[key] = result }
        return result
    }

    /// Compiles the expression into a pass that writes this format.
    /// - Parameters:
    ///   - known: the slot to write to; nil makes one.
    ///   - heldFrames: how many frames of it a memory holds.
    mutating func compute(
        _ expression: PictureExpression, as format: VideoFormat, reason: String, into known: Int? = nil,
        isSeed: Bool = false, heldFrames: Int = 0, ends: PassEnds? = nil
    ) throws -> StoredPicture {
        let expression = try inPlanes(expression, before: format)
        let kernel = expression.kernel
        let codes = try compile(expression, as: format)
        let slot = known ?? newSlot(format)
        let offset = plan.uniformCount
        for (index, uniform) in expression.uniforms.enumerated() {
            bind(uniform, at: offset + kernel.uniformOffset(index))
        }
        plan.uniformCount += kernel.uniformFloatCount
        plan.steps.append(
            .pass(
                PlanPass(
                    compiled: codes.first, chroma: codes.chroma, whyTogether: codes.whyTogether,
                    inputs: expression.inputs.map(\.slot), output: slot, uniformOffset: offset,
                    nodes: expression.nodes, reason: reason, isSeed: isSeed, heldFrames: heldFrames, ends: ends)))
        return StoredPicture(slot: slot, format: format)
    }

    func wrap<R>(_ body: () throws(KernelError) -> R) throws -> R {
        do { return try body() } catch { throw PatchError(.kernel, error.message, remedy: error.remedy) }
    }

    /// After which step each slot is read for the last time, so that its buffer can serve the next pass.
    mutating func assignReleases() {
        var keep = Set(plan.sinks.compactMap(\.slot))
        for source in plan.sources { if let slot = source.slot { keep.insert(slot) } }
        for memory in plan.memories { keep.insert(memory.source) }
        var lastReader: [Int: Int] = [:]
        for (index, step) in plan.steps.enumerated() {
            for slot in step.inputs + [step.output] { lastReader[slot] = index }
        }
        for (slot, index) in lastReader where !keep.contains(slot) { plan.steps[index].releases.append(slot) }
    }
}

extension Footprint {
    /// Pixels that a kernel reads of an input for each of its own, at most; a gather counts as one.
    var reads: Int {
        switch self {
        case .unused: 0
        case .point, .gather: 1
        case .stencil(let left, let right, let up, let down): (left + right + 1) * (up + down + 1)
        }
    }
}

extension Kernel {
    /// No input is read anywhere but at the pixel itself.
    var isPoint: Bool {
        inputs.indices.allSatisfy { footprint(ofInput: $0).reads <= 1 && footprint(ofInput: $0) != .gather }
    }
}
