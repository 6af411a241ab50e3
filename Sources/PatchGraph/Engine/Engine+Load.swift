import PatchKernel
import PatchMedia

/// What a load did and how long each part took.
///
/// Thread-safety: a value.
public struct LoadReport: Sendable {
    public let generation: Int
    public let notes: [PatchNote]
    /// Nanoseconds: opening new nodes and planning (compiling included), and the wait for the tick.
    public let planTime: Int64
    public let swapTime: Int64
    public let passes: Int
    /// Problems that did not stop the load, such as a display on a machine without one.
    public let problems: [PatchError]
}

extension Engine {
    /// Plans a patch, opens what is new in it, computes a first frame off air, and puts it on air between two ticks.
    ///
    /// Nodes whose name, kind and options are unchanged go on running. Returns when the patch is on air (or, before
    /// `start`, ready). Any failure leaves what runs untouched.
    /// - Parameter isReload: the patch is what a graph file says, so parameters that the file says as before keep their
    ///   present values; false for an edit of the running patch, whose parameters are the present ones.
    /// - Throws: `PatchError` with node, line and remedy.
    @discardableResult
    public func load(_ patch: Patch, isReload: Bool = true) throws -> LoadReport {
        try loading.withLock { _ in try performLoad(patch, isReload ? .file : .edit) }
    }

    private func performLoad(_ patch: Patch, _ origin: PatchOrigin) throws -> LoadReport {
        guard !air.withLock({ $0.isStopping }) else { throw PatchError(.usage, "the engine has stopped") }
        let begin = monotonicNanoseconds()
        let (rate, generation) = control.withLock { ($0.rate, $0.generation + 1) }
        let nodes = EngineNodes(engine: self, patch: patch, rate: rate ?? patch.settings.rate)
        var problems: [PatchError] = []
        let executor: PlanExecutor
        var fade: Crossfade?
        let controlsBefore = air.withLock { $0.current?.plan.controls } ?? []
        do {
            try nodes.openUnwiredSources(patch)
            let effective = try withStandIns(patch, nodes)
            func planned() throws -> Plan {
                var planner = Planner(
                    compiler: compiler, parameters: parameters, provider: nodes, fixedRate: rate,
                    defaultSize: (patch.settings.width ?? 1280, patch.settings.height ?? 720))
                planner.bandRule = configuration.bandRule
                return try planner.plan(effective)
            }
            var plan = try planned()
            let tangled = soundTangle(of: plan, nodes)
            if !tangled.isEmpty {
                nodes.renew(tangled)
                plan = try planned()
            }
            let sources = plan.sources.compactMap { nodes.used[$0.id] }
            let sinks = plan.sinks.compactMap { nodes.used[$0.id] }
            let sounds = plan.sounds.compactMap { nodes.used[$0.id] }
            executor = PlanExecutor(
                plan: plan, generation: generation, origin: origin, sources: sources, sinks: sinks,
                sounds: sounds, pools: pools,
                workers: workers.count)
            try openSinks(plan, nodes, &problems)
            for case .operate(let operate) in plan.steps {
                guard let work = operate.work as? any FrameOperator else { continue }
                do { try work.activate() } catch {
                    throw (error as? PatchError ?? PatchError(.graph, "\(error)")).placed(node: operate.id)
                }
            }
            executor.warm(parameters)
            if plan.crossfade > 0, let current = air.withLock({ $0.isRunning ? $0.current : nil }) {
                let ticks = max(1, plan.rate.frame(at: MediaTime(seconds: plan.crossfade)))
                fade = try Crossfade(from: current, to: executor, ticks: ticks, compiler: compiler, pools: pools)
            }
            if air.withLock({ $0.isRunning }) { for instance in nodes.created { try start(instance) } }
        } catch {
            nodes.closeCreated()
            parameters.declare(controlsBefore)
            throw error
        }
        let planned = monotonicNanoseconds()
        putOnAir(executor, fade)
        let swapped = monotonicNanoseconds()
        for node in patch.nodes { nodes.used[node.id]?.adopt(node.options) }
        control.notify {
            $0.patch = patch
            $0.generation = generation
            $0.rate = executor.plan.rate
        }
        let retired = instances.replace(with: Array(nodes.used.values))
        if !retired.isEmpty { chores.notify { $0.append(.retire(retired)) } }
        pools.keep(executor.poolKeys)
        lost.watch(nodes.used)
        for problem in problems { report(problem.node ?? "", .problem(problem), problem.location) }
        return LoadReport(
            generation: generation, notes: executor.plan.notes, planTime: planned - begin,
            swapTime: swapped - planned, passes: executor.plan.passes.count, problems: problems)
    }

