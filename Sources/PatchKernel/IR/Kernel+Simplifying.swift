extension Kernel {
    /// An equal kernel with fewer values.
    ///
    /// Rules, each exact for every input but for the sign of zeros: operations on constants are computed;
    /// x + 0, x − 0, x · 1, x / 1, mix(x, y, 0), mix(x, y, 1), swizzles of swizzles and of constructions, selections by
    /// a constant, double negations and a conversion followed by its inverse are what they come to. 0 · x stays: x may
    /// be infinite or NaN. Values that the result does not need go.
    public func simplified() -> Kernel {
        var builder = builder()
        let map = builder.append(self) { builder, node in Self.simplify(node, &builder) }
        return Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: light, alpha: alpha, space: space,
            nodes: builder.nodes, result: map[result]
        ).withoutDeadValues()
    }

    private static func simplify(_ node: Node, _ b: inout KernelBuilder) -> Value? {
        let arguments = node.arguments.map { Value(index: $0, type: b.nodes[$0].type) }
        switch node.kind {
        case .operation(let operation): return simplify(operation, node, arguments, &b)
        case .select:
            if case .bool(let flag) = b.nodes[node.arguments[0]].kind { return arguments[flag ? 1 : 2] }
            return arguments[1] == arguments[2] ? arguments[1] : nil
        case .swizzle(let indices):
            let inner = b.nodes[node.arguments[0]]
            if case .swizzle(let innerIndices) = inner.kind {
                let source = Value(index: inner.arguments[0], type: b.nodes[inner.arguments[0]].type)
                return b.makeSwizzle(source, indices.map { innerIndices[Int($0)] })
            }
            if inner.kind == .construct, indices.count == 1 {
                let parts = inner.arguments.map { Value(index: $0, type: b.nodes[$0].type) }
                if parts.count == 1, parts[0].type == .float { return parts[0] }
                var position = Int(indices[0])
                for part in parts {
                    if position < part.type.componentCount { return b.makeSwizzle(part, [UInt8(position)]) }
                    position -= part.type.componentCount
                }
            }
            return nil
        case .convert(let conversion):
            let inner = b.nodes[node.arguments[0]]
            // The other order, unpremultiply then premultiply, loses colour where alpha is 0.
            if conversion == .unpremultiply || conversion == .premultiply { return nil }
            if case .convert(let before) = inner.kind, before != conversion,
                before == .linearize || before == .encode
            {
                return Value(index: inner.arguments[0], type: .vec4)
            }
            return nil
        default: return nil
        }
    }

    private static func float(_ value: Value, _ b: KernelBuilder) -> Float? {
        if case .float(let bits) = b.nodes[value.index].kind { return Float(bitPattern: bits) }
        return nil
    }

    private static func simplify(
        _ operation: Operation, _ node: Node, _ arguments: [Value], _ b: inout KernelBuilder
    ) -> Value? {
        let floats = arguments.map { float($0, b) }
        let isComponentwise = ![
            .length, .distance, .dot, .normalize, .reflect, .any, .all, .hash, .toInt, .toFloat, .toBool,
        ].contains(operation)
        if isComponentwise, node.type == .float || node.type == .bool, floats.allSatisfy({ $0 != nil }) {
            let values = floats.compactMap { $0 }
            if Operation.comparisons.contains(operation) {
                return b.constant(Interpreter.compare(operation, values[0], values[1]))
            }
            if node.type == .float { return b.constant(Interpreter.component(operation, values)) }
        }
        if operation == .toFloat, case .int(let value) = b.nodes[arguments[0].index].kind {
            return b.constant(Float(value))
        }
        func keeps(_ value: Value) -> Value? { value.type == node.type ? value : nil }
        switch operation {
        case .add:
            if floats[0] == 0 { return keeps(arguments[1]) }
            return floats[1] == 0 ? keeps(arguments[0]) : nil
        case .sub: return floats[1] == 0 ? keeps(arguments[0]) : nil
        case .mul:
            if floats[0] == 1 { return keeps(arguments[1]) }
            return floats[1] == 1 ? keeps(arguments[0]) : nil
        case .div: return floats[1] == 1 ? keeps(arguments[0]) : nil
        case .mix: return floats[2] == 0 ? keeps(arguments[0]) : floats[2] == 1 ? keeps(arguments[1]) : nil
        case .neg, .not:
            let inner = b.nodes[arguments[0].index]
            guard inner.kind == .operation(operation) else { return nil }
            return Value(index: inner.arguments[0], type: node.type)
        default: return nil
        }
    }
}
