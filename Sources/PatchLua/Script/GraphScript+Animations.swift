internal import CLua
import PatchGraph
import PatchMedia

/// Values that move by themselves, and the graph's own settings.
extension GraphScript {
    func makeOscillation(_ call: LuaCall) throws -> Int32 {
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

    func makeKeyframes(_ call: LuaCall) throws -> Int32 {
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

    /// `graph{ fps =, size =, light =, crossfade =, channels = }`
    func setSettings(_ call: LuaCall) throws -> Int32 {
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
            OptionSchema("channels", .choice(AudioFormat.layouts.map(\.name)), ""),
        ]
        let (names, positions) = try call.keys(1)
        if !positions.isEmpty { throw call.error("graph takes only named values", "write fps = 30") }
        let reader = OptionReader(script: self, call: call, kind: "graph", role: .filter)
        for name in names {
            guard let schema = schemas.first(where: { $0.name == name }) else {
                throw call.error(
                    "graph has no '\(name)'",
                    Spelling.nearest(to: name, in: schemas.map(\.name)).map { "did you mean '\($0)'?" }
                        ?? "it takes fps, size, light, crossfade, channels")
            }
            call.pushField(1, name)
            defer { call.pop() }
            switch (name, try reader.read(schema, at: -1)) {
            case ("fps", .number(let fps)): model.patch.settings.rate = FrameRate(approximating: fps)
            case ("size", .vector(let size)):
                model.patch.settings.width = Int(size[0])
                model.patch.settings.height = Int(size[1])
            case ("light", .string(let light)): model.patch.settings.light = light == "linear" ? .linear : .encoded
            case (_, .string(let name)):
                for layout in AudioFormat.layouts where layout.name == name {
                    model.patch.settings.channels = layout.channels
                }
            case (_, .number(let seconds)): model.patch.settings.crossfade = seconds
            default: break
            }
        }
        return 0
    }
}
