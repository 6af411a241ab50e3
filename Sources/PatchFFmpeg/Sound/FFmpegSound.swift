import PatchGraph
import PatchMedia

/// The sound filters that libavfilter brings: `audio.ffmpeg` with any chain, and `audio.limiter`, `audio.compressor`,
/// `audio.gate` and `audio.equalizer`, which are chains with typed parameters.
///
/// Thread-safety: all members may be called from any thread.
public enum FFmpegSound {
    public static var kinds: [NodeKind] { [ffmpeg, limiter, compressor, gate, equalizer] }

    /// The sound filters of the installed libavfilter, by name, with the reason where scripts may not use one.
    public static func filters() -> [GuestDescription] { FFmpegGuests.filters(ofSound: true) }

    private static let ffmpeg: NodeKind = {
        var schema = NodeSchema(
            kind: "audio.ffmpeg", role: .filter, summary: "A chain of FFmpeg's sound filters.",
            options: [OptionSchema("chain", .string, "The chain, as for `ffmpeg -af`.", required: true)],
            ports: ["audio"], positional: "chain")
        schema.takesCommands = true
        return kind(schema) { ($0.string("chain") ?? "", []) }
    }()

    /// FFmpeg's look-ahead limiter. Its look-ahead is `attack` long; both times are fixed when the node is made.
    private static let limiter = kind(
        NodeSchema(
            kind: "audio.limiter", role: .filter, summary: "Nothing louder than the ceiling, without distortion.",
            options: [
                OptionSchema(
                    "attack", .number(0.1...80), "How long before a peak it begins to turn down.", unit: "ms",
                    default: "5"),
                OptionSchema("release", .number(1...8000), "How fast it turns up again.", unit: "ms", default: "50"),
            ],
            parameters: [
                ParameterSchema(
                    "ceiling", default: [-1], range: -24...0, label: "Highest peak", unit: "dBFS"),
                ParameterSchema("drive", default: [0], range: -36...36, label: "Gain before it", unit: "dB"),
            ], ports: ["audio"])
    ) { options in
        (
            "alimiter@l=level=0:latency=1:attack=\(options.number("attack") ?? 5)"
                + ":release=\(options.number("release") ?? 50)",
            [
                SoundKnob(0, "alimiter@l", "limit", SoundKnob.factor),
                SoundKnob(1, "alimiter@l", "level_in", SoundKnob.factor),
            ]
        )
    }

    private static let compressor = kind(
        NodeSchema(
            kind: "audio.compressor", role: .filter, summary: "Softens what is louder than the threshold.",
            options: [detection],
            parameters: [
                ParameterSchema("threshold", default: [-18], range: -60...0, label: "Threshold", unit: "dBFS"),
                ParameterSchema("ratio", default: [2], range: 1...20, neutral: [1], label: "Ratio"),
                ParameterSchema("attack", default: [20], range: 0.01...2000, label: "Attack", unit: "ms"),
                ParameterSchema("release", default: [250], range: 0.01...9000, label: "Release", unit: "ms"),
                ParameterSchema("knee", default: [9], range: 0...18, label: "Knee", unit: "dB"),
                ParameterSchema("makeup", default: [0], range: 0...36, label: "Gain after it", unit: "dB"),
                ParameterSchema("mix", default: [1], range: 0...1, neutral: [0], label: "Share of what is compressed"),
            ], ports: ["audio"])
    ) { options in
        let target = "acompressor@c"
        return (
            "\(target)=detection=\(options.string("detection") ?? "rms")",
            [
                SoundKnob(0, target, "threshold", SoundKnob.factor), SoundKnob(1, target, "ratio"),
                SoundKnob(2, target, "attack"), SoundKnob(3, target, "release"),
                SoundKnob(4, target, "knee", SoundKnob.factor), SoundKnob(5, target, "makeup", SoundKnob.factor),
                SoundKnob(6, target, "mix"),
            ]
        )
    }

