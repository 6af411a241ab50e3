internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// `kernel{ … }`: reads the table and runs its functions.
extension KernelLanguage {
    private static let words = [
        "summary", "params", "options", "light", "alpha", "space", "inputs", "pixel", "sample", "passes", "scale",
        "ends", "size", "keepsAlpha", "optional", "channels", "floats", "weights",
    ]

    /// How a stage's numbers are meant.
    struct Meaning {
        var light = Light.encoded
        /// `light = "graph"`: encoded, or linear where the graph asks for it.
        var followsGraph = false
        /// Inputs whose numbers weigh and are no colours.
        var weights: Set<String> = []
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
        if let odd = ports.first(where: { $0 == "previous" || $0.contains("@") }) {
            throw call.error("an input of kernel '\(name)' is called '\(odd)'", "that word means an earlier picture")
        }
        let sizeWord = try text(1, "size", call) ?? KernelFilter.Sizing.input.rawValue
        guard let sizing = KernelFilter.Sizing(rawValue: sizeWord) else {
            throw call.error(
                "size of kernel '\(name)' is \"\(sizeWord)\"",
                "it is \"optional\" or \"required\" for a node that takes size = \"640x360\"")
        }
        let options = try optionSchemas(parameters, call)
        let given = givenOptions
        givenOptions = NodeOptions()
        lookupFiles = Set(given.values.keys.compactMap { given.string($0) })
        let context = DefinitionContext(
            name: name, ports: ports, parameters: parameters,
            options: Dictionary(
                uniqueKeysWithValues: options.map { ($0.schema.name, given.values[$0.schema.name] ?? $0.initial) }),
            meaning: try meaning(1, Meaning(), call))
        try checkWeights(context.meaning, ports, call)
        var stages: [KernelFilter.Stage] = []
        call.pushField(1, "passes")
        if call.isAbsent(-1) {
            call.pop()
            stages.append(
                try stage(
                    table: 1, name: name, inputs: ports.indices.map { .port($0) }, inputNames: ports, context.meaning,
                    context, call))
        } else {
            for word in ["pixel", "sample", "scale"] {
                call.pushField(1, word)
                guard call.isAbsent(-1) else {
                    throw call.error("kernel '\(name)' has both passes and \(word)", "put \(word) into a pass")
                }
                call.pop()
            }
            stages = try passes(lua_gettop(call.pointer), context, call)
        }
        var filter = KernelFilter(
            name: name, summary: summary, ports: ports, parameters: parameters, options: options.map(\.schema),
            stages: stages, ends: try ends(context, call))
        filter.sizing = sizing
        filter.portDefaults = try portDefaults(ports, name, call)
        call.pushField(1, "keepsAlpha")
        filter.keepsAlpha = call.isAbsent(-1) || call.isTrue(-1)
        call.pop()
        return filter
    }

    /// `weights = { "mask" }` names inputs.
    func checkWeights(_ meaning: Meaning, _ known: [String], _ call: LuaCall) throws {
        for name in meaning.weights.sorted() where !known.contains(name) {
            throw call.error(
                "weights names '\(name)', which is no input",
                Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" }
                    ?? "there are: \(known.joined(separator: ", "))")
        }
    }

