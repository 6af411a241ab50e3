/// Which components of its inputs each component of a kernel's result depends on: what decides whether the planes of a
/// Y'CbCr picture may be computed apart from each other.
struct ComponentDependencies {
    /// Bit i: component i of some input; the sets of a node's components.
    private(set) var sets: [[UInt8]] = []
    private let kernel: Kernel

    static let everything: UInt8 = 0b1111

    /// - Parameter isOpaque: input i has no alpha in memory, so that its alpha depends on no picture.
    init(_ kernel: Kernel, isOpaque: (Int) -> Bool) {
        self.kernel = kernel
        sets = kernel.nodes.map { Array(repeating: 0, count: $0.type.componentCount) }
        let opaque = kernel.inputs.indices.map(isOpaque)
        // What a loop carries may depend on what later iterations add: until nothing new comes. Each round adds a bit or ends.
        var isComplete = false
        while !isComplete {
            isComplete = true
            for index in kernel.nodes.indices {
                let found = dependencies(of: index, opaque)
                if found != sets[index] {
                    sets[index] = found
                    if hasLoops { isComplete = false }
                }
            }
        }
    }

    private var hasLoops: Bool {
        kernel.nodes.contains { if case .loop = $0.kind { true } else { false } }
    }

    /// The sets of the result's components.
    var result: [UInt8] { sets[kernel.result] }

    private func dependencies(of index: Int, _ opaque: [Bool]) -> [UInt8] {
        let node = kernel.nodes[index]
        let count = node.type.componentCount
        func all(_ arguments: [Int]) -> UInt8 { arguments.reduce(0) { $0 | sets[$1].reduce(0, |) } }
        func pixel(_ input: Int, at position: UInt8) -> [UInt8] {
            (0..<4).map { $0 == 3 && opaque[input] ? position : position | 1 << UInt8($0) }
        }
        /// Component by component; what is shorter than the value (a scalar, a condition) counts for every component.
        func each(_ arguments: [Int]) -> [UInt8] {
            (0..<count).map { i in
                arguments.reduce(0) { set, argument in
                    let part = sets[argument]
                    return set | (part.count == count ? part[i] : part.reduce(0, |))
                }
            }
        }
        switch node.kind {
        case .float, .int, .bool, .uniform, .builtin: return Array(repeating: 0, count: count)
        case .current(let input), .tap(let input, _, _, _): return pixel(input, at: 0)
        case .sample(let input, _, _): return pixel(input, at: all(node.arguments))
        case .construct:
            let parts = node.arguments.flatMap { sets[$0] }
            return parts.count == count ? parts : Array(repeating: all(node.arguments), count: count)
        case .swizzle(let indices): return indices.map { sets[node.arguments[0]][Int($0)] }
        case .select: return each(node.arguments)
        case .convert(let conversion):
            let value = sets[node.arguments[0]]
            let colour = conversion == .fromRGB ? value[0] | value[1] | value[2] : 0
            return (0..<4).map { $0 == 3 ? value[3] : value[$0] | value[3] | colour }
        case .operation(let operation):
            let mixes = node.arguments.contains { kernel.nodes[$0].type.isMatrix } || !operation.isComponentwise
            return mixes ? Array(repeating: all(node.arguments), count: count) : each(node.arguments)
        case .loopParameter(let loop, let parameter):
            guard parameter >= 0, let owner = loopNode(loop) else { return Array(repeating: 0, count: count) }
            return carried(owner, parameter)
        case .loop: return Array(repeating: 0, count: count)
        case .loopResult(let parameter): return carried(kernel.nodes[node.arguments[0]], parameter)
        }
    }

    private func loopNode(_ loop: Int) -> Node? {
        kernel.nodes.first { if case .loop(loop, _) = $0.kind { true } else { false } }
    }

    /// A carried value: what it was, what it becomes, and what decides how often.
    private func carried(_ loop: Node, _ parameter: Int) -> [UInt8] {
        let count = (loop.arguments.count - 1) / 2
        let condition = sets[loop.arguments[count]].reduce(0, |)
        return zip(sets[loop.arguments[parameter]], sets[loop.arguments[count + 1 + parameter]])
            .map { $0 | $1 | condition }
    }
}

extension Operation {
    /// Component i of the result needs only component i of the operands (and scalars).
    var isComponentwise: Bool {
        switch self {
        case .length, .distance, .dot, .cross, .normalize, .reflect, .any, .all, .transpose, .hash: false
        default: true
        }
    }
}

extension Kernel {
    /// Why luma and chroma of a picture cannot be computed apart by this kernel, or nil when they can: no luma depends on
    /// chroma, no chroma on luma, neither on alpha, and nothing is read as transparent beyond an edge.
    /// - Parameter isOpaque: input i has no alpha in memory.
    func obstacleToPlanes(isOpaque: (Int) -> Bool) -> String? {
        for node in nodes {
            if case .tap(let input, _, _, .transparent) = node.kind {
                return "'\(name)' sees '\(inputs[input].name)' end at its edges"
            }
        }
        let sets = ComponentDependencies(self, isOpaque: isOpaque).result
        // Straight colour is multiplied by alpha on its way out.
        let shared = alpha == .straight ? sets[3] : 0
        if (sets[0] | shared) & ~0b0001 != 0 { return "'\(name)' makes luma of other components too" }
        if (sets[1] | sets[2] | shared) & ~0b0110 != 0 { return "'\(name)' makes chroma of other components too" }
        return nil
    }

    /// The same kernel, said to work in another space: for a kernel of space `any`.
    func inSpace(_ space: KernelSpace) -> Kernel {
        Kernel(
            name: name, inputs: inputs, uniforms: uniforms, light: light, alpha: alpha, space: space, nodes: nodes,
            result: result)
    }
}
