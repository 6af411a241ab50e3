/// A point in time or a length of time, in seconds, as the exact fraction `value / timescale`.
///
/// Frame times stay exact for ever: 30000/1001 fps has no float that does.
/// Thread-safety: a value.
public struct MediaTime: Sendable {
    /// Count of units. Any value but `Int64.min`.
    public let value: Int64
    /// Units a second, at least 1.
    public let timescale: Int64

    /// - Precondition: `timescale` is at least 1.
    public init(value: Int64, timescale: Int64) {
        precondition(timescale > 0, "a time needs a positive timescale")
        self.value = value
        self.timescale = timescale
    }

    /// The nearest fraction with nanosecond steps. Non-finite input gives zero; what does not fit is clamped.
    public init(seconds: Double) {
        guard seconds.isFinite else {
            self = .zero
            return
        }
        let nanoseconds = (seconds * 1e9).rounded()
        self.init(value: Int64(max(-9.2e18, min(9.2e18, nanoseconds))), timescale: 1_000_000_000)
    }

    public static let zero = MediaTime(value: 0, timescale: 1)

    public var seconds: Double { Double(value) / Double(timescale) }
    public var nanoseconds: Int64 { converted(to: 1_000_000_000) }

    /// The count of `1 / newTimescale` units nearest to this time; halves round away from zero. Clamps on overflow.
    public func converted(to newTimescale: Int64) -> Int64 {
        rescale(value, by: newTimescale, over: timescale, rounding: .nearest)
    }

    /// The count of whole `1 / newTimescale` units at or before this time. Clamps on overflow.
    public func floored(to newTimescale: Int64) -> Int64 {
        rescale(value, by: newTimescale, over: timescale, rounding: .down)
    }
}

extension MediaTime: Comparable, Hashable {
    public static func == (a: MediaTime, b: MediaTime) -> Bool {
        let (x, y) = (a.value.multipliedFullWidth(by: b.timescale), b.value.multipliedFullWidth(by: a.timescale))
        return x.high == y.high && x.low == y.low
    }

    public static func < (a: MediaTime, b: MediaTime) -> Bool {
        let (x, y) = (a.value.multipliedFullWidth(by: b.timescale), b.value.multipliedFullWidth(by: a.timescale))
        return x.high != y.high ? x.high < y.high : x.low < y.low
    }

    public func hash(into hasher: inout Hasher) {
        let divisor = Int64(greatestCommonDivisor(value.magnitude, timescale.magnitude))
        hasher.combine(value / divisor)
        hasher.combine(timescale / divisor)
    }

    public static func + (a: MediaTime, b: MediaTime) -> MediaTime { combine(a, b, &+) }
    public static func - (a: MediaTime, b: MediaTime) -> MediaTime { combine(a, b, &-) }

    /// Exact where the common timescale fits 64 bits with room for the sum; nanoseconds otherwise.
    private static func combine(_ a: MediaTime, _ b: MediaTime, _ operation: (Int64, Int64) -> Int64) -> MediaTime {
        if a.timescale == b.timescale {
            return MediaTime(value: operation(a.value, b.value), timescale: a.timescale)
        }
        let divisor = Int64(greatestCommonDivisor(a.timescale.magnitude, b.timescale.magnitude))
        let (factorA, factorB) = (b.timescale / divisor, a.timescale / divisor)
        let (common, overflow) = a.timescale.multipliedReportingOverflow(by: factorA)
        let (left, overflowA) = a.value.multipliedReportingOverflow(by: factorA)
        let (right, overflowB) = b.value.multipliedReportingOverflow(by: factorB)
        guard !overflow, !overflowA, !overflowB else {
            return MediaTime(value: operation(a.nanoseconds, b.nanoseconds), timescale: 1_000_000_000)
        }
        return MediaTime(value: operation(left, right), timescale: common)
    }
}

extension MediaTime: CustomStringConvertible {
    public var description: String { "\(value)/\(timescale) s" }
}

/// A rate in frames (or samples) a second as an exact fraction, such as 30000/1001.
///
/// Thread-safety: a value.
public struct FrameRate: Hashable, Sendable, CustomStringConvertible {
    /// At least 1.
    public let numerator: Int64
    /// At least 1.
    public let denominator: Int64

    /// - Precondition: both are at least 1. The fraction is stored in lowest terms.
    public init(_ numerator: Int64, over denominator: Int64 = 1) {
        precondition(numerator > 0 && denominator > 0, "a frame rate is positive")
        let divisor = Int64(greatestCommonDivisor(numerator.magnitude, denominator.magnitude))
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
    }

    /// The rate nearest to `fps`: whole numbers and the NTSC family (n·1000/1001) exactly, others to 1/1000.
    /// Returns nil unless 0.001 ≤ fps ≤ 1,000,000.
    public init?(approximating fps: Double) {
        guard fps.isFinite, fps >= 0.001, fps <= 1_000_000 else { return nil }
        let whole = fps.rounded()
        if whole >= 1, abs(fps - whole) < 0.0005 {
            self.init(Int64(whole))
        } else if abs(fps * 1.001 - (fps * 1.001).rounded()) < 0.002, fps > 10 {
            self.init(Int64((fps * 1.001).rounded()) * 1000, over: 1001)
        } else {
            self.init(max(1, Int64((fps * 1000).rounded())), over: 1000)
        }
    }

    public var perSecond: Double { Double(numerator) / Double(denominator) }

    /// When frame `index` starts: exactly `index · denominator / numerator` seconds.
    public func time(ofFrame index: Int64) -> MediaTime {
        MediaTime(value: index &* denominator, timescale: numerator)
    }

    /// The length of one frame.
    public var frameDuration: MediaTime { MediaTime(value: denominator, timescale: numerator) }

    /// The last frame that starts at or before `time`.
    public func frame(at time: MediaTime) -> Int64 {
        rescale(time.floored(to: numerator), by: 1, over: denominator, rounding: .down)
    }

    public var description: String { denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)" }
}

enum Rounding { case nearest, down }

/// `value · factor / divisor` without intermediate overflow; the result is clamped to ±(2⁶³ − 1).
func rescale(_ value: Int64, by factor: Int64, over divisor: Int64, rounding: Rounding) -> Int64 {
    precondition(factor >= 0 && divisor > 0)
    let negative = value < 0
    let (high, low) = value.magnitude.multipliedFullWidth(by: factor.magnitude)
    guard high < divisor.magnitude else { return negative ? -Int64.max : Int64.max }
    var (quotient, remainder) = divisor.magnitude.dividingFullWidth((high, low))
    switch rounding {
    case .nearest: if remainder >= divisor.magnitude - remainder { quotient &+= 1 }
    case .down: if negative, remainder != 0 { quotient &+= 1 }
    }
    remainder = 0
    let clamped = Int64(min(quotient, UInt64(Int64.max)))
    return negative ? -clamped : clamped
}

func greatestCommonDivisor(_ a: UInt64, _ b: UInt64) -> UInt64 {
    var (x, y) = (a, b)
    while y != 0 { (x, y) = (y, x % y) }
    return max(1, x)
}
