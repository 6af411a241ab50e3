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
    /// The lowest bitrate of an adaptive publisher; nil is one that keeps its bitrate.
    private let lowestBitrate: Int?
    /// The graph does not go on air without this connection.
    private let isRequired: Bool
    private let session = Mutex<Session?>(nil)
    private let opened = Mutex<OpenedFormats?>(nil)
    private let drops = DropNotice()
    private let controller = Mutex<BitrateController?>(nil)
    /// What the numbers were when the output ended.
    private let closing = Mutex<OutputStatistics?>(nil)

    /// The seat at an encoder, and the connection.
    private struct Session {
        let seat: EncoderSeat
        let link: PublisherLink
        let queue: PacketQueue
        let bitrate: Int
    }

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
                "window", .number(0...86_400),
                "HLS: how much stays listed, at least three segments; as much again stays on the disk. 0 keeps all.",
                unit: "s", default: "60"),
            OptionSchema(
                "buffer", .number(0.5...60),
                "How much of the stream may wait for a slow network before groups are dropped.",
                unit: "s", default: "6, or three keyframe intervals"),
            OptionSchema("segments", .choice(["ts", "fmp4"]), "HLS: kind of segment.", default: "ts"),
            OptionSchema(
                "master", .outputFile,
                "HLS: a master playlist in the folder of url or above it, which lists all publishers that name it."),
            OptionSchema("caFile", .file, "RTMPS: certificates to trust.", default: "the system's"),
            OptionSchema(
                "adaptive", .bool, "Lowers the bitrate when the network is slow, and raises it again (h264).",
                default: "false"),
            OptionSchema(
                "minimumBitrate", .number(10_000...400_000_000), "The lowest bitrate of an adaptive publisher.",
                unit: "bit/s", default: "an eighth of the bitrate"),
            OptionSchema(
                "latency", .choice(["normal", "low"]),
                "low encodes without look-ahead (h264, h265): some ten pictures sooner, for more bits at the same quality.",
                default: "normal"),
            OptionSchema(
                "required", .bool,
                "The graph goes on air only when the first connection succeeds; false tries again and again.",
                default: "true, but for SRT's listener"),
        ] + OutputSettings.schema)

    init(options: NodeOptions, environment: NodeEnvironment) throws {
        self.environment = environment
        do {
            guard let url = options.secret("url") else {
                throw PatchError(.usage, "publisher needs a url", remedy: "write url = \"rtmp://host/app/name\"")
            }
            let preset = try options.string("preset").map(PublisherPreset.named)
            destination = try Destination(
                url, window: options.number("window") ?? 60, segments: options.string("segments") ?? "ts",
                caFile: options.string("caFile"), master: options.string("master"))
            var settings = try OutputSettings(options, container: destination.container, isLive: true)
            if let preset {
                settings.size = settings.size ?? (preset.width, preset.height)
                settings.bitrate = settings.bitrate ?? preset.bitrate
                settings.maximumRate = preset.fps
            }
            let isAdaptive = options.bool("adaptive") ?? false
            guard !isAdaptive || settings.codec == .h264 else {
                throw PatchError(
                    .usage, "\(settings.codec.rawValue) cannot change its bitrate on air",
                    remedy: "use codec = \"h264\", or leave adaptive out")
            }
            settings.hasLowLatency = options.string("latency") == "low"
            guard !settings.hasLowLatency || [.h264, .h265].contains(settings.codec) else {
                throw PatchError(
                    .usage, "\(settings.codec.rawValue) has no low latency here",
                    remedy: "use codec = \"h264\" or \"h265\", or leave latency out")
            }
            lowestBitrate = isAdaptive ? options.number("minimumBitrate").map { Int($0) } ?? 0 : nil
            self.settings = settings
        } catch let error as PatchError { throw error.placed(node: environment.nodeID, at: environment.location) }
        sound = options.string("audio").flatMap(Sound.init(rawValue:)) ?? .auto
        buffer = options.number("buffer")
        isRequired = options.bool("required") ?? !destination.target.isListener
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
        let audio = AudioFormat(channels: opened?.channels ?? settings.channels ?? environment.channels)
        return SinkRequest(
            video: video, fill: settings.fill, audio: takesSound ? audio : nil, queue: queuePolicy)
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
        let picture = settings.videoEncoding(format: video, rate: outputRate)
        let channels = audio?.channels ?? settings.channels ?? environment.channels
        let encoding = settings.audioEncoding(channels: channels)
        let setup = SharedEncoder.Setup(
            settings: MediaEncoder.Settings(
                video: picture,
                audio: hasTrack ? encoding : nil, channels: channels, rate: outputRate), format: video)
        let bitrate = if case .bitrate(let bits) = picture.rateControl { bits } else { 0 }
        let codecs: [String?]
        do {
            let group = outputRate.time(ofFrame: picture.groupLength(at: outputRate)).seconds
            let target = try destination.opened(bitrate: bitrate, group: group)
            // Room for three groups of pictures: one on its way, one to drop, one to keep.
            let span = buffer ?? max(6, settings.keyframeInterval * 3)
            let queue = PacketQueue(maximumSpan: Int64(span * 1e9), hasVideo: true, blocks: environment.isOffline)
            let tap = EncoderTap(queue, dropsEncoderDelay: destination.dropsEncoderDelay)
            let seat = try EncoderSeat(setup, tap, in: environment, isShared: lowestBitrate == nil)
            let link = PublisherLink(
                target, retryOptions: destination.retryOptions, streams: seat.streams,
                tap: tap, environment: environment)
            do { try link.start(waits: isRequired) } catch {
                seat.finish(limit: 0)
                throw error
            }
            codecs = seat.streams.map(\.codecName)
            session.withLock { $0 = Session(seat: seat, link: link, queue: queue, bitrate: bitrate) }
        } catch let error as PatchError {
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
        if let lowestBitrate {
            controller.withLock {
                $0 = BitrateController(
                    ceiling: bitrate, floor: lowestBitrate == 0 ? bitrate / 8 : lowestBitrate,
                    audio: hasTrack ? encoding.bitrate : 0)
            }
        }
        if let master = destination.master {
            let masters: MasterPlaylists = environment.shared.object { MasterPlaylists() }
            try masters.add(
                Rendition(
                    path: destination.target.url, width: video.width, height: video.height,
                    rate: outputRate.perSecond, bitrate: bitrate + (hasTrack ? encoding.bitrate : 0),
                    codecs: codecs.contains(nil) ? [] : codecs.compactMap { $0 }), to: master)
        }
        opened.withLock { $0 = OpenedFormats(video: video, hasAudioTrack: hasTrack, channels: channels) }
    }

    func consume(_ delivery: Delivery) throws {
        guard let session = session.withLock({ $0 }) else { return }
        do { try session.seat.consume(delivery) } catch let error as PatchError {
            finish()
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
        session.link.check()
        let counters = session.queue.counters
        drops.say(counters, environment) {
            PatchError(
                .network, "\(destination.target.shown) takes less than is encoded: groups of pictures are dropped",
                remedy: "lower bitrate, use a smaller preset, or let it follow the network with adaptive = true")
        }
        adapt(session, waiting: Double(counters.span) / 1e9)
    }

    /// Lets the bitrate follow what the network takes.
    private func adapt(_ session: Session, waiting: Double) {
        let bitrate = controller.withLock { controller -> Int? in
            guard session.link.isConnected else { return nil }
            return controller?.update(
                now: monotonicNanoseconds(), accepted: session.link.meter.bitrate, waiting: waiting)
        }
        if let bitrate { session.seat.setBitrate(bitrate) }
    }

    func finish() {
        let session = session.withLock { session in
            defer { session = nil }
            return session
        }
        guard let session else { return }
        session.seat.finish(limit: environment.isOffline ? nil : 3_000_000_000)
        if let notice = session.seat.repeatNotice { environment.report(.notice(notice)) }
        session.link.finish(limit: environment.isOffline ? nil : 5_000_000_000)
        closing.withLock { $0 = numbers(of: session) }
    }

    func interrupt() { session.withLock { $0 }?.link.interrupt() }
}

extension Publisher: MeasuredSink {
    func fill(_ statistics: inout NodeStatistics) {
        guard let session = session.withLock({ $0 }) else {
            statistics.output = closing.withLock { $0 }
            if statistics.output != nil { statistics.state = PublisherLink.State.ended.rawValue }
            return
        }
        statistics.output = numbers(of: session)
        statistics.state = session.link.state?.rawValue ?? ""
    }

    private func numbers(of session: Session) -> OutputStatistics {
        var output = OutputStatistics()
        output.targetBitrate = controller.withLock { $0?.bitrate } ?? session.bitrate
        output.reconnects = session.link.reconnectCount
        session.link.meter.fill(&output)
        session.queue.fill(&output)
        session.seat.fill(&output)
        return output
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
