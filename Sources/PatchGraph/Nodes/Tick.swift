import PatchMedia

/// One step of the graph's clock.
///
/// Thread-safety: a value.
public struct Tick: Sendable {
    /// Counts from 0 since the engine started; never skips.
    public var index: Int64
    /// Graph time of this frame: exactly `index` frames after zero.
    public var time: MediaTime
    public var duration: MediaTime
    /// When the tick was due, monotonic nanoseconds; in offline runs, when it began.
    public var hostTime: Int64
    /// Virtual time: sources wait for their exact frame instead of holding.
    public var isOffline: Bool

    public init(index: Int64, rate: FrameRate, hostTime: Int64, isOffline: Bool) {
        self.index = index
        time = rate.time(ofFrame: index)
        duration = rate.frameDuration
        self.hostTime = hostTime
        self.isOffline = isOffline
    }
}
