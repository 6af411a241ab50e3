import Glibc
import PatchMedia

/// The gains inside mixers and transitions. They are sound filters that no script names: the planner puts one before each port
/// that has sound.
///
/// Thread-safety: a value.
enum SoundStrips {
    static let kinds: [String: NodeKind] = [
        "mixer slot": kind("mixer slot") { SlotStrip() },
        "transition from": kind("transition from") { CrossfadeStrip(rises: false) },
        "transition to": kind("transition to") { CrossfadeStrip(rises: true) },
    ]

    /// The name that a port's strip runs under. No script can give a node such a name.
    static func id(of node: NodeID, port: String) -> NodeID { "\(node)\t\(port)" }

    private static func kind(_ name: String, _ make: @escaping @Sendable () -> any SoundProcessor) -> NodeKind {
        NodeKind(
            NodeSchema(kind: name, role: .filter, summary: "", ports: ["audio"]), .sound { _, _ in make() })
    }
}

/// A mixer's slot: gain (a factor), pan (−1 left … 1 right, as `SoundBalance`), mute, visible; hidden is silent.
private final class SlotStrip: SoundProcessor {
    func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        let (gain, pan, mute, visible) = (parameters[0], parameters[1], parameters[2], parameters[3])
        let begin = mute.begin >= 0.5 || visible.begin < 0.5 ? 0 : gain.begin
        let end = mute.end >= 0.5 || visible.end < 0.5 ? 0 : gain.end
        for channel in 0..<block.format.channels {
            let channels = block.format.channels
            block.scale(
                channel, from: begin * SoundBalance.factor(pan.begin, ofChannel: channel, of: channels),
                to: end * SoundBalance.factor(pan.end, ofChannel: channel, of: channels))
        }
    }
}

/// One side of a transition: weight (1 − cos πp) / 2 of the second input, and what is missing to 1 of the first.
private final class CrossfadeStrip: SoundProcessor {
    private let rises: Bool
    init(rises: Bool) { self.rises = rises }

    func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        func weight(_ progress: Float) -> Float {
            let second = (1 - cosf(Float.pi * max(0, min(1, progress)))) / 2
            return rises ? second : 1 - second
        }
        let (begin, end) = parameters[0]
        for channel in 0..<block.format.channels { block.scale(channel, from: weight(begin), to: weight(end)) }
    }
}
