import PatchMedia

/// How encoded values relate to light, as formulas with their constants.
enum TransferCurve {
    /// Already linear.
    case identity
    /// A line near black, a power above: sRGB (IEC 61966-2-1) and BT.709's camera curve.
    case power(PowerCurve)
    /// SMPTE ST 2084; linear 1.0 is 10,000 cd/m².
    case pq
    /// BT.2100 hybrid log-gamma, scene light 0…1.
    case hlg

    init(_ transfer: ColorSpec.Transfer) {
        switch transfer {
        case .linear: self = .identity
        case .bt709: self = .power(.bt709)
        case .srgb, .unspecified: self = .power(.srgb)
        case .pq: self = .pq
        case .hlg: self = .hlg
        }
    }
}

/// linear = encoded / slope below the knee, else ((encoded + offset) / scale)^exponent.
struct PowerCurve {
    var slope: Float
    var offset: Float
    var scale: Float
    var exponent: Float
    var encodedKnee: Float
    var linearKnee: Float

    static let srgb = PowerCurve(
        slope: 12.92, offset: 0.055, scale: 1.055, exponent: 2.4, encodedKnee: 0.040_45, linearKnee: 0.003_130_8)
    static let bt709 = PowerCurve(
        slope: 4.5, offset: 0.099, scale: 1.099, exponent: 1 / 0.45, encodedKnee: 0.081, linearKnee: 0.018)
}

enum PQ {
    static let m1: Float = 2610.0 / 16384
    static let m2: Float = 2523.0 / 4096 * 128
    static let c1: Float = 3424.0 / 4096
    static let c2: Float = 2413.0 / 4096 * 32
    static let c3: Float = 2392.0 / 4096 * 32
}

enum HLG {
    static let a: Float = 0.178_832_77
    static let b: Float = 0.284_668_92
    static let c: Float = 0.559_910_73
}
