internal import CLua
import PatchGraph
import PatchMedia

/// Fields of nodes and groups: methods, ports, parameters, options.
extension GraphScript {
    private static let nodeFields = ["name", "kind", "audio", "video", "targets"]

    func pushMethod(_ name: String, _ call: LuaCall) -> Bool {
        guard let method = methods[name] else { return false }
        call.push(method)
        return true
    }

    func readNode(_ call: LuaCall) throws -> Int32 {
        let node = call.handle(1)?.index ?? 0
        guard let key = call.string(2) else {
            throw call.error("\(title(node: node)) has fields by name, not \(call.describe(2))")
        }
        let schema = model.schemas[node]
        if let parameter = schema.parameters.first(where: { $0.name == key }) {
            ParameterReader.push(currentFloats(node, parameter), form: parameter.form, call)
            return 1
        }
        if pushMethod(key, call) { return 1 }
        switch key {
        case "name": call.push(id(node))
        case "kind": call.push(schema.kind)
        case "slots" where model.mixers[node] != nil: call.push(Handle(.slots, node))
        case "video": call.push(Handle(.media, node, 1))
        case "audio": call.push(Handle(.media, node, 2))
        case "targets":
            call.pushTable()
            var position = 1
            for wire in model.patch.wires where wire.from == id(node) {
                guard let target = model.nodeIndices[wire.to] else { continue }
                pushShared(Handle(.node, target), call)
                call.setElement(position)
                position += 1
            }
        default:
            if schema.role != .source, let port = schema.ports.firstIndex(of: key) {
                call.push(Handle(.port, node, port))
            } else if let option = schema.options.first(where: { $0.name == key }) {
                call.push(option: model.patch.nodes[node].options.values[option.name])
            } else {
                throw unknownField(key, of: node, call)
            }
        }
        return 1
    }

    private func unknownField(_ key: String, of node: Int, _ call: LuaCall) -> PatchError {
        let schema = model.schemas[node]
        let known =
            schema.parameters.map(\.name) + Array(methods.keys) + Self.nodeFields
            + (schema.role == .source ? [] : schema.ports) + schema.options.map(\.name)
        let parameters = schema.parameters.map(\.name).joined(separator: ", ")
        return call.error(
            "\(title(node: node)) has no '\(key)'",
            Spelling.nearest(to: key, in: known).map { "did you mean '\($0)'?" }
                ?? (parameters.isEmpty ? "it has no parameters" : "its parameters are \(parameters)"))
    }

    /// What a parameter is now: what the engine says, else what the script set.
    func currentFloats(_ node: Int, _ parameter: ParameterSchema) -> [Float] {
        if let floats = host?.parameterFloats(node: id(node), name: parameter.name),
            floats.count == parameter.form.count,
            !edits.contains(where: { if case .parameter(node, parameter.name, _) = $0 { true } else { false } })
        {
            return floats
        }
        switch model.patch.nodes[node].parameters[parameter.name] {
        case .constant(let floats)?, .ramp(let floats, _, _)?: return floats
        case .control(let name)?:
            if let index = model.controlIndices[name], let floats = model.controls[index].value.floats { return floats }
        case .keyframes(let frames, _)?: return frames.first?.value ?? parameter.defaultValue
        case .oscillation(let oscillation)?: return [Float(oscillation.value(at: 0))]
        case nil: break
        }
        return parameter.defaultValue
    }

    func writeNode(_ call: LuaCall) throws -> Int32 {
        let node = call.handle(1)?.index ?? 0
        guard let key = call.string(2) else {
            throw call.error("\(title(node: node)) has fields by name, not \(call.describe(2))")
        }
        let schema = model.schemas[node]
        if let parameter = schema.parameters.first(where: { $0.name == key }) {
            let value = try ParameterReader(script: self, call: call, kind: schema.kind).read(parameter, at: 3)
            set(value, node: node, name: key)
            return 0
        }
        if let option = schema.options.first(where: { $0.name == key }) {
            if option.isLive {
                set(try optionValue(option, kind: schema.kind, role: schema.role, call), node: node, option: key)
                return 0
            }
            throw call.error(
                "\(key) of \(title(node: node)) is fixed when the node is made",
                "change it in \(schema.kind){ … } and save: only this node restarts")
        }
        if schema.ports.contains(key), schema.role != .source {
            throw call.error("'\(key)' is a port of \(title(node: node))", "write source >> \(id(node)).\(key)")
        }
        if methods[key] != nil || Self.nodeFields.contains(key) {
            throw call.error("'\(key)' of \(title(node: node)) cannot be set")
        }
        throw unknownField(key, of: node, call)
    }

    func set(_ value: ParameterValue, node: Int, name: String) {
        model.patch.nodes[node].parameters[name] = value
        edits.append(.parameter(node: node, name: name, value: value))
    }

