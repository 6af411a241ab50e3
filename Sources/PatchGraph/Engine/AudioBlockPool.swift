import PatchMedia
import Synchronization

/// Sound blocks of one format that are used again and again.
///
/// Thread-safety: `take` may be called from any thread.
final class AudioBlockPool: Sendable {
    let format: AudioFormat
    private let capacity: Int
    private let blocks: Mutex<[AudioBlock]>

    init(format: AudioFormat, capacity: Int) {
        self.format = format
        self.capacity = capacity
        var initial: [AudioBlock] = []
        initial.reserveCapacity(256)
        blocks = Mutex(initial)
    }

    /// A block that nobody else holds. Queues are bounded, so the pool stops growing by itself.
    func take() -> AudioBlock {
        blocks.withLock { blocks in
            for index in blocks.indices where isKnownUniquelyReferenced(&blocks[index]) {
                atomicMemoryFence(ordering: .acquiring)
                return blocks[index]
            }
            let block = AudioBlock(format: format, capacity: capacity)
            blocks.append(block)
            return block
        }
    }
}

extension FrameRate {
    /// Samples of sound that belong to tick `index`: the counts differ by one where the rates do not divide, and add up
    /// exactly.
    func samples(atTick index: Int64, sampleRate: Int) -> Int {
        Int(
            time(ofFrame: index + 1).floored(to: Int64(sampleRate))
                - time(ofFrame: index).floored(to: Int64(sampleRate)))
    }
}