    /// agate takes a new threshold, knee or time only when it is made. So its threshold is −40 dBFS for good, and sound is made
    /// louder or softer before it and the opposite behind it.
    private static let gate = kind(
        NodeSchema(
            kind: "audio.gate", role: .filter, summary: "Turns down what is softer than the threshold.",
            options: [
                OptionSchema("attack", .number(0.01...2000), "How fast it opens.", unit: "ms", default: "5"),
                OptionSchema("release", .number(0.01...9000), "How fast it closes.", unit: "ms", default: "250"),
                OptionSchema("knee", .number(0...18), "How soft the threshold is.", unit: "dB", default: "9"),
                detection,
            ],
            parameters: [
                ParameterSchema("threshold", default: [-40], range: -76...(-4), label: "Threshold", unit: "dBFS"),
                ParameterSchema("ratio", default: [4], range: 1...100, neutral: [1], label: "Ratio"),
                ParameterSchema(
                    "reduction", default: [24], range: 0...80, neutral: [0], label: "Most that it turns down",
                    unit: "dB"),
            ], ports: ["audio"])
    ) { options in
        let target = "agate@g"
        let knee = SoundKnob.factor(Float(options.number("knee") ?? 9))
        return (
            "\(target)=threshold=0.01:attack=\(options.number("attack") ?? 5):release=\(options.number("release") ?? 250)"
                + ":knee=\(knee):detection=\(options.string("detection") ?? "rms"),volume@g=precision=float",
            [
                SoundKnob(0, target, "level_in") { 0.01 / SoundKnob.factor($0) },
                SoundKnob(0, "volume@g", "volume") { SoundKnob.factor($0) / 0.01 },
                SoundKnob(1, target, "ratio"), SoundKnob(2, target, "range") { SoundKnob.factor(-$0) },
            ]
        )
    }

    private static let detection = OptionSchema(
        "detection", .choice(["peak", "rms"]), "What it takes for loud: the mean of squares, or single peaks.",
        default: "rms")

    /// A high pass, a low shelf, two bells, a high shelf, in this order.
    private static let equalizer: NodeKind = {
        func gain(_ name: String, _ label: String) -> ParameterSchema {
            ParameterSchema(name, default: [0], range: -24...24, neutral: [0], label: label, unit: "dB")
        }
        func frequency(_ name: String, _ hertz: Float) -> ParameterSchema {
            ParameterSchema(name, default: [hertz], range: 20...20_000, label: "Its frequency", unit: "Hz")
        }
        func width(_ name: String) -> ParameterSchema {
            ParameterSchema(name, default: [1], range: 0.1...20, label: "Its quality (high is narrow)")
        }
        return kind(
            NodeSchema(
                kind: "audio.equalizer", role: .filter,
                summary: "A low cut, a low shelf, two bells and a high shelf.",
                parameters: [
                    ParameterSchema(
                        "lowCut", default: [0], range: 0...1000, neutral: [0],
                        label: "Low cut, 12 dB an octave (0: off)",
                        unit: "Hz"),
                    gain("low", "Low shelf"), frequency("lowFrequency", 120),
                    gain("mid", "First bell"), frequency("midFrequency", 500), width("midQ"),
                    gain("presence", "Second bell"), frequency("presenceFrequency", 3000), width("presenceQ"),
                    gain("high", "High shelf"), frequency("highFrequency", 8000),
                ], ports: ["audio"])
        ) { _ in
            // A filter that begins without a frequency would begin with whatever is in memory (`SoundChain.checkBiquads`).
            (
                "highpass@cut,bass@low,equalizer@mid=f=500:t=q,equalizer@presence=f=3000:t=q,treble@high",
                [
                    SoundKnob(0, "highpass@cut", "frequency") { Double(max(10, $0)) },
                    SoundKnob(0, "highpass@cut", "mix") { $0 > 0 ? 1 : 0 },
                    SoundKnob(1, "bass@low", "gain"), SoundKnob(2, "bass@low", "frequency"),
                    SoundKnob(3, "equalizer@mid", "gain"), SoundKnob(4, "equalizer@mid", "frequency"),
                    SoundKnob(5, "equalizer@mid", "width"),
                    SoundKnob(6, "equalizer@presence", "gain"), SoundKnob(7, "equalizer@presence", "frequency"),
                    SoundKnob(8, "equalizer@presence", "width"),
                    SoundKnob(9, "treble@high", "gain"), SoundKnob(10, "treble@high", "frequency"),
                ]
            )
        }
    }()

    private static func kind(
        _ schema: NodeSchema, _ chain: @escaping @Sendable (NodeOptions) -> (text: String, knobs: [SoundKnob])
    ) -> NodeKind {
        NodeKind(
            schema,
            .sound { options, environment in
                let (text, knobs) = chain(options)
                do { return try SoundChainNode(text, knobs: knobs, environment) } catch let error as PatchError {
                    throw error.placed(node: environment.nodeID, at: environment.location)
                }
            })
    }
}