    /// The value at index 3 for an option that may change on air; nil is its default.
    private func optionValue(
        _ option: OptionSchema, kind: String, role: NodeSchema.Role, _ call: LuaCall
    ) throws -> OptionValue? {
        if call.isAbsent(3) {
            guard !option.isRequired else {
                throw call.error("\(option.name) of \(kind) cannot be nil", option.summary)
            }
            return nil
        }
        return try OptionReader(script: self, call: call, kind: kind, role: role).read(option, at: 3)
    }

    func set(_ value: OptionValue?, node: Int, option: String) {
        model.patch.nodes[node].options.values[option] = value
        edits.append(.option(node: node, name: option, value: value))
    }

    /// After a reload: options that the file says as before have kept the values that they had on air.
    func takeOverOptions(from host: any GraphHost) {
        for (node, schema) in model.schemas.enumerated() {
            let live = schema.options.filter(\.isLive)
            guard !live.isEmpty, let present = host.options(of: id(node)) else { continue }
            for option in live {
                model.patch.nodes[node].options.values[option.name] = present.values[option.name]
            }
        }
    }

    /// `node:ramp("parameter", target, seconds [, easing])`; a group's ramp moves the nodes inside.
    func ramp(_ call: LuaCall) throws -> Int32 {
        guard let handle = call.handle(1), handle.tag == .node || handle.tag == .group else {
            throw call.error("ramp is a method of nodes", "write node:ramp(\"name\", 1.0, 0.5)")
        }
        guard let name = call.string(2) else {
            throw call.error("ramp needs the parameter's name", "write node:ramp(\"name\", 1.0, 0.5)")
        }
        guard handle.tag == .group else {
            try ramp(name, ofNode: handle.index, call)
            return 0
        }
        let group = model.groups[handle.index]
        guard let targets = group.parameters[name] else { throw unknownGroupField(name, group, call) }
        for target in targets { try ramp(target.name, ofNode: target.node, call) }
        return 0
    }

    private func ramp(_ name: String, ofNode node: Int, _ call: LuaCall) throws {
        let schema = model.schemas[node]
        guard let parameter = schema.parameters.first(where: { $0.name == name }) else {
            throw unknownField(name, of: node, call)
        }
        guard parameter.isAnimatable, parameter.form != .bool else {
            throw call.error("\(name) of \(title(node: node)) cannot be animated", "set it: node.\(name) = …")
        }
        let target = try ParameterReader(script: self, call: call, kind: schema.kind).floats(parameter, at: 3)
        guard let seconds = call.number(4), seconds.isFinite, (0...86_400).contains(seconds) else {
            throw call.error("the ramp's length is \(call.describe(4))", "give it seconds, from 0 to 86400")
        }
        set(.ramp(to: target, seconds: seconds, easing: try easing(at: 5, call)), node: node, name: name)
    }

    func easing(at index: Int32, _ call: LuaCall) throws -> Easing {
        if call.isAbsent(index) { return .linear }
        let names = Easing.allCases.map(\.rawValue)
        guard let name = call.string(index), let easing = Easing(rawValue: name) else {
            let nearest = call.string(index).flatMap { Spelling.nearest(to: $0, in: names) }
            throw call.error(
                "the easing is \(call.describe(index))",
                nearest.map { "did you mean \"\($0)\"?" } ?? "it is one of \(names.joined(separator: ", "))")
        }
        return easing
    }

    func readMedia(_ call: LuaCall) throws -> Int32 {
        let key = call.string(2) ?? ""
        if ["addTarget", "removeTarget", "removeAllTargets"].contains(key), pushMethod(key, call) { return 1 }
        throw call.error("\(title(call, 1)) has no '\(key)'", "it has addTarget, removeTarget and removeAllTargets")
    }

    // MARK: Groups

