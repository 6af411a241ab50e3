import PatchGraph
import PatchMedia

/// The picture codecs that sinks write, by the names used in graphs.
enum VideoCodec: String, Sendable, CaseIterable {
    case h264, h265, vp9, av1, prores

    /// FFmpeg's encoders for it, the preferred one first.
    var encoders: [String] {
        switch self {
        case .h264: ["libx264", "libopenh264"]
        case .h265: ["libx265"]
        case .vp9: ["libvpx-vp9"]
        case .av1: ["libsvtav1", "libaom-av1"]
        case .prores: ["prores_ks"]
        }
    }

    var pixelFormat: PixelFormat { self == .prores ? .yuv422p10 : .yuv420p }

    /// Constant quality that looks good without waste: each encoder's CRF scale, lower is better.
    var defaultQuality: Double {
        switch self {
        case .h264: 20
        case .h265: 24
        case .vp9: 31
        case .av1: 32
        case .prores: 0
        }
    }
}

/// The sound codecs that sinks write.
enum AudioCodec: String, Sendable, CaseIterable {
    case aac, opus
    /// Samples of 24 bits, as they are.
    case pcm

    var encoders: [String] {
        switch self {
        case .aac: ["aac"]
        case .opus: ["libopus"]
        case .pcm: ["pcm_s24le"]
        }
    }
}

/// How pictures are encoded.
struct VideoEncoding: Hashable, Sendable {
    enum RateControl: Hashable, Sendable {
        /// Bits a second, on average over a second when live.
        case bitrate(Int)
        /// The codec's constant rate factor; lower is better.
        case quality(Double)
    }

    var codec: VideoCodec
    var rateControl: RateControl
    /// One of `speeds`.
    var speed: String
    /// Seconds from one keyframe to the next.
    var keyframeInterval: Double
    /// Low delay: no B-frames, short look-ahead, keyframes only at the interval, so that a receiver can rely on them.
    var isLive: Bool
    /// Live without any look-ahead: each picture's packet comes before the next picture, for some bits more.
    var hasLowLatency = false
    /// The encoder's own threads; 0 leaves the number to it.
    var threads = 0

    /// Frames from one keyframe to the next.
    func groupLength(at rate: FrameRate) -> Int64 { max(1, Int64((keyframeInterval * rate.perSecond).rounded())) }

    /// x264's presets; other encoders get their nearest setting.
    static let speeds = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
    ]
    var speedIndex: Int { VideoEncoding.speeds.firstIndex(of: speed) ?? 2 }
}

/// How sound is encoded: always 48 kHz.
struct AudioEncoding: Hashable, Sendable {
    var codec: AudioCodec
    /// Bits a second.
    var bitrate: Int

    static let sampleRate = 48_000
}

/// A container format and what it can hold.
struct Container: Sendable {
    /// FFmpeg's muxer.
    var muxer: String
    /// The first one is the default.
    var videoCodecs: [VideoCodec]
    /// The first one is the default.
    var audioCodecs: [AudioCodec] = [.aac]
    /// Options of the muxer.
    var options: [(String, String)] = []

    /// Fragments of at most a second, so that a killed process leaves all but the last second playable. The header waits
    /// for the first fragment, which makes edit lists (encoder delay) exact.
    private static let fragmented = [
        ("movflags", "+frag_keyframe+delay_moov+default_base_moof"), ("frag_duration", "1000000"),
    ]

    static let files: [(suffix: String, container: Container)] = [
        (
            "mp4",
            Container(muxer: "mp4", videoCodecs: [.h264, .h265, .av1, .vp9], options: fragmented)
        ),
        (
            "mkv",
            Container(
                muxer: "matroska", videoCodecs: VideoCodec.allCases, audioCodecs: [.aac, .opus, .pcm], options: clusters
            )
        ),
        (
            "mov",
            Container(
                muxer: "mov", videoCodecs: [.h264, .h265, .prores], audioCodecs: [.aac, .pcm], options: fragmented)
        ),
        ("ts", Container(muxer: "mpegts", videoCodecs: [.h264, .h265])),
        (
            "flv",
            Container(
                muxer: "flv", videoCodecs: [.h264], options: [("flvflags", "no_duration_filesize")])
        ),
        ("webm", Container(muxer: "webm", videoCodecs: [.vp9, .av1], audioCodecs: [.opus], options: clusters)),
    ]
    private static let clusters = [("cluster_time_limit", "1000")]

    /// The container for a file's extension.
    /// - Throws: `PatchError.usage` that names the legal ones.
    static func forFile(_ path: String) throws -> Container {
        let name = path.split(separator: "/").last ?? ""
        let suffix = name.contains(".") ? name.split(separator: ".").last.map { $0.lowercased() } ?? "" : ""
        if let found = files.first(where: { $0.suffix == suffix }) { return found.container }
        throw PatchError(
            .usage, "cannot tell the kind of file from '\(name)'",
            remedy: "end the name in ." + files.map(\.suffix).joined(separator: ", ."))
    }

    /// The codec of the sound named `asked`, or the default.
    /// - Throws: `PatchError.usage` when the container cannot hold it.
    func audioCodec(_ asked: String?) throws -> AudioCodec {
        guard let asked else { return audioCodecs[0] }
        if let codec = AudioCodec(rawValue: asked), audioCodecs.contains(codec) { return codec }
        throw PatchError(
            .usage, "\(muxer) cannot hold sound of codec '\(asked)'",
            remedy: "use \(audioCodecs.map(\.rawValue).joined(separator: ", "))")
    }

    /// The codec named `asked`, or the default.
    /// - Throws: `PatchError.usage` when the container cannot hold it.
    func videoCodec(_ asked: String?) throws -> VideoCodec {
        guard let asked else { return videoCodecs[0] }
        if let codec = VideoCodec(rawValue: asked), videoCodecs.contains(codec) { return codec }
        throw PatchError(
            .usage, "\(muxer) cannot hold codec '\(asked)'",
            remedy: "use \(videoCodecs.map(\.rawValue).joined(separator: ", "))")
    }
}
