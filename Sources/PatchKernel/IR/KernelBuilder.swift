/// Builds a kernel value by value. Equal values are one value (hash-consing), so that shared subexpressions are found
/// by construction.
///
/// Thread-safety: a value; use it from one thread.
public struct KernelBuilder: Sendable {
    let name: String
    let inputs: [InputDeclaration]
    let uniforms: [UniformDeclaration]
    let light: Light
    let alpha: Alpha
    let space: KernelSpace
    private(set) var nodes: [Node] = []
    private var known: [Node: Int] = [:]
    var loopCount = 0

    /// Values that a kernel may have at most.
    public static let valueLimit = 100_000
    /// The furthest a `tap` may reach, in pixels.
    public static let tapLimit = 64

    /// - Parameters:
    ///   - light, alpha: the form of the result.
    public init(
        name: String, inputs: [InputDeclaration], uniforms: [UniformDeclaration] = [], light: Light = .encoded,
        alpha: Alpha = .straight, space: KernelSpace = .rgb
    ) {
        self.name = name
        self.inputs = inputs
        self.uniforms = uniforms
        self.light = light
        self.alpha = alpha
        self.space = space
    }

    /// Values so far; callers with a budget watch it.
    public var valueCount: Int { nodes.count }

    mutating func intern(_ kind: NodeKind, _ arguments: [Int] = [], _ type: ValueType) -> Value {
        let node = Node(kind: kind, arguments: arguments, type: type)
        if let index = known[node] { return Value(index: index, type: type) }
        let index = nodes.count
        nodes.append(node)
        known[node] = index
        return Value(index: index, type: type)
    }

    /// - Precondition: the value came from this builder.
    func check(_ value: Value) {
        precondition(
            value.index < nodes.count && nodes[value.index].type == value.type, "a Value belongs to one KernelBuilder")
    }

    public mutating func constant(_ value: Float) -> Value { intern(.float(value.bitPattern), [], .float) }
    public mutating func constant(_ value: Int32) -> Value { intern(.int(value), [], .int) }
    public mutating func constant(_ value: Bool) -> Value { intern(.bool(value), [], .bool) }

    /// - Precondition: `index` is that of a declared uniform.
    public mutating func uniform(_ index: Int) -> Value {
        precondition(uniforms.indices.contains(index), "no such uniform")
        return intern(.uniform(index), [], uniforms[index].type)
    }

    /// This pixel of an input: vec4.
    /// - Precondition: `input` is that of a declared input.
    public mutating func current(_ input: Int) -> Value {
        precondition(inputs.indices.contains(input), "no such input")
        return intern(.current(input), [], .vec4)
    }

    /// The pixel `dx` to the right and `dy` down from this one: vec4.
    /// - Throws: `KernelError` of code `name` (input) or `range` (offset beyond ±`tapLimit`).
    public mutating func tap(
        _ input: Int, dx: Int, dy: Int, edge: EdgeMode = .clamp
    ) throws(KernelError) -> Value {
        try checkInput(input)
        guard Swift.abs(dx) <= Self.tapLimit, Swift.abs(dy) <= Self.tapLimit else {
            throw KernelError(
                .range, "offset (\(dx), \(dy)) is more than \(Self.tapLimit) pixels away",
                remedy: "read far pixels with sample(uv), or use several passes")
        }
        if dx == 0 && dy == 0 { return intern(.current(input), [], .vec4) }
        return intern(.tap(input, dx: dx, dy: dy, edge: edge), [], .vec4)
    }

    /// An input at a computed position: vec4. `uv` runs from (0, 0) at the top-left corner to (1, 1).
    ///
    /// Interpolation is between the input's own stored values (its light, alpha and chroma planes); the result is
    /// then converted to what the input declares.
    /// - Throws: `KernelError` of code `name` (input) or `type` (uv).
    public mutating func sample(
        _ input: Int, at uv: Value, filter: SampleFilter = .bilinear, edge: EdgeMode = .clamp
    ) throws(KernelError) -> Value {
        try checkInput(input)
        check(uv)
        guard uv.type == .vec2 else {
            throw KernelError(
                .type, "sample takes a vec2 position, not \(uv.type.rawValue)", remedy: "write vec2(x, y), 0 to 1 each")
        }
        return intern(.sample(input, filter: filter, edge: edge), [uv.index], .vec4)
    }

