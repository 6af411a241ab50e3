import PatchMedia

/// A filter node that is no kernel: it may have several inputs, knobs, and a result of another size or format. Somebody
/// else's library (a guest) is one.
///
/// The node lives as long as its name and options are in the graph; for each combination of formats it prepares a run,
/// which a plan uses.
/// Thread-safety: all members may be called from any thread, one at a time.
public protocol NativeNode: AnyObject, Sendable {
    /// Chooses the formats. The same run may be given again when nothing differs.
    /// - Parameters:
    ///   - inputs: what each port could have without a conversion, upright.
    ///   - rate: ticks a second.
    /// - Throws: `PatchError` when it cannot work on such pictures.
    func prepare(inputs: [VideoFormat], rate: FrameRate) throws -> any NativeRun
    /// Tells a running node something that is no parameter, such as a libavfilter command; later runs know it too.
    /// - Throws: `PatchError` that says what can be told.
    func command(_ target: String, _ name: String, _ argument: String) throws
    /// The node has left the graph. Called once.
    func stop()
}

extension NativeNode {
    public func command(_ target: String, _ name: String, _ argument: String) throws {
        throw PatchError(.usage, "this node takes no commands", remedy: "set its parameters")
    }
    public func stop() {}
}

/// A native node at work on pictures of fixed formats.
///
/// Thread-safety: `frame` is called on the engine's clock thread; everything else from any thread. The last reference may
/// go on any thread but the clock's.
public protocol NativeRun: AnyObject, Sendable {
    /// What each port gets, upright; the planner converts.
    var inputs: [VideoFormat] { get }
    var output: VideoFormat { get }
    /// Called before the first `frame`, perhaps more than once.
    /// - Throws: `PatchError` when it cannot start.
    func activate() throws
    /// The result for a tick; nil where there is none. Live it must not wait for anything. The inputs belong to others:
    /// they are read, not written. Called again at the same tick during a crossfade, it gives the same result.
    /// - Parameters:
    ///   - inputs: one for each port, in the planned formats.
    ///   - parameters: the floats of the node's parameters in the order of its schema.
    func frame(
        _ inputs: UnsafeBufferPointer<Frame?>, parameters: UnsafeBufferPointer<Float>, at tick: Tick
    ) -> Frame?
    /// Adds its own numbers; `frames`, `p50` and `p99` are the engine's until then.
    func fill(_ statistics: inout NodeStatistics)
}

extension NativeRun {
    public func activate() throws {}
    public func fill(_ statistics: inout NodeStatistics) {}
}
