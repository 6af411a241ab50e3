import PatchMedia

/// A native operator whose pictures outlive a tick: it gets the frames themselves, may keep them (a guest on a thread of its
/// own, a replay), and gives a finished frame instead of filling one.
///
/// Thread-safety: `frame` is called on the engine's clock thread, everything else on any thread. The last reference may
/// go on any thread but the clock's.
public protocol FrameOperator: NativeOperator {
    /// What each port gets, upright; the planner converts.
    var inputs: [VideoFormat] { get }
    /// Called before the first `frame`, perhaps more than once.
    /// - Throws: `PatchError` when it cannot start.
    func activate() throws
    /// The result for a tick; nil where there is none. Live it must not wait for anything. The inputs belong to others:
    /// they are read, not written. Called again at the same tick during a crossfade, it gives the same result.
    /// - Parameters:
    ///   - inputs: one for each port, in the planned formats; nil where a picture is missing.
    ///   - parameters: the floats of the node's parameters in the order of its schema.
    func frame(
        _ inputs: UnsafeBufferPointer<Frame?>, parameters: UnsafePointer<Float>, at tick: Tick
    ) -> Frame?
    /// Ticks by which a live result is older than what came in; the sound waits as long.
    var delay: Int { get }
    /// Adds its own numbers; `frames`, `p50` and `p99` are the engine's until then.
    func fill(_ statistics: inout NodeStatistics)
}

extension FrameOperator {
    public func activate() throws {}
    public var delay: Int { 0 }
    public func fill(_ statistics: inout NodeStatistics) {}
    /// Frames are given by `frame` instead.
    public func process(_ call: OperatorCall) -> OperatorResult { .nothing }
}
