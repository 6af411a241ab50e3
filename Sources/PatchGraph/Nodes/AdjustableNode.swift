/// A node some of whose options may be changed while it runs: those whose schema says `isLive`.
///
/// Thread-safety: `adopt` is called on control threads, never on the clock thread; calls may come from several threads,
/// one at a time.
public protocol AdjustableNode: AnyObject, Sendable {
    /// Takes over new values. Returns soon: work that takes time is done on a thread of the node's own, and what was shown
    /// before stays until it is done. Values that cannot be used are reported as the node's problem and change nothing.
    /// - Parameter options: all options of the node, as they are from now on.
    func adopt(_ options: NodeOptions)
}
