import PatchMedia

/// What a source's queue does between its producer and the engine's clock.
public enum SourcePolicy: Hashable, Sendable {
    /// Files: every frame is kept until it was due; the producer waits while `depth` frames are ahead.
    case everyFrame(depth: Int)
    /// Cameras, screens, networks: at most `depth` frames wait; when one more comes, the oldest is dropped and counted.
    case newest(depth: Int)
}

/// The one place between a source's own thread, which makes frames and sound when it can, and the engine's clock, which
/// takes what is due when it must.
///
/// Time: the first tick that finds a frame ties the two time lines together: graph time T0 is media time P0. From then on
/// the frame due at t is the latest one whose pts − P0 ≤ t − T0, and the sound due is cut from the same place, so that
/// lips stay in sync. A coarse media clock (units of 2 ms or less, as Matroska's and FLV's) may be one unit late, because
/// its times are rounded. Live sources move this tie slowly against drift and jitter, and at once after a break
/// (see `SourceClock`). Jumps of the time stamps are taken out when frames are pushed (see `TimestampRepair`).
///
/// Thread-safety: one producer thread calls `push…`, `end…`, `waitForDemand` and `waitForRoom`; the clock thread calls
/// `frame` and `sound`; `close`, `counters` and `waitForFirst` may be called from any thread. The clock's calls allocate
/// nothing.
public final class SourceQueue: Sendable {
    let monitor: Monitor<State>
    public let policy: SourcePolicy
    /// The sound's format, always 48 kHz; nil for a source without sound.
    public let audio: AudioFormat?
    private let report: @Sendable (NodeEvent) -> Void
    /// How long an offline tick waits for the producer, in nanoseconds.
    private let patience: Int64

    /// - Parameters:
    ///   - audio: one or two channels at 48 kHz.
    ///   - latency: how far behind the newest frame a live source is shown, so that sound and frames that arrive in bursts
    ///     are there when due. Without meaning for `.everyFrame`.
    ///   - patience: nanoseconds that an offline tick waits before it goes on without this source.
    public init(
        _ policy: SourcePolicy, hasPicture: Bool = true, audio: AudioFormat? = nil, latency: MediaTime = .zero,
        patience: Int64 = 30_000_000_000, report: @escaping @Sendable (NodeEvent) -> Void = { _ in }
    ) {
        self.policy = policy
        self.audio = audio
        self.report = report
        self.patience = patience
        monitor = Monitor(State(policy: policy, hasPicture: hasPicture, audio: audio, latency: latency))
    }
}

// MARK: - The producer's side

extension SourceQueue {
    /// What the consumer lacks.
    public struct Demand: Hashable, Sendable {
        public var picture: Bool
        public var sound: Bool

        public init(picture: Bool, sound: Bool) {
            self.picture = picture
            self.sound = sound
        }
    }

    /// Waits until a frame or sound is wanted. A producer that makes what is wanted, and nothing else, cannot deadlock,
    /// however badly a file interleaves its picture and sound.
    /// - Returns: nil after `close`, and when both picture and sound have ended.
    public func waitForDemand() -> Demand? {
        let demand: Demand?? = monitor.wait { state in
            if state.isClosed || state.isOver { return .some(nil) }
            let demand = state.demand
            return demand.picture || demand.sound ? .some(demand) : nil
        }
        return demand ?? nil
    }

    /// What is wanted now; nil after `close`.
    public var demand: Demand? { monitor.withLock { $0.isClosed ? nil : $0.demand } }

    /// Waits until a frame more fits. False after `close` or `limit` nanoseconds.
    public func waitForRoom(limit: Int64? = nil) -> Bool {
        let open: Bool? = monitor.wait(until: limit.map { monotonicNanoseconds() + $0 }) { state in
            if state.isClosed { return false }
            return state.demand.picture ? true : nil
        }
        return open ?? false
    }

    /// Puts a frame at the end. Never waits: with `.everyFrame` the producer asks `waitForDemand` first.
    /// - Parameters:
    ///   - pts: on the media's own time line; nil when the medium does not say, then it follows the frame before.
    ///   - duration: zero when unknown.
    ///   - arrival: monotonic nanoseconds; tells a real pause of a live source from a jump of its time stamps.
    public func push(
        _ frame: Frame, pts: MediaTime?, duration: MediaTime = .zero, arrival: Int64 = monotonicNanoseconds()
    ) {
        monitor.notify { $0.push(frame, pts: pts, duration: duration, arrival: arrival) }
    }

    /// Puts sound at the end.
    /// - Parameters:
    ///   - count: samples a channel.
    ///   - beginsRound: a file begins again here: to the sample, where otherwise stamps that are off by up to 20 ms follow on. Codecs pad
    ///     the end of a track.
    ///   - channel: the samples of each of `audio.channels` channels, read before the call returns.
    public func pushSound(
        pts: MediaTime?, count: Int, beginsRound: Bool = false, arrival: Int64 = monotonicNanoseconds(),
        channel: (Int) -> UnsafePointer<Float>
    ) {
        monitor.notify {
            $0.pushSound(pts: pts, count: count, beginsRound: beginsRound, arrival: arrival, channel: channel)
        }
    }

