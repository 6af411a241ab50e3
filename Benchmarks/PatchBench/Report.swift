import Foundation

/// Three significant digits.
func rounded(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    return value >= 100
        ? String(format: "%.0f", value) : value >= 10 ? String(format: "%.1f", value) : String(format: "%.2f", value)
}

/// The rows of a run, printed as they come, and written as JSON and as a document.
struct Report {
    struct Row {
        var workload: String
        var format: String
        var threads: Int
        var size: String
        var title: String
        /// Median milliseconds a frame; nil when ours was not equal to the reference.
        var ours: Double?
        var oursMinimum: Double?
        /// memcpy of the output, or another limit that the title names.
        var limit: Double?
        var peers: [String: Double] = [:]
        var timings: [Timing] = []
    }

    private(set) var rows: [Row] = []

    mutating func add(_ workload: Workload, threads: Int, size: String, _ timings: [Timing]) {
        func best(_ group: String) -> Timing? {
            timings.filter { $0.group == group && $0.problem == nil && !$0.milliseconds.isEmpty }
                .min { $0.median < $1.median }
        }
        var row = Row(
            workload: workload.name, format: workload.formatName, threads: threads, size: size,
            title: workload.title)
        row.ours = best("ours")?.median
        row.oursMinimum = best("ours")?.minimum
        row.limit = best("limit")?.median
        for group in Set(timings.map(\.group)).subtracting(["ours", "limit"]) {
            if let median = best(group)?.median { row.peers[group] = median }
        }
        row.timings = timings
        add(row)
    }

    mutating func add(_ row: Row) {
        rows.append(row)
        var line = "\(row.workload) \(row.format) \(row.size) \(row.threads) thread\(row.threads == 1 ? "" : "s"): "
        line += "ours \(row.ours.map(rounded) ?? "not equal")"
        if let limit = row.limit { line += ", limit \(rounded(limit))" }
        for (name, time) in row.peers.sorted(by: { $0.key < $1.key }) {
            line += ", \(name) \(rounded(time))"
            if let ours = row.ours { line += " (\(rounded(time / ours))×)" }
        }
        var lines = line + "\n"
        for timing in row.timings {
            var text = "    \(timing.group), \(timing.way): "
            if !timing.milliseconds.isEmpty {
                text +=
                    "\(rounded(timing.median)) ms (min \(rounded(timing.minimum)), \(timing.milliseconds.count) frames)"
            }
            if let difference = timing.difference {
                text += ", off by \(rounded(difference.mean)) on average, \(difference.worst) at worst"
            }
            if let problem = timing.problem { text += " LEFT OUT: \(problem)" }
            lines += text + "\n"
        }
        // Unbuffered: rows take seconds, and people watch.
        FileHandle.standardOutput.write(Data(lines.utf8))
    }

    // MARK: JSON

    var json: String {
        let lines = rows.map { row in
            let peers = row.peers.sorted { $0.key < $1.key }
                .map { "\(Self.quoted($0.key)): \(Self.number($0.value))" }.joined(separator: ", ")
            return "  {\"workload\": \(Self.quoted(row.workload)), \"format\": \(Self.quoted(row.format)), "
                + "\"threads\": \(row.threads), \"size\": \(Self.quoted(row.size)), "
                + "\"ours_ms\": \(Self.number(row.ours)), \"ours_min_ms\": \(Self.number(row.oursMinimum)), "
                + "\"limit_ms\": \(Self.number(row.limit)), \"peers\": {\(peers)}}"
        }
        return "{\"rows\": [\n\(lines.joined(separator: ",\n"))\n]}\n"
    }

    private static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "null" }
        return String(format: "%.4f", value)
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            default: result += scalar.value < 32 ? String(format: "\\u%04x", scalar.value) : String(scalar)
            }
        }
        return result + "\""
    }
}
