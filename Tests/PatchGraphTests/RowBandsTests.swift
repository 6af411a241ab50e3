import PatchGraph
import Testing

/// How a picture's rows are given out, counted: times would say what else the machine does.
@Suite struct RowBandsTests {
    @Test(arguments: [1, 2, 3, 4, 8, 64])
    func everyRowIsInOneBand(threads: Int) {
        for (rows, alignment) in [(1, 1), (2, 2), (7, 2), (31, 1), (720, 1), (1080, 2), (1081, 2), (2160, 4)] {
            let bands = RowBands(rows: rows, alignment: alignment, threads: threads)
            var next = 0
            for band in 0..<bands.count where !bands[band].isEmpty {
                #expect(bands[band].lowerBound == next, "\(rows) rows, \(alignment), band \(band)")
                #expect(next % alignment == 0)
                next = bands[band].upperBound
            }
            #expect(next == rows)
        }
    }

    /// Threads that take band after band, as quick as each other, one of which comes late by up to an eighth of its share: all work
    /// in at least 1.8 of two threads' time, and none waits for longer than it takes to compute a small band.
    @Test(arguments: [(2, 720), (2, 1080), (2, 2160), (4, 1080)])
    func threadsEndTogether(threads: Int, rows: Int) {
        for late in stride(from: 0, through: rows / threads / 8, by: 3) {
            let bands = RowBands(rows: rows, alignment: 2, threads: threads)
            // When each thread is free, in rows computed.
            var free = [Int](repeating: 0, count: threads)
            free[threads - 1] = late
            for band in 0..<bands.count {
                let first = free.indices.min { free[$0] < free[$1] }!
                free[first] += bands[band].count
            }
            let end = free.max()!
            #expect(end - free.min()! <= rows / (16 * threads) + 2, "late by \(late)")
            #expect(Double(rows) / Double(end - late / threads) > 0.9 * Double(threads), "late by \(late)")
        }
    }
}
