internal import CLua
import PatchMedia

/// A running call of a Swift function by Lua: its arguments and how to push results. Nothing here raises.
///
/// Thread-safety: only inside the call.
struct LuaCall {
    let state: LuaState
    let pointer: OpaquePointer

    enum Kind: Equatable { case none, null, bool, number, string, table, function, handle, other }

    var count: Int32 { lua_gettop(pointer) }

    func kind(_ index: Int32) -> Kind {
        switch lua_type(pointer, index) {
        case LUA_TNONE: .none
        case LUA_TNIL: .null
        case LUA_TBOOLEAN: .bool
        case LUA_TNUMBER: .number
        case LUA_TSTRING: .string
        case LUA_TTABLE: .table
        case LUA_TFUNCTION: .function
        case LUA_TUSERDATA: .handle
        default: .other
        }
    }

    func isAbsent(_ index: Int32) -> Bool { lua_type(pointer, index) <= LUA_TNIL }

    // MARK: Reading

    func bool(_ index: Int32) -> Bool? {
        lua_type(pointer, index) == LUA_TBOOLEAN ? lua_toboolean(pointer, index) != 0 : nil
    }

    /// Truth as Lua sees it.
    func isTrue(_ index: Int32) -> Bool { lua_toboolean(pointer, index) != 0 }

    func number(_ index: Int32) -> Double? {
        lua_type(pointer, index) == LUA_TNUMBER ? patch_to_number(pointer, index) : nil
    }

    /// A number that is whole.
    func integer(_ index: Int32) -> Int? { number(index).flatMap { Int(exactly: $0) } }

    var isIntegerSubtype: (Int32) -> Bool { { lua_isinteger(pointer, $0) != 0 } }

    /// A string; bytes that are not UTF-8 become U+FFFD.
    func string(_ index: Int32) -> String? { withBytes(index) { String(decoding: $0, as: UTF8.self) } }

    /// The bytes of a string, valid while it is on the stack.
    func withBytes<R>(_ index: Int32, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R? {
        guard lua_type(pointer, index) == LUA_TSTRING else { return nil }
        var size = 0
        guard let start = patch_to_bytes(pointer, index, &size) else { return nil }
        return try start.withMemoryRebound(to: UInt8.self, capacity: size) {
            try body(UnsafeBufferPointer(start: $0, count: size))
        }
    }

    func handle(_ index: Int32) -> Handle? {
        guard let raw = patch_to_handle(pointer, index)?.pointee, let tag = Handle.Tag(rawValue: raw.tag) else {
            return nil
        }
        return Handle(tag, raw.a, raw.b, raw.c)
    }

    /// What a value is, for messages: `a number`, `a table`, `nil`, `node 'cam'` is said elsewhere.
    func describe(_ index: Int32) -> String {
        switch kind(index) {
        case .none, .null: return "nil"
        case .bool: return isTrue(index) ? "true" : "false"
        case .number: return OptionText.number(number(index) ?? 0)
        case .string:
            let text = string(index) ?? ""
            return "\"" + (text.count > 40 ? text.prefix(40) + "…" : text[...]) + "\""
        case .table: return "a table"
        case .function: return "a function"
        case .handle: return handle(index)?.tag.title ?? "a value"
        case .other: return "a " + String(cString: lua_typename(pointer, lua_type(pointer, index)))
        }
    }

    // MARK: Tables, raw

    /// Pushes `t[name]` of the table at `index`.
    func pushField(_ index: Int32, _ name: String) {
        let absolute = lua_absindex(pointer, index)
        lua_checkstack(pointer, 4)
        push(name)
        lua_rawget(pointer, absolute)
    }

    /// Pushes `t[position]`.
    func pushElement(_ index: Int32, _ position: Int) {
        lua_checkstack(pointer, 4)
        lua_rawgeti(pointer, index, lua_Integer(position))
    }

    /// Pops the top value into `t[name]` of the table below it.
    func setField(_ name: String) {
        lua_checkstack(pointer, 4)
        push(name)
        patch_insert(pointer, -2)
        lua_rawset(pointer, -3)
    }

    /// Pops the top value into `t[position]` of the table below it.
    func setElement(_ position: Int) { lua_rawseti(pointer, -2, lua_Integer(position)) }

    func length(_ index: Int32) -> Int { Int(clamping: lua_rawlen(pointer, index)) }

    /// Visits every pair: `body` finds key and value at −2 and −1 and leaves the stack as it was.
    func forEach(_ index: Int32, _ body: () throws -> Void) throws {
        let absolute = lua_absindex(pointer, index)
        lua_checkstack(pointer, 8)
        let top = lua_gettop(pointer)
        lua_pushnil(pointer)
        while lua_next(pointer, absolute) != 0 {
            do { try body() } catch let error as PatchError {
                lua_settop(pointer, top)
                throw error
            }
            lua_settop(pointer, top + 1)
        }
    }

    // MARK: Pushing

    func push(_ text: String) {
        var text = text
        text.withUTF8 { bytes in push(bytes: bytes) }
    }
    func push(bytes: UnsafeBufferPointer<UInt8>) {
        bytes.withMemoryRebound(to: CChar.self) { chars in
            guard let start = chars.baseAddress else {
                lua_pushlstring(pointer, "", 0)
                return
            }
            lua_pushlstring(pointer, start, chars.count)
        }
    }
    func push(_ number: Double) { lua_pushnumber(pointer, number) }
    /// Whole values become Lua integers.
    func push(natural number: Double) {
        if let whole = Int(exactly: number) { push(whole) } else { push(number) }
    }
    func push(_ number: Int) { lua_pushinteger(pointer, lua_Integer(number)) }
    func push(_ bool: Bool) { lua_pushboolean(pointer, bool ? 1 : 0) }
    func pushNil() { lua_pushnil(pointer) }
    func pushCopy(_ index: Int32) {
        lua_checkstack(pointer, 2)
        lua_pushvalue(pointer, index)
    }
    func pushTable() { lua_createtable(pointer, 0, 0) }
    func pop(_ count: Int32 = 1) { patch_pop(pointer, count) }

    /// Keeps the top value in the registry and pops it.
    func keep() -> LuaReference { LuaReference(slot: luaL_ref(pointer, patch_registry())) }
    func push(_ reference: LuaReference) {
        lua_checkstack(pointer, 2)
        lua_rawgeti(pointer, patch_registry(), lua_Integer(reference.slot))
    }
    func release(_ reference: LuaReference) { luaL_unref(pointer, patch_registry(), reference.slot) }

    // MARK: Errors

    var location: SourceLocation? { state.location(on: pointer) }

    /// An error at the script's present line.
    func error(_ message: String, _ remedy: String = "", code: PatchError.Code = .script, node: String? = nil)
        -> PatchError
    {
        PatchError(code, message, remedy: remedy, node: node, at: location)
    }

    /// Calls the function below `arguments` values on the stack.
    func call(arguments: Int, results: Int) throws {
        try state.protectedCall(arguments: arguments, results: results, on: pointer)
    }
}

/// A value kept alive in the state's registry.
struct LuaReference: Hashable { let slot: Int32 }
