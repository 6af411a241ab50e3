/// Selections of which a whole chunk of pixels often needs one side only: where that side is dear and nothing else needs it, the
/// machine code jumps over the other.
///
/// The condition may be the same for all pixels of a frame, such as a curve that a knob switches off. Or it differs from pixel
/// to pixel, such as a mask: then a very dear first side is jumped over in chunks where no pixel takes it.
///
/// Selections by one condition are one branch. What only one side of a branch needs is computed inside it, but for reads,
/// which the emitter shares through the whole chunk. (Of planes of floats at their own size, a chunk of one row shares no
/// read with another one, so that a very dear side has them inside.)
struct ChunkBranches {
    struct Branch {
        var condition: S
        /// The condition is the frame's. Otherwise only the first side is inside, and the pixels choose in it.
        var isUniform: Bool
        var selections: [Int]
        /// What is computed only where the condition holds, and only where it does not, in order; without what branches
        /// inside compute by themselves.
        var sides: [[Int]]
        /// What both need of pixels and rows, or share with the rest: computed before.
        var outside: [Int]
    }

    /// A side must have so many operations for a jump to be worth while.
    private static let worthwhile = 6
    /// The same for conditions of pixels, whose jumps are often guessed wrongly: that costs some twenty cycles.
    private static let dear = 100

    private(set) var branches: [Branch] = []
    /// The branch of a selection.
    private(set) var branch: [Int: Int] = [:]
    /// What is computed in a side of some branch.
    private(set) var isInside: Set<Int> = []

    private let program: ScalarProgram
    private var users: [[Int]]
    private let roots: Set<Int>
    private let floatInputs: Set<Int>

    /// - Parameters:
    ///   - live: what the roots depend on, in order.
    ///   - floatInputs: inputs of which no read shares anything with another one.
    init(_ program: ScalarProgram, live: [Int], roots: [S], floatInputs: Set<Int>) {
        self.program = program
        self.floatInputs = floatInputs
        self.roots = Set(roots.map(\.index))
        users = [[Int]](repeating: [], count: program.nodes.count)
        guard !program.hasLoops else { return }
        for index in live {
            for argument in program.nodes[index].arguments { users[argument.index].append(index) }
        }
        let candidates = selectionGroups(live)
        let frames = candidates.filter { program.rate($0.condition) == .frame }.map(\.selections)
        let taken = candidates.filter {
            program.rate($0.condition) == .frame
                || ($0.selections.last ?? 0) > Self.dear
                    && side(operand: 1, of: $0.selections, frames, movesReads: true).count >= Self.dear
        }
        for (condition, selections) in taken {
            let isUniform = program.rate(condition) == .frame
            let all = taken.map(\.selections)
            let first = side(operand: 1, of: selections, all, movesReads: !isUniform)
            let sides = [first, isUniform ? side(operand: 2, of: selections, all, movesReads: false) : []]
            let least = isUniform ? Self.worthwhile : Self.dear
            guard sides.contains(where: { $0.count >= least }) else { continue }
            for index in selections { branch[index] = branches.count }
            for side in sides { isInside.formUnion(side) }
            branches.append(
                Branch(
                    condition: condition, isUniform: isUniform, selections: selections, sides: sides,
                    outside: outside(selections, sides.map { Set($0) })))
        }
        let whole = branches
        for (number, side) in whole.indices.flatMap({ number in (0..<2).map { (number, $0) } }) {
            let inside = Set(whole[number].sides[side])
            let nested = whole.filter { inside.contains($0.selections[0]) }.flatMap { $0.sides.joined() }
            branches[number].sides[side].removeAll(where: Set(nested).contains)
        }
    }

    /// Selections by one condition that do not depend on each other.
    private func selectionGroups(_ live: [Int]) -> [(condition: S, selections: [Int])] {
        var candidates: [(condition: S, selections: [Int])] = []
        for index in live where program.nodes[index].operation == .select && program.rates[index] == .pixel {
            let condition = program.nodes[index].arguments[0]
            guard program.rate(condition) != .row, program.nodes[index].kind != .bool else { continue }
            // One that depends on an earlier one by the same condition stands for itself.
            if let last = candidates.lastIndex(where: { $0.condition == condition }),
                !depends(index, on: candidates[last].selections)
            {
                candidates[last].selections.append(index)
            } else {
                candidates.append((condition, [index]))
            }
        }
        return candidates
    }

    private func outside(_ selections: [Int], _ sides: [Set<Int>]) -> [Int] {
        var needed: Set<Int> = []
        for index in selections + sides.joined() {
            for argument in program.nodes[index].arguments
            where program.rate(argument) != .frame && !sides.contains(where: { $0.contains(argument.index) }) {
                needed.insert(argument.index)
            }
        }
        return needed.sorted()
    }

    private func depends(_ index: Int, on earlier: [Int]) -> Bool {
        guard let first = earlier.first else { return false }
        var seen: Set<Int> = [index]
        var open = [index]
        while let next = open.popLast() {
            for argument in program.nodes[next].arguments where argument.index >= first {
                if earlier.contains(argument.index) { return true }
                if seen.insert(argument.index).inserted { open.append(argument.index) }
            }
        }
        return false
    }

    /// What nothing but that operand of the selections needs. Of other selections by one condition all are inside or none.
    private func side(operand: Int, of selections: [Int], _ all: [[Int]], movesReads: Bool) -> [Int] {
        let group = Set(selections)
        var outside: Set<Int> = []
        while true {
            var inside: Set<Int> = []
            for index in (0..<(selections.last ?? 0)).reversed()
            where mayBeInside(index, movesReads: movesReads) && !outside.contains(index) {
                let isExclusive = users[index].allSatisfy { user in
                    guard group.contains(user) else { return inside.contains(user) }
                    let arguments = program.nodes[user].arguments
                    return arguments.indices.allSatisfy { arguments[$0].index != index || $0 == operand }
                }
                if isExclusive, !users[index].isEmpty, !roots.contains(index) { inside.insert(index) }
            }
            let torn = all.filter { other in
                other.contains { inside.contains($0) } && !other.allSatisfy { inside.contains($0) }
            }
            if torn.isEmpty { return inside.sorted() }
            outside.formUnion(torn.joined())
        }
    }

    private func mayBeInside(_ index: Int, movesReads: Bool) -> Bool {
        guard program.rates[index] == .pixel else { return false }
        switch program.nodes[index].operation {
        case .load(let load): return movesReads && !load.isHalf && floatInputs.contains(load.input)
        case .gather, .dither, .column: return false
        default: return true
        }
    }
}
