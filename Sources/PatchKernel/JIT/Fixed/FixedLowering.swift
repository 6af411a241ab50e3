import PatchMedia

/// Interval and error analysis of a `ScalarProgram`: turns it into a `FixedProgram` together with a proof of how far
/// the result may be from the real one, or says why that cannot be.
///
/// Values are held as sums of integers times real factors (`FixedLinear`), so that decoding, matrices, weights and
/// encoding melt into one sum. Where something other than a sum needs a value, it becomes an integer times a scale
/// (`number(of:)`); each rounding on the way is added up, and multiplied by what later factors make of it. Clamps,
/// minima, maxima and magnitudes pass errors on as they are (their slope is at most 1); products by the sizes of their
/// operands; comparisons are taken only between exact integers, because a small error would turn them over.
struct FixedLowering {
    var p: ScalarProgram
    var f = FixedProgram()
    /// Products and rounded sums keep at least so many bits below 1/255.
    let fraction: Int
    private var linears: [Int: FixedLinear] = [:]
    private(set) var masks: [Int: Int] = [:]
    /// Values that are 1 over an alpha, 0 where it is 0.
    private var reciprocals: [Int: S] = [:]
    /// Why a value has no integer form; harmless where nothing needs it.
    private(set) var refusals: [Int: FixedRefusal] = [:]
    let description: PassDescription

    static let unit = 1.0 / 255
    /// Values a pass may have: large ones compute functions, and gain nothing.
    static let valueLimit = 1500

    init(_ p: ScalarProgram, _ description: PassDescription, fraction: Int) {
        self.p = p
        self.description = description
        self.fraction = fraction
    }

    /// Converts what the roots depend on. (By a loop, because expressions may be deep.)
    mutating func convert(_ live: [Int]) {
        for index in live {
            if let alpha = alpha(ofReciprocal: index) {
                reciprocals[index] = alpha
                continue
            }
            do throws(FixedRefusal) {
                try convert(index)
            } catch {
                refusals[index] = error
            }
        }
    }

    /// What `unpremultiply` multiplies by: clearAlpha < alpha ? 1 / alpha : 0.
    private func alpha(ofReciprocal index: Int) -> S? {
        guard p.nodes[index].operation == .select else { return nil }
        let a = p.nodes[index].arguments
        let (condition, quotient) = (p.nodes[a[0].index], p.nodes[a[1].index])
        guard p.floatValue(a[2]) == 0, condition.operation == .lessThan, quotient.operation == .div,
            p.floatValue(condition.arguments[0]) == clearAlpha, p.floatValue(quotient.arguments[0]) == 1,
            condition.arguments[1] == quotient.arguments[1]
        else { return nil }
        return quotient.arguments[1]
    }

    private mutating func convert(_ index: Int) throws(FixedRefusal) {
        let node = p.nodes[index]
        if case .float(let bits) = node.operation {
            let value = Float(bitPattern: bits)
            guard value.isFinite else { throw FixedRefusal("a constant that is no number") }
            linears[index] = FixedLinear(constant: Double(value))
            return
        }
        if p.rates[index] == .frame { return }
        guard p.rates[index] == .pixel else { throw FixedRefusal("the result depends on the position") }
        let a = node.arguments
        switch node.operation {
        case .load(let load):
            guard !load.isHalf else { throw FixedRefusal("it reads a picture of half the size") }
            linears[index] = exact(f.load(load))
        case .toFloat: linears[index] = try linear(a[0])
        case .toInt: break
        case .add: linears[index] = try sum(linear(a[0]), linear(a[1]))
        case .sub: linears[index] = try sum(linear(a[0]), negated(linear(a[1])))
        case .neg: linears[index] = try negated(linear(a[0]))
        case .mul: linears[index] = try product(of: a[0], a[1])
        case .fma: linears[index] = try sum(product(of: a[0], a[1]), linear(a[2]))
        case .abs:
            let number = try number(of: linear(a[0]), bounds: p.bounds[a[0].index])
            linears[index] = FixedLinear(
                FixedNumber(node: f.abs(number.node), scale: number.scale, error: number.error))
        case .min, .max:
            let pair = try aligned(a[0], a[1])
            let node = node.operation == .min ? f.min(pair.a, pair.b) : f.max(pair.a, pair.b)
            linears[index] = FixedLinear(FixedNumber(node: node, scale: pair.scale, error: pair.error))
        case .select where node.kind == .float:
            let condition = try mask(a[0])
            let pair = try aligned(a[1], a[2])
            linears[index] = FixedLinear(
                FixedNumber(node: f.select(condition, pair.a, pair.b), scale: pair.scale, error: pair.error))
        case .lessThan, .lessEqual, .equal: masks[index] = try comparison(node.operation, a[0], a[1])
        case .and: masks[index] = try f.logic(.and, [mask(a[0]), mask(a[1])])
        case .or: masks[index] = try f.logic(.or, [mask(a[0]), mask(a[1])])
        case .not: masks[index] = try f.logic(.not, [mask(a[0])])
        default: throw FixedRefusal("it computes \(Self.name(node.operation))")
        }
    }

