import Glibc
import PatchGraph
import PatchMedia

/// A picture of 16-bit samples, codes times 128 or half floats, with room for `pad` more pixels on both sides of each row, and for as many
/// again at the right that whole vectors read.
///
/// Thread-safety: the memory is written by bands of one step at a time, each its own rows.
final class SampleRows: @unchecked Sendable {
    // Unchecked: see above; the numbers are constants.
    let width: Int
    let height: Int
    let components: Int
    private let stride: Int
    private let base: UnsafeMutableRawPointer
    static let pad = 12

    init(width: Int, height: Int, components: Int) {
        (self.width, self.height, self.components) = (width, height, components)
        stride = Self.bytesOfRow(width, components)
        base = .allocate(byteCount: stride * height, alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: stride * height)
    }

    deinit { base.deallocate() }

    static func bytesOfRow(_ width: Int, _ components: Int) -> Int {
        ((width + 3 * pad) * components * 2 + 63) / 64 * 64
    }

    /// The first pixel of a row.
    func row(_ y: Int) -> UnsafeMutableRawPointer { base + y * stride + Self.pad * components * 2 }

    /// The same of the row nearest to `y`.
    func clampedRow(_ y: Int) -> UnsafeRawPointer { UnsafeRawPointer(row(max(0, min(height - 1, y)))) }

    /// The rows around row `y`, the uppermost first.
    func gather(_ y: Int, radius: Int, into rows: UnsafeMutablePointer<UnsafeRawPointer>) {
        for away in -radius...radius { rows[away + radius] = clampedRow(y + away) }
    }

    /// Goes on with the first and last of a row's pixels in the room beside it.
    static func extend(_ row: UnsafeMutableRawPointer, width: Int, components: Int) {
        let pixel = components * 2
        let end = row + width * pixel
        for away in 1...pad {
            (row - away * pixel).copyMemory(from: row, byteCount: pixel)
            (end + (away - 1) * pixel).copyMemory(from: end - pixel, byteCount: pixel)
        }
    }
}

/// Memory of each band: pointers to rows, then one row of samples with its room.
///
/// Thread-safety: each band has its own.
final class BandScratch: @unchecked Sendable {
    // Unchecked: see above.
    static let bands = 64
    private static let head = 192
    private let stride: Int
    private let base: UnsafeMutableRawPointer

    /// - Parameter bytes: of a row with its room.
    init(bytes: Int) {
        stride = Self.head + (bytes + 63) / 64 * 64
        base = .allocate(byteCount: stride * Self.bands, alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: stride * Self.bands)
    }

    deinit { base.deallocate() }

    func rows(_ band: Int) -> UnsafeMutablePointer<UnsafeRawPointer> {
        (base + band * stride).assumingMemoryBound(to: UnsafeRawPointer.self)
    }
    func row(_ band: Int, components: Int) -> UnsafeMutableRawPointer {
        base + band * stride + Self.head + SampleRows.pad * components * 2
    }
}

/// Work on rows of a picture, of which each is made alone.
protocol RowsWork {
    func run(rows: Range<Int>, band: Int)
}

/// Rows in bands.
struct RowBands<Step: RowsWork>: BandWork {
    let step: Step
    let rows: Int
    let bands: Int

    func run(band: Int) { step.run(rows: rows * band / bands..<rows * (band + 1) / bands, band: band) }
}
