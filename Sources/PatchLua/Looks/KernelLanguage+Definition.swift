internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// `kernel{ … }`: reads the table and runs its functions.
extension KernelLanguage {
    private static let words = [
        "summary", "params", "light", "alpha", "space", "inputs", "pixel", "sample", "passes", "size", "keepsAlpha",
        "optional",
    ]
    private static let passWords = ["name", "inputs", "light", "alpha", "space", "pixel", "sample", "channels"]

    /// How a stage's numbers are meant.
    private struct Meaning {
        var light = Light.encoded
        var alpha = Alpha.straight
        var space = KernelSpace.rgb
    }

    /// Makes a filter of the table at index 1.
    /// - Throws: `PatchError` with the look's line.
    func define(_ call: LuaCall) throws -> KernelFilter {
        guard trace == nil else {
            throw call.error("a kernel cannot be made inside a kernel", "make it outside the pixel function")
        }
        guard call.kind(1) == .table else {
            throw call.error("kernel takes a table", "write kernel{ pixel = function(c, p) … end }")
        }
        lua_settop(call.pointer, 1)
        call.pushElement(1, 1)
        let name = call.string(-1) ?? defaultName()
        call.pop()
        try checkWords(1, Self.words, "kernel", call)
        let summary = try text(1, "summary", call) ?? ""
        let parameters = try parameterSchemas(call)
        let ports = try names(1, "inputs", call) ?? ["image"]
        guard (1...8).contains(ports.count), Set(ports).count == ports.count else {
            throw call.error("kernel '\(name)' has \(ports.count) inputs", "it has 1 to 8, each with its own name")
        }
        let meaning = try meaning(1, Meaning(), call)
        let sizeWord = try text(1, "size", call) ?? KernelFilter.Sizing.input.rawValue
        guard let sizing = KernelFilter.Sizing(rawValue: sizeWord) else {
            throw call.error(
                "size of kernel '\(name)' is \"\(sizeWord)\"",
                "it is \"optional\" or \"required\" for a node that takes size = \"640x360\"")
        }

        var stages: [KernelFilter.Stage] = []
        call.pushField(1, "passes")
        if call.isAbsent(-1) {
            call.pop()
            stages.append(
                try stage(
                    table: 1, name: name, inputs: ports.indices.map { .port($0) }, inputNames: ports, meaning,
                    parameters,
                    call))
        } else {
            let passes = lua_gettop(call.pointer)
            guard call.kind(passes) == .table, case let count = call.length(passes), (1...32).contains(count) else {
                throw call.error(
                    "passes of '\(name)' is \(call.describe(passes))",
                    "write passes = { { pixel = … }, { sample = … } }")
            }
            for word in ["pixel", "sample"] {
                call.pushField(1, word)
                guard call.isAbsent(-1) else {
                    throw call.error("kernel '\(name)' has both passes and \(word)", "put \(word) into a pass")
                }
                call.pop()
            }
            var passNames: [String] = []
            for position in 1...count {
                call.pushElement(passes, position)
                let table = lua_gettop(call.pointer)
                guard call.kind(table) == .table else {
                    throw call.error(
                        "pass \(position) of '\(name)' is \(call.describe(table))", "write { pixel = function … }")
                }
                try checkWords(table, Self.passWords, "pass \(position)", call)
                let inputNames =
                    try self.names(table, "inputs", call)
                    ?? (position == 1 ? ports : [passNames[position - 2]])
                var inputs: [KernelFilter.Stage.Input] = []
                for input in inputNames {
                    if let stage = passNames.lastIndex(of: input) {
                        inputs.append(.stage(stage))
                    } else if let port = ports.firstIndex(of: input) {
                        inputs.append(.port(port))
                    } else {
                        let known = ports + passNames
                        throw call.error(
                            "pass \(position) of '\(name)' reads '\(input)', which is no input and no earlier pass",
                            Spelling.nearest(to: input, in: known).map { "did you mean '\($0)'?" }
                                ?? "there are: \(known.joined(separator: ", "))")
                    }
                }
                let passName = try text(table, "name", call) ?? "pass\(position)"
                stages.append(
                    try stage(
                        table: table, name: "\(name).\(passName)", inputs: inputs, inputNames: inputNames,
                        try self.meaning(table, meaning, call), parameters, call))
                passNames.append(passName)
                lua_settop(call.pointer, passes)
            }
        }
        var filter = KernelFilter(name: name, summary: summary, ports: ports, parameters: parameters, stages: stages)
        filter.sizing = sizing
        filter.portDefaults = try portDefaults(ports, name, call)
        call.pushField(1, "keepsAlpha")
        filter.keepsAlpha = call.isAbsent(-1) || call.isTrue(-1)
        call.pop()
        return filter
    }

