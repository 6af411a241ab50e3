internal import CLua
import PatchFilters
import PatchGraph
import PatchMedia

/// `mixer{ … }` and its slots: `mix.slots.guest = { source = call, position = {880, 440} }`.
extension GraphScript {
    /// What a script may say of a slot, besides its parameters.
    private static let slotWords = ["source", "mask", "blend", "border", "shadow"]
    private static let innerWords = ["borderWidth", "borderColor", "shadowOffset", "shadowBlur", "shadowColor"]

    func installMixers(_ call: LuaCall) {
        define("mixer") { script, call in try script.makeMixer(call) }
        state.defineHandle(.slots) { [unowned self] call in
            define("__index") { script, call in
                let node = call.handle(1)?.index ?? 0
                let name = try script.slotName(at: 2, of: node, call)
                call.push(Handle(.slot, node, script.intern(name)))
                return 1
            }
            define("__newindex") { script, call in try script.writeSlots(call) }
            define("__tostring") { script, call in
                call.push("slots of \(script.title(node: call.handle(1)?.index ?? 0))")
                return 1
            }
        }
        state.defineHandle(.slot) { [unowned self] call in
            define("__index") { script, call in try script.readSlot(call) }
            define("__newindex") { script, call in try script.writeSlot(call) }
            define("__shr") { script, call in try script.wireOperator(call) }
            define("__tostring") { script, call in
                call.push(script.title(call, 1))
                return 1
            }
        }
        defineMethod("transition") { script, call in try script.transitionSlot(call) }
        defineMethod("layout") { script, call in try script.layoutSlots(call) }
    }

    /// The number of a slot's name, for handles, which outlive slots.
    private func intern(_ name: String) -> Int {
        if let known = slotNames.firstIndex(of: name) { return known }
        slotNames.append(name)
        return slotNames.count - 1
    }

    // MARK: Making

    private func makeMixer(_ call: LuaCall) throws -> Int32 {
        let shape = "write mixer{ \"name\", size = \"1280x720\", fill = \"#101010\" }"
        var name: String?
        if let text = call.string(1) {
            name = text
            lua_settop(call.pointer, 0)
            call.pushTable()
        }
        guard call.kind(1) == .table else { throw call.error("mixer takes a table", shape) }
        lua_settop(call.pointer, 1)
        if name == nil {
            call.pushElement(1, 1)
            name = call.string(-1)
            call.pop()
        }
        let keys = try call.keys(1)
        for key in keys.names where !["size", "fill", "slots"].contains(key) {
            throw call.error(
                "mixer has no '\(key)'",
                Spelling.nearest(to: key, in: ["size", "fill", "slots"]).map { "did you mean '\($0)'?" }
                    ?? "it takes size, fill and slots")
        }
        var size = [Double(model.patch.settings.width ?? 1280), Double(model.patch.settings.height ?? 720)]
        call.pushField(1, "size")
        if !call.isAbsent(-1) {
            let reader = OptionReader(script: self, call: call, kind: "mixer", role: .filter)
            if case .vector(let numbers) = try reader.read(OptionSchema("size", .size, "", unit: "px"), at: -1) {
                size = numbers
            }
        }
        call.pop()
        let node = try addNode(named: name, kind: "mixer", call) { id in
            let filter = MixerSchema.filter([], width: Int(size[0]), height: Int(size[1]))
            var node = PatchNode(
                id: id, kind: "mixer", body: .kernels(filter), options: NodeOptions(["size": .vector(size)]),
                at: call.location, isNamed: name != nil)
            call.pushField(1, "fill")
            defer { call.pop() }
            if !call.isAbsent(-1), let schema = filter.parameters.first {
                let reader = ParameterReader(script: self, call: call, kind: "mixer")
                node.parameters["fill"] = try reader.read(schema, at: -1)
            }
            return node
        }
        model.mixers[node] = GraphModel.Mixer(width: Int(size[0]), height: Int(size[1]), slots: [])
        rebuild(node)
        call.pushField(1, "slots")
        if call.kind(-1) == .table {
            let table = lua_gettop(call.pointer)
            for slot in try call.keys(table).names {
                call.pushField(table, slot)
                try setSlot(slot, of: node, at: lua_gettop(call.pointer), call)
                lua_settop(call.pointer, table)
            }
        } else if !call.isAbsent(-1) {
            throw call.error("slots of mixer is \(call.describe(-1))", "write slots = { host = { source = cam } }")
        }
        pushShared(Handle(.node, node), call)
        return 1
    }

