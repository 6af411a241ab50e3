/// What `KernelBuilder.apply` can do, by GLSL's words.
///
/// Functions work componentwise on vectors; where a vector meets a scalar, the scalar counts for every component.
/// `min(a, b)` is `a < b ? a : b` and `max(a, b)` is `a > b ? a : b`, so that a NaN as first operand gives the second.
/// Comparisons of vectors give a vector of 1.0 and 0.0, which `any`, `all` and `select` take.
/// Thread-safety: a value.
public enum Operation: String, CaseIterable, Hashable, Sendable {
    case add, sub, mul, div
    /// a − b · floor(a / b), as GLSL's.
    case mod
    case neg, abs, sign, floor, ceil, trunc, fract
    /// To the nearest integer, halves to even.
    case round
    case min, max, clamp, mix, step, smoothstep
    /// 0 below 0.
    case sqrt
    /// The square root within 2^−11 of itself, in a quarter of the time; below 10^−30 within 10^−15.
    case fastSqrt
    case inversesqrt
    /// 0 for a base at or below 0 (1 when the exponent is 0).
    case pow
    case exp, exp2
    /// Logarithms of numbers below 2^−126 are that of 2^−126.
    case log, log2
    case radians, degrees
    case sin, cos, tan
    /// The argument is clamped to −1…1.
    case asin, acos
    /// `atan(y, x)` or `atan(ratio)`.
    case atan
    case length, distance, dot, cross, normalize, reflect
    case lt, le, gt, ge, eq, ne
    case and, or, not, any, all
    case transpose
    /// Towards zero.
    case toInt
    case toFloat, toBool
    /// A float in 0…1 from one to four ints or floats; equal arguments give equal results.
    case hash

    /// How many arguments the operation takes.
    public var arity: ClosedRange<Int> {
        switch self {
        case .neg, .abs, .sign, .floor, .ceil, .trunc, .fract, .round, .sqrt, .fastSqrt, .inversesqrt, .exp, .exp2,
            .log,
            .log2, .radians, .degrees, .sin, .cos, .tan, .asin, .acos, .length, .normalize, .not, .any, .all,
            .transpose,
            .toInt, .toFloat, .toBool:
            1...1
        case .add, .sub, .mul, .div, .mod, .min, .max, .step, .pow, .distance, .dot, .cross, .reflect, .lt, .le, .gt,
            .ge, .eq, .ne, .and, .or:
            2...2
        case .clamp, .mix, .smoothstep: 3...3
        case .atan: 1...2
        case .hash: 1...4
        }
    }

    /// The forms GLSL allows, for messages; T is float, vec2, vec3 or vec4.
    public var signature: String {
        switch self {
        case .add, .sub, .div: "(T, T), (T, float), (float, T), (mat, mat) or (mat, float)"
        case .mul: "(T, T), (T, float), (float, T), (mat, mat), (mat, vec), (vec, mat) or (mat, float)"
        case .mod, .min, .max, .pow: "(T, T) or (T, float)"
        case .step: "(T, T) or (float, T)"
        case .clamp: "(T, T, T) or (T, float, float)"
        case .mix: "(T, T, T) or (T, T, float)"
        case .smoothstep: "(T, T, T) or (float, float, T)"
        case .atan: "(T) or (T, T)"
        case .distance, .dot, .reflect: "(T, T)"
        case .cross: "(vec3, vec3)"
        case .lt, .le, .gt, .ge, .eq, .ne: "(T, T) or (T, float)"
        case .and, .or: "(bool, bool)"
        case .not: "(bool)"
        case .any, .all: "(a comparison of vectors)"
        case .transpose: "(mat2), (mat3) or (mat4)"
        case .toInt, .toFloat, .toBool: "(bool), (int) or (float)"
        case .hash: "one to four of int or float"
        default: "(T)"
        }
    }

    /// Operations that also work on int.
    var takesInt: Bool {
        switch self {
        case .add, .sub, .mul, .div, .mod, .neg, .abs, .sign, .min, .max, .clamp: true
        default: false
        }
    }
}
