import PatchMedia

extension Engine {
    /// Sets, ramps or animates a running node's parameter from the next tick on. False when no running node has it.
    @discardableResult
    public func setParameter(node: NodeID, name: String, _ value: ParameterValue) -> Bool {
        parameters.set(node: node, name: name, value)
    }

    /// A parameter's floats as of the last tick; nil when no running node has it.
    public func parameterFloats(node: NodeID, name: String) -> [Float]? { parameters.floats(node: node, name: name) }

    /// Sets an option that may change while the node runs, such as a text's string; nil is its default. The node takes it
    /// over as soon as it can; a value that it cannot take is reported as its problem and changes nothing.
    /// - Throws: `PatchError.usage` when there is no such node, or the option is fixed when the node is made.
    public func setOption(node: NodeID, name: String, _ value: OptionValue?) throws {
        guard let instance = instances[node] else {
            let near = Spelling.nearest(to: node, in: instances.all.map(\.id))
            throw PatchError(.usage, "no node named '\(node)' runs", remedy: near.map { "did you mean '\($0)'?" } ?? "")
        }
        guard instance.setOption(name, value) else {
            let live = registry[instance.kind]?.schema.options.filter(\.isLive).map(\.name) ?? []
            throw PatchError(
                .usage, "'\(name)' of \(instance.kind) cannot be changed on air",
                remedy: Spelling.nearest(to: name, in: live).map { "did you mean '\($0)'?" }
                    ?? (live.isEmpty
                        ? "no option of \(instance.kind) can" : "these can: \(live.joined(separator: ", "))"),
                node: node, at: instance.location)
        }
    }

    /// A running node's options as they are now; nil when no such node runs.
    public func options(of node: NodeID) -> NodeOptions? { instances[node]?.presentOptions }

    /// The newest numbers that a node's native operators publish (a histogram, a centroid, corners), or a loudness meter; nil when the plan on air
    /// has no such node, before its first tick, and when they are still those of tick `seen`.
    public func operatorData(node: NodeID, after seen: Int64 = -1) -> OperatorData.Snapshot? {
        guard let plan else { return nil }
        for sound in plan.sounds where sound.id == node {
            guard let loudness = sound.meter?.loudness else { continue }
            let tick = counters.withLock { $0.ticks }
            return tick > 0 && tick != seen ? OperatorData.Snapshot(tick: tick, values: loudness.values) : nil
        }
        var merged: OperatorData.Snapshot?
        for case .operate(let operate) in plan.steps where operate.id == node {
            guard let snapshot = operate.data?.read(after: seen) else { continue }
            merged = OperatorData.Snapshot(
                tick: max(snapshot.tick, merged?.tick ?? 0),
                values: (merged?.values ?? [:]).merging(snapshot.values) { $1 })
        }
        return merged
    }

    /// An operator's setting of a control; it survives reloads.
    /// - Throws: `PatchError.usage` for an unknown name or an illegal value.
    public func setControl(_ name: String, _ value: ControlValue) throws { try parameters.setControl(name, value) }

    public func controlValue(_ name: String) -> ControlValue? { parameters.controlValue(name) }

    public var controls: [(control: PatchGraph.Control, value: ControlValue)] { parameters.controls }

    /// Tells a running node something that is no parameter, such as a libavfilter command.
    /// - Throws: `PatchError` that names the node and what can be told.
    public func command(node id: NodeID, target: String, name: String, argument: String) throws {
        let taker: (any CommandTaking)? =
            switch instances[id]?.body {
            case .native(let native)?: native
            case .source(let source, _)?: source as? any CommandTaking
            case .sound(let processor, _)?: processor as? any CommandTaking
            default: nil
            }
        guard let taker else { throw PatchError(.usage, "no running node '\(id)' takes commands", node: id) }
        do { try taker.command(target, name, argument) } catch {
            throw (error as? PatchError ?? PatchError(.usage, "\(error)")).placed(node: id)
        }
    }

    /// The open sink of this name, for the host program to attach to; nil when there is none of that type.
    public func sink<Sink: MediaSink>(_ id: NodeID, as type: Sink.Type = Sink.self) -> Sink? {
        guard case .sink(let sink)? = instances[id]?.body else { return nil }
        return sink as? Sink
    }

    /// The open source of this name, for the host program to push frames into; nil when there is none of that type.
    public func source<Source: MediaSource>(_ id: NodeID, as type: Source.Type = Source.self) -> Source? {
        guard case .source(let source, _)? = instances[id]?.body else { return nil }
        return source as? Source
    }

    /// An output failed that the run cannot do without: offline any, live the last one.
    public var hasFailed: Bool {
        let runners = instances.all.compactMap(\.runner)
        let failed = runners.count { $0.failure != nil }
        return configuration.clock == .offline ? failed > 0 : failed > 0 && failed == runners.count
    }

    /// The plan on air.
    public var plan: Plan? { air.withLock { $0.current?.plan } }

    /// Running numbers; a snapshot that may be a tick old.
    public var statistics: EngineStatistics {
        var statistics = EngineStatistics()
        counters.withLock { counters in
            statistics.ticks = counters.ticks
            statistics.late = counters.late
            (statistics.p50, statistics.p99) = counters.durations.percentiles
        }
        guard let executor = air.withLock({ $0.current }) else { return statistics }
        statistics.generation = executor.generation
        statistics.nodes += sourceStatistics(executor)
        statistics.nodes += executor.meters.withLock { meters in
            executor.plan.steps.enumerated().compactMap { index, step in
                var node: NodeStatistics
                switch step {
                case .pass(let pass):
                    guard !pass.nodes.isEmpty else { return nil }
                    node = NodeStatistics(id: pass.nodes.joined(separator: "+"), kind: "pass")
                case .process(let process): node = NodeStatistics(id: process.id, kind: "native")
                case .operate(let operate): node = NodeStatistics(id: operate.id, kind: "native \(operate.name)")
                }
                node.frames = meters[index].frames
                node.late = meters[index].late
                (node.p50, node.p99) = meters[index].durations.percentiles
                if case .operate(let operate) = step, let work = operate.work as? any FrameOperator { work.fill(&node) }
                return node
            }
        }
        for (index, sound) in executor.plan.sounds.enumerated() {
            guard let meter = sound.meter else { continue }
            var node = NodeStatistics(id: sound.id, kind: executor.sounds[index].kind)
            node.loudness = meter.loudness
            statistics.nodes.append(node)
        }
        for (index, sink) in executor.plan.sinks.enumerated() {
            var node = NodeStatistics(id: sink.id, kind: sink.kind)
            if let runner = executor.sinks[index].runner {
                runner.fill(&node)
            } else {
                node.state = "unavailable"
            }
            statistics.nodes.append(node)
        }
        return statistics
    }

    /// Objects that a reload makes and must give back, for tests of leaks.
    package var census: (instances: Int, parameters: Int, pools: Int) {
        (instances.all.count, parameters.liveEntries, pools.count)
    }
}
