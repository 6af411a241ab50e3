internal import CLua
import PatchGraph
import PatchMedia

/// `>>`, `addTarget`, `removeTarget`, `removeAllTargets`, `targets`, and reading and setting what nodes have.
extension GraphScript {
    func installWires() {
        state.defineHandle(.node) { [unowned self] call in
            define("__index") { script, call in try script.readNode(call) }
            define("__newindex") { script, call in try script.writeNode(call) }
            defineWiring("node")
        }
        state.defineHandle(.port) { [unowned self] call in
            define("__index") { script, call in
                throw call.error("\(script.title(call, 1)) has no fields", "wire into it: source >> node.port")
            }
            define("__newindex") { script, call in throw call.error("\(script.title(call, 1)) has no fields") }
            defineWiring("port")
        }
        state.defineHandle(.media) { [unowned self] call in
            define("__index") { script, call in try script.readMedia(call) }
            define("__newindex") { script, call in throw call.error("\(script.title(call, 1)) has no fields to set") }
            defineWiring("media")
        }
        state.defineHandle(.group) { [unowned self] call in
            define("__index") { script, call in try script.readGroup(call) }
            define("__newindex") { script, call in try script.writeGroup(call) }
            defineWiring("group")
        }

        defineMethod("addTarget") { script, call in
            let from = try script.single(try script.outputs(at: 1, call), call)
            guard !call.isAbsent(2) else {
                throw call.error("addTarget has no target", "write a:addTarget(b)")
            }
            try script.wire([from], toValueAt: 2, port: call.isAbsent(3) ? nil : 3, call)
            lua_settop(call.pointer, 2)
            return 1
        }
        defineMethod("removeTarget") { script, call in
            let from = try script.single(try script.outputs(at: 1, call), call)
            let source = script.id(from.node)
            for end in try script.inputs(at: 2, call) {
                let target = script.id(end.node)
                script.model.patch.wires.removeAll { wire in
                    wire.from == source && wire.to == target && (end.port == nil || end.port == wire.port)
                        && from.media.overlaps(wire.media)
                }
            }
            return 0
        }
        defineMethod("removeAllTargets") { script, call in
            let from = try script.single(try script.outputs(at: 1, call), call)
            let source = script.id(from.node)
            script.model.patch.wires.removeAll { $0.from == source && from.media.overlaps($0.media) }
            return 0
        }
        defineMethod("ramp") { script, call in try script.ramp(call) }
        defineMethod("command") { script, call in try script.command(call) }
        defineMethod("play") { script, call in try script.play(call) }
    }

    private func defineWiring(_ kind: String) {
        define("__shr") { script, call in try script.wireOperator(call) }
        define("__tostring") { script, call in
            call.push(script.title(call, 1))
            return 1
        }
        define("__concat") { script, call in
            throw call.error("a node is no text", "use node.name")
        }
    }

    func id(_ node: Int) -> NodeID { model.patch.nodes[node].id }

    /// `camera 'cam'`, `port 'overlay' of filter.blend 'over'`.
    func title(_ call: LuaCall, _ index: Int32) -> String {
        guard let handle = call.handle(index) else { return call.describe(index) }
        switch handle.tag {
        case .node: return title(node: handle.index)
        case .port: return "port '\(model.schemas[handle.index].ports[Int(handle.b)])' of \(title(node: handle.index))"
        case .slot: return "slot '\(slotNames[Int(handle.b)])' of \(title(node: handle.index))"
        case .media: return "\(handle.b == 1 ? "video" : "audio") of \(title(node: handle.index))"
        case .group: return "group '\(model.groups[handle.index].name)'"
        case .control: return "control '\(model.controls[handle.index].control.name)'"
        default: return handle.tag.title
        }
    }

    func title(node: Int) -> String { "\(model.patch.nodes[node].kind) '\(id(node))'" }

    // MARK: Ends of wires

