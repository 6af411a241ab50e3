internal import CLua
import PatchGraph
import PatchMedia

/// What a script wants to hear about, and calling it.
extension GraphScript {
    func installEvents(_ call: LuaCall) {
        defineMethod("onChange") { script, call in
            guard let handle = call.handle(1), handle.tag == .control else {
                throw call.error("onChange is a method of controls", "write control:onChange(function(value) … end)")
            }
            script.model.controls[handle.index].changeHandlers.append(try script.handler(at: 2, "onChange", call))
            return 0
        }
        defineMethod("onPress") { script, call in
            guard let handle = call.handle(1), handle.tag == .control else {
                throw call.error("onPress is a method of buttons", "write button:onPress(function() … end)")
            }
            script.model.controls[handle.index].changeHandlers.append(try script.handler(at: 2, "onPress", call))
            return 0
        }
        for kind in GraphModel.NodeHandlerKind.allCases {
            defineMethod(kind.rawValue) { script, call in
                guard let handle = call.handle(1), handle.tag == .node else {
                    throw call.error(
                        "\(kind.rawValue) is a method of nodes", "write node:\(kind.rawValue)(function() … end)")
                }
                let role = script.model.schemas[handle.index].role
                if kind == .onLost || kind == .onBack, role != .source {
                    throw call.error("\(script.title(call, 1)) is no source: it has no \(kind.rawValue)", "use onError")
                }
                if kind == .onState, role != .sink {
                    throw call.error("\(script.title(call, 1)) is no publisher: it has no onState", "use onError")
                }
                if kind == .onData { try script.watch(handle.index, call) }
                let key = GraphModel.NodeHandlerKey(node: handle.index, kind: kind)
                script.model.nodeHandlers[key, default: []].append(try script.handler(at: 2, kind.rawValue, call))
                return 0
            }
        }
        define("onKey") { script, call in
            guard let key = call.string(1), !key.isEmpty else {
                throw call.error("onKey needs a key", "write onKey(\"b\", function() … end)")
            }
            script.model.keyHandlers[key.lowercased(), default: []].append(try script.handler(at: 2, "onKey", call))
            return 0
        }
        define("onFrame") { script, call in
            script.model.frameHandlers.append(try script.handler(at: 1, "onFrame", call))
            return 0
        }
        define("onUnload") { script, call in
            script.model.unloadHandlers.append(try script.handler(at: 1, "onUnload", call))
            return 0
        }
        define("every") { script, call in try script.addTimer("every", repeats: true, call) }
        define("after") { script, call in try script.addTimer("after", repeats: false, call) }
        define("print") { script, call in try script.log(call) }
    }

    func handler(at index: Int32, _ name: String, _ call: LuaCall) throws -> LuaReference {
        guard call.kind(index) == .function else {
            let isResult = call.isAbsent(index)
            throw call.error(
                "\(name) takes a function, not \(call.describe(index))",
                isResult ? "write the function's name without ()" : "write function() … end")
        }
        guard handlerCount < 10_000 else {
            throw call.error(
                "the graph has more than 10000 handlers", "register them once, outside handlers", code: .budget)
        }
        call.pushCopy(index)
        return call.keep()
    }

    private var handlerCount: Int {
        model.timers.count + model.frameHandlers.count + model.unloadHandlers.count
            + model.keyHandlers.values.reduce(0) { $0 + $1.count }
            + model.nodeHandlers.values.reduce(0) { $0 + $1.count }
            + model.controls.reduce(0) { $0 + $1.changeHandlers.count }
            + model.sessions.reduce(0) { $0 + $1.stateHandlers.count + $1.errorHandlers.count }
    }

    private func addTimer(_ name: String, repeats: Bool, _ call: LuaCall) throws -> Int32 {
        guard let seconds = call.number(1), seconds.isFinite, seconds >= (repeats ? 0.001 : 0), seconds <= 1e7 else {
            throw call.error(
                "\(name) wants seconds, not \(call.describe(1))",
                "give it a number from \(repeats ? "0.001" : "0") to 10000000")
        }
        let interval = Int64(seconds * 1e9)
        let handler = try handler(at: 2, name, call)
        model.timers.append(
            GraphModel.Timer(handler: handler, due: timeNow() + interval, interval: repeats ? interval : 0))
        return 0
    }

    func log(_ call: LuaCall) throws -> Int32 {
        var parts: [String] = []
        let count = call.count
        for index in 0..<min(count, 100) {
            // tostring may run a script's __tostring: protected, and with the budget on.
            call.pushGlobals()
            call.pushField(-1, "tostring")
            call.pushCopy(index + 1)
            try call.call(arguments: 1, results: 1)
            parts.append(call.string(-1) ?? call.describe(-1))
            call.pop(2)
        }
        let text = parts.joined(separator: "\t")
        options.log(ScriptLogEntry(message: String(text.prefix(10_000)), location: call.location))
        return 0
    }

    // MARK: Calling handlers

    /// Runs handlers one after the other, as one edit. A handler that raises undoes the whole edit.
    /// - Throws: `PatchError` with file and line.
    func perform(_ handlers: [LuaReference], arguments: (LuaCall) -> Int = { _ in 0 }) throws {
        guard !handlers.isEmpty else { return }
        let before = model
        edits.removeAll()
        let call = LuaCall(state: state, pointer: state.pointer)
        for handler in handlers {
            call.push(handler)
            let count = arguments(call)
            do { try state.run(arguments: count, seconds: options.limits.handler) } catch {
                edits.removeAll()
                undo(to: before)
                throw error
            }
        }
    }

    /// Takes back what a handler changed. Nodes that it made stay, unwired and under another name, because the script may
    /// have kept them.
    func undo(to before: GraphModel) {
        var restored = before
        for index in before.patch.nodes.count..<model.patch.nodes.count {
            var node = model.patch.nodes[index]
            node.id += "~\(index)"
            restored.patch.nodes.append(node)
            restored.schemas.append(model.schemas[index])
            restored.nodeIndices[node.id] = index
        }
        restored.looks = model.looks
        restored.groups = model.groups
        restored.secrets = model.secrets
        restored.sessions = model.sessions(undoneTo: before)
        restored.animations = model.animations
        restored.derivedIDs = model.derivedIDs
        model = restored
    }

    /// Whether two patches differ in nodes or wires.
    static func isRewired(_ a: Patch, _ b: Patch) -> Bool {
        a.nodes.count != b.nodes.count || a.wires != b.wires
            || zip(a.nodes, b.nodes).contains { before, after in
                before.id != after.id
                    // A mixer's slots are part of what it is.
                    || before.isWatched != after.isWatched || before.kind == "mixer" && before.body != after.body
            }
    }
}
