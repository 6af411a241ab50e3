import Glibc
import PatchKernel

/// The rest of GLSL's words: plain arithmetic, what rounds to whole numbers, blends, and vectors. Numbers beside x are
/// such as floats hold exactly; points are none that lie on a jump.
extension MathTests {
    private typealias Made = @Sendable (inout KernelBuilder, Value) throws -> Value

    private static func row(
        _ name: String, _ operation: Operation, _ domain: ClosedRange<Double>, bound: Double, floor: Double = 0,
        _ exact: @escaping @Sendable (Double) -> Double, _ whole: Made? = nil
    ) -> Function {
        Function(
            name: name, operation: operation, domain: domain, exact: exact, bound: bound, floor: floor, whole: whole)
    }

    /// x and numbers as arguments, x where nil stands.
    private static func call(_ operation: Operation, _ arguments: Float?...) -> Made {
        { b, x in try b.apply(operation, arguments.map { $0.map { b.constant($0) } ?? x }) }
    }

    /// (x, 0.75 − x, 0.5), whose length is nowhere near 0.
    private static func vector(_ b: inout KernelBuilder, _ x: Value) throws -> Value {
        try b.construct(.vec3, [x, b.apply(.sub, [b.constant(Float(0.75)), x]), b.constant(Float(0.5))])
    }
    private static func other(_ b: inout KernelBuilder) throws -> Value {
        try b.construct(.vec3, [Float(0.25), -0.5, 1.25].map { b.constant($0) })
    }
    private static func size(_ v: [Double]) -> Double { v.reduce(0) { $0 + $1 * $1 }.squareRoot() }
    private static func exactVector(_ x: Double) -> [Double] { [x, 0.75 - x, 0.5] }
    private static let exactOther = [0.25, -0.5, 1.25]
    private static func exactDot(_ x: Double) -> Double {
        zip(exactVector(x), exactOther).reduce(0) { $0 + $1.0 * $1.1 }
    }

    static let arithmetic: [Function] = [
        row("add", .add, -4.1...3.7, bound: 1.2e-7, { $0 + 0.75 }, call(.add, nil, 0.75)),
        row("sub", .sub, -4.1...3.7, bound: 1.2e-7, { 0.75 - $0 }, call(.sub, 0.75, nil)),
        row("mul", .mul, -4.1...3.7, bound: 1.2e-7, { $0 * 0.8125 }, call(.mul, nil, 0.8125)),
        row("div by x", .div, 0.01...4, bound: 1.2e-7, { 0.75 / $0 }, call(.div, 0.75, nil)),
        row("div by 0.75", .div, -4.1...3.7, bound: 1.8e-7, { $0 / 0.75 }, call(.div, nil, 0.75)),
        row(
            "mod", .mod, -20.3...19.9, bound: 1e-6, floor: 0.75, { $0 - 0.75 * ($0 / 0.75).rounded(.down) },
            call(.mod, nil, 0.75)),
        row("neg", .neg, -4.1...3.7, bound: 0, { -$0 }),
        row("abs", .abs, -4.1...3.7, bound: 0, { abs($0) }),
        row("sign", .sign, -4.1...3.7, bound: 0, { $0 > 0 ? 1 : -1 }),
        row("floor", .floor, -20.3...19.9, bound: 0, { $0.rounded(.down) }),
        row("ceil", .ceil, -20.3...19.9, bound: 0, { $0.rounded(.up) }),
        row("trunc", .trunc, -20.3...19.9, bound: 0, { $0.rounded(.towardZero) }),
        row("round", .round, -20.3...19.9, bound: 0, { $0.rounded(.toNearestOrEven) }),
        row("fract", .fract, -20.3...19.9, bound: 1.2e-7, floor: 1, { $0 - $0.rounded(.down) }),
        row("min", .min, -4.1...3.7, bound: 0, { min($0, 0.75) }, call(.min, nil, 0.75)),
        row("max", .max, -4.1...3.7, bound: 0, { max($0, 0.75) }, call(.max, nil, 0.75)),
        row("clamp", .clamp, -4.1...3.7, bound: 0, { min(max($0, -0.5), 0.75) }, call(.clamp, nil, -0.5, 0.75)),
        row("step", .step, -4.1...3.7, bound: 0, { $0 < 0.75 ? 0 : 1 }, call(.step, 0.75, nil)),
        row(
            "mix of x", .mix, -4.1...3.7, bound: 2.4e-7, floor: 1, { $0 + (0.75 - $0) * 0.3125 },
            call(.mix, nil, 0.75, 0.3125)),
        row("mix by x", .mix, 0.003...0.997, bound: 2.4e-7, floor: 1, { -3 + 3.75 * $0 }, call(.mix, -3, 0.75, nil)),
        row(
            "smoothstep", .smoothstep, -4.1...3.7, bound: 3e-7, floor: 1,
            {
                let t = min(max(($0 + 0.5) / 1.25, 0), 1)
                return t * t * (3 - 2 * t)
            }, call(.smoothstep, -0.5, 0.75, nil)),
        row("radians", .radians, -720...720, bound: 1.8e-7, { $0 * .pi / 180 }),
        row("degrees", .degrees, -7...7, bound: 1.8e-7, { $0 * 180 / .pi }),
    ]

    static let vectors: [Function] = [
        row(
            "length", .length, -4.1...3.7, bound: 3e-7, { size(exactVector($0)) },
            { b, x in try b.apply(.length, [vector(&b, x)]) }),
        row(
            "distance", .distance, -4.1...3.7, bound: 3e-7, { size(zip(exactVector($0), exactOther).map { $0 - $1 }) },
            { b, x in try b.apply(.distance, [vector(&b, x), other(&b)]) }),
        row(
            "dot", .dot, -4.1...3.7, bound: 2.4e-7, floor: 1, { exactDot($0) },
            { b, x in try b.apply(.dot, [vector(&b, x), other(&b)]) }),
        row(
            "cross", .cross, -4.1...3.7, bound: 2.4e-7, floor: 1, { 0.5 * 0.25 - $0 * 1.25 },
            { b, x in try b.swizzle(b.apply(.cross, [vector(&b, x), other(&b)]), "y") }),
        row(
            "normalize", .normalize, -4.1...3.7, bound: 4e-7, { $0 / size(exactVector($0)) },
            { b, x in try b.swizzle(b.apply(.normalize, [vector(&b, x)]), "x") }),
        row(
            "reflect", .reflect, -4.1...3.7, bound: 4e-7, floor: 1, { 0.75 - $0 - 2 * exactDot($0) * -0.5 },
            { b, x in try b.swizzle(b.apply(.reflect, [vector(&b, x), other(&b)]), "y") }),
        row(
            "mat3 · vec3", .mul, -4.1...3.7, bound: 4e-7, floor: 1, { 0.25 * $0 - 0.5 * (0.75 - $0) + 1.25 * 0.5 },
            { b, x in
                let rows = try (0..<3).map { _ in try other(&b) }
                let matrix = try b.apply(.transpose, [b.construct(.mat3, rows)])
                return try b.swizzle(b.apply(.mul, [matrix, vector(&b, x)]), "z")
            }),
        row(
            "transpose", .transpose, -4.1...3.7, bound: 0, { $0 },
            { b, x in
                // x stands in the first column's second row, so after it in the second column's first.
                let zero = b.constant(Float(0))
                let matrix = try b.construct(.mat2, [zero, x, zero, zero])
                let unit = try b.construct(.vec2, [zero, b.constant(Float(1))])
                return try b.swizzle(b.apply(.mul, [b.apply(.transpose, [matrix]), unit]), "x")
            }),
    ]
}
