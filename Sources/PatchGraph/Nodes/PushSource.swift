import PatchMedia

/// A source whose frames come from the host program: the script's `push{ "name" }`.
///
/// ```swift
/// let synth = PushSource(VideoFormat(.rgba, width: 640, height: 480), rate: FrameRate(30))
/// registry.register([PushSource.kind(["synth": synth])])
/// synth.push(pts: FrameRate(30).time(ofFrame: n)) { frame in draw(into: frame) }
/// ```
/// Thread-safety: `push`, `pushSound` and `finish` from one thread at a time, any thread; the rest as `MediaSource`.
public final class PushSource: MediaSource {
    public let format: VideoFormat
    public let rate: FrameRate
    private let queue: SourceQueue
    private let pool: FramePool
    private let isLive: Bool

    /// - Parameters:
    ///   - rate: how many frames a second will be pushed, nominally.
    ///   - audio: 48 kHz with one or two channels, when sound will be pushed too.
    ///   - isLive: frames come by the world's clock and old ones may be dropped; else every frame is shown and `push`
    ///     waits for room.
    public init(
        _ format: VideoFormat, rate: FrameRate, audio: AudioFormat? = nil, isLive: Bool = false, depth: Int = 4
    ) {
        self.format = format
        self.rate = rate
        self.isLive = isLive
        pool = FramePool(format: format, limit: max(64, 2 * depth))
        queue = SourceQueue(isLive ? .newest(depth: depth) : .everyFrame(depth: depth), audio: audio)
    }

    /// Hands a frame over; it must not be written any more.
    /// - Parameter pts: any time line that does not run backwards; the first frame shown fixes where it lies in the graph.
    /// - Returns: false when the graph no longer takes frames.
    @discardableResult
    public func push(_ frame: Frame, pts: MediaTime) -> Bool {
        if !isLive, !queue.waitForRoom() { return false }
        guard !queue.isClosed else { return false }
        queue.push(frame, pts: pts, duration: rate.frameDuration)
        return true
    }

    /// Takes a frame of `format` from a pool, lets `fill` write it and hands it over. Allocates nothing once as many
    /// frames exist as are in use at a time.
    /// - Returns: false when the graph no longer takes frames, or holds so many that there is none left.
    @discardableResult
    public func push(pts: MediaTime, fill: (Frame) throws -> Void) rethrows -> Bool {
        if !isLive, !queue.waitForRoom() { return false }
        guard !queue.isClosed, let frame = pool.take() else { return false }
        try fill(frame)
        frame.pts = pts
        frame.duration = rate.frameDuration
        queue.push(frame, pts: pts, duration: rate.frameDuration)
        return true
    }

    /// Hands over sound in the format given at `init`; ignored without one.
    public func pushSound(_ block: AudioBlock, pts: MediaTime) {
        guard let audio = queue.audio, block.format.channels >= audio.channels else { return }
        queue.pushSound(pts: pts, count: block.count) { UnsafePointer(block.channel($0)) }
    }

    /// No more frames: the source ends when the last one was shown.
    public func finish() { queue.end() }

    public func open() throws -> SourceFormat {
        SourceFormat(video: format, rate: rate, audio: queue.audio, isLive: isLive)
    }
    public func start() throws {}
    public func frame(at tick: Tick) -> SourceReading { queue.frame(at: tick) }
    public func sound(at tick: Tick, into block: AudioBlock) -> Bool { queue.sound(at: tick, into: block) }
    public func stop() { queue.close() }
    public var counters: SourceCounters { queue.counters }
    public var health: SourceHealth? { queue.health }
    public func leadSound(by samples: Int) { queue.setSoundLead(samples) }
    public var leadsSound: Bool { queue.audio != nil }

    /// The node kind `push`, with the host program's sources by node name. Register it over the default one.
    public static func kind(_ sources: [String: PushSource] = [:]) -> NodeKind {
        NodeKind(
            NodeSchema(
                kind: "push", role: .source, summary: "Frames from the host program.", options: InputPolicy.schemas),
            .source { _, environment in
                if let source = sources[environment.nodeID] { return source }
                let known = sources.keys.sorted().joined(separator: ", ")
                throw PatchError(
                    .usage, "nothing pushes frames into '\(environment.nodeID)'",
                    remedy: known.isEmpty
                        ? "run this graph from a program that registers PushSource.kind"
                        : "the program pushes into: \(known)",
                    node: environment.nodeID, at: environment.location)
            })
    }
}
