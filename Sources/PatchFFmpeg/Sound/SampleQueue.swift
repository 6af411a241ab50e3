/// Planar samples in the order they came, between a chain that gives them in stretches of its own and blocks of a tick.
///
/// Not thread-safe: one thread at a time.
struct SampleQueue: ~Copyable {
    let channels: Int
    let capacity: Int
    private let samples: UnsafeMutablePointer<Float>
    private var head = 0
    /// Samples a channel that wait.
    private(set) var count = 0

    init(channels: Int, capacity: Int) {
        self.channels = channels
        self.capacity = capacity
        samples = .allocate(capacity: max(1, channels * capacity))
        samples.initialize(repeating: 0, count: channels * capacity)
    }

    deinit { samples.deallocate() }

    var room: Int { capacity - count }

    /// - Precondition: `added` is at most `room`.
    mutating func append(count added: Int, channel: (Int) -> UnsafePointer<Float>) {
        precondition(added <= room)
        let tail = (head + count) % capacity
        let part = min(added, capacity - tail)
        for index in 0..<channels {
            let (row, source) = (samples + index * capacity, channel(index))
            (row + tail).update(from: source, count: part)
            row.update(from: source + part, count: added - part)
        }
        count += added
    }

    /// - Precondition: `added` is at most `room`.
    mutating func appendSilence(_ added: Int) {
        precondition(added <= room)
        let tail = (head + count) % capacity
        let part = min(added, capacity - tail)
        for index in 0..<channels {
            let row = samples + index * capacity
            (row + tail).update(repeating: 0, count: part)
            row.update(repeating: 0, count: added - part)
        }
        count += added
    }

    /// Takes the oldest samples out.
    /// - Precondition: `wanted` is at most `count`.
    mutating func take(_ wanted: Int, channel: (Int) -> UnsafeMutablePointer<Float>) {
        precondition(wanted <= count)
        let part = min(wanted, capacity - head)
        for index in 0..<channels {
            let (row, target) = (samples + index * capacity, channel(index))
            target.update(from: row + head, count: part)
            (target + part).update(from: row, count: wanted - part)
        }
        head = (head + wanted) % capacity
        count -= wanted
    }
}
