import PatchMedia
import Synchronization

/// One output's end of an encoder: it passes the packets that are the output's on to its queue.
///
/// An output that joins gets nothing before its first delivery has shown that the encoder's picture is its own; one that leaves
/// still gets what the encoder holds of its last pictures.
/// Thread-safety: all members may be called from any thread.
final class EncoderTap: Sendable {
    /// More packets than any encoder holds back are no start of a stream.
    private static let pendingLimit = 1024

    private struct State {
        var isConfirmed = false
        var joinsLate = false
        /// The encoder whose packets are the output's.
        var present: ObjectIdentifier?
        /// Waits for the confirmation, or for the encoder before to have given everything.
        var pending: [EncodedPacket] = []
        /// The encoder that the output leaves, and up to which presentation time its packets count.
        var former: (encoder: ObjectIdentifier, cut: Int64)?
        var formerStreams: (video: Bool, audio: Bool) = (false, false)
    }

    let queue: PacketQueue
    private let dropsEncoderDelay: Bool
    private let state = Monitor(State())
    private let wantsKeyframe = Atomic(false)

    /// - Parameter dropsEncoderDelay: sound before time 0 is left out.
    init(_ queue: PacketQueue, dropsEncoderDelay: Bool = false) {
        self.queue = queue
        self.dropsEncoderDelay = dropsEncoderDelay
    }

    func requestKeyframe() { wantsKeyframe.store(true, ordering: .relaxed) }
    /// True once after each request.
    func takeKeyframeRequest() -> Bool { wantsKeyframe.exchange(false, ordering: .relaxed) }

    /// The output takes this encoder's packets from now on.
    /// - Parameter late: it is at work already.
    func join(_ encoder: SharedEncoder, late: Bool) {
        state.notify { state in
            state.present = ObjectIdentifier(encoder)
            if late { state.joinsLate = true }
        }
        if late { requestKeyframe() }
    }

    /// The encoder's picture is this output's: packets flow.
    func confirm() {
        state.notify { state in
            guard !state.isConfirmed else { return }
            state.isConfirmed = true
            if state.joinsLate { queue.release() }
            if state.former == nil { flush(&state) }
        }
    }

    /// The output leaves an encoder at a presentation time of its line; what comes from another one waits until then.
    func leave(_ encoder: SharedEncoder, at cut: Int64) {
        state.notify { state in
            state.pending.removeAll()
            if state.present == ObjectIdentifier(encoder) { state.present = nil }
            guard state.isConfirmed else { return }
            state.former = (ObjectIdentifier(encoder), cut)
            state.formerStreams = (encoder.hasVideo, encoder.hasAudio)
        }
    }

    /// The encoder will give nothing more.
    func end(of encoder: SharedEncoder) {
        state.notify { state in
            if state.former?.encoder == ObjectIdentifier(encoder) { forget(&state) }
        }
    }

    /// The encoder still has packets for this output, though it was left.
    func isLeaving(_ encoder: SharedEncoder) -> Bool {
        state.withLock { $0.former?.encoder == ObjectIdentifier(encoder) }
    }

    /// Waits until the encoder that was left has given everything; false at the deadline (monotonic nanoseconds).
    func waitUntilLeft(until deadline: Int64?) -> Bool {
        state.wait(until: deadline) { $0.former == nil ? true : nil } ?? false
    }

    func take(_ packet: EncodedPacket, from encoder: SharedEncoder) {
        state.notify { state in
            if let former = state.former {
                guard former.encoder == ObjectIdentifier(encoder) else {
                    guard state.present == ObjectIdentifier(encoder) else { return }
                    // Sound of an encoder that begins in the middle has its delay in front.
                    if packet.isVideo || packet.presentation >= former.cut { state.pending.append(packet) }
                    return
                }
                if packet.presentation < former.cut { push(packet) }
                if packet.time >= former.cut {
                    if packet.isVideo { state.formerStreams.video = false } else { state.formerStreams.audio = false }
                    if state.formerStreams == (false, false) { forget(&state) }
                }
                return
            }
            guard state.present == ObjectIdentifier(encoder) else { return }
            guard state.isConfirmed else {
                if state.pending.count >= EncoderTap.pendingLimit {
                    state.pending.removeAll()
                    state.joinsLate = true
                }
                state.pending.append(packet)
                return
            }
            push(packet)
        }
    }

    private func forget(_ state: inout State) {
        state.former = nil
        flush(&state)
    }

    private func flush(_ state: inout State) {
        for packet in state.pending { push(packet) }
        state.pending.removeAll()
    }

    private func push(_ packet: EncodedPacket) {
        if dropsEncoderDelay, !packet.isVideo, packet.time < 0 { return }
        if queue.push(packet) { requestKeyframe() }
    }
}
