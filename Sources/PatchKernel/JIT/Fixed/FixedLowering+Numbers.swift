extension ScalarProgram {
    /// Whether two values are samples that went through the same operations with the same constants.
    fileprivate func isAlike(_ a: S, _ b: S) -> Bool {
        if a == b { return true }
        let (x, y) = (nodes[a.index], nodes[b.index])
        if case .load = x.operation, case .load = y.operation { return true }
        return x.operation == y.operation && x.arguments.count == y.arguments.count
            && !x.arguments.isEmpty && zip(x.arguments, y.arguments).allSatisfy { isAlike($0, $1) }
            && x.arguments.filter { floatValue($0) == nil }.count == 1
    }
}

extension FixedLowering {
    // MARK: Sums to numbers

    /// The largest magnitude that a sum comes to, by its terms alone.
    private func magnitude(_ a: FixedLinear) -> Double {
        var (low, high) = (a.constant, a.constant)
        for term in a.terms {
            let ends = (Double(f.low[term.atom]) * term.factor, Double(f.high[term.atom]) * term.factor)
            low += Swift.min(ends.0, ends.1)
            high += Swift.max(ends.0, ends.1)
        }
        if let frame = a.frame {
            low += Double(p.bounds[frame.index].low)
            high += Double(p.bounds[frame.index].high)
        }
        return Swift.max(Swift.abs(low), Swift.abs(high))
    }

    /// A sum as an integer times a scale. `bounds`: what is known of the real value.
    /// - Parameter base: scales are `base` times a power of two where there is a choice.
    mutating func number(
        of a: FixedLinear, bounds: Bounds?, base: Double = unit
    ) throws(FixedRefusal) -> FixedNumber {
        if a.overAlpha != nil { throw FixedRefusal("it computes a quotient") }
        for term in a.terms where !f.fits(term.atom) { throw FixedRefusal("sums need more than 16 bits") }
        var size = magnitude(a)
        if let bounds, !bounds.mayBeNaN {
            size = Swift.min(size, Double(Swift.max(Swift.abs(bounds.low), Swift.abs(bounds.high))))
        }
        guard size.isFinite else { throw FixedRefusal("a value has no known range") }
        size += a.error
        var result: FixedNumber
        if let whole = try wholeNumber(a, size, base: base) {
            result = whole
        } else {
            result = try roundedNumber(a, size, base: base)
        }
        if let bounds, !bounds.mayBeNaN {
            let slack = result.error / result.scale + 0.01
            let low = (Double(bounds.low) / result.scale - slack).rounded(.down)
            let high = (Double(bounds.high) / result.scale + slack).rounded(.up)
            if Swift.abs(low) < 1e6, Swift.abs(high) < 1e6 { f.narrow(result.node, Int(low), Int(high)) }
        }
        if f.fits(result.node) == false { throw FixedRefusal("sums need more than 16 bits") }
        // Float arithmetic rounds too, by far less than this.
        result.error += 1e-6 * size
        return result
    }

    /// Where all factors are whole multiples of one: the sum is exact, but for a constant.
    private mutating func wholeNumber(
        _ a: FixedLinear, _ size: Double, base: Double
    ) throws(FixedRefusal) -> FixedNumber? {
        guard let (unit, multiples) = a.terms.isEmpty ? (base, []) : FixedLinear.wholeMultiples(a.terms.map(\.factor))
        else { return nil }
        guard size / unit <= Double(FixedProgram.range.upperBound) else { return nil }
        var room = 0
        while size / unit * pow2(room + 1) <= Double(FixedProgram.range.upperBound), room < 12 { room += 1 }
        var shift = 0
        func remainder(_ shift: Int) -> Double {
            let scaled = a.constant / unit * pow2(shift)
            return Swift.abs(scaled - scaled.rounded())
        }
        if a.frame != nil || a.constant != 0 {
            let exact = a.frame != nil ? nil : (0...Swift.min(room, 8)).first { remainder($0) < 1e-4 }
            if let exact {
                shift = exact
            } else {
                while unit * pow2(-shift) > base * pow2(-fraction) * 1.01, shift < room { shift += 1 }
            }
        }
        let scale = unit * pow2(-shift)
        let sum = f.shiftLeft(weightedSum(zip(a.terms, multiples).map { ($0.atom, $1) }), shift)
        var error = a.error
        for (term, multiple) in zip(a.terms, multiples) {
            error += Swift.abs(term.factor - Double(multiple) * unit) * Double(f.magnitude(term.atom))
        }
        return try adding(a, to: FixedNumber(node: sum, scale: scale, error: error))
    }

