/// What is asked of ours against peers, and whether this run reached it.
struct Target {
    var workload: String
    var format: String
    /// A peer, and how many times as long as ours it must take at least.
    var factors: [(peer: String, factor: Double)]

    private static func faster(
        _ workload: String, _ formats: [String] = ["rgba"], ffmpeg: Double = 1, gstreamer: Double = 1,
        opencv: Double = 1,
        libyuv: Double? = nil
    ) -> [Target] {
        formats.map { format in
            var factors = [("ffmpeg", ffmpeg), ("gstreamer", gstreamer), ("opencv", opencv)]
            if let libyuv { factors.append(("libyuv", libyuv)) }
            return Target(workload: workload, format: format, factors: factors.map { (peer: $0.0, factor: $0.1) })
        }
    }

    private static let both = ["rgba", "yuv420p"]

    static let all: [Target] =
        faster("W1", ffmpeg: 5, gstreamer: 2, opencv: 2, libyuv: 1)
        + faster("W1", ["yuv420p"], ffmpeg: 2, gstreamer: 2, opencv: 2, libyuv: 1)
        + faster("W1y", ["yuv420p"])
        + faster("W2", both, ffmpeg: 2, gstreamer: 2, opencv: 2)
        + faster("W2-20", both, ffmpeg: 3, gstreamer: 3)
        + faster("W3-luma", ["gray"], ffmpeg: 3, gstreamer: 3)
        + faster("W3-rgb", ffmpeg: 3, gstreamer: 3) + faster("W3-guided", ffmpeg: 3, gstreamer: 3)
        + faster("W4", both, ffmpeg: 3, gstreamer: 3, libyuv: 0.5)
        + faster("W5", ffmpeg: 5)
        + faster("W6-sobel", ffmpeg: 5, gstreamer: 2, opencv: 2, libyuv: 1 / 1.5)
        + faster("W6-3x3", ffmpeg: 5, gstreamer: 2, opencv: 2)
        + faster("W7", both, ffmpeg: 3, gstreamer: 3)
        + faster("W8", both, ffmpeg: 3, gstreamer: 3)
        + faster("W9", both, ffmpeg: 3, gstreamer: 3, libyuv: 0.5)
        + faster("W10-decode", ["yuv420p"], libyuv: 1 / 1.5) + faster("W10-encode", ["rgba"], libyuv: 1 / 1.5)
        + faster("W10-both", ["yuv420p"], libyuv: 1 / 1.5)
}

extension Report {
    /// Each target beside what this run saw, on the most threads that ran.
    var targets: String {
        guard let threads = rows.map(\.threads).max() else { return "" }
        var lines: [String] = []
        for target in Target.all {
            guard
                let row = rows.first(where: {
                    $0.workload == target.workload && $0.format == target.format && $0.threads == threads
                }), let ours = row.ours
            else { continue }
            var parts: [String] = []
            for (peer, factor) in target.factors {
                guard let time = row.peers[peer] else { continue }
                let seen = time / ours
                parts.append("\(peer) \(rounded(seen)) of \(rounded(factor))\(seen >= factor ? "" : " **missed**")")
            }
            if !parts.isEmpty {
                lines.append("| \(row.workload) \(row.format) | \(rounded(ours)) | \(parts.joined(separator: "; ")) |")
            }
        }
        for row in rows
        where row.timings.isEmpty && row.limit != nil && Self.limited.contains(where: row.workload.hasPrefix) {
            guard let ours = row.ours, let limit = row.limit else { continue }
            lines.append(
                "| \(row.workload) \(row.format) \(row.size), \(row.threads) thread\(row.threads == 1 ? "" : "s") | "
                    + "\(rounded(ours)) | at most \(rounded(limit))\(ours <= limit ? "" : " **missed**") |")
        }
        func ours(_ workload: String) -> Double? {
            rows.first { $0.workload == workload && $0.format == "rgba" && $0.threads == threads }?.ours
        }
        if let small = ours("W2"), let large = ours("W2-20") {
            let ratio = large / small
            lines.append(
                "| W2-20 beside W2, rgba | \(rounded(ratio)) | at most 1.5\(ratio <= 1.5 ? "" : " **missed**") |")
        }
        if let guided = ours("W3-guided") {
            lines.append("| W3-guided rgba | \(rounded(guided)) | at most 20\(guided <= 20 ? "" : " **missed**") |")
        }
        let scaling = rows.filter { $0.workload == "scaling" }
        for (one, two) in zip(scaling.filter { $0.threads == 1 }, scaling.filter { $0.threads == 2 }) {
            guard let slow = one.ours, let quick = two.ours else { continue }
            let gain = slow / quick
            lines.append(
                "| two threads, W1 \(one.format) \(one.size) | \(rounded(gain)) | at least 1.8\(gain >= 1.8 ? "" : " **missed**") |"
            )
        }
        if lines.isEmpty { return "" }
        return
            "\n## Targets of this run\n\nOurs in ms on \(threads) threads; of each peer, how many times as long as ours it took, "
            + "and how many times it should.\n\n| row | ours | asked |\n|---|---|---|\n" + lines.joined(separator: "\n")
            + "\n"
    }

    /// Rows whose limit is a target and not a memcpy.
    private static let limited = ["beautify", "chain-10", "compile"]
}
