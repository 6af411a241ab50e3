internal import CLua
import PatchMedia

extension LuaState {
    /// Replaces what a stranger's script must not have, and what could run for ever inside C, where no hook looks.
    ///
    /// Afterwards the table of globals is empty and sealed: names come from a table behind it (`pushGlobals`), unknown
    /// ones raise an error, and assigning a new one does too.
    func installSandbox() throws {
        let call = LuaCall(state: self, pointer: pointer)
        lua_rawgeti(pointer, patch_registry(), lua_Integer(LUA_RIDX_GLOBALS))
        for name in [
            "dofile", "loadfile", "load", "collectgarbage", "warn", "require", "package", "io", "debug",
            "print",
        ] {
            call.pushNil()
            call.setField(name)
        }
        installBaseFunctions()
        keepOnly(["time", "clock", "date"], of: "os", call)
        keepOnly(["char", "charpattern", "codes", "codepoint", "len", "offset"], of: "utf8", call)
        keepOnly(["create", "isyieldable", "resume", "running", "status", "yield"], of: "coroutine", call)
        keepOnly(
            ["byte", "char", "format", "len", "lower", "rep", "reverse", "sub", "upper"], of: "string", call)
        call.pushField(-1, "string")
        installPatternFunctions()
        call.pop()

        // getmetatable("") must not hand out the table that all strings share.
        call.push("")
        lua_getmetatable(pointer, -1)
        call.push(false)
        call.setField("__metatable")
        call.pop(2)

        try load(LuaPrelude.text, name: "prelude", isOurs: true)
        try run(seconds: 10)
        sealGlobals(call)
        call.pop()
    }

    private func keepOnly(_ names: [String], of library: String, _ call: LuaCall) {
        call.pushField(-1, library)
        call.pushTable()
        for name in names {
            call.pushField(-2, name)
            call.setField(name)
        }
        if library == "string" {
            // Methods of strings look into the old table, so that one stays and loses its other fields.
            call.pop()
            for name in ["dump", "find", "gmatch", "gsub", "match", "pack", "packsize", "unpack"] {
                call.pushNil()
                call.setField(name)
            }
            call.pop()
        } else {
            call.setFieldBelow(library)
        }
    }

    private func installBaseFunctions() {
        setFunction("setmetatable") { call in
            guard call.kind(1) == .table, call.kind(2) == .table || call.kind(2) == .null else {
                throw call.error(
                    "setmetatable takes a table and a table or nil, not \(call.describe(1)) and \(call.describe(2))")
            }
            if lua_getmetatable(call.pointer, 1) != 0 {
                call.pushField(-1, "__metatable")
                let isProtected = !call.isAbsent(-1)
                call.pop(2)
                if isProtected { throw call.error("this table's metatable is protected") }
            }
            if call.kind(2) == .table {
                call.pushField(2, "__gc")
                if !call.isAbsent(-1) {
                    throw call.error("__gc is not available to scripts", "clean up in onUnload(function() … end)")
                }
                call.pop()
            }
            lua_settop(call.pointer, 2)
            lua_setmetatable(call.pointer, 1)
            return 1
        }
        setFunction("collectgarbage") { call in
            guard call.isAbsent(1) || call.string(1) == "count" else {
                throw call.error("collectgarbage takes only \"count\" here", "memory is collected by itself")
            }
            call.push(Double(call.state.memoryUsed) / 1024)
            return 1
        }
        setFunction("load") { call in
            guard let text = call.string(1) else {
                throw call.error("load takes a text, not \(call.describe(1))")
            }
            if call.withBytes(1, { $0.first == 0x1B }) == true {
                throw call.error("load does not take compiled Lua", "give it the source text")
            }
            let name =
                call.string(2).map { $0.hasPrefix("=") || $0.hasPrefix("@") ? String($0.dropFirst()) : $0 } ?? "load"
            do {
                try call.state.load(text, name: String(name.prefix(50)), on: call.pointer)
            } catch let error as PatchError {
                call.pushNil()
                call.push(error.description)
                return 2
            }
            if !call.isAbsent(4) {
                call.pushCopy(4)
                lua_setupvalue(call.pointer, -2, 1)
            }
            return 1
        }
    }

    private func sealGlobals(_ call: LuaCall) {
        // Stack: globals. Move everything into a table behind it.
        call.pushTable()
        let behind = lua_gettop(pointer)
        lua_pushnil(pointer)
        while lua_next(pointer, -3) != 0 {
            lua_pushvalue(pointer, -2)
            patch_insert(pointer, -2)  // key, key, value
            lua_rawset(pointer, behind)
        }
        lua_pushnil(pointer)
        while lua_next(pointer, -3) != 0 {
            call.pop()
            lua_pushvalue(pointer, -1)
            lua_pushnil(pointer)
            lua_rawset(pointer, behind - 1)
        }
        globals = {
            call.pushCopy(-1)
            return call.keep()
        }()
        // The table behind raises for names it does not have.
        call.pushTable()
        setFunction("__index") { call in
            guard let name = call.string(2) else { return 0 }
            return try call.state.unknownGlobal(name, call)
        }
        call.push(false)
        call.setField("__metatable")
        lua_setmetatable(pointer, behind)

        call.pushTable()
        call.pushCopy(behind)
        call.setField("__index")
        setFunction("__newindex") { call in
            let name = call.string(2) ?? call.describe(2)
            if name == WireStatements.name { return 0 }
            call.pushGlobals()
            call.pushField(-1, name)
            if !call.isAbsent(-1) {
                throw call.error("'\(name)' is a word of the graph language and cannot be changed", "use another name")
            }
            throw call.error("'\(name)' is not a local variable", "write `local \(name) = …` where it begins")
        }
        call.push(false)
        call.setField("__metatable")
        lua_setmetatable(pointer, behind - 1)
        call.pop()
    }

    /// A name that is in no table. The graph language may still know it (`size` inside a kernel).
    private func unknownGlobal(_ name: String, _ call: LuaCall) throws -> Int32 {
        if let results = try resolveGlobal?(name, call) { return results }
        call.pushGlobals()
        var names: [String] = extraGlobalNames
        try call.forEach(-1) { if let name = call.string(-2) { names.append(name) } }
        if let absent = LuaMessages.laterWords[name] {
            throw call.error("this version has no '\(name)'", absent)
        }
        let nearest = Spelling.nearest(to: name, in: names)
        throw call.error(
            "unknown name '\(name)'", nearest.map { "did you mean '\($0)'?" } ?? "declare it with `local \(name) = …`")
    }
}

extension LuaCall {
    /// Pushes the table behind the globals.
    func pushGlobals() {
        if let globals = state.globals { push(globals) } else { pushTable() }
    }

    /// Pops the top value and the one below it, and sets the top one as a field of the table that is then on top.
    func setFieldBelow(_ name: String) {
        patch_remove(pointer, -2)
        setField(name)
    }
}
