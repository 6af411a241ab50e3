/// Follows the clock of a live source: how much its time must be stretched so that its lead stays where it is.
///
/// A controller on the smallest lead of each window. The proportional part closes a gap in about 20 s, the integral part,
/// critically damped, learns the drift of the two clocks: 300 ppm are followed without a lasting gap. The stretch is at most
/// 0.5 %, a twelfth of a semitone, and changes by little from window to window: no ear notices.
struct SoundSteering {
    /// Added to each second of the source's time, in parts; positive when the source is slow to deliver.
    var stretch: Double { max(-Self.most, min(Self.most, proportional + integral)) }
    /// Parts by which the source's clock runs faster than ours; nil before it is known.
    var drift: Double? { windows > 2 ? -integral : nil }

    private var proportional = 0.0
    private var integral = 0.0
    private var windows = 0
    /// The lead that is held, in nanoseconds; nil until it was seen.
    private var aim: Int64?

    private static let most = 0.005
    private static let mostDrift = 0.002
    /// A second of gap asks for so much stretch.
    private static let gain = 0.05
    private static let learning = gain * gain / 4

    /// A new tie: what was learned of the clock stays.
    mutating func begin() { moved() }

    /// The tie moved: there is another lead to hold.
    mutating func moved() {
        aim = nil
        proportional = 0
    }

    /// A window is over.
    /// - Parameters:
    ///   - lead: the smallest of the window, in nanoseconds.
    ///   - highest: the most that is worth holding; more is needless delay.
    mutating func update(lead: Int64, highest: Int64, seconds: Double) {
        let aim = min(aim ?? lead, highest)
        self.aim = aim
        windows += 1
        let gap = Double(aim - lead) / 1e9
        proportional = Self.gain * gap
        guard abs(proportional + integral) < Self.most else { return }
        integral = max(-Self.mostDrift, min(Self.mostDrift, integral + Self.learning * gap * seconds))
    }
}
