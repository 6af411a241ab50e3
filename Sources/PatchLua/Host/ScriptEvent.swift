import PatchGraph
import PatchMedia

/// What the engine and the operator tell a running script.
///
/// Thread-safety: a value.
public enum ScriptEvent: Sendable {
    /// The operator set a control.
    case control(String, ControlValue)
    /// The operator pressed a button.
    case press(String)
    /// A key, by SDL's name in lower case.
    case key(String)
    /// A node said something; keys in windows come this way too.
    case node(NodeID, NodeEvent)
    /// A tick is near: its index and graph time in seconds. Drives `onFrame`, and timers in offline runs.
    case frame(tick: Int64, time: Double)
    /// Load the file again, as if it had been saved.
    case reload
}

/// How a reload went.
///
/// Thread-safety: a value.
public struct ReloadReport: Sendable {
    /// From the change of a file to the new graph on air, or to the error.
    public var seconds: Double
    /// nil when the new graph is on air.
    public var error: PatchError?
}

/// Running numbers of a script host.
///
/// Thread-safety: a value.
public struct ScriptStatistics: Sendable {
    public var reloads = 0
    public var failedReloads = 0
    /// Handlers that raised.
    public var failedHandlers = 0
    /// Ticks whose `onFrame` was skipped because the one before was still running.
    public var lateFrames = 0
    /// Events dropped because the script was too slow to take them.
    public var droppedEvents = 0
}
