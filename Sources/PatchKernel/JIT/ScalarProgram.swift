/// A pass as scalar operations: what the JIT emits, one machine vector a value.
///
/// Values are hash-consed and folded as they are made. The rules: constants fold in Float; x + 0, x − 0, x · 1 and
/// x / 1 are x (so a −0 may stay where +0 was due); 0 · x is kept, because x may be NaN or infinite; a division by
/// what is the same for all pixels becomes a multiplication by its reciprocal (at most 1.5 ulp off); factors that are
/// constants are joined (x · a · b is x · (a · b), x · y · a + x · y is x · y · (a + 1), at most 1.5 ulp off); a min,
/// max or comparison whose outcome follows from the operands' bounds is what it comes to; limits that follow each other are
/// joined.
struct ScalarProgram {
    enum Kind: UInt8 { case float, int, bool }
    /// How often a value changes.
    enum Rate: UInt8, Comparable {
        case frame, row, pixel
        static func < (a: Rate, b: Rate) -> Bool { a.rawValue < b.rawValue }
    }

    enum Operation: Hashable {
        case float(UInt32), int(Int32), bool(Bool)
        /// One of the pass's uniform floats.
        case uniform(Int)
        /// Output pixel, from 0.
        case column, row
        /// Size of the whole picture that is written.
        case outputWidth, outputHeight
        /// Stored size of an input.
        case inputWidth(Int), inputHeight(Int)
        /// The same of the whole picture, of which the input may be the chroma planes.
        case pictureWidth(Int), pictureHeight(Int)
        case time, frame
        case load(Load)
        /// The Bayer matrix at the output's pixel, 0…1.
        case dither
        /// One sample of a plane at (column, row), which must lie inside it.
        case gather(input: Int, channel: Int)
        case add, sub, mul, div, min, max, lessThan, lessEqual, equal
        /// a · b + c, rounded once.
        case fma
        /// a · 2^b for a whole b of any size; infinite b give 0 or infinity whatever a is. Only where `hasScaling`.
        case scale
        /// The root of a number that is not below 10^−30, within 2^−11.
        case rootEstimate
        case sqrt
        /// 1/√x of a positive x within 4 · 10⁻⁴. Only where `hasRootEstimate`.
        case inverseRootEstimate
        case abs, neg, floor, ceil, trunc, roundEven
        case intAdd, intSub, intMul, intDiv, intMin, intMax, intLess, intLessEqual, intEqual
        case intAnd, intOr, intXor, shiftLeft, shiftRight, shiftRightLogical
        case and, or, not
        case select
        case toFloat, toInt, floatBits, bitsFloat
        /// One of eight values of the frame, by the lowest three bits of an int. Only where `hasLookup`.
        case lookup
        case loopParameter(Int, Int), loop(Int, limit: Int, carried: Int), loopResult(Int)
    }

    /// Samples at a whole-pixel offset from the output's pixel. Chroma of subsampled formats is interpolated and left
    /// times `chromaScale` of the input.
    struct Load: Hashable {
        var input: Int
        var channel: Int
        var dx: Int
        var dy: Int
        var edge: EdgeMode
        var bounds: Bounds
        /// Of a picture of half the size, between its samples; codes are left times `PassInput.halfScale`.
        var isHalf = false
    }

    struct Node: Hashable {
        var operation: Operation
        var kind: Kind
        var arguments: [S]

        /// Few operations have all arguments in common.
        func hash(into hasher: inout Hasher) {
            if arguments.isEmpty { hasher.combine(operation) }
            for argument in arguments { hasher.combine(argument.index) }
        }
    }

    /// One value.
    struct S: Hashable { var index: Int }

    private(set) var nodes: [Node] = []
    private(set) var rates: [Rate] = []
    private(set) var bounds: [Bounds] = []
    /// The output has 8 bits: exp2, log2 and what is made of them may be off by some 10⁻⁵.
    var isCoarse = false
    /// The processor multiplies by powers of two in one instruction (AVX-512).
    var hasScaling = false
    /// The processor picks lanes of a vector by number (AVX2).
    var hasLookup = false
    /// The processor estimates 1/√x much quicker than it takes a root (AVX2).
    var hasRootEstimate = false
    /// Of a selection by what is the same for all pixels both sides are computed where there are loops.
    var hasLoops = false
    /// Made inside functions whose precision hangs on the order of their operations.
    private(set) var rigid: Set<S> = []
    private var isRigid = false
    private var known: [Node: S] = [:]

