internal import CLua
import PatchMedia

/// What a script may use.
///
/// Thread-safety: a value.
public struct ScriptLimits: Sendable {
    /// Bytes of Lua memory, at least 1 MiB.
    public var memory: Int = 64 << 20
    /// Seconds that loading the graph and its modules may take.
    public var loading: Double = 1
    /// Seconds that one event handler may take.
    public var handler: Double = 0.25
    /// Bytes of one source file.
    public var sourceSize: Int = 1 << 20
    /// Nodes of one patch.
    public var nodes: Int = 4096

    public init() {}
}

/// A Lua 5.4 state in a sandbox: no files, no processes, no bytecode, bounded memory and time.
///
/// Lua raises errors by longjmp. No Lua function that can raise is called from Swift outside `protectedCall`: while Swift
/// runs the allocator does not fail, tables are read and written raw, and functions given to Lua throw in Swift and are
/// raised in C after they returned.
/// Thread-safety: one thread at a time.
final class LuaState {
    typealias Function = (LuaCall) throws -> Int32

    let pointer: OpaquePointer
    let limits: ScriptLimits
    private let box: UnsafeMutablePointer<patch_guard>
    private var functions: [Function] = []
    /// The errors thrown by Swift functions whose text went through Lua, newest last.
    private var thrown: [(text: String, error: PatchError)] = []
    /// Names that people know for chunk names that Lua shortened.
    private var chunks: [String: String] = [:]
    /// The table behind the sealed globals.
    var globals: LuaReference?
    /// Asked for names that are in no table: pushes results and returns their count, or nil.
    var resolveGlobal: ((String, LuaCall) throws -> Int32?)?
    /// What `resolveGlobal` knows, for spelling.
    var extraGlobalNames: [String] = []
    /// By tag of the handle.
    var metatables: [Handle.Tag: LuaReference] = [:]
    /// How deep Swift and Lua call each other.
    private var depth = 0

    /// - Throws: `PatchError.unavailable` when the machine has no memory for it.
    init(limits: ScriptLimits = ScriptLimits()) throws {
        self.limits = limits
        box = .allocate(capacity: 1)
        box.initialize(to: patch_guard())
        box.pointee.limit = max(1 << 20, limits.memory)
        box.pointee.in_swift = 1
        box.pointee.dispatch = { thread, box, index in
            guard let thread, let owner = box?.pointee.owner else { return 0 }
            return Unmanaged<LuaState>.fromOpaque(owner).takeUnretainedValue().dispatch(thread, Int(index))
        }
        // With a stack that never moves: see `patch_stack` in CLua.
        guard let state = patch_new_state(box) else {
            box.deallocate()
            throw PatchError(.unavailable, "no memory for a script", remedy: "close other programs")
        }
        pointer = state
        box.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        LuaState.count.add(1, ordering: .relaxed)
        try installSandbox()
    }

    deinit {
        // No script code runs here: __gc is refused, and nothing is left to close.
        lua_close(pointer)
        box.deallocate()
        LuaState.count.subtract(1, ordering: .relaxed)
    }

    // MARK: Functions

    private func dispatch(_ thread: OpaquePointer, _ index: Int) -> Int32 {
        let call = LuaCall(state: self, pointer: thread)
        lua_checkstack(thread, 32)
        do {
            return try functions[index](call)
        } catch let error as PatchError {
            push(error: error, on: thread)
        } catch {
            // `LuaRaise`: the error value lies on top of the stack already.
        }
        return -1
    }

    /// Pushes the text of an error; when it reaches the top unchanged, it becomes the same `PatchError` again.
    func push(error: PatchError, on thread: OpaquePointer) {
        let text = error.description
        thrown.append((text, error))
        if thrown.count > 16 { thrown.removeFirst() }
        lua_checkstack(thread, 2)
        lua_pushlstring(thread, text, text.utf8.count)
    }

