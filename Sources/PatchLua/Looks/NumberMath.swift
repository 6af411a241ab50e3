import Glibc
import PatchKernel

/// GLSL's functions on plain numbers, at trace time. The same definitions as the kernels'.
enum NumberMath {
    enum Result {
        case number(Double)
        case bool(Bool)
    }

    /// nil when the operation has no form for so many plain numbers.
    static func apply(_ operation: Operation, _ x: [Double]) -> Result? {
        guard operation.arity.contains(x.count), let a = x.first else { return nil }
        let b = x.count > 1 ? x[1] : 0
        let c = x.count > 2 ? x[2] : 0
        switch operation {
        case .mod: return .number(a - b * (a / b).rounded(.down))
        case .abs: return .number(abs(a))
        case .sign: return .number(a > 0 ? 1 : a < 0 ? -1 : 0)
        case .floor: return .number(a.rounded(.down))
        case .ceil: return .number(a.rounded(.up))
        case .trunc: return .number(a.rounded(.towardZero))
        case .round: return .number(a.rounded(.toNearestOrEven))
        case .fract: return .number(a - a.rounded(.down))
        case .min: return .number(a < b ? a : b)
        case .max: return .number(a > b ? a : b)
        case .clamp: return .number(max(b, min(c, a)))
        case .mix: return .number(a + (b - a) * c)
        case .step: return .number(b < a ? 0 : 1)
        case .smoothstep:
            let t = max(0, min(1, (c - a) / (b - a)))
            return .number(t * t * (3 - 2 * t))
        case .sqrt, .fastSqrt: return .number(sqrt(max(0, a)))
        case .inversesqrt: return .number(1 / sqrt(a))
        case .pow: return .number(a <= 0 ? (b == 0 ? 1 : 0) : pow(a, b))
        case .exp: return .number(exp(a))
        case .exp2: return .number(exp2(a))
        case .log: return .number(log(max(a, 0x1p-126)))
        case .log2: return .number(log2(max(a, 0x1p-126)))
        case .radians: return .number(a * .pi / 180)
        case .degrees: return .number(a * 180 / .pi)
        case .sin: return .number(sin(a))
        case .cos: return .number(cos(a))
        case .tan: return .number(tan(a))
        case .asin: return .number(asin(max(-1, min(1, a))))
        case .acos: return .number(acos(max(-1, min(1, a))))
        case .atan: return .number(x.count == 2 ? atan2(a, b) : atan(a))
        case .length: return .number(abs(a))
        case .distance: return .number(abs(a - b))
        case .dot: return .number(a * b)
        case .lt: return .bool(a < b)
        case .le: return .bool(a <= b)
        case .gt: return .bool(a > b)
        case .ge: return .bool(a >= b)
        case .eq: return .bool(a == b)
        case .ne: return .bool(a != b)
        default: return nil
        }
    }
}
