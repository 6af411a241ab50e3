/// Where the samples of one axis are read when a picture is resized, and how they are weighed.
///
/// Not shrunk to less than half, a position is read between the two samples around it; beyond, the samples that it covers
/// count by how much of them it covers, which is the same at one half.
/// Thread-safety: as the operator that owns it.
final class AxisTable {
    /// Of position i: its first sample.
    let first: UnsafeMutablePointer<Int32>
    /// Weights of position i: `taps` from i · taps on.
    let weights: UnsafeMutablePointer<Int32>
    private(set) var taps = 2
    private(set) var count = 0
    /// Samples that any position reads.
    private(set) var span = 0..<0
    /// What weights sum to.
    private let total: Double
    private let positions: Int
    private let capacity: Int
    private var known = Request(origin: .nan, step: 0, count: 0, low: 0, high: 0, limit: 0)

    /// Position i is `origin` + i · `step` samples, read from nothing beyond `low`…`high`, of `limit` samples.
    struct Request: Equatable {
        var origin: Double
        var step: Double
        var count: Int
        var low: Double
        var high: Double
        var limit: Int
    }

    /// - Parameters:
    ///   - positions: the most that will be asked for.
    ///   - samples: the most that there will be to read.
    init(positions: Int, samples: Int, total: Double) {
        self.positions = max(1, positions)
        self.total = total
        capacity = 2 * samples + 8 * self.positions + 16
        first = .allocate(capacity: self.positions)
        first.initialize(repeating: 0, count: self.positions)
        weights = .allocate(capacity: capacity)
        weights.initialize(repeating: 0, count: capacity)
    }

    deinit {
        first.deallocate()
        weights.deallocate()
    }

    /// - Returns: whether anything changed.
    func update(_ request: Request) -> Bool {
        guard request != known else { return false }
        known = request
        count = min(request.count, positions)
        let isArea = request.step > 2
        let wanted = isArea ? Int(min(request.step.rounded(.up), Double(request.limit))) + 1 : 2
        taps = max(2, min((wanted + 1) / 2 * 2, capacity / max(1, count) / 2 * 2))
        var (begin, end) = (Int.max, 0)
        for index in 0..<count {
            let centre = request.origin + Double(index) * request.step
            let start = isArea ? area(index, centre, request) : between(index, centre, request)
            first[index] = Int32(start)
            begin = min(begin, start)
            end = max(end, start + taps)
        }
        span = min(begin, end)..<end
        return true
    }

    private func between(_ index: Int, _ centre: Double, _ request: Request) -> Int {
        let low = min(request.low + 0.5, request.high - 0.5)
        let place = max(low, min(max(low, request.high - 0.5), centre)) - 0.5
        let whole = place.rounded(.down)
        var (start, share) = (Int(whole), place - whole)
        if start < 0 { (start, share) = (0, 0) }
        if start > request.limit - 2 { (start, share) = request.limit < 2 ? (0, 0) : (request.limit - 2, 1) }
        let second = (share * total).rounded()
        weights[index * taps] = Int32(total - second)
        weights[index * taps + 1] = Int32(second)
        return start
    }

    private func area(_ index: Int, _ centre: Double, _ request: Request) -> Int {
        let (low, high) = (max(0, request.low), min(Double(request.limit), request.high))
        var begin = max(low, centre - request.step / 2)
        var end = min(high, centre + request.step / 2)
        if end - begin < 1e-6 {
            begin = max(low, min(begin, high - 1e-6))
            end = min(high, begin + 1e-6)
        }
        let start = max(0, min(Int(begin.rounded(.down)), request.limit - 1))
        var (left, largest) = (total, index * taps)
        for tap in 0..<taps {
            let at = Double(start + tap)
            let share = max(0, min(end, at + 1) - max(begin, at)) / (end - begin)
            let weight = min(left, (share * total).rounded())
            weights[index * taps + tap] = Int32(weight)
            left -= weight
            if weights[index * taps + tap] > weights[largest] { largest = index * taps + tap }
        }
        weights[largest] += Int32(left)
        return start
    }
}