    /// Registers a Swift function; the index is for `pushFunction`.
    func register(_ function: @escaping Function) -> Int {
        functions.append(function)
        return functions.count - 1
    }

    /// Pushes a registered function; `upvalues` values on top of the stack become its upvalues 1….
    func pushFunction(_ index: Int, upvalues: Int = 0, on thread: OpaquePointer? = nil) {
        patch_push_function(thread ?? pointer, Int32(index), Int32(upvalues))
    }

    /// Sets a function in the table on top of the stack.
    func setFunction(_ name: String, _ function: @escaping Function) {
        pushFunction(register(function))
        LuaCall(state: self, pointer: pointer).setField(name)
    }

    // MARK: Running

    /// Compiles `text` and leaves the function on the stack.
    /// - Parameter name: what people call the file.
    /// - Throws: `PatchError.script` with the place of a syntax error.
    func load(_ text: String, name: String, isOurs: Bool = false, on thread: OpaquePointer? = nil) throws {
        let thread = thread ?? pointer
        guard text.utf8.count <= limits.sourceSize else {
            throw PatchError(
                .budget, "the source text has \(text.utf8.count) bytes", remedy: "the limit is \(limits.sourceSize)",
                at: SourceLocation(file: name, line: 0))
        }
        let chunk = isOurs ? "=" + name : chunkName(for: name)
        let text = text.hasPrefix("#") ? "--" + text : text
        let status = text.withCString { patch_load(thread, $0, text.utf8.count, chunk) }
        guard status == LUA_OK else {
            defer { patch_pop(thread, 1) }
            throw error(status: status, on: thread).placed(at: SourceLocation(file: name, line: 0))
        }
    }

    /// Lua shortens names beyond 59 bytes in messages; this one is short and maps back.
    private func chunkName(for name: String) -> String {
        if name.utf8.count < 56 {
            chunks[name] = name
            return "@" + name
        }
        let short = "\(chunks.count)…" + String(name.suffix(40))
        chunks[short] = name
        return "@" + short
    }

    /// The name that people know for a chunk name as `lua_getinfo` gives it.
    func fileName(ofChunk chunk: String) -> String {
        let name = chunk.hasPrefix("@") || chunk.hasPrefix("=") ? String(chunk.dropFirst()) : chunk
        return chunks[name] ?? name
    }

    /// Calls the function below `arguments` values on the stack, inside a running script.
    /// - Throws: `LuaRaise` with the error value on top of the stack.
    func protectedCall(arguments: Int, results: Int, on thread: OpaquePointer) throws {
        depth += 1
        defer { depth -= 1 }
        // Lua counts C calls (200), but each of ours takes several Swift frames.
        guard depth < 100 else {
            patch_pop(thread, Int32(arguments) + 1)
            throw PatchError(.script, "functions call each other too deeply", at: location(on: thread))
        }
        if patch_call(thread, Int32(arguments), Int32(results), 0) != LUA_OK { throw LuaRaise() }
    }

    /// Calls the function below `arguments` values from outside any script, within `seconds`.
    /// - Throws: `PatchError` with file and line.
    func run(arguments: Int = 0, results: Int = 0, seconds: Double) throws {
        box.pointee.deadline = patch_now() + Int64(min(3600, max(0.001, seconds)) * 1e9)
        box.pointee.expired = 0
        box.pointee.exhausted = 0
        box.pointee.line = 0
        patch_arm(pointer)
        let status = patch_call(pointer, Int32(arguments), Int32(results), 0)
        box.pointee.deadline = 0
        if status == LUA_OK, box.pointee.expired == 0 { return }
        if status == LUA_OK { for _ in 0..<results { lua_pushnil(pointer) } }
        var failure = error(status: status, on: pointer)
        patch_pop(pointer, status == LUA_OK ? Int32(results) : 1)
        if box.pointee.expired != 0 {
            failure = PatchError(
                .budget, "the script ran longer than \(OptionText.number(seconds)) s",
                remedy: "look for a loop without an end, or do the work in smaller steps",
                at: stoppedAt ?? failure.location)
        } else if status == LUA_ERRMEM || box.pointee.exhausted != 0 && failure.message.hasSuffix("not enough memory") {
            failure = PatchError(
                .budget, "the script wants more than its \(limits.memory >> 20) MiB of memory",
                remedy: "look for a table or text that grows without an end", at: stoppedAt ?? failure.location)
        }
        // Back to normal: the next call must not find the memory full of this one's garbage.
        box.pointee.expired = 0
        patch_arm(pointer)
        patch_collect(pointer)
        throw failure
    }

