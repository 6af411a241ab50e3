/// Sums of pixels' values times what is the same for a frame, brought together: brightness after contrast after saturation is
/// one matrix, whose numbers are computed once a frame.
///
/// A value is linear when it is a sum, a difference, or a product with a value of the frame. Everything else (a clamp, a
/// product of two pixels' values, a read) is an atom, of which linear values are sums. What an atom or the result needs is
/// computed from atoms directly, where that takes fewer operations than the way it was written.
///
/// Exactness: each factor is rounded as the frame's values are, and sums may be taken in another order, so that a result
/// differs by some ulp of the largest number on the way. What must stay as it is written, such as a function's range
/// reduction, is `rigid`.
///
/// On the way out, clamps of 8-bit codes go where the machine's own narrowing clamps (`PassEmitter.narrowed`).
struct AffineFolding {
    /// How much is brought together.
    private enum Extent: CaseIterable { case nothing, unshared, everything }

    /// Σ factor · atom + constant; factors and constant are of the frame.
    private struct Form {
        var terms: [(atom: S, factor: S)]
        var constant: S
    }

    private let old: ScalarProgram
    private let extent: Extent
    private var new: ScalarProgram
    private var values: [S?]
    private var forms: [Int: Form] = [:]
    /// Linear values that are computed, and those that others take as they are.
    private var isNeeded: Set<Int> = []
    private var isAtom: Set<Int> = []
    private static let mostTerms = 6

    /// The same pass with fewer operations.
    /// - Parameter narrows: codes are clamped by being stored.
    static func fold(_ program: ScalarProgram, _ roots: PassRoots, narrows: Bool) -> (ScalarProgram, PassRoots) {
        guard !program.hasLoops else { return (program, roots) }
        let candidates = Extent.allCases.map { extent in
            var folding = AffineFolding(program, extent)
            let roots = folding.fold(roots, narrows: narrows)
            return (program: folding.new, roots: roots, cost: folding.new.cost(roots))
        }
        let best = candidates.min { $0.cost < $1.cost }!
        return (best.program, best.roots)
    }

    private init(_ program: ScalarProgram, _ extent: Extent) {
        old = program
        self.extent = extent
        new = program.empty
        values = [S?](repeating: nil, count: program.nodes.count)
    }

    private mutating func fold(_ roots: PassRoots, narrows: Bool) -> PassRoots {
        switch roots {
        case .packed(let codes): return .packed(fold(codes, besides: [], narrows: narrows))
        case .planes(let values): return .planes(fold(values, besides: [], narrows: narrows))
        case .subsampled(let luma, var chroma):
            let codes = fold([luma], besides: chroma.values, narrows: narrows)
            if narrows, chroma.values.allSatisfy({ fitsWithoutClamp(old.bounds[$0.index]) }) {
                chroma.needsClamp = false
            }
            chroma.values = chroma.values.map { values[$0.index]! }
            return .subsampled(luma: codes[0], chroma: chroma)
        case .conversion, .fixed: return roots
        }
    }

    private mutating func fold(_ codes: [S], besides others: [S], narrows: Bool) -> [S] {
        let sums = codes.map { narrows ? unclamped($0) : nil }
        let needed = others + zip(codes, sums).filter { $1 == nil }.map(\.0)
        build(
            old.live(needed + sums.compactMap { $0 }.flatMap { [$0.value, $0.rounding].compactMap { $0 } }),
            needed: needed)
        return zip(codes, sums).map { code, unclamped in
            guard let unclamped else { return values[code.index]! }
            let scale = new.float(unclamped.scale)
            var sum = scaled(form(unclamped.value), scale)
            if let rounding = unclamped.rounding { sum = added(sum, form(rounding)) }
            return new.toIntUnchecked(computed(sum))
        }
    }

    private mutating func build(_ live: [Int], needed: [S]) {
        findNeeded(live, needed)
        for index in live { add(index) }
    }

    // MARK: Which values are linear

