import PatchMedia

/// What a sink does when frames come faster than it takes them.
public enum QueuePolicy: Hashable, Sendable {
    /// The queue holds `depth` frames; when full, the oldest waiting one is dropped and counted.
    case dropOldest(depth: Int)
    /// As above, but the arriving one is dropped.
    case dropNewest(depth: Int)
    /// The engine waits up to `limit` nanoseconds for room, then drops the arriving one.
    case block(depth: Int, limit: Int64)
}

/// A frame on its way to a sink. The frame may be shared with other sinks and shown at several ticks, so times are here.
public struct Delivery: Sendable {
    /// nil for a sink that takes only sound.
    public var frame: Frame?
    /// The sound that belongs to this tick, in the format that `open` was told.
    public var sound: AudioBlock?
    /// Graph time, exactly the tick's.
    public var pts: MediaTime
    public var duration: MediaTime
    /// Tick index since the engine started; a gap means frames were dropped before this sink.
    public var tick: Int64
    /// Counts what this sink was offered, from 0.
    public var sequence: Int64
    /// When the tick was due, monotonic nanoseconds; 0 when that is not known.
    public var hostTime: Int64
    public var tap: Tap

    /// Where a delivery comes from.
    public struct Tap: Hashable, Sendable {
        /// The plan's; grows with each edit.
        public var generation: Int
        /// Sinks of one generation with the same index are given the same pictures and the same sound.
        public var index: Int

        public init(generation: Int = 0, index: Int = 0) {
            self.generation = generation
            self.index = index
        }
    }

    public init(
        frame: Frame?, sound: AudioBlock?, pts: MediaTime, duration: MediaTime, tick: Int64, sequence: Int64,
        hostTime: Int64 = 0, tap: Tap = Tap()
    ) {
        self.frame = frame
        self.sound = sound
        self.pts = pts
        self.duration = duration
        self.tick = tick
        self.sequence = sequence
        self.hostTime = hostTime
        self.tap = tap
    }
}

/// What a sink asks of its branch.
public struct SinkRequest: Sendable {
    /// Pixel format, size and colour of the frames it wants; nil for a sink that takes only sound.
    public var video: VideoFormat?
    /// Where the picture goes in `video` when its shape differs.
    public var fill: FillMode
    /// nil when it takes no sound.
    public var audio: AudioFormat?
    public var queue: QueuePolicy

    public init(
        video: VideoFormat?, fill: FillMode = .fit, audio: AudioFormat? = nil,
        queue: QueuePolicy = .dropOldest(depth: 4)
    ) {
        self.video = video
        self.fill = fill
        self.audio = audio
        self.queue = queue
    }
}

/// How a picture of one shape fills another: GPUImage's stretch, preserve aspect ratio, and preserve and fill.
public enum FillMode: String, Hashable, Sendable, CaseIterable {
    case stretch
    /// The whole picture, with bars.
    case fit
    /// No bars, edges cut off.
    case fill
}

/// A node that takes frames: raw data, a window, an encoder.
///
/// Life: `negotiate` (any number of times), `open`, `consume` for each tick, `finish`. When a reload changes what arrives,
/// `negotiate` is asked again; a sink that cannot go on with the new format asks for the old one, and the planner converts.
/// Thread-safety: `negotiate` and `open` are called on control threads, one at a time; `consume` and `finish` on the
/// sink's own thread.
public protocol MediaSink: AnyObject, Sendable {
    /// What the sink wants, given the format that its branch yields (size upright) and whether sound comes along.
    /// - Throws: `PatchError` when it can make no use of it.
    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest
    /// Opens files, windows and connections. May block, for a bounded time.
    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws
    /// Takes one tick's frame and sound. May take long: the queue in front of it has the stated policy.
    /// - Throws: `PatchError` when the sink cannot go on; the engine switches it off and reports it, all else goes on.
    func consume(_ delivery: Delivery) throws
    /// No more frames: drain, write trailers, close.
    func finish()
    /// Unblocks `consume` and `open` soon: the process wants to end. Any thread.
    func interrupt()
}

extension MediaSink {
    public func interrupt() {}
}

/// A sink that has more numbers than its queue's.
///
/// Thread-safety: called on any thread while the sink works.
public protocol MeasuredSink: MediaSink {
    /// Adds the sink's own numbers, and its state where it has one.
    func fill(_ statistics: inout NodeStatistics)
}
