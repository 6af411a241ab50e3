import PatchGraph
import PatchMedia
import Synchronization

/// Counts what an output's peer or disk accepted.
///
/// Thread-safety: all members may be called from any thread.
final class OutputMeter: Sendable {
    /// How long the bitrate is averaged, in nanoseconds.
    private static let window: Int64 = 2_000_000_000

    private struct State {
        var bytes: Int64 = 0
        var lastAccepted: Int64 = 0
        /// Bytes so far at moments of the window, a quarter of a second apart.
        var history: [(time: Int64, bytes: Int64)] = []
        var latency = Durations()
    }
    private let state = Mutex(State())

    /// A packet was accepted just now.
    func accepted(_ packet: EncodedPacket) {
        let now = monotonicNanoseconds()
        state.withLock { state in
            state.bytes += Int64(packet.byteCount)
            state.lastAccepted = now
            if packet.isVideo { state.latency.add(now - packet.made) }
            Self.note(&state, now)
        }
    }

    /// The connection is there: from now on silence counts.
    func begin() { state.withLock { $0.lastAccepted = monotonicNanoseconds() } }

    var bytes: Int64 { state.withLock { $0.bytes } }
    /// Monotonic nanoseconds.
    var lastAccepted: Int64 { state.withLock { $0.lastAccepted } }

    /// Bits a second over the last two seconds.
    var bitrate: Double {
        let now = monotonicNanoseconds()
        return state.withLock { state in
            Self.note(&state, now)
            guard let first = state.history.first, now - first.time > 100_000_000 else { return 0 }
            return Double(state.bytes - first.bytes) * 8e9 / Double(now - first.time)
        }
    }

    func fill(_ statistics: inout OutputStatistics) {
        statistics.bitrate = bitrate
        state.withLock { state in
            statistics.bytesSent = state.bytes
            let (p50, p99) = state.latency.percentiles
            (statistics.sendP50, statistics.sendP99) = (p50 / 1000, p99 / 1000)
        }
    }

    private static func note(_ state: inout State, _ now: Int64) {
        if now - (state.history.last?.time ?? 0) >= 250_000_000 { state.history.append((now, state.bytes)) }
        // The newest entry that is older than the window stays, as its beginning.
        while state.history.count > 1, now - state.history[1].time >= window { state.history.removeFirst() }
    }
}
