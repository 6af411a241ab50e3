import PatchMedia

/// What the emitter stores of a pass in integers.
struct FixedRoots {
    var program: FixedProgram
    /// 8-bit codes, in 0…255: four of a packed pixel in memory order, or one for each plane; luma alone where chroma is
    /// subsampled.
    var codes: [Int]
    var chroma: FixedChroma?
    /// At most so many codes off before rounding.
    var bound: Double
    /// Ints and bools of the frame that the program uses.
    var frameValues: [S]
}

/// Values that are summed over the pixels of a chroma sample, and what Cb and Cr are made of them.
struct FixedChroma {
    var values: [Int]
    /// Factors of the sums, in units of 1/32768 for a result of `bits` bits below a code.
    var cb: [Int]
    var cr: [Int]
    /// What is added before the result is cut, half a code included.
    var bias: Int
    var bits: Int
    var needsClamp: Bool
}

extension FixedLowering {
    /// Codes may be so far off before they are rounded; then they are at most one off those of floats.
    static let errorLimit = 0.75

    /// The integer form of a lowered pass, or why there is none. `p` gains the ints of the frame.
    static func roots(
        of roots: PassRoots, _ p: inout ScalarProgram, _ description: PassDescription
    ) -> Result<FixedRoots, FixedRefusal> {
        let codes: [S]
        var chroma: ChromaRoot?
        switch roots {
        case .packed(let values): codes = values
        case .planes(let values): codes = values
        case .subsampled(let luma, let root): (codes, chroma) = ([luma], root)
        case .conversion, .fixed: return .failure(FixedRefusal("not a kernel"))
        }
        if let refusal = refusal(description) { return .failure(refusal) }
        let live = p.live(codes + (chroma?.values ?? []))
        guard live.count <= valueLimit else { return .failure(FixedRefusal("it computes \(live.count) values")) }
        var refusal = FixedRefusal("it would be more than one code off")
        // Fewer bits below a code cost fewer operations.
        for fraction in [0, 1, 2, 4, 6] {
            var lowering = FixedLowering(p, description, fraction: fraction)
            do throws(FixedRefusal) {
                lowering.convert(live)
                var result = FixedRoots(program: FixedProgram(), codes: [], bound: 0, frameValues: [])
                if let chroma {
                    let (fixed, error) = try lowering.chroma(chroma, description.output)
                    result.chroma = fixed
                    result.bound = error
                }
                for code in codes {
                    let (node, error) = try lowering.code(code)
                    result.codes.append(node)
                    result.bound = Swift.max(result.bound, error)
                }
                result.bound += 0.002
                guard result.bound <= errorLimit else { continue }
                result.program = lowering.f
                result.frameValues = lowering.f.frameValues(of: result.codes + (result.chroma?.values ?? []))
                p = lowering.p
                return .success(result)
            } catch {
                refusal = error
                // More bits need more room.
                if fraction > 0 || error.reason != "sums need more than 16 bits" { break }
            }
        }
        return .failure(refusal)
    }

    private static func refusal(_ description: PassDescription) -> FixedRefusal? {
        let output = description.output
        if output.format.bitDepth != 8 { return FixedRefusal("it writes more than 8 bits") }
        if output.dither { return FixedRefusal("it dithers") }
        for input in description.inputs where input.format.bitDepth != 8 {
            return FixedRefusal("it reads more than 8 bits")
        }
        return nil
    }

    /// One code of the result, 0…255, and how far it may be off before rounding.
    private mutating func code(_ root: S) throws(FixedRefusal) -> (node: Int, error: Double) {
        let (node, error) = try unclamped(root)
        guard f.fits(node) else { throw FixedRefusal("sums need more than 16 bits") }
        return (f.min(f.max(node, f.constant(0)), f.constant(255)), error)
    }

    private mutating func unclamped(_ root: S) throws(FixedRefusal) -> (node: Int, error: Double) {
        switch p.operation(root) {
        case .load(let load): return (f.load(load), 0)
        case .int(let value): return (f.constant(Int(value)), 0)
        case .toInt: break
        default: throw FixedRefusal("it computes with whole numbers")
        }
        let argument = p.nodes[root.index].arguments[0]
        // ⌊a⌋: what is rounded has its half added already.
        var a = try linear(argument)
        if a.overAlpha != nil { throw FixedRefusal("it computes a quotient") }
        let bounds = p.bounds[argument.index]
        for term in a.terms where !f.fits(term.atom) { throw FixedRefusal("sums need more than 16 bits") }
        let whole = a.terms.map { $0.factor.rounded() }
        if zip(a.terms, whole).allSatisfy({ Swift.abs($0.factor - $1) < 2e-6 && $1 != 0 && Swift.abs($1) < 256 }) {
            var node = weightedSum(zip(a.terms, whole).map { ($0.atom, Int($1)) })
            if let frame = a.frame {
                let rest = a.constant == 0 ? frame : p.add(frame, p.float(a.constant))
                node = f.add(node, try quantized(rest, scale: 1, down: true))
            } else {
                guard Swift.abs(a.constant) < 32000 else { throw FixedRefusal("sums need more than 16 bits") }
                node = f.add(node, f.constant(Int((a.constant + 1e-4).rounded(.down))))
            }
            narrow(node, bounds, a.error)
            return (node, a.error)
        }
        let half = a.constant - a.constant.rounded(.down)
        if a.frame == nil, Swift.abs(half - 0.5) < 1e-4, Swift.abs(a.constant) < 32000 {
            let groups = groups(a)
            if groups.count == 1 {
                // Rounding the product is what the half is for.
                let number = try rescaled(groups[0], to: 1)
                let node = f.add(number.node, f.constant(Int(a.constant.rounded(.down))))
                narrow(node, bounds, number.error)
                return (node, number.error - 0.5)
            }
        }
        // Down to a power of two below a code, then cut.
        a.constant += 1e-6
        let number = try number(of: a, bounds: bounds, base: 1)
        let shift = -Int(number.scale.exponent)
        guard number.scale == pow2(-shift), shift >= 0 else {
            let finer = try rescaled(number, to: pow2(-Swift.max(0, Swift.min(6, shift))))
            return (f.shiftRight(finer.node, Swift.max(0, Swift.min(6, shift))), finer.error)
        }
        return (f.shiftRight(number.node, shift), number.error)
    }

