import Glibc
import PatchKernel

extension MathTests {
    struct Function: Sendable {
        var name: String
        var operation: Operation
        var domain: ClosedRange<Double>
        /// Second argument, where there is one.
        var second: Double?
        var exact: @Sendable (Double) -> Double
        /// Largest |error| / max(|exact|, floor).
        var bound: Double
        var floor: Double
        /// What is computed of x where it is more than `operation` of it and of `second`.
        var whole: (@Sendable (inout KernelBuilder, Value) throws -> Value)?

        func value(_ b: inout KernelBuilder, _ x: Value) throws -> Value {
            if let whole { return try whole(&b, x) }
            return try b.apply(operation, [x] + (second.map { [b.constant(Float($0))] } ?? []))
        }
    }

    static let functions: [Function] = powersAndAngles + arithmetic + vectors

    private static let powersAndAngles: [Function] = [
        Function(name: "exp2", operation: .exp2, domain: -20...20, exact: { exp2($0) }, bound: 2.5e-7, floor: 0),
        Function(name: "exp", operation: .exp, domain: -10...10, exact: { exp($0) }, bound: 1.2e-6, floor: 0),
        Function(name: "log2", operation: .log2, domain: 1e-6...1e6, exact: { log2($0) }, bound: 3e-7, floor: 0.1),
        Function(
            name: "log2 near 1", operation: .log2, domain: 0.7...1.4, exact: { log2($0) }, bound: 4e-7, floor: 1e-3),
        Function(name: "log", operation: .log, domain: 1e-6...1e6, exact: { log($0) }, bound: 3e-7, floor: 0.1),
        Function(
            name: "pow 0.9", operation: .pow, domain: 1e-3...4, second: 0.9, exact: { pow($0, Double(Float(0.9))) },
            bound: 1.5e-6,
            floor: 0),
        Function(
            name: "pow 2.4", operation: .pow, domain: 1e-3...4, second: 2.4, exact: { pow($0, Double(Float(2.4))) },
            bound: 3e-6,
            floor: 0),
        Function(
            name: "pow 1/2.4", operation: .pow, domain: 1e-4...4, second: 1 / 2.4,
            exact: { pow($0, Double(Float(1 / 2.4))) },
            bound: 1e-6, floor: 0),
        Function(name: "sin", operation: .sin, domain: -100...100, exact: { sin($0) }, bound: 3e-7, floor: 1),
        Function(name: "cos", operation: .cos, domain: -100...100, exact: { cos($0) }, bound: 3e-7, floor: 1),
        Function(name: "tan", operation: .tan, domain: -1.5...1.5, exact: { tan($0) }, bound: 1e-6, floor: 1),
        Function(name: "asin", operation: .asin, domain: -1...1, exact: { asin($0) }, bound: 5e-7, floor: 1),
        Function(name: "acos", operation: .acos, domain: -1...1, exact: { acos($0) }, bound: 5e-7, floor: 1),
        Function(name: "atan", operation: .atan, domain: -20...20, exact: { atan($0) }, bound: 3e-7, floor: 0.1),
        Function(
            name: "atan2 y, -0.7", operation: .atan, domain: -3...3, second: -0.7,
            exact: { atan2($0, Double(Float(-0.7))) },
            bound: 3e-7, floor: 0.1),
        Function(name: "sqrt", operation: .sqrt, domain: 0...100, exact: { sqrt($0) }, bound: 1e-7, floor: 0),
        Function(
            name: "fastSqrt", operation: .fastSqrt, domain: 1e-4...100, exact: { sqrt($0) }, bound: 4.9e-4, floor: 0),
        Function(
            name: "inversesqrt", operation: .inversesqrt, domain: 1e-3...100, exact: { 1 / sqrt($0) }, bound: 2e-7,
            floor: 0),
    ]

    private static func limited(_ x: Value, _ low: Float, _ high: Float, _ b: inout KernelBuilder) throws -> Value {
        try b.apply(.clamp, [x, b.constant(low), b.constant(high)])
    }

