import PatchGraph
import PatchMedia

/// The sources that FFmpeg brings: `video`, `stream`, `camera`, `microphone`, `screen`, `image`, `input`; and `push`, which waits for
/// the host program.
///
/// Thread-safety: all members may be called from any thread.
public enum MediaSources {
    public static var kinds: [NodeKind] { kinds(standIns: [:]) }

    /// - Parameter standIns: kinds that an `input` may be bound to by a word: with `["test": …]`, `--bind guest=test`
    ///   makes a source of that kind, with the input's own options.
    public static func kinds(standIns: [String: NodeKind]) -> [NodeKind] {
        [video, clip, stream, camera, microphone, screen, image, input(standIns), PushSource.kind()]
    }

    // MARK: Options that several have

    private static let failureOptions = InputPolicy.schemas + [InputPolicy.offsetSchema]
    private static let fpsOption = OptionSchema("fps", .number(1...240), "Frames a second to ask for.", unit: "1/s")
    private static let loopOption = OptionSchema("loop", .bool, "Starts again at the end, without a gap.")
    private static let timeoutOption = OptionSchema(
        "timeout", .number(1...120), "How long to wait for the first and for each next packet.", unit: "s",
        default: "10")

    // MARK: Kinds

    private static let video = NodeKind(
        NodeSchema(
            kind: "video", role: .source, summary: "A film or sound file, or a URL that is read like one.",
            options: [
                OptionSchema("file", .file, "The file, below the graph's folder."),
                OptionSchema("url", .url, "A URL instead of a file."),
                loopOption,
                OptionSchema(
                    "rate", .number(0.1...10), "Speed; the sound's pitch follows, as on tape.", default: "1"),
                OptionSchema("start", .number(0...1e6), "Where to begin, and to begin again.", unit: "s", default: "0"),
                InputPolicy.offsetSchema,
            ] + OrientationOptions.schemas),
        .source { options, environment in
            try placed(environment) {
                let address: InputAddress
                switch (options.string("file"), options.secret("url")) {
                case (let file?, nil): address = try .file(absolute(file, environment))
                case (nil, let url?): address = try .remoteFile(url)
                default:
                    throw PatchError(
                        .usage, "video needs either file= or url=", remedy: "write video{ \"name\", file = \"x.mp4\" }")
                }
                return LibavSource(
                    address, playback: playback(options), options: options, environment: environment)
            }
        })

    private static let clip: NodeKind = {
        var schema = NodeSchema(
            kind: "clip", role: .source,
            summary: "A video that waits, opened ahead and see-through, until clip:play() plays it once.",
            options: [OptionSchema("file", .file, "The file, below the graph's folder.", required: true)])
        schema.takesCommands = true
        return NodeKind(
            schema,
            .source { options, environment in
                try placed(environment) {
                    guard let file = options.string("file") else {
                        throw PatchError(.usage, "clip needs file=", remedy: "write clip{ \"name\", file = \"x.mov\" }")
                    }
                    let address = try InputAddress.file(absolute(file, environment))
                    return ClipSource(environment: environment) {
                        LibavSource(
                            address, playback: playback(options), options: options, environment: environment)
                    }
                }
            })
    }()

    private static let stream = NodeKind(
        NodeSchema(
            kind: "stream", role: .source,
            summary: "A live stream: RTMP, RTSP, SRT, HLS, UDP, RTP. Comes back by itself after a break.",
            options: [
                OptionSchema("url", .url, "Where the stream is.", required: true),
                OptionSchema(
                    "required", .bool,
                    "The graph waits for the stream; false goes on air without it, and it comes when it can.",
                    default: "true"),
                timeoutOption,
            ] + failureOptions + OrientationOptions.schemas),
        .source { options, environment in
            try placed(environment) {
                guard let url = options.secret("url") else {
                    throw PatchError(
                        .usage, "stream needs url=", remedy: "write stream{ \"name\", url = \"rtmp://…\" }")
                }
                return LibavSource(
                    try .stream(url, timeout: options.number("timeout")),
                    playback: .init(orientation: OrientationOptions.orientation(options)), options: options,
                    environment: environment)
            }
        })

    private static let camera = NodeKind(
        NodeSchema(
            kind: "camera", role: .source, summary: "A camera (V4L2).",
            options: [
                OptionSchema("device", .string, "Such as /dev/video0.", default: "the first camera"),
                OptionSchema("size", .size, "Size to ask for, before turning.", unit: "px"),
                fpsOption,
            ] + failureOptions + OrientationOptions.schemas),
        .source { options, environment in
            try placed(environment) {
                LibavSource(
                    try .camera(
                        options.string("device"), size: options.size("size"), fps: options.number("fps")),
                    playback: .init(orientation: OrientationOptions.orientation(options)), options: options,
                    environment: environment)
            }
        })