    private func start(_ instance: Instance) throws {
        do { try instance.startIfNeeded() } catch {
            throw (error as? PatchError ?? PatchError(.media, "\(error)")).placed(
                node: instance.id, at: instance.location)
        }
    }

    /// Opens the sinks that are new, each with a queue and a thread.
    private func openSinks(_ plan: Plan, _ nodes: EngineNodes, _ problems: inout [PatchError]) throws {
        for (index, planned) in plan.sinks.enumerated() {
            guard let instance = nodes.used[planned.id], case .sink(let sink) = instance.body,
                instance.runner == nil, !planned.isLeftOut
            else { continue }
            do {
                try sink.open(video: planned.video, audio: planned.audio, rate: plan.rate)
            } catch {
                let placed = (error as? PatchError ?? PatchError(.output, "\(error)")).placed(
                    node: planned.id, at: planned.location)
                // A machine without a screen still publishes; anything else that cannot open stops the load.
                guard placed.code == .unavailable, planned.kind == "display" else { throw placed }
                instance.setUnavailable()
                problems.append(placed)
                continue
            }
            let (id, location) = (planned.id, planned.location)
            let onEvent = configuration.onEvent
            let meter = try planned.audio.flatMap { format in
                let meter = configuration.makeMeter?()
                try meter?.prepare(format, longestBlock: SoundRenderer.longestBlock)
                return meter
            }
            let runner = try SinkRunner(
                sink, id: id, policy: planned.queue, lossless: configuration.clock == .offline, meter: meter
            ) { [weak self] failure in
                onEvent(.node(id, .problem(failure.placed(node: id, at: location)), location: location))
                onEvent(.node(id, .state("failed"), location: location))
                self?.sinkFailed()
            }
            instance.setOpened(nodes.requests[planned.id] ?? SinkRequest(video: planned.video), runner: runner)
            _ = index
        }
    }

    /// An offline run whose output failed, or any run with no output left, has nothing more to do.
    private func sinkFailed() {
        let runners = instances.all.compactMap(\.runner)
        let isOver = configuration.clock == .offline || runners.allSatisfy { $0.failure != nil }
        if isOver { air.notify { $0.hasFinished = true } }
    }

    /// Hands the executor to the clock thread and waits until it took it; without a clock thread it is current at once.
    private func putOnAir(_ executor: PlanExecutor, _ fade: Crossfade?) {
        let isRunning = air.notify { air in
            if air.isRunning {
                air.pending = executor
                air.pendingFade = fade
            } else {
                air.current = executor
            }
            return air.isRunning
        }
        if isRunning {
            _ = air.wait { $0.current === executor || !$0.isRunning || $0.isBeforeTick ? true : nil }
        } else {
            parameters.commit(
                executor.plan.parameters, controls: executor.plan.controls, from: executor.origin)
        }
    }

    /// On the caretaker thread: what the clock must not wait for.
    func perform(_ chore: Chore) {
        switch chore {
        case .end, .dispose: break
        case .retire(let instances):
            // The tick on which the new plan went on air may still fade their sound out.
            _ = air.wait(until: monotonicNanoseconds() + 1_000_000_000) { air in
                !air.isRunning || air.settled === air.current ? true : nil
            }
            for instance in instances { instance.close(until: monotonicNanoseconds() + 10_000_000_000) }
        case .formatChanged(let instance, let format):
            instance.changeFormat(to: format)
            do {
                try loading.withLock { _ in
                    guard let patch = control.withLock({ $0.patch }) else { return }
                    _ = try performLoad(patch, .onAir)
                }
            } catch {
                let placed = error as? PatchError ?? PatchError(.graph, "\(error)")
                report(instance.id, .problem(placed), instance.location)
            }
        }
    }
}

/// The engine's nodes as the planner sees them: running ones, or newly opened ones that a failed load closes again.
final class EngineNodes: NodeProvider {
    private let engine: Engine
    private let settings: GraphSettings
    private let rate: FrameRate?
    /// All instances that the patch uses, by id.
    private(set) var used: [NodeID: Instance] = [:]
    private(set) var created: [Instance] = []
    private(set) var requests: [NodeID: SinkRequest] = [:]
    /// Nodes that are made anew though they run and are the same.
    private var renewed: Set<NodeID> = []

    init(engine: Engine, patch: Patch, rate: FrameRate?) {
        self.engine = engine
        self.settings = patch.settings
        self.rate = rate
    }

    /// Sources that nothing reads yet are opened all the same, so that wiring them on air cannot fail.
    func openUnwiredSources(_ patch: Patch) throws {
        for node in patch.nodes {
            guard case .registered = node.body, try kindSchema(of: node).role == .source else { continue }
            _ = try instance(for: node)
        }
    }