    /// Makes room for so many values.
    mutating func reserve(_ count: Int) {
        nodes.reserveCapacity(count)
        rates.reserveCapacity(count)
        bounds.reserveCapacity(count)
        known.reserveCapacity(count)
    }

    /// Another program for the same machine and output, with room for as many values.
    var empty: ScalarProgram {
        var program = ScalarProgram()
        program.reserve(nodes.count)
        program.isCoarse = isCoarse
        program.hasScaling = hasScaling
        program.hasLookup = hasLookup
        program.hasRootEstimate = hasRootEstimate
        program.hasLoops = hasLoops
        return program
    }

    func operation(_ s: S) -> Operation { nodes[s.index].operation }
    func kind(_ s: S) -> Kind { nodes[s.index].kind }
    func rate(_ s: S) -> Rate { rates[s.index] }

    mutating func make(_ operation: Operation, _ kind: Kind, _ arguments: [S] = []) -> S {
        let node = Node(operation: operation, kind: kind, arguments: arguments)
        if let s = known[node] {
            if isRigid { rigid.insert(s) }
            return s
        }
        let rate: Rate =
            switch operation {
            case .load, .dither, .column, .loop, .loopParameter, .loopResult: .pixel
            case .row: .row
            default: arguments.map { rates[$0.index] }.max() ?? .frame
            }
        let s = S(index: nodes.count)
        nodes.append(node)
        rates.append(rate)
        bounds.append(bounds(of: operation, kind: kind, arguments))
        known[node] = s
        if isRigid { rigid.insert(s) }
        return s
    }

    /// Makes values whose sums must stay as they are written.
    mutating func rigidly<Result>(_ body: (inout ScalarProgram) -> Result) -> Result {
        let before = isRigid
        isRigid = true
        defer { isRigid = before }
        return body(&self)
    }

    /// States what is known of a value that its operation does not show.
    mutating func annotate(_ s: S, low: Float, high: Float, mayBeNaN: Bool = false) {
        bounds[s.index] = Bounds(low: low, high: high, mayBeNaN: mayBeNaN)
    }

    /// Whether pixels read at computed positions of their own.
    var gathers: Bool {
        nodes.indices.contains { index in
            if case .gather = nodes[index].operation { return rates[index] != .frame }
            return false
        }
    }

    /// Samples at fixed offsets that more than one value is made of.
    var heldReads: Int {
        var users = [Int](repeating: 0, count: nodes.count)
        for node in nodes { for argument in Set(node.arguments) { users[argument.index] += 1 } }
        return nodes.indices.count { index in
            guard nodes[index].kind == .float, users[index] > 1 else { return false }
            if case .load = nodes[index].operation { return true }
            guard nodes[index].operation == .toFloat, case .load = operation(nodes[index].arguments[0]) else {
                return false
            }
            return true
        }
    }

    func floatValue(_ s: S) -> Float? {
        if case .float(let bits) = operation(s) { return Float(bitPattern: bits) }
        return nil
    }
    func intValue(_ s: S) -> Int32? {
        if case .int(let value) = operation(s) { return value }
        return nil
    }
    func boolValue(_ s: S) -> Bool? {
        if case .bool(let value) = operation(s) { return value }
        return nil
    }
}

typealias S = ScalarProgram.S

extension ScalarProgram {
    mutating func float(_ value: Float) -> S { make(.float(value.bitPattern), .float) }
    mutating func float(_ value: Double) -> S { float(Float(value)) }
    mutating func int(_ value: Int32) -> S { make(.int(value), .int) }
    mutating func bool(_ value: Bool) -> S { make(.bool(value), .bool) }

