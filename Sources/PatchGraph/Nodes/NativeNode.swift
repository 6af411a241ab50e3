import PatchMedia

/// A running node that can be told something that is no parameter: a libavfilter command, "play".
///
/// Thread-safety: `command` may be called from any thread.
public protocol CommandTaking: AnyObject, Sendable {
    /// - Parameter target: which part of the node; empty for the node itself.
    /// - Throws: `PatchError` that says what can be told.
    func command(_ target: String, _ name: String, _ argument: String) throws
}

/// A filter node that is no kernel: it may have several inputs, knobs, and a result of another size or format. Somebody
/// else's library (a guest) is one.
///
/// The node lives as long as its name and options are in the graph; for each combination of formats it prepares an
/// operator, which a plan uses.
/// Thread-safety: all members may be called from any thread, one at a time.
public protocol NativeNode: CommandTaking {
    /// Chooses the formats. The same operator may be given again when nothing differs.
    /// - Parameters:
    ///   - inputs: what each port could have without a conversion, upright.
    ///   - rate: ticks a second.
    /// - Throws: `PatchError` when it cannot work on such pictures.
    func prepare(inputs: [VideoFormat], rate: FrameRate) throws -> any FrameOperator
    /// The node has left the graph. Called once.
    func stop()
}

extension NativeNode {
    public func command(_ target: String, _ name: String, _ argument: String) throws {
        throw PatchError(.usage, "this node takes no commands", remedy: "set its parameters")
    }
    public func stop() {}
}
