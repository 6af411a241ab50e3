import Glibc
import PatchGraph
import PatchLua
import PatchMedia
import PatchSound
import Synchronization

/// How a graph file is run.
///
/// Thread-safety: a value; `onEvent` is called on any thread and must return soon.
public struct SessionOptions: Sendable {
    /// Path of the Lua file, as the person named it.
    public var graph: String
    /// Virtual time: as fast as it goes, no frame lost.
    public var isOffline = false
    /// `input{"guest"}` finds its file, URL or device here.
    public var bindings: [String: String] = [:]
    /// Start values of controls, as written on the command line.
    public var settings: [String: String] = [:]
    public var duration: MediaTime?
    /// One picture instead of the graph's outputs.
    public var still: StillRequest?
    /// Render threads, 1…64; nil is one a core.
    public var workers: Int?
    /// Cores that the render threads are tied to; empty leaves the choice to the system.
    public var affinity: [Int] = []
    /// Overrides the graph's canvas.
    public var size: (width: Int, height: Int)?
    /// Overrides the graph's rate.
    public var rate: FrameRate?
    /// Folder for compiled kernels; nil keeps them in memory only.
    public var kernelCacheDirectory = SessionOptions.defaultKernelCache
    /// Text of a secret by name, before the environment is asked.
    public var secrets: [String: String] = [:]
    public var onEvent: @Sendable (SessionEvent) -> Void = { _ in }

    public init(graph: String) { self.graph = graph }

    /// `$XDG_CACHE_HOME/patchbay`, else `~/.cache/patchbay`; nil without a home.
    public static var defaultKernelCache: String? {
        if let named = getenv("XDG_CACHE_HOME"), named.pointee != 0 { return String(cString: named) + "/patchbay" }
        return getenv("HOME").map { String(cString: $0) + "/.cache/patchbay" }
    }
}

/// What a session tells the program around it.
public enum SessionEvent: Sendable {
    /// The first graph, or an edit of it, is on air since this tick.
    case onAir(generation: Int, tick: Int64)
    /// A saved file was put on air; seconds from the save to the tick.
    case reloaded(seconds: Double)
    /// A saved file was refused; the picture goes on as it was.
    case rejected(PatchError)
    /// An event handler raised; the picture goes on.
    case scriptError(PatchError)
    case log(String, SourceLocation?)
    case node(NodeID, NodeEvent, SourceLocation?)
}

/// How a session came to its end.
public enum SessionEnd: Sendable {
    /// The duration is over, or every source ended.
    case finished
    /// `stop` was called, or the last window was closed.
    case stopped
    /// Every output failed (offline: any).
    case failed(PatchError)
}

/// What `check` finds out without running the graph.
///
/// Thread-safety: a value.
public struct CheckReport: Sendable {
    public let patch: Patch
    public let plan: Plan
    public let registry: NodeRegistry
    public var notes: [PatchNote] { plan.notes }
}

/// A graph file at work: the script and the engine that runs what it describes.
///
/// Life: `check` alone, or `start`, `waitUntilFinished`, `stop`.
/// Thread-safety: all members may be called from any thread, but not from `onEvent`, except `stop`'s asynchronous
/// form `requestStop`.
public final class PatchbaySession: Sendable {
    private let options: SessionOptions
    public let registry: NodeRegistry
    /// Where the host program attaches to `rawDataOutput` nodes.
    public let rawData: RawDataHandlers
    private let graphDirectory: String

    private struct State {
        var script: ScriptHost?
        var engine: Engine?
        var end: SessionEnd?
        var failure: PatchError?
        var isStopping = false
        var finalStatistics = EngineStatistics()
    }
    private let state = Monitor(State())