    mutating func add(_ a: S, _ b: S) -> S {
        switch (floatValue(a), floatValue(b)) {
        case (let x?, let y?): return float(x + y)
        case (0?, _): return b
        case (_, 0?): return a
        default: return make(.add, .float, a.index <= b.index ? [a, b] : [b, a])
        }
    }
    mutating func sub(_ a: S, _ b: S) -> S {
        switch (floatValue(a), floatValue(b)) {
        case (let x?, let y?): return float(x - y)
        case (_, 0?): return a
        default: return make(.sub, .float, [a, b])
        }
    }
    mutating func mul(_ a: S, _ b: S) -> S {
        switch (floatValue(a), floatValue(b)) {
        case (let x?, let y?): return float(x * y)
        case (1?, _): return b
        case (_, 1?): return a
        case (let x?, _): return scaled(b, by: x)
        case (_, let y?): return scaled(a, by: y)
        default: return make(.mul, .float, a.index <= b.index ? [a, b] : [b, a])
        }
    }
    /// x · constant, joined with a constant factor that x already has.
    private mutating func scaled(_ x: S, by factor: Float) -> S {
        if let (inner, before) = constantFactor(x), (before * factor).isNormal || before * factor == 0 {
            let joined = joined(before, factor)
            return joined == 1 ? inner : make(.mul, .float, [inner, float(joined)])
        }
        return make(.mul, .float, [x, float(factor)])
    }
    func constantFactor(_ x: S) -> (S, Float)? {
        constantOperand(x, of: .mul)
    }
    /// How many times a · b a value is: the sum of a grey colour's squares is three times one of them.
    private func times(_ a: S, _ b: S, in c: S) -> Float? {
        func isProduct(_ s: S) -> Bool {
            operation(s) == .mul && (nodes[s.index].arguments == [a, b] || nodes[s.index].arguments == [b, a])
        }
        if isProduct(c) { return 1 }
        guard let (inner, factor) = constantFactor(c), isProduct(inner) else { return nil }
        return factor
    }
    /// Products that would be 1 but for rounding are 1: 1/255 · 255.
    private func joined(_ a: Float, _ b: Float) -> Float {
        let product = a * b
        return Swift.abs(product - 1) < 1.2e-7 ? 1 : product
    }
    mutating func div(_ a: S, _ b: S) -> S {
        if let x = floatValue(a), let y = floatValue(b) { return float(x / y) }
        if let y = floatValue(b) {
            return y == 1 ? a : mul(a, float(1 / y))
        }
        if rate(b) == .frame, rate(a) != .frame {
            let one = float(Float(1))
            return mul(a, make(.div, .float, [one, b]))
        }
        return make(.div, .float, [a, b])
    }
    mutating func fma(_ a: S, _ b: S, _ c: S) -> S {
        if floatValue(a) != nil && floatValue(b) != nil || floatValue(a) == 1 || floatValue(b) == 1 {
            return add(mul(a, b), c)
        }
        if floatValue(c) == 0 { return mul(a, b) }
        if let factor = floatValue(b), let (inner, before) = constantFactor(a) {
            return fma(inner, float(joined(before, factor)), c)
        }
        if floatValue(a) != nil { return fma(b, a, c) }
        if let times = times(a, b, in: c) { return mul(mul(a, b), float(times + 1)) }
        return make(.fma, .float, [a, b, c])
    }
    mutating func min(_ a: S, _ b: S) -> S {
        if let x = floatValue(a), let y = floatValue(b) { return float(x < y ? x : y) }
        if a == b { return a }
        let (p, q) = (bounds[a.index], bounds[b.index])
        if p.high <= q.low, !p.mayBeNaN { return a }
        if p.low >= q.high { return b }
        return make(.min, .float, [a, b])
    }
    mutating func max(_ a: S, _ b: S) -> S {
        if let x = floatValue(a), let y = floatValue(b) { return float(x > y ? x : y) }
        if a == b { return a }
        let (p, q) = (bounds[a.index], bounds[b.index])
        if p.low >= q.high, !p.mayBeNaN { return a }
        if p.high <= q.low { return b }
        if let low = floatValue(b) {
            if let (inner, before) = constantOperand(a, of: .max) {
                let larger = float(Swift.max(before, low))
                return max(inner, larger)
            }
            if let (limited, high) = constantOperand(a, of: .min), low <= high,
                let (inner, before) = constantOperand(limited, of: .max), before <= low
            {
                let limit = float(high)
                return min(max(inner, b), limit)
            }
        }
        return make(.max, .float, [a, b])
    }
    /// x and c of x · c, min(x, c) or max(x, c); the latter two are c where x is NaN.
    private func constantOperand(_ s: S, of operation: Operation) -> (S, Float)? {
        let node = nodes[s.index]
        guard node.operation == operation, let constant = floatValue(node.arguments[1]) else { return nil }
        return (node.arguments[0], constant)
    }
    mutating func clamp(_ x: S, _ low: Float, _ high: Float) -> S {
        let lowest = float(low)
        let highest = float(high)
        return min(max(x, lowest), highest)
    }
    mutating func neg(_ a: S) -> S {
        if let x = floatValue(a) { return float(-x) }
        return make(.neg, .float, [a])
    }
    mutating func unary(_ operation: Operation, _ a: S) -> S {
        guard let x = floatValue(a) else { return make(operation, .float, [a]) }
        switch operation {
        case .sqrt, .rootEstimate: return float(x.squareRoot())
        case .abs: return float(Swift.abs(x))
        case .floor: return float(x.rounded(.down))
        case .ceil: return float(x.rounded(.up))
        case .trunc: return float(x.rounded(.towardZero))
        default: return float(x.rounded(.toNearestOrEven))
        }
    }
    mutating func floor(_ a: S) -> S { unary(.floor, a) }
    mutating func sqrt(_ a: S) -> S { estimatedRoot(a) ?? unary(.sqrt, a) }
    mutating func abs(_ a: S) -> S { unary(.abs, a) }

