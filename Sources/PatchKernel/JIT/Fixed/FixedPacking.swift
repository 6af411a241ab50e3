import PatchMedia

/// Four codes of a packed pixel that are computed alike, as one value: its 16-bit words hold components 0 and 2 of a
/// pixel, or 1 and 3, which take one instruction each to cut from memory and to put back.
struct FixedPacking {
    enum Source {
        /// A pixel as it lies in memory, or with its first and third component exchanged.
        case pixel(ScalarProgram.Load, isExchanged: Bool)
        /// One component for all four.
        case broadcast(ScalarProgram.Load)
        /// Constants or values of the frame, one a component.
        case frame([Int])
        case operation(FixedProgram.Operation, [Int])
        /// A value with a lane a pixel, for all four.
        case planar(Int)
    }
    struct Node {
        var source: Source
        /// All four components are the same.
        var isUniform: Bool
    }

    private(set) var nodes: [Node] = []
    private var known: [[Int]: Int?] = [:]
    private let program: FixedProgram
    private let description: PassDescription

    init(_ program: FixedProgram, _ description: PassDescription) {
        self.program = program
        self.description = description
    }

    /// The codes of a packed output, and its alpha where that is computed otherwise; nil where they are not alike.
    mutating func root(_ codes: [Int]) -> (color: Int, alpha: Int?)? {
        guard codes.count == 4, [.rgba, .bgra].contains(description.output.format) else { return nil }
        if let root = pack(codes) { return (root, nil) }
        // The colour alone; what its fourth component comes to does not matter.
        guard let root = pack([codes[0], codes[1], codes[2], -1]),
            let alpha = pack(Array(repeating: codes[3], count: 4))
        else { return nil }
        return (root, alpha)
    }

    /// Four components as one, −1 for one that does not matter; nil where they are not computed alike.
    mutating func pack(_ tuple: [Int]) -> Int? {
        if let index = known[tuple] { return index }
        let index = make(tuple).map { node -> Int in
            nodes.append(node)
            return nodes.count - 1
        }
        known[tuple] = index
        return index
    }

    private mutating func make(_ tuple: [Int]) -> Node? {
        let members = tuple.filter { $0 >= 0 }
        let first = program.nodes[members[0]]
        let isUniform = tuple.allSatisfy { $0 == tuple[0] }
        if members.allSatisfy({ isFrame($0) }) {
            return Node(source: .frame(tuple.map { $0 < 0 ? members[0] : $0 }), isUniform: isUniform)
        }
        if case .load(let load) = first.operation {
            if isUniform {
                let format = description.inputs[load.input].format
                let isPlain = [.rgba, .bgra].contains(format) || load.channel == 0
                return isPlain ? Node(source: .broadcast(load), isUniform: true) : nil
            }
            return pixel(tuple).map { Node(source: $0, isUniform: false) }
        }
        if case .dot = first.operation {
            return isUniform ? Node(source: .planar(tuple[0]), isUniform: true) : nil
        }
        guard
            members.allSatisfy({
                program.nodes[$0].operation == first.operation
                    && program.nodes[$0].arguments.count == first.arguments.count
            })
        else { return nil }
        var arguments: [Int] = []
        for i in first.arguments.indices {
            let part = tuple.map { $0 < 0 ? -1 : program.nodes[$0].arguments[i] }
            guard let argument = pack(part) else { return nil }
            arguments.append(argument)
        }
        return Node(
            source: .operation(first.operation, arguments), isUniform: arguments.allSatisfy { nodes[$0].isUniform })
    }

    private func isFrame(_ index: Int) -> Bool {
        switch program.nodes[index].operation {
        case .constant, .frame, .frameFlag: true
        default: false
        }
    }

    private func pixel(_ tuple: [Int]) -> Source? {
        var channels: [Int] = []
        var common: ScalarProgram.Load?
        for member in tuple where member >= 0 {
            guard case .load(var load) = program.nodes[member].operation,
                [.rgba, .bgra].contains(description.inputs[load.input].format)
            else { return nil }
            channels.append(load.channel)
            load.channel = 0
            guard common == nil || common == load else { return nil }
            common = load
        }
        guard let common else { return nil }
        if channels == Array([0, 1, 2, 3].prefix(channels.count)) { return .pixel(common, isExchanged: false) }
        if channels == Array([2, 1, 0, 3].prefix(channels.count)) { return .pixel(common, isExchanged: true) }
        return nil
    }
}
