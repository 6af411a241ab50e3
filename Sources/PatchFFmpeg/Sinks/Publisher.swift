internal import CFFmpeg
import PatchGraph
import PatchMedia
import Synchronization

/// `publisher`: encodes and sends a live stream to a server, a peer or an HLS playlist.
///
/// Deliveries are encoded on the sink's own thread; packets wait in a bounded queue for the link's thread, so that a slow
/// or broken network never holds up the encoder or the graph.
/// Thread-safety: as `MediaSink` states.
final class Publisher: MediaSink {
    private enum Sound: String { case auto, silence, none }

    private let environment: NodeEnvironment
    private let destination: Destination
    private let settings: OutputSettings
    private let sound: Sound
    private let queuePolicy: QueuePolicy
    /// Seconds of stream that may wait for the network.
    private let buffer: Double?
    private let session = Mutex<Session?>(nil)
    private let link = Mutex<PublisherLink?>(nil)
    private let opened = Mutex<OpenedFormats?>(nil)
    private let droppedGroups = Atomic<Int64>(0)

    /// The encoder, used by the sink's own thread, which alone takes the lock while frames flow.
    private struct Session: ~Copyable { let encoder: MediaEncoder }

    static let schema = NodeSchema(
        kind: "publisher", role: .sink, summary: "Sends a live stream to a server, a peer or an HLS playlist.",
        options: [
            OptionSchema(
                "url", .url, "Where to: \(Destination.schemes.joined(separator: ", ")), or a path that ends in .m3u8.",
                required: true),
            OptionSchema(
                "preset", .choice(PublisherPreset.all.map(\.name)),
                "Size, rate and bitrate of the broadcast SDK's preset."),
            OptionSchema(
                "audio", .choice(["auto", "silence", "none"]),
                "The incoming sound (silence where RTMP or HLS needs a track and none comes), silence, or no track.",
                default: "auto"),
            OptionSchema(
                "window", .number(0...86_400), "HLS: how much stays listed and on the disk; 0 keeps all.", unit: "s",
                default: "60"),
            OptionSchema(
                "buffer", .number(0.5...60),
                "How much of the stream may wait for a slow network before groups are dropped.",
                unit: "s", default: "6, or three keyframe intervals"),
            OptionSchema("segments", .choice(["ts", "fmp4"]), "HLS: kind of segment.", default: "ts"),
            OptionSchema("caFile", .file, "RTMPS: certificates to trust.", default: "the system's"),
        ] + OutputSettings.schema)

