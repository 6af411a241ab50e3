import PatchMedia

/// Ties a source's media time to graph time, and keeps a live source's tie good.
///
/// A live source's clock drifts against ours, and its frames come with jitter. *Lead* is how far the newest frame (or the
/// end of the sound) is ahead of what is due. Without jitter it lies between minus one frame and 0. Over windows of 2 s:
/// too small a lead means missed frames or holes in the sound, so the tie moves to show the source later; a lead that is
/// never small means needless delay, so it moves to show it sooner. A lead beyond ±1 s is a break and is closed at once.
/// A track that pauses while the other goes on is not late (see `TrackLead`).
/// Where there is sound, moves would be heard: drift is followed by stretching the source's time instead (`SoundSteering`),
/// and the tie only moves when sound was missing already or the lead is far too large.
struct SourceClock {
    private var graphOrigin = MediaTime.zero
    private var mediaOrigin = MediaTime.zero
    private(set) var isTied = false
    private(set) var lastDue: MediaTime?
    private let latency: MediaTime

    private var windowStart: MediaTime?
    private var pictureLead = TrackLead()
    private var soundLead = TrackLead()
    private var smallestLead = Int64.max
    private var missed = 0
    /// Ticks in a row that found something that had come far too late.
    private var lateInARow = 0
    private var isSettled = false
    /// Follows the clock of a live source with sound.
    private(set) var steering = SoundSteering()

    init(latency: MediaTime) { self.latency = latency }

    /// From now on the media's `time` minus the latency is due at `tick`.
    mutating func tie(_ tick: Tick, to time: MediaTime) {
        graphOrigin = tick.time
        mediaOrigin = latency == .zero ? time : time - latency
        isTied = true
        windowStart = nil
        pictureLead.tieMoved()
        soundLead.tieMoved()
        lastDue = mediaOrigin
        steering.begin()
    }

    mutating func mediaTime(at tick: Tick) -> MediaTime {
        let due = tick.time - graphOrigin + mediaOrigin
        lastDue = due
        return due
    }

    /// The first sample of `tick` on the media's time line. Consecutive ticks differ by the difference of their times,
    /// rounded down to samples.
    func sample(at tick: Tick) -> Int64 {
        let rate = Int64(SoundRing.rate)
        return tick.time.floored(to: rate) - graphOrigin.floored(to: rate) + mediaOrigin.converted(to: rate)
    }

    /// A time in units of at most 2 ms was rounded by whoever wrote it: one unit late is on time.
    func isDue(_ pts: MediaTime, at due: MediaTime, tick: Tick? = nil) -> Bool {
        if pts <= due { return true }
        guard pts.timescale >= 500 else { return false }
        if let tick, MediaTime(value: 4, timescale: pts.timescale) > tick.duration { return false }
        return MediaTime(value: pts.value &- 1, timescale: pts.timescale) <= due
    }

    /// A file that could not be read in time goes on where it stopped, instead of racing after the clock.
    /// - Parameter next: the earliest frame that was not shown yet.
    mutating func slip(at tick: Tick, to next: MediaTime) {
        let due = tick.time - graphOrigin + mediaOrigin
        if (due - next).nanoseconds > Self.fileLateness { tie(tick, to: next) }
    }

    /// Live sources only; see above.
    /// - Parameters:
    ///   - picture: `newest` is the pts of the newest frame.
    ///   - frame: length of a frame.
    ///   - sound: `newest` is where the sound ends, less one tick's length; nil when there is none.
    mutating func adapt(at tick: Tick, picture: TrackNews?, frame: MediaTime, sound: TrackNews?) {
        let due = (tick.time - graphOrigin + mediaOrigin).nanoseconds
        let step = max(frame.nanoseconds, 1_000_000)
        let seen = picture.map { pictureLead.look($0, at: tick, due: due, step: step) }
        // Sound counts as one frame ahead: it must be there, where a picture may be a frame old.
        let heard = sound.map { soundLead.look($0, at: tick, due: due &+ step, step: step) }
        let lead = min(seen?.now ?? .max, heard?.now ?? .max)
        guard lead != .max else { return }
        let latency = latency.nanoseconds
        // Everything is far too early; or what has just come is far too late, and not only a picture that the decoder held
        // back over a pause.
        let fresh = min(seen?.fresh ?? .max, heard?.fresh ?? .max)
        if fresh != .max { lateInARow = fresh < -TrackLead.breakLength ? lateInARow + 1 : 0 }
        let isAlone = (seen?.isTimely ?? false) || (heard?.isTimely ?? false)
        let isLate = lateInARow > (isAlone ? Self.patience : 0)
        if fresh != .max, isLate || lead > latency + TrackLead.breakLength {
            lateInARow = 0
            move(by: min(fresh, lead) - latency, at: tick)
            return
        }
        guard let windowStart else {
            startWindow(at: tick)
            return
        }
        smallestLead = min(smallestLead, seen?.smallest ?? .max, heard?.smallest ?? .max)
        missed += (seen?.missed ?? 0) + (heard?.missed ?? 0)
        // What was buffered while the source was opened comes at once, just after the first tick: settle soon.
        let length = isSettled ? Self.window : Self.firstWindow
        guard (tick.time - windowStart).nanoseconds >= length else { return }
        let isFirst = !isSettled
        isSettled = true
        if smallestLead == .max {
            startWindow(at: tick)
        } else if missed >= 2 {
            move(by: max(smallestLead + step, -Self.largestMove), at: tick)
        } else if smallestLead > latency + step * 3 / 2, sound == nil || isFirst || smallestLead > latency + Self.excess
        {
            move(by: smallestLead - latency - step / 2, at: tick)
        } else {
            if sound != nil, !isFirst {
                steering.update(lead: smallestLead, highest: latency - step / 2, seconds: Double(length) / 1e9)
            }
            startWindow(at: tick)
        }
    }

    private mutating func startWindow(at tick: Tick) {
        windowStart = tick.time
        smallestLead = .max
        missed = 0
    }

    private mutating func move(by nanoseconds: Int64, at tick: Tick) {
        mediaOrigin = MediaTime(value: mediaOrigin.nanoseconds &+ nanoseconds, timescale: 1_000_000_000)
        steering.moved()
        pictureLead.tieMoved()
        soundLead.tieMoved()
        startWindow(at: tick)
    }

    private static let window: Int64 = 2_000_000_000
    private static let firstWindow: Int64 = 400_000_000
    /// Ticks for which one track may be far too late while the other is in time.
    private static let patience = 4
    /// A lead that is too large by more than this is not worn down but taken out at once.
    private static let excess: Int64 = 400_000_000
    private static let largestMove: Int64 = 200_000_000
    private static let fileLateness: Int64 = 500_000_000
}