    /// Makes ports, parameters and the stage agree with the slots; wires go with their slots.
    private func rebuild(_ node: Int) {
        guard let mixer = model.mixers[node] else { return }
        let filter = MixerSchema.filter(mixer.slots, width: mixer.width, height: mixer.height)
        let (before, id) = (model.schemas[node].ports, id(node))
        model.patch.wires = model.patch.wires.compactMap { wire in
            guard wire.to == id, wire.port != Wire.noPort else { return wire }
            guard before.indices.contains(wire.port), let port = filter.ports.firstIndex(of: before[wire.port]) else {
                return nil
            }
            var wire = wire
            wire.port = port
            return wire
        }
        model.patch.nodes[node].body = .kernels(filter)
        let names = Set(filter.parameters.map(\.name))
        model.patch.nodes[node].parameters = model.patch.nodes[node].parameters.filter { names.contains($0.key) }
        model.schemas[node].ports = filter.ports
        model.schemas[node].parameters = filter.parameters
    }

    // MARK: Slots

    /// The name of an existing slot.
    func slotName(at index: Int32, of node: Int, _ call: LuaCall) throws -> String {
        let names = model.mixers[node]?.slots.map(\.name) ?? []
        guard let name = call.string(index) else {
            throw call.error("slots of \(title(node: node)) have names, not \(call.describe(index))")
        }
        guard names.contains(name) else {
            throw call.error(
                "\(title(node: node)) has no slot '\(name)'",
                Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                    ?? (names.isEmpty
                        ? "make it: mix.slots.\(name) = { source = node }" : "it has \(names.joined(separator: ", "))"))
        }
        return name
    }

    private func writeSlots(_ call: LuaCall) throws -> Int32 {
        let node = call.handle(1)?.index ?? 0
        if call.isAbsent(3) {
            let name = try slotName(at: 2, of: node, call)
            let id = id(node)
            let ports = model.schemas[node].ports
            let gone = [name, name + ".mask"].compactMap { ports.firstIndex(of: $0) }
            model.patch.wires.removeAll { $0.to == id && gone.contains($0.port) }
            model.mixers[node]?.slots.removeAll { $0.name == name }
            rebuild(node)
            return 0
        }
        let name = call.string(2) ?? ""
        let isWord =
            !name.isEmpty && name.utf8.count <= 32
            && name.utf8.allSatisfy { LuaPattern.matches($0, class: UInt8(ascii: "w")) || $0 == UInt8(ascii: "_") }
        guard isWord, name != "fill" else {
            throw call.error("\(call.describe(2)) is no name for a slot", "use letters, digits and _, such as guest")
        }
        try setSlot(name, of: node, at: 3, call)
        return 0
    }

    /// What a table says of a slot, read before anything is changed.
    struct SlotChange {
        var source: GraphModel.OutputEnd?
        var mask: GraphModel.OutputEnd?
        var dropsMask = false
        var blend: String?
        var values: [(name: String, value: ParameterValue)] = []
    }

    /// Makes a slot, or makes it anew: what the table does not say has its default.
    private func setSlot(_ name: String, of node: Int, at index: Int32, _ call: LuaCall) throws {
        guard let mixer = model.mixers[node] else { return }
        var change = SlotChange()
        if call.kind(index) == .table {
            for key in try call.keys(index).names {
                call.pushField(index, key)
                defer { call.pop() }
                try read(key, of: name, node, into: &change, call)
            }
        } else if call.kind(index) == .handle {
            change.source = try oneOutput(at: index, call)
        } else {
            throw call.error(
                "slot '\(name)' is \(call.describe(index))",
                "write { source = node, position = {0, 0}, size = {640, 360} }")
        }
        var slot = MixerSchema.Slot(name)
        slot.blend = change.blend ?? "normal"
        slot.hasMask = change.mask != nil
        let known = mixer.slots.firstIndex { $0.name == name }
        if let known {
            model.mixers[node]?.slots[known] = slot
        } else {
            guard mixer.slots.count < MixerSchema.mostSlots else {
                throw call.error(
                    "\(title(node: node)) has \(mixer.slots.count) slots", "that is the limit: use a second mixer")
            }
            model.mixers[node]?.slots.append(slot)
        }
        rebuild(node)
        let given = Set(change.values.map(\.name))
        for schema in MixerSchema.slotParameters(width: mixer.width, height: mixer.height) {
            guard known != nil, !given.contains(schema.name) else { continue }
            set(.constant(schema.defaultValue), node: node, name: "\(name).\(schema.name)")
        }
        try apply(change, to: name, of: node, call)
    }