    init(options: NodeOptions, environment: NodeEnvironment) throws {
        self.environment = environment
        do {
            guard let url = options.secret("url") else {
                throw PatchError(.usage, "publisher needs a url", remedy: "write url = \"rtmp://host/app/name\"")
            }
            let preset = try options.string("preset").map(PublisherPreset.named)
            destination = try Destination(
                url, keyframeInterval: options.number("keyframe") ?? 2, window: options.number("window") ?? 60,
                segments: options.string("segments") ?? "ts", caFile: options.string("caFile"))
            var settings = try OutputSettings(options, container: destination.container, isLive: true)
            if let preset {
                settings.size = settings.size ?? (preset.width, preset.height)
                settings.bitrate = settings.bitrate ?? preset.bitrate
                settings.maximumRate = preset.fps
            }
            self.settings = settings
        } catch let error as PatchError { throw error.placed(node: environment.nodeID, at: environment.location) }
        sound = options.string("audio").flatMap(Sound.init(rawValue:)) ?? .auto
        buffer = options.number("buffer")
        queuePolicy = OutputSettings.queue(options, depth: 8, isOffline: environment.isOffline)
    }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        let opened = opened.withLock { $0 }
        guard let video = opened.map(\.video) ?? offered.map(settings.format) else {
            throw PatchError(
                .graph, "publisher needs a picture", remedy: "wire a video node to it", node: environment.nodeID,
                at: environment.location)
        }
        let takesSound = sound == .auto && hasSound && opened?.hasAudioTrack != false
        return SinkRequest(
            video: video, fill: settings.fill, audio: takesSound ? AudioFormat() : nil, queue: queuePolicy)
    }

    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        guard let video else { return }
        let outputRate = settings.outputRate(rate)
        let hasTrack =
            switch sound {
            case .auto: audio != nil || destination.needsSoundTrack
            case .silence: true
            case .none: false
            }
        let encoding = MediaEncoder.Settings(
            video: settings.videoEncoding(format: video, rate: outputRate),
            audio: hasTrack ? AudioEncoding(codec: settings.audioCodec, bitrate: settings.audioBitrate) : nil,
            channels: audio?.channels == 1 ? 1 : 2, globalHeader: destination.target.wantsGlobalHeader,
            rate: outputRate)
        do {
            if !destination.target.isNetwork { try makeFolder(forOutput: destination.target.url) }
            let streams = try session.withLock { session in
                let encoder = try MediaEncoder(encoding, format: video)
                session = Session(encoder: encoder)
                return encoder.streams
            }
            // Room for three groups of pictures: one on its way, one to drop, one to keep.
            let span = buffer ?? max(6, settings.keyframeInterval * 3)
            let queue = PacketQueue(
                maximumSpan: Int64(span * 1e9), hasVideo: true, blocks: environment.isOffline)
            let link = PublisherLink(
                destination.target, retryOptions: destination.retryOptions, streams: streams, queue: queue,
                environment: environment)
            self.link.withLock { $0 = link }
            try link.start()
        } catch let error as PatchError {
            session.withLock { $0 = nil }
            link.withLock { $0 = nil }
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
        opened.withLock { $0 = OpenedFormats(video: video, hasAudioTrack: hasTrack) }
    }

    func consume(_ delivery: Delivery) throws {
        guard let link = link.withLock({ $0 }) else { return }
        try session.withLock { session in
            guard let encoder = session?.encoder else { return }
            do {
                try encoder.consume(delivery, forceKeyframe: link.takeKeyframeRequest()) { packet in
                    if destination.dropsEncoderDelay, !packet.isVideo, packet.time < 0 { return }
                    if link.queue.push(packet) { link.requestKeyframe() }
                }
            } catch let error as PatchError {
                session = nil
                throw error.placed(node: environment.nodeID, at: environment.location)
            }
        }
        link.check()
        sayDrops(link.queue.counters)
    }

    func finish() {
        guard let link = link.withLock({ $0 }) else { return }
        session.withLock { session in
            // What the encoder still holds is sent if it can be; a failure here changes nothing any more.
            try? session?.encoder.finish { _ = link.queue.push($0) }
            if let notice = session?.encoder.repeatNotice { environment.report(.notice(notice)) }
            session = nil
        }
        link.finish(limit: environment.isOffline ? nil : 5_000_000_000)
    }

    func interrupt() { link.withLock { $0 }?.interrupt() }

    /// Says once a time that the network was too slow; the counter tells the rest.
    private func sayDrops(_ counters: PacketQueue.Counters) {
        guard counters.droppedGroups > droppedGroups.load(ordering: .relaxed) else { return }
        if droppedGroups.exchange(counters.droppedGroups, ordering: .relaxed) == 0 {
            environment.report(
                .problem(
                    PatchError(
                        .network,
                        "\(destination.target.shown) takes less than is encoded: groups of pictures are dropped",
                        remedy: "lower bitrate, or use a smaller preset", node: environment.nodeID,
                        at: environment.location)))
        }
    }
}

/// The broadcast SDK's presets by name.
///
/// Figures: the standard channel type takes 720p at 30 pictures a second with 3.5 Mb/s, the basic one 480p (480×852) with
/// at most 1.5 Mb/s. Options beside a preset win over it.
struct PublisherPreset: Sendable {
    var name: String
    var width: Int
    var height: Int
    /// At most so many pictures a second; a faster graph is divided by a whole number.
    var fps: Double
    /// Bits a second.
    var bitrate: Int

    static let all = [
        PublisherPreset(name: "standard-portrait", width: 720, height: 1280, fps: 30, bitrate: 3_500_000),
        PublisherPreset(name: "standard-landscape", width: 1280, height: 720, fps: 30, bitrate: 3_500_000),
        PublisherPreset(name: "basic-portrait", width: 480, height: 852, fps: 30, bitrate: 1_500_000),
        PublisherPreset(name: "basic-landscape", width: 852, height: 480, fps: 30, bitrate: 1_500_000),
    ]

    /// - Throws: `PatchError.usage` that names the legal ones.
    static func named(_ name: String) throws -> PublisherPreset {
        if let preset = all.first(where: { $0.name == name }) { return preset }
        throw PatchError(
            .usage, "there is no preset '\(name)'", remedy: "use \(all.map(\.name).joined(separator: ", "))")
    }
}
