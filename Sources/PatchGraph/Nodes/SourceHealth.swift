/// How a source is doing, in the words that operators see.
public enum SourceState: String, Hashable, Sendable, CaseIterable {
    /// It has not delivered anything yet.
    case connecting
    case live
    /// Connected, but nothing has come for a while.
    case stalled
    /// The connection is lost and is tried again.
    case retrying
    /// It cannot go on, and nobody tries.
    case failed
    /// It is over: a file was played to its end.
    case ended
}

/// What a source tells about its delivery.
///
/// Thread-safety: a value.
public struct SourceHealth: Sendable {
    public var state: SourceState
    /// When the last picture (of a source without picture: sound) arrived, monotonic nanoseconds; 0 before the first.
    public var lastArrival: Int64 = 0
    /// Pictures that arrived; of a source without picture, stretches of sound.
    public var arrivals: Int64 = 0
    /// Connections that were made again after a loss.
    public var reconnects: Int64 = 0
    /// Milliseconds from the arrival of a picture to the tick that showed it first, smoothed; nil before the first.
    public var latency: Double?
    /// Milliseconds by which the sound of a tick lies behind its picture on the source's own time line, beyond what `offset`
    /// asks for; negative when it is ahead, nil while there is no sound or no picture.
    public var avOffset: Double?
    /// Parts per million by which the source's clock runs faster than the engine's; nil while it is not followed.
    public var drift: Double?

    public init(_ state: SourceState) { self.state = state }
}

/// Running numbers of a source, for operators.
///
/// Thread-safety: a value.
public struct SourceStatistics: Sendable {
    public var state: SourceState
    /// Milliseconds from the arrival of a picture here until the slowest encoder or other sink that shows it takes it; nil
    /// before the first picture, or when no sink shows it.
    public var latency: Double?
    /// Milliseconds by which sound lies behind picture, as `SourceHealth.avOffset`.
    public var avOffset: Double?
    /// Parts per million, as `SourceHealth.drift`.
    public var drift: Double?
    public var reconnects: Int64
    /// Packets that could not be decoded.
    public var corrupt: Int64
    /// What stands in for the source because of its `policy`; nil while the source itself is on air.
    public var standIn: InputPolicy.Kind?
}
