import PatchGraph
import PatchMedia
import Synchronization

/// Sources that this program draws itself: `color` and `testPattern`.
///
/// Thread-safety: all members may be called from any thread.
public enum PatternSources {
    public static var kinds: [NodeKind] { [color, testPattern] }

    /// Words that an `input` may be bound to, or fall back to, where there is no camera: `test`, and drawn people and places.
    public static var standIns: [String: NodeKind] {
        var kinds = ["test": testPattern]
        for scene in TestScene.Kind.allCases {
            kinds[scene.rawValue] = NodeKind(
                testPattern.schema,
                .source { options, environment in
                    let size = options.size("size") ?? (environment.width, environment.height)
                    try check(size, environment)
                    let rate = rate(options, environment)
                    return DrawnSource(
                        TestScene(scene, width: size.0, height: size.1, rate: rate.perSecond), rate: rate)
                })
        }
        return kinds
    }

    public static let color = NodeKind(
        NodeSchema(
            kind: "color", role: .source, summary: "One colour.",
            options: [
                OptionSchema("rgba", .color, "R'G'B'A, straight alpha.", default: "#000000"),
                OptionSchema("size", .size, "Size of the picture.", unit: "px", default: "the graph's"),
            ]),
        .source { options, environment in
            let rgba = options.vector("rgba") ?? [0, 0, 0, 1]
            guard (3...4).contains(rgba.count), rgba.allSatisfy({ (0...1).contains($0) }) else {
                throw PatchError(
                    .usage, "rgba must be 3 or 4 numbers in 0…1, not \(rgba)",
                    remedy: "write \"#rrggbb\", \"#rrggbbaa\" or {r, g, b, a}", node: environment.nodeID,
                    at: environment.location)
            }
            let size = options.size("size") ?? (environment.width, environment.height)
            try check(size, environment)
            return ColorSource(rgba: rgba, width: size.0, height: size.1)
        })

    public static let testPattern = NodeKind(
        NodeSchema(
            kind: "testPattern", role: .source,
            summary:
                "SMPTE bars, a luma ramp, a zone plate with a moving square and the frame's number; or a drawn scene.",
            options: [
                OptionSchema(
                    "kind",
                    .choice(TestPattern.Kind.allCases.map(\.rawValue) + TestScene.Kind.allCases.map(\.rawValue)),
                    "What it shows.", default: "bars"),
                OptionSchema("size", .size, "Size of the picture.", unit: "px", default: "the graph's"),
                OptionSchema("fps", .number(1...240), "Frames a second.", unit: "1/s", default: "the graph's, or 30"),
            ] + OrientationOptions.schemas),
        .source { options, environment in
            let size = options.size("size") ?? (environment.width, environment.height)
            try check(size, environment)
            let rate = rate(options, environment)
            if let scene = options.string("kind").flatMap({ TestScene.Kind(rawValue: $0) }) {
                return DrawnSource(
                    TestScene(scene, width: size.0, height: size.1, rate: rate.perSecond), rate: rate)
            }
            let kind = options.string("kind").flatMap { TestPattern.Kind(rawValue: $0) } ?? .bars
            return DrawnSource(
                TestPattern(
                    kind, width: size.0, height: size.1, orientation: OrientationOptions.orientation(options)),
                rate: rate)
        })

    private static func rate(_ options: NodeOptions, _ environment: NodeEnvironment) -> FrameRate {
        options.number("fps").flatMap { FrameRate(approximating: $0) } ?? environment.rate ?? FrameRate(30)
    }

    private static func check(_ size: (width: Int, height: Int), _ environment: NodeEnvironment) throws {
        let legal = 1...VideoFormat.maximumSide
        guard legal.contains(size.width), legal.contains(size.height) else {
            throw PatchError(
                .usage, "a picture of \(size.width)x\(size.height) pixels cannot be made",
                remedy: "each side may be 1 to \(VideoFormat.maximumSide)", node: environment.nodeID,
                at: environment.location)
        }
    }
}

/// One colour for ever.
///
/// Thread-safety: immutable.
final class ColorSource: MediaSource {
    private let frame: Frame

    /// - Parameter rgba: 3 or 4 numbers in 0…1, straight alpha.
    init(rgba: [Double], width: Int, height: Int) {
        frame = Frame(allocating: VideoFormat(.rgba, width: width, height: height))
        let alpha = rgba.count > 3 ? rgba[3] : 1
        func code(_ value: Double) -> UInt8 { UInt8((value * 255).rounded()) }
        let pixel = (code(rgba[0] * alpha), code(rgba[1] * alpha), code(rgba[2] * alpha), code(alpha))
        let plane = frame.plane(0)
        for y in 0..<height {
            let row = plane.row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                row[4 * x] = pixel.0
                row[4 * x + 1] = pixel.1
                row[4 * x + 2] = pixel.2
                row[4 * x + 3] = pixel.3
            }
        }
    }

    func open() throws -> SourceFormat { SourceFormat(video: frame.format) }
    func start() throws {}
    func frame(at tick: Tick) -> SourceReading { .frame(frame) }
    func stop() {}
    var counters: SourceCounters {
        var counters = SourceCounters()
        counters.received = 1
        return counters
    }
}

/// A picture that is drawn anew for each frame.
///
/// Thread-safety: all members may be called from any thread, each on a frame of its own.
protocol DrawnPicture: AnyObject, Sendable {
    var format: VideoFormat { get }
    /// Draws frame `index` into a frame of this format.
    func draw(_ index: Int64, into frame: Frame)
}

/// Draws frame n at the n-th frame time after the first tick.
///
/// Thread-safety: as `MediaSource`.
final class DrawnSource: MediaSource, @unchecked Sendable {
    // Unchecked: the `var`s are touched on the clock thread only.
    private let picture: any DrawnPicture
    private let rate: FrameRate
    private let pool: FramePool
    private var firstTime: MediaTime?
    private var current: Frame?
    private let drawn = Atomic<Int64>(0)

    init(_ picture: any DrawnPicture, rate: FrameRate) {
        self.picture = picture
        self.rate = rate
        pool = FramePool(format: picture.format, preallocate: 4)
    }

    func open() throws -> SourceFormat { SourceFormat(video: picture.format, rate: rate) }
    func start() throws {}
    func stop() {}

    var counters: SourceCounters {
        var counters = SourceCounters()
        counters.received = drawn.load(ordering: .relaxed)
        return counters
    }

    func frame(at tick: Tick) -> SourceReading {
        let first = firstTime ?? tick.time
        firstTime = first
        let index = rate.frame(at: tick.time - first)
        if let current, current.sequence == index { return .frame(current) }
        // With every frame held by others, the last one stays.
        guard let frame = pool.take() else { return current.map { .frame($0) } ?? .waiting }
        picture.draw(index, into: frame)
        drawn.add(1, ordering: .relaxed)
        frame.sequence = index
        frame.pts = rate.time(ofFrame: index)
        frame.duration = rate.frameDuration
        current = frame
        return .frame(frame)
    }
}