    /// - Parameter sound: what a sound filter works on.
    func instance(for node: PatchNode, sound: AudioFormat? = nil) throws -> Instance {
        if let known = used[node.id] { return known }
        let location = node.location
        let (id, onEvent, lost) = (node.id, engine.configuration.onEvent, engine.lost)
        let environment = NodeEnvironment(
            nodeID: node.id, location: location, graphDirectory: engine.configuration.graphDirectory,
            bindings: engine.configuration.bindings, width: settings.width ?? 1280, height: settings.height ?? 720,
            channels: settings.channels, rate: rate, isOffline: engine.configuration.clock == .offline,
            shared: engine.shared,
            report: { event in
                guard lost.isNews(event, of: id) else { return }
                onEvent(.node(id, event.placed(node: id, at: location), location: location))
            })
        let (instance, isNew) = try engine.instances.instance(
            for: node, environment: environment, sound: sound, isRenewed: renewed.contains(node.id))
        used[node.id] = instance
        if isNew { created.append(instance) }
        return instance
    }

    /// From the next plan on, these sound filters are new ones.
    func renew(_ nodes: Set<NodeID>) {
        renewed = nodes
        for node in nodes { used[node] = nil }
    }

    func closeCreated() {
        for instance in created { instance.close(until: monotonicNanoseconds() + 2_000_000_000) }
    }

    func kindSchema(of node: PatchNode) throws -> NodeSchema { try engine.registry.kind(of: node).schema }
    func nativeOperator(_ name: String) throws -> OperatorKind { try engine.registry.nativeOperator(name) }

    func ports(of node: PatchNode) throws -> NodePorts { try engine.registry.ports(of: node) }

    func sourceFormat(of node: PatchNode) throws -> SourceFormat {
        guard let format = try instance(for: node).sourceFormat else {
            throw PatchError(.graph, "\(node.kind) is no source", node: node.id, at: node.location)
        }
        return format
    }

    func processor(of node: PatchNode) throws -> any VideoProcessor {
        guard case .processor(let processor) = try instance(for: node).body else {
            throw PatchError(.graph, "\(node.kind) is no filter", node: node.id, at: node.location)
        }
        return processor
    }

    func native(of node: PatchNode) throws -> (any NativeNode)? {
        guard case .native(let native) = try instance(for: node).body else { return nil }
        return native
    }

    func leadsSound(_ node: PatchNode) -> Bool {
        guard case .source(let source, _)? = used[node.id]?.body else { return false }
        return source.leadsSound
    }
    var isOffline: Bool { engine.configuration.clock == .offline }

    func soundProcessor(of node: PatchNode, format: AudioFormat) throws -> any SoundProcessor {
        guard case .sound(let processor, _) = try instance(for: node, sound: format).body else {
            throw PatchError(.graph, "\(node.kind) is no sound filter", node: node.id, at: node.location)
        }
        return processor
    }

    func request(
        of node: PatchNode, offered: VideoFormat?, hasSound: Bool, rate: FrameRate
    ) throws -> SinkRequest? {
        let instance = try instance(for: node)
        guard case .sink(let sink) = instance.body else {
            throw PatchError(.graph, "\(node.kind) is no sink", node: node.id, at: node.location)
        }
        if instance.isUnavailable { return nil }
        let request = try sink.negotiate(offered: offered, hasSound: hasSound, rate: rate)
        requests[node.id] = request
        return request
    }
}

extension NodeEvent {
    /// The event with node and line in its error.
    func placed(node: NodeID, at location: SourceLocation?) -> NodeEvent {
        switch self {
        case .lost(let error): .lost(error.placed(node: node, at: location))
        case .problem(let error): .problem(error.placed(node: node, at: location))
        default: self
        }
    }
}

extension NodeRegistry {
    func ports(of node: PatchNode) throws -> NodePorts {
        switch node.body {
        case .kernels(let filter):
            return NodePorts(
                names: filter.ports, hasOutput: true, isSink: false, optional: Set(filter.portDefaults.keys))
        case .registered, .sound:
            let kind = try kind(of: node)
            let schema = kind.schema
            return NodePorts(
                names: schema.ports(node.options), hasOutput: schema.role != .sink || schema.forwards,
                isSink: schema.role == .sink, isSound: kind.isSound, isMeter: schema.publishesData,
                isDelay: schema.isDelay)
        }
    }
}

extension Plan {
    public var passes: [PlanPass] {
        steps.compactMap { if case .pass(let pass) = $0 { pass } else { nil } }
    }
}