    /// Adds a sum's constant and the frame's part.
    private mutating func adding(_ a: FixedLinear, to number: FixedNumber) throws(FixedRefusal) -> FixedNumber {
        var number = number
        if let frame = a.frame {
            let offset = a.constant == 0 ? frame : p.add(frame, p.float(a.constant))
            number.node = f.add(number.node, try quantized(offset, scale: number.scale))
            number.error += 0.501 * number.scale
        } else if a.constant != 0 {
            let scaled = a.constant / number.scale
            guard Swift.abs(scaled) < 32767 else { throw FixedRefusal("sums need more than 16 bits") }
            number.node = f.add(number.node, f.constant(Int(scaled.rounded())))
            number.error += Swift.abs(scaled - scaled.rounded()) * number.scale
        }
        return number
    }

    /// A float of the frame in whole units of `scale`, rounded (down if told so) once a frame.
    mutating func quantized(_ s: S, scale: Double, down: Bool = false) throws(FixedRefusal) -> Int {
        let bounds = p.bounds[s.index]
        let (low, high) = (Double(bounds.low) / scale, Double(bounds.high) / scale)
        guard low >= -32766, high <= 32766, !bounds.mayBeNaN else { throw FixedRefusal("sums need more than 16 bits") }
        let scaled = p.mul(s, p.float(1 / scale))
        let whole = down ? p.floor(scaled) : p.unary(.roundEven, scaled)
        let (least, most) = (low.rounded(.down) - 1, high.rounded(.up) + 1)
        return f.frame(p.toIntUnchecked(p.clamp(whole, Float(least), Float(most))), Int(least), Int(most))
    }

    /// Σ multiple · atom; atoms of equal multiples are added before they are multiplied.
    mutating func weightedSum(_ terms: [(atom: Int, multiple: Int)]) -> Int {
        var sums: [(multiple: Int, plus: Int?, minus: Int?)] = []
        for (atom, multiple) in terms where multiple != 0 {
            let index =
                sums.firstIndex { $0.multiple == Swift.abs(multiple) }
                ?? {
                    sums.append((Swift.abs(multiple), nil, nil))
                    return sums.count - 1
                }()
            if multiple > 0 {
                sums[index].plus = sums[index].plus.map { f.add($0, atom) } ?? atom
            } else {
                sums[index].minus = sums[index].minus.map { f.add($0, atom) } ?? atom
            }
        }
        var result: Int?
        var negative: Int?
        for sum in sums {
            let positivePart: Int?
            switch (sum.plus, sum.minus) {
            case (let plus?, let minus?): positivePart = f.mulLow(f.sub(plus, minus), by: sum.multiple)
            case (let plus?, nil): positivePart = f.mulLow(plus, by: sum.multiple)
            case (nil, let minus?):
                positivePart = nil
                let part = f.mulLow(minus, by: sum.multiple)
                negative = negative.map { f.add($0, part) } ?? part
            case (nil, nil): positivePart = nil
            }
            if let positivePart { result = result.map { f.add($0, positivePart) } ?? positivePart }
        }
        switch (result, negative) {
        case (let result?, let negative?): return f.sub(result, negative)
        case (let result?, nil): return result
        case (nil, let negative?): return f.sub(f.constant(0), negative)
        case (nil, nil): return f.constant(0)
        }
    }

    /// Groups of terms with a unit each: every group's sum is exact and is rounded once, by a product.
    private mutating func roundedNumber(
        _ a: FixedLinear, _ size: Double, base: Double
    ) throws(FixedRefusal) -> FixedNumber {
        var scale = base
        let most = Double(FixedProgram.range.upperBound) - Double(a.terms.count) - 2
        while size / scale > most { scale *= 2 }
        while size / scale * 2 <= most, scale > base * pow2(-10) { scale /= 2 }
        var result = FixedNumber(node: f.constant(0), scale: scale, error: 0)
        let groups = groups(a)
        if let product = dot(groups, scale: scale) { return try adding(a, to: product) }
        for group in groups {
            let part = try rescaled(group, to: scale)
            result.node = f.add(result.node, part.node)
            result.error += part.error
        }
        return try adding(a, to: result)
    }