    private func checkInput(_ input: Int) throws(KernelError) {
        guard inputs.indices.contains(input) else {
            throw KernelError(.name, "input \(input) of '\(name)' does not exist; it has \(inputs.count)")
        }
    }

    public mutating func builtin(_ builtin: Builtin) -> Value {
        if case .inputSize(let input) = builtin { precondition(inputs.indices.contains(input), "no such input") }
        return intern(.builtin(builtin), [], builtin.type)
    }

    /// `a` where the condition holds, else `b`. The condition is a bool, or a comparison of vectors as long as a and b.
    /// - Throws: `KernelError` of code `type`.
    public mutating func select(_ condition: Value, _ a: Value, _ b: Value) throws(KernelError) -> Value {
        check(condition)
        var a = a
        var b = b
        check(a)
        check(b)
        if a.type != b.type {
            if a.type == .int, b.type == .float { a = intern(.operation(.toFloat), [a.index], .float) }
            if b.type == .int, a.type == .float { b = intern(.operation(.toFloat), [b.index], .float) }
            if a.type == .float, b.type.isVector { a = try construct(b.type, [a]) }
            if b.type == .float, a.type.isVector { b = try construct(a.type, [b]) }
        }
        guard a.type == b.type, condition.type == .bool || (condition.type == a.type && a.type.isVector) else {
            throw KernelError(
                .type,
                "select(\(condition.type.rawValue), \(a.type.rawValue), \(b.type.rawValue)): "
                    + "it takes (bool, T, T) or (a comparison of vectors, T, T)",
                remedy: "make both choices one type, and the condition with lt, le, gt, ge, eq or ne")
        }
        if a == b { return a }
        return intern(.select, [condition.index, a.index, b.index], a.type)
    }

    mutating func convert(_ value: Value, _ conversion: Conversion) -> Value {
        intern(.convert(conversion), [value.index], .vec4)
    }

    /// An R'G'B' colour (vec4) as the kernel sees it: a kernel of another space than `rgb` must take its constant colours
    /// and colour parameters through this.
    /// - Throws: `KernelError` of code `type`.
    public mutating func color(_ value: Value) throws(KernelError) -> Value {
        check(value)
        guard value.type == .vec4 else {
            throw KernelError(.type, "a colour is a vec4, not \(value.type.rawValue)", remedy: "write vec4(r, g, b, a)")
        }
        return space == .rgb ? value : convert(value, .fromRGB)
    }

    /// The kernel whose pixel is `result`: a vec4; a vec3 gets alpha 1, a float becomes grey.
    /// - Throws: `KernelError` of code `type` or `budget`.
    public mutating func finish(_ result: Value) throws(KernelError) -> Kernel {
        check(result)
        guard nodes.count <= Self.valueLimit else {
            throw KernelError(
                .budget, "'\(name)' has \(nodes.count) values; \(Self.valueLimit) are the limit",
                remedy: "shorten the Lua loops that unroll, or split the filter into passes")
        }
        var result = result
        switch result.type {
        case .vec4: break
        case .vec3, .float:
            let one = constant(Float(1))
            let color = result.type == .float ? try construct(.vec3, [result]) : result
            result = try construct(.vec4, [color, one])
        default:
            throw KernelError(
                .type, "a kernel's result is a vec4, vec3 or float, not \(result.type.rawValue)",
                remedy: "return vec4(r, g, b, a)")
        }
        return Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: light, alpha: alpha, space: space, nodes: nodes,
            result: result.index
        ).withoutDeadValues()
    }
}