    mutating func compare(_ operation: Operation, _ a: S, _ b: S) -> S {
        if let x = floatValue(a), let y = floatValue(b) {
            return bool(operation == .lessThan ? x < y : operation == .lessEqual ? x <= y : x == y)
        }
        let (p, q) = (bounds[a.index], bounds[b.index])
        if !p.mayBeNaN, !q.mayBeNaN {
            if a == b { return bool(operation != .lessThan) }
            if operation == .lessThan, p.high < q.low { return bool(true) }
            if operation == .lessThan, p.low >= q.high { return bool(false) }
            if operation == .lessEqual, p.high <= q.low { return bool(true) }
            if operation == .lessEqual, p.low > q.high { return bool(false) }
        }
        return make(operation, .bool, [a, b])
    }

    mutating func intBinary(_ operation: Operation, _ a: S, _ b: S) -> S {
        if let x = intValue(a), let y = intValue(b) {
            switch operation {
            case .intAdd: return int(x &+ y)
            case .intSub: return int(x &- y)
            case .intMul: return int(x &* y)
            case .intDiv: return int(y == 0 ? 0 : y == -1 ? 0 &- x : x / y)
            case .intMin: return int(x < y ? x : y)
            case .intMax: return int(x > y ? x : y)
            case .intLess: return bool(x < y)
            case .intLessEqual: return bool(x <= y)
            case .intEqual: return bool(x == y)
            case .intAnd: return int(x & y)
            case .intOr: return int(x | y)
            case .intXor: return int(x ^ y)
            case .shiftLeft: return int(x << (y & 31))
            case .shiftRight: return int(x >> (y & 31))
            case .shiftRightLogical: return int(Int32(bitPattern: UInt32(bitPattern: x) >> UInt32(y & 31)))
            default: break
            }
        }
        if intValue(b) == 0, [.intAdd, .intSub, .shiftLeft, .shiftRight].contains(operation) { return a }
        if intValue(a) == 0, operation == .intAdd { return b }
        if intValue(b) == 1, operation == .intMul { return a }
        let isComparison = [.intLess, .intLessEqual, .intEqual].contains(operation)
        return make(operation, isComparison ? .bool : .int, [a, b])
    }
    mutating func intBinary(_ operation: Operation, _ a: S, _ b: Int32) -> S {
        let constant = int(b)
        return intBinary(operation, a, constant)
    }

