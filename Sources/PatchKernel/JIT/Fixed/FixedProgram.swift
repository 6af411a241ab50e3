/// A pass in 16-bit integers: what the JIT emits in place of a `ScalarProgram` where `FixedLowering` proves it exact
/// enough. Each value stands for a real number q · scale that the lowering keeps.
///
/// Additions, subtractions and multiplications by whole numbers may wrap around on the way, because two's complement
/// forgives it when the end result fits. All other operations need operands that fit, which the lowering checks.
struct FixedProgram {
    enum Operation: Hashable {
        /// Codes as they are stored; subsampled chroma times `PassInput.chromaScale`.
        case load(ScalarProgram.Load)
        case constant(Int)
        /// An int of the frame, computed by the scalar program.
        case frame(S)
        case add, sub
        /// a · b, low 16 bits.
        case mulLow
        /// (a · b + 2^14) >> 15.
        case mulRound
        /// (Σ weight · argument + 2^(shift − 1)) >> shift, of the components of a packed pixel, in 32 bits.
        case dot([Int], shift: Int)
        /// ⌊a · 257 / 2⌋ of a in 0…255: a / 255 in units of 1/32767.5.
        case unit
        case shiftLeft(Int)
        /// Towards −∞.
        case shiftRight(Int)
        case min, max, abs
        case less, equal
        /// A bool of the frame.
        case frameFlag(S)
        case and, or, not
        case select
    }

    struct Node: Hashable {
        var operation: Operation
        var arguments: [Int]
    }

    private(set) var nodes: [Node] = []
    /// Between which whole numbers each value lies, if nothing wrapped.
    private(set) var low: [Int] = []
    private(set) var high: [Int] = []
    /// Equal for values that are the same but for the channel they read and for constants: orders the operands of
    /// commutative operations alike in all channels, so that four channels can be computed as one.
    private var shape: [UInt64] = []
    private var known: [Node: Int] = [:]

    static let range = -32767...32767

    func fits(_ a: Int) -> Bool { low[a] >= Self.range.lowerBound && high[a] <= Self.range.upperBound }
    func magnitude(_ a: Int) -> Int { Swift.max(Swift.abs(low[a]), Swift.abs(high[a])) }

    private mutating func make(_ operation: Operation, _ arguments: [Int], _ range: (Int, Int)) -> Int {
        let node = Node(operation: operation, arguments: arguments)
        if let index = known[node] { return index }
        nodes.append(node)
        low.append(range.0)
        high.append(range.1)
        shape.append(Self.shape(operation, arguments.map { shape[$0] }))
        known[node] = nodes.count - 1
        return nodes.count - 1
    }

