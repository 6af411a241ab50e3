/// In which numbers a pass computes, and why.
///
/// Thread-safety: a value.
public enum Arithmetic: Hashable, Sendable, CustomStringConvertible {
    /// 16-bit integers, proven to be at most so many 8-bit codes off the real result before rounding; codes are then
    /// at most one off those of floats.
    case int16(bound: Double)
    /// 32-bit floats, because of this.
    case float(reason: String)

    public var description: String {
        switch self {
        case .int16(let bound):
            let thousandths = Int((bound * 1000).rounded(.up))
            let digits = String(thousandths % 1000)
            return
                "16-bit integers, at most \(thousandths / 1000).\(String(repeating: "0", count: 3 - digits.count) + digits) codes off"
        case .float(let reason): return "floats: \(reason)"
        }
    }
}