    /// What is summed over a chroma sample's pixels, in common units, as fine as sums of up to eight leave room for.
    private mutating func chroma(
        _ root: ChromaRoot, _ output: PassOutput
    ) throws(FixedRefusal) -> (FixedChroma, error: Double) {
        let sum = output.chromaSum
        var numbers: [FixedNumber] = []
        for value in root.values { numbers.append(try number(of: linear(value), bounds: p.bounds[value.index])) }
        func size(_ n: FixedNumber) -> Double { Double(f.magnitude(n.node)) * n.scale }
        let room = Double(FixedProgram.range.upperBound / sum)
        var scale = Self.unit
        if let first = numbers.first, numbers.allSatisfy({ Swift.abs($0.scale / first.scale - 1) < 1e-9 }) {
            scale = first.scale
        }
        let largest = numbers.map(size).max() ?? 0
        while largest / scale > room { scale *= 2 }
        while largest / scale * 2 <= room, scale > Self.unit / 1024 { scale /= 2 }
        for index in numbers.indices { numbers[index] = try rescaled(numbers[index], to: scale) }
        // A result in 0…256 with six bits below.
        let bits = 6
        let unit = scale / Double(sum) * pow2(15 + bits)
        func factors(_ weights: [Float]) throws(FixedRefusal) -> [Int] {
            let factors = weights.map { (Double($0) * unit).rounded() }
            guard factors.allSatisfy({ Swift.abs($0) <= 32767 }) else {
                throw FixedRefusal("chroma needs more than 16 bits")
            }
            return factors.map { Int($0) }
        }
        let fixed = FixedChroma(
            values: numbers.map(\.node), cb: try factors(root.cb), cr: try factors(root.cr),
            bias: Int(((Double(root.bias) + 0.5) * pow2(bits)).rounded()), bits: bits, needsClamp: true)
        var error = 0.0
        for (weights, factors) in [(root.cb, fixed.cb), (root.cr, fixed.cr)] {
            var sumOfErrors = 0.0
            var reach = 0.0
            for (index, number) in numbers.enumerated() where factors[index] != 0 {
                sumOfErrors += Swift.abs(Double(weights[index])) * number.error
                sumOfErrors += Swift.abs(Double(factors[index]) / unit - Double(weights[index])) * size(number)
                sumOfErrors += 0.5 * pow2(-bits)
                reach += Swift.abs(Double(weights[index])) * size(number)
            }
            // Products of one sign only add up; those of R, G and B come to no more than the code's own range.
            let isBalanced = Swift.abs(weights.reduce(0, +)) < 1e-3
            let range = (isBalanced ? reach / 2 : reach) + Double(root.bias) + 1
            guard range * pow2(bits) < 32000 else { throw FixedRefusal("chroma needs more than 16 bits") }
            error = Swift.max(error, sumOfErrors)
        }
        return (fixed, error)
    }

    private mutating func narrow(_ node: Int, _ bounds: Bounds, _ error: Double) {
        guard !bounds.mayBeNaN, bounds.low > -1e6, bounds.high < 1e6, f.constantValue(node) == nil else { return }
        f.narrow(
            node, Int((Double(bounds.low) - error - 0.01).rounded(.down)),
            Int((Double(bounds.high) + error + 0.01).rounded(.down)))
    }
}

extension ScalarProgram {
    /// The values that some depend on, and these, in order.
    func live(_ roots: [S]) -> [Int] {
        var isLive = [Bool](repeating: false, count: nodes.count)
        for root in roots { isLive[root.index] = true }
        for index in nodes.indices.reversed() where isLive[index] {
            for argument in nodes[index].arguments { isLive[argument.index] = true }
        }
        return nodes.indices.filter { isLive[$0] }
    }
}

extension FixedProgram {
    /// The values that some depend on, and these, in order.
    func live(_ roots: [Int]) -> [Int] {
        var isLive = [Bool](repeating: false, count: nodes.count)
        for root in roots { isLive[root] = true }
        for index in nodes.indices.reversed() where isLive[index] {
            for argument in nodes[index].arguments { isLive[argument] = true }
        }
        return nodes.indices.filter { isLive[$0] }
    }

    func frameValues(of roots: [Int]) -> [S] {
        live(roots).compactMap { index in
            switch nodes[index].operation {
            case .frame(let s), .frameFlag(let s): s
            default: nil
            }
        }
    }
}
