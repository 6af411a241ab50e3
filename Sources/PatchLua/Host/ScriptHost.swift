import PatchGraph
import PatchMedia

/// Runs a graph file: builds its patch, calls its event handlers, and loads it anew when it is saved.
///
/// Life: `build` alone to check a file; or `start`, any number of `post`, `stop`. The script runs on a thread of its own:
/// an error or an endless loop in it never stops the picture.
/// Thread-safety: all members may be called from any thread.
public final class ScriptHost: Sendable {
    struct Mailbox {
        var events: [ScriptEvent] = []
        var isStopping = false
        /// When the oldest reload that waits was asked for, monotonic nanoseconds.
        var reloadAsked: Int64?
        /// Somebody asked by name, so that unchanged files are loaded too.
        var isReloadForced = false
        var statistics = ScriptStatistics()
        /// The first load: nil while it runs.
        var started: Result<Patch, PatchError>?
        /// The newest tick whose handlers have run.
        var handledTick: Int64 = -1
        var host: (any GraphHost)?
        var thread: PosixThread?

        mutating func askForReload() {
            if reloadAsked == nil { reloadAsked = monotonicNanoseconds() }
        }
    }

    public let path: String
    let registry: NodeRegistry
    let catalog: FilterCatalog
    let options: ScriptOptions
    let mailbox = Monitor(Mailbox())
    /// Lua counts its C calls; each may hold several Swift frames.
    private static let stackSize = 8 << 20

    /// - Parameters:
    ///   - path: the graph file, as the person named it.
    ///   - registry: the kinds of node that the graph may use.
    public init(
        path: String, registry: NodeRegistry, catalog: FilterCatalog = FilterCatalog(),
        options: ScriptOptions = ScriptOptions()
    ) {
        self.path = path
        self.registry = registry
        self.catalog = catalog
        self.options = options
    }

    /// Runs the file once and gives its patch: for checking, and for graphs that need no events.
    /// - Throws: `PatchError` with file and line.
    public func build() throws -> Patch {
        let result = Monitor<Result<Patch, PatchError>?>(nil)
        let thread = try PosixThread(name: "graph-script", stackSize: Self.stackSize) { [self] in
            let built = Self.catching {
                let script = try GraphScript(path: path, registry: registry, catalog: catalog, options: options)
                try script.load(carrying: nil)
                return script.model.livePatch
            }
            result.notify { $0 = built }
        }
        thread.join()
        guard let built = result.withLock({ $0 }) else {
            throw PatchError(.unavailable, "the script's thread ended early")
        }
        return try built.get()
    }

    /// Runs the file and keeps the script alive. Events wait until `attach`.
    /// - Throws: `PatchError` with file and line; nothing runs then.
    public func load() throws -> Patch {
        let isFirst = mailbox.withLock { mailbox in
            guard mailbox.thread == nil, mailbox.started == nil else { return false }
            return true
        }
        guard isFirst else { throw PatchError(.usage, "'\(path)' is loaded already", remedy: "load it once") }
        let thread = try PosixThread(name: "graph-script", stackSize: Self.stackSize) { [self] in
            ScriptLoop(self).run()
        }
        mailbox.withLock { $0.thread = thread }
        let result = mailbox.wait { $0.started }
        guard let result else { throw PatchError(.unavailable, "the script's thread ended early") }
        do { return try result.get() } catch {
            stop()
            throw error
        }
    }

    /// Connects the engine that runs the loaded patch: from now on events reach the script, and saving the file reloads it.
    public func attach(_ host: any GraphHost) { mailbox.notify { $0.host = host } }

    /// `load`, put on air, `attach`.
    /// - Throws: `PatchError`; nothing runs then.
    public func start(_ host: any GraphHost) throws {
        let patch = try load()
        do { try host.apply(patch, reload: false) } catch {
            stop()
            throw error
        }
        attach(host)
    }

    /// Tells the script something. Never blocks: when the script is far behind, the oldest events are dropped and counted.
    public func post(_ event: ScriptEvent) {
        mailbox.notify { mailbox in
            switch event {
            case .frame:
                // Only the newest tick matters.
                let waiting = mailbox.events.lastIndex { if case .frame = $0 { true } else { false } }
                if let waiting {
                    mailbox.events[waiting] = event
                    mailbox.statistics.lateFrames += 1
                    return
                }
            case .reload:
                mailbox.askForReload()
                mailbox.isReloadForced = true
                return
            default: break
            }
            mailbox.events.append(event)
            if mailbox.events.count > 4096 {
                mailbox.events.removeFirst()
                mailbox.statistics.droppedEvents += 1
            }
        }
    }

    /// A file may have been saved: loads the graph again if one has.
    func askForReload() { mailbox.notify { $0.askForReload() } }

    /// Tells the script about a tick and waits until its handlers and due timers have run: for offline rendering, where
    /// every tick must see what the script did for it. In live runs post `.frame` instead.
    /// - Parameter limit: seconds to wait at most.
    /// - Returns: false when the script took longer, or has ended.
    @discardableResult
    public func handleFrame(tick: Int64, time: Double, limit: Double = 1) -> Bool {
        post(.frame(tick: tick, time: time))
        let deadline = monotonicNanoseconds() + Int64(max(0, min(3600, limit)) * 1e9)
        let handled = mailbox.wait(until: deadline) { mailbox -> Bool? in
            if mailbox.handledTick >= tick { return true }
            return mailbox.isStopping || mailbox.thread == nil ? false : nil
        }
        return handled ?? false
    }

    /// Runs `onUnload`, ends the script and waits for it. The engine goes on with the last graph.
    public func stop() {
        let thread = mailbox.notify { mailbox in
            mailbox.isStopping = true
            defer { mailbox.thread = nil }
            return mailbox.thread
        }
        thread?.join()
    }

    public var statistics: ScriptStatistics { mailbox.withLock { $0.statistics } }

    /// Any error as a `PatchError`.
    static func catching<R>(_ body: () throws -> R) -> Result<R, PatchError> {
        do { return .success(try body()) } catch let error as PatchError {
            return .failure(error)
        } catch {
            return .failure(PatchError(.script, "\(error)"))
        }
    }
}
