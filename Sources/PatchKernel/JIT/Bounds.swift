import PatchMedia

/// Between which numbers a value lies, and whether it may be NaN: interval arithmetic over a `ScalarProgram`.
///
/// Bounds are computed in Float with the operation itself, which rounds monotonically, so that they hold for the
/// rounded values; a fused multiplication may exceed them by one rounding.
struct Bounds: Hashable {
    var low: Float
    var high: Float
    var mayBeNaN: Bool

    static let unknown = Bounds(low: -.infinity, high: .infinity, mayBeNaN: true)

    init(low: Float, high: Float, mayBeNaN: Bool = false) {
        self.low = low
        self.high = high
        self.mayBeNaN = mayBeNaN
    }

    /// Of results that may come out as NaN: then nothing is known.
    private init(checking low: Float, _ high: Float, _ mayBeNaN: Bool) {
        self = low.isNaN || high.isNaN ? .unknown : Bounds(low: low, high: high, mayBeNaN: mayBeNaN)
    }

    func union(_ b: Bounds) -> Bounds {
        Bounds(low: Swift.min(low, b.low), high: Swift.max(high, b.high), mayBeNaN: mayBeNaN || b.mayBeNaN)
    }

    private var isFinite: Bool { low.isFinite && high.isFinite }

    static func + (a: Bounds, b: Bounds) -> Bounds {
        let mayCancel = (a.high == .infinity && b.low == -.infinity) || (a.low == -.infinity && b.high == .infinity)
        return Bounds(checking: a.low + b.low, a.high + b.high, a.mayBeNaN || b.mayBeNaN || mayCancel)
    }

    static prefix func - (a: Bounds) -> Bounds { Bounds(low: -a.high, high: -a.low, mayBeNaN: a.mayBeNaN) }

    static func * (a: Bounds, b: Bounds) -> Bounds {
        let products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high]
        guard !products.contains(where: { $0.isNaN }), let low = products.min(), let high = products.max() else {
            return .unknown
        }
        // 0 · ∞ inside the intervals.
        let mayVanish =
            !a.isFinite && b.low <= 0 && b.high >= 0 || !b.isFinite && a.low <= 0 && a.high >= 0
        return Bounds(low: low, high: high, mayBeNaN: a.mayBeNaN || b.mayBeNaN || mayVanish)
    }

    static func / (a: Bounds, b: Bounds) -> Bounds {
        guard a.isFinite, b.low >= 0, !b.mayBeNaN, !a.mayBeNaN else { return .unknown }
        guard b.low > 0 else {
            // A positive number over something from 0 upwards; 0 / 0 is not a number.
            return a.low > 0 ? Bounds(low: a.low / b.high, high: .infinity) : .unknown
        }
        let quotients = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high]
        return Bounds(checking: quotients.min() ?? .nan, quotients.max() ?? .nan, false)
    }

    /// `a < b ? a : b`
    static func min(_ a: Bounds, _ b: Bounds) -> Bounds {
        Bounds(
            low: Swift.min(a.low, b.low), high: a.mayBeNaN ? b.high : Swift.min(a.high, b.high), mayBeNaN: b.mayBeNaN)
    }

    /// `a > b ? a : b`
    static func max(_ a: Bounds, _ b: Bounds) -> Bounds {
        Bounds(
            low: a.mayBeNaN ? b.low : Swift.max(a.low, b.low), high: Swift.max(a.high, b.high), mayBeNaN: b.mayBeNaN)
    }

    func mapped(_ function: (Float) -> Float) -> Bounds {
        Bounds(checking: function(low), function(high), mayBeNaN)
    }
}

extension ScalarProgram {
    /// x + w · (y − x) with w in 0…1 lies between x and y.
    private func between(_ arguments: [S]) -> Bounds? {
        for (weight, difference) in [(arguments[0], arguments[1]), (arguments[1], arguments[0])] {
            let (w, node) = (bounds[weight.index], nodes[difference.index])
            guard w.low >= 0, w.high <= 1, !w.mayBeNaN, node.operation == .sub, node.arguments[1] == arguments[2]
            else { continue }
            let (x, y) = (bounds[arguments[2].index], bounds[node.arguments[0].index])
            // Without infinities, whose difference is no number.
            if x.low.isFinite, x.high.isFinite, y.low.isFinite, y.high.isFinite { return x.union(y) }
        }
        return nil
    }

    private func product(_ a: S, _ b: S) -> Bounds {
        let product = bounds[a.index] * bounds[b.index]
        guard a == b else { return product }
        return Bounds(low: Swift.max(product.low, 0), high: product.high, mayBeNaN: bounds[a.index].mayBeNaN)
    }

    func bounds(of operation: Operation, kind: Kind, _ arguments: [S]) -> Bounds {
        func argument(_ index: Int) -> Bounds { bounds[arguments[index].index] }
        switch operation {
        case .float(let bits):
            let value = Float(bitPattern: bits)
            return value.isNaN ? .unknown : Bounds(low: value, high: value)
        case .int(let value): return Bounds(low: Float(value), high: Float(value))
        case .load(let load): return load.bounds
        case .dither: return Bounds(low: 0, high: 1)
        case .column, .row: return Bounds(low: 0, high: 32768)
        case .outputWidth, .outputHeight, .inputWidth, .inputHeight, .pictureWidth, .pictureHeight:
            return Bounds(low: 1, high: 32768)
        case .add: return argument(0) + argument(1)
        case .sub: return argument(0) + -argument(1)
        case .mul: return product(arguments[0], arguments[1])
        case .fma: return between(arguments) ?? product(arguments[0], arguments[1]) + argument(2)
        case .div: return argument(0) / argument(1)
        case .min: return .min(argument(0), argument(1))
        case .max: return .max(argument(0), argument(1))
        case .neg: return -argument(0)
        case .abs:
            let a = argument(0)
            let inner: Float = a.low <= 0 && a.high >= 0 ? 0 : Swift.min(Swift.abs(a.low), Swift.abs(a.high))
            return Bounds(low: inner, high: Swift.max(Swift.abs(a.low), Swift.abs(a.high)), mayBeNaN: a.mayBeNaN)
        case .sqrt: return argument(0).low >= 0 ? argument(0).mapped { $0.squareRoot() } : .unknown
        case .rootEstimate:
            // Within 2^−11 of the root.
            return argument(0).low >= 0
                ? Bounds(low: 0, high: argument(0).high.squareRoot() * 1.001, mayBeNaN: argument(0).mayBeNaN) : .unknown
        case .inverseRootEstimate: return Bounds(low: 0, high: .infinity)
        case .floor: return argument(0).mapped { $0.rounded(.down) }
        case .ceil: return argument(0).mapped { $0.rounded(.up) }
        case .trunc: return argument(0).mapped { $0.rounded(.towardZero) }
        case .roundEven: return argument(0).mapped { $0.rounded(.toNearestOrEven) }
        case .select where kind == .float: return argument(1).union(argument(2))
        case .lookup: return arguments[2...].reduce(argument(1)) { $0.union(bounds[$1.index]) }
        case .toFloat:
            let a = argument(0)
            return a == .unknown ? Bounds(low: -2_147_483_648, high: 2_147_483_648) : a
        default: return .unknown
        }
    }
}
