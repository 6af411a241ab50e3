internal import CLua
import PatchGraph
import PatchMedia

/// Turns what a script wrote for an option into the value that the option's form asks for.
struct OptionReader {
    let script: GraphScript
    let call: LuaCall
    /// The node's kind, for messages.
    let kind: String
    let role: NodeSchema.Role

    /// GPUImage's words for how a picture fills another.
    private static let fillWords = [
        "preserveAspectRatio": "fit", "preserveAspectRatioAndFill": "fill", "kGPUImageFillModeStretch": "stretch",
        "kGPUImageFillModePreserveAspectRatio": "fit", "kGPUImageFillModePreserveAspectRatioAndFill": "fill",
    ]
    private static let schemes = [
        "rtmp", "rtmps", "rtmpt", "rtsp", "rtsps", "srt", "udp", "rtp", "rist", "http", "https", "tcp", "tls",
    ]

    /// Reads the value at `index`.
    /// - Throws: `PatchError.script` that says what is legal.
    func read(_ schema: OptionSchema, at index: Int32) throws -> OptionValue {
        switch schema.form {
        case .number(let range):
            guard let number = call.number(index), number.isFinite else { throw wrong(schema, index, "a number") }
            guard range.contains(number) else { throw outside(schema, number, range.lowerBound, range.upperBound) }
            return .number(number)
        case .integer(let range):
            guard let number = call.integer(index) else { throw wrong(schema, index, "a whole number") }
            guard range.contains(number) else {
                throw outside(schema, Double(number), Double(range.lowerBound), Double(range.upperBound))
            }
            return .number(Double(number))
        case .bool:
            guard let bool = call.bool(index) else { throw wrong(schema, index, "true or false") }
            return .bool(bool)
        case .string:
            guard let text = call.string(index) else { throw wrong(schema, index, "a text") }
            return .string(text)
        case .choice(let choices):
            guard let text = call.string(index) else { throw wrong(schema, index, oneOf(choices)) }
            if choices.contains(text) { return .string(text) }
            if let word = Self.fillWords[text], choices.contains(word) { return .string(word) }
            let nearest = Spelling.nearest(to: text, in: choices).map { "did you mean \"\($0)\"? " } ?? ""
            throw call.error("\(schema.name) of \(kind) is \"\(text)\"", nearest + "it is \(oneOf(choices))")
        case .size:
            let numbers = try size(schema, index)
            return .vector(numbers)
        case .color:
            return .vector(try ScriptColor.read(call, index, what: "\(schema.name) of \(kind)"))
        case .region:
            return .vector(try numbers(schema, index, count: 4, shape: "{x, y, width, height}"))
        case .point:
            return .vector(try numbers(schema, index, count: 2, shape: "{x, y}"))
        case .file:
            guard let text = call.string(index) else { throw wrong(schema, index, "a file name") }
            return .string(try script.assetPath(text, call))
        case .outputFile:
            guard let text = call.string(index) else { throw wrong(schema, index, "a file name") }
            return .string(try script.outputPath(text, call))
        case .url:
            return try url(schema, index)
        case .node: return .string(try node(schema, index, "a node"))
        case .nodeOrColor:
            if call.string(index) != nil || call.kind(index) == .table {
                return .vector(try ScriptColor.read(call, index, what: "\(schema.name) of \(kind)"))
            }
            return .string(try node(schema, index, "a node or a colour"))
        case .strings:
            if let text = call.string(index) { return .list([text]) }
            guard call.kind(index) == .table else { throw wrong(schema, index, "a list of texts") }
            var list: [String] = []
            for position in 1...max(1, min(1000, call.length(index))) where position <= call.length(index) {
                call.pushElement(index, position)
                defer { call.pop() }
                guard let text = call.string(-1) else { throw wrong(schema, -1, "a list of texts") }
                list.append(text)
            }
            return .list(list)
        case .record(let fields): return try record(schema, fields, index)
        }
    }

    /// The name of the node that a handle stands for.
    private func node(_ schema: OptionSchema, _ index: Int32, _ shape: String) throws -> NodeID {
        guard call.kind(index) == .handle else { throw wrong(schema, index, shape) }
        let ends = try script.outputs(at: index, call)
        guard let end = ends.first, ends.count == 1, end.media == .both else { throw wrong(schema, index, shape) }
        return script.id(end.node)
    }

    private func record(_ schema: OptionSchema, _ fields: [OptionSchema], _ index: Int32) throws -> OptionValue {
        if call.bool(index) == false { return .bool(false) }
        let names = fields.map(\.name)
        guard call.kind(index) == .table else {
            throw wrong(
                schema, index, "a table: \(schema.name) = { \(names.map { $0 + " = …" }.joined(separator: ", ")) }")
        }
        let table = lua_absindex(call.pointer, index)
        let keys = try call.keys(table)
        if let position = keys.positions.first {
            throw call.error(
                "\(schema.name) of \(kind) has a value at position \(position)", "its values are written name = value")
        }
        var values: [String: OptionValue] = [:]
        for key in keys.names {
            guard var field = fields.first(where: { $0.name == key }) else {
                throw call.error(
                    "\(schema.name) of \(kind) has no '\(key)'",
                    Spelling.nearest(to: key, in: names).map { "did you mean '\($0)'?" }
                        ?? "it has \(names.joined(separator: ", "))")
            }
            field.name = "\(schema.name).\(key)"
            call.pushField(table, key)
            defer { call.pop() }
            values[key] = try read(field, at: -1)
        }
        return .record(values)
    }