    mutating func and(_ a: S, _ b: S) -> S {
        if let x = boolValue(a) { return x ? b : a }
        if let y = boolValue(b) { return y ? a : b }
        return a == b ? a : make(.and, .bool, [a, b])
    }
    mutating func or(_ a: S, _ b: S) -> S {
        if let x = boolValue(a) { return x ? a : b }
        if let y = boolValue(b) { return y ? b : a }
        return a == b ? a : make(.or, .bool, [a, b])
    }
    mutating func not(_ a: S) -> S {
        if let x = boolValue(a) { return bool(!x) }
        if operation(a) == .not { return nodes[a.index].arguments[0] }
        return make(.not, .bool, [a])
    }
    mutating func select(_ condition: S, _ a: S, _ b: S) -> S {
        if let x = boolValue(condition) { return x ? a : b }
        if a == b { return a }
        if operation(condition) == .not { return make(.select, kind(a), [nodes[condition.index].arguments[0], b, a]) }
        return make(.select, kind(a), [condition, a, b])
    }

    mutating func toFloat(_ a: S) -> S {
        switch kind(a) {
        case .float: return a
        case .int:
            if let x = intValue(a) { return float(Float(x)) }
            return make(.toFloat, .float, [a])
        case .bool:
            let one = float(Float(1))
            let zero = float(Float(0))
            return select(a, one, zero)
        }
    }
    /// Towards zero; NaN and what is too small give the smallest, what is too large 2³¹ − 128.
    mutating func toInt(_ a: S) -> S {
        switch kind(a) {
        case .int: return a
        case .bool:
            let one = int(1)
            let zero = int(0)
            return select(a, one, zero)
        case .float:
            if let x = floatValue(a) { return int(Int32(clampToInt(x))) }
            let clamped = clamp(a, -2_147_483_648, 2_147_483_520)
            return make(.toInt, .int, [clamped])
        }
    }
    /// For values known to lie in the range of int.
    mutating func toIntUnchecked(_ a: S) -> S {
        if let x = floatValue(a) { return int(Int32(clampToInt(x))) }
        // A whole number that is not negative, with less than 1 added, is itself again.
        let node = nodes[a.index]
        if node.operation == .add {
            for (whole, rest) in [(node.arguments[0], node.arguments[1]), (node.arguments[1], node.arguments[0])] {
                if operation(whole) == .toFloat, bounds[whole.index].low >= 0, bounds[whole.index].high < 8_388_608,
                    bounds[rest.index].low >= 0, bounds[rest.index].high < 1
                {
                    return nodes[whole.index].arguments[0]
                }
            }
        }
        return make(.toInt, .int, [a])
    }
    mutating func toBool(_ a: S) -> S {
        switch kind(a) {
        case .bool: return a
        case .int:
            let isZero = intBinary(.intEqual, a, 0)
            return not(isZero)
        case .float:
            // A mask that select(c, 1, 0) made goes back to c.
            if operation(a) == .select {
                let arguments = nodes[a.index].arguments
                if floatValue(arguments[1]) == 1, floatValue(arguments[2]) == 0 { return arguments[0] }
            }
            let zero = float(Float(0))
            let isZero = compare(.equal, a, zero)
            return not(isZero)
        }
    }
    mutating func floatBits(_ a: S) -> S {
        if let x = floatValue(a) { return int(Int32(bitPattern: x.bitPattern)) }
        return make(.floatBits, .int, [a])
    }
    mutating func bitsFloat(_ a: S) -> S {
        if let x = intValue(a) { return float(Float(bitPattern: UInt32(bitPattern: x))) }
        return make(.bitsFloat, .float, [a])
    }
}

/// Float to int as kernels do it: NaN gives the smallest.
func clampToInt(_ x: Float) -> Float {
    let low = x > -2_147_483_648 ? x : -2_147_483_648
    return (low < 2_147_483_520 ? low : 2_147_483_520).rounded(.towardZero)
}
