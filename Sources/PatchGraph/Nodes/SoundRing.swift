import PatchMedia

/// Planar sound that waits for its tick: stretches of samples, each at its place on the media's time line.
///
/// Holes between stretches cost no memory; they read as silence. Grows on the producer's side, up to a limit, beyond which
/// the oldest samples go. Not thread-safe: it lives behind the queue's lock.
final class SoundRing {
    /// Samples a second of all sound in a graph.
    static let rate = 48_000
    /// Stamps that are off by less than this many samples (20 ms) follow on without a seam.
    private static let tolerance: Int64 = 960

    private struct Stretch {
        var start: Int64
        var count: Int
        var end: Int64 { start + Int64(count) }
    }

    private let channels: Int
    private let limit: Int
    private var capacity: Int
    private var samples: UnsafeMutablePointer<Float>
    private var head = 0
    private var count = 0
    private var stretches = Ring<Stretch>(capacity: 16)

    init(channels: Int, limit: Int) {
        self.channels = channels
        self.limit = limit
        capacity = min(limit, 2 * Self.rate)
        samples = .allocate(capacity: capacity * channels)
        samples.initialize(repeating: 0, count: capacity * channels)
    }

    deinit { samples.deallocate() }

    /// The first sample that is there; the place of the next one when all were read.
    var first: Int64? { stretches.first?.start ?? end }
    /// Where the sound that was pushed so far ends; nil before the first push.
    private(set) var end: Int64?
    var isEmpty: Bool { count == 0 }

    /// Where samples that are stamped with `start` begin: where the sound ends, when they follow on without a seam.
    func place(of start: Int64) -> Int64 { end.flatMap { abs(start - $0) <= Self.tolerance ? $0 : nil } ?? start }

    /// What is appended next begins here to the sample: what reaches beyond is cut off, and a hole before it stays one.
    func begin(at start: Int64) {
        guard end != nil else { return }
        while let last = stretches.last, last.end > start {
            if last.start >= start {
                count -= last.count
                _ = stretches.popLast()
            } else {
                count -= Int(last.end - start)
                stretches.replaceLast(Stretch(start: last.start, count: Int(start - last.start)))
            }
        }
        end = start
    }

    /// - Parameter start: where the samples belong; what lies before the present end is cut off.
    /// - Returns: by how many samples that was later than where they are, when they follow on without a seam.
    @discardableResult
    func append(at start: Int64, count added: Int, channel: (Int) -> UnsafePointer<Float>) -> Int64 {
        var start = start
        var skipped = 0
        var gap: Int64 = 0
        if let end {
            if abs(start - end) <= Self.tolerance {
                gap = start - end
                start = end
            } else if start < end {
                skipped = Int(min(Int64(added), end - start))
                start += Int64(skipped)
            }
        }
        var length = added - skipped
        guard length > 0 else { return gap }
        if count + length > capacity { grow(to: count + length) }
        if length > capacity {
            skipped += length - capacity
            start += Int64(length - capacity)
            length = capacity
        }
        if count + length > capacity { discard(count + length - capacity) }
        for index in 0..<channels {
            let source = channel(index) + skipped
            let row = samples + index * capacity
            let tail = (head + count) % capacity
            let part = min(length, capacity - tail)
            (row + tail).update(from: source, count: part)
            row.update(from: source + part, count: length - part)
        }
        count += length
        if var last = stretches.last, last.end == start {
            last.count += length
            stretches.replaceLast(last)
        } else {
            stretches.append(Stretch(start: start, count: length))
        }
        end = start + Int64(length)
        return gap
    }

    /// Forgets everything before `sample`.
    func drop(before sample: Int64) {
        while let stretch = stretches.first, stretch.start < sample {
            let gone = Int(min(Int64(stretch.count), sample - stretch.start))
            discard(gone)
        }
    }

    /// Fills `block.count` samples a channel from `sample` on, silence where there are none.
    /// - Parameter edges: the ends of stretches, where holes begin and end, are made soft with it; nil leaves all as it is.
    /// - Returns: whether any sample was there.
    func read(from sample: Int64, into block: AudioBlock, edges: SoundEdges? = nil) -> Bool {
        let wanted = block.count
        block.silence(count: wanted)
        edges?.begin(at: sample)
        var found = false
        var offset = head
        for index in 0..<stretches.count {
            let stretch = stretches[index]
            let from = max(stretch.start, sample)
            let to = min(stretch.end, sample + Int64(wanted))
            if from < to {
                copy(
                    (offset + Int(from - stretch.start)) % capacity, count: Int(to - from), into: block,
                    at: Int(from - sample))
                found = true
                edges?.join(block, from: Int(from - sample), to: Int(to - sample))
            }
            offset = (offset + stretch.count) % capacity
            if stretch.start >= sample + Int64(wanted) { break }
        }
        edges?.finish(block, next: sample + Int64(wanted))
        return found
    }

    private func copy(_ offset: Int, count copied: Int, into block: AudioBlock, at place: Int) {
        // The ring's end may lie in between.
        let part = min(copied, capacity - offset)
        for target in 0..<block.format.channels {
            let output = block.channel(target) + place
            // Stereo in a mono block is the mean of both; otherwise missing channels repeat the last one.
            guard block.format.channels == 1, channels > 1 else {
                let row = samples + min(target, channels - 1) * capacity
                output.update(from: row + offset, count: part)
                (output + part).update(from: row, count: copied - part)
                continue
            }
            let share = 1 / Float(channels)
            for source in 0..<channels {
                let row = samples + source * capacity
                for index in 0..<part { output[index] += row[offset + index] * share }
                for index in part..<copied { output[index] += row[index - part] * share }
            }
        }
    }

    /// Takes samples away at the front.
    private func discard(_ samples: Int) {
        var left = samples
        while left > 0, var stretch = stretches.first {
            let gone = min(left, stretch.count)
            stretch.start += Int64(gone)
            stretch.count -= gone
            if stretch.count == 0 { _ = stretches.popFirst() } else { stretches.replaceFirst(stretch) }
            left -= gone
            head = (head + gone) % capacity
            count -= gone
        }
    }

    private func grow(to needed: Int) {
        let larger = min(limit, max(needed, 2 * capacity))
        guard larger > capacity else { return }
        let memory = UnsafeMutablePointer<Float>.allocate(capacity: larger * channels)
        memory.initialize(repeating: 0, count: larger * channels)
        for index in 0..<channels {
            let row = samples + index * capacity
            let part = min(count, capacity - head)
            (memory + index * larger).update(from: row + head, count: part)
            (memory + index * larger + part).update(from: row, count: count - part)
        }
        samples.deallocate()
        (samples, capacity, head) = (memory, larger, 0)
    }
}