    private func size(_ schema: OptionSchema, _ index: Int32) throws -> [Double] {
        var numbers: [Double] = []
        if let text = call.string(index) {
            let parts = text.lowercased().split(separator: "x", omittingEmptySubsequences: false)
            numbers = parts.count == 2 ? parts.compactMap { Int($0).map(Double.init) } : []
        } else if call.kind(index) == .table {
            numbers = call.numbers(index, limit: 3) ?? []
        }
        guard numbers.count == 2 else { throw wrong(schema, index, "\"640x480\" or {640, 480}") }
        for side in numbers {
            guard side == side.rounded(), (1...16384).contains(side) else {
                throw outside(schema, side, 1, 16384, "each side is whole and")
            }
        }
        return numbers
    }

    private func numbers(_ schema: OptionSchema, _ index: Int32, count: Int, shape: String) throws -> [Double] {
        guard let numbers = call.numbers(index, limit: count + 1), numbers.count == count else {
            throw wrong(schema, index, shape)
        }
        return numbers
    }

    private func url(_ schema: OptionSchema, _ index: Int32) throws -> OptionValue {
        let value: OptionValue
        let address: String
        if let handle = call.handle(index), handle.tag == .secret {
            let secret = script.model.secrets[handle.index]
            value = .secret(secret)
            address = secret.value
        } else if let text = call.string(index) {
            let secret = Secret(url: text)
            value = secret.redacted == text ? .string(text) : .secret(secret)
            address = text
        } else {
            throw wrong(schema, index, "a URL or a secret")
        }
        guard let colon = address.firstRange(of: "://") else {
            // FFmpeg also has schemes without slashes ("concat:", "file:"), which would open any file.
            guard role == .sink, case .string(let text) = value, !text.contains(":") else {
                throw call.error(
                    "\(schema.name) of \(kind) is no URL\(value.isSecret ? "" : ": \"\(address)\"")",
                    role == .source
                        ? "write a URL such as rtmp://…, or file = for a file" : "write a URL such as rtmp://…")
            }
            return .string(try script.outputPath(text, call))
        }
        let scheme = String(address[..<colon.lowerBound]).lowercased()
        guard Self.schemes.contains(scheme) else {
            throw call.error(
                "\(schema.name) of \(kind) uses the scheme '\(value.isSecret ? "…" : scheme)', which scripts may not use",
                "use one of \(Self.schemes.joined(separator: ", "))")
        }
        return value
    }

    private func oneOf(_ choices: [String]) -> String {
        "one of " + choices.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    private func wrong(_ schema: OptionSchema, _ index: Int32, _ expected: String) -> PatchError {
        call.error("\(schema.name) of \(kind) is \(call.describe(index))", "give it \(expected)")
    }

    private func outside(
        _ schema: OptionSchema, _ number: Double, _ low: Double, _ high: Double, _ prefix: String = "it"
    ) -> PatchError {
        let unit = schema.unit.isEmpty ? "" : " " + schema.unit
        return call.error(
            "\(schema.name) of \(kind) is \(OptionText.number(number))",
            "\(prefix) goes from \(OptionText.number(low)) to \(OptionText.number(high))\(unit)")
    }
}

extension OptionValue {
    var isSecret: Bool { if case .secret = self { true } else { false } }
}

extension LuaCall {
    /// A list of numbers of at most `limit` elements; nil when it is something else.
    func numbers(_ index: Int32, limit: Int) -> [Double]? {
        guard kind(index) == .table else { return nil }
        let absolute = lua_absindex(pointer, index)
        let count = length(absolute)
        guard count <= limit else { return nil }
        var numbers: [Double] = []
        for position in 0..<count {
            pushElement(absolute, position + 1)
            defer { pop() }
            guard let number = number(-1), number.isFinite else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    /// The string keys of a table, sorted, so that what is done with them has one order; other keys beside.
    func keys(_ index: Int32) throws -> (names: [String], positions: [Int]) {
        var names: [String] = []
        var positions: [Int] = []
        try forEach(index) {
            if kind(-2) == .string, let name = string(-2) {
                names.append(name)
            } else if let position = integer(-2) {
                positions.append(position)
            } else {
                throw error("a table has \(describe(-2)) as a key", "keys are names or positions")
            }
        }
        return (names.sorted(), positions.sorted())
    }
}

/// Colours as people write them.
enum ScriptColor {
    /// "#rgb", "#rrggbb", "#rrggbbaa" or {r, g, b[, a]} in 0…1: four numbers.
    static func read(_ call: LuaCall, _ index: Int32, what: String) throws -> [Double] {
        let remedy = "write \"#rrggbb\", \"#rrggbbaa\" or {r, g, b, a} with numbers from 0 to 1"
        if let text = call.string(index) {
            guard let numbers = parse(text) else { throw call.error("\(what) is \(call.describe(index))", remedy) }
            return numbers
        }
        guard let numbers = call.numbers(index, limit: 4), numbers.count >= 3 else {
            throw call.error("\(what) is \(call.describe(index))", remedy)
        }
        if let bad = numbers.first(where: { !(0...1).contains($0) }) {
            throw call.error("\(what) has \(OptionText.number(bad)) in it", remedy)
        }
        return numbers.count == 3 ? numbers + [1] : numbers
    }

    static func parse(_ text: String) -> [Double]? {
        guard text.hasPrefix("#") else { return nil }
        let digits = Array(text.dropFirst())
        guard digits.allSatisfy(\.isHexDigit), [3, 4, 6, 8].contains(digits.count) else { return nil }
        let isShort = digits.count < 6
        var numbers: [Double] = []
        for start in stride(from: 0, to: digits.count, by: isShort ? 1 : 2) {
            let pair = isShort ? [digits[start], digits[start]] : [digits[start], digits[start + 1]]
            guard let value = Int(String(pair), radix: 16) else { return nil }
            numbers.append(Double(value) / 255)
        }
        return numbers.count == 3 ? numbers + [1] : numbers
    }
}
