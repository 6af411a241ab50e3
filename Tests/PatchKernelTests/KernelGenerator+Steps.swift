import PatchKernel

/// One more value of a random kernel.
extension KernelGenerator {
    mutating func step(_ b: inout KernelBuilder, _ values: [Value]) throws -> Value {
        let type: ValueType = pick([.float, .vec2, .vec3, .vec3, .vec4, .vec4])
        let x = try vector(&b, values, type)
        let y = try vector(&b, values, chance(30) ? .float : type)
        switch below(19) {
        case 0...2: return try moderate(&b, try b.apply(pick([.add, .sub, .mul, .min, .max]), [x, y]))
        case 3:
            let divisor = try b.apply(.add, [try b.apply(.abs, [y]), b.constant(Float(0.5))])
            return try b.apply(.div, [x, divisor])
        case 4:
            let flat = try b.apply(.mul, [x, b.constant(Float(0.02))])
            return chance(80)
                ? try b.apply(pick([.abs, .neg, .sin, .cos, .sqrt, .radians]), [x]) : try b.apply(.degrees, [flat])
        case 5:
            let positive = try moderate(&b, try b.apply(.abs, [x]), 0.01, 4)
            let exponent = chance(50) ? try knob(&b) : y
            let power = try moderate(&b, exponent, 0.25, pick([1, 2.5, 6]))
            return try moderate(&b, try b.apply(.pow, [positive, power]))
        case 6:
            let positive = try moderate(&b, x, 0.02, 4)
            let operation = pick([Operation.log, .log2, .inversesqrt, .fastSqrt])
            let value = try b.apply(operation, [positive])
            // Scaled so that the estimate's error is as small as other functions'.
            return operation == .fastSqrt ? try b.apply(.mul, [value, b.constant(Float(0.0005))]) : value
        case 7: return try moderate(&b, try b.apply(pick([.exp, .exp2]), [try moderate(&b, x, -3, 1.5)]))
        case 8: return try b.apply(pick([.asin, .acos, .tan]), [try moderate(&b, x, -0.9, 0.9)])
        case 9:
            let away = try b.apply(.add, [try b.apply(.abs, [y]), b.constant(Float(0.5))])
            return chance(70) ? try b.apply(.atan, [x, away]) : try b.apply(.atan, [x])
        case 10: return try b.apply(.mix, [x, try vector(&b, values, type), try moderate(&b, y, 0, 1)])
        case 11:
            let low = b.constant(float(-0.5...0.2))
            let high = b.constant(float(0.5...1.5))
            return try b.apply(.smoothstep, [low, high, x])
        case 12, 13: return try algebra(&b, values, x)
        case 14: return try read(&b, values)
        case 15, 16: return try jump(&b, x, y, values)
        case 17: return try choice(&b, x)
        default: return try loop(&b, x)
        }
    }

    /// What is the same for all pixels.
    private mutating func knob(_ b: inout KernelBuilder) throws -> Value {
        knobs.isEmpty ? try b.apply(.sin, [b.builtin(.time)]) : pick(knobs)
    }

    /// One of two values for all pixels alike, one of them dear; sometimes with such a choice inside.
    private mutating func choice(_ b: inout KernelBuilder, _ x: Value) throws -> Value {
        let threshold = b.constant(float(-1...1))
        let condition = try b.apply(pick([.lt, .ge]), [try knob(&b), threshold])
        var dear = try b.apply(pick([.sin, .cos, .atan]), [try b.apply(.add, [x, b.constant(float(0...1))])])
        if chance(30) {
            let other = try b.apply(.lt, [try knob(&b), b.constant(float(-1...1))])
            dear = try b.select(other, dear, try b.apply(.sin, [try b.apply(.cos, [dear])]))
        }
        return chance(50) ? try b.select(condition, x, dear) : try b.select(condition, dear, x)
    }

    /// Vectors and matrices.
    private mutating func algebra(_ b: inout KernelBuilder, _ values: [Value], _ x: Value) throws -> Value {
        let other = try vector(&b, values, x.type)
        switch below(9) {
        case 0: return try b.apply(pick([.dot, .distance]), [x, other])
        case 1: return try b.apply(.length, [x])
        case 2:
            let (p, q) = (try vector(&b, values, .vec3), try vector(&b, values, .vec3))
            return try moderate(&b, try b.apply(.cross, [p, q]))
        case 3:
            // Away from the null vector, whose direction is anything.
            let away = try b.apply(.add, [try b.apply(.abs, [x]), b.constant(Float(0.5))])
            return try b.apply(.normalize, [away])
        case 4:
            let flat = try b.apply(.mul, [other, b.constant(Float(0.5))])
            return try moderate(&b, try b.apply(.reflect, [x, flat]))
        case 5...7: return try matrix(&b, values)
        default: return try b.construct(.vec4, [try vector(&b, values, .vec3), try vector(&b, values, .float)])
        }
    }

    private mutating func matrix(_ b: inout KernelBuilder, _ values: [Value]) throws -> Value {
        let (type, column): (ValueType, ValueType) = pick([(.mat2, .vec2), (.mat3, .vec3), (.mat4, .vec4)])
        func constants(_ b: inout KernelBuilder) throws -> Value {
            try b.construct(type, (0..<type.componentCount).map { _ in b.constant(float(-0.7...0.7)) })
        }
        var matrix = try constants(&b)
        if chance(30), let known = values.last(where: { $0.type == type }) { matrix = known }
        switch below(6) {
        case 0: matrix = try b.apply(.transpose, [matrix])
        case 1: matrix = try b.apply(pick([.add, .sub, .mul]), [matrix, try constants(&b)])
        case 2: matrix = try b.apply(.div, [matrix, b.constant(float(1...2))])
        case 3: matrix = try b.apply(.neg, [matrix])
        case 4: matrix = try b.construct(type, [try vector(&b, values, .float)])
        default: break
        }
        if chance(15) { return matrix }
        let v = try vector(&b, values, column)
        return try moderate(&b, try b.apply(.mul, chance(50) ? [matrix, v] : [v, matrix]))
    }

