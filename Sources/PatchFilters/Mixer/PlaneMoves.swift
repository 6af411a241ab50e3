import PatchGraph
import PatchMedia

/// Rows of bytes from one plane to another, a band at a time.
struct CopyRows: BandWork {
    let from: Plane
    let to: Plane
    let bytes: Int
    let rows: Int
    let bands: Int

    func run(band: Int) {
        for y in rows * band / bands..<rows * (band + 1) / bands {
            to.row(y).copyMemory(from: from.row(y), byteCount: bytes)
        }
    }
}

/// One value all over a rectangle of a plane: `count` samples a row of `size` bytes each.
struct FillRows: BandWork {
    let plane: Plane
    let value: UInt32
    let size: Int
    let count: Int
    let rows: Int
    let bands: Int

    func run(band: Int) {
        for y in rows * band / bands..<rows * (band + 1) / bands {
            let row = plane.row(y)
            switch size {
            case 4: row.initializeMemory(as: UInt32.self, repeating: value, count: count)
            case 2: row.initializeMemory(as: UInt16.self, repeating: UInt16(truncatingIfNeeded: value), count: count)
            default: row.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: value), count: count)
            }
        }
    }
}

/// A plane of 8-bit samples halved both ways: each output sample is the rounded mean of 2×2 samples, (a + b + c + d + 2) / 4.
/// Beyond an odd edge the last column or row counts again.
struct HalvePlane: BandWork {
    let from: Plane
    /// Samples of the source, and components interleaved in each: 1, 2 or 4.
    let width: Int
    let height: Int
    let components: Int
    let to: Plane
    let bands: Int

    var outputRows: Int { (height + 1) / 2 }

    func run(band: Int) {
        for y in outputRows * band / bands..<outputRows * (band + 1) / bands {
            let upper = UnsafeRawPointer(from.row(2 * y)).assumingMemoryBound(to: UInt8.self)
            let lower = UnsafeRawPointer(from.row(min(2 * y + 1, height - 1))).assumingMemoryBound(to: UInt8.self)
            let out = to.row(y).assumingMemoryBound(to: UInt8.self)
            switch components {
            case 4: halveRGBA(upper, lower, out)
            case 2: halvePairs(upper, lower, out)
            default: halveSingles(upper, lower, out)
            }
        }
    }

    // Whole words hold several samples in lanes of 16 bits, which a sum of four bytes fits into: fast on any processor.
    private static let low: UInt64 = 0x00FF_00FF_00FF_00FF
    private static let two: UInt64 = 0x0002_0002_0002_0002

    private func halveSingles(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>
    ) {
        let whole = width / 2
        var x = 0
        let (a, b) = (UnsafeRawPointer(upper), UnsafeRawPointer(lower))
        while x + 8 <= whole {
            var packed: UInt64 = 0
            for half in 0..<2 {
                let offset = 2 * x + 8 * half
                let (p, q) = (
                    a.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                    b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                )
                let sum = (p & Self.low) &+ (p >> 8 & Self.low) &+ (q & Self.low) &+ (q >> 8 & Self.low) &+ Self.two
                // Four means in the low bytes of four lanes, moved together.
                var mean = sum >> 2 & Self.low
                mean = (mean | mean >> 8) & 0x0000_FFFF_0000_FFFF
                mean = (mean | mean >> 16) & 0x0000_0000_FFFF_FFFF
                packed |= mean << UInt64(32 * half)
            }
            UnsafeMutableRawPointer(out).storeBytes(of: packed, toByteOffset: x, as: UInt64.self)
            x += 8
        }
        while x < whole {
            out[x] = Self.mean(upper[2 * x], upper[2 * x + 1], lower[2 * x], lower[2 * x + 1])
            x += 1
        }
        if width % 2 == 1 { out[x] = Self.mean(upper[2 * x], upper[2 * x], lower[2 * x], lower[2 * x]) }
    }

    private func halvePairs(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>
    ) {
        for x in 0..<(width + 1) / 2 {
            let next = min(2 * x + 1, width - 1)
            for c in 0..<2 {
                out[2 * x + c] = Self.mean(
                    upper[4 * x + c], upper[2 * next + c], lower[4 * x + c], lower[2 * next + c])
            }
        }
    }

    private func halveRGBA(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ out: UnsafeMutablePointer<UInt8>
    ) {
        let (a, b) = (UnsafeRawPointer(upper), UnsafeRawPointer(lower))
        let to = UnsafeMutableRawPointer(out)
        for x in 0..<width / 2 {
            let (p, q) = (
                a.loadUnaligned(fromByteOffset: 8 * x, as: UInt64.self),
                b.loadUnaligned(fromByteOffset: 8 * x, as: UInt64.self)
            )
            // Red and blue of both pixels in one word, green and alpha in the other; then the two pixels together.
            let even = (p & Self.low) &+ (q & Self.low)
            let odd = (p >> 8 & Self.low) &+ (q >> 8 & Self.low)
            let rb = UInt32(truncatingIfNeeded: even) &+ UInt32(truncatingIfNeeded: even >> 32) &+ 0x0002_0002
            let ga = UInt32(truncatingIfNeeded: odd) &+ UInt32(truncatingIfNeeded: odd >> 32) &+ 0x0002_0002
            let pixel = (rb >> 2 & 0x00FF_00FF) | (ga >> 2 & 0x00FF_00FF) << 8
            to.storeBytes(of: pixel, toByteOffset: 4 * x, as: UInt32.self)
        }
        if width % 2 == 1 {
            let x = width / 2
            for c in 0..<4 {
                out[4 * x + c] = Self.mean(upper[8 * x + c], upper[8 * x + c], lower[8 * x + c], lower[8 * x + c])
            }
        }
    }

    private static func mean(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (Int(a) + Int(b) + Int(c) + Int(d) + 2) >> 2)
    }
}
