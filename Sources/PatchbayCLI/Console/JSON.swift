import Patchbay

/// A JSON value to print; keys keep their order.
indirect enum JSON {
    case object([(String, JSON)])
    case array([JSON])
    case string(String)
    case integer(Int)
    /// Infinite and undefined numbers are printed as null.
    case number(Double)
    case bool(Bool)
    case null

    static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    /// An error with its place, for programs that read `--json`.
    static func error(_ error: PatchError) -> JSON {
        .object([
            ("code", .string(error.code.rawValue)), ("message", .string(error.message)),
            ("remedy", .text(error.remedy.isEmpty ? nil : error.remedy)), ("node", .text(error.node)),
            ("file", .text(error.location?.file)), ("line", error.location.map { .integer($0.line) } ?? .null),
            ("cause", .text(error.cause)),
        ])
    }

    /// On one line, or indented by two spaces a level.
    func encoded(pretty: Bool = false) -> String { encode(pretty ? 0 : nil) }

    private func encode(_ level: Int?) -> String {
        switch self {
        case .object(let members):
            Self.wrap("{", members.map { "\(Self.quoted($0)): \($1.encode(level.map { $0 + 1 }))" }, "}", level)
        case .array(let elements):
            Self.wrap("[", elements.map { $0.encode(level.map { $0 + 1 }) }, "]", level)
        case .string(let text): Self.quoted(text)
        case .integer(let number): "\(number)"
        case .number(let number): number.isFinite ? "\(number)" : "null"
        case .bool(let bool): bool ? "true" : "false"
        case .null: "null"
        }
    }

    private static func wrap(_ open: String, _ parts: [String], _ close: String, _ level: Int?) -> String {
        guard !parts.isEmpty else { return open + close }
        guard let level else { return open + parts.joined(separator: ", ") + close }
        let outer = String(repeating: "  ", count: level)
        return open + "\n" + parts.map { outer + "  " + $0 }.joined(separator: ",\n") + "\n" + outer + close
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
