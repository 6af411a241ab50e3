internal import CFFmpeg
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
    private let interruption = InterruptDeadline()
    private let session = Mutex<Session?>(nil)
    private let opened = Mutex<OpenedFormats?>(nil)

    /// An open file with its encoders; used by the sink's own thread, which alone takes the lock while frames flow.
    private struct Session: ~Copyable {
        let encoder: MediaEncoder
        let muxer: MediaMuxer
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
            OutputSettings.qualitySchema,
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
        return SinkRequest(
            video: video, fill: settings.fill, audio: hasTrack && hasSound && !silence ? AudioFormat() : nil,
            queue: queue)
    }

    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        let target = MuxTarget(muxer: container.muxer, url: "file:" + path, shown: path, options: container.options)
        let outputRate = settings.outputRate(rate)
        let hasTrack = audio != nil || silence
        let encoding = MediaEncoder.Settings(
            video: video.map { settings.videoEncoding(format: $0, rate: outputRate) },
            audio: hasTrack ? AudioEncoding(codec: settings.audioCodec, bitrate: settings.audioBitrate) : nil,
            channels: audio?.channels == 1 ? 1 : 2, globalHeader: target.wantsGlobalHeader, rate: outputRate)
        do {
            try makeFolder(forOutput: path)
            try session.withLock { session in
                let encoder = try MediaEncoder(encoding, format: video)
                let muxer = try MediaMuxer(target, streams: encoder.streams, interrupt: interruption)
                session = Session(encoder: encoder, muxer: muxer)
            }
        } catch let error as PatchError { throw error.placed(node: environment.nodeID, at: environment.location) }
        opened.withLock { $0 = OpenedFormats(video: video, hasAudioTrack: hasTrack) }
    }

    func consume(_ delivery: Delivery) throws {
        try session.withLock { session in
            guard let encoder = session?.encoder, let muxer = session?.muxer else { return }
            do {
                try withoutWriteSignals { try encoder.consume(delivery) { try muxer.write($0) } }
            } catch let error as PatchError {
                // Fragments and clusters that are on the disk stay playable; no trailer is written over them.
                session = nil
                throw error.placed(node: environment.nodeID, at: environment.location)
            }
        }
    }

    func finish() {
        session.withLock { session in
            guard let encoder = session?.encoder, let muxer = session?.muxer else { return }
            session = nil
            do {
                try withoutWriteSignals {
                    try encoder.finish { try muxer.write($0) }
                    try muxer.finish()
                }
            } catch let error as PatchError {
                environment.report(.problem(error.placed(node: environment.nodeID, at: environment.location)))
            } catch {}
            if let notice = encoder.repeatNotice { environment.report(.notice(notice)) }
        }
    }
}