    private func isLinear(_ index: Int) -> Bool {
        let s = S(index: index)
        guard extent != .nothing, old.kind(s) == .float, old.rate(s) != .frame, !old.rigid.contains(s) else {
            return false
        }
        let a = old.nodes[index].arguments
        switch old.operation(s) {
        case .add, .sub, .neg: return true
        case .mul, .fma: return old.rate(a[0]) == .frame || old.rate(a[1]) == .frame
        default: return false
        }
    }

    private mutating func findNeeded(_ live: [Int], _ roots: [S]) {
        isNeeded = Set(roots.map(\.index))
        var linearUsers = [Int](repeating: 0, count: old.nodes.count)
        for index in live {
            let isLinear = isLinear(index)
            for argument in old.nodes[index].arguments {
                if isLinear { linearUsers[argument.index] += 1 } else { isNeeded.insert(argument.index) }
            }
        }
        guard extent == .unshared else { return }
        isAtom = isNeeded.union(live.filter { linearUsers[$0] > 1 && summands($0) > 1 })
        isNeeded = isAtom
    }

    private func summands(_ index: Int) -> Int {
        switch old.nodes[index].operation {
        case .add, .sub, .fma: old.nodes[index].arguments.count { old.rate($0) != .frame }
        default: 1
        }
    }

    // MARK: The new program

    private mutating func add(_ index: Int) {
        guard isLinear(index) else {
            values[index] = made(index)
            return
        }
        let sum = sum(index)
        let isLong = sum.terms.count > Self.mostTerms
        if isNeeded.contains(index) || isLong { values[index] = computed(sum, like: index) }
        if !isAtom.contains(index), !isLong { forms[index] = sum }
    }

    /// The same operation on the new values.
    private mutating func made(_ index: Int) -> S {
        let node = old.nodes[index]
        let arguments = node.arguments.map { values[$0.index]! }
        if node.operation == .toInt { return new.toIntUnchecked(arguments[0]) }
        let s = new.make(node.operation, node.kind, arguments)
        let bounds = old.bounds[index]
        new.annotate(s, low: bounds.low, high: bounds.high, mayBeNaN: bounds.mayBeNaN)
        if old.rigid.contains(S(index: index)) { new.rigidly { _ = $0.make(node.operation, node.kind, arguments) } }
        return s
    }

    private mutating func form(_ s: S) -> Form {
        if let form = forms[s.index] { return form }
        let value = values[s.index]!
        if new.rate(value) == .frame { return Form(terms: [], constant: value) }
        return Form(terms: [(value, new.float(Float(1)))], constant: new.float(Float(0)))
    }

    private mutating func sum(_ index: Int) -> Form {
        let a = old.nodes[index].arguments
        switch old.nodes[index].operation {
        case .add: return added(form(a[0]), form(a[1]))
        case .sub: return added(form(a[0]), scaled(form(a[1]), new.float(Float(-1))))
        case .neg: return scaled(form(a[0]), new.float(Float(-1)))
        case .mul: return product(a[0], a[1])
        default: return added(product(a[0], a[1]), form(a[2]))
        }
    }

    private mutating func product(_ a: S, _ b: S) -> Form {
        old.rate(a) == .frame ? scaled(form(b), values[a.index]!) : scaled(form(a), values[b.index]!)
    }

    private mutating func scaled(_ form: Form, _ factor: S) -> Form {
        Form(
            terms: form.terms.map { ($0.atom, new.mul($0.factor, factor)) }, constant: new.mul(form.constant, factor))
    }

    private mutating func added(_ a: Form, _ b: Form) -> Form {
        var sum = a
        for term in b.terms {
            if let known = sum.terms.firstIndex(where: { $0.atom == term.atom }) {
                sum.terms[known].factor = new.add(sum.terms[known].factor, term.factor)
            } else {
                sum.terms.append(term)
            }
        }
        sum.constant = new.add(a.constant, b.constant)
        return sum
    }

