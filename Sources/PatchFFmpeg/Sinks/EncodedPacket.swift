internal import CFFmpeg
import PatchMedia

/// One encoded picture or stretch of sound, in the time base of its encoder.
///
/// Thread-safety: immutable once made; may be read and released on any thread.
final class EncodedPacket: @unchecked Sendable {
    // Unchecked: the packet is filled in init and only read afterwards; its bytes are reference-counted by FFmpeg.
    let pointer: UnsafeMutablePointer<AVPacket>
    let isVideo: Bool
    /// Decoding time in nanoseconds on the output's own time line.
    let time: Int64
    /// Presentation time, likewise.
    let presentation: Int64
    /// Monotonic nanoseconds at which the encoder gave it.
    let made: Int64

    /// Takes over the contents of `source` (av_packet_move_ref).
    init(moving source: UnsafeMutablePointer<AVPacket>, isVideo: Bool, base: AVRational) throws {
        guard let pointer = av_packet_alloc() else { throw outOfMemory("a packet") }
        av_packet_move_ref(pointer, source)
        self.pointer = pointer
        self.isVideo = isVideo
        time = av_rescale_q(pointer.pointee.dts, base, AVRational(num: 1, den: 1_000_000_000))
        presentation = av_rescale_q(pointer.pointee.pts, base, AVRational(num: 1, den: 1_000_000_000))
        made = monotonicNanoseconds()
    }

    var isKeyframe: Bool { isVideo && pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    var byteCount: Int { Int(pointer.pointee.size) }
    /// The number of the frame in the output.
    var frameIndex: Int64 { pointer.pointee.pts }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&packet)
    }
}

/// What a muxer must know about an encoder's stream.
///
/// Thread-safety: immutable once made.
final class StreamParameters: @unchecked Sendable {
    // Unchecked: written in init, read-only afterwards.
    let pointer: UnsafeMutablePointer<AVCodecParameters>
    let isVideo: Bool
    let timeBase: AVRational
    /// Frames a second; 0/1 for sound.
    let rate: AVRational

    init(_ context: UnsafePointer<AVCodecContext>, isVideo: Bool) throws {
        guard let pointer = avcodec_parameters_alloc() else { throw outOfMemory("a stream") }
        avcodec_parameters_from_context(pointer, context)
        self.pointer = pointer
        self.isVideo = isVideo
        timeBase = context.pointee.time_base
        rate = isVideo ? context.pointee.framerate : AVRational(num: 0, den: 1)
    }

    deinit {
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = pointer
        avcodec_parameters_free(&parameters)
    }
}

/// Takes packets in the order in which encoders give them.
typealias PacketConsumer = (EncodedPacket) throws -> Void

/// An opened encoder and the loop that gets packets out of it (avcodec_send_frame, avcodec_receive_packet).
struct EncoderContext: ~Copyable {
    let codec: CodecHandle
    let packet: PacketHandle
    let isVideo: Bool

    var pointer: UnsafeMutablePointer<AVCodecContext> { codec.pointer }

    /// - Parameters:
    ///   - names: FFmpeg's encoders, the preferred one first.
    ///   - configure: sets fields and gives options, by encoder name.
    /// - Throws: `PatchError.unavailable` when none is built in or the encoder refuses its settings.
    init(
        _ names: [String], called shown: String, isVideo: Bool,
        configure: (String, UnsafeMutablePointer<AVCodecContext>) -> [(String, String)]
    ) throws {
        FFmpegLog.silence()
        guard let name = names.first(where: { avcodec_find_encoder_by_name($0) != nil }) else {
            throw PatchError(
                .unavailable, "this FFmpeg has no encoder for \(shown)",
                remedy: "install an FFmpeg with \(names.joined(separator: " or ")), or choose another codec")
        }
        let codec = try CodecHandle(avcodec_find_encoder_by_name(name))
        let packet = try PacketHandle()
        var options: OpaquePointer?
        for (key, value) in configure(name, codec.pointer) { av_dict_set(&options, key, value, 0) }
        defer { av_dict_free(&options) }
        FFmpegLog.forget()
        let status = avcodec_open2(codec.pointer, nil, &options)
        guard status >= 0 else {
            throw PatchError(
                .unavailable, "the \(shown) encoder refuses these settings",
                remedy: "check size, rate and bitrate", cause: FFmpegLog.lastLine ?? AVError.text(status))
        }
        self.codec = codec
        self.packet = packet
        self.isVideo = isVideo
    }

    /// Encodes a frame, or (nil) drains the encoder.
    /// - Throws: `PatchError.media`, or what `emit` throws.
    func encode(_ frame: UnsafeMutablePointer<AVFrame>?, _ emit: PacketConsumer) throws {
        let status = avcodec_send_frame(pointer, frame)
        guard status >= 0 || status == AVError.eof else { throw failure(status) }
        while true {
            let status = avcodec_receive_packet(pointer, packet.pointer)
            if status == AVError.again || status == AVError.eof { return }
            guard status >= 0 else { throw failure(status) }
            if isVideo, packet.pointer.pointee.duration == 0 { packet.pointer.pointee.duration = 1 }
            try emit(EncodedPacket(moving: packet.pointer, isVideo: isVideo, base: pointer.pointee.time_base))
        }
    }

    private func failure(_ status: Int32) -> PatchError {
        PatchError(
            .media, "the \(isVideo ? "picture" : "sound") encoder failed", remedy: "restart the output",
            cause: AVError.text(status))
    }
}