    private mutating func read(_ b: inout KernelBuilder, _ values: [Value]) throws -> Value {
        let edge = pick(EdgeMode.allCases)
        if usesStencils, chance(60) { return try b.tap(0, dx: below(9) - 4, dy: below(7) - 3, edge: edge) }
        guard usesGathers else { return b.current(0) }
        // Smooth positions: where they jump, so does the pixel.
        let offset = try b.construct(.vec2, [b.constant(float(-0.4...0.4)), b.constant(float(-0.4...0.4))])
        let scaled = try b.apply(.mul, [b.builtin(.uv), b.constant(float(0.3...1.7))])
        let uv = try b.apply(.add, [scaled, offset])
        let filter: SampleFilter = usesJumps ? pick(SampleFilter.allCases) : pick([.bilinear, .bicubic])
        let sampleEdge = !usesJumps && edge == .transparent ? .clamp : edge
        return try b.sample(0, at: uv, filter: filter, edge: sampleEdge)
    }

    private mutating func jump(_ b: inout KernelBuilder, _ x: Value, _ y: Value, _ values: [Value]) throws -> Value {
        guard usesJumps else { return try b.apply(.max, [x, y]) }
        // Away from zero: what comes to nothing but for rounding (the cross product of parallel vectors) would jump
        // all over the picture.
        let x = try b.apply(.add, [x, b.constant(float(0.01...0.2))])
        switch below(9) {
        case 0: return try b.apply(pick([.floor, .ceil, .trunc, .fract, .round, .sign]), [x])
        case 1: return try b.apply(.step, [y, x].sorted { $0.type.componentCount < $1.type.componentCount })
        case 2:
            let condition = try b.apply(pick([.lt, .le, .gt, .ge, .eq, .ne]), [x, y])
            return try b.select(condition, x, try b.apply(.mul, [x, b.constant(Float(0.5))]))
        case 3:
            let condition = try b.apply(pick([.any, .all]), [try b.apply(.lt, [x, b.constant(float(0...1))])])
            return try b.select(condition, x, try b.apply(.neg, [x]))
        case 4: return try b.apply(.mod, [x, b.constant(float(0.3...1.5))])
        case 5:
            let whole = try b.apply(
                .toInt, [try b.apply(.mul, [try vector(&b, values, .float), b.constant(Float(37))])])
            let other = b.constant(Int32(below(11) - 5))
            let result = try b.apply(pick([.add, .sub, .mul, .div, .mod, .min, .max]), [whole, other])
            let signed = try b.apply(pick([.abs, .neg, .sign]), [result])
            return try moderate(&b, try b.apply(.mul, [chance(50) ? signed : result, b.constant(Float(0.05))]))
        case 6:
            let scalar = try vector(&b, values, .float)
            let left = try b.apply(.gt, [scalar, b.constant(float(0...1))])
            let right = chance(50) ? try b.apply(.toBool, [scalar]) : b.constant(chance(50))
            let joined = try b.apply(pick([.and, .or]), [left, chance(50) ? right : try b.apply(.not, [right])])
            return try b.select(joined, x, try b.apply(.fract, [x]))
        case 7:
            let chosen = try vector(&b, values, .float)
            return try b.apply(.toFloat, [try b.apply(.le, [chosen, b.constant(float(0.2...0.8))])])
        default:
            var arguments = [b.builtin(.frame), b.constant(Int32(below(100)))]
            if chance(40) { arguments.append(b.constant(float(0...9))) }
            if chance(20) { arguments.append(try b.apply(.toInt, [b.swizzle(b.builtin(.position), "x")])) }
            return try b.apply(.hash, arguments)
        }
    }

    private mutating func loop(_ b: inout KernelBuilder, _ x: Value) throws -> Value {
        guard usesLoops, usesJumps else { return try b.apply(.mul, [x, b.constant(Float(0.9))]) }
        let limit = below(6) + 1
        let zero = b.constant(Float(0))
        let factor = b.constant(float(0.5...0.95))
        let bound = b.constant(float(0.1...0.8))
        let (isNested, reads) = (chance(20), usesGathers && chance(25))
        let results = try b.loop(limit: limit, initial: [x, zero]) { b, index, carried throws(KernelError) in
            var next = try b.apply(.mul, [carried[0], factor])
            let step = try b.apply(.mul, [index, b.constant(Float(0.1))])
            var count = try b.apply(.add, [carried[1], step])
            if isNested {
                let inner = try b.loop(limit: 3, initial: [next]) { b, inner, carried throws(KernelError) in
                    let shrunk = try b.apply(.mul, [carried[0], b.constant(Float(0.75))])
                    return (try b.apply(.lt, [inner, index]), [shrunk])
                }
                next = inner[0]
            }
            if reads {
                let shift = try b.construct(.vec2, [step])
                let pixel = try b.sample(
                    0, at: b.apply(.add, [b.builtin(.uv), shift]), filter: .bilinear, edge: .mirror)
                count = try b.apply(.add, [count, b.apply(.mul, [b.swizzle(pixel, "g"), b.constant(Float(0.1))])])
            }
            let condition = try b.apply(.gt, [try b.apply(.length, [carried[0]]), bound])
            return (condition, [next, count])
        }
        return try b.apply(.add, [results[0], results[1]])
    }
}