    /// `ends = "progress"`: the parameter at whose ends the result is one of the two inputs.
    private func ends(_ context: DefinitionContext, _ call: LuaCall) throws -> KernelFilter.Ends? {
        guard let name = try text(1, "ends", call) else { return nil }
        guard let parameter = context.parameters.first(where: { $0.name == name }), parameter.form == .float else {
            throw call.error(
                "ends of kernel '\(context.name)' is \"\(name)\"", "name one of its parameters that is a number")
        }
        guard context.ports.count >= 2 else {
            throw call.error(
                "kernel '\(context.name)' has ends and one input",
                "a transition goes from its first input to its second")
        }
        return KernelFilter.Ends(parameter: name)
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

    func stage(
        table: Int32, name: String, inputs: [KernelFilter.Stage.Input], inputNames: [String], _ meaning: Meaning,
        _ context: DefinitionContext, _ call: LuaCall
    ) throws -> KernelFilter.Stage {
        let parameters = context.parameters
        if meaning.followsGraph, meaning.space != .any, let color = parameters.first(where: { $0.form == .color }) {
            throw call.error(
                "kernel '\(name)' works in the graph's light and has the colour '\(color.name)'",
                "write light = \"encoded\" or \"linear\", or space = \"any\" if it only weighs colours")
        }
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
        let place = try inspect(word, inputCount: inputNames.count, context.options, call)

        let builder = KernelBuilder(
            name: name,
            inputs: inputNames.map { word in
                // A name in a kernel's text is one word.
                let name = String(word.map { $0 == "@" ? "_" : $0 })
                return InputDeclaration(
                    name: name, light: meaning.weights.contains(word) ? .encoded : meaning.light, alpha: meaning.alpha)
            },
            uniforms: parameters.map {
                UniformDeclaration(
                    name: $0.name, type: $0.form.valueType, range: $0.range ?? ($0.form == .color ? 0...1 : nil))
            },
            light: meaning.light, alpha: meaning.alpha, space: meaning.space)
        serial &+= 1
        let trace = KernelTrace(
            serial: serial, builder: builder, parameterNames: parameters.map(\.name),
            colours: Set(parameters.filter { $0.form == .color }.map(\.name)), options: context.options,
            inputCount: inputNames.count)
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
        var stage = KernelFilter.Stage(
            kernel: kernel, inputs: inputs, uniforms: parameters.map(\.name), size: try stageSize(table, name, call),
            channels: channels)
        stage.keepsFloats = try keepsFloats(table, name, call)
        stage.following.isAsked = meaning.followsGraph
        stage.following.weights = Set(inputNames.indices.filter { meaning.weights.contains(inputNames[$0]) })
        return stage
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

    /// `floats = true`: the result is stored in 32 bits a number.
    private func keepsFloats(_ table: Int32, _ name: String, _ call: LuaCall) throws -> Bool {
        call.pushField(table, "floats")
        defer { call.pop() }
        guard call.isAbsent(-1) || call.kind(-1) == .bool else {
            throw call.error(
                "floats of '\(name)' is \(call.describe(-1))", "it is true for 32 bits a number, else left out")
        }
        return call.isTrue(-1)
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
    func inspect(
        _ word: String, inputCount: Int, _ options: [String: OptionValue?], _ call: LuaCall
    ) throws -> SourceLocation? {
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
            if let sign = PixelComparison.find(in: lines[line - 1], names: names, plain: Set(options.keys)) {
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

    func checkWords(_ table: Int32, _ words: [String], _ what: String, _ call: LuaCall) throws {
        for key in try call.keys(table).names where !words.contains(key) {
            throw call.error(
                "\(what) has no '\(key)'",
                Spelling.nearest(to: key, in: words).map { "did you mean '\($0)'?" }
                    ?? "it takes \(words.joined(separator: ", "))")
        }
    }

    func text(_ table: Int32, _ key: String, _ call: LuaCall) throws -> String? {
        call.pushField(table, key)
        defer { call.pop() }
        if call.isAbsent(-1) { return nil }
        guard let text = call.string(-1) else { throw call.error("\(key) is \(call.describe(-1))", "give it a text") }
        return text
    }

    func names(_ table: Int32, _ key: String, atLeast least: Int = 1, _ call: LuaCall) throws -> [String]? {
        call.pushField(table, key)
        defer { call.pop() }
        if call.isAbsent(-1) { return nil }
        guard call.kind(-1) == .table, case let count = call.length(-1), (least...8).contains(count) else {
            throw call.error("\(key) is \(call.describe(-1))", "write \(key) = { \"image\", \"overlay\" }")
        }
        let list = lua_gettop(call.pointer)
        var names: [String] = []
        for position in 1..<count + 1 {
            call.pushElement(list, position)
            defer { call.pop() }
            guard let name = call.string(-1), !name.isEmpty else {
                throw call.error("\(key) has \(call.describe(-1)) in it", "inputs are names")
            }
            names.append(name)
        }
        return names
    }

    func meaning(_ table: Int32, _ base: Meaning, _ call: LuaCall) throws -> Meaning {
        var meaning = base
        func read<W: RawRepresentable & CaseIterable>(_ key: String, _ value: inout W, or other: String? = nil) throws
        where W.RawValue == String {
            guard let name = try text(table, key, call), name != other else { return }
            guard let word = W(rawValue: name) else {
                let words = W.allCases.map(\.rawValue) + [other].compactMap { $0 }
                throw call.error(
                    "\(key) is \"\(name)\"", "it is \(words.map { "\"\($0)\"" }.joined(separator: " or "))")
            }
            value = word
        }
        if let light = try text(table, "light", call) {
            meaning.followsGraph = light == "graph"
            meaning.light = .encoded
        }
        try read("light", &meaning.light, or: "graph")
        if let weights = try names(table, "weights", call) { meaning.weights = Set(weights) }
        try read("alpha", &meaning.alpha)
        try read("space", &meaning.space)
        return meaning
    }
}