    /// `group{ "name", inputs = { image = node, … }, output = node, params = { amount = { node, "parameter" } } }`
    func makeGroup(_ call: LuaCall) throws -> Int32 {
        guard call.kind(1) == .table else {
            throw call.error("group takes a table", "write group{ inputs = { image = node }, output = node }")
        }
        let (names, positions) = try call.keys(1)
        if let extra = positions.first(where: { $0 != 1 }) {
            throw call.error("group has a value at position \(extra)", "all but the name are written name = value")
        }
        let known = ["inputs", "output", "params"]
        if let name = names.first(where: { !known.contains($0) }) {
            throw call.error(
                "group has no '\(name)'",
                Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" }
                    ?? "it takes inputs, output, params")
        }
        call.pushElement(1, 1)
        var group = GraphModel.Group(
            name: call.string(-1) ?? "group \(model.groups.count + 1)", inputs: [], output: nil, parameters: [:])
        call.pop()

        call.pushField(1, "inputs")
        if call.kind(-1) == .table {
            let table = lua_gettop(call.pointer)
            let keys = try call.keys(table)
            for position in keys.positions {
                call.pushElement(table, position)
                group.inputs.append((name: "\(position)", ends: try groupEnds(call)))
                call.pop()
            }
            for name in keys.names {
                call.pushField(table, name)
                group.inputs.append((name: name, ends: try groupEnds(call)))
                call.pop()
            }
        } else if !call.isAbsent(-1) {
            group.inputs.append((name: "image", ends: try inputs(at: -1, call)))
        }
        call.pop()

        call.pushField(1, "output")
        if !call.isAbsent(-1) {
            let ends = try outputs(at: -1, call)
            guard ends.count == 1 else { throw call.error("a group has one output", "write output = node") }
            group.output = ends[0].node
        }
        call.pop()

        call.pushField(1, "params")
        if call.kind(-1) == .table {
            let table = lua_gettop(call.pointer)
            for name in try call.keys(table).names {
                call.pushField(table, name)
                let entry = lua_gettop(call.pointer)
                call.pushElement(entry, 1)
                call.pushElement(entry, 2)
                guard let handle = call.handle(-2), handle.tag == .node, let parameter = call.string(-1),
                    model.schemas[handle.index].parameters.contains(where: { $0.name == parameter })
                        || model.schemas[handle.index].options.contains(where: { $0.name == parameter && $0.isLive })
                else {
                    throw call.error(
                        "parameter '\(name)' of the group leads nowhere",
                        "write \(name) = { node, \"parameter\" }, or an option that may change on air")
                }
                group.parameters[name, default: []].append((node: handle.index, name: parameter))
                lua_settop(call.pointer, table)
            }
        }
        call.pop()
        model.groups.append(group)
        call.push(Handle(.group, model.groups.count - 1))
        return 1
    }

    /// An input of a group: a node, a port, or a table of several that all get the same frames.
    private func groupEnds(_ call: LuaCall) throws -> [GraphModel.InputEnd] {
        guard call.kind(-1) == .table else { return try inputs(at: -1, call) }
        let table = lua_gettop(call.pointer)
        var ends: [GraphModel.InputEnd] = []
        for position in 0..<min(100, call.length(table)) {
            call.pushElement(table, position + 1)
            ends += try inputs(at: -1, call)
            call.pop()
        }
        return ends
    }

    func readGroup(_ call: LuaCall) throws -> Int32 {
        let group = model.groups[call.handle(1)?.index ?? 0]
        let key = call.string(2) ?? ""
        if let target = group.parameters[key]?.first,
            let parameter = model.schemas[target.node].parameters.first(where: { $0.name == target.name })
        {
            ParameterReader.push(currentFloats(target.node, parameter), form: parameter.form, call)
            return 1
        }
        if let target = group.parameters[key]?.first {
            call.push(option: model.patch.nodes[target.node].options.values[target.name])
            return 1
        }
        if let input = group.inputs.first(where: { $0.name == key }), let end = input.ends.first {
            call.push(Handle(.port, end.node, end.port ?? 0))
            return 1
        }
        if ["addTarget", "removeTarget", "removeAllTargets", "ramp"].contains(key), pushMethod(key, call) { return 1 }
        if key == "targets", let output = group.output {
            pushShared(Handle(.node, output), call)
            lua_copy(call.pointer, -1, 1)
            call.pop()
            return try readNode(call)
        }
        throw unknownGroupField(key, group, call)
    }

    func writeGroup(_ call: LuaCall) throws -> Int32 {
        let group = model.groups[call.handle(1)?.index ?? 0]
        let key = call.string(2) ?? ""
        guard let targets = group.parameters[key] else { throw unknownGroupField(key, group, call) }
        for target in targets {
            let (schema, title) = (model.schemas[target.node], "group '\(group.name)'")
            if let parameter = schema.parameters.first(where: { $0.name == target.name }) {
                let reader = ParameterReader(script: self, call: call, kind: title)
                set(try reader.read(parameter, at: 3), node: target.node, name: target.name)
            } else if let option = schema.options.first(where: { $0.name == target.name }) {
                set(
                    try optionValue(option, kind: title, role: schema.role, call), node: target.node,
                    option: target.name)
            }
        }
        return 0
    }

    private func unknownGroupField(_ key: String, _ group: GraphModel.Group, _ call: LuaCall) -> PatchError {
        let known =
            Array(group.parameters.keys) + group.inputs.map(\.name) + ["addTarget", "removeAllTargets", "targets"]
        return call.error(
            "group '\(group.name)' has no '\(key)'",
            Spelling.nearest(to: key, in: known).map { "did you mean '\($0)'?" } ?? "name it in the group's params")
    }
}
