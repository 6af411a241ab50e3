/// The last 512 durations of something, for percentiles. Adding one allocates nothing.
///
/// Not thread-safe: its owner locks.
package struct Durations {
    private var ring = [Int64](repeating: 0, count: 512)
    private var count = 0
    private var next = 0

    package init() {}

    package mutating func add(_ nanoseconds: Int64) {
        ring[next] = nanoseconds
        next = (next + 1) % ring.count
        count = min(count + 1, ring.count)
    }

    /// Median and 99th percentile (nearest rank) in microseconds; zeros when empty.
    package var percentiles: (p50: Double, p99: Double) {
        guard count > 0 else { return (0, 0) }
        let sorted = ring[0..<count].sorted()
        func rank(_ share: Double) -> Double {
            Double(sorted[min(count - 1, max(0, Int((share * Double(count)).rounded(.up)) - 1))]) / 1000
        }
        return (rank(0.5), rank(0.99))
    }
}
