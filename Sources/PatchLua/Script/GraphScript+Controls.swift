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
        model.patch.controls.append(control)
        model.controls.append(GraphModel.ControlState(control: control, value: try firstValue(of: control)))
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

    // MARK: Animations and settings

    private func makeOscillation(_ call: LuaCall) throws -> Int32 {
        guard call.kind(1) == .table else {
            throw call.error("lfo takes a table", "write lfo{ frequency = 1, min = 0, max = 1 }")
        }
        let known = ["wave", "frequency", "phase", "center", "amplitude", "min", "max"]
        let (names, positions) = try call.keys(1)
        if let name = names.first(where: { !known.contains($0) }) {
            throw call.error(
                "lfo has no '\(name)'",
                Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" }
                    ?? "it takes \(known.joined(separator: ", "))")
        }
        if !positions.isEmpty { throw call.error("lfo takes only named values", "write frequency = …") }
        func number(_ key: String, _ range: ClosedRange<Double> = -1e6...1e6) throws -> Double? {
            call.pushField(1, key)
            defer { call.pop() }
            if call.isAbsent(-1) { return nil }
            guard let number = call.number(-1), number.isFinite, range.contains(number) else {
                throw call.error(
                    "\(key) of lfo is \(call.describe(-1))",
                    "it is a number from \(OptionText.number(range.lowerBound)) to \(OptionText.number(range.upperBound))"
                )
            }
            return number
        }
        let frequency = try number("frequency", 0...1000) ?? 1
        let phase = try number("phase") ?? 0
        let (low, high) = (try number("min"), try number("max"))
        var center = try number("center")
        var amplitude = try number("amplitude")
        if low != nil || high != nil {
            guard center == nil, amplitude == nil else {
                throw call.error("lfo has both min, max and center, amplitude", "give it one pair")
            }
            let (low, high) = (low ?? 0, high ?? 1)
            center = (low + high) / 2
            amplitude = (high - low) / 2
        }
        call.pushField(1, "wave")
        let waves = Oscillation.Wave.allCases.map(\.rawValue)
        var wave = Oscillation.Wave.sine
        if !call.isAbsent(-1) {
            guard let name = call.string(-1), let known = Oscillation.Wave(rawValue: name) else {
                throw call.error("wave of lfo is \(call.describe(-1))", "it is one of \(waves.joined(separator: ", "))")
            }
            wave = known
        }
        return try pushAnimation(
            .oscillation(
                Oscillation(
                    wave: wave, frequency: frequency, phase: phase, center: center ?? 0.5, amplitude: amplitude ?? 0.5)),
            call)
    }

    private func makeKeyframes(_ call: LuaCall) throws -> Int32 {
        guard call.kind(1) == .table else {
            throw call.error("keyframes takes a table", "write keyframes{ {0, 0.5}, {1, 1.0, \"easeInOut\"} }")
        }
        let (names, _) = try call.keys(1)
        if let name = names.first(where: { $0 != "loop" }) {
            throw call.error("keyframes has no '\(name)'", "it takes loop")
        }
        var frames: [Keyframe] = []
        let count = call.length(1)
        guard count >= 1, count <= 10_000 else {
            throw call.error("keyframes has \(count) frames", "it takes 1 to 10000")
        }
        for position in 1...count {
            call.pushElement(1, position)
            let frame = lua_gettop(call.pointer)
            guard call.kind(frame) == .table else {
                throw call.error("keyframe \(position) is \(call.describe(frame))", "write {seconds, value}")
            }
            call.pushElement(frame, 1)
            call.pushElement(frame, 2)
            call.pushElement(frame, 3)
            let value = call.number(-2).map { [$0] } ?? call.numbers(-2, limit: 4)
            guard let time = call.number(-3), time.isFinite, time >= 0, let value, value.allSatisfy(\.isFinite) else {
                throw call.error("keyframe \(position) is not {seconds, value}", "write {0.5, 1.0} or {0.5, {x, y}}")
            }
            if let last = frames.last, last.time >= time {
                throw call.error("keyframe \(position) is not after the one before it", "sort them by time")
            }
            frames.append(
                Keyframe(
                    time: time, value: value.map { Float($0) }, easing: try easing(at: lua_gettop(call.pointer), call)))
            lua_settop(call.pointer, frame - 1)
        }
        call.pushField(1, "loop")
        let loop = call.isTrue(-1)
        return try pushAnimation(.keyframes(frames, loop: loop), call)
    }

    private func pushAnimation(_ animation: GraphModel.Animation, _ call: LuaCall) throws -> Int32 {
        guard model.animations.count < 100_000 else {
            throw call.error(
                "the graph has more than 100000 animations", "make them once, outside handlers", code: .budget)
        }
        model.animations.append(animation)
        call.push(Handle(.animation, model.animations.count - 1))
        return 1
    }

    /// `graph{ fps =, size =, light =, crossfade = }`
    private func setSettings(_ call: LuaCall) throws -> Int32 {
        guard isLoading else { throw call.error("graph{ … } is set while the graph loads") }
        guard !model.hasSettings else { throw call.error("graph{ … } is there twice", "put all into one") }
        guard call.kind(1) == .table else {
            throw call.error("graph takes a table", "write graph{ fps = 30, size = \"1280x720\" }")
        }
        model.hasSettings = true
        let schemas = [
            OptionSchema("fps", .number(1...240), "", unit: "1/s"), OptionSchema("size", .size, ""),
            OptionSchema("light", .choice(["encoded", "linear"]), ""),
            OptionSchema("crossfade", .number(0...10), "", unit: "s"),
        ]
        let (names, positions) = try call.keys(1)
        if !positions.isEmpty { throw call.error("graph takes only named values", "write fps = 30") }
        let reader = OptionReader(script: self, call: call, kind: "graph", role: .filter)
        for name in names {
            guard let schema = schemas.first(where: { $0.name == name }) else {
                throw call.error(
                    "graph has no '\(name)'",
                    Spelling.nearest(to: name, in: schemas.map(\.name)).map { "did you mean '\($0)'?" }
                        ?? "it takes fps, size, light, crossfade")
            }
            call.pushField(1, name)
            defer { call.pop() }
            switch (name, try reader.read(schema, at: -1)) {
            case ("fps", .number(let fps)): model.patch.settings.rate = FrameRate(approximating: fps)
            case ("size", .vector(let size)):
                model.patch.settings.width = Int(size[0])
                model.patch.settings.height = Int(size[1])
            case ("light", .string(let light)): model.patch.settings.light = light == "linear" ? .linear : .encoded
            case (_, .number(let seconds)): model.patch.settings.crossfade = seconds
            default: break
            }
        }
        return 0
    }
}

