internal import CSpeexDSP
import PatchGraph
import PatchMedia

/// `audio.noiseSuppression`: less of what goes on steadily behind a voice, by speexdsp's preprocessor.
///
/// Works on 16-bit samples (what is louder than full scale is clipped) in frames of 20 ms, so that sound comes out
/// `latency` samples later: a frame to collect, and another that the preprocessor overlaps.
/// Thread-safety: as `SoundProcessor` states.
public final class NoiseSuppression: SoundProcessor, @unchecked Sendable {
    // Unchecked: written by `prepare` before the node runs, then by one thread.
    /// Samples of one frame: 20 ms.
    static let frame = 960

    static let kind = NodeKind(
        NodeSchema(
            kind: "audio.noiseSuppression", role: .filter, summary: "Less steady noise behind a voice.",
            parameters: [
                ParameterSchema(
                    "reduction", default: [24], range: 1...60, label: "Most that noise is lowered", unit: "dB",
                    animatable: false)
            ], ports: ["audio"]),
        .sound { _, _ in NoiseSuppression() })

    private struct Channel {
        var state: OpaquePointer
        /// Samples that wait for a whole frame, and those of the last frame, which go out.
        var input: UnsafeMutableBufferPointer<Int16>
        var output: UnsafeMutableBufferPointer<Int16>
    }
    private var channels: [Channel] = []
    private var place = 0
    /// Samples that came out so far: what begins after the silence rises slowly.
    private var age = 0
    private static let rise = 480
    private var reduction: Int32 = 0

    public init() {}

    deinit {
        for channel in channels {
            speex_preprocess_state_destroy(channel.state)
            channel.input.deallocate()
            channel.output.deallocate()
        }
    }

    public var latency: Int { 2 * Self.frame }

    public func prepare(_ format: AudioFormat, longestBlock: Int) throws {
        for _ in 0..<format.channels {
            guard let state = speex_preprocess_state_init(Int32(Self.frame), Int32(format.sampleRate)) else {
                throw PatchError(.unavailable, "speexdsp has no memory for noise suppression")
            }
            var on: Int32 = 1
            speex_preprocess_ctl(state, SPEEX_PREPROCESS_SET_DENOISE, &on)
            let channel = Channel(
                state: state, input: .allocate(capacity: Self.frame), output: .allocate(capacity: Self.frame))
            channel.input.initialize(repeating: 0)
            channel.output.initialize(repeating: 0)
            channels.append(channel)
        }
    }

    public func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        let wanted = -Int32(parameters[0].end.rounded())
        if wanted != reduction {
            reduction = wanted
            for channel in channels {
                var value = wanted
                speex_preprocess_ctl(channel.state, SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, &value)
            }
        }
        for index in 0..<block.count {
            for (number, channel) in channels.enumerated() where number < block.format.channels {
                let row = block.channel(number)
                let sample = row[index]
                channel.input[place] = Int16(max(-32768, min(32767, (sample * 32768).rounded())))
                row[index] = Float(channel.output[place]) / 32768
            }
            place += 1
            guard place == Self.frame else { continue }
            place = 0
            for channel in channels {
                // In place: what goes out is what came in, a frame later.
                _ = channel.output.update(fromContentsOf: channel.input)
                speex_preprocess_run(channel.state, channel.output.baseAddress)
            }
        }
        guard age < latency + Self.rise else { return }
        block.rise(age: age, after: latency, over: Self.rise)
        age += block.count
    }
}
