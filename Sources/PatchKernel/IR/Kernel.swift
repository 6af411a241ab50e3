/// A pixel function as data: typed values in order, each computed from earlier ones.
///
/// Thread-safety: an immutable value.
public struct Kernel: Hashable, Sendable {
    public let name: String
    public let inputs: [InputDeclaration]
    public let uniforms: [UniformDeclaration]
    /// The form of the result.
    public let light: Light
    public let alpha: Alpha
    public let space: KernelSpace
    let nodes: [Node]
    /// The vec4 that is the pixel.
    let result: Int

    init(
        name: String, inputs: [InputDeclaration], uniforms: [UniformDeclaration], light: Light, alpha: Alpha,
        space: KernelSpace, nodes: [Node], result: Int
    ) {
        self.name = name
        self.inputs = inputs
        self.uniforms = uniforms
        self.light = light
        self.alpha = alpha
        self.space = space
        self.nodes = nodes
        self.result = result
    }

    /// Values that the pixel depends on: a measure of the kernel's size.
    public var valueCount: Int { nodes.count }

    /// Floats that the uniforms take together.
    public var uniformFloatCount: Int { uniforms.reduce(0) { $0 + $1.type.componentCount } }

    /// Where a uniform's floats begin.
    /// - Precondition: `index` is that of a declared uniform.
    public func uniformOffset(_ index: Int) -> Int {
        precondition(uniforms.indices.contains(index), "no such uniform")
        return uniforms[..<index].reduce(0) { $0 + $1.type.componentCount }
    }

    /// What the kernel reads of an input.
    /// - Precondition: `input` is that of a declared input.
    public func footprint(ofInput input: Int) -> Footprint {
        precondition(inputs.indices.contains(input), "no such input")
        var result = Footprint.unused
        var (left, right, up, down) = (0, 0, 0, 0)
        for node in nodes {
            switch node.kind {
            case .current(input):
                if result == .unused { result = .point }
            case .tap(input, let dx, let dy, _):
                left = max(left, -dx)
                right = max(right, dx)
                up = max(up, -dy)
                down = max(down, dy)
                result = .stencil(left: left, right: right, up: up, down: down)
            case .sample(input, _, _): return .gather
            default: break
            }
        }
        return result
    }

    /// Rows above and below a pixel that the kernel reads of an input; nil where that is not known before it runs, or where
    /// rows beyond an edge come from the other end of the picture.
    public func rowReach(ofInput input: Int) -> (up: Int, down: Int)? {
        let wraps = nodes.contains { if case .tap(input, _, let dy, .wrap) = $0.kind { dy != 0 } else { false } }
        switch footprint(ofInput: input) {
        case .unused, .point: return (0, 0)
        case .stencil(_, _, let up, let down): return wraps ? nil : (up, down)
        case .gather: return nil
        }
    }

    /// Whether the result changes with the time or the frame number though all inputs stay the same.
    public var dependsOnTime: Bool {
        nodes.contains { node in
            switch node.kind {
            case .builtin(.time), .builtin(.frame), .builtin(.hash): true
            default: false
            }
        }
    }

    /// The same kernel under another name.
    public func named(_ name: String) -> Kernel {
        Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: light, alpha: alpha, space: space, nodes: nodes,
            result: result)
    }

    /// Drops what the result does not depend on.
    func withoutDeadValues() -> Kernel {
        var isLive = [Bool](repeating: false, count: nodes.count)
        isLive[result] = true
        for index in nodes.indices.reversed() where isLive[index] {
            for argument in nodes[index].arguments { isLive[argument] = true }
        }
        guard isLive.contains(false) else { return self }
        var renumbered = [Int](repeating: -1, count: nodes.count)
        var live: [Node] = []
        for (index, node) in nodes.enumerated() where isLive[index] {
            renumbered[index] = live.count
            var node = node
            for i in node.arguments.indices { node.arguments[i] = renumbered[node.arguments[i]] }
            live.append(node)
        }
        return Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: light, alpha: alpha, space: space, nodes: live,
            result: renumbered[result])
    }

    /// A builder with the same declarations, but for those given.
    func builder(
        inputs: [InputDeclaration]? = nil, uniforms: [UniformDeclaration]? = nil, space: KernelSpace? = nil
    ) -> KernelBuilder {
        KernelBuilder(
            name: name, inputs: inputs ?? self.inputs, uniforms: uniforms ?? self.uniforms, light: light, alpha: alpha,
            space: space ?? self.space)
    }
}

extension Kernel {
    /// The kernel that shows one of this kernel's values (a number below `valueCount`) as its pixel, with what a float
    /// or vector lacks filled in; nil for other types and inside loops. For finding the value that is wrong.
    package func showing(value: Int) -> Kernel? {
        guard loopStructure.owner[value] == nil else { return nil }
        var builder = builder()
        let map = builder.append(self) { _, _ in nil }
        var shown = Value(index: map[value], type: nodes[value].type)
        if shown.type == .bool || shown.type == .int {
            if case .loop = nodes[value].kind { return nil }
            shown = builder.make(.toFloat, [shown], .float)
        }
        if shown.type == .vec2 {
            let zero = builder.constant(Float(0))
            guard let wide = try? builder.construct(.vec3, [shown, zero]) else { return nil }
            shown = wide
        }
        return try? builder.finish(shown)
    }
}
