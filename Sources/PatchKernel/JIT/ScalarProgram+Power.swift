/// Powers whose exponent is the same for all pixels, for 8-bit outputs.
///
/// A base is m · 2^e with m in 1…2, so that x^g = m^g · 2^(e·g). m^g is a polynomial of degree 4 in m, exact at 1 and 2, whose
/// coefficients are polynomials in g, fitted for g in 0…4: they are computed once a frame. 2^(e·g) is a product of two of
/// sixteen numbers of the frame: the lowest three bits of e pick one, the three bits above them the other. Off by 1.4 · 10⁻⁵ at most of bases in 0…1; docs/decisions/kernel-math.md has the measurements.
extension ScalarProgram {
    /// The 64 octaves that a table covers, beginning with a multiple of eight: its lowest eight count as zero.
    struct OctaveWindow {
        /// An exponent of floats, with its bias of 127.
        let first: Int

        /// - Parameter highest: no base is above it. Nil where the tables do not reach so far.
        init?(highest: Float) {
            guard
                let first = [64, 72, 80].first(where: {
                    highest < Float(sign: .plus, exponent: $0 - 63, significand: 1)
                })
            else { return nil }
            self.first = first
        }
    }

    private static let largestExponent: Float = 16

    /// x^g, or nil where it must be computed in general. Bases below 2^−39 (of what is bounded by 1: 2^−55) count as 0.
    mutating func uniformPower(_ x: S, _ g: S) -> S? {
        guard isCoarse, hasLookup, rate(g) == .frame, rate(x) == .pixel,
            let window = OctaveWindow(highest: bounds[x.index].high)
        else { return nil }
        let exponents = bounds[g.index]
        if !exponents.mayBeNaN, exponents.low >= 0, exponents.high <= Self.largestExponent {
            return power(x, g, window)
        }
        guard !hasLoops, exponents.high >= 0, exponents.low <= Self.largestExponent else { return nil }
        let (zero, largest) = (float(Float(0)), float(Self.largestExponent))
        let isFitted = and(compare(.lessEqual, zero, g), compare(.lessEqual, g, largest))
        return select(isFitted, power(x, g, window), generalPower(x, g))
    }

    /// For exponents in 0…16: above 4 the fourth power of that with a quarter of the exponent.
    private mutating func power(_ x: S, _ g: S, _ window: OctaveWindow) -> S {
        guard bounds[g.index].high > 4 else { return smallPower(x, g, window) }
        let (four, quarter) = (float(Float(4)), float(Float(0.25)))
        let isLarge = compare(.lessThan, four, g)
        let power = smallPower(x, select(isLarge, mul(g, quarter), g), window)
        let square = mul(power, power)
        return select(isLarge, mul(square, square), power)
    }

    /// For exponents in 0…4.
    private mutating func smallPower(_ x: S, _ g: S, _ window: OctaveWindow) -> S {
        let smallest = float(Float(bitPattern: UInt32(window.first) << 23))
        let bits = floatBits(max(x, smallest))
        let octave = intBinary(.shiftRight, bits, 23)
        let group = intBinary(.shiftRight, bits, 26)
        let mantissa = bitsFloat(intBinary(.intOr, intBinary(.intAnd, bits, 0x7f_ffff), 0x3f80_0000))
        // 1.5 ulp here are 10⁻⁵ in the coarse form of exp2.
        let wasCoarse = isCoarse
        isCoarse = false
        let scale = mul(lookup(octave, octaves(g)), lookup(group, groups(g, window)))
        let coefficients = mantissaCoefficients(g)
        isCoarse = wasCoarse
        var sum = coefficients[4]
        for coefficient in coefficients[..<4].reversed() { sum = fma(sum, mantissa, coefficient) }
        return mul(sum, scale)
    }

    /// Entry `index` & 7 of eight values of the frame.
    private mutating func lookup(_ index: S, _ entries: [S]) -> S { make(.lookup, .float, [index] + entries) }

    /// 2^(g · (j − 7)) for j in 0…7.
    private mutating func octaves(_ g: S) -> [S] {
        var powers = [float(Float(1)), exp2(neg(g))]
        for n in 2...7 { powers.append(mul(powers[n / 2], powers[n - n / 2])) }
        return powers.reversed()
    }

    /// 2^(g · (e − 120)) for the lowest exponent e of each eight, at the place that its bits 3 to 5 say.
    private mutating func groups(_ g: S, _ window: OctaveWindow) -> [S] {
        let (zero, one) = (float(Float(0)), float(Float(1)))
        var powers = [one, exp2(mul(g, float(Float(-8))))]
        for n in 2...7 { powers.append(mul(powers[n / 2], powers[n - n / 2])) }
        return (0..<8).map { place in
            let above = (place - window.first / 8) & 7
            // Nothing but 0^0 is 1.
            if above == 0 { return select(compare(.equal, g, zero), one, zero) }
            let exponent = window.first + 8 * above - 120
            return exponent <= 0 ? powers[-exponent / 8] : exp2(mul(g, float(Float(exponent))))
        }
    }

    /// Of 1, m, m², m³ and m⁴ in m^g for m in 1…2.
    private mutating func mantissaCoefficients(_ g: S) -> [S] {
        let s = fma(g, float(Float(0.5)), float(Float(-1)))
        return Self.mantissaFits.map { polynomial(s, $0) }
    }

    /// In g / 2 − 1, each for g in 0…4.
    private static let mantissaFits: [[Float]] = [
        [
            -5.733481e-09, 0.340_181_4, -0.089_888_476, -1.511_41, 0.288_005_44, 0.580_893_8, 0.281_128_82,
            0.086_410_33, 0.020_096_036, 0.003_831_312, 0.000_658_207_1, 0.000_093_106_915,
        ],
        [
            1.7702202e-08, -1.921_092_9, 2.417_710_3, 4.199_570_7, -1.438_320_3, -1.991_316_6, -0.914_160_4,
            -0.274_914_4, -0.063_185_89, -0.011_958_68, -0.002_043_837_7, -0.000_288_160_84,
        ],
        [
            1, 0.747_118_6, -4.698_941_7, -3.649_888, 2.513_864, 2.563_509_2, 1.109_046,
            0.325_106, 0.073_683_85, 0.013_824_413, 0.002_348_072, 0.000_329_746_1,
        ],
        [
            1.0095389e-08, 0.910_247_3, 2.505_507_5, 0.737_460_7, -1.870_690_7, -1.470_969_6, -0.595_834_1,
            -0.169_554_32, -0.037_799_507, -0.007_018_671, -0.001_183_303_7, -0.000_165_386_94,
        ],
        [
            -1.865849e-09, -0.076_454_44, -0.134_387_57, 0.224_266_7, 0.507_141_53, 0.317_883, 0.119_819_65,
            0.032_952_41, 0.007_205_514, 0.001_321_626_7, 0.000_220_862_1, 0.000_030_694_762,
        ],
    ]
}