    /// `optional = { mask = "#ffffff" }`: the ports that need no wire, and the colour that they show without one.
    private func portDefaults(_ ports: [String], _ name: String, _ call: LuaCall) throws -> [Int: [Float]] {
        call.pushField(1, "optional")
        defer { call.pop() }
        if call.isAbsent(-1) { return [:] }
        let shape = "write optional = { mask = \"#ffffff\" }"
        guard call.kind(-1) == .table else { throw call.error("optional is \(call.describe(-1))", shape) }
        let table = lua_gettop(call.pointer)
        var defaults: [Int: [Float]] = [:]
        for key in try call.keys(table).names {
            guard let port = ports.firstIndex(of: key), port > 0 else {
                throw call.error(
                    "optional names '\(key)', which is \(ports.first == key ? "the first input" : "no input") of '\(name)'",
                    shape)
            }
            call.pushField(table, key)
            defaults[port] = try ScriptColor.read(call, lua_gettop(call.pointer), what: "optional '\(key)'").map {
                Float($0)
            }
            call.pop()
        }
        return defaults
    }

    // MARK: One stage

    private func stage(
        table: Int32, name: String, inputs: [KernelFilter.Stage.Input], inputNames: [String], _ meaning: Meaning,
        _ parameters: [ParameterSchema], _ call: LuaCall
    ) throws -> KernelFilter.Stage {
        call.pushField(table, "pixel")
        let hasPixel = !call.isAbsent(-1)
        call.pushField(table, "sample")
        let hasSample = !call.isAbsent(-1)
        guard hasPixel != hasSample else {
            throw call.error(
                "kernel '\(name)' has \(hasPixel ? "both pixel and sample" : "no function")",
                hasPixel ? "keep one" : "write pixel = function(c, p) … end")
        }
        let function = lua_gettop(call.pointer) - (hasPixel ? 1 : 0)
        let word = hasPixel ? "pixel" : "sample"
        guard call.kind(function) == .function else {
            throw call.error("\(word) of '\(name)' is \(call.describe(function))", "write \(word) = function(…) … end")
        }
        call.pushCopy(function)
        let place = try inspect(word, inputCount: inputNames.count, call)

        let builder = KernelBuilder(
            name: name,
            inputs: inputNames.map { InputDeclaration(name: $0, light: meaning.light, alpha: meaning.alpha) },
            uniforms: parameters.map { UniformDeclaration(name: $0.name, type: $0.form.valueType) },
            light: meaning.light, alpha: meaning.alpha, space: meaning.space)
        serial &+= 1
        let trace = KernelTrace(
            serial: serial, builder: builder, parameterNames: parameters.map(\.name),
            colours: Set(parameters.filter { $0.form == .color }.map(\.name)), inputCount: inputNames.count)
        self.trace = trace
        defer { self.trace = nil }
        lua_checkstack(call.pointer, Int32(inputNames.count) + 8)
        for index in inputNames.indices {
            if hasPixel {
                trace.push(trace.builder.current(index), call)
            } else {
                call.push(Handle(.reader, index, 0, Int(serial)))
            }
        }
        if hasSample { trace.push(trace.builder.builtin(.position), call) }
        call.push(Handle(.parameters, 0, 0, Int(serial)))
        try call.call(arguments: inputNames.count + (hasSample ? 2 : 1), results: 1)
        guard let handle = call.handle(-1), handle.tag == .pixel, let result = trace.value(handle), result.type == .vec4
        else {
            throw wrongResult(word, trace, place, call)
        }
        try trace.checkConditions()
        let channels = try channels(table, name, call)
        let kernel: Kernel
        do { kernel = try trace.builder.finish(try keep(channels, of: result, trace)) } catch {
            throw PatchError(error.code == .budget ? .budget : .kernel, error.message, remedy: error.remedy, at: place)
        }
        return KernelFilter.Stage(
            kernel: kernel, inputs: inputs, uniforms: parameters.map(\.name), channels: channels)
    }