    /// The outputs that the value at `index` stands for: one, or those of a table in order.
    func outputs(at index: Int32, _ call: LuaCall) throws -> [GraphModel.OutputEnd] {
        if call.kind(index) == .table {
            let absolute = lua_absindex(call.pointer, index)
            var ends: [GraphModel.OutputEnd] = []
            let count = call.length(absolute)
            guard count >= 1, count <= 1000 else {
                throw call.error("a table with \(count) nodes cannot be wired", "write { a, b } >> c")
            }
            for position in 1...count {
                call.pushElement(absolute, position)
                defer { call.pop() }
                guard call.kind(-1) != .table else { throw call.error("a table of tables cannot be wired") }
                ends += try outputs(at: -1, call)
            }
            return ends
        }
        guard let handle = call.handle(index) else {
            throw call.error("\(call.describe(index)) cannot be wired", "only nodes, ports and groups send frames")
        }
        var media = Wire.Media.both
        let node: Int
        switch handle.tag {
        case .node: node = handle.index
        case .look: node = try nodeOfLook(handle.index, call)
        case .media:
            node = handle.index
            media = handle.b == 1 ? .video : .audio
        case .group:
            guard let output = model.groups[handle.index].output else {
                throw call.error("\(title(call, index)) has no output", "give group{ output = node }")
            }
            node = output
        case .port, .slot:
            throw call.error("\(title(call, index)) takes frames and sends none", "write node >> …")
        default:
            throw call.error("\(title(call, index)) cannot be wired", "only nodes, ports and groups send frames")
        }
        let schema = model.schemas[node]
        if schema.role == .sink, !schema.forwards {
            throw call.error(
                "\(title(node: node)) is a sink: it sends no frames on",
                "wire its source to the next node too, or go through rawDataOutput")
        }
        return [GraphModel.OutputEnd(node: node, media: media)]
    }

    private func single(_ ends: [GraphModel.OutputEnd], _ call: LuaCall) throws -> GraphModel.OutputEnd {
        guard let first = ends.first, ends.count == 1 else { throw call.error("one node at a time") }
        return first
    }

    /// The inputs that the value at `index` stands for; a group may have several for one port.
    func inputs(at index: Int32, _ call: LuaCall) throws -> [GraphModel.InputEnd] {
        guard let handle = call.handle(index) else {
            throw call.error(
                "\(call.describe(index)) takes no frames",
                call.isAbsent(index) ? "the target has no value: check its name" : "give a node, a port or a group")
        }
        switch handle.tag {
        case .node: return [try inputOf(node: handle.index, .both, call)]
        case .look: return [try inputOf(node: try nodeOfLook(handle.index, call), .both, call)]
        case .media: return [try inputOf(node: handle.index, handle.b == 1 ? .video : .audio, call)]
        case .port: return [GraphModel.InputEnd(node: handle.index, port: Int(handle.b))]
        case .slot:
            guard let port = model.schemas[handle.index].ports.firstIndex(of: slotNames[Int(handle.b)]) else {
                throw call.error("\(title(call, index)) is gone", "make it again")
            }
            return [GraphModel.InputEnd(node: handle.index, port: port)]
        case .group: return model.groups[handle.index].inputs.first?.ends ?? []
        default: throw call.error("\(title(call, index)) takes no frames", "give a node, a port or a group")
        }
    }

    private func inputOf(node: Int, _ media: Wire.Media, _ call: LuaCall) throws -> GraphModel.InputEnd {
        let schema = model.schemas[node]
        guard schema.role != .source else {
            throw call.error(
                "\(title(node: node)) is a source: it takes no frames", "wire from it: \(id(node)) >> …")
        }
        guard !schema.ports.isEmpty else { throw call.error("\(title(node: node)) has no input") }
        return GraphModel.InputEnd(node: node, port: nil, media: media)
    }

    // MARK: Wiring

    func wireOperator(_ call: LuaCall) throws -> Int32 {
        lua_settop(call.pointer, 2)
        let from: [GraphModel.OutputEnd]
        if call.isAbsent(1) || call.isAbsent(2) {
            throw call.error(
                "the \(call.isAbsent(1) ? "left" : "right") side of >> is nil", "check the name: it has no value here")
        }
        from = try outputs(at: 1, call)
        if call.kind(2) == .table {
            let count = call.length(2)
            guard count >= 1, count <= 1000 else {
                throw call.error("the table to the right of >> is empty", "write a >> { b, c }")
            }
            for position in 1...count {
                call.pushElement(2, position)
                try wire(from, toValueAt: lua_gettop(call.pointer), port: nil, call)
                call.pop()
            }
        } else {
            try wire(from, toValueAt: 2, port: nil, call)
        }
        call.pushCopy(2)
        return 1
    }

    private func wire(
        _ from: [GraphModel.OutputEnd], toValueAt target: Int32, port: Int32?, _ call: LuaCall
    ) throws {
        // A group's ports are taken in order.
        if let handle = call.handle(target), handle.tag == .group {
            let group = model.groups[handle.index]
            var chosen: Int?
            if let port {
                chosen = try self.port(at: port, names: group.inputs.map(\.name), of: title(call, target), call)
            }
            for (offset, end) in from.enumerated() {
                let position = chosen ?? offset
                guard group.inputs.indices.contains(position) else {
                    throw call.error("\(title(call, target)) has \(group.inputs.count) inputs, not \(position + 1)")
                }
                for input in group.inputs[position].ends { try connect(end, input, call) }
            }
            return
        }
        for end in from {
            for var input in try inputs(at: target, call) {
                if let port {
                    input.port = try self.port(
                        at: port, names: model.schemas[input.node].ports, of: title(node: input.node), call)
                }
                try connect(end, input, call)
            }
        }
    }

