internal import CFFmpeg
import Glibc
import PatchMedia

/// Where a muxer writes to.
struct MuxTarget: Sendable {
    /// FFmpeg's muxer.
    var muxer: String
    /// What libavformat opens; may hold secrets.
    var url: String
    /// What people see instead of `url`.
    var shown: String
    /// Options of the muxer and of the protocol.
    var options: [(String, String)] = []
    /// A peer is involved: calls are bounded in time.
    var isNetwork = false
    /// Waits for a peer to call, however long that takes.
    var isListener = false

    /// Whether a line of FFmpeg's log may be shown: it has no word of what `shown` hides.
    func mayShow(_ line: String) -> Bool {
        guard url != shown else { return true }
        // The secret is what remains of the URL between the parts that both texts have.
        let before = zip(url, shown).prefix { $0 == $1 }.count
        let after = zip(url.reversed(), shown.reversed()).prefix { $0 == $1 }.count
        let hidden = url.dropFirst(before).dropLast(min(after, url.count - before))
        let words = hidden.split { "/?&=:@.".contains($0) } + [hidden]
        return !words.contains { !$0.isEmpty && line.contains($0) }
    }

}

/// Writes packets into a container, to a file or a peer (libavformat).
///
/// Thread-safety: one thread at a time; the interrupt may be used from any.
final class MediaMuxer {
    /// How long a connection may take to come about, and a write to be accepted, in nanoseconds.
    static let connectLimit: Int64 = 5_000_000_000
    static let writeLimit: Int64 = 10_000_000_000

    private let target: MuxTarget
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let interrupt: InterruptDeadline
    private let scratch: PacketHandle
    private let streams: [StreamParameters]
    private var isOpen = false
    /// What is taken off each stream's time stamps, in its encoder's time base.
    private var shifts: [Int64]

    /// Opens the file or connection and writes the header.
    /// - Throws: `PatchError` `.output` or `.network` that says what cannot be reached or written.
    init(_ target: MuxTarget, streams: [StreamParameters], interrupt: InterruptDeadline) throws {
        FFmpegLog.silence()
        FFmpegLog.forget()
        avformat_network_init()
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        avformat_alloc_output_context2(&allocated, nil, target.muxer, target.url)
        guard let context = allocated else {
            throw PatchError(
                .unavailable, "this FFmpeg cannot write \(target.muxer)", remedy: "install an FFmpeg that can")
        }
        self.target = target
        self.context = context
        self.interrupt = interrupt
        self.streams = streams
        shifts = streams.map { _ in 0 }
        do { scratch = try PacketHandle() } catch {
            avformat_free_context(context)
            throw error
        }
        for parameters in streams {
            guard let stream = avformat_new_stream(context, nil) else { throw outOfMemory("a stream") }
            avcodec_parameters_copy(stream.pointee.codecpar, parameters.pointer)
            // The container chooses its own tag, but for H.265 in MP4, where players want the other one of two.
            let isHEVC = parameters.pointer.pointee.codec_id == AV_CODEC_ID_HEVC
            let hvc1: UInt32 = 0x3163_7668
            stream.pointee.codecpar.pointee.codec_tag =
                isHEVC && ["mp4", "mov", "hls"].contains(target.muxer) ? hvc1 : 0
            stream.pointee.time_base = parameters.timeBase
            stream.pointee.avg_frame_rate = parameters.rate
        }
        context.pointee.interrupt_callback = interrupt.callback
        context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
        interrupt.allow(nanoseconds: target.isNetwork && !target.isListener ? MediaMuxer.connectLimit : nil)
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        for (key, value) in target.options { av_dict_set(&options, key, value, 0) }
        if context.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 {
            let status = avio_open2(
                &context.pointee.pb, target.url, AVIO_FLAG_WRITE, &context.pointee.interrupt_callback, &options)
            guard status >= 0 else { throw failure(status, opening: true) }
        }
        let status = avformat_write_header(context, &options)
        guard status >= 0 else { throw failure(status, opening: true) }
        isOpen = true
    }

    deinit {
        // Without a trailer: whoever wants one calls `finish`.
        interrupt.allow(nanoseconds: 1_000_000_000)
        closeFile()
        avformat_free_context(context)
    }

