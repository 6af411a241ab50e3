import Glibc
import PatchGraph
import PatchMedia

/// `audio.gain`: louder or softer, left or right, or silent.
///
/// y = x · 10^(db / 20), 0 where muted or at the range's low end. `pan` is a `SoundBalance`. Changes go over one tick, in a straight line of
/// amplitude.
/// Thread-safety: as `SoundProcessor` states.
public final class SoundGain: SoundProcessor {
    /// dB at and below which nothing is heard.
    static let silence: Float = -96

    static let kind = NodeKind(
        NodeSchema(
            kind: "audio.gain", role: .filter, summary: "Louder or softer, left or right, or silent.",
            parameters: [
                ParameterSchema(
                    "db", default: [0], range: silence...24, neutral: [0], label: "Gain", unit: "dB"),
                ParameterSchema("pan", default: [0], range: -1...1, neutral: [0], label: "Balance"),
                ParameterSchema("mute", .bool, default: [0], range: 0...1, neutral: [0], label: "Mute"),
            ], ports: ["audio"]),
        .sound { _, _ in SoundGain() })

    public init() {}

    public func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        let (db, pan, mute) = (parameters[0], parameters[1], parameters[2])
        for channel in 0..<block.format.channels {
            func factor(_ db: Float, _ pan: Float, _ mute: Float) -> Float {
                guard mute < 0.5, db > Self.silence else { return 0 }
                return powf(10, db / 20) * SoundBalance.factor(pan, ofChannel: channel, of: block.format.channels)
            }
            block.scale(
                channel, from: factor(db.begin, pan.begin, mute.begin), to: factor(db.end, pan.end, mute.end))
        }
    }
}
