import Foundation

extension Report {
    static let peerOrder = ["ffmpeg", "gstreamer", "opencv", "libyuv"]

    /// The tables of the run, under `about`.
    func markdown(about: String) -> String {
        var text = about + targets
        for threads in Set(rows.map(\.threads)).sorted(by: >) {
            let rows = rows.filter { $0.threads == threads && !$0.timings.isEmpty }
            if rows.isEmpty { continue }
            text += "\n## \(threads) thread\(threads == 1 ? "" : "s"): median ms a frame\n\n"
            text += "A number in brackets says how many times as long as ours a peer takes.\n\n"
            text += "| | ours | \(Self.peerOrder.joined(separator: " | ")) | memcpy |\n"
            text += "|---|---|" + String(repeating: "---|", count: Self.peerOrder.count + 1) + "\n"
            for row in rows {
                text += "| \(row.workload) \(row.format): \(row.title) | \(row.ours.map(rounded) ?? "not equal") |"
                for peer in Self.peerOrder {
                    guard let time = row.peers[peer] else {
                        text += " – |"
                        continue
                    }
                    text += " \(rounded(time))" + (row.ours.map { " (\(rounded(time / $0))×)" } ?? "") + " |"
                }
                text += " \(row.limit.map(rounded) ?? "–") |\n"
            }
        }
        text += otherRows
        text += "\n## Every way that was measured\n\n"
        text +=
            "Median and minimum in ms, and how far the picture is from the double-precision reference, in code values.\n"
        text += "Ways that are far behind another of the same library ran only a few rounds.\n\n"
        text +=
            "| row | threads | who | way | median | min | mean off | worst off | |\n|---|---|---|---|---|---|---|---|---|\n"
        for row in rows {
            for timing in row.timings {
                text += "| \(row.workload) \(row.format) | \(row.threads) | \(timing.group) | \(timing.way) | "
                text += "\(rounded(timing.median)) | \(rounded(timing.minimum)) | "
                text += "\(timing.difference.map { rounded($0.mean) } ?? "–") | "
                text += "\(timing.difference.map { "\($0.worst)" } ?? "–") | "
                let limits = Workload.all.first { $0.name == row.workload }?
                    .limits(ofPeer: timing.group, way: timing.way)
                text +=
                    "\(timing.problem.map { "left out: \($0)" } ?? (timing.group == "ours" ? "" : limits?.reason ?? "")) |\n"
            }
        }
        return text
    }

    /// Rows of our own: chains, compiling, scaling.
    private var otherRows: String {
        let rows = rows.filter { $0.timings.isEmpty }
        if rows.isEmpty { return "" }
        var text =
            "\n## Chains, compiling, threads\n\n| | size | threads | ms | min | limit |\n|---|---|---|---|---|---|\n"
        for row in rows {
            text +=
                "| \(row.workload): \(row.title) | \(row.size) | \(row.threads) | \(row.ours.map(rounded) ?? "–") | "
            text += "\(row.oursMinimum.map(rounded) ?? "–") | \(row.limit.map(rounded) ?? "–") |\n"
        }
        return text
    }
}