    /// - Throws: `PatchError.budget` once the deadline has passed: Swift functions with long loops ask now and then.
    func checkTime(on thread: OpaquePointer) throws {
        guard box.pointee.deadline != 0, patch_now() > box.pointee.deadline else { return }
        if box.pointee.expired == 0 { patch_note_place(box, thread) }
        box.pointee.expired = 1
        throw PatchError(.budget, "the script ran out of time", at: location(on: thread))
    }

    /// Bytes that a Swift function may still make.
    var memoryLeft: Int { max(0, Int(box.pointee.limit) - Int(box.pointee.used)) }
    var memoryUsed: Int { Int(box.pointee.used) }

    private var stoppedAt: SourceLocation? {
        guard box.pointee.line > 0 else { return nil }
        let chunk = withUnsafeBytes(of: box.pointee.source) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return SourceLocation(file: fileName(ofChunk: chunk), line: Int(box.pointee.line))
    }

    // MARK: Errors

    /// The line of the innermost Lua function, when called from one.
    func location(on thread: OpaquePointer) -> SourceLocation? {
        var source: UnsafePointer<CChar>?
        let line = patch_current_line(thread, &source)
        guard line > 0, let source else { return nil }
        return SourceLocation(file: fileName(ofChunk: String(cString: source)), line: Int(line))
    }

    /// Makes a `PatchError` of the error value on top of the stack, which stays.
    func error(status: Int32, on thread: OpaquePointer) -> PatchError {
        let call = LuaCall(state: self, pointer: thread)
        let type = lua_type(thread, -1)
        guard type == LUA_TSTRING, let text = call.string(-1) else {
            let kind = type == LUA_TNIL ? "nil" : String(cString: lua_typename(thread, type))
            return PatchError(
                .script, "the script raised an error that is a \(kind) value", remedy: "call error with a text",
                at: location(on: thread))
        }
        if let known = thrown.last(where: { $0.text == text }) { return known.error }
        let (location, message) = splitPlace(text)
        if location == nil, text.hasPrefix("prelude:"), let space = text.firstIndex(of: " ") {
            return LuaMessages.reshape(String(text[text.index(after: space)...]), at: stoppedAt)
        }
        return LuaMessages.reshape(message, at: location)
    }

    /// Splits `file:line: message`.
    private func splitPlace(_ text: String) -> (SourceLocation?, String) {
        var rest = Substring(text)
        while let colon = rest.firstIndex(of: ":") {
            let name = String(text[text.startIndex..<colon])
            let after = text[text.index(after: colon)...]
            if let file = chunks[name], let end = after.firstIndex(of: ":"), let line = Int(after[..<end]) {
                let message = after[after.index(after: end)...].drop { $0 == " " }
                return (SourceLocation(file: file, line: line), String(message))
            }
            rest = after
        }
        return (nil, text)
    }
}

/// Thrown by Swift functions after the Lua error value was left on top of the stack.
struct LuaRaise: Error {}

/// Numbers as a person would write them.
enum OptionText {
    static func number(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
        return "\(value)"
    }
    static func number(_ value: Float) -> String {
        if value == value.rounded(), abs(value) < 1e7 { return "\(Int64(value))" }
        return "\(value)"
    }
}
