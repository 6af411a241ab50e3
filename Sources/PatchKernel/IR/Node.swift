/// What a value of a kernel is.
enum NodeKind: Hashable, Sendable {
    /// The bits of a Float (so that NaN and −0 stay themselves).
    case float(UInt32)
    case int(Int32)
    case bool(Bool)
    case uniform(Int)
    case current(Int)
    case tap(Int, dx: Int, dy: Int, edge: EdgeMode)
    /// Argument: uv.
    case sample(Int, filter: SampleFilter, edge: EdgeMode)
    case builtin(Builtin)
    case operation(Operation)
    case construct
    /// Component indices, at most four.
    case swizzle([UInt8])
    /// Arguments: condition, then, else.
    case select
    /// Between light and alpha forms, on vec4; the curve is the pass's.
    case convert(Conversion)
    /// The iteration number (index −1, int) or a carried value of a loop at the start of an iteration.
    case loopParameter(loop: Int, index: Int)
    /// Arguments: the initial values, the condition to go on, the next values. Its own value means nothing.
    case loop(Int, limit: Int)
    /// A carried value after the loop; argument: the loop.
    case loopResult(Int)
}

enum Conversion: String, Hashable, Sendable, CaseIterable {
    case linearize, encode, premultiply, unpremultiply
    /// R'G'B' to the components that the kernel works in; nothing in an RGB pass.
    case fromRGB
}

/// One value of a kernel: an operation on earlier values.
struct Node: Hashable, Sendable {
    var kind: NodeKind
    var arguments: [Int]
    var type: ValueType
}
