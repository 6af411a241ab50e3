internal import CLua
import PatchGraph
import PatchKernel
import PatchMedia

/// One loaded graph file: its Lua state, and the patch that it builds.
///
/// Thread-safety: one thread at a time.
final class GraphScript {
    /// What a handler did that does not change the wiring: told to the engine after the handler.
    enum Edit {
        case parameter(node: Int, name: String, value: ParameterValue)
        case option(node: Int, name: String, value: OptionValue?)
        case control(String, ControlValue)
        case command(node: Int, target: String, name: String, argument: String)
    }

    /// As the person named it.
    let path: String
    /// Absolute, without links.
    let folder: String
    let registry: NodeRegistry
    let catalog: FilterCatalog
    let options: ScriptOptions
    let state: LuaState
    var model = GraphModel()
    /// Absolute paths of the graph, its modules and its assets: what a reload watches.
    private(set) var dependencies: [String] = []
    /// The dependencies as they were before they were read.
    private var stamps: [String: ScriptFiles.Stamp] = [:]
    /// Files that were asked for and were not there: a reload watches for them too.
    private(set) var missingFiles: [String] = []
    /// Set while the graph is on air.
    weak var host: (any GraphHost)?
    /// What the operator set a control to, in the script before this one.
    var operatorValue: ((String) -> ControlValue?)?
    var edits: [Edit] = []
    var isLoading = false
    /// How deep handlers cause handlers.
    var handlerDepth = 0
    let language: KernelLanguage
    /// Runs a kernel's table again with `language.givenOptions`, and what came of it.
    var respecialise: Int?
    var specialised: KernelFilter?
    /// `filter`, `blend`, …: by index of their handles.
    var families: [String] = []
    /// Results of `require` by name.
    var modules: LuaReference?
    var modulesLoading: [String] = []
    var methods: [String: LuaReference] = [:]
    /// Names that slots of mixers have had: by index of their handles.
    var slotNames: [String] = []
    /// Handles made before, so that a node is the same value wherever it comes from.
    var handleCache: [Handle: LuaReference] = [:]
    var timeNow: () -> Int64 = { monotonicNanoseconds() }

    /// - Throws: `PatchError` when there is no such file, or no memory.
    init(path: String, registry: NodeRegistry, catalog: FilterCatalog, options: ScriptOptions) throws {
        guard let real = ScriptFiles.real(path), ScriptFiles.isRegularFile(real) else {
            throw PatchError(.notFound, "there is no graph file '\(path)'", remedy: "check its name")
        }
        self.path = path
        folder = ScriptFiles.folder(of: real)
        self.registry = registry
        self.catalog = catalog
        self.options = options
        state = try LuaState(limits: options.limits)
        language = KernelLanguage(state: state, lookups: catalog.lookups)
        dependencies = [real]
        stamps[real] = ScriptFiles.stamp(real)
        installLanguage()
    }

    /// Runs the file.
    /// - Parameter carried: `state` of the script before this one.
    /// - Throws: `PatchError` with file and line.
    func load(carrying carried: PlainValue?) throws {
        let call = LuaCall(state: state, pointer: state.pointer)
        call.pushGlobals()
        if let carried, case .table = carried { carried.push(call) } else { call.pushTable() }
        call.setField("state")
        call.pop()
        let text = try ScriptFiles.read(dependencies[0], limit: options.limits.sourceSize)
        language.texts[path] = text
        isLoading = true
        defer { isLoading = false }
        try state.load(WireStatements.rewrite(text), name: path)
        try state.run(seconds: options.limits.loading)
        try checkOverrides()
    }

    /// What the script put into `state`, as plain data.
    func carriedState() -> PlainValue? {
        let call = LuaCall(state: state, pointer: state.pointer)
        call.pushGlobals()
        call.pushField(-1, "state")
        defer { call.pop(2) }
        return PlainValue.read(call, -1)
    }

    func depend(on file: String) {
        guard !dependencies.contains(file) else { return }
        dependencies.append(file)
        stamps[file] = ScriptFiles.stamp(file)
    }

    /// How a dependency was before this script read it: nil inside when it was not there, nil when it is no dependency.
    func stamp(of file: String) -> ScriptFiles.Stamp?? {
        if let stamp = stamps[file] { return .some(stamp) }
        return missingFiles.contains(file) ? .some(nil) : nil
    }
    func noteMissing(_ file: String) {
        if !missingFiles.contains(file) { missingFiles.append(file) }
    }

    private func installLanguage() {
        let call = LuaCall(state: state, pointer: state.pointer)
        call.pushGlobals()
        installNodes(call)
        installWires()
        installControls(call)
        installEvents(call)
        installModules(call)
        installSecrets(call)
        installSessions()
        installKernels(call)
        installMixers(call)
        installTransitions(call)
        call.pop()
    }

    /// Sets a word of the language in the table on top of the stack.
    func define(_ name: String, _ body: @escaping (GraphScript, LuaCall) throws -> Int32) {
        state.setFunction(name) { [unowned self] call in try body(self, call) }
    }

    /// A method of handles, found by `__index`.
    func defineMethod(_ name: String, _ body: @escaping (GraphScript, LuaCall) throws -> Int32) {
        let call = LuaCall(state: state, pointer: state.pointer)
        state.pushFunction(state.register { [unowned self] call in try body(self, call) })
        methods[name] = call.keep()
    }

    /// Pushes the one handle of a node or control.
    func pushShared(_ handle: Handle, _ call: LuaCall) {
        if let reference = handleCache[handle] {
            call.push(reference)
        } else {
            call.push(handle)
            call.pushCopy(-1)
            handleCache[handle] = call.keep()
        }
    }
}
