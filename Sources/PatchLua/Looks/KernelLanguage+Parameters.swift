internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// `params = { … }`: the knobs of a kernel.
extension KernelLanguage {
    func parameterSchemas(_ call: LuaCall) throws -> [ParameterSchema] {
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

    func initial(
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
