import PatchGraph
import PatchMedia
import Synchronization

/// An encoder and the outputs that take its packets: outputs with the same picture, sound and settings share one.
///
/// Each tick is encoded by the output that brings it first. Its packets go to all.
/// Thread-safety: all members may be called from any thread.
final class SharedEncoder: Sendable {
    /// What must be the same for outputs to share an encoder, beside what they are given.
    struct Setup: Hashable, Sendable {
        var settings: MediaEncoder.Settings
        var format: VideoFormat?
    }

    enum Outcome {
        case taken
        /// The delivery has another picture or sound than what is encoded here: the output needs an encoder of its own, which
        /// goes on from here.
        case foreign(MediaEncoder.Start)
    }

    private struct State: ~Copyable {
        let encoder: MediaEncoder
        var members: [EncoderTap] = []
        /// Outputs that still get what the encoder holds of their last pictures.
        var leaving: [EncoderTap] = []
        var source: Delivery.Tap?
        var lastTick: Int64 = -1
        var failure: PatchError?
        var isOver = false
        var latency = Durations()
    }

    let hasVideo: Bool
    let hasAudio: Bool
    /// The streams, picture first.
    let streams: [StreamParameters]
    private let state: Mutex<State>

    /// - Parameter start: where the output's time line goes on; nil begins it with the first delivery.
    init(_ setup: Setup, from start: MediaEncoder.Start? = nil) throws {
        let encoder = try MediaEncoder(setup.settings, format: setup.format, from: start)
        streams = encoder.streams
        hasVideo = streams.contains(where: \.isVideo)
        hasAudio = streams.contains { !$0.isVideo }
        state = Mutex(State(encoder: encoder))
    }

    /// Adds an output. False when the encoder has ended or failed.
    func join(_ tap: EncoderTap) -> Bool {
        state.withLock { state in
            guard !state.isOver, state.failure == nil else { return false }
            tap.join(self, late: state.lastTick >= 0)
            state.members.append(tap)
            return true
        }
    }

    /// Encodes a tick, unless another output brought it already.
    /// - Throws: `PatchError` when the encoder fails, to each of its outputs.
    func consume(_ delivery: Delivery, for tap: EncoderTap) throws -> Outcome {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if let source = state.source, source.generation == delivery.tap.generation, source != delivery.tap {
                return .foreign(state.encoder.start(at: delivery))
            }
            tap.confirm()
            guard delivery.tick > state.lastTick else { return .taken }
            state.lastTick = delivery.tick
            state.leaving.removeAll { !$0.isLeaving(self) }
            state.source = delivery.tap
            var wantsKeyframe = false
            for member in state.members where member.takeKeyframeRequest() { wantsKeyframe = true }
            do {
                let (encoder, members, leaving) = (state.encoder, state.members, state.leaving)
                try encoder.consume(delivery, forceKeyframe: wantsKeyframe) { packet in
                    let due = packet.isVideo ? encoder.dueTime(ofFrame: packet.frameIndex) : 0
                    if due > 0 { state.latency.add(packet.made - due) }
                    for member in members { member.take(packet, from: self) }
                    for member in leaving { member.take(packet, from: self) }
                }
            } catch let error as PatchError {
                state.failure = error
                for member in state.leaving { member.end(of: self) }
                throw error
            }
            return .taken
        }
    }

    /// Takes an output away; the last one drains the encoder.
    /// - Parameter cut: up to where on the time line the encoder's packets are the output's, in nanoseconds; nil is for ever.
    func leave(_ tap: EncoderTap, at cut: Int64? = nil) {
        state.withLock { state in
            guard let place = state.members.firstIndex(where: { $0 === tap }) else { return }
            state.members.remove(at: place)
            tap.leave(self, at: cut ?? .max)
            state.leaving.append(tap)
            guard state.members.isEmpty, !state.isOver else { return }
            state.isOver = true
            let leaving = state.leaving
            if state.failure == nil {
                // What the encoder still holds is sent if it can be; a failure here changes nothing any more.
                try? state.encoder.finish { packet in
                    for member in leaving { member.take(packet, from: self) }
                }
            }
            for member in leaving { member.end(of: self) }
            state.leaving.removeAll()
        }
    }

    /// Where on the time line the tick after the last one that was encoded begins, in nanoseconds.
    func end(of delivery: Delivery) -> Int64 {
        state.withLock { state in
            var next = delivery
            next.pts = delivery.pts + delivery.duration
            return state.encoder.start(at: next).time
        }
    }

    /// Aims at another bitrate of the picture from the next frame on.
    func setBitrate(_ bits: Int) { state.withLock { $0.encoder.setBitrate(bits) } }

    /// Says how many frames repeat the one before; nil when none does.
    var repeatNotice: String? { state.withLock { $0.encoder.repeatNotice } }

    func fill(_ statistics: inout OutputStatistics) {
        state.withLock { state in
            statistics.repeats = state.encoder.repeated
            statistics.encoderShares = max(1, state.members.count)
            let (p50, p99) = state.latency.percentiles
            (statistics.encodeP50, statistics.encodeP99) = (p50 / 1000, p99 / 1000)
        }
    }
}

/// The encoders at work in an engine.
///
/// Thread-safety: all members may be called from any thread.
final class EncoderPool: Sendable {
    private struct Entry {
        weak var encoder: SharedEncoder?
    }
    private let entries = Mutex<[SharedEncoder.Setup: Entry]>([:])

    /// The encoder of these settings that is at work, or a new one.
    /// - Throws: `PatchError` when it cannot be opened.
    func join(_ setup: SharedEncoder.Setup, _ tap: EncoderTap) throws -> SharedEncoder {
        try entries.withLock { entries in
            entries = entries.filter { $0.value.encoder != nil }
            if let known = entries[setup]?.encoder, known.join(tap) { return known }
            let made = try SharedEncoder(setup)
            _ = made.join(tap)
            entries[setup] = Entry(encoder: made)
            return made
        }
    }
}
