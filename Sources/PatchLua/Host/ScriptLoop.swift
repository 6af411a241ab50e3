import PatchGraph
import PatchMedia

/// The script thread: owns the Lua state, calls handlers, reloads.
///
/// Thread-safety: one thread.
final class ScriptLoop {
    private let owner: ScriptHost
    private var script: GraphScript?
    private var watch: FileWatch?
    /// Graph time in nanoseconds, as of the last tick that was told.
    private var graphTime: Int64 = 0
    /// How each file was when the last load looked at it, whether that load went well or not.
    private var looked: [String: ScriptFiles.Stamp?] = [:]
    /// The tick of the numbers that handlers were told last, by node.
    private var seenData: [NodeID: Int64] = [:]
    /// The last thing done was a timer's handler.
    private var firedTimer = false

    private enum Step {
        case event(ScriptEvent)
        case reload(asked: Int64, isForced: Bool)
        case timer
        case stop
    }

    init(_ owner: ScriptHost) { self.owner = owner }

    func run() {
        let first = ScriptHost.catching {
            let script = try makeScript()
            try script.load(carrying: nil)
            self.script = script
            return script.model.livePatch
        }
        owner.mailbox.notify { $0.started = first }
        guard case .success = first else { return }
        let host = owner.mailbox.wait { mailbox -> (any GraphHost)?? in
            mailbox.isStopping ? .some(nil) : mailbox.host.map { .some($0) }
        }
        guard let host = host ?? nil else { return }
        script?.host = host
        startWatching()
        while true {
            switch next() {
            case .stop:
                unload(script)
                script = nil
                watch?.stop()
                return
            case .event(let event): handle(event, host)
            case .reload(let asked, let isForced):
                // A save that a load has seen already may be told again: by the watch, in a second step. A folder that
                // a file is waited for in may have been made, and must be watched now.
                if !isForced, !hasChanged { watch?.watch(Array(looked.keys)) }
                if isForced || hasChanged { reload(asked: asked, host) }
            case .timer: fireTimers(host)
            }
        }
    }

    private func makeScript() throws -> GraphScript {
        let script = try GraphScript(
            path: owner.path, registry: owner.registry, catalog: owner.catalog, options: owner.options)
        if owner.options.usesGraphTime { script.timeNow = { [unowned self] in graphTime } }
        return script
    }

    /// What to do next: end and reloads first, then events and timers by turns, since a timer whose handler takes longer
    /// than its interval is always due and must not keep the rest waiting.
    private func next() -> Step {
        let due = script?.model.timers.map(\.due).min()
        let now = owner.options.usesGraphTime ? graphTime : monotonicNanoseconds()
        let isDue = due.map { $0 <= now } ?? false
        let deadline = isDue ? 0 : owner.options.usesGraphTime ? nil : due
        let step = owner.mailbox.wait(until: deadline) { [firedTimer] mailbox -> Step? in
            if mailbox.isStopping { return .stop }
            if let asked = mailbox.reloadAsked {
                defer { (mailbox.reloadAsked, mailbox.isReloadForced) = (nil, false) }
                return .reload(asked: asked, isForced: mailbox.isReloadForced)
            }
            guard !isDue || firedTimer, !mailbox.events.isEmpty else { return nil }
            return .event(mailbox.events.removeFirst())
        }
        firedTimer = step == nil
        return step ?? .timer
    }

    // MARK: Events

    private func handle(_ event: ScriptEvent, _ host: any GraphHost) {
        guard let script else { return }
        switch event {
        case .control(let name, let value):
            guard let index = script.model.controlIndices[name], script.model.controls[index].control.accepts(value),
                script.model.controls[index].value != value
            else { return }
            script.model.controls[index].value = value
            perform(script.model.controls[index].changeHandlers, host) { call in
                script.push(value, call)
                return 1
            }
        case .press(let name):
            guard let index = script.model.controlIndices[name] else { return }
            perform(script.model.controls[index].changeHandlers, host)
        case .key(let key): pressed(key, host)
        case .node(let id, let event): handle(event, of: id, host)
        case .frame(let tick, let time):
            graphTime = Int64(max(0, min(9e9, time)) * 1e9)
            deliverData(host)
            perform(script.model.frameHandlers, host) { call in
                call.push(time)
                call.push(Int(tick))
                return 2
            }
            if owner.options.usesGraphTime { fireTimers(host) }
            owner.mailbox.notify { $0.handledTick = max($0.handledTick, tick) }
        case .reload: break
        }
    }

