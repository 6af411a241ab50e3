import Synchronization

/// Memory in which render threads resize rows: as many pieces as there may be threads.
///
/// Thread-safety: all members may be called from any thread; a slot belongs to who took it until it is given back.
final class MixerScratch: @unchecked Sendable {
    // Unchecked: the memory is handed out by an atomic mask, each piece to one thread at a time.

    /// Room for pointers to rows, their weights, one row of 16-bit samples, what a row of the canvas held, and twice some
    /// rows at the canvas's size.
    struct Slot {
        let rows: UnsafeMutablePointer<UnsafeRawPointer>
        let weights: UnsafeMutablePointer<UInt16>
        let samples: UnsafeMutableRawPointer
        let below: UnsafeMutableRawPointer
        let strip: UnsafeMutableRawPointer
        let layer: UnsafeMutableRawPointer
        fileprivate let index: Int
    }

    private let free = Atomic<UInt64>(.max)
    private let base: UnsafeMutableRawPointer
    private let stride: Int
    private let offsets: (weights: Int, samples: Int, below: Int, strip: Int, layer: Int)

    /// - Parameters:
    ///   - rows: the most that a sum has.
    ///   - samples: bytes of a row of samples.
    ///   - width: of the canvas, in pixels.
    ///   - strip: bytes of the rows at the canvas's size.
    init(rows: Int, samples: Int, width: Int, strip: Int) {
        func rounded(_ bytes: Int) -> Int { (bytes + 127) / 64 * 64 }
        let weights = rounded(rows * 8)
        let first = weights + rounded(rows * 2)
        let below = first + rounded(samples)
        let start = below + rounded(2 * width + 128)
        offsets = (weights, first, below, start, start + rounded(strip))
        stride = offsets.layer + rounded(strip)
        // The system gives memory only to what is used.
        base = .allocate(byteCount: 64 * stride, alignment: 64)
    }

    deinit { base.deallocate() }

    /// Waits for a piece in the unheard-of case that more than 64 threads want one.
    func take() -> Slot {
        while true {
            let mask = free.load(ordering: .acquiring)
            guard mask != 0 else { continue }
            let index = mask.trailingZeroBitCount
            if free.compareExchange(expected: mask, desired: mask & ~(1 << UInt64(index)), ordering: .acquiring)
                .exchanged
            {
                let start = base + index * stride
                return Slot(
                    rows: start.assumingMemoryBound(to: UnsafeRawPointer.self),
                    weights: (start + offsets.weights).assumingMemoryBound(to: UInt16.self),
                    samples: start + offsets.samples, below: start + offsets.below, strip: start + offsets.strip,
                    layer: start + offsets.layer, index: index)
            }
        }
    }

    func give(_ slot: Slot) { free.bitwiseOr(1 << UInt64(slot.index), ordering: .releasing) }
}
