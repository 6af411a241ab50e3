import PatchKernel
import PatchMedia

/// How an engine is set up.
///
/// Thread-safety: a value.
public struct EngineConfiguration: Sendable {
    public enum ClockKind: Sendable {
        /// Ticks by the monotonic clock.
        case live
        /// Ticks as fast as sources and sinks allow; no frame is lost.
        case offline
    }

    public var clock: ClockKind = .live
    /// Render threads, 1…64; nil is one a core (one for each core of `affinity`, where it names some).
    public var workers: Int?
    /// Cores that the render threads are tied to, the clock thread (which renders too) to the first; more threads than cores
    /// begin again at the first. Empty leaves the choice to the system.
    public var affinity: [Int] = []
    /// Makes the meter of what each output is given; nil measures nothing.
    public var makeMeter: (@Sendable () -> any LoudnessMetering)?
    package var bandRule = BandRule.measured
    /// Ticks to run, from the start; nil runs until `stop` or (offline) until every source ended.
    public var duration: MediaTime?
    public var graphDirectory = "."
    public var bindings: [String: String] = [:]
    /// Folder for compiled kernels; nil keeps them in memory only.
    public var kernelCacheDirectory: String?
    /// How kernels are compiled, but for the cache's folder: for measurements.
    package var compiler = CompilerOptions()
    /// Called on any thread, in order for one node; must return soon.
    public var onEvent: @Sendable (EngineEvent) -> Void = { _ in }

    /// Called on the clock thread before each tick, for the script's `onFrame` and timers. Live: must return at once.
    /// Offline: may take its time, so that what it sets is in this very frame.
    public var beforeTick: (@Sendable (Tick) -> Void)?

    public init() {}
}

/// What an engine tells the program around it.
public enum EngineEvent: Sendable {
    /// A node said something.
    case node(NodeID, NodeEvent, location: SourceLocation?)
    /// The plan of this generation went on air at this tick.
    case onAir(generation: Int, tick: Int64)
    /// All sources ended, or the duration is over; the engine drains and stops.
    case finished
}

/// Running numbers of a node, for operators.
public struct NodeStatistics: Sendable {
    public var id: NodeID
    public var kind: String
    /// Frames made, passed or taken.
    public var frames: Int64 = 0
    public var drops: Int64 = 0
    /// Ticks of a live run for which the node was late: a source's next picture was not there when the last one had been shown
    /// for as long as it lasts, a pass took longer than a tick, a guest was still busy, a sink took the picture after the
    /// next tick was due.
    public var late: Int64 = 0
    public var queueDepth: Int = 0
    /// Microseconds a frame, over the last 512: how long the node's pass or `consume` took.
    public var p50: Double = 0
    public var p99: Double = 0
    public var state: String = ""
    /// A publisher's or recorder's own numbers.
    public var output: OutputStatistics?
    /// What only sources have.
    public var source: SourceStatistics?
    /// What a loudness meter of the graph reads; how loud what an output was given is, nil where it takes no sound.
    public var loudness: Loudness?

    public init(id: NodeID, kind: String) {
        self.id = id
        self.kind = kind
    }
}

/// Running numbers of a publisher or recorder.
public struct OutputStatistics: Sendable {
    /// Bytes of packets that the peer, or the system on its way to the peer or the disk, accepted.
    public var bytesSent: Int64 = 0
    /// Bits a second that were accepted over the last seconds.
    public var bitrate: Double = 0
    /// Bits a second that the picture's encoder is set to; 0 where quality decides.
    public var targetBitrate: Int = 0
    public var reconnects: Int64 = 0
    /// Groups of pictures, and packets, that were dropped because the peer took too little or was away.
    public var droppedGroups: Int64 = 0
    public var droppedPackets: Int64 = 0
    /// What waits to be accepted.
    public var waitingBytes: Int = 0
    /// Seconds of stream that wait.
    public var waitingSeconds: Double = 0
    /// Frames that repeat the one before, because their tick was dropped.
    public var repeats: Int64 = 0
    /// Outputs that use the same encoder, this one included.
    public var encoderShares: Int = 1
    /// Milliseconds from the moment a tick was due to its encoded packet, over the last 512 packets of picture.
    public var encodeP50: Double = 0
    public var encodeP99: Double = 0
    /// Milliseconds from the encoded packet to its acceptance.
    public var sendP50: Double = 0
    public var sendP99: Double = 0
    public init() {}
}

/// Running numbers of an engine.
public struct EngineStatistics: Sendable {
    public var ticks: Int64 = 0
    /// Ticks that ended after the next one was due.
    public var late: Int64 = 0
    public var generation: Int = 0
    /// Tick work in microseconds over the last 512 ticks.
    public var p50: Double = 0
    public var p99: Double = 0
    public var nodes: [NodeStatistics] = []
    public init() {}
}
