extension KernelBuilder {
    /// A value from parts, as GLSL's constructors: `vec4(v.rgb, 1)`, `vec3(x)` (x in every component), `mat3` of nine
    /// floats or three columns or one float (the diagonal), `float(i)`, `int(x)`.
    /// - Throws: `KernelError` of code `type`.
    public mutating func construct(_ type: ValueType, _ parts: [Value]) throws(KernelError) -> Value {
        for part in parts { check(part) }
        guard let first = parts.first else {
            throw KernelError(
                .type, "\(type.rawValue)() needs something to be made of", remedy: Self.constructorRemedy(type))
        }
        switch type {
        case .bool, .int, .float:
            guard parts.count == 1 else {
                throw KernelError(
                    .type, "\(type.rawValue) takes one value, not \(parts.count)",
                    remedy: Self.constructorRemedy(type))
            }
            let scalar = first.type.isVector ? try swizzle(first, "x") : first
            return try apply(type == .bool ? .toBool : type == .int ? .toInt : .toFloat, [scalar])
        default: break
        }
        if parts.count == 1, first.type == type { return first }
        var values: [Value] = []
        for part in parts {
            guard !part.type.isMatrix else {
                throw KernelError(
                    .type, "\(type.rawValue) cannot be made of a \(part.type.rawValue)",
                    remedy: Self.constructorRemedy(type))
            }
            values.append(part.type.isVector ? part : try apply(.toFloat, [part]))
        }
        let count = values.reduce(0) { $0 + $1.type.componentCount }
        let isOneScalar = values.count == 1 && values[0].type == .float
        if isOneScalar, type.isMatrix {
            let zero = constant(Float(0))
            let order = type.order
            let cells = (0..<order * order).map { $0 % (order + 1) == 0 ? values[0].index : zero.index }
            return intern(.construct, cells, type)
        }
        // GLSL cuts a longer vector when it is the only or the last part; anything else must fit exactly.
        if !isOneScalar, count > type.componentCount, values.count == 1, type.isVector {
            return try swizzle(values[0], String("xyzw".prefix(type.componentCount)))
        }
        guard isOneScalar || count == type.componentCount else {
            throw KernelError(
                .type,
                "\(type.rawValue)(\(parts.map(\.type.rawValue).joined(separator: ", "))) has \(count) components, "
                    + "not \(type.componentCount)", remedy: Self.constructorRemedy(type))
        }
        return intern(.construct, values.map(\.index), type)
    }

    private static func constructorRemedy(_ type: ValueType) -> String {
        switch type {
        case .bool, .int, .float: "write \(type.rawValue)(x)"
        case .vec2: "write vec2(x, y) or vec2(x)"
        case .vec3: "write vec3(x, y, z), vec3(x) or vec3(v.xy, z)"
        case .vec4: "write vec4(r, g, b, a), vec4(x) or vec4(v.rgb, a)"
        default: "write \(type.rawValue) with \(type.order) columns or \(type.componentCount) floats, column by column"
        }
    }

    /// Components by letter: rgba, xyzw or stpq, one to four, in any order.
    /// - Throws: `KernelError` of code `name` or `type`.
    public mutating func swizzle(_ value: Value, _ letters: String) throws(KernelError) -> Value {
        check(value)
        guard value.type.isVector || value.type == .float else {
            throw KernelError(
                .type, "a \(value.type.rawValue) has no .\(letters)", remedy: "only vectors have components by letter")
        }
        let sets: [[Character]] = [Array("rgba"), Array("xyzw"), Array("stpq")]
        guard let first = letters.first, let set = sets.first(where: { $0.contains(first) }),
            letters.allSatisfy({ set.contains($0) }), letters.count <= 4
        else {
            throw KernelError(
                .name, "'.\(letters)' is no swizzle",
                remedy: "use one to four letters of one set: rgba, xyzw or stpq")
        }
        var indices: [UInt8] = []
        for letter in letters {
            let index = set.firstIndex(of: letter) ?? 0
            guard index < value.type.componentCount else {
                throw KernelError(
                    .name, "a \(value.type.rawValue) has no '.\(letter)'",
                    remedy: "its components are \(String(set.prefix(value.type.componentCount)))")
            }
            indices.append(UInt8(index))
        }
        return makeSwizzle(value, indices)
    }

    mutating func makeSwizzle(_ value: Value, _ indices: [UInt8]) -> Value {
        if indices.count == value.type.componentCount, indices.enumerated().allSatisfy({ $0.offset == Int($0.element) })
        {
            return value
        }
        return intern(.swizzle(indices), [value.index], .vector(indices.count))
    }
}
