internal import CEBUR128
import Glibc
import PatchGraph
import PatchMedia
import Synchronization

/// `audio.meter`: loudness and true peak by EBU R 128, of what goes through it unchanged.
///
/// Thread-safety: as `SoundProcessor` states; `loudness` may be read from any thread.
public final class LoudnessMeter: LoudnessMetering, @unchecked Sendable {
    // Unchecked: the library's state is made by `prepare` before the node runs, then used by one thread; readings are
    // behind a mutex.
    static let kind: NodeKind = {
        var schema = NodeSchema(
            kind: "audio.meter", role: .filter, summary: "Loudness and true peak by EBU R 128.", ports: ["audio"])
        schema.publishesData = true
        return NodeKind(schema, .sound { _, _ in LoudnessMeter() })
    }()

    private var state: UnsafeMutablePointer<ebur128_state>?
    private var interleaved: UnsafeMutableBufferPointer<Float> = .init(start: nil, count: 0)
    private let reading = Mutex(Loudness())

    public init() {}

    deinit {
        ebur128_destroy(&state)
        interleaved.deallocate()
    }

    public var loudness: Loudness { reading.withLock { $0 } }

    public func prepare(_ format: AudioFormat, longestBlock: Int) throws {
        state = ebur128_init(UInt32(format.channels), UInt(format.sampleRate), patch_ebur128_modes)
        guard let state else { throw PatchError(.unavailable, "libebur128 has no memory for a meter") }
        for channel in 0..<format.channels {
            ebur128_set_channel(state, UInt32(channel), Int32(Self.place(of: channel, in: format.channels).rawValue))
        }
        interleaved = .allocate(capacity: longestBlock * format.channels)
    }

    /// Where a channel's loudspeaker stands, which is what BS.1770 weighs it by: 1 in front and at the back, 1.41 at the sides
    /// (60° to 120°), 0 for low frequencies. The library takes the third channel of 2.1 for a centre, and leaves out all from
    /// the seventh on.
    private static func place(of index: Int, in channels: Int) -> channel {
        switch (channels, index) {
        case (1, _): EBUR128_CENTER
        case (_, 0): EBUR128_LEFT
        case (_, 1): EBUR128_RIGHT
        case (3, _), (6..., 3): EBUR128_UNUSED
        case (_, 2): EBUR128_CENTER
        case (4, _), (7, 4): EBUR128_Mp180
        case (8, 4): EBUR128_Mp135
        case (8, 5): EBUR128_Mm135
        case (8, 6), (7, 5): EBUR128_Mp090
        case (8, _), (7, _): EBUR128_Mm090
        case (5, 3), (6, 4): EBUR128_LEFT_SURROUND
        default: EBUR128_RIGHT_SURROUND
        }
    }

    public func process(_ block: AudioBlock, _ parameters: SoundParameters) { hear(block) }

    public func hear(_ block: AudioBlock) {
        guard let state, block.count > 0 else { return }
        let channels = block.format.channels
        for channel in 0..<channels {
            let row = block.channel(channel)
            for index in 0..<block.count { interleaved[index * channels + channel] = row[index] }
        }
        guard ebur128_add_frames_float(state, interleaved.baseAddress, block.count) == 0 else { return }
        var now = Loudness()
        ebur128_loudness_momentary(state, &now.momentary)
        ebur128_loudness_shortterm(state, &now.shortTerm)
        ebur128_loudness_global(state, &now.integrated)
        var highest = 0.0
        for channel in 0..<channels {
            var peak = 0.0
            if ebur128_true_peak(state, UInt32(channel), &peak) == 0 { highest = max(highest, peak) }
        }
        now.truePeak = highest > 0 ? 20 * log10(highest) : -.infinity
        reading.withLock { $0 = now }
    }
}