    private func pressed(_ key: String, _ host: any GraphHost) {
        guard let script else { return }
        perform(script.model.keyHandlers[key.lowercased()] ?? [], host) { call in
            call.push(key)
            return 1
        }
    }

    private func handle(_ event: NodeEvent, of id: NodeID, _ host: any GraphHost) {
        guard let script, let node = script.model.nodeIndices[id] else { return }
        func handlers(_ kind: GraphModel.NodeHandlerKind) -> [LuaReference] {
            script.model.nodeHandlers[GraphModel.NodeHandlerKey(node: node, kind: kind)] ?? []
        }
        if let (session, stream) = script.model.session(ofNode: node) { tell(session, stream, event, host) }
        switch event {
        case .lost(let error):
            perform(handlers(.onLost), host) { call in
                call.push(error.description)
                return 1
            }
        case .back: perform(handlers(.onBack), host)
        case .state(let state):
            perform(handlers(.onState), host) { call in
                call.push(state)
                return 1
            }
        case .problem(let error):
            perform(handlers(.onError), host) { call in
                call.push(error.description)
                return 1
            }
        case .key(let key): pressed(key, host)
        case .notice, .closed, .ended: break
        }
    }

    /// What happens to a session's stream: states and reasons, with the stream's name. A source's are told in the words of
    /// publishers.
    private func tell(_ session: GraphModel.Session, _ stream: String, _ event: NodeEvent, _ host: any GraphHost) {
        func tell(_ handlers: [LuaReference], _ text: String) {
            perform(handlers, host) { call in
                call.push(text)
                call.push(stream)
                return 2
            }
        }
        switch event {
        case .state(let state): tell(session.stateHandlers, state)
        case .problem(let error): tell(session.errorHandlers, error.description)
        case .lost(let error):
            tell(session.errorHandlers, error.description)
            tell(session.stateHandlers, "retrying")
        case .back: tell(session.stateHandlers, "live")
        case .ended: tell(session.stateHandlers, "ended")
        case .notice, .key, .closed: break
        }
    }

    /// Tells handlers the newest numbers of the nodes that they watch.
    private func deliverData(_ host: any GraphHost) {
        guard let script else { return }
        for (key, handlers) in script.model.nodeHandlers.sorted(by: { $0.key.node < $1.key.node })
        where key.kind == .onData {
            let id = script.id(key.node)
            guard let snapshot = host.operatorData(node: id, after: seenData[id] ?? -1) else { continue }
            seenData[id] = snapshot.tick
            perform(handlers, host) { call in
                script.push(snapshot, call)
                return 1
            }
        }
    }

    private func fireTimers(_ host: any GraphHost) {
        guard let script else { return }
        let now = script.timeNow()
        for timer in script.model.timers where timer.due <= now {
            guard let index = script.model.timers.firstIndex(where: { $0.handler == timer.handler }) else { continue }
            if timer.interval > 0 {
                // Missed beats are skipped, and the rhythm is kept.
                let beats = (now - timer.due) / timer.interval + 1
                script.model.timers[index].due += beats * timer.interval
            } else {
                script.model.timers.remove(at: index)
            }
            perform([timer.handler], host)
            if timer.interval == 0 {
                LuaCall(state: script.state, pointer: script.state.pointer).release(timer.handler)
            }
        }
    }

