import PatchKernel

/// Makes random kernels over the whole language. Values are kept moderate, so that what differs between two correct
/// evaluations stays small.
struct KernelGenerator {
    var random: SeededRandom
    /// Steps, comparisons, whole-number operations: a rounding difference may then become a visible one.
    var usesJumps = true
    /// Reads at computed positions and at offsets.
    var usesStencils = true
    var usesGathers = true
    var usesLoops = true
    private(set) var uniformCount = 0

    init(seed: UInt64) { random = SeededRandom(seed) }

    private mutating func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }
    private mutating func chance(_ percent: Int) -> Bool { random.next() % 100 < UInt64(percent) }
    mutating func float(_ range: ClosedRange<Float>) -> Float { Float.random(in: range, using: &random) }

    mutating func make(operations: Int) throws -> Kernel {
        let inputCount = pick([1, 1, 1, 2])
        let lights: [Light] = chance(20) ? [.linear, .encoded] : [.encoded]
        let inputs = (0..<inputCount).map { index in
            InputDeclaration(name: "input\(index)", light: pick(lights), alpha: pick([.straight, .premultiplied]))
        }
        let types: [ValueType] = [.float, .vec2, .vec3, .vec4, .mat3]
        let uniforms = (0..<pick([0, 1, 3])).map { UniformDeclaration(name: "uniform\($0)", type: pick(types)) }
        var b = KernelBuilder(
            name: "random", inputs: inputs, uniforms: uniforms, light: pick(lights),
            alpha: pick([.straight, .premultiplied]))
        var values: [Value] = [b.current(0), b.builtin(.uv), b.constant(float(-2...2))]
        for index in uniforms.indices { values.append(b.uniform(index)) }
        if inputCount > 1 { values.append(b.current(1)) }
        for _ in 0..<operations { values.append(try step(&b, values)) }
        // The last value with a part of all others, so that nothing is dead.
        var result = try vec4(&b, values[values.count - 1])
        for value in values.suffix(6).dropLast() where value.type.isFloatBased && !value.type.isMatrix {
            let part = try b.apply(.mul, [try vec4(&b, value), b.constant(Float(0.25))])
            result = try b.apply(.add, [result, part])
        }
        return try b.finish(result)
    }

    private mutating func vec4(_ b: inout KernelBuilder, _ value: Value) throws -> Value {
        switch value.type {
        case .vec4: return value
        case .vec3: return try b.construct(.vec4, [value, b.constant(Float(0.75))])
        case .vec2: return try b.construct(.vec4, [value, value])
        case .float: return try b.construct(.vec4, [value])
        case .bool, .int: return try b.construct(.vec4, [try b.apply(.toFloat, [value])])
        case .mat2, .mat3, .mat4:
            let order: ValueType = value.type == .mat2 ? .vec2 : value.type == .mat3 ? .vec3 : .vec4
            let column = try b.construct(order, [b.constant(Float(0.5))])
            return try vec4(&b, try b.apply(.mul, [value, column]))
        }
    }

    private mutating func vector(_ b: inout KernelBuilder, _ values: [Value], _ type: ValueType) throws -> Value {
        let candidates = values.filter { $0.type == type }
        if !candidates.isEmpty { return pick(candidates) }
        let wide = try vec4(&b, pick(values))
        switch type {
        case .float: return try b.swizzle(wide, pick(["r", "g", "b", "a"]))
        case .vec2: return try b.swizzle(wide, pick(["rg", "ba", "gg"]))
        case .vec3: return try b.swizzle(wide, pick(["rgb", "bgr", "xxw"]))
        default: return wide
        }
    }

    private mutating func moderate(_ b: inout KernelBuilder, _ value: Value, _ low: Float = -4, _ high: Float = 4)
        throws -> Value
    {
        try b.apply(.clamp, [value, b.constant(low), b.constant(high)])
    }

    private mutating func step(_ b: inout KernelBuilder, _ values: [Value]) throws -> Value {
        let type: ValueType = pick([.float, .vec2, .vec3, .vec3, .vec4, .vec4])
        let x = try vector(&b, values, type)
        let y = try vector(&b, values, chance(30) ? .float : type)
        switch random.next() % 16 {
        case 0...2: return try moderate(&b, try b.apply(pick([.add, .sub, .mul, .min, .max]), [x, y]))
        case 3:
            let divisor = try b.apply(.add, [try b.apply(.abs, [y]), b.constant(Float(0.5))])
            return try b.apply(.div, [x, divisor])
        case 4: return try b.apply(pick([.abs, .neg, .sin, .cos, .sqrt, .radians]), [x])
        case 5:
            let positive = try moderate(&b, try b.apply(.abs, [x]), 0.01, 4)
            let power = try moderate(&b, y, 0.25, 2.5)
            return try moderate(&b, try b.apply(.pow, [positive, power]))
        case 6:
            let positive = try moderate(&b, x, 0.02, 4)
            return try b.apply(pick([.log, .log2, .inversesqrt]), [positive])
        case 7: return try moderate(&b, try b.apply(pick([.exp, .exp2]), [try moderate(&b, x, -3, 1.5)]))
        case 8: return try b.apply(pick([.asin, .acos]), [try moderate(&b, x, -0.9, 0.9)])
        case 9:
            let away = try b.apply(.add, [try b.apply(.abs, [y]), b.constant(Float(0.5))])
            return try b.apply(.atan, [x, away])
        case 10: return try b.apply(.mix, [x, try vector(&b, values, type), try moderate(&b, y, 0, 1)])
        case 11:
            let low = b.constant(float(-0.5...0.2))
            let high = b.constant(float(0.5...1.5))
            return try b.apply(.smoothstep, [low, high, x])
        case 12:
            switch random.next() % 5 {
            case 0: return try b.apply(.dot, [x, try vector(&b, values, type)])
            case 1: return try b.apply(.length, [x])
            case 2:
                let (p, q) = (try vector(&b, values, .vec3), try vector(&b, values, .vec3))
                return try moderate(&b, try b.apply(.cross, [p, q]))
            case 3:
                let matrix = try b.construct(
                    .mat3, (0..<9).map { _ in b.constant(float(-1...1)) })
                return try moderate(&b, try b.apply(.mul, [matrix, try vector(&b, values, .vec3)]))
            default:
                return try b.construct(.vec4, [try vector(&b, values, .vec3), try vector(&b, values, .float)])
            }
        case 13: return try read(&b, values)
        case 14: return try jump(&b, x, y, values)
        default: return try loop(&b, x)
        }
    }

    private mutating func read(_ b: inout KernelBuilder, _ values: [Value]) throws -> Value {
        let edge = pick(EdgeMode.allCases)
        if usesStencils, chance(60) {
            return try b.tap(
                0, dx: Int(random.next() % 9) - 4, dy: Int(random.next() % 7) - 3, edge: edge)
        }
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
        switch random.next() % 7 {
        case 0: return try b.apply(pick([.floor, .ceil, .trunc, .fract, .round, .sign]), [x])
        case 1: return try b.apply(.step, [y, x].sorted { $0.type.componentCount < $1.type.componentCount })
        case 2:
            let condition = try b.apply(pick([.lt, .le, .gt, .ge, .eq, .ne]), [x, y])
            return try b.select(condition, x, try b.apply(.mul, [x, b.constant(Float(0.5))]))
        case 3:
            let condition = try b.apply(pick([.any, .all]), [try b.apply(.lt, [x, b.constant(float(0...1))])])
            return try b.select(condition, x, try b.apply(.neg, [x]))
        case 4:
            let modulus = b.constant(float(0.3...1.5))
            return try b.apply(.mod, [x, modulus])
        case 5:
            let whole = try b.apply(
                .toInt, [try b.apply(.mul, [try vector(&b, values, .float), b.constant(Float(37))])])
            let other = b.constant(Int32(Int(random.next() % 11) - 5))
            let result = try b.apply(pick([.add, .sub, .mul, .div, .mod, .min, .max]), [whole, other])
            return try moderate(&b, try b.apply(.mul, [result, b.constant(Float(0.05))]))
        default: return try b.apply(.hash, [b.builtin(.frame), b.constant(Int32(random.next() % 100))])
        }
    }

    private mutating func loop(_ b: inout KernelBuilder, _ x: Value) throws -> Value {
        guard usesLoops, usesJumps else { return try b.apply(.mul, [x, b.constant(Float(0.9))]) }
        let limit = Int(random.next() % 6) + 1
        let zero = b.constant(Float(0))
        let factor = b.constant(float(0.5...0.95))
        let bound = b.constant(float(0.1...0.8))
        let results = try b.loop(limit: limit, initial: [x, zero]) { b, index, carried throws(KernelError) in
            let next = try b.apply(.mul, [carried[0], factor])
            let count = try b.apply(.add, [carried[1], try b.apply(.mul, [index, b.constant(Float(0.1))])])
            let condition = try b.apply(.gt, [try b.apply(.length, [carried[0]]), bound])
            return (condition, [next, count])
        }
        return try b.apply(.add, [results[0], results[1]])
    }
}
