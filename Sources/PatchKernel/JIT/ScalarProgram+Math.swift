/// GLSL's transcendental functions as polynomials. Coefficients are minimax fits (Remez) of our own; the error bounds
/// are measured by the tests over each function's domain and stated in docs/decisions.
extension ScalarProgram {
    mutating func polynomial(_ x: S, _ coefficients: [Float]) -> S {
        var sum = float(coefficients[coefficients.count - 1])
        for coefficient in coefficients.dropLast().reversed() {
            let c = float(coefficient)
            sum = fma(sum, x, c)
        }
        return sum
    }

    /// 1.5 · 2²³: adding it rounds a float below 2²² to an integer, which then stands in the low mantissa bits.
    private static let rounder: Float = 12_582_912

    /// 2^x. Results below 2^−126 are between 0 and 2^−126; above 2^127 they are infinite or near 2^128.
    mutating func exp2(_ x: S) -> S { rigidly { $0.makeExp2(x) } }

    private mutating func makeExp2(_ x: S) -> S {
        if let value = floatValue(x) { return float(Float(exp2Double(Double(value)))) }
        let coefficients: [Float] =
            isCoarse
            ? [0.999_999_28, 0.693_121_8, 0.240_247_44, 0.055_917_86, 0.009_570_102]
            : [1, 0.693_147_18, 0.240_226_46, 0.055_503_286, 0.009_618_489, 0.001_339_993_1, 0.000_153_458_12]
        let result: S
        if hasScaling {
            let whole = unary(.roundEven, x)
            let mantissa = polynomial(sub(x, whole), coefficients)
            result = make(.scale, .float, [mantissa, whole])
        } else {
            let clamped = clamp(x, -126, 127.99)
            let magic = float(Self.rounder)
            let shifted = add(clamped, magic)
            let mantissa = polynomial(sub(clamped, sub(shifted, magic)), coefficients)
            let exponent = intBinary(.shiftLeft, floatBits(shifted), 23)
            result = bitsFloat(intBinary(.intAdd, floatBits(mantissa), exponent))
        }
        annotate(result, low: 0, high: .infinity, mayBeNaN: hasScaling && bounds[x.index].mayBeNaN)
        return result
    }

    /// Base-2 logarithm; what is not above 2^−126 gives −126.
    mutating func log2(_ x: S) -> S { rigidly { $0.makeLog2(x) } }

    private mutating func makeLog2(_ x: S) -> S {
        if let value = floatValue(x) {
            return float(Float(log2Double(Double(value > 0x1p-126 ? value : 0x1p-126))))
        }
        let smallest = float(Float(0x1p-126))
        if let near = narrowLog2(x) { return near }
        let positive = max(x, smallest)
        let bits = floatBits(positive)
        let result = isCoarse ? coarseLog2(bits) : fineLog2(bits)
        annotate(result, low: -126, high: 128)
        return result
    }

    /// From the bits of a positive number, as a float: exponent plus mantissa minus one, which is log2 but for a bulge
    /// of at most 0.09 that a polynomial adds. Off by 6.4 · 10⁻⁶ at most, most of it the rounding of the bits.
    private mutating func coarseLog2(_ bits: S) -> S {
        let unit = float(Float(0x1p-23))
        let bias = float(Float(-127))
        let linear = fma(toFloat(bits), unit, bias)
        let mantissaBits = intBinary(.intOr, intBinary(.intAnd, bits, 0x7f_ffff), 0x3f80_0000)
        let one = float(Float(1))
        let f = sub(bitsFloat(mantissaBits), one)
        // f² − f: the bulge vanishes where the mantissa begins and ends.
        let g = fma(f, f, neg(f))
        let p = polynomial(f, [-0.442_544_94, 0.275_600_31, -0.181_948_89, 0.095_956_46, -0.025_841_45])
        return fma(g, p, linear)
    }

    /// Relative error 2.6 · 10⁻⁸ before rounding, also near 1.
    private mutating func fineLog2(_ bits: S) -> S {
        // The exponent such that the mantissa lies in √½…√2, so that results near 1 keep their relative precision.
        let exponent = intBinary(.shiftRight, intBinary(.intSub, bits, 0x3f35_04f3), 23)
        let mantissaBits = intBinary(.intSub, bits, intBinary(.shiftLeft, exponent, 23))
        let one = float(Float(1))
        let f = sub(bitsFloat(mantissaBits), one)
        let p = polynomial(
            f,
            [
                1.442_695, -0.721_347_33, 0.480_910_63, -0.360_703_68, 0.287_916_24, -0.238_944_81, 0.215_715_62,
                -0.207_269_76, 0.125_837_06,
            ])
        return fma(f, p, toFloat(exponent))
    }

