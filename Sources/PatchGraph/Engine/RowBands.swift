/// How the rows of a picture are given out to the render threads: large bands first, small ones last, so that the threads come to
/// the end together, and few in all, because each costs a microsecond or two to begin.
///
/// Half of the rows are given out in two bands a thread, a quarter in two of half that height, the rest in four of a quarter.
/// Thread-safety: a value.
package struct RowBands {
    private let rows: Int
    private let threads: Int
    /// Rows of the smallest bands, a multiple of the alignment.
    private let unit: Int

    private static let unitsOfThread = 16

    /// - Parameter alignment: every band begins on a multiple of this row.
    package init(rows: Int, alignment: Int, threads: Int) {
        self.rows = rows
        self.threads = max(1, threads)
        let least = (rows + Self.unitsOfThread * self.threads - 1) / (Self.unitsOfThread * self.threads)
        unit = max(1, (least + alignment - 1) / alignment) * alignment
    }

    package var count: Int { 8 * threads }

    /// The rows of a band; empty for the last ones of a low picture.
    package subscript(band: Int) -> Range<Int> {
        let (first, units) =
            switch band / (2 * threads) {
            case 0: (4 * band, 4)
            case 1: (2 * band + 4 * threads, 2)
            default: (band + 8 * threads, 1)
            }
        return min(rows, first * unit)..<min(rows, (first + units) * unit)
    }
}