    /// The stream's time 0 is at this time of the encoder's line, in nanoseconds. Before the first packet.
    func begin(at time: Int64) {
        shifts = streams.map { av_rescale_q(time, AVRational(num: 1, den: 1_000_000_000), $0.timeBase) }
    }

    /// Writes one packet (av_interleaved_write_frame), which may wait for packets of the other stream.
    /// - Throws: `PatchError` when the disk or the peer takes no more.
    func write(_ packet: EncodedPacket) throws {
        guard let index = streams.firstIndex(where: { $0.isVideo == packet.isVideo }),
            let stream = context.pointee.streams[index]
        else { return }
        guard av_packet_ref(scratch.pointer, packet.pointer) >= 0 else { throw outOfMemory("a packet") }
        scratch.pointer.pointee.stream_index = Int32(index)
        scratch.pointer.pointee.pts += delay(of: index) - shifts[index]
        scratch.pointer.pointee.dts += delay(of: index) - shifts[index]
        av_packet_rescale_ts(scratch.pointer, streams[index].timeBase, stream.pointee.time_base)
        interrupt.allow(nanoseconds: target.isNetwork ? MediaMuxer.writeLimit : nil)
        FFmpegLog.forget()
        let status = av_interleaved_write_frame(context, scratch.pointer)
        guard status >= 0 else { throw failure(status, opening: false) }
        if let pb = context.pointee.pb, pb.pointee.error < 0 { throw failure(pb.pointee.error, opening: false) }
    }

    /// What must be added to a stream's time stamps. Before FFmpeg 6, the Matroska muxer tells players to take off
    /// Opus's encoder delay, but does not add it, so that sound would come 6.5 ms early.
    private func delay(of index: Int) -> Int64 {
        let parameters = streams[index].pointer.pointee
        guard parameters.codec_id == AV_CODEC_ID_OPUS, ["webm", "matroska"].contains(target.muxer),
            avformat_version() >> 16 < 60
        else { return 0 }
        return Int64(parameters.initial_padding)
    }

    /// Writes what waits and the trailer, and closes.
    /// - Throws: `PatchError` when the end could not be written.
    func finish() throws {
        guard isOpen else { return }
        isOpen = false
        interrupt.allow(nanoseconds: target.isNetwork ? MediaMuxer.connectLimit : nil)
        let status = av_write_trailer(context)
        let written = closeFile()
        guard status >= 0, written >= 0 else { throw failure(min(status, written), opening: false) }
    }

    @discardableResult
    private func closeFile() -> Int32 {
        guard context.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0, context.pointee.pb != nil else { return 0 }
        let status = avio_closep(&context.pointee.pb)
        return status
    }

    private func failure(_ status: Int32, opening: Bool) -> PatchError {
        // An errno says enough, but for the one that stands for anything (EIO), and FFmpeg's own codes: there the log's words
        // are better, though they may quote the URL.
        let isPlain = status > -4096 && !AVError.isErrno(status, EIO)
        let words = isPlain ? nil : FFmpegLog.firstLine.flatMap { target.mayShow($0) ? $0 : nil }
        let cause = interrupt.hasExpired ? "no answer in time" : words ?? AVError.text(status)
        let code: PatchError.Code = target.isNetwork ? .network : .output
        let message =
            if target.isNetwork {
                opening ? "cannot connect to \(target.shown)" : "the connection to \(target.shown) broke"
            } else {
                "cannot write to \(target.shown)"
            }
        return PatchError(code, message, remedy: remedy(status, opening: opening), cause: cause)
    }

    private func remedy(_ status: Int32, opening: Bool) -> String {
        if AVError.isErrno(status, ENOSPC) || AVError.isErrno(status, EDQUOT) || AVError.isErrno(status, EFBIG) {
            return "free some space, or write to another disk"
        }
        if AVError.isErrno(status, EACCES) || AVError.isErrno(status, EROFS) || AVError.isErrno(status, EPERM) {
            return target.isNetwork ? "check the stream key" : "choose a place that may be written"
        }
        if AVError.isErrno(status, ENOENT), !target.isNetwork { return "make the folder first" }
        if FFmpegLog.firstLine?.contains("certificate") == true {
            return "if the server's certificate is to be trusted, name its authority in caFile"
        }
        if AVError.isErrno(status, ECONNREFUSED) { return "start the server, or check its address and port" }
        guard target.isNetwork, opening else { return "" }
        return "check the address, the application's name and the stream key"
    }
}
