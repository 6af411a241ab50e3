internal import CLua
import PatchGraph
import PatchMedia

/// `session{ "name", url = … }`: streams to and from one server by name, in the words of the broadcast SDKs: `connect`,
/// `publish`, `play`, `stop`, `disconnect`.
///
/// Each stream is a node, such as `NAME/publish/STREAM`, and has a connection of its own, as FFmpeg makes them. Streams of a session that is not
/// connected, and those that were stopped, are left out of the graph; they come back with their wires.
extension GraphScript {
    func installSessions() {
        define("session") { script, call in try script.makeSession(call) }
        let words: [(String, (GraphScript, Int, LuaCall) throws -> Int32)] = [
            ("connect", { script, index, _ in script.connect(index, true) }),
            ("disconnect", { script, index, _ in script.connect(index, false) }),
            ("publish", { script, index, call in try script.stream(index, isPlayed: false, call) }),
            ("play", { script, index, call in try script.stream(index, isPlayed: true, call) }),
            ("stop", { script, index, call in try script.stop(index, call) }),
            ("onState", { script, index, call in try script.listen(index, \.stateHandlers, "onState", call) }),
            ("onError", { script, index, call in try script.listen(index, \.errorHandlers, "onError", call) }),
        ]
        state.defineHandle(.session) { [unowned self] call in
            call.pushTable()
            for (name, body) in words {
                state.pushFunction(
                    state.register { [unowned self] call in
                        guard let handle = call.handle(1), handle.tag == .session else {
                            throw call.error("\(name) is a method of sessions", "write session:\(name)(…)")
                        }
                        return try body(self, handle.index, call)
                    })
                call.setField(name)
            }
            call.setField("__index")
            define("__newindex") { _, call in throw call.error("a session has no values to set") }
            define("__tostring") { script, call in
                call.push("session " + script.model.sessions[call.handle(1)?.index ?? 0].name)
                return 1
            }
        }
    }

    private func makeSession(_ call: LuaCall) throws -> Int32 {
        let example = "write session{ \"name\", url = \"rtmp://host/app\" }"
        guard call.kind(1) == .table else { throw call.error("session takes a table", example) }
        call.pushElement(1, 1)
        guard let name = call.string(-1), !name.isEmpty else { throw call.error("session needs a name", example) }
        call.pop()
        for key in try call.keys(1).names where key != "url" {
            throw call.error("session has no '\(key)'", "it takes url")
        }
        guard !model.sessions.contains(where: { $0.name == name }) else {
            throw call.error("there is a session '\(name)' already", "names are unique: choose another")
        }
        call.pushField(1, "url")
        let url: Secret
        if let handle = call.handle(-1), handle.tag == .secret {
            url = model.secrets[handle.index]
        } else if let text = call.string(-1) {
            url = Secret(url: text)
        } else {
            throw call.error("session needs url =, the server's address without a stream's name", example)
        }
        call.pop()
        model.sessions.append(GraphModel.Session(name: name, url: url))
        call.push(Handle(.session, model.sessions.count - 1))
        return 1
    }

    private func connect(_ index: Int, _ isConnected: Bool) -> Int32 {
        model.sessions[index].isConnected = isConnected
        return 0
    }

