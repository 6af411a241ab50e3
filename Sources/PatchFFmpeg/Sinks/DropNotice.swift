import PatchGraph
import PatchMedia
import Synchronization

/// Says when groups of pictures begin to be dropped, and how many when that is over; the counters tell the rest.
///
/// Thread-safety: all members may be called from any thread.
final class DropNotice: Sendable {
    private struct State {
        var known: Int64 = 0
        /// Groups dropped when the present trouble began, and when the last one was.
        var trouble: (begin: Int64, last: Int64)?
    }
    private let state = Mutex(State())
    /// Without a drop for so long, the trouble is over; nanoseconds.
    private static let calm: Int64 = 10_000_000_000

    /// - Parameter error: what is said first.
    func say(_ counters: PacketQueue.Counters, _ environment: NodeEnvironment, _ error: () -> PatchError) {
        let (begins, dropped) = state.withLock { state -> (Bool, Int64) in
            let now = monotonicNanoseconds()
            if counters.droppedGroups > state.known {
                let begins = state.trouble == nil
                state.trouble = (state.trouble?.begin ?? state.known, now)
                state.known = counters.droppedGroups
                return (begins, 0)
            }
            guard let trouble = state.trouble, now - trouble.last > Self.calm else { return (false, 0) }
            state.trouble = nil
            return (false, state.known - trouble.begin)
        }
        if begins {
            environment.report(.problem(error().placed(node: environment.nodeID, at: environment.location)))
        }
        if dropped > 0 {
            environment.report(.notice("\(dropped) groups of pictures were dropped; none for a while now"))
        }
    }
}