    /// No more frames will come, though sound may.
    public func endPicture() { monitor.notify { $0.endPicture() } }
    /// No more sound will come, though frames may.
    public func endSound() { monitor.notify { $0.endSound() } }
    /// Nothing more will come.
    public func end() {
        monitor.notify {
            $0.endPicture()
            $0.endSound()
        }
    }

    /// The producer cannot deliver sound before `time` (it lies too far behind in the file): it counts as silence.
    public func noSound(before time: MediaTime) { monitor.notify { $0.noSound(before: time) } }

    /// What keeps the producer from delivering; over as soon as something arrives.
    public func setTrouble(_ trouble: SourceState?) { monitor.withLock { $0.trouble = trouble } }

    /// The connection was made again.
    public func countReconnect() { monitor.withLock { $0.reconnects += 1 } }

    /// How much a live producer is to stretch, in parts: `time`, all of its time line, pictures included, because its clock
    /// is not ours; `sound`, the samples beyond that, because they are fewer or more than their time stamps say.
    public var stretch: (time: Double, sound: Double) { monitor.withLock { $0.stretch } }

    /// One more packet could not be decoded.
    public func countCorrupt() { monitor.withLock { $0.counters.corrupt += 1 } }
}

// MARK: - Anybody's

extension SourceQueue {
    /// Wakes everybody for good; the producer ends, ticks get what is there.
    public func close() { monitor.notify { $0.isClosed = true } }

    public var isClosed: Bool { monitor.withLock { $0.isClosed } }

    public var counters: SourceCounters {
        monitor.withLock { state in
            var counters = state.counters
            counters.queueDepth = state.frames.count
            return counters
        }
    }

    public var health: SourceHealth {
        let now = monotonicNanoseconds()
        return monitor.withLock { $0.health(now: now) }
    }

    /// How much later the sound is heard, in milliseconds. Changes with a fade.
    public func setOffset(milliseconds: Double) {
        let samples = Int((milliseconds * Double(SoundRing.rate) / 1000).rounded())
        monitor.notify { $0.sound.offset = samples }
    }

    /// By how many samples the graph wants the sound ahead, because what comes after takes time. Changes with a fade.
    public func setSoundLead(_ samples: Int) { monitor.notify { $0.sound.lead = samples } }

    /// Sleeps on the producer's thread. False when `close` ended it.
    public func sleep(nanoseconds: Int64) -> Bool {
        let closed: Void? = monitor.wait(until: monotonicNanoseconds() + nanoseconds) { $0.isClosed ? () : nil }
        return closed == nil
    }

    /// Waits until something can be shown or heard, the source ended, or `limit` nanoseconds went by.
    public func waitForFirst(limit: Int64) {
        let _: Void? = monitor.wait(until: monotonicNanoseconds() + limit) { state in
            state.hasSomething || state.isOver || state.isClosed ? () : nil
        }
    }
}

// MARK: - The clock's side

extension SourceQueue {
    /// The frame due at `tick`, as `MediaSource.frame(at:)` has it.
    public func frame(at tick: Tick) -> SourceReading {
        settle(at: tick, sound: 0)
        let (reading, isNews) = monitor.withLock { state in
            let reading = state.reading()
            guard case .ended = reading, !state.isEndKnown, !state.isClosed else { return (reading, false) }
            state.isEndKnown = true
            return (reading, true)
        }
        if isNews { report(.ended) }
        return reading
    }

    /// The sound of `tick`, as `MediaSource.sound(at:into:)` has it.
    ///
    /// A mono source fills every channel of `block`; a stereo source in a mono block is averaged.
    public func sound(at tick: Tick, into block: AudioBlock) -> Bool {
        guard audio != nil else {
            block.silence(count: block.count)
            return false
        }
        settle(at: tick, sound: block.count)
        return monitor.notify { $0.takeSound(at: tick, into: block) }
    }

    /// Moves the queue to `tick`; offline, waits until it is known what is due.
    private func settle(at tick: Tick, sound count: Int) {
        var (isSettled, version) = monitor.notify { state in
            (state.advance(to: tick, sound: count), state.version)
        }
        guard tick.isOffline, !isSettled else { return }
        let deadline = monotonicNanoseconds() + patience
        while !isSettled {
            let seen = version
            let news: Int? = monitor.wait(until: deadline) { $0.version != seen ? $0.version : nil }
            guard news != nil else {
                let isFirst = monitor.withLock { state in
                    defer { state.hasGivenUp = true }
                    return !state.hasGivenUp
                }
                if isFirst { reportImpatience() }
                return
            }
            (isSettled, version) = monitor.notify { state in
                (state.advance(to: tick, sound: count), state.version)
            }
        }
    }

    private func reportImpatience() {
        report(
            .problem(
                PatchError(
                    .media, "the source delivered nothing for \(patience / 1_000_000_000) s",
                    remedy: "check the disk or network it reads from; the run goes on with its last frame")))
    }
}
