import PatchMedia
import Synchronization

/// What a kind of node is called and what it takes.
///
/// Thread-safety: a value.
public struct NodeSchema: Sendable {
    public enum Role: String, Sendable { case source, filter, sink }

    /// The word in scripts: `camera`, `rawDataOutput`, …
    public var kind: String
    public var role: Role
    public var summary: String
    public var options: [OptionSchema]
    public var parameters: [ParameterSchema]
    /// Names of the input ports; empty for sources.
    public var ports: [String]
    /// A sink whose (converted) frames can be wired on, as `rawDataOutput`'s are.
    public var forwards: Bool
    /// The option that a script writes first, as in `ffmpeg{ "hqdn3d" }`; such a node gets its name by `name =`.
    public var positional: String?
    /// The option (a list of strings) that names the ports of a node, instead of `ports`.
    public var portsOption: String?
    /// Its nodes may be told things by `node:command(…)`.
    public var takesCommands = false
    /// A sound filter that publishes numbers (`node:onData(…)`): it runs though its sound may reach no sink.
    public var publishesData = false
    /// False for a source of sound alone.
    public var hasPicture = true
    /// What comes out went in some ticks ago, so that the node may close a loop of wires.
    public var isDelay = false

    public init(
        kind: String, role: Role, summary: String, options: [OptionSchema] = [], parameters: [ParameterSchema] = [],
        ports: [String]? = nil, forwards: Bool = false, positional: String? = nil, portsOption: String? = nil
    ) {
        self.kind = kind
        self.role = role
        self.summary = summary
        self.options = options
        self.parameters = parameters
        self.ports = ports ?? (role == .source ? [] : ["image"])
        self.forwards = forwards
        self.positional = positional
        self.portsOption = portsOption
    }

    /// The ports that a node with these options has.
    public func ports(_ options: NodeOptions) -> [String] {
        guard let portsOption, case .list(let names)? = options.values[portsOption] else { return ports }
        return names
    }
}

/// What a node may use of the world around it.
///
/// Thread-safety: a value; the closures may be called from any thread.
public struct NodeEnvironment: Sendable {
    public var nodeID: NodeID
    public var location: SourceLocation?
    /// Absolute path of the folder that holds the graph file; files below it are readable.
    public var graphDirectory: String
    /// `input{"guest"}` finds its file, URL or device here.
    public var bindings: [String: String]
    /// Size of the canvas for nodes without one.
    public var width: Int
    public var height: Int
    /// Channels of the graph's sound: sources give no more, outputs write so many unless they say otherwise.
    public var channels: Int
    /// The rate, when the graph or the command line fixed one.
    public var rate: FrameRate?
    /// Virtual time: nothing is dropped, sources go as fast as they are read.
    public var isOffline: Bool
    /// What the nodes of an engine use together.
    public var shared: SharedWork
    /// Tells the engine, the script and the operator what happened.
    public var report: @Sendable (NodeEvent) -> Void

    public init(
        nodeID: NodeID, location: SourceLocation? = nil, graphDirectory: String = ".", bindings: [String: String] = [:],
        width: Int = 1280, height: Int = 720, channels: Int = 2, rate: FrameRate? = nil, isOffline: Bool = false,
        shared: SharedWork = SharedWork(),
        report: @escaping @Sendable (NodeEvent) -> Void = { _ in }
    ) {
        self.nodeID = nodeID
        self.location = location
        self.graphDirectory = graphDirectory
        self.bindings = bindings
        self.width = width
        self.height = height
        self.channels = channels
        self.rate = rate
        self.isOffline = isOffline
        self.shared = shared
        self.report = report
    }
}

/// What a node tells while it runs.
public enum NodeEvent: Sendable {
    /// A source stopped delivering (device gone, stream broken); it tries to come back by itself.
    case lost(PatchError)
    /// A lost source delivers again.
    case back
    /// A publisher's state: `connecting`, `live`, `stalled`, `retrying`, `failed`, `ended`.
    case state(String)
    /// Something is wrong; the node goes on as well as it can. Said once for each cause.
    case problem(PatchError)
    /// Worth knowing, such as an assumed colour matrix. Said once.
    case notice(String)
    /// A key was pressed in a window; SDL's key name in lower case, such as "b" or "space".
    case key(String)
    /// The window's close button.
    case closed
    /// The file is over.
    case ended
}

