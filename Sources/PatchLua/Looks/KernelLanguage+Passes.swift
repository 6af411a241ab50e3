internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// What all stages of a kernel share.
struct DefinitionContext {
    var name: String
    var ports: [String]
    var parameters: [ParameterSchema]
    /// Values of the static options; nil inside for one without a value.
    var options: [String: OptionValue?]
    var meaning: KernelLanguage.Meaning
}

/// `passes = { … }`: the stages of a kernel, native ones among them.
extension KernelLanguage {
    private static let passWords = [
        "name", "inputs", "light", "weights", "alpha", "space", "pixel", "sample", "scale", "size", "native", "params",
        "options", "channels", "floats",
    ]

    /// Reads the list at an index, or the list that the function there makes of the options.
    func passes(_ index: Int32, _ context: DefinitionContext, _ call: LuaCall) throws -> [KernelFilter.Stage] {
        if call.kind(index) == .function {
            call.pushCopy(index)
            call.pushTable()
            for (name, value) in context.options.sorted(by: { $0.key < $1.key }) {
                call.push(option: value)
                call.setField(name)
            }
            try call.call(arguments: 1, results: 1)
            lua_copy(call.pointer, -1, index)
            call.pop()
        }
        guard call.kind(index) == .table, case let count = call.length(index), (1...32).contains(count) else {
            throw call.error(
                "passes of '\(context.name)' is \(call.describe(index))",
                "write passes = { { pixel = … }, { sample = … } }, at most 32 of them")
        }
        var names: [String] = []
        for position in 1...count {
            call.pushElement(index, position)
            let table = lua_gettop(call.pointer)
            guard call.kind(table) == .table else {
                throw call.error(
                    "pass \(position) of '\(context.name)' is \(call.describe(table))", "write { pixel = function … }")
            }
            try checkWords(table, Self.passWords, "pass \(position)", call)
            names.append(try text(table, "name", call) ?? "pass\(position)")
            lua_settop(call.pointer, index)
        }
        var stages: [KernelFilter.Stage] = []
        for position in 1...count {
            call.pushElement(index, position)
            let table = lua_gettop(call.pointer)
            call.pushField(table, "native")
            let isNative = !call.isAbsent(-1)
            call.pop()
            let inputNames =
                try self.names(table, "inputs", atLeast: isNative ? 0 : 1, call)
                ?? (position == 1 ? context.ports : [names[position - 2]])
            let inputs = try inputNames.map { try input($0, ofPass: position, names, context, call) }
            if isNative {
                stages.append(try nativeStage(table, inputs, context, call))
            } else {
                let meaning = try meaning(table, context.meaning, call)
                try checkWeights(meaning, context.ports + inputNames, call)
                for word in ["params", "options"] {
                    call.pushField(table, word)
                    guard call.isAbsent(-1) else {
                        throw call.error(
                            "pass \(position) of '\(context.name)' has \(word)",
                            "only native passes have them: a function reads p")
                    }
                    call.pop()
                }
                stages.append(
                    try stage(
                        table: table, name: "\(context.name).\(names[position - 1])", inputs: inputs,
                        inputNames: inputNames, meaning, context, call))
            }
            lua_settop(call.pointer, index)
        }
        return stages
    }

    /// `"image"`, `"pass1"`, `"previous"`, `"image@previous"`, `"pass1@3"`.
    private func input(
        _ word: String, ofPass position: Int, _ names: [String], _ context: DefinitionContext, _ call: LuaCall
    ) throws -> KernelFilter.Stage.Input {
        let parts = word.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let name = parts[0]
        if parts.count == 2 || name == "previous" {
            let when = parts.count == 2 ? parts[1] : "previous"
            guard let ticks = when == "previous" ? 1 : Int(when), (1...120).contains(ticks) else {
                throw call.error(
                    "pass \(position) of '\(context.name)' reads '\(word)'",
                    "write \(name)@previous, or \(name)@N for N ticks ago, 1 to 120")
            }
            if name == "previous" { return .pastStage(names.count - 1, ticks: ticks) }
            if let stage = names.lastIndex(of: name) { return .pastStage(stage, ticks: ticks) }
            if let port = context.ports.firstIndex(of: name) { return .pastPort(port, ticks: ticks) }
        } else {
            if let stage = names.prefix(position - 1).lastIndex(of: name) { return .stage(stage) }
            if let port = context.ports.firstIndex(of: name) { return .port(port) }
        }
        let known = context.ports + (parts.count == 2 ? names[...] : names.prefix(position - 1)) + ["previous"]
        throw call.error(
            "pass \(position) of '\(context.name)' reads '\(word)', which is no input and no earlier pass",
            Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" }
                ?? "there are: \(known.joined(separator: ", "))")
    }

