extension KernelBuilder {
    /// Applies an operation under GLSL's typing: componentwise on vectors, scalars broadcast, ints become floats where
    /// they meet floats.
    /// - Throws: `KernelError` of code `type`, which names the forms that the operation takes.
    public mutating func apply(_ op: Operation, _ arguments: [Value]) throws(KernelError) -> Value {
        for argument in arguments { check(argument) }
        guard op.arity.contains(arguments.count) else {
            let wanted =
                op.arity.lowerBound == op.arity.upperBound
                ? "\(op.arity.lowerBound)" : "\(op.arity.lowerBound) to \(op.arity.upperBound)"
            throw KernelError(
                .type, "\(op.rawValue) takes \(wanted) argument\(wanted == "1" ? "" : "s"), not \(arguments.count)",
                remedy: "\(op.rawValue) takes \(op.signature)")
        }
        var values = arguments
        switch op {
        case .and, .or, .not:
            guard values.allSatisfy({ $0.type == .bool }) else { throw mismatch(op, arguments) }
            return make(op, values, .bool)
        case .toInt, .toFloat, .toBool:
            guard !values[0].type.isVector, !values[0].type.isMatrix else { throw mismatch(op, arguments) }
            let target: ValueType = op == .toInt ? .int : op == .toFloat ? .float : .bool
            return values[0].type == target ? values[0] : make(op, values, target)
        case .any, .all:
            if values[0].type == .bool { return values[0] }
            guard values[0].type.isVector else { throw mismatch(op, arguments) }
            return make(op, values, .bool)
        case .transpose:
            guard values[0].type.isMatrix else { throw mismatch(op, arguments) }
            return make(op, values, values[0].type)
        case .hash:
            guard values.allSatisfy({ $0.type == .int || $0.type == .float }) else { throw mismatch(op, arguments) }
            return make(op, values, .float)
        default: break
        }

        // From here on: no bools, ints only where all are ints and the operation takes them.
        let allInt = values.allSatisfy { $0.type == .int }
        let isComparison = Operation.comparisons.contains(op)
        if (op == .eq || op == .ne), values.allSatisfy({ $0.type == .bool }) { return make(op, values, .bool) }
        if !(allInt && (op.takesInt || isComparison)) {
            for i in values.indices where values[i].type == .int { values[i] = make(.toFloat, [values[i]], .float) }
        }
        guard !values.contains(where: { $0.type == .bool }) else { throw mismatch(op, arguments) }
        if values.contains(where: { $0.type.isMatrix }) { return try applyToMatrix(op, values, arguments) }

        guard let shape = commonShape(values) else { throw mismatch(op, arguments) }
        switch op {
        case .length: return make(op, values, .float)
        case .distance, .dot:
            guard values[0].type == values[1].type else { throw mismatch(op, arguments) }
            return make(op, values, .float)
        case .cross:
            guard values[0].type == .vec3, values[1].type == .vec3 else { throw mismatch(op, arguments) }
            return make(op, values, .vec3)
        case .reflect:
            guard values[0].type == values[1].type else { throw mismatch(op, arguments) }
            return make(op, values, shape)
        case .lt, .le, .gt, .ge, .eq, .ne: return make(op, values, shape.isVector ? shape : .bool)
        default: return make(op, values, shape)
        }
    }

    /// Without checks: the types must be right.
    mutating func make(_ op: Operation, _ values: [Value], _ type: ValueType) -> Value {
        intern(.operation(op), values.map(\.index), type)
    }

    private func commonShape(_ values: [Value]) -> ValueType? {
        var shape = values[0].type
        for value in values.dropFirst() where value.type != shape {
            if shape == .float, value.type.isVector {
                shape = value.type
            } else if !(value.type == .float && shape.isVector) {
                return nil
            }
        }
        return shape
    }

    private mutating func applyToMatrix(
        _ op: Operation, _ values: [Value], _ arguments: [Value]
    ) throws(KernelError) -> Value {
        if op == .neg { return make(op, values, values[0].type) }
        guard [.add, .sub, .mul, .div].contains(op) else { throw mismatch(op, arguments) }
        let (a, b) = (values[0].type, values[1].type)
        if a == b || b == .float { return make(op, values, a) }
        if a == .float { return make(op, values, b) }
        if op == .mul, a.order == b.order, a.isVector || b.isVector { return make(op, values, .vector(a.order)) }
        throw mismatch(op, arguments)
    }

    private func mismatch(_ op: Operation, _ arguments: [Value]) -> KernelError {
        let types = arguments.map(\.type.rawValue).joined(separator: ", ")
        return KernelError(
            .type, "\(op.rawValue)(\(types)) does not exist",
            remedy: "\(op.rawValue) takes \(op.signature)"
                + (op.signature.contains("T") ? ", where T is float, vec2, vec3 or vec4" : ""))
    }
}

extension Operation {
    static let comparisons: Set<Operation> = [.lt, .le, .gt, .ge, .eq, .ne]
}
