internal import CFFmpeg
import PatchMedia

/// Encodes sound at 48 kHz: converts what comes (swresample), cuts it into the codec's frames, counts every sample.
///
/// Thread-safety: one thread at a time.
final class AudioEncoder {
    private let encoder: EncoderContext
    private let frame: AVFrameHandle
    private var filled = 0
    private var sent: Int64
    private var resampler: OpaquePointer?
    private var inputFormat: AudioFormat?
    private let scratch: AVFrameHandle
    let parameters: StreamParameters

    /// - Parameter position: the sample at which the sound begins on the output's time line.
    init(_ encoding: AudioEncoding, channels: Int, position: Int64 = 0) throws {
        sent = position
        frame = try AVFrameHandle()
        scratch = try AVFrameHandle()
        encoder = try EncoderContext(encoding.codec.encoders, called: encoding.codec.rawValue, isVideo: false) {
            _, context in
            context.pointee.sample_rate = Int32(AudioEncoding.sampleRate)
            context.pointee.sample_fmt =
                switch encoding.codec {
                case .aac: AV_SAMPLE_FMT_FLTP
                case .opus: AV_SAMPLE_FMT_FLT
                case .pcm: AV_SAMPLE_FMT_S32
                }
            av_channel_layout_default(&context.pointee.ch_layout, Int32(channels))
            context.pointee.bit_rate = Int64(encoding.bitrate)
            context.pointee.time_base = AVRational(num: 1, den: Int32(AudioEncoding.sampleRate))
            context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
            return []
        }
        parameters = try StreamParameters(encoder.pointer, isVideo: false)
        try AudioEncoder.allocate(frame.pointer, samples: frameSize, like: encoder.pointer)
    }

    deinit { swr_free(&resampler) }

    /// Samples taken so far, at 48 kHz, those inside the resampler included.
    var position: Int64 {
        sent + Int64(filled) + (resampler.map { swr_get_delay($0, Int64(AudioEncoding.sampleRate)) } ?? 0)
    }

    /// Encodes a block from its sample `first` on.
    func encode(_ block: AudioBlock, from first: Int = 0, _ emit: PacketConsumer) throws {
        let count = block.count - first
        guard count > 0 else { return }
        if inputFormat != block.format { try prepare(for: block.format) }
        let room = swr_get_out_samples(resampler, Int32(count))
        if room > scratch.pointer.pointee.nb_samples {
            av_frame_unref(scratch.pointer)
            try AudioEncoder.allocate(scratch.pointer, samples: room, like: encoder.pointer)
        }
        let converted = withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: block.format.channels) {
            input in
            for channel in 0..<block.format.channels {
                let samples = UnsafeRawPointer(block.channel(channel) + first)
                input.initializeElement(at: channel, to: samples.assumingMemoryBound(to: UInt8.self))
            }
            return swr_convert(
                resampler, scratch.pointer.pointee.extended_data, scratch.pointer.pointee.nb_samples, input.baseAddress,
                Int32(count))
        }
        guard converted >= 0 else {
            throw PatchError(.media, "the sound cannot be converted", cause: AVError.text(converted))
        }
        try append(Int(converted), emit) { target, offset, source, count in
            av_samples_copy(
                target.pointee.extended_data, scratch.pointer.pointee.extended_data, Int32(offset), Int32(source),
                Int32(count), encoder.pointer.pointee.ch_layout.nb_channels, encoder.pointer.pointee.sample_fmt)
        }
    }

    /// Encodes `count` samples of silence.
    func encodeSilence(_ count: Int64, _ emit: PacketConsumer) throws {
        try append(Int(count), emit) { target, offset, _, count in
            av_samples_set_silence(
                target.pointee.extended_data, Int32(offset), Int32(count),
                encoder.pointer.pointee.ch_layout.nb_channels, encoder.pointer.pointee.sample_fmt)
        }
    }

    /// Encodes what is left, the last frame as short as it is, and drains the encoder.
    func drain(_ emit: PacketConsumer) throws {
        if filled > 0 {
            frame.pointer.pointee.nb_samples = Int32(filled)
            try send(emit)
        }
        try encoder.encode(nil, emit)
    }

    /// Samples that are encoded at once: what the codec wants, or as many as are handy.
    private var frameSize: Int32 {
        let size = encoder.pointer.pointee.frame_size
        return size > 0 ? size : 1024
    }

    /// Puts `count` samples into frames of the codec's size and encodes the full ones.
    private func append(
        _ count: Int, _ emit: PacketConsumer,
        copy: (_ target: UnsafeMutablePointer<AVFrame>, _ offset: Int, _ source: Int, _ count: Int) -> Int32
    ) throws {
        var done = 0
        while done < count {
            if filled == 0, av_frame_make_writable(frame.pointer) < 0 { throw outOfMemory("sound") }
            let part = min(count - done, Int(frameSize) - filled)
            _ = copy(frame.pointer, filled, done, part)
            filled += part
            done += part
            if filled == Int(frameSize) { try send(emit) }
        }
    }

    private func send(_ emit: PacketConsumer) throws {
        frame.pointer.pointee.pts = sent
        sent += Int64(filled)
        filled = 0
        try encoder.encode(frame.pointer, emit)
    }

    private func prepare(for format: AudioFormat) throws {
        swr_free(&resampler)
        var layout = AVChannelLayout()
        av_channel_layout_default(&layout, Int32(format.channels))
        let status = swr_alloc_set_opts2(
            &resampler, &encoder.pointer.pointee.ch_layout, encoder.pointer.pointee.sample_fmt,
            Int32(AudioEncoding.sampleRate), &layout, AV_SAMPLE_FMT_FLTP, Int32(format.sampleRate), 0, nil)
        guard status >= 0, swr_init(resampler) >= 0 else {
            throw PatchError(
                .media, "cannot convert sound of \(format.channels) channels at \(format.sampleRate) Hz",
                cause: AVError.text(status))
        }
        inputFormat = format
    }

    private static func allocate(
        _ frame: UnsafeMutablePointer<AVFrame>, samples: Int32, like context: UnsafeMutablePointer<AVCodecContext>
    ) throws {
        frame.pointee.nb_samples = samples
        frame.pointee.format = context.pointee.sample_fmt.rawValue
        frame.pointee.sample_rate = context.pointee.sample_rate
        av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout)
        guard av_frame_get_buffer(frame, 0) >= 0 else { throw outOfMemory("sound") }
    }
}
