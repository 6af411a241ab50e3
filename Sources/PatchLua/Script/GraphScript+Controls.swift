internal import CLua
import PatchGraph
import PatchMedia

/// What the operator can turn, and values that move by themselves.
extension GraphScript {
    enum ControlKind: String { case param, toggle, choice, button, color, point }

    func installControls(_ call: LuaCall) {
        for kind in [ControlKind.param, .toggle, .choice, .button, .point] {
            define(kind.rawValue) { script, call in try script.declareControl(kind, call) }
        }
        define("lfo") { script, call in try script.makeOscillation(call) }
        define("keyframes") { script, call in try script.makeKeyframes(call) }
        define("graph") { script, call in try script.setSettings(call) }
        state.defineHandle(.animation) { [unowned self] _ in
            define("__tostring") { _, call in
                call.push("animation")
                return 1
            }
        }
        state.defineHandle(.control) { [unowned self] call in
            define("__index") { script, call in try script.readControl(call) }
            define("__newindex") { script, call in try script.writeControl(call) }
            define("__tostring") { script, call in
                call.push(script.title(call, 1))
                return 1
            }
            define("__shr") { script, call in
                throw call.error("a control sends no frames", "give it to a parameter: filter.name{ amount = control }")
            }
            for name in ["__add", "__sub", "__mul", "__div", "__unm", "__lt", "__le"] {
                define(name) { script, call in
                    let index: Int32 = call.handle(1)?.tag == .control ? 1 : 2
                    throw call.error(
                        "\(script.title(call, index)) is no number",
                        "use .value inside onChange, or compute in a kernel")
                }
            }
        }
    }

    // MARK: Declaring

    func declareControl(_ kind: ControlKind, _ call: LuaCall) throws -> Int32 {
        let word = kind.rawValue
        guard isLoading else {
            throw call.error("controls are declared while the graph loads", "move \(word){ … } to the top")
        }
        guard call.kind(1) == .table else { throw call.error("\(word) takes a table", "write \(word){ \"name\", … }") }
        let allowed: [String] =
            switch kind {
            case .param: ["min", "max", "step", "unit", "label"]
            case .choice: ["options", "label"]
            default: ["label"]
            }
        let (names, positions) = try call.keys(1)
        if let name = names.first(where: { !allowed.contains($0) }) {
            throw call.error(
                "\(word) has no '\(name)'",
                Spelling.nearest(to: name, in: allowed).map { "did you mean '\($0)'?" }
                    ?? "it takes \(allowed.joined(separator: ", "))")
        }
        if let extra = positions.first(where: { $0 > 2 }) {
            throw call.error(
                "\(word) has a value at position \(extra)", "all but name and default are written name = value")
        }
        call.pushElement(1, 1)
        guard let name = call.string(-1), !name.isEmpty else {
            throw call.error("\(word) needs a name", "write \(word){ \"name\", … }")
        }
        if let other = model.controlIndices[name] {
            let place = model.controls[other].control.location.map { " at \($0)" } ?? ""
            throw call.error("there is a control '\(name)' already\(place)", "names are unique: choose another")
        }
        call.pushElement(1, 2)
        let defaultIndex = lua_gettop(call.pointer)
        func field(_ name: String, _ body: () throws -> Void) rethrows {
            call.pushField(1, name)
            defer { call.pop() }
            if !call.isAbsent(-1) { try body() }
        }
        func number(_ key: String) throws -> Double? {
            var result: Double?
            try field(key) {
                guard let number = call.number(-1), number.isFinite else {
                    throw call.error("\(key) of \(word) '\(name)' is \(call.describe(-1))", "give it a number")
                }
                result = number
            }
            return result
        }
        func text(_ key: String) throws -> String {
            var result = ""
            try field(key) {
                guard let text = call.string(-1) else {
                    throw call.error("\(key) of \(word) '\(name)' is \(call.describe(-1))", "give it a text")
                }
                result = text
            }
            return result
        }
        let form: Control.Form
        let value: ControlValue
        switch kind {
        case .param:
            let low = try number("min") ?? 0
            let high = try number("max") ?? 1
            guard low < high else {
                throw call.error(
                    "param '\(name)' goes from \(OptionText.number(low)) to \(OptionText.number(high))",
                    "min is below max")
            }
            let step = try number("step")
            if let step, step <= 0 {
                throw call.error("step of param '\(name)' is \(OptionText.number(step))", "it is above 0")
            }
            let initial = call.isAbsent(defaultIndex) ? low : call.number(defaultIndex)
            guard let initial else {
                throw call.error("param '\(name)' begins with \(call.describe(defaultIndex))", "give it a number")
            }
            guard (low...high).contains(initial) else {
                throw call.error(
                    "param '\(name)' begins with \(OptionText.number(initial))",
                    "it goes from \(OptionText.number(low)) to \(OptionText.number(high))")
            }
            form = .number(range: low...high, step: step, unit: try text("unit"))
            value = .number(initial)
        case .toggle:
            guard call.isAbsent(defaultIndex) || call.bool(defaultIndex) != nil else {
                throw call.error("toggle '\(name)' begins with \(call.describe(defaultIndex))", "give it true or false")
            }
            form = .toggle
            value = .bool(call.bool(defaultIndex) ?? false)
        case .choice:
            var options: [String] = []
            func read(_ index: Int32) throws {
                guard call.kind(index) == .table else { return }
                for position in 0..<min(1000, call.length(index)) {
                    call.pushElement(index, position + 1)
                    defer { call.pop() }
                    guard let option = call.string(-1) else {
                        throw call.error(
                            "choice '\(name)' has \(call.describe(-1)) among its options", "options are texts")
                    }
                    options.append(option)
                }
            }
            try field("options") { try read(lua_gettop(call.pointer)) }
            if options.isEmpty { try read(defaultIndex) }
            guard let first = options.first else {
                throw call.error(
                    "choice '\(name)' has no options", "write choice{ \"name\", \"a\", options = {\"a\", \"b\"} }")
            }
            let initial = call.string(defaultIndex) ?? first
            guard options.contains(initial) else {
                throw call.error(
                    "choice '\(name)' begins with \"\(initial)\"", "it is one of \(options.joined(separator: ", "))")
            }
            form = .choice(options)
            value = .choice(initial)
        case .button:
            form = .button
            value = .bool(false)
        case .color:
            form = .color
            value = .vector(try ScriptColor.read(call, defaultIndex, what: "color '\(name)'"))
        case .point:
            guard let numbers = call.isAbsent(defaultIndex) ? [0.5, 0.5] : call.numbers(defaultIndex, limit: 2),
                numbers.count == 2
            else { throw call.error("point '\(name)' begins with \(call.describe(defaultIndex))", "write {x, y}") }
            form = .point
            value = .vector(numbers)
        }
        let control = Control(name, form, default: value, label: try text("label"), at: call.location)
        let first = try firstValue(of: control)
        var declared = control
        // What follows the control in the engine must begin there too.
        if options.overrides[name] != nil { declared.defaultValue = first }
        model.patch.controls.append(declared)
        model.controls.append(GraphModel.ControlState(control: control, value: first))
        model.controlIndices[name] = model.controls.count - 1
        pushShared(Handle(.control, model.controls.count - 1), call)
        return 1
    }

