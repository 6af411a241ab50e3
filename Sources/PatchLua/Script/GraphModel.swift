import PatchFilters
import PatchGraph
import PatchMedia

/// What a script has built so far, and what it wants to hear: all that an event handler may change, as one value, so that
/// a handler that fails can be undone by putting the old value back.
struct GraphModel {
    struct ControlState {
        var control: Control
        var value: ControlValue
        var changeHandlers: [LuaReference] = []
    }

    struct Look {
        /// `filter.brightness`, `looks.warm`, `kernel`, or a registered kind.
        var schema: NodeSchema
        /// nil for a registered kind.
        var filter: KernelFilter?
        /// A kernel for sound.
        var sound: SoundKernel?
        /// The table of a script's own kernel that has options.
        var definition: LuaReference?
        /// The node that stands for the look where it was wired without making one.
        var node: Int?
    }

    struct Mixer {
        var width: Int
        var height: Int
        var slots: [MixerSchema.Slot]
    }

    struct Group {
        var name: String
        var inputs: [(name: String, ends: [InputEnd])]
        var output: Int?
        /// Own parameters: each sets some parameters of nodes inside.
        var parameters: [String: [(node: Int, name: String)]]
    }

    enum Animation {
        case oscillation(Oscillation)
        case keyframes([Keyframe], loop: Bool)
    }

    struct Timer {
        var handler: LuaReference
        /// Nanoseconds of the clock or of graph time.
        var due: Int64
        /// Nanoseconds; 0 fires once.
        var interval: Int64
    }

    enum NodeHandlerKind: String, CaseIterable { case onLost, onBack, onState, onError, onData }

    struct NodeHandlerKey: Hashable {
        var node: Int
        var kind: NodeHandlerKind
    }

    var patch = Patch()
    /// For each node of the patch.
    var schemas: [NodeSchema] = []
    var nodeIndices: [NodeID: Int] = [:]
    var derivedIDs: [String: Int] = [:]
    var hasSettings = false

    var controls: [ControlState] = []
    var controlIndices: [String: Int] = [:]
    var looks: [Look] = []
    var groups: [Group] = []
    /// By the index of their nodes.
    var mixers: [Int: Mixer] = [:]
    var secrets: [Secret] = []
    var sessions: [Session] = []
    var animations: [Animation] = []

    var keyHandlers: [String: [LuaReference]] = [:]
    var nodeHandlers: [NodeHandlerKey: [LuaReference]] = [:]
    var frameHandlers: [LuaReference] = []
    var unloadHandlers: [LuaReference] = []
    var timers: [Timer] = []

    /// One input port of a node.
    struct InputEnd: Hashable {
        var node: Int
        /// 0-based; nil is the first free one.
        var port: Int?
        var media: Wire.Media = .both
    }

    /// A node's output.
    struct OutputEnd: Hashable {
        var node: Int
        var media: Wire.Media = .both
    }
}
