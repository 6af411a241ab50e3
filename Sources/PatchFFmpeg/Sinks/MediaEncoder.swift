internal import CFFmpeg
import PatchGraph
import PatchMedia

/// Turns deliveries into packets at a constant rate: no gap and no repeat in the picture's time stamps, every sample of
/// sound in its place, whatever was dropped before.
///
/// Output time starts with the first delivery and follows the deliveries' times. A tick that never came is filled with the picture before it; sound that
/// never came is silence.
/// Thread-safety: one thread at a time.
final class MediaEncoder {
    /// What is encoded, and how.
    struct Settings: Hashable, Sendable {
        /// nil for sound alone.
        var video: VideoEncoding?
        /// nil for no sound track.
        var audio: AudioEncoding?
        var channels = 2
        /// The output's rate; ticks beyond it are left out, ticks that it has in addition repeat.
        var rate: FrameRate
    }

    /// A place on an output's time line.
    struct Start: Sendable {
        /// The delivery time that is the line's zero.
        var origin: MediaTime
        var frame: Int64
        var sample: Int64
        /// The frame's time on the line in nanoseconds.
        var time: Int64
    }

    private let video: VideoEncoder?
    private let audio: AudioEncoder?
    private let rate: FrameRate
    private var origin: MediaTime?
    private var lastFrame: Frame?
    private var wantsKeyframe = false
    /// The number of the next output frame.
    private var nextIndex: Int64 = 0
    /// When the ticks of the last frames were due, by frame number.
    private var due = [Int64](repeating: 0, count: 256)
    /// Output frames that had to repeat the one before, because a tick was dropped.
    private(set) var repeated: Int64 = 0
    /// Says how many frames repeat the one before; nil when none does.
    var repeatNotice: String? {
        repeated == 0
            ? nil : "\(repeated) of \(nextIndex) frames repeat the one before: encoding was too slow"
    }

    /// - Parameter start: the output goes on from here; nil begins with the first delivery.
    init(_ settings: Settings, format: VideoFormat?, from start: Start? = nil) throws {
        rate = settings.rate
        origin = start?.origin
        nextIndex = start?.frame ?? 0
        if let encoding = settings.video, let format {
            video = try VideoEncoder(encoding, format: format, rate: rate)
        } else {
            video = nil
        }
        audio = try settings.audio.map {
            try AudioEncoder($0, channels: settings.channels, position: start?.sample ?? 0)
        }
    }

    /// The streams, picture first.
    var streams: [StreamParameters] { [video?.parameters, audio?.parameters].compactMap { $0 } }

    /// Encodes one tick.
    /// - Parameter forceKeyframe: the next picture must be decodable by itself.
    func consume(_ delivery: Delivery, forceKeyframe: Bool = false, _ emit: PacketConsumer) throws {
        guard let first = origin ?? (video == nil || delivery.frame != nil ? delivery.pts : nil) else { return }
        origin = first
        let (begin, finish) = (delivery.pts - first, delivery.pts - first + delivery.duration)
        guard begin >= .zero else { return }
        if let video {
            let (start, end) = (index(at: begin), index(at: finish))
            // A tick that yields no output frame (a lower rate) leaves the wish to the next one.
            wantsKeyframe = wantsKeyframe || forceKeyframe
            if let lastFrame {
                while nextIndex < start {
                    due[Int(nextIndex % 256)] = 0
                    try encodeNext(lastFrame, with: video, emit)
                    repeated += 1
                }
            }
            if let frame = delivery.frame { lastFrame = frame }
            if let lastFrame {
                while nextIndex < end {
                    due[Int(nextIndex % 256)] = delivery.hostTime
                    try encodeNext(lastFrame, with: video, emit)
                }
            }
        }
        if let audio { try encode(delivery.sound, from: begin, to: finish, with: audio, emit) }
    }

    /// When the tick of one of the last frames was due, monotonic nanoseconds; 0 when it never came or is not known.
    func dueTime(ofFrame index: Int64) -> Int64 { due[Int(max(0, index) % 256)] }

    /// Where a delivery would begin in this output.
    func start(at delivery: Delivery) -> Start {
        let origin = origin ?? delivery.pts
        let frame = index(at: delivery.pts - origin)
        let time = rate.time(ofFrame: frame)
        return Start(
            origin: origin, frame: frame, sample: time.floored(to: Int64(AudioEncoding.sampleRate)),
            time: time.nanoseconds)
    }

    /// Aims at another bitrate of the picture from the next frame on.
    func setBitrate(_ bits: Int) { video?.setBitrate(bits) }

    /// Drains the encoders.
    func finish(_ emit: PacketConsumer) throws {
        lastFrame = nil
        try video?.drain(emit)
        try audio?.drain(emit)
    }

    private func encodeNext(_ frame: Frame, with video: VideoEncoder, _ emit: PacketConsumer) throws {
        let force = wantsKeyframe
        wantsKeyframe = false
        nextIndex += 1
        try video.encode(frame, index: nextIndex - 1, forceKeyframe: force, emit)
    }

    private func encode(
        _ sound: AudioBlock?, from begin: MediaTime, to finish: MediaTime, with audio: AudioEncoder,
        _ emit: PacketConsumer
    ) throws {
        let sampleRate = Int64(AudioEncoding.sampleRate)
        let (start, end) = (begin.floored(to: sampleRate), finish.floored(to: sampleRate))
        guard let sound else {
            if audio.position < end { try audio.encodeSilence(end - audio.position, emit) }
            return
        }
        // The engine shares out samples over ticks with its own rounding: what is off by less is no gap.
        let tolerance: Int64 = 4
        if start - audio.position > tolerance { try audio.encodeSilence(start - audio.position, emit) }
        let overlap = audio.position - start
        let skipped =
            overlap > tolerance ? overlap * Int64(sound.format.sampleRate) / Int64(AudioEncoding.sampleRate) : 0
        try audio.encode(sound, from: Int(min(skipped, Int64(sound.count))), emit)
    }

    /// The first output frame that starts at or after `time`; exact for every rate.
    private func index(at time: MediaTime) -> Int64 {
        let numerator = Int128(time.value) * Int128(rate.numerator)
        let divisor = Int128(time.timescale) * Int128(rate.denominator)
        return Int64((numerator + divisor - 1) / divisor)
    }
}