    /// Exact sums of terms whose factors are small whole multiples of one, each with that unit as its scale.
    mutating func groups(_ a: FixedLinear) -> [FixedNumber] {
        var groups: [[FixedLinear.Term]] = []
        for term in a.terms {
            let index = groups.firstIndex { group in
                FixedLinear.wholeMultiples(group.map(\.factor) + [term.factor]).map { _, multiples in
                    let reach = zip(group + [term], multiples).reduce(0) {
                        $0 + f.magnitude($1.0.atom) * Swift.abs($1.1)
                    }
                    return reach <= FixedProgram.range.upperBound
                } ?? false
            }
            if let index { groups[index].append(term) } else { groups.append([term]) }
        }
        return groups.map { group in
            guard let (unit, multiples) = FixedLinear.wholeMultiples(group.map(\.factor)) else {
                preconditionFailure("a group has a unit")
            }
            let sum = weightedSum(zip(group, multiples).map { ($0.atom, $1) })
            let error = group.reduce(0) { $0 + Swift.abs($1.factor) * $1.error }
            return FixedNumber(node: sum, scale: unit, error: error)
        }
    }

    /// Sums of the three colours of packed pixels, weighed: in one step, with 32-bit products.
    private mutating func dot(_ groups: [FixedNumber], scale: Double) -> FixedNumber? {
        guard groups.count == 3 else { return nil }
        let parts = groups.compactMap { group in f.channel(of: group.node).map { (channel: $0, number: group) } }
            .sorted { $0.channel < $1.channel }.map(\.number)
        var packing = FixedPacking(f, description)
        guard parts.count == 3, packing.pack(parts.map(\.node) + [-1]) != nil else { return nil }
        let ratios = parts.map { $0.scale / scale }
        guard let largest = ratios.max(), largest < 32767 else { return nil }
        var shift = 0
        while shift < 15, largest * pow2(shift + 1) <= 32767 { shift += 1 }
        let weights = ratios.map { Int(($0 * pow2(shift)).rounded()) }
        var error = 0.5 * scale
        for (part, weight) in zip(parts, weights) {
            error += part.error
            error += Swift.abs(Double(weight) * pow2(-shift) * scale - part.scale) * Double(f.magnitude(part.node))
        }
        return FixedNumber(node: f.dot(parts.map(\.node), weights, shift), scale: scale, error: error)
    }

    // MARK: Scales

    /// The same value in units of `scale`, rounded.
    mutating func rescaled(_ number: FixedNumber, to scale: Double) throws(FixedRefusal) -> FixedNumber {
        var ratio = number.scale / scale
        let size = f.magnitude(number.node)
        guard f.fits(number.node), Double(size) * ratio <= Double(FixedProgram.range.upperBound) else {
            throw FixedRefusal("sums need more than 16 bits")
        }
        if let exact = wholeRatio(ratio) {
            let error = number.error + Swift.abs(ratio - Double(exact)) * Double(size) * scale
            return FixedNumber(node: f.mulLow(number.node, by: exact), scale: scale, error: error)
        }
        if let shift = (1...14).first(where: { Swift.abs(ratio * pow2($0) - 1) < 1e-7 }) {
            let half = f.add(number.node, f.constant(1 << (shift - 1)))
            guard f.fits(half) else { throw FixedRefusal("sums need more than 16 bits") }
            return FixedNumber(node: f.shiftRight(half, shift), scale: scale, error: number.error + 0.5 * scale)
        }
        // Below 1 by one product; above 1 by a product of the value times a power of two where that fits, else by a
        // whole multiple and a product.
        var node = number.node
        var whole = 0
        var shift = 0
        while ratio * pow2(-shift) >= 1, size << (shift + 1) <= FixedProgram.range.upperBound { shift += 1 }
        if ratio * pow2(-shift) >= 1 {
            shift = 0
            whole = Int(ratio)
            ratio -= Double(whole)
        }
        let factor = Swift.min(32767, (ratio * pow2(15 - shift)).rounded())
        node = f.mulRound(f.shiftLeft(node, shift), f.constant(Int(factor)))
        if whole > 0 { node = f.add(node, f.mulLow(number.node, by: whole)) }
        let factorError = Swift.abs(factor * pow2(shift - 15) - ratio) * Double(size) * scale
        return FixedNumber(node: node, scale: scale, error: number.error + factorError + 0.5 * scale)
    }

    private func wholeRatio(_ ratio: Double) -> Int? {
        let rounded = ratio.rounded()
        guard rounded >= 1, rounded <= 16384, Swift.abs(ratio - rounded) < 1e-6 * rounded else { return nil }
        return Int(rounded)
    }