    /// How many channels a pass says its result has.
    private func channels(_ table: Int32, _ name: String, _ call: LuaCall) throws -> Int {
        call.pushField(table, "channels")
        defer { call.pop() }
        if call.isAbsent(-1) { return 4 }
        guard let count = call.integer(-1), (1...4).contains(count) else {
            throw call.error(
                "channels of '\(name)' is \(call.describe(-1))", "it is 1 (r), 2 (r, g), 3 (r, g, b) or 4")
        }
        return count
    }

    /// The result as it is read back when only so many channels are stored, whether or not it is stored.
    private func keep(_ channels: Int, of result: Value, _ trace: KernelTrace) throws(KernelError) -> Value {
        guard channels < 4 else { return result }
        let one = trace.builder.constant(Float(1))
        switch channels {
        case 1: return try trace.builder.construct(.vec4, [try trace.builder.swizzle(result, "rrr"), one])
        case 2:
            return try trace.builder.construct(
                .vec4, [try trace.builder.swizzle(result, "rg"), trace.builder.constant(Float(0)), one])
        default: return try trace.builder.construct(.vec4, [try trace.builder.swizzle(result, "rgb"), one])
        }
    }

    private func wrongResult(_ word: String, _ trace: KernelTrace, _ place: SourceLocation?, _ call: LuaCall)
        -> PatchError
    {
        var what = call.describe(-1)
        var remedy = "return vec4(r, g, b, a)"
        if let handle = call.handle(-1), handle.tag == .pixel, let value = trace.value(handle) {
            what = "a \(value.type.rawValue)"
            if value.type == .vec3 { remedy = "return vec4(rgb, c.a)" }
            if value.type == .float { remedy = "return vec4(vec3(grey), c.a)" }
        } else if call.isAbsent(-1) {
            what = "nothing"
            remedy = "end it with return vec4(r, g, b, a)"
        }
        return PatchError(.kernel, "\(word) returns \(what), not a vec4", remedy: remedy, at: place)
    }

    /// Looks at the function on top of the stack: how many values it takes, and slips that Lua hides.
    private func inspect(_ word: String, inputCount: Int, _ call: LuaCall) throws -> SourceLocation? {
        var (first, last): (Int32, Int32) = (0, 0)
        guard let source = patch_function_place(call.pointer, &first, &last), first > 0 else { return call.location }
        let file = state.fileName(ofChunk: String(cString: source))
        let place = SourceLocation(file: file, line: Int(first))
        var names: [String] = []
        for index in 1...Int32(12) {
            guard let name = lua_getlocal(call.pointer, nil, index) else { break }
            names.append(String(cString: name))
        }
        // A comparison with == between a pixel value and a number is false without asking anybody.
        guard let lines = lines(of: file) else { return place }
        for line in max(1, Int(first))...max(1, Int(last)) where line <= lines.count {
            if let sign = PixelComparison.find(in: lines[line - 1], names: names) {
                throw PatchError(
                    .kernel, "pixel values cannot be compared with \(sign): Lua makes a plain true or false of it",
                    remedy: "write \(sign == "==" ? "eq" : "ne")(a, b), and select(eq(a, b), x, y) for a choice",
                    at: SourceLocation(file: file, line: line))
            }
        }
        return place
    }

    private func lines(of file: String) -> [Substring]? {
        if let known = lineCache[file] { return known }
        guard let text = texts[file] else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        lineCache[file] = lines
        return lines
    }

    // MARK: Reading the table

    private func checkWords(_ table: Int32, _ words: [String], _ what: String, _ call: LuaCall) throws {
        for key in try call.keys(table).names where !words.contains(key) {
            throw call.error(
                "\(what) has no '\(key)'",
                Spelling.nearest(to: key, in: words).map { "did you mean '\($0)'?" }
                    ?? "it takes \(words.joined(separator: ", "))")
        }
    }

