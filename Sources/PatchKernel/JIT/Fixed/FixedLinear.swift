/// A sum of integer values times real factors, and what is the same for the frame: how `FixedLowering` holds a value
/// until it must be a number of its own.
struct FixedLinear {
    struct Term {
        var atom: Int
        var factor: Double
        /// How far the atom may be from the real number it stands for, in its own units.
        var error: Double
    }
    /// Each atom once, factors not 0.
    var terms: [Term] = []
    var constant: Double = 0
    /// A float of the frame that is added.
    var frame: S?
    /// Terms over an alpha (0 where that is 0), as colour is that was freed of its alpha: until it is multiplied by that
    /// alpha again, which leaves the terms.
    var overAlpha: (terms: [Term], alpha: S)?

    init() {}
    init(constant: Double) { self.constant = constant }
    init(_ number: FixedNumber) {
        terms = [Term(atom: number.node, factor: number.scale, error: number.error / number.scale)]
    }

    /// The atoms' errors together.
    var error: Double { terms.reduce(0) { $0 + Swift.abs($1.factor) * $1.error } }
    var isConstant: Bool { terms.isEmpty && frame == nil && overAlpha == nil }

    func scaled(_ factor: Double) -> FixedLinear {
        var result = self
        result.terms = factor == 0 ? [] : terms.map { Term(atom: $0.atom, factor: $0.factor * factor, error: $0.error) }
        result.overAlpha = overAlpha.map { over in
            (over.terms.map { Term(atom: $0.atom, factor: $0.factor * factor, error: $0.error) }, over.alpha)
        }
        result.constant *= factor
        return result
    }

    mutating func add(_ other: FixedLinear) {
        Self.add(other.terms, to: &terms)
        constant += other.constant
        if Swift.abs(constant) < 1e-7 * Swift.abs(other.constant) { constant = 0 }
    }

    static func add(_ others: [Term], to terms: inout [Term]) {
        for term in others {
            if let index = terms.firstIndex(where: { $0.atom == term.atom }) {
                let before = terms[index].factor
                terms[index].factor += term.factor
                terms[index].error = max(terms[index].error, term.error)
                // What should cancel leaves a rounding of the factors.
                if Swift.abs(terms[index].factor) < 1e-6 * Swift.abs(before) { terms.remove(at: index) }
            } else {
                terms.append(term)
            }
        }
    }

    /// The factors as whole multiples of one unit, at most 255 each; nil when there is no such unit.
    static func wholeMultiples(_ factors: [Double]) -> (unit: Double, multiples: [Int])? {
        guard let smallest = factors.map({ Swift.abs($0) }).min(), smallest > 0 else { return nil }
        for divisor in 1...8 {
            let unit = smallest / Double(divisor)
            let multiples = factors.map { ($0 / unit).rounded() }
            let isWhole = zip(factors, multiples).allSatisfy { factor, multiple in
                Swift.abs(multiple) <= 255 && Swift.abs(factor - multiple * unit) <= 2e-6 * Swift.abs(factor)
            }
            if isWhole { return (unit, multiples.map { Int($0) }) }
        }
        return nil
    }
}

/// An integer value with the real number that its unit is worth.
struct FixedNumber {
    var node: Int
    /// Above 0.
    var scale: Double
    /// How far node · scale may be from the real value.
    var error: Double
}

/// Why a pass stays with floats.
struct FixedRefusal: Error {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}
