extension KernelBuilder {
    /// Adds another kernel's values; `replace` may give a value of its own for a node (whose arguments are mapped).
    /// Returns where each node went.
    mutating func append(
        _ kernel: Kernel, replace: (inout KernelBuilder, Node) -> Value?
    ) -> [Int] {
        var map: [Int] = []
        map.reserveCapacity(kernel.nodes.count)
        var loops: [Int: Int] = [:]
        for node in kernel.nodes {
            var node = node
            for i in node.arguments.indices { node.arguments[i] = map[node.arguments[i]] }
            switch node.kind {
            case .loopParameter(let loop, let index):
                if loops[loop] == nil {
                    loops[loop] = loopCount
                    loopCount += 1
                }
                node.kind = .loopParameter(loop: loops[loop] ?? loop, index: index)
            case .loop(let loop, let limit):
                if loops[loop] == nil {
                    loops[loop] = loopCount
                    loopCount += 1
                }
                node.kind = .loop(loops[loop] ?? loop, limit: limit)
            default: break
            }
            let value = replace(&self, node) ?? intern(node.kind, node.arguments, node.type)
            map.append(value.index)
        }
        return map
    }

    /// Between the forms in which two kernels hold one colour.
    mutating func convert(
        _ value: Value, from: (light: Light, alpha: Alpha), to: (light: Light, alpha: Alpha)
    ) -> Value {
        if from == to { return value }
        var value = value
        var alpha = from.alpha
        if from.light != to.light {
            if alpha == .premultiplied { value = convert(value, .unpremultiply) }
            alpha = .straight
            value = convert(value, from.light == .encoded ? .linearize : .encode)
        }
        if alpha != to.alpha { value = convert(value, to.alpha == .straight ? .unpremultiply : .premultiply) }
        return value
    }
}

extension Node {
    /// The node with its input numbers mapped.
    func mappingInputs(_ map: (Int) -> Int) -> NodeKind {
        switch kind {
        case .current(let input): .current(map(input))
        case .tap(let input, let dx, let dy, let edge): .tap(map(input), dx: dx, dy: dy, edge: edge)
        case .sample(let input, let filter, let edge): .sample(map(input), filter: filter, edge: edge)
        case .builtin(.inputSize(let input)): .builtin(.inputSize(map(input)))
        default: kind
        }
    }
}

extension Kernel {
    /// This kernel with one input computed by `producer` in the same pass.
    ///
    /// The producer's inputs take that input's place; uniforms are this kernel's, then the producer's. Where the
    /// producer's result and the input's declaration differ in light or alpha, a conversion comes between.
    /// - Throws: `KernelError` of code `unsupported` when the input is read elsewhere than at the pixel itself, or when
    ///   one kernel works in Y'CbCr and the other in RGB; `budget` when the result is too large.
    public func inlining(_ producer: Kernel, asInput input: Int) throws(KernelError) -> Kernel {
        precondition(inputs.indices.contains(input), "no such input")
        switch footprint(ofInput: input) {
        case .unused, .point: break
        default:
            throw KernelError(
                .unsupported, "'\(name)' reads around the pixel of '\(inputs[input].name)'",
                remedy: "store '\(producer.name)' in a picture of its own")
        }
        // A kernel for any space takes the other's; one without inputs (a colour) is R'G'B' by nature.
        let common: KernelSpace
        switch (space, producer.space) {
        case (let a, let b) where a == b: common = a
        case (.any, let b): common = b
        case (let a, .any): common = a
        default:
            throw KernelError(
                .unsupported, "'\(name)' works in \(space.rawValue), '\(producer.name)' in \(producer.space.rawValue)",
                remedy: "keep them in two passes")
        }
        let added = producer.inputs.count
        let newInputs = Array(inputs[..<input]) + producer.inputs + Array(inputs[(input + 1)...])
        var builder = builder(inputs: newInputs, uniforms: uniforms + producer.uniforms, space: common)
        let uniformBase = uniforms.count
        let producerMap = builder.append(producer) { builder, node in
            let kind: NodeKind =
                if case .uniform(let index) = node.kind {
                    .uniform(index + uniformBase)
                } else {
                    node.mappingInputs { $0 + input }
                }
            return builder.intern(kind, node.arguments, node.type)
        }
        let pixel = builder.convert(
            Value(index: producerMap[producer.result], type: .vec4), from: (producer.light, producer.alpha),
            to: (inputs[input].light, inputs[input].alpha))
        let map = builder.append(self) { builder, node in
            if node.kind == .current(input) { return pixel }
            // The producer's picture has the output's size.
            if node.kind == .builtin(.inputSize(input)) { return builder.builtin(.size) }
            return builder.intern(
                node.mappingInputs { $0 < input ? $0 : $0 + added - 1 }, node.arguments, node.type)
        }
        return try builder.finish(Value(index: map[result], type: .vec4))
    }

    /// The same kernel with inputs renumbered: input i becomes `map[i]`; several may become one.
    /// - Throws: `KernelError` of code `unsupported` when inputs that become one are declared in different forms;
    ///   `range` when `map` leaves a gap or is not as long as `inputs`.
    public func mergingInputs(_ map: [Int]) throws(KernelError) -> Kernel {
        guard map.count == inputs.count, Set(map) == Set(0..<(map.max() ?? -1) + 1) else {
            throw KernelError(.range, "an input map of '\(name)' has gaps", remedy: "number the inputs from 0")
        }
        var merged: [InputDeclaration?] = Array(repeating: nil, count: (map.max() ?? -1) + 1)
        for (old, new) in map.enumerated() {
            if let first = merged[new] {
                guard first.light == inputs[old].light, first.alpha == inputs[old].alpha else {
                    throw KernelError(
                        .unsupported, "'\(first.name)' and '\(inputs[old].name)' want different light or alpha",
                        remedy: "keep them apart")
                }
            } else {
                merged[new] = inputs[old]
            }
        }
        var builder = builder(inputs: merged.compactMap { $0 })
        let nodes = builder.append(self) { builder, node in
            builder.intern(node.mappingInputs { map[$0] }, node.arguments, node.type)
        }
        return try builder.finish(Value(index: nodes[result], type: .vec4))
    }

    /// Reads an input at the same place of the picture instead of at the same pixel: for an input whose size differs
    /// from the output's. Taps stay taps.
    /// - Precondition: `input` is that of a declared input.
    public func samplingInput(_ input: Int, filter: SampleFilter = .bilinear, edge: EdgeMode = .clamp) -> Kernel {
        precondition(inputs.indices.contains(input), "no such input")
        var builder = builder()
        let map = builder.append(self) { builder, node in
            guard node.kind == .current(input) else { return nil }
            let uv = builder.builtin(.uv)
            return builder.intern(.sample(input, filter: filter, edge: edge), [uv.index], .vec4)
        }
        return Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: light, alpha: alpha, space: space,
            nodes: builder.nodes, result: map[result]
        ).withoutDeadValues()
    }
}
