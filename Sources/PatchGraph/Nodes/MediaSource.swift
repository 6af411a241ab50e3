import PatchMedia

/// What a source found when it was opened.
public struct SourceFormat: Sendable {
    /// nil for a source without picture.
    public var video: VideoFormat?
    /// Nominal rate of the picture, when it has one.
    public var rate: FrameRate?
    /// Always planar float; sources resample to 48 kHz themselves. nil for a source without sound.
    public var audio: AudioFormat?
    /// Frames arrive by the world's clock (camera, screen, network); the graph takes its rate from such a source.
    public var isLive: Bool
    /// nil when it does not end by itself.
    public var duration: MediaTime?

    public init(
        video: VideoFormat?, rate: FrameRate? = nil, audio: AudioFormat? = nil, isLive: Bool = false,
        duration: MediaTime? = nil
    ) {
        self.video = video
        self.rate = rate
        self.audio = audio
        self.isLive = isLive
        self.duration = duration
    }
}

/// A source's answer at a tick.
public enum SourceReading {
    /// The frame that is due; may be the same as at the last tick.
    case frame(Frame)
    /// Nothing has arrived yet (no frame ever).
    case waiting
    /// The source is over; the last frame may be held by the input's policy.
    case ended
}

/// A node that makes frames, and perhaps sound.
///
/// Life: `open`, `start`, then `frame`/`sound` at each tick, `stop` once, in this order.
/// Thread-safety: `open`, `start` and `stop` are called on control threads, one at a time; `frame` and `sound` on the
/// engine's clock thread only.
public protocol MediaSource: AnyObject, Sendable {
    /// Opens the device or file and reads until the formats are known. May block, for a bounded time.
    /// - Throws: `PatchError` that says what is wrong and what to do.
    func open() throws -> SourceFormat
    /// Begins to deliver. The first `frame(at:)` after it fixes which tick shows the first frame.
    func start() throws
    /// The frame due at `tick`. Live: never blocks. Offline: waits until it is known which frame is due.
    /// Its format may differ from the one that `open` gave, when the stream changed; the engine then plans anew.
    func frame(at tick: Tick) -> SourceReading
    /// Fills `block` with exactly `block.count` samples a channel that belong to this tick, silence where there are
    /// none. Returns false when the whole block is silence because nothing came.
    func sound(at tick: Tick, into block: AudioBlock) -> Bool
    /// Ends threads and closes devices. Called once; `frame` is not called afterwards.
    func stop()
    var counters: SourceCounters { get }
    /// How delivery goes; nil for a source that cannot fail (a picture, a pattern). Any thread.
    var health: SourceHealth? { get }
    /// Takes the sound of each tick so many samples sooner than its picture, with a fade, so that sound filters that take
    /// time end in step. Clock thread.
    func leadSound(by samples: Int)
    /// Whether `leadSound` does anything.
    var leadsSound: Bool { get }
}

extension MediaSource {
    public func sound(at tick: Tick, into block: AudioBlock) -> Bool {
        block.silence(count: block.count)
        return false
    }
    public var counters: SourceCounters { SourceCounters() }
    public var health: SourceHealth? { nil }
    public func leadSound(by samples: Int) {}
    public var leadsSound: Bool { false }
}

/// Running totals of a source.
public struct SourceCounters: Sendable {
    /// Frames that arrived.
    public var received: Int64 = 0
    /// Frames that arrived and were never shown, because newer ones were due.
    public var dropped: Int64 = 0
    /// Live ticks that had to show a picture beyond its duration, because the next one had not come.
    public var late: Int64 = 0
    /// Packets that could not be decoded.
    public var corrupt: Int64 = 0
    /// Frames waiting now.
    public var queueDepth: Int = 0
    public init() {}
}