    /// - Parameter registry: the kinds of node that the graph may use; nil is the standard set.
    /// - Throws: `PatchError.notFound` when there is no such graph file.
    public init(_ options: SessionOptions, registry: NodeRegistry? = nil, rawData: RawDataHandlers? = nil) throws {
        let handlers = rawData ?? RawDataHandlers()
        self.options = options
        self.rawData = handlers
        self.registry = registry ?? .standard(rawData: handlers)
        guard let resolved = realpath(options.graph, nil) else {
            throw PatchError(
                .notFound, "cannot open the graph '\(options.graph)'", remedy: "check the path",
                cause: String(cString: strerror(errno)))
        }
        defer { free(resolved) }
        let path = String(cString: resolved)
        graphDirectory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    private func makeScript() -> ScriptHost {
        var script = ScriptOptions()
        script.overrides = options.settings
        script.usesGraphTime = options.isOffline
        let onEvent = options.onEvent
        let secrets = options.secrets
        script.secret = { name in
            let value = secrets[name] ?? ScriptOptions.environmentSecret(name)
            if value != nil { CoreDumps.leaveOutMemory() }
            return value
        }
        script.log = { onEvent(.log($0.message, $0.location)) }
        script.onError = { onEvent(.scriptError($0)) }
        script.onReload = { report in
            onEvent(report.error.map { .rejected($0) } ?? .reloaded(seconds: report.seconds))
        }
        return ScriptHost(path: options.graph, registry: registry, catalog: .standard, options: script)
    }

    fileprivate func adjusted(_ patch: Patch) throws -> Patch {
        var patch = try options.still.map { try patch.showing($0, registry: registry) } ?? patch
        if let size = options.size { (patch.settings.width, patch.settings.height) = size }
        if let rate = options.rate { patch.settings.rate = rate }
        return patch
    }

    /// Parses, builds and plans the graph. Files are opened, devices and networks are not.
    /// - Parameter assumingDevices: devices and networks are not looked for either, as on a machine that has none.
    /// - Throws: `PatchError` with file and line.
    public func check(assumingDevices: Bool = false) throws -> CheckReport {
        let patch = try adjusted(try makeScript().build())
        let rehearsal = PatchRehearsal(
            registry: registry, graphDirectory: graphDirectory, bindings: options.bindings,
            kernelCacheDirectory: options.kernelCacheDirectory, assumesDevices: assumingDevices)
        return CheckReport(patch: patch, plan: try rehearsal.plan(patch), registry: registry)
    }

    /// Builds the graph and goes on air.
    /// - Throws: `PatchError`; nothing runs then.
    public func start() throws {
        let script = makeScript()
        var configuration = EngineConfiguration()
        configuration.clock = options.isOffline ? .offline : .live
        configuration.workers = options.workers
        configuration.affinity = options.affinity
        configuration.duration = options.duration
        configuration.graphDirectory = graphDirectory
        configuration.bindings = options.bindings
        configuration.kernelCacheDirectory = options.kernelCacheDirectory
        configuration.makeMeter = { LoudnessMeter() }
        configuration.onEvent = { [weak self] in self?.handle($0) }
        let isOffline = options.isOffline
        configuration.beforeTick = { [weak script] tick in
            if isOffline {
                // What handlers and timers do at this moment is in this very frame.
                script?.handleFrame(tick: tick.index, time: tick.time.seconds)
            } else {
                script?.post(.frame(tick: tick.index, time: tick.time.seconds))
            }
        }
        let engine = try Engine(configuration, registry: registry)
        do {
            let patch = try script.load()
            try engine.load(adjusted(patch))
            if options.isOffline, options.duration == nil, engine.plan?.neverEnds == true {
                throw PatchError(
                    .usage, "this graph never ends by itself: no source is a file that ends",
                    remedy: "say how long to render, as in --duration 10")
            }
            state.withLock {
                $0.script = script
                $0.engine = engine
            }
            script.attach(SessionHost(self, engine))
            try engine.start()
        } catch {
            script.stop()
            engine.stop(drainLimit: 1_000_000_000)
            state.withLock {
                $0.script = nil
                $0.engine = nil
            }
            throw error
        }
    }

    private func handle(_ event: EngineEvent) {
        let script = state.withLock { $0.script }
        switch event {
        case .onAir(let generation, let tick): options.onEvent(.onAir(generation: generation, tick: tick))
        case .finished: break
        case .node(let id, let nodeEvent, let location):
            options.onEvent(.node(id, nodeEvent, location))
            script?.post(.node(id, nodeEvent))
            switch nodeEvent {
            case .problem(let error): state.notify { $0.failure = error }
            case .closed: windowClosed(id)
            default: break
            }
        }
    }

    /// Closing a window ends a graph that only showed something; one that records or publishes goes on.
    private func windowClosed(_ id: NodeID) {
        let engine = state.withLock { $0.engine }
        let hasOtherOutput =
            engine?.plan?.sinks.contains { $0.kind != "display" && $0.kind != "rawDataOutput" } ?? false
        if !hasOtherOutput { requestStop() }
    }

    /// Ends the session from any thread, `onEvent` included; `waitUntilFinished` returns soon after.
    public func requestStop() {
        state.notify {
            if $0.end == nil { $0.end = .stopped }
        }
    }

    /// Waits until the graph is over, then closes everything; files are finished properly.
    public func waitUntilFinished() -> SessionEnd {
        let engine = state.withLock { $0.engine }
        while true {
            let isOver = engine?.waitUntilFinished(deadline: monotonicNanoseconds() + 50_000_000) ?? true
            if isOver || state.withLock({ $0.end != nil }) { break }
        }
        let failed = engine?.hasFailed ?? false
        let end = state.notify { state -> SessionEnd in
            if let end = state.end { return end }
            let end: SessionEnd = failed ? state.failure.map { .failed($0) } ?? .finished : .finished
            state.end = end
            return end
        }
        stop()
        return end
    }

    /// Ends the session: the script runs `onUnload`, sinks finish what they hold. Idempotent.
    public func stop() {
        requestStop()
        let (script, engine, first) = state.notify { state in
            defer { state.isStopping = true }
            return (state.script, state.engine, !state.isStopping)
        }
        if first {
            script?.stop()
            engine?.stop(drainLimit: options.isOffline ? nil : 10_000_000_000)
            let statistics = engine?.statistics
            state.notify {
                if let statistics { $0.finalStatistics = statistics }
                $0.script = nil
                $0.engine = nil
            }
        } else {
            _ = state.wait { $0.engine == nil ? true : nil }
        }
    }

    public var statistics: EngineStatistics {
        let (engine, final) = state.withLock { ($0.engine, $0.finalStatistics) }
        return engine?.statistics ?? final
    }

    /// Ticks that the run will have; nil when it has no known end.
    public var expectedTicks: Int64? {
        guard let plan = state.withLock({ $0.engine })?.plan else { return nil }
        guard let duration = options.duration ?? plan.longestDuration else { return nil }
        return plan.rate.frame(at: duration)
    }

    /// An operator's setting of a control, as a value; the script's `onChange` handlers run.
    /// - Throws: `PatchError.usage` for an unknown name or an illegal value.
    public func setControl(_ name: String, _ value: ControlValue) throws {
        let (script, engine) = state.withLock { ($0.script, $0.engine) }
        try engine?.setControl(name, value)
        script?.post(.control(name, value))
    }

    /// The engine at work; nil before `start` and after `stop`.
    public var engine: Engine? { state.withLock { $0.engine } }
}

/// The engine as the script sees it.
private final class SessionHost: GraphHost {
    private let engine: Engine
    private let session: Weak

