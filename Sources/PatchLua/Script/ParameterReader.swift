internal import CLua
import PatchGraph
import PatchMedia

/// Turns what a script wrote for a parameter into a `ParameterValue`, and back.
struct ParameterReader {
    let script: GraphScript
    let call: LuaCall
    /// The node's kind, for messages.
    let kind: String

    /// Reads the value at `index`: a number, a table, a colour, a control, an LFO or keyframes.
    /// - Throws: `PatchError.script` that says what is legal.
    func read(_ schema: ParameterSchema, at index: Int32) throws -> ParameterValue {
        if let handle = call.handle(index) {
            switch handle.tag {
            case .control: return .control(try control(schema, handle.index))
            case .animation: return try animation(schema, script.model.animations[handle.index])
            default: break
            }
        }
        return .constant(try floats(schema, at: index))
    }

    /// Reads plain floats within the schema's range.
    func floats(_ schema: ParameterSchema, at index: Int32) throws -> [Float] {
        var numbers: [Double]
        switch schema.form {
        case .bool:
            guard let bool = call.bool(index) else { throw wrong(schema, index, "true or false") }
            return [bool ? 1 : 0]
        case .float:
            guard let number = call.number(index), number.isFinite else { throw wrong(schema, index, "a number") }
            numbers = [number]
        case .color:
            numbers = try ScriptColor.read(call, index, what: "\(schema.name) of \(kind)")
        case .vec2, .vec3, .vec4:
            let count = schema.form.count
            if count >= 3, call.kind(index) == .string {
                numbers = Array(try ScriptColor.read(call, index, what: "\(schema.name) of \(kind)").prefix(count))
            } else {
                guard let list = call.numbers(index, limit: count), list.count == count else {
                    throw wrong(schema, index, "a table of \(count) numbers")
                }
                numbers = list
            }
        }
        let floats = numbers.map { Float($0) }
        for float in floats { try check(float, schema) }
        return floats
    }

    private func control(_ schema: ParameterSchema, _ index: Int) throws -> String {
        let control = script.model.controls[index].control
        func mismatch(_ what: String, _ wanted: String) -> PatchError {
            call.error("'\(control.name)' is \(what), and \(schema.name) of \(kind) wants \(wanted)", "use \(wanted)")
        }
        let wanted =
            switch schema.form {
            case .float: "a param"
            case .bool: "a toggle"
            case .color: "a color"
            case .vec2: "a point"
            case .vec3, .vec4: "a table of numbers"
            }
        switch (control.form, schema.form) {
        case (.number(let range, _, _), .float):
            if let legal = schema.range,
                Float(range.lowerBound) < legal.lowerBound || Float(range.upperBound) > legal.upperBound
            {
                throw call.error(
                    "'\(control.name)' goes from \(OptionText.number(range.lowerBound)) to "
                        + "\(OptionText.number(range.upperBound)), and \(schema.name) of \(kind) only from \(rangeText(legal))",
                    "give the param min = and max = inside that")
            }
        case (.toggle, .bool), (.toggle, .float), (.point, .vec2), (.color, .color), (.color, .vec4): break
        case (.number, _): throw mismatch("a param", wanted)
        case (.toggle, _): throw mismatch("a toggle", wanted)
        case (.choice, _): throw mismatch("a choice", wanted)
        case (.button, _): throw mismatch("a button", wanted)
        case (.color, _): throw mismatch("a color", wanted)
        case (.point, _): throw mismatch("a point", wanted)
        }
        return control.name
    }

    private func animation(_ schema: ParameterSchema, _ animation: GraphModel.Animation) throws -> ParameterValue {
        guard schema.isAnimatable else {
            throw call.error("\(schema.name) of \(kind) cannot be animated", "give it a fixed value")
        }
        switch animation {
        case .oscillation(let oscillation):
            guard schema.form == .float else {
                throw call.error("\(schema.name) of \(kind) is no single number", "use keyframes instead of lfo")
            }
            let reach = abs(oscillation.amplitude)
            try check(Float(oscillation.center - reach), schema)
            try check(Float(oscillation.center + reach), schema)
            return .oscillation(oscillation)
        case .keyframes(let frames, let loop):
            for frame in frames {
                guard frame.value.count == schema.form.count else {
                    throw call.error(
                        "a keyframe has \(frame.value.count) numbers, and \(schema.name) of \(kind) takes \(schema.form.count)",
                        "write {seconds, \(schema.form.count == 1 ? "value" : "{…}")}")
                }
                for float in frame.value { try check(float, schema) }
            }
            return .keyframes(frames, loop: loop)
        }
    }

    private func check(_ float: Float, _ schema: ParameterSchema) throws {
        guard float.isFinite else {
            throw call.error("\(schema.name) of \(kind) is not a finite number", "check the sum that made it")
        }
        guard let range = schema.range, !range.contains(float) else { return }
        throw call.error(
            "\(schema.name) of \(kind) is \(OptionText.number(float))",
            "it goes from \(rangeText(range))\(schema.unit.isEmpty ? "" : " " + schema.unit)")
    }

    private func rangeText(_ range: ClosedRange<Float>) -> String {
        "\(OptionText.number(range.lowerBound)) to \(OptionText.number(range.upperBound))"
    }

    private func wrong(_ schema: ParameterSchema, _ index: Int32, _ expected: String) -> PatchError {
        call.error(
            "\(schema.name) of \(kind) is \(call.describe(index))", "give it \(expected), a control or an animation")
    }

    /// Pushes floats as a script reads them.
    static func push(_ floats: [Float], form: ParameterSchema.Form, _ call: LuaCall) {
        switch form {
        case .bool: call.push((floats.first ?? 0) != 0)
        case .float: call.push(Double(floats.first ?? 0))
        default:
            call.pushTable()
            for (index, float) in floats.enumerated() {
                call.push(Double(float))
                call.setElement(index + 1)
            }
        }
    }
}
