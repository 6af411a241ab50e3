internal import CFFmpeg
import Glibc
import PatchGraph
import PatchMedia

/// An open file, stream or device (avformat_open_input, av_read_frame) and the decoders of its tracks.
///
/// Not thread-safe: one thread at a time.
final class MediaReader {
    private let input: InputHandle
    /// Ends blocking calls; the caller keeps it to cancel from elsewhere.
    private let deadline: InterruptDeadline
    let address: InputAddress
    /// nil when there is no picture.
    let video: TrackDecoder?
    /// nil when there is no sound, or none that can be decoded.
    let sound: TrackDecoder?
    /// Why the sound is left out, when it is.
    let soundProblem: PatchError?
    /// The picture is one still, such as a record's cover.
    let isCover: Bool
    /// What the container says about standing upright.
    let orientation: Orientation
    let rate: FrameRate?
    /// Channels of the smallest of mono, stereo, 5.1 and 7.1 that has all of the stored ones; 2 when the container does not
    /// tell.
    let storedChannels: Int

    /// Opens and reads until the tracks are known.
    /// - Throws: `PatchError` that names the input and says what to do.
    init(_ address: InputAddress, deadline: InterruptDeadline) throws {
        FFmpegLog.silence()
        FFmpegLog.forget()
        self.address = address
        self.deadline = deadline
        deadline.allow(nanoseconds: address.timeout)
        input = try InputHandle(address, deadline: deadline)
        let context = input.pointer
        // Devices know their format at once, and measuring would take their frames for nothing.
        if address.demuxer == nil {
            let status = avformat_find_stream_info(context, nil)
            guard status >= 0 else { throw address.error(status, deadline: deadline) }
        }

        func best(_ type: AVMediaType, related: Int32 = -1) -> UnsafeMutablePointer<AVStream>? {
            let index = av_find_best_stream(context, type, -1, related, nil, 0)
            return index >= 0 ? context.pointee.streams[Int(index)] : nil
        }
        let picture = best(AVMEDIA_TYPE_VIDEO)
        // A live stream may announce sound that begins later.
        let voice =
            best(AVMEDIA_TYPE_AUDIO, related: picture?.pointee.index ?? -1)
            ?? (address.isLive ? Self.announcedSound(context) : nil)
        guard picture != nil || voice != nil else {
            throw PatchError(
                .media, "'\(address.shown)' has neither picture nor sound", remedy: "check it with `ffprobe`",
                cause: address.isSecret ? nil : FFmpegLog.lastLine)
        }
        for index in 0..<Int(context.pointee.nb_streams) {
            guard let stream = context.pointee.streams[index] else { continue }
            let isWanted = stream == picture || stream == voice
            stream.pointee.discard = isWanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
        let options = address.decoderOptions
        video = try picture.map {
            try TrackDecoder(stream: $0, isLive: address.isLive, shown: address.shown, options: options)
        }
        // A film whose sound cannot be decoded is still a film.
        var problem: PatchError?
        var decoder: TrackDecoder?
        do {
            decoder = try voice.map { try TrackDecoder(stream: $0, isLive: address.isLive, shown: address.shown) }
        } catch let error as PatchError {
            guard picture != nil else { throw error }
            problem = error
        }
        sound = decoder
        soundProblem = problem
        isCover = picture.map { $0.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 } ?? false
        orientation =
            picture.flatMap { patch_stream_display_matrix($0) }.map { Orientation(displayMatrix: $0) } ?? .identity
        let guessed = picture.flatMap {
            FrameRate(av_guess_frame_rate(context, $0, nil)) ?? FrameRate($0.pointee.avg_frame_rate)
        }
        rate = address.isLive ? guessed.map { $0.nearestStandard } : guessed
        storedChannels = voice.map { Self.channels(of: &$0.pointee.codecpar.pointee.ch_layout) } ?? 2
    }

    private static func channels(of layout: inout AVChannelLayout) -> Int {
        let count = Int(layout.nb_channels)
        guard count > 2 else { return count > 0 ? count : 2 }
        return patch_fits_5_1(&layout) != 0 ? 6 : 8
    }

    /// A track of sound of which nothing but the codec is known.
    private static func announcedSound(
        _ context: UnsafeMutablePointer<AVFormatContext>
    ) -> UnsafeMutablePointer<AVStream>? {
        (0..<Int(context.pointee.nb_streams)).lazy.compactMap { context.pointee.streams[$0] }.first {
            $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
                && $0.pointee.codecpar.pointee.codec_id != AV_CODEC_ID_NONE
        }
    }

    /// Where the file's time line begins; zero for live inputs, whose clocks say nothing.
    var startTime: MediaTime {
        MediaTime(input.pointer.pointee.start_time, base: AVRational(num: 1, den: AV_TIME_BASE)) ?? .zero
    }

    /// From the beginning to the end, when the container knows.
    var duration: MediaTime? {
        let duration = input.pointer.pointee.duration
        return duration > 0 ? MediaTime(duration, base: AVRational(num: 1, den: AV_TIME_BASE)) : nil
    }

    enum Reading {
        /// Owned by the caller (av_packet_free).
        case packet(UnsafeMutablePointer<AVPacket>)
        /// Nothing this time; ask again.
        case nothing
        case ended
        /// Broken data was skipped.
        case corrupt
        case failed(PatchError)
    }

    /// The next packet of any track. Waits at most the address's timeout.
    func read() -> Reading {
        guard let packet = av_packet_alloc() else { return .failed(outOfMemory("a packet")) }
        deadline.allow(nanoseconds: address.timeout)
        let status = av_read_frame(input.pointer, packet)
        if status >= 0 { return .packet(packet) }
        TrackBacklog.free(packet)
        if status == AVError.again { return .nothing }
        if status == AVError.eof { return .ended }
        if status == AVError.invalidData { return .corrupt }
        return .failed(address.error(status, deadline: deadline, doing: "read"))
    }

    /// The packet is of a track of sound, and none was there when the input was opened.
    func beginsSound(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
        let index = Int(packet.pointee.stream_index)
        guard sound == nil, index >= 0, index < Int(input.pointer.pointee.nb_streams) else { return false }
        return input.pointer.pointee.streams[index]?.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
    }

    /// Goes to the last key frame at or before `time` on the file's time line. False when the input cannot.
    func seek(to time: MediaTime) -> Bool {
        deadline.allow(nanoseconds: address.timeout)
        // Where stamps may jump, they do not tell where the beginning is.
        if time <= startTime, input.pointer.pointee.iformat.pointee.flags & AVFMT_TS_DISCONT != 0,
            av_seek_frame(input.pointer, -1, 0, AVSEEK_FLAG_BYTE) >= 0
        {
            return true
        }
        let target = time.converted(to: Int64(AV_TIME_BASE))
        return avformat_seek_file(input.pointer, -1, Int64.min, target, target, 0) >= 0
            || av_seek_frame(input.pointer, -1, target, AVSEEK_FLAG_BACKWARD) >= 0
    }
}

extension FrameRate {
    /// The broadcast rate within 1 %, else itself: what is measured on a live stream has jitter in it.
    var nearestStandard: FrameRate {
        let standards = [
            FrameRate(24000, over: 1001), FrameRate(24), FrameRate(25), FrameRate(30000, over: 1001), FrameRate(30),
            FrameRate(50), FrameRate(60000, over: 1001), FrameRate(60), FrameRate(15), FrameRate(10),
        ]
        let nearest = standards.min { abs($0.perSecond - perSecond) < abs($1.perSecond - perSecond) } ?? self
        return abs(nearest.perSecond - perSecond) <= perSecond / 100 ? nearest : self
    }
}

/// An AVFormatContext for reading (avformat_open_input, avformat_close_input).
struct InputHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVFormatContext>
    /// The interrupt callback points to it.
    private let deadline: InterruptDeadline
    /// Of a named pipe; -1 for everything else.
    private let descriptor: Int32