    private func nativeStage(
        _ table: Int32, _ inputs: [KernelFilter.Stage.Input], _ context: DefinitionContext, _ call: LuaCall
    ) throws -> KernelFilter.Stage {
        guard let name = try text(table, "native", call), !name.isEmpty else {
            throw call.error("native of '\(context.name)' has no name", "write native = \"NAME\"")
        }
        for word in ["pixel", "sample"] {
            call.pushField(table, word)
            guard call.isAbsent(-1) else {
                throw call.error("a pass of '\(context.name)' has both native and \(word)", "keep one")
            }
            call.pop()
        }
        var native = KernelFilter.NativeStage(name)
        call.pushField(table, "params")
        if !call.isAbsent(-1) {
            let values = lua_gettop(call.pointer)
            guard call.kind(values) == .table else {
                throw call.error(
                    "params of native '\(name)' is \(call.describe(values))",
                    "write params = { sigma = \"radius\", count = 4 }")
            }
            for key in try call.keys(values).names {
                call.pushField(values, key)
                native.parameters.append(.init(key, try nativeValue(key, of: name, context, call)))
                call.pop()
            }
        }
        call.pop()
        call.pushField(table, "options")
        if !call.isAbsent(-1) {
            let values = lua_gettop(call.pointer)
            guard call.kind(values) == .table else {
                throw call.error(
                    "options of native '\(name)' is \(call.describe(values))", "write options = { file = p.file }")
            }
            for key in try call.keys(values).names {
                call.pushField(values, key)
                native.options.values[key] = try nativeOption(key, of: name, call)
                call.pop()
            }
        }
        call.pop()
        return KernelFilter.Stage(native: native, inputs: inputs, size: try stageSize(table, name, call))
    }

    private func nativeValue(
        _ key: String, of name: String, _ context: DefinitionContext, _ call: LuaCall
    ) throws -> KernelFilter.NativeStage.Value {
        if let number = call.number(-1), number.isFinite { return .constant([Float(number)]) }
        if let bool = call.bool(-1) { return .constant([bool ? 1 : 0]) }
        if let numbers = call.numbers(-1, limit: 4), numbers.count >= 2 { return .constant(numbers.map { Float($0) }) }
        if let parameter = call.string(-1) {
            let known = context.parameters.map(\.name)
            guard known.contains(parameter) else {
                throw call.error(
                    "'\(key)' of native '\(name)' is fed by \"\(parameter)\", which is no parameter",
                    Spelling.nearest(to: parameter, in: known).map { "did you mean \"\($0)\"?" }
                        ?? "there are: \(known.joined(separator: ", "))")
            }
            return .parameter(parameter)
        }
        throw call.error(
            "'\(key)' of native '\(name)' is \(call.describe(-1))", "give it a number or a parameter's name")
    }

    private func nativeOption(_ key: String, of name: String, _ call: LuaCall) throws -> OptionValue {
        if let number = call.number(-1), number.isFinite { return .number(number) }
        if let bool = call.bool(-1) { return .bool(bool) }
        if let text = call.string(-1) { return .string(text) }
        if let numbers = call.numbers(-1, limit: 1024) { return .vector(numbers) }
        if call.kind(-1) == .table {
            let list = lua_gettop(call.pointer)
            var texts: [String] = []
            for position in 0..<min(1024, call.length(list)) {
                call.pushElement(list, position + 1)
                defer { call.pop() }
                guard let text = call.string(-1) else { break }
                texts.append(text)
            }
            if !texts.isEmpty, texts.count == call.length(list) { return .list(texts) }
        }
        throw call.error(
            "option '\(key)' of native '\(name)' is \(call.describe(-1))",
            "give it a number, a text or a list of one kind")
    }

    /// `scale = 1/2`, `scale = {1/2, 1}` or `size = {256, 1}`.
    func stageSize(_ table: Int32, _ name: String, _ call: LuaCall) throws -> KernelFilter.StageSize {
        call.pushField(table, "scale")
        defer { call.pop() }
        if !call.isAbsent(-1) {
            let factors = call.number(-1).map { [$0, $0] } ?? call.numbers(-1, limit: 2) ?? []
            guard factors.count == 2, factors.allSatisfy({ $0 > 0 && $0 <= 16 }) else {
                throw call.error(
                    "scale of '\(name)' is \(call.describe(-1))",
                    "write scale = 1/2 or scale = {1/2, 1}; up to 16 is possible")
            }
            return .scaled(x: factors[0], y: factors[1])
        }
        // The size of a whole kernel is its nodes' business.
        guard table != 1 else { return .filter }
        call.pushField(table, "size")
        defer { call.pop() }
        if call.isAbsent(-1) { return .filter }
        guard let numbers = call.numbers(-1, limit: 2), numbers.count == 2,
            let width = Int(exactly: numbers[0]), let height = Int(exactly: numbers[1]),
            (1...VideoFormat.maximumSide).contains(width), (1...VideoFormat.maximumSide).contains(height)
        else {
            throw call.error(
                "size of '\(name)' is \(call.describe(-1))", "write size = {256, 1}, or scale = 1/2 for a part")
        }
        return .pixels(width: width, height: height)
    }
}
