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

    func intermediate(_ expression: PictureExpression) -> VideoFormat {
        VideoFormat(.half4, width: expression.width, height: expression.height, color: .srgb)
    }

    /// The picture in a slot, computed as an intermediate when it was not; later readers of the node find it there.
    mutating func store(_ picture: Picture, ofNode upstream: NodeID?) throws -> StoredPicture {
        switch picture {
        case .stored(let stored): return stored
        case .expression(let expression):
            let stored = try compute(
                expression, as: intermediate(expression), reason: "its reader looks at neighbouring or other pixels")
            if let upstream { pictures[upstream] = .stored(stored) }
            return stored
        }
    }

    /// Compiles the expression into a pass that writes this format.
    mutating func compute(
        _ expression: PictureExpression, as format: VideoFormat, reason: String
    ) throws -> StoredPicture {
        let kernel = expression.kernel
        let description = PassDescription(
            kernel: kernel, inputs: expression.inputs.map(\.passInput),
            output: PassOutput(format: format.pixelFormat, color: format.color, premultiplied: format.premultiplied))
        let compiled = try wrap { () throws(KernelError) in try compiler.compile(description) }
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
                    compiled: compiled, inputs: expression.inputs.map(\.slot), output: slot, uniformOffset: offset,
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
