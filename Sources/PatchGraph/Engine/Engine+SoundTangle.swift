/// On the tick on which a plan goes on air, a sound filter hears what it heard before, fading out, and what it hears now, fading
/// in. Where filters swap places, or one that fed another is fed by it, the wires of both plans together are a loop: a filter
/// would have to hear its own result of that tick.
extension Engine {
    /// The filters that run, go on in a new plan, and lie on such a loop. Made anew, they fade in beside the old ones.
    func soundTangle(of plan: Plan, _ nodes: EngineNodes) -> Set<NodeID> {
        guard let current = air.withLock({ $0.isRunning ? $0.current : nil }), !plan.sounds.isEmpty else { return [] }
        // The running node, or, for a new one, none.
        func lasting(_ id: NodeID) -> Bool {
            guard let instance = nodes.used[id] else { return false }
            return current.sounds.contains { $0 === instance }
        }
        // A node that goes on is one; a new one and an old one of the same name are two.
        var readers: [String: Set<String>] = [:]
        func add(_ sounds: [PlanSound], _ mark: String) {
            func name(_ sound: PlanSound) -> String { lasting(sound.id) ? sound.id : sound.id + mark }
            for sound in sounds {
                for input in sound.inputs { readers[name(sounds[input]), default: []].insert(name(sound)) }
            }
        }
        add(current.plan.sounds, "\tbefore")
        add(plan.sounds, "\tafter")
        let kept = plan.sounds.map(\.id).filter(lasting)
        return Set(kept.filter { Self.reaches($0, $0, readers) })
    }

    private static func reaches(_ goal: String, _ start: String, _ readers: [String: Set<String>]) -> Bool {
        var (seen, open): (Set<String>, [String]) = ([], [start])
        while let node = open.popLast() {
            for next in readers[node] ?? [] {
                if next == goal { return true }
                if seen.insert(next).inserted { open.append(next) }
            }
        }
        return false
    }
}