    private func text(_ table: Int32, _ key: String, _ call: LuaCall) throws -> String? {
        call.pushField(table, key)
        defer { call.pop() }
        if call.isAbsent(-1) { return nil }
        guard let text = call.string(-1) else { throw call.error("\(key) is \(call.describe(-1))", "give it a text") }
        return text
    }

    private func names(_ table: Int32, _ key: String, _ call: LuaCall) throws -> [String]? {
        call.pushField(table, key)
        defer { call.pop() }
        if call.isAbsent(-1) { return nil }
        guard call.kind(-1) == .table, case let count = call.length(-1), (1...8).contains(count) else {
            throw call.error("\(key) is \(call.describe(-1))", "write \(key) = { \"image\", \"overlay\" }")
        }
        let list = lua_gettop(call.pointer)
        var names: [String] = []
        for position in 1...count {
            call.pushElement(list, position)
            defer { call.pop() }
            guard let name = call.string(-1), !name.isEmpty else {
                throw call.error("\(key) has \(call.describe(-1)) in it", "inputs are names")
            }
            names.append(name)
        }
        return names
    }

    private func meaning(_ table: Int32, _ base: Meaning, _ call: LuaCall) throws -> Meaning {
        var meaning = base
        func read<W: RawRepresentable & CaseIterable>(_ key: String, _ value: inout W) throws
        where W.RawValue == String {
            guard let name = try text(table, key, call) else { return }
            guard let word = W(rawValue: name) else {
                throw call.error(
                    "\(key) is \"\(name)\"",
                    "it is \(W.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or "))")
            }
            value = word
        }
        try read("light", &meaning.light)
        try read("alpha", &meaning.alpha)
        try read("space", &meaning.space)
        return meaning
    }

    private func parameterSchemas(_ call: LuaCall) throws -> [ParameterSchema] {
        call.pushField(1, "params")
        defer { call.pop() }
        if call.isAbsent(-1) { return [] }
        guard call.kind(-1) == .table else {
            throw call.error("params is \(call.describe(-1))", "write params = { amount = { 0.5, min = 0, max = 1 } }")
        }
        let table = lua_gettop(call.pointer)
        let keys = try call.keys(table)
        guard keys.positions.isEmpty else {
            throw call.error(
                "params has a value without a name", "write params = { amount = { 0.5, min = 0, max = 1 } }")
        }
        guard keys.names.count <= 64 else {
            throw call.error("a kernel has \(keys.names.count) params", "64 are the limit")
        }
        var schemas: [ParameterSchema] = []
        for name in keys.names {
            call.pushField(table, name)
            let entry = lua_gettop(call.pointer)
            schemas.append(try parameter(name, entry, call))
            lua_settop(call.pointer, table)
        }
        return schemas
    }

    private func parameter(_ name: String, _ entry: Int32, _ call: LuaCall) throws -> ParameterSchema {
        let shape = "\(name) = { 0.5, min = 0, max = 1 }"
        var valueIndex = entry
        if call.kind(entry) == .table {
            try checkWords(
                entry, ["min", "max", "neutral", "label", "unit", "animatable"], "parameter '\(name)'", call)
            call.pushElement(entry, 1)
            valueIndex = lua_gettop(call.pointer)
        }
        let (form, value) = try initial(valueIndex, "parameter '\(name)'", shape, call)
        var schema = ParameterSchema(name, form, default: value)
        guard call.kind(entry) == .table else { return schema }
        func number(_ key: String) throws -> Float? {
            call.pushField(entry, key)
            defer { call.pop() }
            if call.isAbsent(-1) { return nil }
            guard let number = call.number(-1), number.isFinite else {
                throw call.error("\(key) of parameter '\(name)' is \(call.describe(-1))", "give it a number")
            }
            return Float(number)
        }
        let (low, high) = (try number("min"), try number("max"))
        if low != nil || high != nil {
            let (low, high) = (low ?? -.greatestFiniteMagnitude, high ?? .greatestFiniteMagnitude)
            guard low < high else { throw call.error("min of parameter '\(name)' is not below max", "write \(shape)") }
            schema.range = low...high
            for float in value where !schema.range!.contains(float) {
                throw call.error(
                    "parameter '\(name)' begins with \(OptionText.number(float))",
                    "it goes from \(OptionText.number(low)) to \(OptionText.number(high))")
            }
        } else if form == .color {
            schema.range = 0...1
        }
        call.pushField(entry, "neutral")
        if !call.isAbsent(-1) {
            let (neutralForm, neutral) = try initial(
                lua_gettop(call.pointer), "neutral of parameter '\(name)'", shape, call)
            guard neutralForm == form else {
                throw call.error("neutral of parameter '\(name)' is of another type than its default")
            }
            schema.neutral = neutral
        }
        call.pushField(entry, "animatable")
        schema.isAnimatable = form != .bool && (call.isAbsent(-1) || call.isTrue(-1))
        schema.label = try text(entry, "label", call) ?? ""
        schema.unit = try text(entry, "unit", call) ?? ""
        return schema
    }

    private func initial(
        _ index: Int32, _ what: String, _ shape: String, _ call: LuaCall
    ) throws -> (ParameterSchema.Form, [Float]) {
        if let number = call.number(index), number.isFinite { return (.float, [Float(number)]) }
        if let bool = call.bool(index) { return (.bool, [bool ? 1 : 0]) }
        if call.kind(index) == .string {
            return (.color, try ScriptColor.read(call, index, what: what).map { Float($0) })
        }
        if let numbers = call.numbers(index, limit: 4), numbers.count >= 2 {
            let form: ParameterSchema.Form = numbers.count == 2 ? .vec2 : numbers.count == 3 ? .vec3 : .vec4
            return (form, numbers.map { Float($0) })
        }
        throw call.error("\(what) has no value: \(call.describe(index))", "write \(shape)")
    }
}