    /// Calls handlers as one edit and tells the engine what came of it.
    private func perform(
        _ handlers: [LuaReference], _ host: any GraphHost, arguments: (LuaCall) -> Int = { _ in 0 }
    ) {
        guard let script, !handlers.isEmpty else { return }
        let before = script.model
        do {
            try script.perform(handlers, arguments: arguments)
            if GraphScript.isRewired(before.livePatch, script.model.livePatch) {
                do { try host.apply(script.model.livePatch, reload: false) } catch {
                    script.undo(to: before)
                    script.edits.removeAll()
                    throw error
                }
            }
            for edit in script.edits {
                switch edit {
                case .parameter(let node, let name, let value):
                    host.setParameter(node: script.id(node), name: name, value: value)
                case .option(let node, let name, let value):
                    host.setOption(node: script.id(node), name: name, value: value)
                case .control(let name, let value): host.setControl(name, value)
                case .command(let node, let target, let name, let argument):
                    try host.command(node: script.id(node), target: target, name: name, argument: argument)
                }
            }
            script.edits.removeAll()
        } catch {
            owner.mailbox.withLock { $0.statistics.failedHandlers += 1 }
            owner.options.onError((error as? PatchError) ?? PatchError(.script, "\(error)"))
        }
    }

    // MARK: Reload

    private func reload(asked: Int64, _ host: any GraphHost) {
        var tried: GraphScript?
        var seen: [String: ScriptFiles.Stamp?] = [:]
        for file in watchedFiles(nil) { seen[file] = .some(ScriptFiles.stamp(file)) }
        let result = ScriptHost.catching {
            let next = try makeScript()
            tried = next
            next.operatorValue = { host.controlValue($0) }
            try next.load(carrying: script?.carriedState())
            next.edits.removeAll()
            try host.apply(next.model.livePatch, reload: true)
            next.takeOverOptions(from: host)
            next.host = host
            let old = script
            script = next
            unload(old)
        }
        var report = ReloadReport(seconds: Double(monotonicNanoseconds() - asked) / 1e9, error: nil)
        if case .failure(let error) = result { report.error = error }
        owner.mailbox.withLock { mailbox in
            mailbox.statistics.reloads += report.error == nil ? 1 : 0
            mailbox.statistics.failedReloads += report.error == nil ? 0 : 1
        }
        updateWatch(beside: tried, since: seen)
        owner.options.onReload(report)
    }

    /// Runs `onUnload`; what it changes in the graph no longer counts.
    private func unload(_ old: GraphScript?) {
        guard let old else { return }
        do { try old.perform(old.model.unloadHandlers) } catch {
            owner.options.onError((error as? PatchError) ?? PatchError(.script, "\(error)"))
        }
    }

    private func startWatching() {
        do {
            let watch = try FileWatch { [weak owner] in owner?.askForReload() }
            try watch.start()
            self.watch = watch
            updateWatch(beside: nil, since: [:])
        } catch {
            owner.options.onError((error as? PatchError) ?? PatchError(.unavailable, "\(error)"))
        }
    }

    /// Watches what the running script depends on, and what a failed one does: the fix may be in either.
    /// - Parameter seen: how files were before this load began.
    private func updateWatch(beside tried: GraphScript?, since seen: [String: ScriptFiles.Stamp?]) {
        let files = watchedFiles(tried)
        watch?.watch(files)
        looked = [:]
        for file in files {
            // At the first load the running script is the one that looked.
            let first = seen.isEmpty ? script?.stamp(of: file) : nil
            looked[file] = tried?.stamp(of: file) ?? seen[file] ?? first ?? ScriptFiles.stamp(file)
        }
        // What was saved while the script was loading, no watch has seen.
        let isOutdated = hasChanged
        if isOutdated { owner.askForReload() }
    }

    /// A file is no longer as the last load saw it.
    private var hasChanged: Bool { looked.contains { ScriptFiles.stamp($0.key) != $0.value } }

    private func watchedFiles(_ tried: GraphScript?) -> [String] {
        var files = [ScriptFiles.absolute(owner.path)]
        for script in [script, tried] { if let script { files += script.dependencies + script.missingFiles } }
        return files
    }
}
