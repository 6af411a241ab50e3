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
    /// Only operations whose results are exact, and in 0…1 when their arguments are.
    var isExact = false
    /// One input, R'G'B', alpha kept: what any other kernel may be fused onto.
    var isPlain = false
    /// Encoded light and straight alpha only.
    var isEncoded = false

    /// Numbers that are parameters of the kernel being made.
    var knobs: [Value] = []

    init(seed: UInt64) { random = SeededRandom(seed) }

    mutating func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }
    mutating func chance(_ percent: Int) -> Bool { random.next() % 100 < UInt64(percent) }
    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    mutating func float(_ range: ClosedRange<Float>) -> Float { Float.random(in: range, using: &random) }

    mutating func make(operations: Int) throws -> Kernel {
        let inputCount = isPlain ? 1 : pick([1, 1, 1, 2])
        let lights: [Light] = chance(20) && !isEncoded ? [.linear, .encoded] : [.encoded]
        let alphas: [Alpha] = isEncoded ? [.straight] : [.straight, .premultiplied]
        let space: KernelSpace = chance(12) && !isPlain && lights.count == 1 ? .ycbcr : .rgb
        let inputs = (0..<inputCount).map { index in
            InputDeclaration(name: "input\(index)", light: pick(lights), alpha: pick(alphas))
        }
        let types: [ValueType] = [.float, .float, .vec2, .vec3, .vec4, .mat3, .mat2, .mat4, .int, .bool]
        let uniforms = (0..<pick([0, 1, 3])).map { UniformDeclaration(name: "uniform\($0)", type: pick(types)) }
        var b = KernelBuilder(
            name: "random", inputs: inputs, uniforms: uniforms, light: pick(lights), alpha: pick(alphas), space: space)
        var values: [Value] = [b.current(0), isExact ? b.current(0) : try place(&b), b.constant(float(0...1))]
        if !isExact { for index in uniforms.indices { values.append(b.uniform(index)) } }
        knobs = uniforms.indices.map { b.uniform($0) }.filter { $0.type == .float }
        if inputCount > 1 { values.append(b.current(1)) }
        for _ in 0..<operations { values.append(isExact ? try exactStep(&b, values) : try step(&b, values)) }
        // The last value with a part of all others, so that nothing is dead.
        var result = try vec4(&b, values[values.count - 1])
        if isExact { return try b.finish(result) }
        for value in values.suffix(6).dropLast() where value.type.isFloatBased && !value.type.isMatrix {
            let part = try b.apply(.mul, [try vec4(&b, value), b.constant(Float(0.25))])
            result = try b.apply(.add, [result, part])
        }
        if isPlain {
            // The picture's own alpha: dividing by one that is nearly nothing would amplify every rounding.
            result = try b.construct(.vec4, [b.swizzle(result, "rgb"), b.swizzle(b.current(0), "a")])
        }
        return try b.finish(result)
    }

    /// Something that the runtime knows: in pixels it is brought to about 0…1.
    private mutating func place(_ b: inout KernelBuilder) throws -> Value {
        func small(_ b: inout KernelBuilder, _ builtin: Builtin) throws -> Value {
            try b.apply(.mul, [b.builtin(builtin), b.constant(Float(0.0145))])
        }
        switch below(12) {
        case 0: return try small(&b, .position)
        case 1: return try small(&b, .size)
        case 2: return try small(&b, .inputSize(0))
        case 3: return b.builtin(.time)
        case 4: return try small(&b, .frame)
        case 5: return usesJumps ? b.builtin(.hash) : b.builtin(.uv)
        default: return b.builtin(.uv)
        }
    }

    mutating func vec4(_ b: inout KernelBuilder, _ value: Value) throws -> Value {
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

    mutating func vector(_ b: inout KernelBuilder, _ values: [Value], _ type: ValueType) throws -> Value {
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

    mutating func moderate(_ b: inout KernelBuilder, _ value: Value, _ low: Float = -4, _ high: Float = 4)
        throws -> Value
    {
        try b.apply(.clamp, [value, b.constant(low), b.constant(high)])
    }

    /// Choosing, ordering and moving: nothing is rounded.
    private mutating func exactStep(_ b: inout KernelBuilder, _ values: [Value]) throws -> Value {
        let x = try vector(&b, values, .vec4)
        let y = try vector(&b, values, .vec4)
        switch below(6) {
        case 0: return try b.apply(.min, [x, y])
        case 1: return try b.apply(.max, [x, y])
        case 2: return try b.swizzle(x, pick(["bgra", "grba", "rrra", "abgr"]))
        case 3: return try b.select(b.apply(.lt, [x, y]), x, y)
        case 4: return try b.apply(.step, [b.constant(float(0.2...0.8)), x])
        default: return try b.apply(.clamp, [x, b.constant(Float(0.25)), b.constant(Float(0.875))])
        }
    }
}
