import PatchGraph
import PatchMedia
import Synchronization

/// `recorder`: writes picture and sound to a file that stays playable when the process is killed.
///
/// Thread-safety: as `MediaSink` states.
final class Recorder: MediaSink {
    private let environment: NodeEnvironment
    private let path: String
    private let container: Container
    private let settings: OutputSettings
    private let takesSound: Bool
    private let silence: Bool
    private let queue: QueuePolicy
    private let split: RecordingWriter.Split?
    private let session = Mutex<Session?>(nil)
    private let opened = Mutex<OpenedFormats?>(nil)
    private let drops = DropNotice()
    /// What the numbers were when the recording ended.
    private let closing = Mutex<OutputStatistics?>(nil)

    /// An open file and the seat at its encoder.
    private struct Session {
        let seat: EncoderSeat
        let writer: RecordingWriter
        let targetBitrate: Int
    }

    static let schema = NodeSchema(
        kind: "recorder", role: .sink, summary: "Records picture and sound to a file.",
        options: [
            OptionSchema(
                "file", .outputFile,
                "The file; its ending chooses the container: "
                    + Container.files.map { "." + $0.suffix }.joined(separator: ", ") + ".", required: true),
            OptionSchema(
                "audio", .choice(["auto", "silence", "none"]), "The incoming sound, silence, or no track.",
                default: "auto"),
            OptionSchema(
                "split", .number(1...86_400),
                "Begins a new file, name-001, name-002, …, each time so much is recorded.",
                unit: "s", default: "one file"),
            OptionSchema(
                "splitSize", .number(1_000_000...1e13), "Likewise by size.", unit: "byte", default: "one file"),
            OutputSettings.qualitySchema, OutputSettings.audioCodecSchema,
        ] + OutputSettings.schema)

    init(options: NodeOptions, environment: NodeEnvironment) throws {
        self.environment = environment
        guard let path = options.string("file") else {
            throw PatchError(
                .usage, "recorder needs a file", remedy: "write file = \"name.mp4\"", node: environment.nodeID,
                at: environment.location)
        }
        self.path = path
        takesSound = options.string("audio") != "none"
        do {
            container = try Container.forFile(path)
            settings = try OutputSettings(options, container: container, isLive: false)
            let (seconds, bytes) = (options.number("split"), options.number("splitSize").map { Int64($0) })
            split = seconds == nil && bytes == nil ? nil : RecordingWriter.Split(seconds: seconds, bytes: bytes)
        } catch let error as PatchError { throw error.placed(node: environment.nodeID, at: environment.location) }
        queue = OutputSettings.queue(options, depth: 16, isOffline: environment.isOffline)
        silence = options.string("audio") == "silence"
    }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        let opened = opened.withLock { $0 }
        let video = opened.map(\.video) ?? offered.map(settings.format)
        let hasTrack = opened?.hasAudioTrack ?? (takesSound && hasSound)
        guard video != nil || hasTrack else {
            throw PatchError(
                .graph, "nothing to record is wired to the recorder", node: environment.nodeID, at: environment.location
            )
        }
        let audio = AudioFormat(channels: opened?.channels ?? settings.channels ?? environment.channels)
        return SinkRequest(
            video: video, fill: settings.fill, audio: hasTrack && hasSound && !silence ? audio : nil, queue: queue)
    }

    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        let outputRate = settings.outputRate(rate)
        let hasTrack = audio != nil || silence
        let channels = audio?.channels ?? settings.channels ?? environment.channels
        var encoding = video.map { settings.videoEncoding(format: $0, rate: outputRate) }
        // With a bitrate of its own a live recording is encoded as a publisher's stream is, so that the two can share.
        if settings.bitrate != nil, !environment.isOffline { encoding?.isLive = true }
        let setup = SharedEncoder.Setup(
            settings: MediaEncoder.Settings(
                video: encoding,
                audio: hasTrack ? settings.audioEncoding(channels: channels) : nil, channels: channels,
                rate: outputRate), format: video)
        do {
            try makeFolder(forOutput: path)
            // A disk may pause for as long as it takes to spin up.
            let queue = PacketQueue(
                maximumSpan: 20_000_000_000, maximumBytes: 256 << 20, hasVideo: video != nil,
                blocks: environment.isOffline)
            let seat = try EncoderSeat(setup, EncoderTap(queue), in: environment)
            let writer = RecordingWriter(
                path, container, streams: seat.streams, split: split, queue: queue, environment: environment)
            do { try writer.start() } catch {
                seat.finish(limit: 0)
                throw error
            }
            session.withLock { $0 = Session(seat: seat, writer: writer, targetBitrate: settings.bitrate ?? 0) }
        } catch let error as PatchError { throw error.placed(node: environment.nodeID, at: environment.location) }
        opened.withLock { $0 = OpenedFormats(video: video, hasAudioTrack: hasTrack, channels: channels) }
    }

    func consume(_ delivery: Delivery) throws {
        guard let session = session.withLock({ $0 }) else { return }
        do {
            // Fragments and clusters that are on the disk stay playable; no trailer is written over them.
            if let failure = session.writer.failure { throw failure }
            try session.seat.consume(delivery)
        } catch let error as PatchError {
            close(session)
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
        drops.say(session.writer.queue.counters, environment) {
            PatchError(
                .output, "\(path): the disk takes less than is encoded: groups of pictures are left out",
                remedy: "lower bitrate, or write to a faster disk")
        }
    }

    func finish() {
        guard let session = session.withLock({ $0 }) else { return }
        if let error = close(session) {
            environment.report(.problem(error.placed(node: environment.nodeID, at: environment.location)))
        }
        if let notice = session.seat.repeatNotice { environment.report(.notice(notice)) }
    }

    /// Leaves the encoder and ends the file.
    @discardableResult
    private func close(_ session: Session) -> PatchError? {
        self.session.withLock { $0 = nil }
        defer { closing.withLock { $0 = numbers(of: session) } }
        // Another output may go on with the encoder, which gives the last pictures when it comes to them.
        session.seat.finish(limit: environment.isOffline ? nil : 5_000_000_000)
        do {
            try session.writer.finish()
            return nil
        } catch { return error as? PatchError }
    }
}

extension Recorder: MeasuredSink {
    func fill(_ statistics: inout NodeStatistics) {
        guard let session = session.withLock({ $0 }) else {
            statistics.output = closing.withLock { $0 }
            if statistics.output != nil { statistics.state = "ended" }
            return
        }
        statistics.output = numbers(of: session)
        statistics.state = "live"
    }

    private func numbers(of session: Session) -> OutputStatistics {
        var output = OutputStatistics()
        output.targetBitrate = session.targetBitrate
        session.writer.meter.fill(&output)
        session.writer.queue.fill(&output)
        session.seat.fill(&output)
        return output
    }
}