    private func apply(_ change: SlotChange, to name: String, of node: Int, _ call: LuaCall) throws {
        for (field, value) in change.values { set(value, node: node, name: "\(name).\(field)") }
        for (port, end) in [(name, change.source), (name + ".mask", change.mask)] {
            guard let end, let index = model.schemas[node].ports.firstIndex(of: port) else { continue }
            let (from, to) = (id(end.node), id(node))
            let media: Wire.Media = port == name ? end.media : .video
            if model.patch.wires.contains(where: {
                $0.from == from && $0.to == to && $0.port == index && $0.media == media
            }) {
                continue
            }
            // A new source takes the picture's place; sound that was wired to the slot apart stays.
            model.patch.wires.removeAll { $0.to == to && $0.port == index && ($0.media == .audio) == (media == .audio) }
            model.patch.wires.append(Wire(from: from, to: to, port: index, media: media, at: call.location))
        }
    }

    private func oneOutput(at index: Int32, _ call: LuaCall) throws -> GraphModel.OutputEnd {
        let ends = try outputs(at: index, call)
        guard let first = ends.first, ends.count == 1 else { throw call.error("a slot shows one node") }
        return first
    }

    func schema(_ field: String, of node: Int) -> ParameterSchema? {
        guard let mixer = model.mixers[node] else { return nil }
        return MixerSchema.slotParameters(width: mixer.width, height: mixer.height).first { $0.name == field }
    }

    /// Reads the value on top of the stack for one field of a slot.
    func read(
        _ key: String, of slot: String, _ node: Int, into change: inout SlotChange, _ call: LuaCall
    ) throws {
        let reader = ParameterReader(script: self, call: call, kind: "slot '\(slot)'")
        func value(_ field: String, at index: Int32 = -1) throws {
            guard let schema = schema(field, of: node) else { return }
            change.values.append((field, try reader.read(schema, at: index)))
        }
        switch key {
        case "source": change.source = try oneOutput(at: -1, call)
        case "mask":
            if let flag = call.bool(-1), !flag {
                change.dropsMask = true
            } else {
                change.mask = try oneOutput(at: -1, call)
            }
        case "blend":
            let known = MixerSchema.blends
            guard let word = call.string(-1), known.contains(word) else {
                throw call.error(
                    "blend of slot '\(slot)' is \(call.describe(-1))",
                    call.string(-1).flatMap { Spelling.nearest(to: $0, in: known) }.map { "did you mean \"\($0)\"?" }
                        ?? "it is one of \(known.joined(separator: ", "))")
            }
            change.blend = word
        case "aspect":
            let known = MixerSchema.aspects
            guard let word = call.string(-1), let number = known.firstIndex(of: word) else {
                throw call.error(
                    "aspect of slot '\(slot)' is \(call.describe(-1))",
                    call.string(-1).flatMap { Spelling.nearest(to: $0, in: known) }.map { "did you mean \"\($0)\"?" }
                        ?? "it is \"stretch\", \"fit\" or \"fill\"")
            }
            change.values.append(("aspect", .constant([Float(number)])))
        case "border":
            try parts(
                ["width": "borderWidth", "color": "borderColor"], order: ["width", "color"], of: "border", slot,
                "write border = { 2, \"#ffffff\" } or { width = 2, color = \"#ffffff\" }", call, value)
        case "shadow":
            try parts(
                ["offset": "shadowOffset", "blur": "shadowBlur", "color": "shadowColor"], order: [], of: "shadow", slot,
                "write shadow = { offset = {4, 4}, blur = 12, color = \"#00000080\" }", call, value)
        default:
            guard schema(key, of: node) != nil, !Self.innerWords.contains(key) else {
                throw unknownSlotField(key, slot, node, call)
            }
            try value(key)
        }
    }