    /// - Throws: `PatchError` that says why the input cannot be opened.
    init(_ address: InputAddress, deadline: InterruptDeadline) throws {
        var demuxer: UnsafePointer<AVInputFormat>?
        if let name = address.demuxer {
            registerDevices()
            demuxer = av_find_input_format(name)
            guard demuxer != nil else {
                throw PatchError(
                    .unavailable, "this FFmpeg has no '\(name)' input", remedy: "install the full libavdevice package")
            }
        }
        var context = avformat_alloc_context()
        guard context != nil else { throw outOfMemory("an input") }
        context?.pointee.interrupt_callback = deadline.callback
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        for (name, value) in address.options { av_dict_set(&options, name, value, 0) }
        var (url, descriptor) = (address.name.value, Int32(-1))
        if address.isPipe {
            // Opening for reading would wait for a writer, and nothing could end that wait.
            descriptor = Glibc.open(url, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else {
                avformat_free_context(context)
                throw PatchError(
                    .notFound, "the pipe '\(address.shown)' cannot be opened", remedy: "make it with mkfifo",
                    cause: String(cString: strerror(errno)))
            }
            Self.waitForWriter(descriptor, deadline)
            url = "pipe:\(descriptor)"
        }
        let status = avformat_open_input(&context, url, demuxer, &options)
        // After a failure, FFmpeg has freed the context.
        guard status >= 0, let context else {
            if descriptor >= 0 { close(descriptor) }
            throw address.error(status, deadline: deadline)
        }
        pointer = context
        self.descriptor = descriptor
        self.deadline = deadline
    }

    /// Before anybody has written, reading would find the pipe's end.
    private static func waitForWriter(_ descriptor: Int32, _ deadline: InterruptDeadline) {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&state, 1, 50) == 0, !deadline.mustStop {}
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = pointer
        avformat_close_input(&context)
        if descriptor >= 0 { close(descriptor) }
    }
}

private let devicesRegistered: Void = avdevice_register_all()
/// Makes libavdevice's inputs known (avdevice_register_all), once.
func registerDevices() { devicesRegistered }