    /// Where the output has 8 bits, shorter polynomials serve. Bounds are on the absolute error; 8-bit codes are 3.9e-3
    /// apart.
    static let coarse: [Function] = [
        Function(name: "exp2", operation: .exp2, domain: -8...0, exact: { exp2($0) }, bound: 3e-6, floor: 1),
        Function(name: "exp", operation: .exp, domain: -6...0, exact: { exp($0) }, bound: 3e-6, floor: 1),
        Function(name: "log2", operation: .log2, domain: 1e-4...1, exact: { log2($0) }, bound: 8e-6, floor: 1e9),
        Function(name: "log", operation: .log, domain: 1e-4...1, exact: { log($0) }, bound: 6e-6, floor: 1e9),
        // Of numbers that the compiler knows to lie near each other.
        Function(
            name: "log of 1…1.4", operation: .log, domain: 1...1.4, exact: { log($0) }, bound: 3.5e-6, floor: 1e9,
            whole: { b, x in try b.apply(.log, [limited(x, 1, 1.4, &b)]) }),
        Function(
            name: "log2 of 0.2…0.33", operation: .log2, domain: 0.2...0.33, exact: { log2($0) }, bound: 5e-6,
            floor: 1e9,
            whole: { b, x in try b.apply(.log2, [limited(x, 0.2, 0.33, &b)]) }),
        Function(
            name: "log2 of 1…1.9", operation: .log2, domain: 1...1.9, exact: { log2($0) }, bound: 8e-6, floor: 1e9,
            whole: { b, x in try b.apply(.log2, [limited(x, 1, 1.9, &b)]) }),
        Function(
            name: "pow 0.45", operation: .pow, domain: 1e-4...1, second: 0.45, exact: { pow($0, Double(Float(0.45))) },
            bound: 6e-6, floor: 1),
        Function(
            name: "pow 0.9", operation: .pow, domain: 1e-4...1, second: 0.9, exact: { pow($0, Double(Float(0.9))) },
            bound: 8e-6, floor: 1),
        Function(
            name: "pow 2.4", operation: .pow, domain: 1e-4...1, second: 2.4, exact: { pow($0, Double(Float(2.4))) },
            bound: 1.5e-5, floor: 1),
        Function(name: "sin", operation: .sin, domain: -7...7, exact: { sin($0) }, bound: 1e-6, floor: 1),
        Function(name: "atan", operation: .atan, domain: -20...20, exact: { atan($0) }, bound: 2e-6, floor: 1e9),
        Function(name: "cos", operation: .cos, domain: -7...7, exact: { cos($0) }, bound: 1e-6, floor: 1),
        Function(name: "tan", operation: .tan, domain: -1.2...1.2, exact: { tan($0) }, bound: 2e-6, floor: 1e9),
        Function(name: "asin", operation: .asin, domain: -1...1, exact: { asin($0) }, bound: 2e-6, floor: 1e9),
        Function(name: "acos", operation: .acos, domain: -1...1, exact: { acos($0) }, bound: 2e-6, floor: 1e9),
        Function(name: "sqrt", operation: .sqrt, domain: 0...1, exact: { sqrt($0) }, bound: 1e-6, floor: 1),
        Function(
            name: "inversesqrt", operation: .inversesqrt, domain: 0.1...1, exact: { 1 / sqrt($0) }, bound: 2e-6,
            floor: 1e9),
        Function(
            name: "length", operation: .length, domain: -1...1, exact: { sqrt($0 * $0 + 0.0625) }, bound: 1e-6,
            floor: 1,
            whole: { b, x in try b.apply(.length, [b.construct(.vec2, [x, b.constant(Float(0.25))])]) }),
        Function(
            name: "distance", operation: .distance, domain: -1...1, exact: { abs($0 - 0.25) }, bound: 1e-6, floor: 1,
            whole: { b, x in
                let quarter = b.constant(Float(0.25))
                let zero = b.constant(Float(0))
                return try b.apply(.distance, [b.construct(.vec2, [x, zero]), b.construct(.vec2, [quarter, zero])])
            }),
        Function(
            name: "normalize", operation: .normalize, domain: -1...1, exact: { $0 / sqrt($0 * $0 + 0.0625) },
            bound: 1e-6, floor: 1,
            whole: { b, x in
                try b.swizzle(b.apply(.normalize, [b.construct(.vec2, [x, b.constant(Float(0.25))])]), "x")
            }),
        Function(
            name: "smoothstep", operation: .smoothstep, domain: -1...1,
            exact: {
                let t = min(max(($0 + 0.5) / 1.25, 0), 1)
                return t * t * (3 - 2 * t)
            }, bound: 1e-6, floor: 1,
            whole: { b, x in try b.apply(.smoothstep, [b.constant(Float(-0.5)), b.constant(Float(0.75)), x]) }),
        Function(
            name: "mod", operation: .mod, domain: -4...4, second: 0.75,
            exact: { $0 - 0.75 * ($0 / 0.75).rounded(.down) }, bound: 1e-6, floor: 1),
    ]
}
