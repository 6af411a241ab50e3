import PatchKernel
import PatchMedia

/// A node's stable name: what survives a reload.
public typealias NodeID = String

/// The description that a script (or a Swift program) builds: nodes, wires, controls, with the line of each.
///
/// A plain value: nothing is open, nothing runs. The planner turns it into a `Plan`.
/// Thread-safety: a value.
public struct Patch: Sendable {
    public var nodes: [PatchNode] = []
    public var wires: [Wire] = []
    public var controls: [Control] = []
    public var settings = GraphSettings()

    public init() {}

    public func node(_ id: NodeID) -> PatchNode? { nodes.first { $0.id == id } }
}

/// Graph-wide defaults, set once by `graph{…}`.
public struct GraphSettings: Hashable, Sendable {
    /// Ticks a second; nil takes the first live source's rate, else the first source's, else 30.
    public var rate: FrameRate?
    /// Default canvas for nodes that have no size of their own (colour, test pattern).
    public var width: Int?
    public var height: Int?
    /// Working light of compositing and resampling.
    public var light: Light = .encoded
    /// Seconds that a reload takes to fade from the old look to the new; 0 is a hard cut.
    public var crossfade: Double = 0
    /// Channels that sources give at most, and that outputs write unless they say otherwise: those of `AudioFormat.layouts`.
    public var channels = 2

    public init() {}
}

/// One node of a patch.
public struct PatchNode: Sendable {
    /// What the node is made of.
    public enum Body: Hashable, Sendable {
        /// A kind in the registry: source, sink or native filter.
        case registered
        /// One or more kernels.
        case kernels(KernelFilter)
        /// A kernel for sound.
        case sound(SoundKernel)
    }

    public var id: NodeID
    /// `camera`, `filter.brightness`, `kernel`, …
    public var kind: String
    public var body: Body
    public var options: NodeOptions
    /// Only parameters that were given; the others have their defaults.
    public var parameters: [String: ParameterValue]
    public var location: SourceLocation?
    /// False when the id was derived from kind and order, so that a reload may take it for another node.
    public var isNamed: Bool
    /// Somebody reads the numbers that the node publishes, so that it runs though its picture may reach no sink.
    public var isWatched = false
    /// Input ports that have no picture for now, of a node that can do without.
    var absentPorts: Set<Int> = []

    public init(
        id: NodeID, kind: String, body: Body = .registered, options: NodeOptions = NodeOptions(),
        parameters: [String: ParameterValue] = [:], at location: SourceLocation? = nil, isNamed: Bool = true
    ) {
        self.id = id
        self.kind = kind
        self.body = body
        self.options = options
        self.parameters = parameters
        self.location = location
        self.isNamed = isNamed
    }
}

/// A wire from one node's output to another's input port.
public struct Wire: Hashable, Sendable {
    /// What travels along it.
    public enum Media: String, Hashable, Sendable { case both, video, audio }

    public var from: NodeID
    public var to: NodeID
    /// 0-based index of the input port; `noPort` for sound that goes to a mixer itself and to none of its slots.
    public var port: Int
    public var media: Media
    public var location: SourceLocation?

    public static let noPort = -1

    public init(
        from: NodeID, to: NodeID, port: Int = 0, media: Media = .both, at location: SourceLocation? = nil
    ) {
        self.from = from
        self.to = to
        self.port = port
        self.media = media
        self.location = location
    }
}