    mutating func exp(_ x: S) -> S {
        let log2e = float(Float(1.442_695_040_888_963_4))
        return exp2(mul(x, log2e))
    }

    mutating func log(_ x: S) -> S {
        let ln2 = float(Float(0.693_147_180_559_945_3))
        return mul(log2(x), ln2)
    }

    mutating func pow(_ x: S, _ y: S) -> S {
        switch floatValue(y) {
        case 1?:
            let zero = float(Float(0))
            return max(x, zero)
        case 2?:
            let zero = float(Float(0))
            let positive = max(x, zero)
            return mul(positive, positive)
        case 0.5?: return positiveSqrt(x)
        default: break
        }
        let result = rigidly { $0.uniformPower(x, y) ?? $0.generalPower(x, y) }
        let (base, exponent) = (bounds[x.index], bounds[y.index])
        if rate(result) == .pixel, !exponent.mayBeNaN, exponent.low >= 0, exponent.high < 100, base.high < 100 {
            let highest = exp2Double(Double(exponent.high) * log2Double(Double(Swift.max(base.high, 1))))
            if highest < 1e30 { annotate(result, low: 0, high: Float(highest)) }
        }
        return result
    }

    /// By way of the logarithm.
    mutating func generalPower(_ x: S, _ y: S) -> S {
        let zero = float(Float(0))
        let one = float(Float(1))
        let product = mul(log2(x), y)
        let power = exp2(product)
        let atZero = select(compare(.equal, y, zero), one, zero)
        return select(compare(.lessThan, zero, x), power, atZero)
    }

    mutating func positiveSqrt(_ x: S) -> S {
        let zero = float(Float(0))
        return sqrt(max(x, zero))
    }

    mutating func estimatedSqrt(_ x: S) -> S {
        // The root of k · a² is √k · |a|.
        let (square, factor) = constantFactor(x) ?? (x, 1)
        if operation(square) == .mul, factor > 0, Set(nodes[square.index].arguments).count == 1 {
            return mul(abs(nodes[square.index].arguments[0]), float(factor.squareRoot()))
        }
        let least = float(Float(1e-30))
        if bounds[x.index].low >= 1e-30 { return unary(.rootEstimate, x) }
        return unary(.rootEstimate, rigidly { $0.squares(x, plus: least) } ?? max(x, least))
    }

    /// A sum of squares and one more number, which takes no operation of its own; nil for what is no sum of squares.
    private mutating func squares(_ x: S, plus number: S) -> S? {
        let node = nodes[x.index]
        guard node.arguments.count >= 2, node.arguments[0] == node.arguments[1] else { return nil }
        switch node.operation {
        case .mul: return fma(node.arguments[0], node.arguments[0], number)
        case .fma:
            guard let rest = squares(node.arguments[2], plus: number) else { return nil }
            return fma(node.arguments[0], node.arguments[0], rest)
        default: return nil
        }
    }

    /// √x by an estimate of 1/√x and one step of Newton's, within 3 · 10⁻⁷ of it, where that serves; 10⁻¹⁵ for 0. A root keeps
    /// its unit of the processor busy for as long as twenty other operations take. What is left for Newton's step is 2⁻¹¹ of the
    /// number or much less: of the smallest ones it would be no normal float, which an Intel takes 150 cycles for.
    mutating func estimatedRoot(_ x: S) -> S? {
        let known = bounds[x.index]
        guard isCoarse, hasRootEstimate, rate(x) == .pixel, known.low >= 0, known.high < 1e30, !known.mayBeNaN else {
            return nil
        }
        return rigidly { p in
            let (smallest, half) = (p.float(Float(0x1p-100)), p.float(Float(0.5)))
            let positive = p.max(x, smallest)
            let estimate = p.make(.inverseRootEstimate, .float, [positive])
            let root = p.mul(positive, estimate)
            let rest = p.fma(p.neg(root), root, positive)
            let result = p.fma(rest, p.mul(estimate, half), root)
            p.annotate(result, low: 0, high: known.high.squareRoot())
            return result
        }
    }

    /// Sine and cosine; exact range reduction up to |x| about 10⁵.
    mutating func sinCos(_ x: S) -> (sin: S, cos: S) { rigidly { $0.makeSinCos(x) } }