/// A kind of node and how to make one.
public struct NodeKind: Sendable {
    public enum Factory: Sendable {
        case source(@Sendable (NodeOptions, NodeEnvironment) throws -> any MediaSource)
        case sink(@Sendable (NodeOptions, NodeEnvironment) throws -> any MediaSink)
        case processor(@Sendable (NodeOptions, NodeEnvironment) throws -> any VideoProcessor)
        case native(@Sendable (NodeOptions, NodeEnvironment) throws -> any NativeNode)
        /// A filter for sound, with one input that sums what is wired to it.
        case sound(@Sendable (NodeOptions, NodeEnvironment) throws -> any SoundProcessor)
        /// The engine itself does the work.
        case builtIn
    }

    public var schema: NodeSchema
    public var factory: Factory

    public init(_ schema: NodeSchema, _ factory: Factory) {
        self.schema = schema
        self.factory = factory
    }

    /// Sound goes in and comes out; there is no picture.
    public var isSound: Bool { if case .sound = factory { true } else { false } }
}

/// Kinds that are found by name when they are asked for, such as installed plugins: `frei0r.cartoon`.
///
/// Thread-safety: a value; the closures may be called from any thread.
public struct NodeFamily: Sendable {
    /// The word before the dot, and in scripts: `frei0r{ "cartoon" }`.
    public var name: String
    /// Names that there are.
    public var members: @Sendable () -> [String]
    /// - Throws: `PatchError` that says why there is no such kind, or why it cannot be used.
    public var kind: @Sendable (String) throws -> NodeKind

    public init(
        _ name: String, members: @escaping @Sendable () -> [String],
        kind: @escaping @Sendable (String) throws -> NodeKind
    ) {
        self.name = name
        self.members = members
        self.kind = kind
    }
}

/// The kinds of node that patches may use, by name.
///
/// Thread-safety: all members may be called from any thread.
public final class NodeRegistry: Sendable {
    private let kinds = Mutex<[String: NodeKind]>([:])
    private let known = Mutex<(families: [NodeFamily], members: [String: NodeKind])>(([], [:]))
    private let operators = Mutex<[String: OperatorKind]>([:])

    public init(_ kinds: [NodeKind] = [], operators: [OperatorKind] = []) {
        register(kinds)
        register(operators: operators)
    }

    /// Adds native operators, which stages of filters call by name; one of the same name is replaced.
    public func register(operators added: [OperatorKind]) {
        operators.withLock { operators in for kind in added { operators[kind.name] = kind } }
    }

    /// The native operator of this name.
    /// - Throws: `PatchError.notFound` with the nearest name.
    public func nativeOperator(_ name: String) throws -> OperatorKind {
        let (found, names) = operators.withLock { ($0[name], Array($0.keys)) }
        if let found { return found }
        throw PatchError(
            .notFound, "there is no native operator '\(name)'",
            remedy: Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                ?? "there are: \(names.sorted().joined(separator: ", "))")
    }

    /// Adds kinds; a kind of the same name is replaced.
    public func register(_ added: [NodeKind]) {
        kinds.withLock { kinds in for kind in added { kinds[kind.schema.kind] = kind } }
    }

    /// Adds a family; one of the same name is replaced.
    public func register(_ family: NodeFamily) {
        known.withLock { known in
            known.families.removeAll { $0.name == family.name }
            known.families.append(family)
            known.members = known.members.filter { !$0.key.hasPrefix(family.name + ".") }
        }
    }

    public var families: [NodeFamily] { known.withLock { $0.families } }

    public subscript(kind: String) -> NodeKind? { kinds.withLock { $0[kind] } ?? known.withLock { $0.members[kind] } }

    /// A member of a family, found once and then remembered.
    /// - Throws: `PatchError` when there is no such family or member.
    public func member(_ name: String, of family: String) throws -> NodeKind {
        let kind = family + "." + name
        if let found = self[kind] { return found }
        guard let members = families.first(where: { $0.name == family }) else {
            throw PatchError(.graph, "there is no family '\(family)' of nodes")
        }
        let found = try members.kind(name)
        known.withLock { $0.members[kind] = found }
        return found
    }

    /// All schemas, by name.
    public var schemas: [NodeSchema] {
        kinds.withLock { $0.values.map(\.schema) }.sorted { $0.kind < $1.kind }
    }
}