    /// What the operator set last, else `--set`, else the script's default.
    private func firstValue(of control: Control) throws -> ControlValue {
        if let kept = operatorValue?(control.name), control.accepts(kept) { return kept }
        guard let text = options.overrides[control.name] else { return control.defaultValue }
        guard let value = control.parse(text) else {
            throw PatchError(
                .usage, "--set \(control.name)=\(text) does not fit", remedy: control.legalText, at: control.location)
        }
        return value
    }

    func checkOverrides() throws {
        for name in options.overrides.keys.sorted() where model.controlIndices[name] == nil {
            let names = model.controls.map(\.control.name)
            throw PatchError(
                .usage, "--set \(name)=…: the graph has no control '\(name)'",
                remedy: Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                    ?? (names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"))
        }
    }

    // MARK: Reading and setting

    private func readControl(_ call: LuaCall) throws -> Int32 {
        let index = call.handle(1)?.index ?? 0
        let key = call.string(2) ?? ""
        switch key {
        case "value": push(model.controls[index].value, call)
        case "name": call.push(model.controls[index].control.name)
        case "label": call.push(model.controls[index].control.label)
        case "onChange", "onPress":
            let isButton = model.controls[index].control.form == .button
            guard (key == "onPress") == isButton else {
                throw call.error(
                    "\(title(call, 1)) has no \(key)", isButton ? "a button has onPress" : "it has onChange")
            }
            _ = pushMethod(key, call)
        default:
            throw call.error(
                "\(title(call, 1)) has no '\(key)'",
                Spelling.nearest(to: key, in: ["value", "name", "label", "onChange", "onPress"]).map {
                    "did you mean '\($0)'?"
                } ?? "it has value, name, label, onChange")
        }
        return 1
    }

    func push(_ value: ControlValue, _ call: LuaCall) {
        switch value {
        case .number(let number): call.push(number)
        case .bool(let bool): call.push(bool)
        case .choice(let text): call.push(text)
        case .vector(let numbers):
            call.pushTable()
            for (index, number) in numbers.enumerated() {
                call.push(number)
                call.setElement(index + 1)
            }
        }
    }

    private func writeControl(_ call: LuaCall) throws -> Int32 {
        let index = call.handle(1)?.index ?? 0
        guard call.string(2) == "value" else {
            throw call.error("\(title(call, 1)) has no '\(call.string(2) ?? "")' to set", "only value can be set")
        }
        let control = model.controls[index].control
        let value: ControlValue?
        switch control.form {
        case .number: value = call.number(3).map { .number($0) }
        case .toggle: value = call.bool(3).map { .bool($0) }
        case .choice: value = call.string(3).map { .choice($0) }
        case .color: value = .vector(try ScriptColor.read(call, 3, what: title(call, 1)))
        case .point: value = call.numbers(3, limit: 2).map { .vector($0) }
        case .button: value = nil
        }
        guard let value, control.accepts(value) else {
            throw call.error("\(title(call, 1)) cannot be \(call.describe(3))", control.legalText)
        }
        guard model.controls[index].value != value else { return 0 }
        model.controls[index].value = value
        edits.append(.control(control.name, value))
        try callChangeHandlers(index, call)
        return 0
    }

    /// Runs `onChange` handlers from inside a script.
    private func callChangeHandlers(_ index: Int, _ call: LuaCall) throws {
        guard handlerDepth < 8 else {
            throw call.error("onChange handlers change each other without an end", "set a value only when it differs")
        }
        handlerDepth += 1
        defer { handlerDepth -= 1 }
        for handler in model.controls[index].changeHandlers {
            call.push(handler)
            push(model.controls[index].value, call)
            try call.call(arguments: 1, results: 0)
        }
    }
}