    private func parts(
        _ fields: [String: String], order: [String], of key: String, _ slot: String, _ shape: String, _ call: LuaCall,
        _ value: (String, Int32) throws -> Void
    ) throws {
        guard call.kind(-1) == .table else {
            throw call.error("\(key) of slot '\(slot)' is \(call.describe(-1))", shape)
        }
        let table = lua_gettop(call.pointer)
        let keys = try call.keys(table)
        for position in keys.positions {
            guard position >= 1, position <= order.count, let field = fields[order[position - 1]] else {
                throw call.error("\(key) of slot '\(slot)' has a value at position \(position)", shape)
            }
            call.pushElement(table, position)
            try value(field, -1)
            call.pop()
        }
        for name in keys.names {
            guard let field = fields[name] else {
                throw call.error("\(key) of slot '\(slot)' has no '\(name)'", shape)
            }
            call.pushField(table, name)
            try value(field, -1)
            call.pop()
        }
    }

    private func unknownSlotField(_ key: String, _ slot: String, _ node: Int, _ call: LuaCall) -> PatchError {
        let known =
            Self.slotWords
            + MixerSchema.slotParameters(width: 1, height: 1).map(\.name).filter { !Self.innerWords.contains($0) }
        return call.error(
            "slot '\(slot)' has no '\(key)'",
            Spelling.nearest(to: key, in: known).map { "did you mean '\($0)'?" }
                ?? "it has \(known.joined(separator: ", "))")
    }

    // MARK: Fields

    private func slot(_ call: LuaCall) throws -> (node: Int, name: String) {
        let handle = call.handle(1)
        let (node, name) = (handle?.index ?? 0, slotNames[Int(handle?.b ?? 0)])
        guard model.mixers[node]?.slots.contains(where: { $0.name == name }) == true else {
            throw call.error(
                "\(title(node: node)) has no slot '\(name)' any more", "make it again: mix.slots.\(name) = { … }")
        }
        return (node, name)
    }

    private func readSlot(_ call: LuaCall) throws -> Int32 {
        let (node, name) = try slot(call)
        let key = call.string(2) ?? ""
        let ports = model.schemas[node].ports
        switch key {
        case "name": call.push(name)
        case "source", "mask":
            let port = ports.firstIndex(of: key == "source" ? name : name + ".mask")
            let wire = model.patch.wires.first { $0.to == id(node) && $0.port == port && $0.media != .audio }
            if let wire, let from = model.nodeIndices[wire.from] {
                pushShared(Handle(.node, from), call)
            } else {
                call.pushNil()
            }
        case "blend": call.push(model.mixers[node]?.slots.first { $0.name == name }?.blend ?? "normal")
        default:
            guard var schema = schema(key, of: node) else { throw unknownSlotField(key, name, node, call) }
            schema.name = "\(name).\(key)"
            let floats = currentFloats(node, schema)
            if key == "aspect" {
                call.push(MixerSchema.aspects[max(0, min(2, Int(floats[0])))])
            } else {
                ParameterReader.push(floats, form: schema.form, call)
            }
        }
        return 1
    }

    private func writeSlot(_ call: LuaCall) throws -> Int32 {
        let (node, name) = try slot(call)
        guard let key = call.string(2) else { throw call.error("a slot has fields by name, not \(call.describe(2))") }
        lua_settop(call.pointer, 3)
        var change = SlotChange()
        try read(key, of: name, node, into: &change, call)
        if let index = model.mixers[node]?.slots.firstIndex(where: { $0.name == name }) {
            if let blend = change.blend { model.mixers[node]?.slots[index].blend = blend }
            if change.mask != nil { model.mixers[node]?.slots[index].hasMask = true }
            if change.dropsMask { model.mixers[node]?.slots[index].hasMask = false }
            if change.blend != nil || change.mask != nil || change.dropsMask { rebuild(node) }
        }
        try apply(change, to: name, of: node, call)
        return 0
    }
}