    /// A port by name or 1-based index.
    private func port(at index: Int32, names: [String], of owner: String, _ call: LuaCall) throws -> Int {
        if let number = call.integer(index) {
            guard names.indices.contains(number - 1) else {
                throw call.error(
                    "\(owner) has no port \(number)", "it has \(names.count): \(names.joined(separator: ", "))")
            }
            return number - 1
        }
        guard let name = call.string(index) else {
            throw call.error("a port is named or numbered, not \(call.describe(index))")
        }
        guard let position = names.firstIndex(of: name) else {
            throw call.error(
                "\(owner) has no port '\(name)'",
                Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                    ?? "it has: \(names.joined(separator: ", "))")
        }
        return position
    }

    /// Adds one wire. Without a port it takes the first free one; a wire that is there already is left alone.
    func connect(_ from: GraphModel.OutputEnd, _ to: GraphModel.InputEnd, _ call: LuaCall) throws {
        let (fromID, toID) = (id(from.node), id(to.node))
        guard from.media == to.media || from.media == .both || to.media == .both else {
            throw call.error(
                "\(from.media.rawValue) of \(title(node: from.node)) cannot go to \(to.media.rawValue) of \(title(node: to.node))",
                "wire audio to audio")
        }
        let media = from.media == .both ? to.media : from.media
        if media == .audio || media == .both && (isSoundOnly(from.node) || isSoundOnly(to.node)) {
            return addSound(from: fromID, to: to, call)
        }
        let ports = model.schemas[to.node].ports
        func taken(_ port: Int) -> Wire? {
            model.patch.wires.first { wire in
                // Sound wired apart replaces the sound that comes with the picture.
                wire.to == toID && wire.port == port && wire.media != .audio
            }
        }
        let port: Int
        if let wanted = to.port {
            port = wanted
        } else if let free = ports.indices.first(where: { taken($0) == nil }) {
            port = free
        } else if model.patch.wires.contains(where: { $0.from == fromID && $0.to == toID && $0.media == media }) {
            return
        } else {
            port = 0
        }
        if let other = taken(port) {
            if other.from == fromID, other.media == media { return }
            guard isDry(other.from) else {
                throw PatchError(
                    .graph, "port '\(ports[port])' of \(title(node: to.node)) has a source already: '\(other.from)'",
                    remedy: "remove it first (removeTarget), or put a blend between", node: toID, at: call.location)
            }
            model.patch.wires.removeAll { $0 == other }
        }
        model.patch.wires.append(
            Wire(from: fromID, to: toID, port: port, media: media, at: call.location))
    }
}

extension GraphScript {
    /// Whether a node has no picture.
    func isSoundOnly(_ node: Int) -> Bool {
        let schema = model.schemas[node]
        if case .sound = model.patch.nodes[node].body { return true }
        return !schema.hasPicture || registry[schema.kind]?.isSound == true
    }

    /// Adds a wire for sound. Sounds that lead to one input are added; sound for a mixer is added to that of its slots.
    private func addSound(from: NodeID, to: GraphModel.InputEnd, _ call: LuaCall) {
        let port = to.port ?? (model.mixers[to.node] == nil ? 0 : Wire.noPort)
        let wire = Wire(from: from, to: id(to.node), port: port, media: .audio, at: call.location)
        let isThere = model.patch.wires.contains {
            $0.from == wire.from && $0.to == wire.to && $0.port == port && $0.media == .audio
        }
        if !isThere { model.patch.wires.append(wire) }
    }

    /// Whether no frame can come from a node: it is no source, and one of its ports is fed by nothing or by a dry node.
    ///
    /// A branch that was cut off upstream (`cam:removeAllTargets()`) keeps its own wires, as in GPUImage; a new wire may take
    /// the port that such a branch holds.
    private func isDry(_ node: NodeID) -> Bool {
        // A node on the way counts as dry, so that a loop, which the planner reports, ends here too.
        var known: [NodeID: Bool] = [:]
        func isDry(_ node: NodeID) -> Bool {
            if let answer = known[node] { return answer }
            known[node] = true
            guard let index = model.patch.nodes.firstIndex(where: { $0.id == node }) else { return true }
            let answer = model.schemas[index].ports.indices.contains { port in
                let wire = model.patch.wires.first { $0.to == node && $0.port == port && $0.media != .audio }
                return wire.map { isDry($0.from) } ?? true
            }
            known[node] = answer
            return answer
        }
        return isDry(node)
    }
}

extension Wire.Media {
    /// Whether both carry some of the same.
    func overlaps(_ other: Wire.Media) -> Bool { self == other || self == .both || other == .both }
}