extension ParameterSchema.Form {
    /// The kernel's type for it.
    var valueType: ValueType {
        switch self {
        case .float: .float
        case .vec2: .vec2
        case .vec3: .vec3
        case .vec4, .color: .vec4
        case .bool: .bool
        }
    }
}

/// Finds `c.r == 0.5` in a line: Lua answers it with false and asks nobody, so only the text tells.
enum PixelComparison {
    static func find(in line: Substring, names: [String]) -> String? {
        let code = Array(line.utf8)
        var quote: UInt8?
        for i in code.indices {
            if let open = quote {
                if code[i] == open { quote = nil }
                continue
            }
            if code[i] == UInt8(ascii: "\"") || code[i] == UInt8(ascii: "'") {
                quote = code[i]
                continue
            }
            guard i + 1 < code.count else { break }
            if code[i] == UInt8(ascii: "-"), code[i + 1] == UInt8(ascii: "-") { break }
            guard code[i + 1] == UInt8(ascii: "="), code[i] == UInt8(ascii: "=") || code[i] == UInt8(ascii: "~") else {
                continue
            }
            if names.contains(word(endingBefore: i, code)) || names.contains(word(startingAt: i + 2, code)) {
                return code[i] == UInt8(ascii: "=") ? "==" : "~="
            }
        }
        return nil
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        LuaPattern.matches(byte, class: UInt8(ascii: "w")) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    /// The first name of `a.b.c` before a position; "" unless it has a field.
    private static func word(endingBefore end: Int, _ code: [UInt8]) -> String {
        var last = end - 1
        while last >= 0, code[last] == 0x20 { last -= 1 }
        var first = last
        while first >= 0, isWord(code[first]) { first -= 1 }
        return first < last ? head(code[(first + 1)...last]) : ""
    }

    private static func word(startingAt start: Int, _ code: [UInt8]) -> String {
        var first = start
        while first < code.count, code[first] == 0x20 { first += 1 }
        var last = first
        while last < code.count, isWord(code[last]) { last += 1 }
        return first < last ? head(code[first..<last]) : ""
    }

    private static func head(_ word: ArraySlice<UInt8>) -> String {
        guard let dot = word.firstIndex(of: UInt8(ascii: ".")) else { return "" }
        return String(decoding: word[..<dot], as: UTF8.self)
    }
}
