import PatchGraph
import PatchMedia

/// The options that `recorder` and `publisher` share, checked.
struct OutputSettings: Sendable {
    var size: (width: Int, height: Int)?
    var fill: FillMode
    var codec: VideoCodec
    var speed: String
    var keyframeInterval: Double
    /// Bits a second; nil leaves it to quality or size.
    var bitrate: Int?
    var quality: Double?
    var rate: FrameRate?
    /// The output drops every second, third, … tick so as not to exceed this.
    var maximumRate: Double?
    var audioCodec: AudioCodec
    var audioBitrate: Int?
    /// nil takes the graph's.
    var channels: Int?
    var isLive: Bool
    /// See `VideoEncoding`.
    var hasLowLatency = false
    /// The encoder's own threads; 0 leaves the number to it.
    var threads: Int

    static let schema: [OptionSchema] = [
        OptionSchema(
            "size", .size, "Size of the picture; odd sides lose a pixel.", unit: "px", default: "the incoming size"),
        OptionSchema(
            "fill", .choice(FillMode.allCases.map(\.rawValue)), "How a picture of another shape fits.", default: "fit"),
        OptionSchema("fps", .number(1...240), "Pictures a second.", unit: "1/s", default: "the graph's rate"),
        OptionSchema(
            "codec", .choice(VideoCodec.allCases.map(\.rawValue)), "Codec of the picture.",
            default: "the container's usual one"),
        OptionSchema(
            "bitrate", .number(10_000...400_000_000), "Bits a second of the picture.", unit: "bit/s",
            default: "by quality (recorder), by size (publisher)"),
        OptionSchema(
            "speed", .choice(VideoEncoding.speeds), "Less work for the processor, or better pictures for the bitrate.",
            default: "veryfast"),
        OptionSchema(
            "threads", .integer(0...64), "Threads of the encoder; 0 leaves the number to it.", default: "0"),
        OptionSchema("keyframe", .number(0.1...60), "Time from one keyframe to the next.", unit: "s", default: "2"),
        OptionSchema(
            "audioBitrate", .number(16_000...1_024_000), "Bits a second of the sound.", unit: "bit/s",
            default: "128000, beyond stereo 64000 a channel"),
        OptionSchema(
            "channels", .choice(AudioFormat.layouts.map(\.name)), "Layout of the sound.", default: "the graph's"),
        OptionSchema(
            "policy", .choice(["dropOldest", "dropNewest", "block"]),
            "What happens when encoding is too slow. Rendering offline always blocks.", default: "dropOldest"),
    ]

    static let qualitySchema = OptionSchema(
        "crf", .number(0...63), "Constant quality, lower is better; with a bitrate it is ignored.",
        default: "20 for h264, 24 for h265, 31 for vp9, 32 for av1")

    static let audioCodecSchema = OptionSchema(
        "audioCodec", .choice(AudioCodec.allCases.map(\.rawValue)),
        "Codec of the sound; pcm is 24 bits a sample, as it is.", default: "the container's usual one")

    init(_ options: NodeOptions, container: Container, isLive: Bool) throws {
        self.isLive = isLive
        size = options.size("size")
        fill = options.string("fill").flatMap(FillMode.init(rawValue:)) ?? .fit
        codec = try container.videoCodec(options.string("codec"))
        speed = options.string("speed") ?? "veryfast"
        keyframeInterval = options.number("keyframe") ?? 2
        bitrate = options.number("bitrate").map { Int($0) }
        quality = options.number("crf")
        threads = options.integer("threads") ?? 0
        rate = options.number("fps").flatMap { FrameRate(approximating: $0) }
        audioCodec = try container.audioCodec(options.string("audioCodec"))
        audioBitrate = options.number("audioBitrate").map { Int($0) }
        channels = AudioFormat.layouts.first { $0.name == options.string("channels") }?.channels
    }

    /// The format to ask the planner for: the codec's, even sides, limited range. Video that keeps its size keeps its matrix,
    /// primaries, curve and siting, which the encoder's tags say, so that its planes need no conversion; else colour is by the
    /// rule for the size.
    func format(offered: VideoFormat) -> VideoFormat {
        let wanted = size ?? offered.displaySize
        var format = VideoFormat(
            codec.pixelFormat, width: max(2, wanted.width & ~1), height: max(2, wanted.height & ~1))
        let keepsSize = wanted == offered.displaySize || offered.color.matrix == format.color.matrix
        if offered.pixelFormat.isYCbCr, offered.color.transfer != .linear, keepsSize {
            format.color = offered.color
            format.color.range = .limited
        }
        return format
    }

    /// The output's rate on a graph that ticks at `tickRate`.
    func outputRate(_ tickRate: FrameRate) -> FrameRate {
        if let rate { return rate }
        guard let maximumRate, tickRate.perSecond > maximumRate + 0.01 else { return tickRate }
        let divisor = Int64((tickRate.perSecond / (maximumRate + 0.01)).rounded(.up))
        return FrameRate(tickRate.numerator, over: tickRate.denominator * divisor)
    }

    func videoEncoding(format: VideoFormat, rate: FrameRate) -> VideoEncoding {
        let control: VideoEncoding.RateControl
        if let bitrate {
            control = .bitrate(bitrate)
        } else if isLive {
            // A tenth of a bit a pixel: 2.8 Mb/s for 720p30, what ingest services recommend for it.
            control = .bitrate(max(200_000, Int(Double(format.width * format.height) * rate.perSecond / 10)))
        } else {
            control = .quality(quality ?? codec.defaultQuality)
        }
        return VideoEncoding(
            codec: codec, rateControl: control, speed: speed, keyframeInterval: keyframeInterval, isLive: isLive,
            hasLowLatency: hasLowLatency, threads: threads)
    }

    func audioEncoding(channels: Int) -> AudioEncoding {
        AudioEncoding(codec: audioCodec, bitrate: audioBitrate ?? 64_000 * max(2, channels))
    }

    /// The queue in front of the sink. `depth` frames are about as many as an encoder may lag behind a hard scene.
    static func queue(_ options: NodeOptions, depth: Int, isOffline: Bool) -> QueuePolicy {
        if isOffline { return .block(depth: depth, limit: .max / 4) }
        return switch options.string("policy") {
        case "dropNewest": .dropNewest(depth: depth)
        case "block": .block(depth: depth, limit: 1_000_000_000)
        default: .dropOldest(depth: depth)
        }
    }
}

/// What a sink asked for when it was opened: it goes on with that whatever a reload brings.
struct OpenedFormats: Sendable {
    var video: VideoFormat?
    var hasAudioTrack: Bool
    var channels: Int
}
