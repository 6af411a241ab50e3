import PatchGraph
import PatchMedia
import Synchronization

/// An output's part in an encoder: it brings deliveries, and moves to an encoder of its own when an edit of the graph gives it
/// another picture than those it shares with.
///
/// Thread-safety: `consume` and `finish` on the sink's thread; the rest from any.
final class EncoderSeat: Sendable {
    let tap: EncoderTap
    private let setup: SharedEncoder.Setup
    private let encoder: Mutex<SharedEncoder>
    private let last = Mutex<Delivery?>(nil)

    /// - Parameter isShared: false has an encoder of its own from the start.
    /// - Throws: `PatchError` when the encoder cannot be opened.
    init(_ setup: SharedEncoder.Setup, _ tap: EncoderTap, in environment: NodeEnvironment, isShared: Bool = true) throws
    {
        self.setup = setup
        self.tap = tap
        if isShared {
            let pool: EncoderPool = environment.shared.object { EncoderPool() }
            encoder = Mutex(try pool.join(setup, tap))
        } else {
            let own = try SharedEncoder(setup)
            _ = own.join(tap)
            encoder = Mutex(own)
        }
    }

    private var present: SharedEncoder { encoder.withLock { $0 } }
    var streams: [StreamParameters] { present.streams }

    /// Has the delivery encoded.
    /// - Throws: `PatchError` when the encoder fails.
    func consume(_ delivery: Delivery) throws {
        let former = present
        if case .foreign(let start) = try former.consume(delivery, for: tap) {
            let own = try SharedEncoder(setup, from: start)
            former.leave(tap, at: start.time)
            _ = own.join(tap)
            encoder.withLock { $0 = own }
            _ = try own.consume(delivery, for: tap)
        }
        var place = delivery
        (place.frame, place.sound) = (nil, nil)
        last.withLock { $0 = place }
    }

    /// Leaves the encoder and waits until it gave all that it holds of this output's pictures, at most `limit` nanoseconds.
    func finish(limit: Int64? = nil) {
        let encoder = present
        encoder.leave(tap, at: last.withLock { $0 }.map { encoder.end(of: $0) })
        _ = tap.waitUntilLeft(until: limit.map { monotonicNanoseconds() + $0 })
    }

    /// Aims at another bitrate; only for a seat that shares with nobody.
    func setBitrate(_ bits: Int) { present.setBitrate(bits) }

    var repeatNotice: String? { present.repeatNotice }

    func fill(_ statistics: inout OutputStatistics) { present.fill(&statistics) }
}
