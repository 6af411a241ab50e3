import PatchGraph
import PatchMedia
import Synchronization

/// `snapshot`: writes one picture, the first at or after a stated time, as PNG or JPEG.
///
/// Thread-safety: as `MediaSink` states.
final class Snapshot: MediaSink {
    private let environment: NodeEnvironment
    private let path: String
    private let isJPEG: Bool
    private let size: (width: Int, height: Int)?
    private let fill: FillMode
    private let time: MediaTime
    private let isOpen = Atomic(false)
    private let isDone = Atomic(false)

    static let schema = NodeSchema(
        kind: "snapshot", role: .sink, summary: "Writes one picture as a PNG or JPEG file.",
        options: [
            OptionSchema("file", .outputFile, "The file: .png, .jpg or .jpeg.", required: true),
            OptionSchema("at", .number(0...86_400), "Graph time of the picture.", unit: "s", default: "0"),
            OptionSchema("size", .size, "Size of the picture.", unit: "px", default: "the incoming size"),
            OptionSchema(
                "fill", .choice(FillMode.allCases.map(\.rawValue)), "How a picture of another shape fits.",
                default: "fit"),
        ])

    init(options: NodeOptions, environment: NodeEnvironment) throws {
        self.environment = environment
        path = options.string("file") ?? ""
        let lowered = path.lowercased()
        isJPEG = lowered.hasSuffix(".jpg") || lowered.hasSuffix(".jpeg")
        guard isJPEG || lowered.hasSuffix(".png") else {
            throw PatchError(
                .usage, "snapshot needs a file that ends in .png, .jpg or .jpeg", node: environment.nodeID,
                at: environment.location)
        }
        size = options.size("size")
        fill = options.string("fill").flatMap(FillMode.init(rawValue:)) ?? .fit
        time = MediaTime(seconds: options.number("at") ?? 0)
    }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        guard let offered else {
            throw PatchError(
                .graph, "snapshot needs a picture", remedy: "wire a video node to it", node: environment.nodeID,
                at: environment.location)
        }
        let size = size ?? offered.displaySize
        let jfif = ColorSpec(matrix: .bt601, range: .full, primaries: .bt709, transfer: .srgb, siting: .center)
        let video =
            isJPEG
            ? VideoFormat(.yuv444p, width: size.width, height: size.height, color: jfif)
            : VideoFormat(.rgba, width: size.width, height: size.height, premultiplied: false)
        // The newest frames are as good as any until the time has come; offline it must be the exact one.
        let queue: QueuePolicy =
            environment.isOffline ? .block(depth: 2, limit: .max / 4) : .dropNewest(depth: 2)
        return SinkRequest(video: video, fill: fill, queue: queue)
    }

    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        do { try makeFolder(forOutput: path) } catch let error as PatchError {
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
        isOpen.store(true, ordering: .relaxed)
    }

    func consume(_ delivery: Delivery) throws {
        guard let frame = delivery.frame, delivery.pts >= time, !isDone.load(ordering: .relaxed) else { return }
        isDone.store(true, ordering: .relaxed)
        do {
            try StillImage.write(
                isJPEG ? frame : StillImage.straight(frame), encoder: isJPEG ? "mjpeg" : "png", to: path)
        } catch let error as PatchError { throw error.placed(node: environment.nodeID, at: environment.location) }
        environment.report(.notice("wrote \(path)"))
    }

    func finish() {
        guard isOpen.load(ordering: .relaxed), !isDone.load(ordering: .relaxed) else { return }
        environment.report(
            .problem(
                PatchError(
                    .output, "\(path) was not written: the graph ended before \(time.seconds) s", remedy: "lower at",
                    node: environment.nodeID, at: environment.location)))
    }
}
