import PatchMedia

/// What an input shows while it delivers nothing.
///
/// Thread-safety: a value.
public struct InputPolicy: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The last picture stays.
        case hold
        /// The last picture stays for `freeze` seconds, then the slate takes its place.
        case freeze
        /// The layer vanishes: a mixer's slot is not drawn, a blend shows what is below.
        case drop
        /// Another node takes its place, with its sound.
        case branch
    }
    /// What takes the place of the input.
    public enum StandIn: Hashable, Sendable {
        case node(NodeID)
        /// Straight R'G'B'A.
        case color([Float])
    }

    public var kind: Kind
    /// Seconds without a picture after which the policy takes effect.
    public var freeze: Double
    /// For `freeze` and `branch`.
    public var standIn: StandIn

    public init(_ kind: Kind = .hold, freeze: Double = Self.defaultFreeze, standIn: StandIn = .color(Self.black)) {
        self.kind = kind
        self.freeze = freeze
        self.standIn = standIn
    }

    /// Reads the options that `schemas` describes.
    public init(_ options: NodeOptions) {
        let kind = options.string("policy").flatMap { Kind(rawValue: $0) } ?? .hold
        let named = options.values[kind == .branch ? "branch" : "slate"]
        var standIn = StandIn.color(Self.black)
        switch named {
        case .string(let node)?: standIn = .node(node)
        case .vector(let color)? where color.count == 4: standIn = .color(color.map { Float($0) })
        default: break
        }
        self.init(kind, freeze: options.number("freeze") ?? Self.defaultFreeze, standIn: standIn)
    }

    public static let defaultFreeze = 1.0
    public static let black: [Float] = [0, 0, 0, 1]

    /// The options of every source that may break off. They may change on air.
    public static let schemas = [
        OptionSchema(
            "policy", .choice(Kind.allCases.map(\.rawValue)), "What is shown while nothing comes.", default: "hold",
            live: true),
        OptionSchema(
            "freeze", .number(0.1...3600), "How long the last picture stays before the policy takes effect.", unit: "s",
            default: "1", live: true),
        OptionSchema(
            "slate", .nodeOrColor, "For policy = \"freeze\": a node, or a colour.", default: "black", live: true),
        OptionSchema("branch", .node, "For policy = \"branch\": the node that takes over.", live: true),
    ]
    /// The option of every source whose sound may be moved against its picture.
    public static let offsetSchema = OptionSchema(
        "offset", .number(-1000...1000), "How much later its sound is heard; negative: sooner.", unit: "ms",
        default: "0",
        live: true)
}
