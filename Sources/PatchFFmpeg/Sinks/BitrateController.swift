/// Chooses a live encoder's bitrate by what the network takes: down fast, up slowly.
///
/// When more than `limit` seconds of the stream wait and the backlog does not shrink, the bitrate drops to 85 % of what was
/// accepted of late. When (almost) nothing has waited for a while, it rises by 8 %. A rise that soon leads to a drop
/// doubles the pause before the next one, up to a minute, so that the bitrate settles below what the network takes.
/// A value; not thread-safe.
package struct BitrateController: Sendable {
    /// Seconds of stream that may wait before the bitrate drops.
    private static let limit = 0.6
    private static let second: Int64 = 1_000_000_000

    package let ceiling: Int
    package let floor: Int
    /// Bits a second that go to sound.
    package let audio: Int
    /// Bits a second of the picture.
    package private(set) var bitrate: Int
    private var lastDrop: Int64 = .min / 2
    private var lastRise: Int64 = .min / 2
    private var lastCheck: Int64 = 0
    private var lastWaiting = 0.0
    private var calmSince: Int64?
    private var pause = 4 * second

    /// - Parameters:
    ///   - ceiling: the bitrate to begin with, and never to exceed.
    ///   - floor: the lowest one.
    package init(ceiling: Int, floor: Int, audio: Int) {
        self.ceiling = ceiling
        self.floor = min(floor, ceiling)
        self.audio = audio
        bitrate = ceiling
    }

    /// Looks at the network, at most four times a second.
    /// - Parameters:
    ///   - now: monotonic nanoseconds.
    ///   - accepted: bits a second that the network took of late, sound included.
    ///   - waiting: seconds of stream that wait.
    /// - Returns: the new bitrate, when it changes.
    package mutating func update(now: Int64, accepted: Double, waiting: Double) -> Int? {
        guard now - lastCheck >= Self.second / 4 else { return nil }
        defer {
            lastCheck = now
            lastWaiting = waiting
        }
        if waiting > Self.limit {
            calmSince = nil
            // A backlog that shrinks is on its way out.
            guard waiting >= lastWaiting, now - lastDrop >= Self.second else { return nil }
            if now - lastRise < 15 * Self.second {
                pause = min(60 * Self.second, pause * 2)
                lastRise = .min / 2
            }
            lastDrop = now
            let share = Int(min(Double(bitrate) * 0.85, accepted * 0.85 - Double(audio)))
            return change(to: share)
        }
        guard waiting < 0.2 else {
            calmSince = nil
            return nil
        }
        let since = calmSince ?? now
        calmSince = since
        guard now - since >= pause, bitrate < ceiling else { return nil }
        calmSince = now
        lastRise = now
        return change(to: bitrate + bitrate * 8 / 100)
    }

    private mutating func change(to wanted: Int) -> Int? {
        let new = max(floor, min(ceiling, wanted))
        defer { bitrate = new }
        return new == bitrate ? nil : new
    }
}