    private static func name(_ operation: ScalarProgram.Operation) -> String {
        switch operation {
        case .div: "a quotient"
        case .sqrt, .rootEstimate, .inverseRootEstimate: "a square root"
        case .gather: "reads at computed positions"
        case .floatBits, .bitsFloat, .scale, .lookup: "powers, logarithms or exponentials"
        case .floor, .ceil, .trunc, .roundEven: "whole numbers"
        case .loop, .loopParameter, .loopResult: "a loop"
        case .dither: "dither"
        default: "with whole numbers"
        }
    }

    // MARK: Linear forms

    private func exact(_ atom: Int) -> FixedLinear {
        FixedLinear(FixedNumber(node: atom, scale: 1, error: 0))
    }

    func linear(_ s: S) throws(FixedRefusal) -> FixedLinear {
        if let known = linears[s.index] { return known }
        if let refusal = refusals[s.index] { throw refusal }
        if reciprocals[s.index] != nil { throw FixedRefusal("it computes a quotient") }
        guard p.rate(s) == .frame, p.kind(s) == .float else { throw FixedRefusal("it computes with whole numbers") }
        let bounds = p.bounds[s.index]
        guard bounds.low.isFinite, bounds.high.isFinite, !bounds.mayBeNaN else {
            throw FixedRefusal("a parameter, or what is computed of it, has no known range")
        }
        var result = FixedLinear()
        result.frame = s
        return result
    }

    private mutating func negated(_ a: FixedLinear) -> FixedLinear {
        var result = a.scaled(-1)
        result.frame = a.frame.map { p.neg($0) }
        return result
    }

    private mutating func sum(_ a: FixedLinear, _ b: FixedLinear) throws(FixedRefusal) -> FixedLinear {
        var result = a
        result.add(b)
        result.overAlpha = a.overAlpha ?? b.overAlpha
        if let x = a.overAlpha, let y = b.overAlpha {
            guard x.alpha == y.alpha else { throw FixedRefusal("it adds colours over different alphas") }
            var terms = x.terms
            FixedLinear.add(y.terms, to: &terms)
            result.overAlpha = (terms, x.alpha)
        }
        if let x = a.frame, let y = b.frame { result.frame = p.add(x, y) } else { result.frame = a.frame ?? b.frame }
        return result
    }

    mutating func difference(_ a: S, _ b: S) throws(FixedRefusal) -> FixedLinear {
        try sum(linear(a), negated(linear(b)))
    }

    private mutating func times(_ a: FixedLinear, _ factor: Double) -> FixedLinear {
        var result = a.scaled(factor)
        if let frame = a.frame { result.frame = p.mul(frame, p.float(factor)) }
        return result
    }

    private mutating func product(of x: S, _ y: S) throws(FixedRefusal) -> FixedLinear {
        if let alpha = reciprocals[x.index] { return try over(linear(y), alpha) }
        if let alpha = reciprocals[y.index] { return try over(linear(x), alpha) }
        let (a, b) = (try linear(x), try linear(y))
        if a.overAlpha != nil { return try product(over: a, b, y) }
        if b.overAlpha != nil { return try product(over: b, a, x) }
        return try product(a, b)
    }

    private func over(_ a: FixedLinear, _ alpha: S) throws(FixedRefusal) -> FixedLinear {
        guard a.constant == 0, a.frame == nil, a.overAlpha == nil else {
            throw FixedRefusal("it computes a quotient")
        }
        var result = FixedLinear()
        result.overAlpha = (a.terms, alpha)
        return result
    }

    /// Of colour freed of its alpha, and a factor that is the frame's, or that alpha.
    private mutating func product(
        over a: FixedLinear, _ factor: FixedLinear, _ s: S
    ) throws(FixedRefusal) -> FixedLinear {
        guard let over = a.overAlpha, factor.overAlpha == nil else { throw FixedRefusal("it multiplies quotients") }
        var rest = a
        rest.overAlpha = nil
        var quotient = FixedLinear()
        quotient.terms = over.terms
        if factor.terms.isEmpty {
            var result = try product(rest, factor)
            result.overAlpha = (try product(quotient, factor).terms, over.alpha)
            return result
        }
        guard s == over.alpha, factor.terms.count == 1, factor.terms[0].factor > 0, factor.constant == 0,
            factor.frame == nil
        else { throw FixedRefusal("it computes a quotient") }
        let number = try number(of: quotient, bounds: nil)
        let isVisible = f.less(f.constant(0), factor.terms[0].atom)
        let visible = f.select(isVisible, number.node, f.constant(0))
        return try sum(
            FixedLinear(FixedNumber(node: visible, scale: number.scale, error: number.error)), product(rest, factor))
    }

    private mutating func product(_ a: FixedLinear, _ b: FixedLinear) throws(FixedRefusal) -> FixedLinear {
        if b.isConstant { return times(a, b.constant) }
        if a.isConstant { return times(b, a.constant) }
        if b.terms.isEmpty { return try frameProduct(a, b) }
        if a.terms.isEmpty { return try frameProduct(b, a) }
        return try pixelProduct(a, b)
    }

