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

extension AudioBlock {
    /// Fills this block from one with another channel count: mono goes to every channel, several to mono as their mean,
    /// otherwise channel by channel with silence beyond.
    func mix(from source: AudioBlock) {
        count = min(capacity, source.count)
        pts = source.pts
        for channel in 0..<format.channels {
            let target = self.channel(channel)
            if source.format.channels == 1 {
                target.update(from: source.channel(0), count: count)
            } else if format.channels == 1 {
                target.update(repeating: 0, count: count)
                let share = 1 / Float(source.format.channels)
                for other in 0..<source.format.channels {
                    let samples = source.channel(other)
                    for index in 0..<count { target[index] += samples[index] * share }
                }
            } else if channel < source.format.channels {
                target.update(from: source.channel(channel), count: count)
            } else {
                target.update(repeating: 0, count: count)
            }
        }
    }
}
