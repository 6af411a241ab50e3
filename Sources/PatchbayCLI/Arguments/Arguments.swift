import Patchbay

/// A command's arguments after parsing against its specification.
struct Arguments {
    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    /// - Throws: `PatchError.usage` that names the nearest option when one is unknown.
    init(_ words: some Sequence<String>, for command: CommandSpecification) throws {
        var rest = Array(words)[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            guard !onlyOperands, word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            if word == "--" {
                onlyOperands = true
                continue
            }
            try parse(option: word, &rest, command)
        }
        let required = command.operands.filter(\.isRequired).count
        if operands.count < required {
            throw Self.usage("\(command.operands[operands.count].name) is missing", command)
        }
        if operands.count > command.operands.count {
            throw Self.usage("'\(operands[command.operands.count])' is one argument too many", command)
        }
    }

    private mutating func parse(
        option word: String, _ rest: inout ArraySlice<String>, _ command: CommandSpecification
    ) throws {
        let body = word.drop { $0 == "-" }
        let name = String(body.prefix { $0 != "=" })
        let attached = body.firstIndex(of: "=").map { String(body[body.index(after: $0)...]) }
        guard let option = command.options.first(where: { $0.name == name }), word.hasPrefix("--") else {
            let near = Spelling.nearest(to: name, in: command.options.map(\.name) + ["help"])
            throw Self.usage("unknown option '\(word)'", command, near.map { "did you mean '--\($0)'?" })
        }
        guard option.repeats || values[name] == nil else {
            throw Self.usage("--\(name) is given twice", command)
        }
        if let kind = option.value {
            guard let value = attached ?? rest.popFirst() else {
                throw Self.usage("--\(name) needs a value: --\(name) \(kind)", command)
            }
            values[name, default: []].append(value)
        } else {
            guard attached == nil else { throw Self.usage("--\(name) takes no value", command) }
            values[name] = [""]
        }
    }

    static func usage(_ message: String, _ command: CommandSpecification, _ remedy: String? = nil) -> PatchError {
        PatchError(.usage, message, remedy: remedy ?? "see 'patchbay \(command.name) --help'")
    }

    func has(_ name: String) -> Bool { values[name] != nil }
    func value(_ name: String) -> String? { values[name]?.last }
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// `--name KEY=VALUE` options as a dictionary; the last one of a key counts.
    /// - Throws: `PatchError.usage` for one without "=" or without a key.
    func pairs(_ name: String) throws -> [String: String] {
        var result: [String: String] = [:]
        for text in all(name) {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw PatchError(
                    .usage, "--\(name) '\(text)' is not NAME=VALUE",
                    remedy: "write --\(name) name=value, in quotes where the value has spaces")
            }
            result[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        return result
    }
}
