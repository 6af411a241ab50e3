/// What a command takes: enough to parse its arguments and to write its help.
struct CommandSpecification: Sendable {
    var name: String
    /// One sentence without a full stop.
    var summary: String
    var operands: [Operand] = []
    var options: [Option] = []
    /// More text for `--help`, wrapped by hand at 80 columns.
    var discussion = ""
    var examples: [String] = []

    /// A word without dashes.
    struct Operand: Sendable {
        var name: String
        var summary: String
        var isRequired = true
    }

    /// `--name` or `--name VALUE`.
    struct Option: Sendable {
        var name: String
        /// What help shows for the value; nil for a flag.
        var value: String?
        var summary: String
        var repeats = false
    }

    var usage: String {
        var words = ["patchbay", name]
        words += operands.map { $0.isRequired ? $0.name : "[\($0.name)]" }
        words.append("[options]")
        return words.joined(separator: " ")
    }

    /// Everything `--help` prints.
    var help: String {
        var text = "\(summary).\n\nUsage: \(usage)\n"
        if !operands.isEmpty {
            text += "\n" + Self.table(operands.map { ($0.name, $0.summary) })
        }
        let all = options + [Option(name: "help", value: nil, summary: "show this text")]
        text += "\nOptions:\n"
        text += Self.table(
            all.map { option in
                let name = "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
                return (name, option.summary + (option.repeats ? " (may be repeated)" : ""))
            })
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        if !examples.isEmpty { text += "\nExamples:\n" + examples.map { "  \($0)\n" }.joined() }
        return text
    }

    /// Two columns, the second one wrapped to 80 columns.
    static func table(_ rows: [(String, String)]) -> String {
        let left = min(28, (rows.map(\.0.count).max() ?? 0) + 4)
        var text = ""
        for (name, summary) in rows {
            var line = "  " + name
            line += line.count >= left ? "\n" + pad("", left) : pad("", left - line.count)
            var column = left
            for word in summary.split(separator: " ") {
                if column > left, column + word.count + 1 > 80 {
                    line += "\n" + pad("", left)
                    column = left
                }
                if column > left {
                    line += " "
                    column += 1
                }
                line += word
                column += word.count
            }
            text += line + "\n"
        }
        return text
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