    /// Two values in the same units.
    mutating func aligned(
        _ a: S, _ b: S
    ) throws(FixedRefusal) -> (a: Int, b: Int, scale: Double, error: Double) {
        let (x, y) = (try linear(a), try linear(b))
        if y.isConstant, !x.isConstant {
            let pair = try aligned(number(of: x, bounds: p.bounds[a.index]), to: y.constant)
            return (pair.0, pair.1, pair.2, pair.3)
        }
        if x.isConstant, !y.isConstant {
            let pair = try aligned(number(of: y, bounds: p.bounds[b.index]), to: x.constant)
            return (pair.1, pair.0, pair.2, pair.3)
        }
        var m = try number(of: x, bounds: p.bounds[a.index])
        var n = try number(of: y, bounds: p.bounds[b.index])
        if Swift.abs(m.scale / n.scale - 1) > 1e-7 {
            let fine = Swift.min(m.scale, n.scale)
            let size = Swift.max(Double(f.magnitude(m.node)) * m.scale, Double(f.magnitude(n.node)) * n.scale)
            let scale =
                size / fine <= Double(FixedProgram.range.upperBound) ? fine : Swift.max(m.scale, n.scale)
            m = try rescaled(m, to: scale)
            n = try rescaled(n, to: scale)
        }
        return (m.node, n.node, m.scale, Swift.max(m.error, n.error))
    }

    /// A number and a constant in the same units; finer ones than the number's own where the constant needs them.
    private mutating func aligned(
        _ number: FixedNumber, to constant: Double
    ) throws(FixedRefusal) -> (Int, Int, Double, Double) {
        let size = Swift.max(Double(f.magnitude(number.node)), Swift.abs(constant) / number.scale)
        // A constant that no value reaches needs no number of its own.
        guard size < 1e9 else { throw FixedRefusal("a bound is too large for 16 bits") }
        func remainder(_ shift: Int) -> Double {
            let scaled = constant / number.scale * pow2(shift)
            return Swift.abs(scaled - scaled.rounded())
        }
        var room = 0
        while size * pow2(room + 1) <= Double(FixedProgram.range.upperBound), room < 8 { room += 1 }
        let shift = (0...room).first { remainder($0) < 1e-4 } ?? room
        let scale = number.scale * pow2(-shift)
        let whole = (constant / scale).rounded()
        guard Swift.abs(whole) <= Double(FixedProgram.range.upperBound) else {
            throw FixedRefusal("a bound is too large for 16 bits")
        }
        return (
            f.shiftLeft(number.node, shift), f.constant(Int(whole)), scale,
            number.error + remainder(shift) * scale
        )
    }

    // MARK: Masks

    mutating func mask(_ s: S) throws(FixedRefusal) -> Int {
        if let known = masks[s.index] { return known }
        if let refusal = refusals[s.index] { throw refusal }
        guard p.rate(s) == .frame, p.kind(s) == .bool else { throw FixedRefusal("it computes with whole numbers") }
        return f.frameFlag(s)
    }

    /// a < b and so on, of exact integers.
    mutating func comparison(
        _ operation: ScalarProgram.Operation, _ a: S, _ b: S
    ) throws(FixedRefusal) -> Int {
        let difference = try difference(a, b)
        let isDecidedByRounding = FixedRefusal("a comparison that rounding would decide")
        guard difference.frame == nil, difference.overAlpha == nil, difference.error < 1e-9, !difference.terms.isEmpty,
            let (unit, multiples) = FixedLinear.wholeMultiples(difference.terms.map(\.factor))
        else { throw isDecidedByRounding }
        let sum = weightedSum(zip(difference.terms, multiples).map { ($0.atom, $1) })
        guard f.fits(sum) else { throw FixedRefusal("sums need more than 16 bits") }
        // sum < threshold
        let threshold = -difference.constant / unit
        let isWhole = Swift.abs(threshold - threshold.rounded()) < 1e-3
        // Equal codes are equal floats only where both were made of their codes in the same way.
        guard !isWhole || difference.constant == 0 && p.isAlike(a, b) else { throw isDecidedByRounding }
        guard Swift.abs(threshold) < 32000 else { throw FixedRefusal("a comparison beyond 16 bits") }
        if operation == .equal {
            return isWhole ? f.equal(sum, f.constant(0)) : f.less(f.constant(0), f.constant(0))
        }
        if isWhole, operation == .lessEqual { return f.less(sum, f.constant(1)) }
        return f.less(sum, f.constant(Int(threshold.rounded(.up))))
    }
}
