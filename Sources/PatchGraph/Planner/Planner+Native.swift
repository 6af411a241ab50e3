import PatchKernel
import PatchMedia

/// Native nodes: their ports get pictures as they want them, and their result is a picture of its own.
extension Planner {
    mutating func addNative(_ native: any NativeNode, _ node: PatchNode, _ checked: CheckedPatch) throws {
        let schema = try provider.kindSchema(of: node)
        let offset = plan.uniformCount
        for parameter in schema.parameters {
            let declared = node.parameters[parameter.name] ?? .constant(parameter.defaultValue)
            let index = parameters.reserve(node: node.id, parameter, declared: declared)
            plan.parameters.append(
                PlanParameter(node: node.id, name: parameter.name, storeIndex: index, declared: declared))
            plan.uniformTargets.append(
                UniformTarget(storeIndex: index, offset: plan.uniformCount, count: parameter.form.count))
            plan.uniformCount += parameter.form.count
        }
        let names = try provider.ports(of: node).names
        let wired = try names.indices.map { try input($0, of: node, checked) }
        let run = try native.prepare(inputs: wired.map(offered), rate: plan.rate)
        guard run.inputs.count == wired.count else {
            throw PatchError(.graph, "'\(node.id)' has \(wired.count) inputs and reads \(run.inputs.count)")
        }
        var slots: [Int] = []
        for (port, picture) in wired.enumerated() {
            let wanted = run.inputs[port]
            // Native nodes do not write their inputs, so a stored picture of the right format is read where it lies.
            if case .stored(let stored) = picture, stored.format == wanted {
                slots.append(stored.slot)
                continue
            }
            let upstream = checked.inputs[node.id]?[port]?.from
            var expression = try asExpression(picture)
            if picture.size != (wanted.width, wanted.height) {
                let stored = try store(picture, ofNode: upstream)
                expression = try asExpression(.stored(stored))
                expression.kernel = expression.kernel.samplingInput(0, filter: .bilinear, edge: .clamp)
                (expression.width, expression.height) = (wanted.width, wanted.height)
            }
            let computed = try compute(expression, as: wanted, reason: "'\(node.id)' is a native node")
            slots.append(computed.slot)
        }
        nativeDelays[node.id] = provider.isOffline ? 0 : run.delay
        let output = newSlot(run.output)
        plan.steps.append(
            .operate(
                PlanOperate(
                    id: node.id, name: node.kind, work: run, inputs: slots, output: output, uniformOffset: offset,
                    toleratesMissingInputs: false, data: nil, isWatched: false)))
        pictures[node.id] = .stored(StoredPicture(slot: output, format: run.output))
    }

    /// What a port could have without a conversion: a stored picture's own format, upright; for what is yet to be
    /// computed, 8-bit R'G'B'A, as any other format can be computed as well.
    private func offered(_ picture: Picture) -> VideoFormat {
        switch picture {
        case .stored(let stored):
            var format = stored.format
            (format.width, format.height) = stored.size
            format.orientation = .identity
            return format
        case .expression(let expression):
            return VideoFormat(.rgba, width: expression.width, height: expression.height)
        }
    }
}
