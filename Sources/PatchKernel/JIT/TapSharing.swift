import PatchMedia

/// Which reads of a pass overlap so much that they should share loads and conversions.
struct TapSharing {
    /// Reads of one row of a channel, or of one column.
    fileprivate struct Line: Hashable {
        var input: Int
        var channel: Int
        var edge: EdgeMode
        var at: Int
    }
    /// From so many reads in line on.
    private static let worthwhile = 5
    private var wide: Set<Line> = []
    /// Five or more reads stand above each other.
    private(set) var isTall = false

    /// `reversed`: inputs whose rows are read from the other end, which share nothing.
    init(_ program: ScalarProgram, reversed: Set<Int>) {
        var rows: [Line: Set<Int>] = [:]
        var columns: [Line: Set<Int>] = [:]
        for node in program.nodes {
            guard case .load(let load) = node.operation, !reversed.contains(load.input) else { continue }
            rows[Line(load, at: load.dy), default: []].insert(load.dx)
            columns[Line(load, at: load.dx), default: []].insert(load.dy)
        }
        wide = Set(rows.filter { $0.value.count >= Self.worthwhile }.keys)
        isTall = columns.contains { $0.value.count >= Self.worthwhile }
    }

    /// How many reads stand above each other at most.
    static func stackedReads(_ program: FixedProgram) -> Int {
        var columns: [Line: Set<Int>] = [:]
        for node in program.nodes {
            guard case .load(let load) = node.operation else { continue }
            columns[Line(load, at: load.dx), default: []].insert(load.dy)
        }
        return columns.values.map(\.count).max() ?? 0
    }

    /// Whether a read has that many others in its row.
    func isWide(_ load: ScalarProgram.Load) -> Bool { !wide.isEmpty && wide.contains(Line(load, at: load.dy)) }
}

extension TapSharing.Line {
    fileprivate init(_ load: ScalarProgram.Load, at: Int) {
        self.init(input: load.input, channel: load.channel, edge: load.edge, at: at)
    }
}
