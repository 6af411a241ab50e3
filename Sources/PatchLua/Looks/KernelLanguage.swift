internal import CLua
import PatchFilters
import PatchGraph
import PatchKernel
import PatchMedia

/// The words of the kernel language in a Lua state: GLSL's functions and constructors, and operators on pixel values.
///
/// Thread-safety: the state's thread.
final class KernelLanguage {
    static let builtinNames = ["size", "time", "pos", "uv", "frame"]
    static let types = ValueType.allCases
    /// Operations that scripts call by name; the others are operators and constructors.
    static let functions = Operation.allCases.filter {
        ![.add, .sub, .mul, .div, .neg, .and, .or, .not, .toInt, .toFloat, .toBool, .hash].contains($0)
    }

    unowned let state: LuaState
    /// The kernel function that is running.
    var trace: KernelTrace?
    var serial: Int32 = 0
    /// The texts of the files, for hints that need them.
    var texts: [String: String] = [:]
    var lineCache: [String: [Substring]] = [:]
    var readerMethods: [String: LuaReference] = [:]
    let lookups: LookupTables
    /// What the options of the kernel that is being made name: files among them.
    var lookupFiles: Set<String> = []
    /// Why `lookupTable` failed last.
    var lookupProblem: PatchError?
    /// Options for the next `kernel{ … }`, in place of their defaults.
    var givenOptions = NodeOptions()
    /// What `require "library.NAME"` gave, by NAME.
    var libraryModules: [String: LuaReference] = [:]
    /// Names a kernel after the module that is loading.
    var defaultName: () -> String = { "kernel" }

    init(state: LuaState, lookups: LookupTables) {
        self.state = state
        self.lookups = lookups
    }

    /// Defines the words in the table on top of the stack.
    /// - Parameter made: called with each filter that `kernel{ … }` makes; pushes what the script gets.
    func install(made: @escaping (KernelFilter, LuaCall) throws -> Int32) {
        for function in Self.functions {
            define(function.rawValue) { language, call in try language.apply(function, call) }
        }
        for type in Self.types { define(type.rawValue) { language, call in try language.construct(type, call) } }
        define("hash") { language, call in
            guard let trace = language.trace else { throw language.outside("hash", call) }
            if call.count == 0 {
                trace.push(trace.builder.builtin(.hash), call)
                return 1
            }
            return try language.apply(.hash, call)
        }
        define("select") { language, call in try language.select(call) }
        define("kernel") { language, call in try made(try language.define(call), call) }
        installSound()
        defineLookup()
        definePixelOperators()
        defineReaders()
        state.resolveGlobal = { [unowned self] name, call in
            guard Self.builtinNames.contains(name) else { return nil }
            guard let trace else { throw outside(name, call) }
            if let parameters = trace.soundParameters {
                trace.push(try soundBuiltin(name, parameters, call), call)
                return 1
            }
            let builtin: Builtin =
                switch name {
                case "size": .size
                case "time": .time
                case "pos": .position
                case "uv": .uv
                default: .frame
                }
            trace.push(trace.builder.builtin(builtin), call)
            return 1
        }
        state.extraGlobalNames = Self.builtinNames
    }

    func define(_ name: String, _ body: @escaping (KernelLanguage, LuaCall) throws -> Int32) {
        state.setFunction(name) { [unowned self] call in try body(self, call) }
    }

    func outside(_ name: String, _ call: LuaCall) -> PatchError {
        call.error("'\(name)' is known only while a kernel's pixel function runs", "use it inside kernel{ pixel = … }")
    }

    // MARK: Values

    /// The value at `index` as a value of the kernel: pixel values, numbers and booleans.
    func operand(_ index: Int32, of word: String, _ call: LuaCall) throws -> Value {
        guard let trace else { throw outside(word, call) }
        if let number = call.number(index) {
            guard number.isFinite else {
                throw call.error("\(word) gets \(number)", "check the sum that made it", code: .kernel)
            }
            return trace.builder.constant(Float(number))
        }
        if let bool = call.bool(index) { return trace.builder.constant(bool) }
        guard let handle = call.handle(index) else {
            let remedy =
                switch call.kind(index) {
                case .none, .null: "check its name: it has no value"
                case .table: "write vec2(x, y), vec3(x, y, z) or vec4(r, g, b, a)"
                case .string: "a text is no pixel value"
                default: "give it a number or a pixel value"
                }
            throw call.error("\(word) cannot take \(call.describe(index))", remedy, code: .kernel)
        }
        switch handle.tag {
        case .pixel:
            guard let value = trace.value(handle) else {
                throw call.error(
                    "\(word) gets a value of another kernel or pass", "use only what this function was given",
                    code: .kernel)
            }
            return value
        case .reader:
            throw call.error("\(word) cannot take an input", "read a pixel of it: src:at(0, 0)", code: .kernel)
        case .parameters:
            throw call.error("\(word) cannot take all parameters at once", "name one: p.amount", code: .kernel)
        case .control:
            throw call.error(
                "\(word) cannot take a control", "declare it in params and give the control to the node", code: .kernel)
        default:
            throw call.error(
                "\(word) cannot take \(handle.tag.title)", "give it a number or a pixel value", code: .kernel)
        }
    }

