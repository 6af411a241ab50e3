import PatchMedia

/// Puts the time stamps of one track on an unbroken time line.
///
/// - Missing: follows the one before; after a pause of more than 1 s of a live track that has stamps otherwise, by as much later.
/// - A little backwards (0.2 s, or behind one frame that was early): a disorder; it follows the one before by one unit,
///   so that every frame has its turn.
/// - A jump: further backwards, or forwards by more than the time that went by (live, 1 s; unless the other track is there
///   already) or than 10 min (files, whose long stills are meant). The track goes on where it stopped, and the other track with it.
struct TimestampRepair {
    private let isLive: Bool
    private var offset = MediaTime.zero
    private var last: MediaTime?
    private var beforeLast: MediaTime?
    private var lastEnd = MediaTime.zero
    private var lastArrival: Int64 = 0
    private var hasStamps = false
    /// The last plausible distance between two stamps; 40 ms before there were two.
    private(set) var lastStep = MediaTime(value: 1, timescale: 25)

    init(isLive: Bool) { self.isLive = isLive }

    mutating func place(_ pts: MediaTime?, duration: MediaTime, arrival: Int64, other: TimestampRepair) -> MediaTime {
        defer {
            lastArrival = arrival
            if pts != nil { hasStamps = true }
        }
        guard let last else {
            let place = (pts ?? .zero) + other.offset
            offset = other.offset
            return settle(place, duration: duration)
        }
        let elapsed = isLive ? max(0, arrival - lastArrival) : 0
        let pause = elapsed > Self.second ? MediaTime(value: elapsed, timescale: Self.second) : .zero
        guard let pts else {
            // What never has stamps, such as a microphone, hands over what it kept while nobody fetched it.
            return settle((lastEnd > last ? lastEnd : last) + (hasStamps ? pause : .zero), duration: duration)
        }
        var place = pts + offset
        if isJump((place - last).nanoseconds, elapsed: elapsed), !isBehindOneThatWasEarly(place, last: last),
            !isBeside(place, other, arrival: arrival)
        {
            // The other track may have met the jump first: its offset keeps both in sync.
            let shared = pts + other.offset
            if !isJump((shared - last).nanoseconds, elapsed: elapsed) {
                offset = other.offset
                place = max(shared, MediaTime(value: last.value &+ 1, timescale: last.timescale))
            } else {
                place = lastEnd + pause
                offset = place - pts
            }
        } else if place <= last {
            place = MediaTime(value: last.value &+ 1, timescale: last.timescale)
        } else if place - last < MediaTime(value: 1, timescale: 1) {
            lastStep = place - last
        }
        return settle(place, duration: duration)
    }

    private func isJump(_ distance: Int64, elapsed: Int64) -> Bool {
        if distance < -Self.disorder { return true }
        return isLive ? distance > elapsed + Self.second : distance > 600 * Self.second
    }

    /// The other track says that it is as late as that: this one has paused, and a decoder held its last piece back until now.
    private func isBeside(_ place: MediaTime, _ other: TimestampRepair, arrival: Int64) -> Bool {
        guard isLive, let reached = other.last else { return false }
        let distance = (place - reached).nanoseconds
        return distance >= -Self.second && distance <= max(0, arrival - other.lastArrival) + Self.second
    }

    private func isBehindOneThatWasEarly(_ place: MediaTime, last: MediaTime) -> Bool {
        guard let beforeLast else { return false }
        return place > beforeLast && last - place < MediaTime(value: 1, timescale: 1) && place < last
    }

    private mutating func settle(_ place: MediaTime, duration: MediaTime) -> MediaTime {
        beforeLast = last
        last = place
        lastEnd = place + duration
        return place
    }

    private static let second: Int64 = 1_000_000_000
    private static let disorder: Int64 = 200_000_000
}
