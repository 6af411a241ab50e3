import Patchbay

/// Guests (FFmpeg's filters, frei0r plugins) for people and for programs.
enum GuestText {
    /// All of a kind: first what scripts may use.
    static func list(_ guests: [GuestDescription], word: String) -> String {
        let usable = guests.filter { $0.refusal == nil }
        let refused = guests.filter { $0.refusal != nil }
        var text = "\(word):\n" + CommandSpecification.table(usable.map { ($0.name, $0.summary) })
        if !refused.isEmpty {
            text += "\nnot for graphs:\n" + CommandSpecification.table(refused.map { ($0.name, $0.refusal ?? "") })
        }
        return String(text.dropLast())
    }

    /// One guest with what it takes and a line to copy.
    static func text(_ guest: GuestDescription, example: String) -> String {
        var lines = ["\(guest.name): \(guest.summary)"]
        if let refusal = guest.refusal { lines.append("not for graphs: \(refusal)") }
        lines.append("inputs: \(guest.inputs)")
        for parameter in guest.parameters {
            var line = "  \(parameter.name)"
            if !parameter.defaultText.isEmpty { line += " = \(parameter.defaultText)" }
            line += "  (\(parameter.form)\(parameter.isLive ? ", on air" : ""))"
            if !parameter.summary.isEmpty { line += "  \(parameter.summary)" }
            lines.append(line)
        }
        if guest.refusal == nil { lines.append("example: \(example)") }
        return lines.joined(separator: "\n")
    }

    static func json(_ guests: [GuestDescription]) -> JSON {
        .array(
            guests.map { guest in
                .object([
                    ("name", .string(guest.name)), ("summary", .string(guest.summary)),
                    ("media", .string(guest.isSound ? "sound" : "picture")),
                    ("inputs", .string(guest.inputs)), ("refusal", guest.refusal.map { .string($0) } ?? .null),
                    (
                        "parameters",
                        .array(
                            guest.parameters.map { parameter in
                                .object([
                                    ("name", .string(parameter.name)), ("form", .string(parameter.form)),
                                    ("default", .string(parameter.defaultText)), ("onAir", .bool(parameter.isLive)),
                                    ("summary", .string(parameter.summary)),
                                ])
                            })
                    ),
                ])
            })
    }

    /// A chain with one filter and its first number, as a start.
    static func ffmpegExample(_ guest: GuestDescription) -> String {
        if guest.isSound { return "cam.audio >> audio.ffmpeg{ \"\(guest.name)\" } >> live.audio" }
        if guest.inputs == "1" { return "cam >> ffmpeg{ \"\(guest.name)\" } >> view" }
        return "ffmpeg{ \"[a][b]\(guest.name)\", inputs = { \"a\", \"b\" }, a = cam, b = other } >> view"
    }

    static func frei0rExample(_ guest: GuestDescription) -> String {
        let first = guest.parameters.first.map { ", \($0.name) = \(literal($0))" } ?? ""
        let node = "frei0r{ \"\(guest.name)\"\(first) }"
        switch guest.inputs {
        case "0": return "\(node) >> view"
        case "1": return "cam >> \(node) >> view"
        default: return "{ cam, other } >> \(node) >> view"
        }
    }

    private static func literal(_ parameter: GuestDescription.Parameter) -> String {
        switch parameter.form {
        case "true or false": parameter.defaultText == "1" ? "true" : "false"
        case "a colour": "\"#ff8000\""
        case "a text": "\"\(parameter.defaultText)\""
        default: parameter.defaultText.contains(",") ? "{ \(parameter.defaultText) }" : parameter.defaultText
        }
    }
}