    private static let microphone: NodeKind = {
        var schema = NodeSchema(
            kind: "microphone", role: .source, summary: "A microphone or line input (PulseAudio or ALSA).",
            options: [
                OptionSchema(
                    "device", .string, "Such as hw:1,0, or PulseAudio's name of a source.", default: "the default one"),
                OptionSchema(
                    "system", .choice(["alsa", "pulse"]), "Who is asked for it.",
                    default: "pulse where a server runs, else alsa"),
                OptionSchema("channels", .integer(1...8), "Channels to ask for.", default: "1"),
            ] + failureOptions)
        schema.hasPicture = false
        return NodeKind(
            schema,
            .source { options, environment in
                LibavSource(
                    .microphone(
                        options.string("device"), system: options.string("system"),
                        channels: options.integer("channels") ?? 1),
                    playback: .init(), options: options, environment: environment)
            })
    }()

    private static let screen = NodeKind(
        NodeSchema(
            kind: "screen", role: .source, summary: "An X11 display, or a part of it.",
            options: [
                OptionSchema("display", .string, "Such as :0.", default: "$DISPLAY"),
                OptionSchema("region", .region, "The part to capture.", unit: "px", default: "all of it"),
                fpsOption,
                OptionSchema("cursor", .bool, "Draws the mouse pointer.", default: "true"),
            ] + failureOptions),
        .source { options, environment in
            try placed(environment) {
                LibavSource(
                    try .screen(
                        options.string("display"), region: options.vector("region"), fps: options.number("fps"),
                        cursor: options.bool("cursor") ?? true),
                    playback: .init(), options: options, environment: environment)
            }
        })

    private static let image = NodeKind(
        NodeSchema(
            kind: "image", role: .source, summary: "A still image: PNG, JPEG, WebP, TIFF, SVG and others.",
            options: [
                OptionSchema("file", .file, "The file, below the graph's folder.", required: true),
                OptionSchema("size", .size, "For SVG: the size to draw it at.", unit: "px", default: "its own"),
            ] + OrientationOptions.schemas),
        .source { options, environment in
            try placed(environment) {
                guard let file = options.string("file") else {
                    throw PatchError(.usage, "image needs file=", remedy: "write image{ \"name\", file = \"x.png\" }")
                }
                return ImageSource(
                    absolute(file, environment), size: options.size("size"),
                    orientation: OrientationOptions.orientation(options),
                    environment: environment)
            }
        })

    private static func input(_ standIns: [String: NodeKind]) -> NodeKind {
        NodeKind(
            NodeSchema(
                kind: "input", role: .source,
                summary: "A source by a name that each machine binds: --bind NAME=FILE|URL|DEVICE.",
                options: [
                    OptionSchema(
                        "loop", .bool, "For files: starts again at the end.", default: "true live, false when rendering"
                    ),
                    OptionSchema("size", .size, "For devices: size to ask for, before turning.", unit: "px"),
                    OptionSchema(
                        "default", .choice(["camera"] + standIns.keys.sorted()),
                        "What it is when nothing is bound: one of these, a file below the graph's folder, or a URL.",
                        default: "an error"),
                    fpsOption,
                ] + failureOptions + OrientationOptions.schemas),
            .source { options, environment in
                try placed(environment) { try Binding.source(options, environment, standIns: standIns) }
            })
    }

    // MARK: Helpers

    static func playback(_ options: NodeOptions, loops: Bool = false) -> MediaProducer.Playback {
        MediaProducer.Playback(
            loops: options.bool("loop") ?? loops, start: MediaTime(seconds: options.number("start") ?? 0),
            // Exact to 1/1000, which no ear and no eye tells from the number written.
            speed: FrameRate(Int64(((options.number("rate") ?? 1) * 1000).rounded()), over: 1000),
            orientation: OrientationOptions.orientation(options))
    }

    /// Relative paths are below the graph's folder.
    static func absolute(_ path: String, _ environment: NodeEnvironment) -> String {
        path.hasPrefix("/") ? path : environment.graphDirectory + "/" + path
    }

    /// Errors say which node and where.
    static func placed<R>(_ environment: NodeEnvironment, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as PatchError {
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
    }
}
