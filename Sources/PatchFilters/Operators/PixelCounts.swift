import PatchGraph
import PatchKernel
import PatchMedia

/// How often each of 256 values occurs in red, green, blue and luma of a packed picture.
///
/// Thread-safety: `count` from one thread at a time; the bands write to memory of their own.
final class PixelCounts: @unchecked Sendable {
    // Unchecked: during `count` each band writes its own part of `parts`; `totals` is written and read by the caller alone.
    private static let bands = 16
    /// Neighbouring pixels count in two tables, so that equal ones do not wait for each other.
    private static let tables = 2
    static let channels = 4

    private let parts: UnsafeMutableBufferPointer<UInt32>
    /// Red, green, blue, luma: 256 counts each.
    let totals: UnsafeMutableBufferPointer<UInt32>

    init() {
        parts = .allocate(capacity: Self.bands * Self.tables * Self.channels * 256)
        parts.initialize(repeating: 0)
        totals = .allocate(capacity: Self.channels * 256)
        totals.initialize(repeating: 0)
    }

    deinit {
        parts.deallocate()
        totals.deallocate()
    }

    /// Counts a picture of `rgba`, or `bgra` when `isBGRA`.
    func count(_ image: ImageReference, isBGRA: Bool, _ workers: RenderWorkers) {
        parts.update(repeating: 0)
        workers.run(
            Job(image: image, isBGRA: isBGRA, parts: parts), bands: Self.bands,
            isSmall: image.width * image.height < 16_384)
        let size = Self.channels * 256
        for index in 0..<size {
            var sum: UInt32 = 0
            for part in 0..<Self.bands * Self.tables { sum &+= parts[part * size + index] }
            totals[index] = sum
        }
    }

    private struct Job: BandWork {
        let image: ImageReference
        let isBGRA: Bool
        let parts: UnsafeMutableBufferPointer<UInt32>

        func run(band: Int) {
            let size = PixelCounts.channels * 256
            guard let base = parts.baseAddress else { return }
            let rows = image.height * band / PixelCounts.bands..<image.height * (band + 1) / PixelCounts.bands
            let own = base + band * PixelCounts.tables * size
            for y in rows {
                let row = image.planes.0.row(y)
                for x in 0..<image.width {
                    let pixel = row.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self)
                    let (first, green, third) = (Int(pixel & 255), Int(pixel >> 8 & 255), Int(pixel >> 16 & 255))
                    let (red, blue) = isBGRA ? (third, first) : (first, third)
                    let table = own + (x & 1) * size
                    table[red] &+= 1
                    table[256 + green] &+= 1
                    table[512 + blue] &+= 1
                    table[768 + PixelCounts.luma(red, green, blue)] &+= 1
                }
            }
        }
    }

    /// .2125 .7154 .0721, rounded.
    @inline(__always)
    static func luma(_ red: Int, _ green: Int, _ blue: Int) -> Int {
        (13_926 * red + 46_885 * green + 4_725 * blue + 32_768) >> 16
    }
}
