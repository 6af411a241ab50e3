import PatchMedia

/// Sound and picture that left a source together arrive together: what the graph does to the picture (delays, guests that are
/// a tick behind) the sound waits for, and what takes time in the sound's filters, the source gives in advance.
extension Planner {
    /// Sound that would have to wait longer than this is let go, in seconds: it is not lip sync any more.
    static let longestWait = 5.0

    /// Says for each sink how long each sound that it hears waits, and by how much sources give theirs sooner.
    mutating func alignSound(_ checked: CheckedPatch) {
        // Samples that each sound of each sink is early (late when negative) against its picture.
        var early: [[Int]] = []
        for index in plan.sinks.indices {
            var delays: [Int: Int] = [:]
            for source in plan.sources.indices {
                delays[source] = ticks(from: plan.sources[source].id, to: plan.sinks[index].id, checked, [])
            }
            plan.sinks[index].pictureDelays = delays
            let live = delays.filter { plan.sources[$0.key].isLive }.map(\.value).max()
            early.append(
                plan.sinks[index].sounds.map { sound in
                    let origins = origins(of: sound)
                    // A microphone beside a camera: what was captured at one moment belongs together.
                    let seen = origins.compactMap { delays[$0] }.max()
                    let isLive = origins.contains { plan.sources[$0].isLive }
                    let wait = seen ?? (isLive ? live : nil) ?? 0
                    return samples(ofTicks: wait) - latency(of: sound)
                })
        }
        var lead = 0
        for (index, sink) in plan.sinks.enumerated() {
            for (place, sound) in sink.sounds.enumerated() where canLead(sound) {
                lead = max(lead, -early[index][place])
            }
        }
        plan.soundLead = lead
        let longest = Int(Self.longestWait * Double(SoundRing.rate))
        for index in plan.sinks.indices {
            plan.sinks[index].soundDelays = plan.sinks[index].sounds.enumerated().map { place, sound in
                let wait = early[index][place] + (canLead(sound) ? lead : 0)
                return wait > longest ? 0 : max(0, wait)
            }
        }
    }

    private func samples(ofTicks ticks: Int) -> Int {
        Int(plan.rate.time(ofFrame: Int64(ticks)).floored(to: Int64(SoundRing.rate)))
    }

    /// Samples from a sound's sources to its end, through the slowest of its filters.
    private func latency(of sound: Int) -> Int {
        let inputs = plan.sounds[sound].inputs.map { latency(of: $0) }.max() ?? 0
        guard case .filter(let processor) = plan.sounds[sound].body else { return inputs }
        return inputs + processor.latency
    }

    /// The sources whose sound is in a sound.
    private func origins(of sound: Int) -> Set<Int> {
        if case .source(let source) = plan.sounds[sound].body { return [source] }
        return plan.sounds[sound].inputs.reduce(into: []) { $0.formUnion(origins(of: $1)) }
    }

    private func canLead(_ sound: Int) -> Bool {
        origins(of: sound).allSatisfy { source in
            checked?.patch.node(plan.sources[source].id).map { provider.leadsSound($0) } ?? false
        }
    }

    /// Ticks that a source's picture takes to a node, by the first port that leads to it; nil when it is not in the picture.
    private func ticks(from source: NodeID, to node: NodeID, _ checked: CheckedPatch, _ seen: Set<NodeID>) -> Int? {
        if node == source { return 0 }
        guard !seen.contains(node) else { return nil }
        let seen = seen.union([node])
        for (port, wire) in (checked.inputs[node] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard wire.media != .audio, let before = ticks(from: source, to: wire.from, checked, seen) else { continue }
            return before + pictureDelay(of: node, port, checked)
        }
        return nil
    }

    /// Ticks by which what a node shows is older than what arrives at a port.
    private func pictureDelay(of id: NodeID, _ port: Int, _ checked: CheckedPatch) -> Int {
        guard let node = checked.order.first(where: { $0.id == id }) else { return 0 }
        if let known = nativeDelays[id] { return known }
        if case .kernels(let filter) = node.body { return filter.pictureDelay(ofPort: port) }
        let isDelay = (try? provider.ports(of: node))?.isDelay == true
        return isDelay ? node.options.integer("frames") ?? 1 : 0
    }
}

extension KernelFilter {
    /// Ticks by which the newest picture of a port that is in the result is older than the result: 0, unless stages read
    /// earlier pictures only.
    func pictureDelay(ofPort port: Int) -> Int {
        guard !stages.isEmpty else { return 0 }
        var delays: [Int?] = []
        for stage in stages {
            delays.append(
                stage.inputs.compactMap { input -> Int? in
                    switch input {
                    case .port(let other): other == port ? 0 : nil
                    case .pastPort(let other, let ticks): other == port ? ticks : nil
                    case .stage(let earlier): delays[earlier]
                    case .pastStage(let earlier, let ticks):
                        earlier < delays.count ? delays[earlier].map { $0 + ticks } : nil
                    }
                }.min())
        }
        return delays.last.flatMap { $0 } ?? 0
    }
}
