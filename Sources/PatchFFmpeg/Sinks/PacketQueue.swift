import PatchGraph
import PatchMedia

/// Packets between an encoder and a slow or broken network: bounded, and whole groups of pictures are dropped from its
/// front, so that what is left always starts with a keyframe.
///
/// Thread-safety: all members may be called from any thread.
final class PacketQueue: Sendable {
    enum Popped {
        case packet(EncodedPacket)
        /// Nothing came in time.
        case nothing
        /// The encoder is done and everything was taken.
        case over
        case cancelled
    }

    struct Counters: Sendable {
        var packets = 0
        var bytes = 0
        /// Nanoseconds of stream that wait.
        var span: Int64 = 0
        /// Times that the front was dropped because the network was slow.
        var droppedGroups: Int64 = 0
        var droppedPackets: Int64 = 0
    }

    private struct State {
        var packets: [EncodedPacket] = []
        var bytes = 0
        var counters = Counters()
        var isOver = false
        var isCancelled = false
        /// Nobody takes packets: they are dropped as they come.
        var isHeld = false
        /// Packets are dropped until a keyframe comes.
        var skipsToKeyframe = false
    }

    private let state = Monitor(State())
    private let maximumSpan: Int64
    private let maximumBytes: Int
    private let hasVideo: Bool
    private let blocks: Bool

    /// - Parameters:
    ///   - maximumSpan: nanoseconds of stream time that may wait.
    ///   - blocks: a full queue makes `push` wait instead of dropping (offline).
    init(maximumSpan: Int64, maximumBytes: Int = 64 << 20, hasVideo: Bool, blocks: Bool) {
        self.maximumSpan = maximumSpan
        self.maximumBytes = maximumBytes
        self.hasVideo = hasVideo
        self.blocks = blocks
    }

    /// Adds a packet.
    /// - Returns: true when the picture cannot go on before the next keyframe: the encoder should make one.
    func push(_ packet: EncodedPacket) -> Bool {
        if blocks {
            _ = state.wait { state -> Bool? in
                state.isCancelled || !self.isFull(state, with: packet) && !state.isHeld ? true : nil
            }
        }
        return state.notify { state in
            if state.isHeld || state.isCancelled {
                state.counters.droppedPackets += 1
                return false
            }
            if state.skipsToKeyframe {
                guard packet.isKeyframe else {
                    state.counters.droppedPackets += 1
                    return false
                }
                state.skipsToKeyframe = false
            }
            if !blocks, isFull(state, with: packet) { dropFront(&state) }
            if state.skipsToKeyframe, !packet.isKeyframe {
                state.counters.droppedPackets += 1
                return true
            }
            state.skipsToKeyframe = false
            state.packets.append(packet)
            state.bytes += packet.byteCount
            return false
        }
    }

    /// Takes the next packet, waiting until `deadline` (monotonic nanoseconds; nil waits for ever).
    func pop(until deadline: Int64? = nil) -> Popped {
        let popped = state.wait(until: deadline) { state -> Popped? in
            if state.isCancelled { return .cancelled }
            guard let first = state.packets.first else { return state.isOver ? .over : nil }
            state.packets.removeFirst()
            state.bytes -= first.byteCount
            return .packet(first)
        }
        // Whoever waits in `push` for room looks again.
        if blocks { state.notify { _ in } }
        return popped ?? .nothing
    }

    /// The peer is gone: what waits is dropped, and so is what comes, until `release`.
    func hold() {
        state.notify { state in
            state.counters.droppedPackets += Int64(state.packets.count)
            state.packets.removeAll(keepingCapacity: true)
            state.bytes = 0
            state.isHeld = true
        }
    }

    /// Packets are taken again, from the next keyframe on.
    func release() {
        state.notify { state in
            state.isHeld = false
            state.skipsToKeyframe = hasVideo
        }
    }

    /// Waits until `deadline`; true when there is no more sense in waiting: the encoder is done or it was cancelled.
    func pause(until deadline: Int64) -> Bool {
        state.wait(until: deadline) { state in state.isOver || state.isCancelled ? true : nil } ?? false
    }

    /// No more packets will come.
    func finish() { state.notify { $0.isOver = true } }

    func cancel() { state.notify { $0.isCancelled = true } }

    var counters: Counters {
        state.withLock { state in
            var counters = state.counters
            counters.packets = state.packets.count
            counters.bytes = state.bytes
            if let first = state.packets.first, let last = state.packets.last {
                counters.span = max(0, last.time - first.time)
            }
            return counters
        }
    }

    private func isFull(_ state: State, with packet: EncodedPacket) -> Bool {
        guard let first = state.packets.first else { return false }
        return packet.time - first.time > maximumSpan || state.bytes + packet.byteCount > maximumBytes
    }

    private func dropFront(_ state: inout State) {
        state.counters.droppedGroups += 1
        let before = state.packets.count
        // Sound comes out of its encoder sooner, and may stand before the first picture.
        let first = state.packets.firstIndex { $0.isVideo } ?? 0
        if let next = state.packets.indices.dropFirst(first + 1).first(where: { state.packets[$0].isKeyframe }) {
            let start = state.packets[next].time
            // Sound that belongs to the kept pictures may stand before their keyframe.
            let kept = state.packets[..<next].filter { !$0.isVideo && $0.time >= start }
            state.packets.replaceSubrange(..<next, with: kept)
        } else if hasVideo {
            state.packets.removeAll(keepingCapacity: true)
            state.skipsToKeyframe = true
        } else {
            state.packets.removeFirst((state.packets.count + 1) / 2)
        }
        state.bytes = state.packets.reduce(0) { $0 + $1.byteCount }
        state.counters.droppedPackets += Int64(before - state.packets.count)
    }
}

extension PacketQueue {
    func fill(_ statistics: inout OutputStatistics) {
        let counters = counters
        statistics.droppedGroups = counters.droppedGroups
        statistics.droppedPackets = counters.droppedPackets
        statistics.waitingBytes = counters.bytes
        statistics.waitingSeconds = Double(counters.span) / 1e9
    }
}