    /// - Parameter index: the value that this is; its bounds hold.
    private mutating func computed(_ form: Form, like index: Int) -> S {
        let s = computed(form)
        let bounds = old.bounds[index]
        if new.rate(s) != .frame, new.operation(s) == .fma || new.operation(s) == .mul || new.operation(s) == .add {
            new.annotate(s, low: bounds.low, high: bounds.high, mayBeNaN: bounds.mayBeNaN)
        }
        return s
    }

    private mutating func computed(_ form: Form) -> S {
        // What other sums have too comes first, so that they share it: later atoms are computed for more of them.
        let terms = form.terms.sorted {
            let (a, b) = (new.rate($0.atom), new.rate($1.atom))
            return a == b ? $0.atom.index > $1.atom.index : a < b
        }
        var sum = form.constant
        for term in terms {
            if new.floatValue(term.factor) == 1 {
                sum = new.add(term.atom, sum)
            } else if new.floatValue(term.factor) == -1 {
                sum = new.floatValue(sum) == 0 ? new.neg(term.atom) : new.sub(sum, term.atom)
            } else if new.floatValue(sum) == 0 {
                sum = new.mul(term.atom, term.factor)
            } else {
                sum = new.fma(term.atom, term.factor, sum)
            }
        }
        return sum
    }

    // MARK: Codes

    /// What a code is but for its clamp: value · scale + rounding of ⌊clamp(value, 0, 1) · 255 + rounding⌋ or
    /// ⌊clamp(value, 0, 255)⌋.
    private struct Unclamped {
        var value: S
        var scale: Float
        var rounding: S?
    }

    /// Nil where a code has no clamp, or might not fit 32 bits without it.
    private func unclamped(_ code: S) -> Unclamped? {
        guard old.operation(code) == .toInt else { return nil }
        let argument = old.nodes[code.index].arguments[0]
        let node = old.nodes[argument.index]
        if node.operation == .fma, old.floatValue(node.arguments[1]) == 255 {
            let value = withoutClamp(node.arguments[0], to: 1)
            guard fitsWithoutClamp(old.bounds[value.index]) else { return nil }
            return Unclamped(value: value, scale: 255, rounding: node.arguments[2])
        }
        let value = withoutClamp(argument, to: 255)
        guard value != argument, fitsWithoutClamp(old.bounds[value.index]) else { return nil }
        return Unclamped(value: value, scale: 1, rounding: nil)
    }

    /// x of min(max(x, 0), highest), or of one of them.
    private func withoutClamp(_ s: S, to highest: Float) -> S {
        var s = s
        for (operation, limit) in [(ScalarProgram.Operation.min, highest), (.max, 0)] {
            let node = old.nodes[s.index]
            if node.operation == operation, old.floatValue(node.arguments[1]) == limit { s = node.arguments[0] }
        }
        return s
    }

    /// 255 times as much fits 32 bits.
    private func fitsWithoutClamp(_ bounds: Bounds) -> Bool {
        bounds.low > -4e6 && bounds.high < 4e6 && !bounds.mayBeNaN
    }
}

extension PassRoots {
    /// Values that the emitter needs.
    var values: [S] {
        switch self {
        case .packed(let values), .planes(let values): values
        case .subsampled(let luma, let chroma): [luma] + chroma.values
        case .conversion: []
        case .fixed(let fixed): fixed.frameValues
        }
    }
}

extension ScalarProgram {
    /// Operations on pixels, but for products that fuse with the sum that they are for.
    fileprivate func cost(_ roots: PassRoots) -> Int {
        let live = live(roots.values)
        var uses = [Int](repeating: 0, count: nodes.count)
        var user = uses
        for index in live {
            for argument in nodes[index].arguments {
                uses[argument.index] += 1
                user[argument.index] = index
            }
        }
        return live.count { index in
            guard rates[index] == .pixel else { return false }
            guard nodes[index].operation == .mul, uses[index] == 1 else { return true }
            return nodes[user[index]].operation != .add && nodes[user[index]].operation != .sub
        }
    }
}
