internal import CFFmpeg
import PatchMedia

/// The decoder of one track: packets in, pictures or sound out (avcodec_send_packet, avcodec_receive_frame).
///
/// Not thread-safe: it belongs to the source's thread.
final class TrackDecoder {
    enum Answer {
        /// `frame` holds a decoded frame until the next call.
        case frame
        case needsPacket
        /// Everything was given out after `drain`.
        case drained
        /// A packet was broken; go on.
        case corrupt
    }

    let index: Int32
    let timeBase: AVRational
    /// FFmpeg's SVG decoder hands out Cairo's premultiplied pixels and does not say so.
    let isPremultiplied: Bool
    private let codec: CodecHandle
    private let scratch: AVFrameHandle

    /// - Parameter isLive: decode with threads that delay nothing.
    /// - Throws: `PatchError` when this build has no decoder for the track.
    init(stream: UnsafeMutablePointer<AVStream>, isLive: Bool, shown: String, options: [(String, String)] = []) throws {
        index = stream.pointee.index
        timeBase = stream.pointee.time_base
        let parameters = stream.pointee.codecpar
        let identifier = parameters?.pointee.codec_id ?? AV_CODEC_ID_NONE
        let name = String(cString: avcodec_get_name(identifier))
        guard let decoder = avcodec_find_decoder(identifier) else {
            throw PatchError(
                .media, "'\(shown)' is coded as '\(name)', which this FFmpeg cannot decode",
                remedy: "convert it, for example to H.264")
        }
        isPremultiplied = identifier == AV_CODEC_ID_SVG
        codec = try CodecHandle(decoder)
        scratch = try AVFrameHandle()
        let context = codec.pointer
        guard avcodec_parameters_to_context(context, parameters) >= 0 else { throw outOfMemory("a decoder") }
        context.pointee.pkt_timebase = timeBase
        context.pointee.thread_count = 0
        if isLive { context.pointee.thread_type = FF_THREAD_SLICE }
        for (key, value) in options {
            av_opt_set(context, key, value, AV_OPT_SEARCH_CHILDREN)
        }
        let status = avcodec_open2(context, decoder, nil)
        guard status >= 0 else {
            throw PatchError(
                .media, "'\(shown)': the '\(name)' decoder does not start", remedy: "convert the file",
                cause: AVError.text(status))
        }
    }

    var frame: UnsafeMutablePointer<AVFrame> { scratch.pointer }

    /// - Returns: false when the packet was broken.
    func send(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
        let status = avcodec_send_packet(codec.pointer, packet)
        return status >= 0 || status == AVError.again || status == AVError.eof
    }

    /// No more packets until `flush`: gives out what is still inside.
    func drain() { avcodec_send_packet(codec.pointer, nil) }

    /// After a jump in the file.
    func flush() { avcodec_flush_buffers(codec.pointer) }

    func receive() -> Answer {
        switch avcodec_receive_frame(codec.pointer, scratch.pointer) {
        case 0...: .frame
        case AVError.again: .needsPacket
        case AVError.eof: .drained
        default: .corrupt
        }
    }

    /// When the frame is shown or heard, on the file's time line.
    var frameTime: MediaTime? { MediaTime(frame.pointee.best_effort_timestamp, base: timeBase) }
    var frameDuration: MediaTime? {
        let duration = patch_frame_duration(frame)
        return duration > 0 ? MediaTime(duration, base: timeBase) : nil
    }
}
