import PatchMedia

/// Lets one sound on its way to one sink wait for the picture. A change of the wait fades within a tick.
///
/// Thread-safety: made on any thread, then used by the clock thread alone. `pass` allocates nothing.
final class SoundDelayLine {
    private let channels: Int
    private let capacity: Int
    private let samples: UnsafeMutablePointer<Float>
    /// Samples written so far.
    private var written: Int64 = 0
    private var former: Int?

    /// - Parameter longest: samples that a wait may have.
    init(channels: Int, longest: Int) {
        self.channels = channels
        capacity = longest + SoundRenderer.longestBlock
        samples = .allocate(capacity: capacity * channels)
        samples.initialize(repeating: 0, count: capacity * channels)
    }

    deinit { samples.deallocate() }

    func fits(_ format: AudioFormat, _ delay: Int) -> Bool {
        format.channels == channels && delay + SoundRenderer.longestBlock <= capacity
    }

    /// Goes on where another line is, which is too short.
    func inherit(from other: SoundDelayLine) {
        guard other.channels == channels else { return }
        let count = min(Int(min(other.written, Int64(other.capacity))), capacity)
        written = other.written
        former = other.former
        for channel in 0..<channels {
            for age in 1...max(1, count) where age <= count {
                let index = other.written - Int64(age)
                samples[channel * capacity + Int(index % Int64(capacity))] =
                    other.samples[channel * other.capacity + Int(index % Int64(other.capacity))]
            }
        }
    }

    /// Writes what came and gives what was there `delay` samples ago; silence when that was before the first.
    func pass(_ input: AudioBlock?, count: Int, delay: Int, into output: AudioBlock) {
        let from = former ?? delay
        former = delay
        for channel in 0..<channels {
            let row = samples + channel * capacity
            copy(count, at: written) { place, part, done in
                if let input {
                    (row + place).update(from: input.channel(channel) + done, count: part)
                } else {
                    (row + place).update(repeating: 0, count: part)
                }
            }
            let target = output.channel(channel)
            let first = written - Int64(delay)
            let missing = Int(max(0, min(Int64(count), -first)))
            target.update(repeating: 0, count: missing)
            copy(count - missing, at: max(0, first)) { place, part, done in
                (target + missing + done).update(from: row + place, count: part)
            }
            guard from != delay else { continue }
            for index in 0..<count {
                let place = written + Int64(index) - Int64(from)
                let old = place < 0 ? 0 : row[Int(place % Int64(capacity))]
                target[index] = old + (target[index] - old) * AudioBlock.rise(index, of: count)
            }
        }
        written += Int64(count)
    }

    /// Calls `body` with a place in the ring, how many samples follow there, and how many were before.
    private func copy(_ count: Int, at start: Int64, _ body: (Int, Int, Int) -> Void) {
        guard count > 0 else { return }
        let place = Int(start % Int64(capacity))
        let part = min(count, capacity - place)
        body(place, part, 0)
        if part < count { body(0, count - part, part) }
    }
}