    private struct Weak: @unchecked Sendable {
        // Unchecked: a weak reference is read and cleared atomically by the runtime; it is never written here.
        weak var session: PatchbaySession?
    }

    init(_ session: PatchbaySession, _ engine: Engine) {
        self.engine = engine
        self.session = Weak(session: session)
    }

    func apply(_ patch: Patch, reload: Bool) throws {
        try engine.load(try session.session?.adjusted(patch) ?? patch, isReload: reload)
    }
    func setParameter(node: NodeID, name: String, value: ParameterValue) {
        engine.setParameter(node: node, name: name, value)
    }
    func setOption(node: NodeID, name: String, value: OptionValue?) {
        // The script has checked node, name and value against the same schema.
        try? engine.setOption(node: node, name: name, value)
    }
    func options(of node: NodeID) -> NodeOptions? { engine.options(of: node) }
    func controlValue(_ name: String) -> ControlValue? { engine.controlValue(name) }
    func setControl(_ name: String, _ value: ControlValue) {
        // The script host has checked name and value against the same schema.
        try? engine.setControl(name, value)
    }
    func command(node: NodeID, target: String, name: String, argument: String) throws {
        try engine.command(node: node, target: target, name: name, argument: argument)
    }
    func operatorData(node: NodeID, after seen: Int64) -> OperatorData.Snapshot? {
        engine.operatorData(node: node, after: seen)
    }
    func parameterFloats(node: NodeID, name: String) -> [Float]? { engine.parameterFloats(node: node, name: name) }
}
