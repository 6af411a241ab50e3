import PatchMedia

/// Which reads of a pass overlap so much that several rows should be computed at once, sharing loads and conversions.
///
/// Rows share: from three reads above each other on, chunks of four rows halve the conversions (3×3 operators on halves took
/// 1.4 ms a frame, 0.9 so). Columns do not: cutting a row's shifted reads out of whole converted chunks was measured 1.4 to
/// 4 times slower than loading and converting each of them.
struct TapSharing {
    /// Reads of one column.
    private struct Column: Hashable {
        var input: Int
        var channel: Int
        var edge: EdgeMode
        var dx: Int
    }
    /// From so many reads above each other on. Reads with gaps share nothing within a chunk.
    private static let worthwhile = 3
    /// Three or more reads stand right above each other.
    private(set) var isTall = false

    init(_ program: ScalarProgram) {
        var columns: [Column: Set<Int>] = [:]
        for node in program.nodes {
            guard case .load(let load) = node.operation else { continue }
            let column = Column(input: load.input, channel: load.channel, edge: load.edge, dx: load.dx)
            columns[column, default: []].insert(load.dy)
        }
        isTall = columns.contains { column in
            column.value.count { column.value.contains($0 + 1) } + 1 >= Self.worthwhile
        }
    }

    /// How many reads of a pass in integers stand above each other at most.
    static func stackedReads(_ program: FixedProgram) -> Int {
        var columns: [Column: Set<Int>] = [:]
        for node in program.nodes {
            guard case .load(let load) = node.operation else { continue }
            let column = Column(input: load.input, channel: load.channel, edge: load.edge, dx: load.dx)
            columns[column, default: []].insert(load.dy)
        }
        return columns.values.map(\.count).max() ?? 0
    }
}