extension Control {
    /// Whether a value is of this control's form and within its range.
    func accepts(_ value: ControlValue) -> Bool {
        switch (form, value) {
        case (.number(let range, _, _), .number(let number)): range.contains(number)
        case (.toggle, .bool), (.button, .bool): true
        case (.choice(let options), .choice(let option)): options.contains(option)
        case (.color, .vector(let numbers)): numbers.count == 4 && numbers.allSatisfy { (0...1).contains($0) }
        case (.point, .vector(let numbers)): numbers.count == 2 && numbers.allSatisfy(\.isFinite)
        default: false
        }
    }

    /// A value as written on a command line; nil when it does not fit.
    package func parse(_ text: String) -> ControlValue? {
        let value: ControlValue?
        switch form {
        case .number: value = Double(text).map { .number($0) }
        case .toggle, .button:
            switch text.lowercased() {
            case "true", "on", "yes", "1": value = .bool(true)
            case "false", "off", "no", "0": value = .bool(false)
            default: value = nil
            }
        case .choice: value = .choice(text)
        case .color:
            let numbers = ScriptColor.parse(text) ?? text.split(separator: ",").compactMap { Double($0) }
            value = .vector(numbers.count == 3 ? numbers + [1] : numbers)
        case .point: value = .vector(text.split(separator: ",").compactMap { Double($0) })
        }
        guard let value, accepts(value) else { return nil }
        return value
    }

    /// What is legal, for people.
    var legalText: String {
        switch form {
        case .number(let range, _, let unit):
            "'\(name)' goes from \(OptionText.number(range.lowerBound)) to \(OptionText.number(range.upperBound))"
                + (unit.isEmpty ? "" : " " + unit)
        case .toggle: "'\(name)' is true or false"
        case .choice(let options): "'\(name)' is one of \(options.joined(separator: ", "))"
        case .button: "'\(name)' is a button: it has no value"
        case .color: "'\(name)' is a colour: #rrggbb"
        case .point: "'\(name)' is a point: x,y"
        }
    }
}
