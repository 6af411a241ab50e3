extension KernelBuilder {
    /// Iterations that a loop may have at most.
    public static let loopLimit = 4096

    /// A loop that runs at most `limit` times: each pixel leaves it when its condition fails.
    ///
    /// At the start of each iteration `body` sees the iteration number (int, from 0) and the carried values. It gives
    /// the condition to go on (bool) and the carried values after the iteration; where the condition is false, the
    /// values stay as they were and the pixel is done: `while (condition) carried = next`.
    /// - Returns: the carried values after the loop.
    /// - Throws: `KernelError` of code `range` or `type`, and what `body` throws.
    public mutating func loop(
        limit: Int, initial: [Value],
        _ body: (inout KernelBuilder, _ index: Value, _ carried: [Value]) throws(KernelError) -> (
            condition: Value, next: [Value]
        )
    ) throws(KernelError) -> [Value] {
        guard (1...Self.loopLimit).contains(limit) else {
            throw KernelError(.range, "a loop of \(limit) iterations", remedy: "1 to \(Self.loopLimit) are possible")
        }
        guard !initial.isEmpty else {
            throw KernelError(.type, "a loop carries no value", remedy: "give it at least one to compute")
        }
        for value in initial { check(value) }
        let loop = loopCount
        loopCount += 1
        let index = intern(.loopParameter(loop: loop, index: -1), [], .int)
        let carried = initial.enumerated().map { i, value in
            intern(.loopParameter(loop: loop, index: i), [], value.type)
        }
        let (condition, next) = try body(&self, index, carried)
        check(condition)
        guard condition.type == .bool else {
            throw KernelError(
                .type, "a loop's condition is a \(condition.type.rawValue)",
                remedy: "make it a bool with lt, le, gt, ge, eq or ne")
        }
        guard next.map(\.type) == initial.map(\.type) else {
            throw KernelError(
                .type,
                "a loop's values change type from (\(initial.map(\.type.rawValue).joined(separator: ", "))) to "
                    + "(\(next.map(\.type.rawValue).joined(separator: ", ")))", remedy: "keep their types")
        }
        let arguments = initial.map(\.index) + [condition.index] + next.map(\.index)
        let node = intern(.loop(loop, limit: limit), arguments, .bool)
        return initial.enumerated().map { i, value in intern(.loopResult(i), [node.index], value.type) }
    }
}

/// Which values belong to which loop's body.
struct LoopStructure {
    /// The innermost loop that each value must be computed in; nil outside all loops.
    private(set) var owner: [Int?]
    /// The values of each loop's body, in order.
    private(set) var bodies: [Int: [Int]] = [:]
    /// False when a value mixes the parameters of loops that are not inside each other.
    private(set) var isWellFormed = true

    enum Role { case value, parameter(Int), loop(Int) }

    init(count: Int, role: (Int) -> Role, arguments: (Int) -> [Int]) {
        owner = Array(repeating: nil, count: count)
        // Loops whose parameters a value depends on.
        var loops = [Set<Int>](repeating: [], count: count)
        var outer: [Int: Set<Int>] = [:]
        var hasLoops = false
        for index in 0..<count {
            switch role(index) {
            case .parameter(let loop):
                loops[index] = [loop]
                hasLoops = true
                continue
            case .value, .loop: break
            }
            guard hasLoops else { continue }
            var union: Set<Int> = []
            for argument in arguments(index) { union.formUnion(loops[argument]) }
            if case .loop(let loop) = role(index) {
                union.remove(loop)
                outer[loop] = union
            }
            loops[index] = union
        }
        guard hasLoops else { return }
        for index in 0..<count where !loops[index].isEmpty {
            guard let innermost = loops[index].max(by: { (outer[$0]?.count ?? 0) < (outer[$1]?.count ?? 0) }) else {
                continue
            }
            let reachable = (outer[innermost] ?? []).union([innermost])
            if !loops[index].isSubset(of: reachable) { isWellFormed = false }
            owner[index] = innermost
            bodies[innermost, default: []].append(index)
        }
    }
}

extension Kernel {
    var loopStructure: LoopStructure {
        LoopStructure(
            count: nodes.count,
            role: { index in
                switch nodes[index].kind {
                case .loopParameter(let loop, _): .parameter(loop)
                case .loop(let loop, _): .loop(loop)
                default: .value
                }
            }, arguments: { nodes[$0].arguments })
    }
}