    /// What does not depend on the pixel, as one float of the frame.
    private mutating func frameValue(_ a: FixedLinear) -> S {
        let constant = p.float(a.constant)
        guard let frame = a.frame else { return constant }
        return a.constant == 0 ? frame : p.add(frame, constant)
    }

    /// `factor` has no terms. The part of `a` that is the frame's own is multiplied in floats, once a frame.
    private mutating func frameProduct(_ a: FixedLinear, _ factor: FixedLinear) throws(FixedRefusal) -> FixedLinear {
        let s = frameValue(factor)
        var result = FixedLinear()
        if a.constant != 0 || a.frame != nil { result.frame = p.mul(frameValue(a), s) }
        guard !a.terms.isEmpty else { return result }
        var pure = a
        pure.constant = 0
        pure.frame = nil
        let number = try number(of: pure, bounds: nil)
        let bounds = p.bounds[s.index]
        let largest = Double(Swift.max(Swift.abs(bounds.low), Swift.abs(bounds.high)))
        guard largest.isFinite, !bounds.mayBeNaN else { throw FixedRefusal("a factor has no known range") }
        if largest < 1e-9 { return result }
        let (exponent, weight) = quantizedWeight(s, largest)
        let weightError = pow2(exponent - 15)
        result.add(
            FixedLinear(
                try scaledProduct(
                    number, weight, exponent: exponent, weightError: weightError, weightSize: largest)))
        return result
    }

    /// A float of the frame as a number of 15 bits times 2^(exponent − 15), at most 1 off.
    private mutating func quantizedWeight(_ s: S, _ largest: Double) -> (exponent: Int, node: Int) {
        var exponent = 0
        while pow2(exponent) < largest * (1 - 1e-7) { exponent += 1 }
        while exponent > -8, pow2(exponent - 1) >= largest { exponent -= 1 }
        let bounds = p.bounds[s.index]
        let scale = pow2(15 - exponent)
        func rounded(_ x: Float) -> Int { Swift.max(-32767, Swift.min(32767, Int((Double(x) * scale).rounded()))) }
        let (low, high) = (rounded(bounds.low), rounded(bounds.high))
        let whole = p.unary(.roundEven, p.mul(s, p.float(scale)))
        let clamped = p.clamp(whole, Float(low), Float(high))
        return (exponent, f.frame(p.toIntUnchecked(clamped), low, high))
    }

    /// number · weight · 2^(exponent − 15) with as many bits kept as `fraction` asks for and as fit.
    private mutating func scaledProduct(
        _ number: FixedNumber, _ weight: Int, exponent: Int, weightError: Double, weightSize: Double
    ) throws(FixedRefusal) -> FixedNumber {
        guard f.fits(number.node), f.fits(weight) else { throw FixedRefusal("sums need more than 16 bits") }
        let size = f.magnitude(number.node)
        var shift = 0
        while number.scale * pow2(exponent - shift) > Self.unit * pow2(-fraction) * 1.01,
            size << (shift + 1) <= FixedProgram.range.upperBound
        { shift += 1 }
        let node = f.mulRound(f.shiftLeft(number.node, shift), weight)
        let scale = number.scale * pow2(exponent - shift)
        let error =
            Double(size) * number.scale * weightError + weightSize * number.error + number.error * weightError
            + 0.5 * scale
        return FixedNumber(node: node, scale: scale, error: error)
    }

    private mutating func pixelProduct(_ a: FixedLinear, _ b: FixedLinear) throws(FixedRefusal) -> FixedLinear {
        let (x, y) = (try number(of: a, bounds: nil), try number(of: b, bounds: nil))
        guard f.fits(x.node), f.fits(y.node) else { throw FixedRefusal("sums need more than 16 bits") }
        func size(_ n: FixedNumber) -> Double { Double(f.magnitude(n.node)) * n.scale }
        func isCode(_ n: FixedNumber) -> Bool {
            Swift.abs(n.scale * 255 - 1) < 1e-6 && f.low[n.node] >= 0 && f.high[n.node] <= 255
        }
        let isWeightX = isCode(x) != isCode(y) ? isCode(x) : f.magnitude(x.node) < f.magnitude(y.node)
        let (number, factor) = isWeightX ? (y, x) : (x, y)
        if size(factor) < 1e-9 || size(number) < 1e-9 { return FixedLinear() }
        var exponent = 0
        while pow2(exponent) < size(factor) * (1 - 1e-7) { exponent += 1 }
        let weight: FixedNumber
        if isCode(factor) {
            // Both 1/255 and the half that is cut: at most one unit of 2^-15.
            weight = FixedNumber(node: f.unit(factor.node), scale: pow2(-15), error: factor.error + pow2(-15))
            exponent = 0
        } else {
            if size(factor) > pow2(exponent) * 32767 / 32768 { exponent += 1 }
            weight = try rescaled(factor, to: pow2(exponent - 15))
        }
        return FixedLinear(
            try scaledProduct(
                number, weight.node, exponent: exponent, weightError: weight.error, weightSize: size(factor)))
    }
}

/// 2^n, exactly.
func pow2(_ n: Int) -> Double { Double(sign: .plus, exponent: n, significand: 1) }