    private static func shape(_ operation: Operation, _ arguments: [UInt64]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ value: Int, _ hash: UInt64) -> UInt64 {
            (hash ^ UInt64(truncatingIfNeeded: value)) &* 0x0000_0100_0000_01b3
        }
        switch operation {
        case .load(let load):
            for value in [1, load.input, load.dx, load.dy] { hash = mix(value, hash) }
        case .constant: hash = mix(2, hash)
        case .frame: hash = mix(3, hash)
        case .add: hash = mix(4, hash)
        case .sub: hash = mix(5, hash)
        case .mulLow: hash = mix(6, hash)
        case .mulRound: hash = mix(7, hash)
        case .unit: hash = mix(8, hash)
        case .dot(let weights, let shift): for value in weights + [19, shift] { hash = mix(value, hash) }
        case .shiftLeft(let count): hash = mix(100 + count, hash)
        case .shiftRight(let count): hash = mix(200 + count, hash)
        case .min: hash = mix(9, hash)
        case .max: hash = mix(10, hash)
        case .abs: hash = mix(11, hash)
        case .less: hash = mix(12, hash)
        case .equal: hash = mix(13, hash)
        case .frameFlag: hash = mix(14, hash)
        case .and: hash = mix(15, hash)
        case .or: hash = mix(16, hash)
        case .not: hash = mix(17, hash)
        case .select: hash = mix(18, hash)
        }
        for argument in arguments { hash = mix(Int(truncatingIfNeeded: argument ^ argument >> 31), hash) }
        return hash
    }

    private func ordered(_ a: Int, _ b: Int) -> [Int] { (shape[a], a) <= (shape[b], b) ? [a, b] : [b, a] }

    /// States what is known of a value's range beyond what its operation shows.
    mutating func narrow(_ a: Int, _ low: Int, _ high: Int) {
        self.low[a] = Swift.max(self.low[a], low)
        self.high[a] = Swift.min(self.high[a], high)
    }

    func constantValue(_ a: Int) -> Int? {
        if case .constant(let value) = nodes[a].operation { return value }
        return nil
    }

    /// What a value is before it is clamped to 0…255.
    func withoutByteClamp(_ a: Int) -> Int {
        guard nodes[a].operation == .min || nodes[a].operation == .max else { return a }
        let (first, second) = (nodes[a].arguments[0], nodes[a].arguments[1])
        let bound = nodes[a].operation == .min ? 255 : 0
        if constantValue(first) == bound { return withoutByteClamp(second) }
        return constantValue(second) == bound ? withoutByteClamp(first) : a
    }

    // MARK: Operations

    mutating func load(_ load: ScalarProgram.Load) -> Int {
        make(.load(load), [], (Int(load.bounds.low), Int(load.bounds.high)))
    }
    mutating func constant(_ value: Int) -> Int { make(.constant(value), [], (value, value)) }
    mutating func frame(_ s: S, _ low: Int, _ high: Int) -> Int { make(.frame(s), [], (low, high)) }
    mutating func frameFlag(_ s: S) -> Int { make(.frameFlag(s), [], (0, 1)) }

    mutating func add(_ a: Int, _ b: Int) -> Int {
        switch (constantValue(a), constantValue(b)) {
        case (let x?, let y?): return constant(x + y)
        case (0?, _): return b
        case (_, 0?): return a
        default: break
        }
        var range = (low[a] + low[b], high[a] + high[b])
        if let between = between(a, b) ?? between(b, a) { range = between }
        return make(.add, ordered(a, b), range)
    }
    /// x + round(w · (y − x)) with w in 0…32767/32768 lies between x and y.
    private func between(_ x: Int, _ product: Int) -> (Int, Int)? {
        guard nodes[product].operation == .mulRound else { return nil }
        let (a, b) = (nodes[product].arguments[0], nodes[product].arguments[1])
        for (difference, weight) in [(a, b), (b, a)] where low[weight] >= 0 && high[weight] <= 32767 {
            let node = nodes[difference]
            if node.operation == .sub, node.arguments[1] == x {
                let y = node.arguments[0]
                return (Swift.min(low[x], low[y]), Swift.max(high[x], high[y]))
            }
        }
        return nil
    }
    mutating func sub(_ a: Int, _ b: Int) -> Int {
        if let x = constantValue(a), let y = constantValue(b) { return constant(x - y) }
        if constantValue(b) == 0 { return a }
        if a == b { return constant(0) }
        return make(.sub, [a, b], (low[a] - high[b], high[a] - low[b]))
    }
    mutating func mulLow(_ a: Int, by factor: Int) -> Int {
        if let x = constantValue(a) { return constant(x * factor) }
        switch factor {
        case 0: return constant(0)
        case 1: return a
        case -1: return sub(constant(0), a)
        case 2...16384 where factor & (factor - 1) == 0: return shiftLeft(a, factor.trailingZeroBitCount)
        default:
            let products = (low[a] * factor, high[a] * factor)
            return make(.mulLow, [a, constant(factor)], factor > 0 ? products : (products.1, products.0))
        }
    }
    /// - Precondition: both fit.
    mutating func mulRound(_ a: Int, _ b: Int) -> Int {
        func rounded(_ x: Int, _ y: Int) -> Int { (x * y + 16384) >> 15 }
        if let x = constantValue(a), let y = constantValue(b) { return constant(rounded(x, y)) }
        let products = [
            rounded(low[a], low[b]), rounded(low[a], high[b]), rounded(high[a], low[b]), rounded(high[a], high[b]),
        ]
        return make(.mulRound, ordered(a, b), (products.min() ?? 0, products.max() ?? 0))
    }
    mutating func dot(_ arguments: [Int], _ weights: [Int], _ shift: Int) -> Int {
        var (least, most) = (0, 0)
        for (argument, weight) in zip(arguments, weights) {
            let ends = (low[argument] * weight, high[argument] * weight)
            least += Swift.min(ends.0, ends.1)
            most += Swift.max(ends.0, ends.1)
        }
        let half = shift == 0 ? 0 : 1 << (shift - 1)
        return make(.dot(weights, shift: shift), arguments, ((least + half) >> shift, (most + half) >> shift))
    }
    /// The component of the first packed pixel that a value is made of.
    func channel(of a: Int) -> Int? {
        if case .load(let load) = nodes[a].operation { return load.channel }
        for argument in nodes[a].arguments {
            if let channel = channel(of: argument) { return channel }
        }
        return nil
    }
    /// - Precondition: a in 0…255.
    mutating func unit(_ a: Int) -> Int { make(.unit, [a], (low[a] * 257 / 2, high[a] * 257 / 2)) }
    mutating func shiftLeft(_ a: Int, _ count: Int) -> Int {
        if let x = constantValue(a) { return constant(x << count) }
        return count == 0 ? a : make(.shiftLeft(count), [a], (low[a] << count, high[a] << count))
    }
    /// - Precondition: a fits.
    mutating func shiftRight(_ a: Int, _ count: Int) -> Int {
        if let x = constantValue(a) { return constant(x >> count) }
        return count == 0 ? a : make(.shiftRight(count), [a], (low[a] >> count, high[a] >> count))
    }
    /// - Precondition: both fit. (So for all below.)
    mutating func min(_ a: Int, _ b: Int) -> Int {
        if high[a] <= low[b] { return a }
        if high[b] <= low[a] { return b }
        return make(.min, ordered(a, b), (Swift.min(low[a], low[b]), Swift.min(high[a], high[b])))
    }
    mutating func max(_ a: Int, _ b: Int) -> Int {
        if low[a] >= high[b] { return a }
        if low[b] >= high[a] { return b }
        return make(.max, ordered(a, b), (Swift.max(low[a], low[b]), Swift.max(high[a], high[b])))
    }
    mutating func abs(_ a: Int) -> Int {
        if low[a] >= 0 { return a }
        return make(.abs, [a], (Swift.max(0, low[a], -high[a]), magnitude(a)))
    }
    mutating func less(_ a: Int, _ b: Int) -> Int { make(.less, [a, b], (0, 1)) }
    mutating func equal(_ a: Int, _ b: Int) -> Int { make(.equal, ordered(a, b), (0, 1)) }
    mutating func logic(_ operation: Operation, _ arguments: [Int]) -> Int { make(operation, arguments, (0, 1)) }
    mutating func select(_ condition: Int, _ a: Int, _ b: Int) -> Int {
        a == b ? a : make(.select, [condition, a, b], (Swift.min(low[a], low[b]), Swift.max(high[a], high[b])))
    }
}
