import PatchMedia
import Synchronization

/// Which inputs deliver nothing, what is told about them, and what stands in for them.
///
/// Thread-safety: all members may be called from any thread.
final class LostInputs: Sendable {
    private struct Entry {
        /// Nothing came for as long as the input's policy allows.
        var isDown = false
        /// `.lost` was told last, not `.back`.
        var isTold = false
        /// Pictures that had come when it went down.
        var arrivals: Int64 = 0
        /// Since when it is watched, monotonic nanoseconds.
        var begin: Int64
    }
    private let entries = Mutex<[NodeID: Entry]>([:])
    private let applied = Mutex<[NodeID: InputPolicy]>([:])
    private let inputs = Mutex<[Instance]>([])

    /// Pictures that must come in a row before an input counts as back.
    private static let enough: Int64 = 3

    /// What the plan on air was made for.
    var standIns: [NodeID: InputPolicy] {
        get { applied.withLock { $0 } }
        set { applied.withLock { $0 = newValue } }
    }

    /// Whether a source's own word about a loss is news.
    func isNews(_ event: NodeEvent, of id: NodeID) -> Bool {
        entries.withLock { entries in
            var entry = entries[id] ?? Entry(begin: monotonicNanoseconds())
            defer { entries[id] = entry }
            switch event {
            case .lost:
                defer { entry.isTold = true }
                return !entry.isTold
            case .back:
                // A connection is not yet a picture.
                guard entry.isTold, !entry.isDown else { return false }
                entry.isTold = false
                return true
            default: return true
            }
        }
    }

    enum Change { case none, lost, back }

    /// Looks at a source.
    /// - Parameter freeze: nanoseconds without a picture that are no loss.
    /// - Returns: whether it is down, and what there is to tell.
    func look(at id: NodeID, _ health: SourceHealth, freeze: Int64, now: Int64) -> (isDown: Bool, Change) {
        entries.withLock { entries in
            var entry = entries[id] ?? Entry(begin: now)
            defer { entries[id] = entry }
            let silence = now - max(health.lastArrival, entry.begin)
            if !entry.isDown, silence > freeze {
                entry.isDown = true
                entry.arrivals = health.arrivals
                defer { entry.isTold = true }
                return (true, entry.isTold ? .none : .lost)
            }
            if entry.isDown, silence <= max(freeze, 500_000_000), health.arrivals >= entry.arrivals + Self.enough {
                entry.isDown = false
                defer { entry.isTold = false }
                return (false, entry.isTold ? .back : .none)
            }
            return (entry.isDown, .none)
        }
    }

    /// Watches the live inputs of the graph, and forgets others.
    func watch(_ nodes: [NodeID: Instance]) {
        entries.withLock { $0 = $0.filter { nodes[$0.key] != nil } }
        let live = nodes.values.filter { instance in
            guard case .source(let source, let format) = instance.body else { return false }
            return format.isLive && source.health != nil
        }
        inputs.withLock { $0 = live }
    }

    /// The inputs that are watched.
    var watched: [Instance] { inputs.withLock { $0 } }
}
