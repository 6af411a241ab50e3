import PatchMedia

/// Inputs that fail: the engine looks at them and puts their policies into effect, as an edit of the patch that goes on air
/// at one tick.
extension Engine {
    /// How often inputs are looked at, in nanoseconds.
    static let watchInterval: Int64 = 20_000_000

    /// On the caretaker thread: finds out which live inputs deliver nothing.
    func watchInputs() {
        guard configuration.clock == .live else { return }
        let now = monotonicNanoseconds()
        var wanted: [NodeID: InputPolicy] = [:]
        for instance in lost.watched {
            guard case .source(let source, _) = instance.body, let health = source.health else { continue }
            let policy = InputPolicy(instance.presentOptions)
            let (isDown, change) = lost.look(
                at: instance.id, health, freeze: Int64(policy.freeze * 1e9), now: now)
            if isDown, policy.kind != .hold { wanted[instance.id] = policy }
            switch change {
            case .none: break
            case .lost:
                let error = PatchError(
                    .network, "'\(instance.id)' has sent nothing for \(OptionValue.number(policy.freeze)) s",
                    remedy: "it goes on by itself when pictures come again", node: instance.id, at: instance.location)
                report(instance.id, .lost(error), instance.location)
            case .back: report(instance.id, .back, instance.location)
            }
        }
        guard wanted != lost.standIns, let patch = control.withLock({ $0.patch }) else { return }
        lost.standIns = wanted
        do { try load(patch) } catch {
            let placed = error as? PatchError ?? PatchError(.graph, "\(error)")
            report(placed.node ?? "", .problem(placed), placed.location)
        }
    }

    /// The patch with stand-ins for what delivers nothing now.
    /// - Throws: `PatchError` when the policies of the patch cannot work.
    func withStandIns(_ patch: Patch, _ nodes: EngineNodes) throws -> Patch {
        var policies: [NodeID: InputPolicy] = [:]
        for node in patch.nodes where node.body == .registered && node.options.values["policy"] != nil {
            policies[node.id] = InputPolicy(node.options)
        }
        try patch.checkStandIns(policies)
        let active = lost.standIns.filter { patch.node($0.key) != nil }
        try patch.checkStandIns(active)
        return try patch.standingIn(
            for: active,
            size: { [instances] id in instances[id]?.sourceFormat?.video?.displaySize },
            ports: { try nodes.ports(of: $0) },
            leavesOut: { node in
                guard case .kernels(let filter) = node.body else { return false }
                return filter.stages.contains { stage in
                    guard case .native(let native) = stage.work else { return false }
                    return (try? nodes.nativeOperator(native.name))?.toleratesMissingInputs == true
                }
            })
    }

    /// Numbers of all open sources, those on air first.
    func sourceStatistics(_ executor: PlanExecutor) -> [NodeStatistics] {
        let waiting = instances.all.filter { instance in
            guard case .source = instance.body else { return false }
            return !executor.sources.contains { $0 === instance }
        }
        return (executor.sources + waiting.sorted { $0.id < $1.id }).enumerated().compactMap { index, instance in
            guard case .source(let source, _) = instance.body else { return nil }
            var node = NodeStatistics(id: instance.id, kind: instance.kind)
            let counters = source.counters
            node.frames = counters.received
            node.drops = counters.dropped
            node.late = counters.late
            node.queueDepth = counters.queueDepth
            guard let health = source.health else { return node }
            node.state = health.state.rawValue
            let wait = executor.wait(fromSource: index)
            node.source = SourceStatistics(
                state: health.state, latency: health.latency.flatMap { latency in wait.map { latency + $0 } },
                avOffset: health.avOffset, drift: health.drift, reconnects: health.reconnects,
                corrupt: counters.corrupt, standIn: lost.standIns[instance.id]?.kind)
            return node
        }
    }
}

extension PlanExecutor {
    /// Milliseconds from the tick that takes a source's picture until the slowest sink that shows it takes it; nil when none
    /// does.
    fileprivate func wait(fromSource index: Int) -> Double? {
        plan.sinks.indices.compactMap { place in
            guard let ticks = plan.sinks[place].pictureDelays[index], let wait = sinks[place].runner?.wait else {
                return nil
            }
            return wait + plan.rate.time(ofFrame: Int64(ticks)).seconds * 1000
        }.max()
    }
}