    private mutating func makeSinCos(_ x: S) -> (sin: S, cos: S) {
        let twoOverPi = float(Float(0.636_619_772_367_581_3))
        let magic = float(Self.rounder)
        let limited = clamp(x, -1e6, 1e6)
        let shifted = add(mul(limited, twoOverPi), magic)
        let quadrant = floatBits(shifted)
        let n = neg(sub(shifted, magic))
        // π/2 in three parts, the first two short enough that their products with n are exact.
        var r = limited
        for part in [Float(1.570_312_5), Float(4.837_512_969_970_703e-4), Float(7.549_789_948_768_648e-8)] {
            let p = float(part)
            r = fma(n, p, r)
        }
        let r2 = mul(r, r)
        let sine = fma(mul(r, r2), polynomial(r2, [-0.166_666_64, 0.008_332_749, -0.000_195_879_95]), r)
        let one = float(Float(1))
        let minusHalf = float(Float(-0.5))
        let cosine = fma(
            mul(r2, r2), polynomial(r2, [0.041_666_668, -0.001_388_930_95, 0.000_024_808_523]),
            fma(r2, minusHalf, one))
        let isOdd = toBool(intBinary(.intAnd, quadrant, 1))
        let sinSign = intBinary(.shiftLeft, intBinary(.intAnd, quadrant, 2), 30)
        let cosSign = intBinary(.shiftLeft, intBinary(.intAnd, intBinary(.intAdd, quadrant, 1), 2), 30)
        let sinBits = floatBits(select(isOdd, cosine, sine))
        let cosBits = floatBits(select(isOdd, sine, cosine))
        let results = (
            sin: bitsFloat(intBinary(.intXor, sinBits, sinSign)), cos: bitsFloat(intBinary(.intXor, cosBits, cosSign))
        )
        annotate(results.sin, low: -1.000_001, high: 1.000_001)
        annotate(results.cos, low: -1.000_001, high: 1.000_001)
        return results
    }

    /// Angle of (x, y) in −π…π; 0 at the origin.
    mutating func atan2(_ y: S, _ x: S) -> S { rigidly { $0.makeAtan2(y, x) } }

    private mutating func makeAtan2(_ y: S, _ x: S) -> S {
        let (ax, ay) = (abs(x), abs(y))
        let small = min(ax, ay)
        let large = max(ax, ay)
        let zero = float(Float(0))
        let tiny = float(Float(0x1p-126))
        let ratio = make(.div, .float, [small, max(large, tiny)])
        let r2 = mul(ratio, ratio)
        let p = polynomial(
            r2,
            [
                -0.333_331_67, 0.199_941_37, -0.142_142_09, 0.106_789_403, -0.075_805_783, 0.043_553_542,
                -0.016_581_185, 0.002_974_590_8,
            ])
        var angle = fma(mul(ratio, r2), p, ratio)
        let halfPi = float(Float.pi / 2)
        angle = select(compare(.lessThan, ax, ay), sub(halfPi, angle), angle)
        let pi = float(Float.pi)
        angle = select(compare(.lessThan, x, zero), sub(pi, angle), angle)
        return select(compare(.lessThan, y, zero), neg(angle), angle)
    }

    mutating func asin(_ x: S) -> S {
        let c = clamp(x, -1, 1)
        return atan2(c, cosOfAsin(c))
    }

    mutating func acos(_ x: S) -> S {
        let c = clamp(x, -1, 1)
        return atan2(cosOfAsin(c), c)
    }

    private mutating func cosOfAsin(_ c: S) -> S {
        let one = float(Float(1))
        return sqrt(mul(sub(one, c), add(one, c)))
    }

    /// 32 mixed bits of ints as a float in 0…1 (24 bits of it).
    mutating func hash(_ values: [S]) -> S {
        var state = int(Int32(bitPattern: hashSeed))
        for value in values {
            state = intBinary(.intXor, state, value)
            state = mixBits(state)
        }
        let top = intBinary(.shiftRightLogical, state, 8)
        let scale = float(Float(0x1p-24))
        return mul(toFloat(top), scale)
    }

    private mutating func mixBits(_ s: S) -> S {
        var x = s
        for (shift, factor) in hashSteps {
            x = intBinary(.intXor, x, intBinary(.shiftRightLogical, x, shift))
            x = intBinary(.intMul, x, Int32(bitPattern: factor))
        }
        return intBinary(.intXor, x, intBinary(.shiftRightLogical, x, 15))
    }
}

/// The hash of kernels: start value, and (shift, factor) of each mixing step of an invertible 32-bit mixer.
let hashSeed: UInt32 = 0x9e37_79b9
let hashSteps: [(Int32, UInt32)] = [(16, 0x21f0_aaad), (15, 0xd35a_2d97)]
