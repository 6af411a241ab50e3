import Patchbay

/// Running numbers in words.
enum StatusText {
    /// `0:12  30.0 fps  4.2 ms (p99 6.1)  late 0  live: live  recording: 360`
    static func live(_ statistics: EngineStatistics, fps: Double, seconds: Double) -> String {
        var parts = [
            ProgressBar.clock(seconds), "\(fixed(fps, 1)) fps",
            "\(fixed(statistics.p50 / 1000, 1)) ms (p99 \(fixed(statistics.p99 / 1000, 1)))", "late \(statistics.late)",
        ]
        for node in statistics.nodes where node.drops > 0 || !node.state.isEmpty {
            var text = "\(node.id):"
            if !node.state.isEmpty { text += " \(node.state)" }
            if node.drops > 0 { text += " \(node.drops) dropped" }
            parts.append(text)
        }
        return parts.joined(separator: "  ")
    }

    /// 3.14159 with two digits → "3.14".
    static func fixed(_ number: Double, _ digits: Int) -> String {
        guard number.isFinite, abs(number) < 1e12 else { return "–" }
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int((number.magnitude * Double(scale)).rounded())
        let sign = number < 0 && scaled > 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(scaled)" }
        let fraction = String(scaled % scale)
        return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
