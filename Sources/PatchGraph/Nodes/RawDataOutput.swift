import PatchMedia
import Synchronization

/// `rawDataOutput`: hands each frame, converted to a stated format and size, to the host program, a file, a FIFO or
/// standard output, and on to the nodes that are wired behind it.
///
/// Thread-safety: `onFrame` may be set from any thread; the rest follows `MediaSink`.
public final class RawDataOutput: MediaSink {
    private let environment: NodeEnvironment
    private let settings: RawDataSettings
    private let handlers: RawDataHandlers
    private let ownHandler = Mutex<RawDataHandlers.Handler?>(nil)
    private let interrupted = Atomic(false)
    // Only the sink's own thread takes this lock while frames flow, so that it is never waited for.
    private let writer = Mutex<RawFrameWriter?>(nil)

    /// - Throws: `PatchError` when the options contradict each other.
    public init(
        options: NodeOptions, environment: NodeEnvironment, handlers: RawDataHandlers = RawDataHandlers()
    ) throws {
        self.environment = environment
        self.handlers = handlers
        settings = try RawDataSettings(options, environment: environment)
    }

    /// Called with each frame, on the output's own thread, before it is written; nil for none.
    public var onFrame: RawDataHandlers.Handler? {
        get { ownHandler.withLock { $0 } }
        set { ownHandler.withLock { $0 = newValue } }
    }

    public func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        guard let offered else {
            throw PatchError(
                .graph, "rawDataOutput takes pictures, but only sound is wired to it",
                remedy: "wire a video node to it",
                node: environment.nodeID, at: environment.location)
        }
        let size = settings.size ?? offered.displaySize
        return SinkRequest(
            video: VideoFormat(settings.format, width: size.width, height: size.height), fill: settings.fill,
            queue: settings.queue)
    }

    public func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        guard let path = settings.path, let video else { return }
        if path != "-" {
            do { try makeFolder(forOutput: path) } catch let error as PatchError {
                throw error.placed(node: environment.nodeID, at: environment.location)
            }
        }
        let header = settings.isY4M ? Y4M.header(of: video, rate: rate) : ""
        try writer.withLock { writer in
            writer = try RawFrameWriter(
                path: path, format: video, streamHeader: header, frameHeader: settings.isY4M ? "FRAME\n" : "",
                environment: environment)
        }
    }

    public func consume(_ delivery: Delivery) throws {
        guard let frame = delivery.frame else { return }
        let raw = RawFrame(
            frame: frame, pts: delivery.pts, duration: delivery.duration, sequence: delivery.sequence)
        if let handler = onFrame { handler(raw) }
        if let handler = handlers[environment.nodeID] { handler(raw) }
        try writer.withLock { try $0?.write(raw, interrupted: interrupted) }
    }

    public func finish() { writer.withLock { $0 = nil } }

    public func interrupt() { interrupted.store(true, ordering: .relaxed) }
}

extension RawDataOutput {
    /// The kind for a program that uses no closures by name.
    public static var kind: NodeKind { kind(handlers: RawDataHandlers()) }

    /// The kind, with the host program's closures by node name.
    public static func kind(handlers: RawDataHandlers) -> NodeKind {
        let schema = NodeSchema(
            kind: "rawDataOutput", role: .sink,
            summary: "Hands out each frame as bytes: to the host program, a file, a FIFO or standard output.",
            options: RawDataSettings.schema, forwards: true)
        return NodeKind(
            schema,
            .sink { options, environment in
                try RawDataOutput(options: options, environment: environment, handlers: handlers)
            })
    }
}

/// What a `rawDataOutput`'s options ask for, checked.
struct RawDataSettings: Sendable {
    var size: (width: Int, height: Int)?
    var format: PixelFormat
    var fill: FillMode
    var queue: QueuePolicy
    /// Where to write; nil writes nothing, "-" is standard output.
    var path: String?
    var isY4M: Bool

    static let formats = PixelFormat.allCases.filter { !$0.isFloat }.map(\.rawValue)

    static let schema: [OptionSchema] = [
        OptionSchema("size", .size, "Size of the frames handed out.", unit: "px", default: "the incoming size"),
        OptionSchema(
            "format", .choice(formats), "Layout of the pixels.", default: "bgra; yuv420p when the container is y4m"),
        OptionSchema(
            "file", .outputFile, "File or FIFO to write to; \"-\" is standard output.", default: "nothing is written"),
        OptionSchema(
            "container", .choice(["y4m", "raw"]), "y4m, or rows of pixels without any padding or header.",
            default: "y4m for *.y4m, else raw"),
        OptionSchema(
            "fill", .choice(FillMode.allCases.map(\.rawValue)), "How a picture of another shape fits.", default: "fit"),
        OptionSchema(
            "policy", .choice(["dropOldest", "dropNewest", "block"]),
            "What happens when frames are not taken in time. Rendering offline always blocks.", default: "dropOldest"),
        OptionSchema("queue", .integer(1...32), "Frames that may wait.", default: "4"),
        OptionSchema("limit", .number(0.001...60), "How long \"block\" waits for room.", unit: "s", default: "1"),
    ]

    init(_ options: NodeOptions, environment: NodeEnvironment) throws {
        path = options.string("file")
        let container = options.string("container") ?? (path?.hasSuffix(".y4m") == true ? "y4m" : "raw")
        isY4M = container == "y4m"
        size = options.size("size")
        format = options.string("format").flatMap(PixelFormat.init(rawValue:)) ?? (isY4M ? .yuv420p : .bgra)
        fill = options.string("fill").flatMap(FillMode.init(rawValue:)) ?? .fit
        let depth = options.integer("queue") ?? 4
        if environment.isOffline {
            queue = .block(depth: depth, limit: .max / 4)
        } else {
            switch options.string("policy") {
            case "dropNewest": queue = .dropNewest(depth: depth)
            case "block": queue = .block(depth: depth, limit: Int64((options.number("limit") ?? 1) * 1e9))
            default: queue = .dropOldest(depth: depth)
            }
        }
        if isY4M, path != nil, Y4M.colorSpace(format) == nil {
            throw PatchError(
                .usage, "y4m cannot carry \(format.rawValue)",
                remedy: "write format = \"yuv420p\", or container = \"raw\"", node: environment.nodeID,
                at: environment.location)
        }
    }
}

/// The headers of YUV4MPEG2 streams, as mjpegtools defined them and FFmpeg reads them.
enum Y4M {
    /// The C parameter for a format; nil when y4m cannot carry it.
    static func colorSpace(_ format: PixelFormat) -> String? {
        switch format {
        case .yuv420p: "420mpeg2 XYSCSS=420MPEG2"
        case .yuv422p: "422 XYSCSS=422"
        case .yuv444p: "444 XYSCSS=444"
        case .yuv420p10: "420p10 XYSCSS=420P10"
        case .yuv422p10: "422p10 XYSCSS=422P10"
        case .yuv444p10: "444p10 XYSCSS=444P10"
        case .gray8: "mono"
        default: nil
        }
    }

    static func header(of format: VideoFormat, rate: FrameRate) -> String {
        let range = format.color.range == .full || !format.pixelFormat.isYCbCr ? "FULL" : "LIMITED"
        return "YUV4MPEG2 W\(format.width) H\(format.height) F\(rate.numerator):\(rate.denominator) Ip A1:1 C"
            + "\(colorSpace(format.pixelFormat) ?? "420mpeg2") XCOLORRANGE=\(range)\n"
    }
}
