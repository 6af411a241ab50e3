internal import CLua
import PatchGraph
import PatchMedia

/// `options = { … }`: what is fixed when a kernel is made, because its functions were run for it.
extension KernelLanguage {
    /// Words that stand for a form without a default.
    private static let forms: [String: OptionSchema.Form] = [
        "file": .file, "size": .size, "color": .color, "text": .string, "point": .point, "region": .region,
    ]

    /// Reads the options of the table at index 1, sorted by name.
    func optionSchemas(
        _ parameters: [ParameterSchema], _ call: LuaCall
    ) throws -> [(schema: OptionSchema, initial: OptionValue?)] {
        call.pushField(1, "options")
        defer { call.pop() }
        if call.isAbsent(-1) { return [] }
        let shape =
            "write options = { radius = { 4, min = 1, max = 16 }, shape = { \"disc\", \"square\" }, file = \"file\" }"
        guard call.kind(-1) == .table else { throw call.error("options is \(call.describe(-1))", shape) }
        let table = lua_gettop(call.pointer)
        let keys = try call.keys(table)
        guard keys.positions.isEmpty else { throw call.error("options has a value without a name", shape) }
        guard keys.names.count <= 32 else {
            throw call.error("a kernel has \(keys.names.count) options", "32 are the limit")
        }
        return try keys.names.map { name in
            guard !parameters.contains(where: { $0.name == name }) else {
                throw call.error(
                    "'\(name)' is both a parameter and an option", "a value that may change on air is a parameter")
            }
            call.pushField(table, name)
            defer { lua_settop(call.pointer, table) }
            return try option(name, lua_gettop(call.pointer), shape, call)
        }
    }

    private func option(
        _ name: String, _ entry: Int32, _ shape: String, _ call: LuaCall
    ) throws -> (schema: OptionSchema, initial: OptionValue?) {
        if let bool = call.bool(entry) {
            return (OptionSchema(name, .bool, "", default: "\(bool)"), .bool(bool))
        }
        if let word = call.string(entry) {
            guard let form = Self.forms[word] else {
                let known = Self.forms.keys.sorted()
                throw call.error(
                    "option '\(name)' is \"\(word)\"",
                    Spelling.nearest(to: word, in: known).map { "did you mean \"\($0)\"?" }
                        ?? "a form is one of \(known.map { "\"\($0)\"" }.joined(separator: ", "))")
            }
            return (OptionSchema(name, form, "", required: true), nil)
        }
        guard call.kind(entry) == .table else { throw call.error("option '\(name)' is \(call.describe(entry))", shape) }
        try checkWords(entry, ["min", "max", "unit", "label", "optional"], "option '\(name)'", call)
        let label = try text(entry, "label", call) ?? ""
        call.pushElement(entry, 1)
        let first = lua_gettop(call.pointer)
        if let number = call.number(first) {
            return try numeric(name, number, label, entry, first, call)
        }
        guard let word = call.string(first), call.length(entry) <= 64 else {
            throw call.error("option '\(name)' has no default", shape)
        }
        // A form that may be left out: { "file", optional = true }.
        if call.length(entry) == 1, let form = Self.forms[word] {
            call.pushField(entry, "optional")
            return (OptionSchema(name, form, label, required: !call.isTrue(-1)), nil)
        }
        var choices: [String] = []
        for position in 1...call.length(entry) {
            call.pushElement(entry, position)
            guard let choice = call.string(-1) else {
                throw call.error("option '\(name)' has \(call.describe(-1)) among its choices", "choices are texts")
            }
            choices.append(choice)
            call.pop()
        }
        return (OptionSchema(name, .choice(choices), label, default: word), .string(word))
    }

    /// A number; a whole one when default and limits are written without a point.
    private func numeric(
        _ name: String, _ number: Double, _ label: String, _ entry: Int32, _ first: Int32, _ call: LuaCall
    ) throws -> (schema: OptionSchema, initial: OptionValue?) {
        var isWhole = call.isIntegerSubtype(first)
        func limit(_ key: String) throws -> Double {
            call.pushField(entry, key)
            defer { call.pop() }
            guard let limit = call.number(-1), limit.isFinite else {
                throw call.error("option '\(name)' has no \(key)", "write \(name) = { 4, min = 1, max = 16 }")
            }
            if !call.isIntegerSubtype(-1) { isWhole = false }
            return limit
        }
        let (low, high) = (try limit("min"), try limit("max"))
        guard low < high, (low...high).contains(number) else {
            throw call.error(
                "option '\(name)' begins with \(OptionText.number(number))",
                "its default lies between min and max, and min below max")
        }
        let form: OptionSchema.Form
        if isWhole, let low = Int(exactly: low), let high = Int(exactly: high) {
            form = .integer(low...high)
        } else {
            form = .number(low...high)
        }
        let unit = try text(entry, "unit", call) ?? ""
        return (
            OptionSchema(name, form, label, unit: unit, default: OptionText.number(number)), .number(number)
        )
    }
}

extension LuaCall {
    /// Pushes an option as a script reads it.
    func push(option value: OptionValue?) {
        switch value {
        case nil: pushNil()
        case .number(let number)?: push(natural: number)
        case .bool(let bool)?: push(bool)
        case .string(let text)?: push(text)
        case .vector(let numbers)?:
            pushTable()
            for (index, number) in numbers.enumerated() {
                push(natural: number)
                setElement(index + 1)
            }
        case .list(let texts)?:
            pushTable()
            for (index, text) in texts.enumerated() {
                push(text)
                setElement(index + 1)
            }
        case .record(let values)?:
            pushTable()
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                push(option: value)
                setField(name)
            }
        case .secret(let secret)?: push(secret.redacted)
        }
    }
}