    /// `session:publish("name", { preset = … })` and `session:play("name")`: gives the stream's node.
    private func stream(_ index: Int, isPlayed: Bool, _ call: LuaCall) throws -> Int32 {
        let word = isPlayed ? "play" : "publish"
        let session = model.sessions[index]
        guard let name = call.string(2), !name.isEmpty, name.utf8.count <= 64 else {
            throw call.error("\(word) needs a stream's name", "write session:\(word)(\"name\")")
        }
        if let place = session.streams.firstIndex(where: { $0.name == name && $0.isPlayed == isPlayed }) {
            model.sessions[index].streams[place].isStopped = false
            pushShared(Handle(.node, session.streams[place].node), call)
            return 1
        }
        let kind = isPlayed ? "stream" : "publisher"
        guard let schema = registry[kind]?.schema else { throw call.error("this program has no \(kind)") }
        guard call.isAbsent(3) || call.kind(3) == .table else {
            throw call.error("\(word) takes options in a table", "write session:\(word)(\"name\", { … })")
        }
        let url = Secret(value: session.url.value + "/" + name, redacted: session.url.redacted + "/" + name)
        lua_settop(call.pointer, 3)
        call.pushTable()
        let table = lua_gettop(call.pointer)
        if call.kind(3) == .table {
            for key in try call.keys(3).names {
                call.pushField(3, key)
                lua_setfield(call.pointer, table, key)
            }
        }
        _ = try push(url, call)
        lua_setfield(call.pointer, table, "url")
        // What becomes of the connection is told by events, and the picture goes on air without it.
        call.pushField(table, "required")
        let isSaid = !call.isAbsent(-1)
        call.pop()
        if !isSaid {
            call.push(false)
            lua_setfield(call.pointer, table, "required")
        }
        let node = try makeNode(
            GraphModel.Look(schema: schema), call, table: table, name: "\(session.name)/\(word)/\(name)")
        model.sessions[index].streams.append(GraphModel.Session.Stream(name: name, node: node, isPlayed: isPlayed))
        pushShared(Handle(.node, node), call)
        return 1
    }

    private func stop(_ index: Int, _ call: LuaCall) throws -> Int32 {
        guard let name = call.string(2) else {
            throw call.error("stop needs a stream's name", "write session:stop(\"name\")")
        }
        let places = model.sessions[index].streams.indices.filter { model.sessions[index].streams[$0].name == name }
        guard !places.isEmpty else {
            let known = model.sessions[index].streams.map(\.name)
            throw call.error(
                "session '\(model.sessions[index].name)' has no stream '\(name)'",
                Spelling.nearest(to: name, in: known).map { "did you mean '\($0)'?" } ?? "publish or play it first")
        }
        for place in places { model.sessions[index].streams[place].isStopped = true }
        return 0
    }

    private func listen(
        _ index: Int, _ handlers: WritableKeyPath<GraphModel.Session, [LuaReference]>, _ name: String, _ call: LuaCall
    ) throws -> Int32 {
        model.sessions[index][keyPath: handlers].append(try handler(at: 2, name, call))
        return 0
    }
}

extension GraphModel {
    /// A server, and the streams to and from it.
    struct Session {
        struct Stream {
            var name: String
            var node: Int
            var isPlayed: Bool
            var isStopped = false
        }

        var name: String
        /// Without a stream's name.
        var url: Secret
        var isConnected = false
        var streams: [Stream] = []
        var stateHandlers: [LuaReference] = []
        var errorHandlers: [LuaReference] = []
    }

    /// The session of a node, and what it calls the stream.
    func session(ofNode node: Int) -> (session: Session, stream: String)? {
        for session in sessions {
            if let stream = session.streams.first(where: { $0.node == node }) { return (session, stream.name) }
        }
        return nil
    }

    /// The sessions as they were before a handler that failed. Streams that it made stay, stopped, because the script may have
    /// kept their nodes.
    func sessions(undoneTo before: GraphModel) -> [Session] {
        sessions.enumerated().map { index, session in
            guard index < before.sessions.count else {
                var session = session
                session.isConnected = false
                return session
            }
            var restored = before.sessions[index]
            for var stream in session.streams.dropFirst(restored.streams.count) {
                stream.isStopped = true
                restored.streams.append(stream)
            }
            return restored
        }
    }

    /// The patch without streams that were stopped or whose session is not connected.
    var livePatch: Patch {
        let resting = sessions.flatMap { session in
            session.streams.filter { $0.isStopped || !session.isConnected }.map { patch.nodes[$0.node].id }
        }
        guard !resting.isEmpty else { return patch }
        var live = patch
        live.nodes.removeAll { resting.contains($0.id) }
        live.wires.removeAll { resting.contains($0.from) || resting.contains($0.to) }
        return live
    }
}
