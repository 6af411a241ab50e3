import PatchGraph
import PatchMedia

/// What a script host needs of the engine that runs its graph.
///
/// Thread-safety: called on the script's thread.
public protocol GraphHost: AnyObject, Sendable {
    /// Plans, compiles, warms and puts a patch on air at a tick.
    /// - Parameter reload: the patch comes from a new version of the file, not from a handler.
    /// - Throws: `PatchError`; the running graph is then untouched.
    func apply(_ patch: Patch, reload: Bool) throws
    /// Sets a parameter at the next tick.
    func setParameter(node: NodeID, name: String, value: ParameterValue)
    /// Sets an option that may change while the node runs; nil is its default.
    func setOption(node: NodeID, name: String, value: OptionValue?)
    /// A running node's options as they are now; nil when the engine does not know the node.
    func options(of node: NodeID) -> NodeOptions?
    /// What the operator set a control to; nil when nobody did.
    func controlValue(_ name: String) -> ControlValue?
    /// Sets a control from the script.
    func setControl(_ name: String, _ value: ControlValue)
    /// What a parameter is now; nil when the engine does not know it.
    func parameterFloats(node: NodeID, name: String) -> [Float]?
    /// The newest numbers that a node's native operators publish; nil when they are still those of tick `seen`.
    func operatorData(node: NodeID, after seen: Int64) -> OperatorData.Snapshot?
    /// Tells a native node something that is no parameter.
    /// - Throws: `PatchError` that says what can be told.
    func command(node: NodeID, target: String, name: String, argument: String) throws
}

extension GraphHost {
    public func operatorData(node: NodeID, after seen: Int64) -> OperatorData.Snapshot? { nil }
    public func command(node: NodeID, target: String, name: String, argument: String) throws {
        throw PatchError(.usage, "this host passes no commands on", node: node)
    }
}