    /// Runs a step of the builder, with its errors placed at the script's line.
    func build(_ call: LuaCall, _ body: (inout KernelBuilder) throws(KernelError) -> Value) throws -> Value {
        guard let trace else { throw outside("a pixel value", call) }
        let value: Value
        do { value = try body(&trace.builder) } catch {
            throw PatchError(
                error.code == .budget ? .budget : .kernel, error.message, remedy: error.remedy, at: call.location)
        }
        guard trace.builder.valueCount <= KernelTrace.valueLimit else {
            throw call.error(
                "the kernel has more than \(KernelTrace.valueLimit) operations",
                "shorten the loops, which unroll, or split the work into passes", code: .budget)
        }
        return value
    }

    func apply(_ operation: Operation, _ call: LuaCall) throws -> Int32 {
        let word = operation.rawValue
        let count = call.count
        if (1...max(1, count)).allSatisfy({ call.kind($0) == .number }), count > 0,
            let result = NumberMath.apply(operation, (1...count).map { call.number($0) ?? 0 })
        {
            // Plain numbers stay plain numbers: loops and tables that a look computes need no kernel.
            switch result {
            case .number(let number): call.push(number)
            case .bool(let bool): call.push(bool)
            }
            return 1
        }
        guard operation.arity.contains(Int(count)) else {
            throw call.error(
                "\(word) takes \(operation.arity.lowerBound)\(operation.arity.count > 1 ? " or more" : "") "
                    + "value\(operation.arity == 1...1 ? "" : "s"), not \(count)",
                "\(word) takes \(operation.signature)", code: .kernel)
        }
        var values: [Value] = []
        for index in 0..<count { values.append(try operand(index + 1, of: word, call)) }
        let value = try build(call) { builder throws(KernelError) in try builder.apply(operation, values) }
        let isComparison = [.lt, .le, .gt, .ge, .eq, .ne, .any, .all].contains(operation)
        trace?.push(value, condition: isComparison ? "\(word)(…)" : nil, call)
        return 1
    }

    private func construct(_ type: ValueType, _ call: LuaCall) throws -> Int32 {
        let word = type.rawValue
        let count = call.count
        if !type.isVector, !type.isMatrix, count == 1, let number = call.number(1) {
            switch type {
            case .int: call.push(natural: number.rounded(.towardZero))
            case .bool: call.push(number != 0)
            default: call.push(number)
            }
            return 1
        }
        guard trace != nil else { throw outside(word, call) }
        var values: [Value] = []
        for index in 0..<min(count, 17) { values.append(try operand(index + 1, of: word, call)) }
        let value = try build(call) { builder throws(KernelError) in try builder.construct(type, values) }
        trace?.push(value, call)
        return 1
    }

    /// Lua's `select(n, …)`, and the kernel's `select(condition, a, b)`.
    private func select(_ call: LuaCall) throws -> Int32 {
        let count = Int(call.count)
        if call.string(1) == "#" {
            call.push(count - 1)
            return 1
        }
        if let position = call.integer(1) {
            guard position != 0, position >= 1 - count else {
                throw call.error("select: \(position) is outside its \(count - 1) values")
            }
            return Int32(position > 0 ? max(0, count - position) : -position)
        }
        guard count == 3 else {
            throw call.error(
                "select takes a condition and two values, not \(max(0, count - 1)) values",
                "write select(lt(a, b), x, y)",
                code: .kernel)
        }
        if let bool = call.bool(1) {
            call.pushCopy(bool ? 2 : 3)
            return 1
        }
        let condition = try operand(1, of: "select", call)
        let (a, b) = (try operand(2, of: "select", call), try operand(3, of: "select", call))
        let value = try build(call) { builder throws(KernelError) in try builder.select(condition, a, b) }
        // A choice between conditions is a condition.
        trace?.push(value, condition: value.type == .bool ? "select(…)" : nil, call)
        return 1
    }
}
