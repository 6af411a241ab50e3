import Glibc
import PatchMedia

/// Makes holes and jumps in a live source's sound soft: where sound breaks off, the last sample falls to silence over 5 ms;
/// where it begins again, or goes on from another place, the curve is led from where it was.
///
/// Not thread-safe: it lives behind the queue's lock. Allocates nothing.
final class SoundEdges {
    /// Samples of a soft edge: 5 ms.
    private static let length = 240
    private var last = SIMD8<Float>()
    /// Where the sample after the last block lies; nil before the first.
    private var next: Int64?
    /// Samples of the present block that are done.
    private var done = 0
    /// What comes at `done` does not follow what was before.
    private var isBroken = false

    func begin(at sample: Int64) {
        isBroken = next.map { $0 != sample } ?? false
        done = 0
    }

    /// Samples `from..<to` of the block are there.
    func join(_ block: AudioBlock, from: Int, to: Int) {
        if from > done {
            fall(block, from)
            isBroken = true
        }
        let ramp = min(Self.length, to - from)
        for channel in 0..<min(8, block.format.channels) {
            let row = block.channel(channel)
            if isBroken, next != nil {
                let gap = last[channel] - row[from]
                for index in 0..<ramp { row[from + index] += gap * (1 - AudioBlock.rise(index, of: ramp)) }
            }
            last[channel] = row[to - 1]
        }
        isBroken = false
        if next == nil { next = 0 }
        done = to
    }

    func finish(_ block: AudioBlock, next: Int64) {
        if done < block.count { fall(block, block.count) }
        if self.next != nil { self.next = next }
    }

    /// The block was made otherwise, and ends here.
    func moved(to next: Int64, _ block: AudioBlock) {
        guard block.count > 0 else { return }
        for channel in 0..<min(8, block.format.channels) { last[channel] = block.channel(channel)[block.count - 1] }
        self.next = next
    }

    /// Silence from `done` to `end`, softly.
    private func fall(_ block: AudioBlock, _ end: Int) {
        let ramp = min(Self.length, end - done)
        for channel in 0..<min(8, block.format.channels) {
            let (row, value) = (block.channel(channel), last[channel])
            if value != 0 {
                for index in 0..<ramp { row[done + index] = value * (1 - AudioBlock.rise(index, of: ramp)) }
            }
            last[channel] = 0
        }
        done = end
    }
}
