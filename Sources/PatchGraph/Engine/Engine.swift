import Glibc
import PatchKernel
import PatchMedia
import Synchronization

/// The clock, the scheduler and the workers that run the current plan.
///
/// Two planes meet here and only here: control threads call `load`, `setControl` and the like and may take their time; one
/// clock thread runs the plan and never waits for them. A load hands over a finished `PlanExecutor`, which the clock
/// thread takes between two ticks.
///
/// Thread-safety: all members may be called from any thread except the engine's own clock thread and `onEvent` handlers,
/// which must not call `load`, `start` or `stop`.
public final class Engine: Sendable {
    public let configuration: EngineConfiguration
    public let registry: NodeRegistry
    let instances: InstanceStore
    let parameters = ParameterStore()
    let compiler: KernelCompiler
    let pools = PoolStore()
    let workers: Workers
    let shared = SharedWork()
    let lost = LostInputs()

    /// What control threads change, one at a time.
    struct Control {
        var patch: Patch?
        var generation = 0
        var rate: FrameRate?
        var isStopped = false
    }
    let control = Monitor(Control())
    /// Held for the whole of a load, so that loads come one after another.
    let loading = Mutex(())

    /// Where the planes meet.
    struct Air {
        var pending: PlanExecutor?
        var pendingFade: Crossfade?
        /// The executor on air; control threads only compare it and read its numbers under the lock.
        var current: PlanExecutor?
        /// The clock thread waits in `beforeTick`, after which it takes a pending plan before it touches any node: whoever
        /// loads one from there must not wait for it.
        var isBeforeTick = false
        /// The executor whose first tick is done: nothing of the one before is used any more.
        var settled: PlanExecutor?
        var isRunning = false
        var isStopping = false
        var hasFinished = false
    }
    let air = Monitor(Air())

    struct Counters {
        var ticks: Int64 = 0
        var late: Int64 = 0
        var durations = Durations()
    }
    let counters = Mutex(Counters())

    private let threads = Mutex<(clock: PosixThread?, caretaker: PosixThread?)>((nil, nil))
    /// Chores that must not delay the clock: planning anew after a format change, closing what a reload retired.
    enum Chore: Sendable {
        case formatChanged(Instance, VideoFormat)
        case retire([Instance])
        /// Holds the last reference to a plan that went off air.
        case dispose(PlanExecutor)
        case end
    }
    let chores = Monitor<[Chore]>([])

    /// - Throws: `PatchError.unavailable` when threads or the kernel compiler cannot be had; `PatchError.usage` for cores that
    ///   are not there.
    public init(_ configuration: EngineConfiguration = EngineConfiguration(), registry: NodeRegistry) throws {
        self.configuration = configuration
        self.registry = registry
        instances = InstanceStore(registry: registry)
        var options = configuration.compiler
        options.cacheDirectory = configuration.kernelCacheDirectory
        compiler = KernelCompiler(options)
        let affinity = configuration.affinity
        try Affinity.check(affinity)
        let cores = affinity.isEmpty ? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) : affinity.count
        workers = try Workers(count: configuration.workers ?? cores, cores: affinity)
        let (chores, air) = (chores, air)
        let caretaker = try PosixThread(name: "patch-caretaker") { [weak self] in
            while true {
                let next = chores.wait(until: monotonicNanoseconds() + Self.watchInterval) { chores -> Chore? in
                    chores.isEmpty ? nil : chores.removeFirst()
                }
                if case .end? = next { return }
                if let next {
                    self?.perform(next)
                } else if air.withLock({ $0.isRunning && !$0.isStopping }) {
                    self?.watchInputs()
                }
            }
        }
        threads.withLock { $0.caretaker = caretaker }
    }

    /// Starts the clock. `load` must have succeeded once.
    /// - Throws: `PatchError.usage` when nothing is loaded; what sources throw when they start.
    public func start() throws {
        guard air.withLock({ $0.current != nil && !$0.isRunning && !$0.isStopping }) else {
            throw PatchError(.usage, "nothing is loaded, or the engine already ran", remedy: "load a patch first")
        }
        for instance in instances.all {
            do { try instance.startIfNeeded() } catch {
                throw (error as? PatchError ?? PatchError(.media, "\(error)")).placed(
                    node: instance.id, at: instance.location)
            }
        }
        air.notify { $0.isRunning = true }
        let clock = try PosixThread(name: "patch-clock", niceness: -10) {
            if let core = self.configuration.affinity.first { Affinity.pin(toCore: core) }
            self.runClock()
        }
        threads.withLock { $0.clock = clock }
    }

    /// Waits until the graph is over by itself (`duration`, or every source ended) or `stop` was called.
    /// Returns false at the deadline (monotonic nanoseconds).
    public func waitUntilFinished(deadline: Int64? = nil) -> Bool {
        air.wait(until: deadline) { $0.hasFinished || $0.isStopping ? true : nil } ?? false
    }

    /// Stops the clock, lets sinks finish what they hold, closes every node. Idempotent.
    /// - Parameter drainLimit: nanoseconds that sinks may take to finish; nil waits as long as they need.
    public func stop(drainLimit: Int64? = 10_000_000_000) {
        let first = air.notify { air in
            defer { air.isStopping = true }
            return !air.isStopping
        }
        guard first else { return }
        let all = instances.all
        let (clock, caretaker) = threads.withLock { threads in
            defer { threads = (nil, nil) }
            return threads
        }
        if let clock {
            // An offline clock may be waiting for a source or a full sink: give it a moment, then unblock it.
            if air.wait(until: monotonicNanoseconds() + 2_000_000_000, { $0.isRunning ? nil : true }) == nil {
                for instance in all { if case .source(let source, _) = instance.body { source.stop() } }
                if air.wait(until: monotonicNanoseconds() + 2_000_000_000, { $0.isRunning ? nil : true }) == nil {
                    for instance in all { instance.runner?.abort() }
                }
            }
            clock.join()
        }
        chores.notify { $0.append(.end) }
        caretaker?.join()
        for instance in all { instance.runner?.drain() }
        let deadline = drainLimit.map { monotonicNanoseconds() + $0 }
        for instance in all { instance.close(until: deadline) }
        workers.stop()
        _ = instances.replace(with: [])
        air.notify {
            // The last plan stays, so that its numbers can still be read.
            $0.pending = nil
            $0.pendingFade = nil
            $0.hasFinished = true
        }
        control.notify { $0.isStopped = true }
    }

    /// An engine that runs is kept alive by its clock thread until `stop`; one that never started ends here.
    deinit { stop(drainLimit: 2_000_000_000) }

    func report(_ id: NodeID, _ event: NodeEvent, _ location: SourceLocation?) {
        configuration.onEvent(.node(id, event, location: location))
    }
}
