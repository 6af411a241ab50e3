import Patchbay

/// How far an offline run is, for people at a terminal.
struct ProgressBar {
    /// Ticks in all, when that is known.
    var total: Int64?
    let start = monotonicNanoseconds()

    init(total: Int64?) { self.total = total }

    /// `[=====>     ]  45 %  1350/3000 frames  212 frames/s  0:08 left`
    func text(done: Int64, now: Int64 = monotonicNanoseconds()) -> String {
        let elapsed = Double(now - start) / 1e9
        let speed = elapsed > 0 ? Double(done) / elapsed : 0
        let rate = "\(Int(speed.rounded())) frames/s"
        guard let total, total > 0 else { return "\(done) frames  \(rate)  \(Self.clock(elapsed))" }
        let part = min(1, Double(done) / Double(total))
        let width = 24
        let filled = Int(part * Double(width))
        let bar = String(repeating: "=", count: filled) + (filled < width ? ">" : "")
        let space = String(repeating: " ", count: max(0, width - bar.count))
        let percent = "\(Int(part * 100)) %"
        let left = speed > 0 ? "  \(Self.clock(Double(max(0, total - done)) / speed)) left" : ""
        return "[\(bar)\(space)] \(percent)  \(done)/\(total) frames  \(rate)\(left)"
    }

    /// 3725.4 → "1:02:05".
    static func clock(_ seconds: Double) -> String {
        let whole = Int(max(0, seconds).rounded(.down))
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
    }
}
