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
        return VideoFormat(
            .half4, width: expression.width, height: expression.height, color: encodedColor(expression))
    }

    /// The picture in a slot, computed as an intermediate when it was not; later readers of the node find it there.
    mutating func store(
        _ picture: Picture, ofNode upstream: NodeID?, readIn reader: KernelSpace = .rgb, asLight: Bool = false
    ) throws -> StoredPicture {
        switch picture {
        case .stored(let stored): return stored
        case .expression(let expression):
            let format = intermediate(expression, readIn: reader)
            let stored = try compute(
                expression, as: asLight ? linear(format) : format,
                reason: "its reader looks at neighbouring or other pixels")
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
    mutating func compute(
        _ expression: PictureExpression, as format: VideoFormat, reason: String
    ) throws -> StoredPicture {
        let expression = try inPlanes(expression, before: format)
        let kernel = expression.kernel
        let codes = try compile(expression, as: format)
        let slot = newSlot(format)
        let offset = plan.uniformCount
        for (index, uniform) in expression.uniforms.enumerated() {
            let place = offset + kernel.uniformOffset(index)
            switch uniform {
            case .parameter(let storeIndex, let count):
                plan.uniformTargets.append(UniformTarget(storeIndex: storeIndex, offset: place, count: count))
            case .constant(let floats):
                for (lane, float) in floats.enumerated() { plan.uniformConstants.append((place + lane, float)) }
            }
        }
        plan.uniformCount += kernel.uniformFloatCount
        plan.steps.append(
            .pass(
                PlanPass(
                    compiled: codes.first, chroma: codes.chroma, whyTogether: codes.whyTogether,
                    inputs: expression.inputs.map(\.slot), output: slot, uniformOffset: offset,
                    nodes: expression.nodes, reason: reason)))
        return StoredPicture(slot: slot, format: format)
    }

    func wrap<R>(_ body: () throws(KernelError) -> R) throws -> R {
        do { return try body() } catch { throw PatchError(.kernel, error.message, remedy: error.remedy) }
    }

    /// After which step each slot is read for the last time, so that its buffer can serve the next pass.
    mutating func assignReleases() {
        var keep = Set(plan.sinks.compactMap(\.slot))
        for source in plan.sources { if let slot = source.slot { keep.insert(slot) } }
        var lastReader: [Int: Int] = [:]
        for (index, step) in plan.steps.enumerated() {
            switch step {
            case .pass(let pass):
                for slot in pass.inputs + [pass.output] { lastReader[slot] = index }
            case .process(let process):
                lastReader[process.input] = index
                lastReader[process.output] = index
            }
        }
        for (slot, index) in lastReader where !keep.contains(slot) {
            switch plan.steps[index] {
            case .pass(var pass):
                pass.releases.append(slot)
                plan.steps[index] = .pass(pass)
            case .process(var process):
                process.releases.append(slot)
                plan.steps[index] = .process(process)
            }
        }
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
