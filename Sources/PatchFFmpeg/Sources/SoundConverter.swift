internal import CFFmpeg
import PatchMedia

/// Decoded sound to what graphs use: planar floats, 48 kHz, in FFmpeg's default layout for the number of channels
/// (swr_convert), mixed as `ChannelMix` does.
///
/// Not thread-safe: it belongs to the source's thread.
final class SoundConverter {
    static let rate: Int32 = 48_000

    /// 1…8; fixed for the life of a source, whatever its stream does.
    let channels: Int
    /// How fast the sound is played; pitch follows, as on tape.
    private let speed: Double
    /// It may be told to stretch the sound a little.
    private let stretches: Bool
    private var wanted: Int32 = 0
    private var applied: Int32 = 0
    /// Samples made since the stretch was set.
    private var age = 0
    private var context: OpaquePointer?
    private var inputRate: Int32 = 0
    private var inputFormat: Int32 = -1
    private var inputChannels: Int32 = 0
    private var capacity = 0
    private var samples: UnsafeMutablePointer<Float>

    init(channels: Int, speed: Double, stretches: Bool = false) {
        self.channels = channels
        self.speed = speed
        self.stretches = stretches
        capacity = 8192
        samples = .allocate(capacity: capacity * channels)
    }

    deinit {
        swr_free(&context)
        samples.deallocate()
    }

    /// Makes what is converted from now on longer by these parts together; without a seam (swr_set_compensation).
    /// - Returns: the first part as it is really done: in whole samples in 10 s, 2 ppm.
    func stretch(by time: Double, and sound: Double) -> Double {
        guard stretches else { return 0 }
        let whole = (time * Double(Self.span)).rounded()
        wanted = Int32(whole) + Int32((sound * Double(Self.span)).rounded())
        return whole / Double(Self.span)
    }

    /// Length of a decoded stretch of sound, as it is played.
    func seconds(of frame: UnsafeMutablePointer<AVFrame>) -> Double {
        Double(frame.pointee.nb_samples) / Double(max(1, scaledRate))
    }

    /// Samples that a stretch is spread over: 10 s. It is set again when half of them are made.
    private static let span: Int32 = 480_000

    /// - Returns: samples a channel that `channel` holds until the next call, and how many seconds of the input came
    ///   before the frame's first sample and are still inside; nil when the frame cannot be converted.
    func convert(_ frame: UnsafeMutablePointer<AVFrame>) -> (count: Int, early: Double)? {
        let picture = frame.pointee
        if picture.sample_rate != inputRate || picture.format != inputFormat
            || picture.ch_layout.nb_channels != inputChannels
        {
            guard configure(frame) else { return nil }
        }
        if stretches, wanted != applied || age > Int(Self.span) / 2 {
            swr_set_compensation(context, wanted, Self.span)
            applied = wanted
            age = 0
        }
        let scaled = Int64(scaledRate)
        let early = Double(swr_get_delay(context, scaled)) / Double(scaled)
        let room = Int(swr_get_out_samples(context, picture.nb_samples))
        let made = run(room: room, input: picture.extended_data, count: picture.nb_samples)
        age += made ?? 0
        return made.map { ($0, early) }
    }

    /// What is still inside at the end of a track.
    func drain() -> Int {
        guard context != nil else { return 0 }
        return run(room: Int(swr_get_out_samples(context, 0)), input: nil, count: 0) ?? 0
    }

    /// Forgets what is inside, after a jump.
    func reset() {
        swr_free(&context)
        inputRate = 0
    }

    func channel(_ index: Int) -> UnsafePointer<Float> { UnsafePointer(samples + index * capacity) }

    private var scaledRate: Int32 { Int32(max(1, (Double(inputRate) * speed).rounded())) }

    private func configure(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        swr_free(&context)
        inputRate = frame.pointee.sample_rate
        inputFormat = frame.pointee.format
        inputChannels = frame.pointee.ch_layout.nb_channels
        // Beyond 1 MHz it is no sound but a broken header.
        guard (1...1_000_000).contains(inputRate), inputChannels > 0 else { return false }
        var input = AVChannelLayout()
        if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            av_channel_layout_default(&input, inputChannels)
        } else {
            av_channel_layout_copy(&input, &frame.pointee.ch_layout)
        }
        var output = AVChannelLayout()
        av_channel_layout_default(&output, Int32(channels))
        defer {
            av_channel_layout_uninit(&input)
            av_channel_layout_uninit(&output)
        }
        let status = swr_alloc_set_opts2(
            &context, &output, AV_SAMPLE_FMT_FLTP, Self.rate, &input, AVSampleFormat(rawValue: inputFormat),
            scaledRate, 0, nil)
        // Without it, sound of integers is divided by the sum of what is mixed: the same film would be softer as 16 bits.
        av_opt_set_double(UnsafeMutableRawPointer(context), "rematrix_maxval", 1000, 0)
        if stretches {
            // A resampler from the beginning, so that none has to be put in later.
            av_opt_set_int(UnsafeMutableRawPointer(context), "flags", Int64(SWR_FLAG_RESAMPLE), 0)
            av_opt_set_int(UnsafeMutableRawPointer(context), "linear_interp", 1, 0)
            applied = 0
        }
        guard status >= 0, swr_init(context) >= 0 else {
            reset()
            return false
        }
        return true
    }

    private func run(room: Int, input: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, count: Int32) -> Int? {
        if room > capacity {
            samples.deallocate()
            capacity = room * 2
            samples = .allocate(capacity: capacity * channels)
        }
        let made = withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: channels) { planes in
            for channel in 0..<channels {
                let row = UnsafeMutableRawPointer(samples + channel * capacity)
                planes.initializeElement(at: channel, to: row.assumingMemoryBound(to: UInt8.self))
            }
            return swr_convert(
                context, planes.baseAddress, Int32(clamping: capacity),
                input.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafePointer<UInt8>?.self) }, count)
        }
        return made >= 0 ? Int(made) : nil
    }
}
