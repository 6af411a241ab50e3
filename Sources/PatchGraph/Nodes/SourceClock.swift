import PatchMedia

/// Ties a source's media time to graph time, and keeps a live source's tie good.
///
/// A live source's clock drifts against ours, and its frames come with jitter. *Lead* is how far the newest frame (or the
/// end of the sound) is ahead of what is due. Without jitter it lies between minus one frame and 0. Over windows of 2 s:
/// too small a lead means missed frames or holes in the sound, so the tie moves to show the source later; a lead that is
/// never small means needless delay, so it moves to show it sooner. A lead beyond ±1 s is a break and is closed at once.
/// Where there is sound, moves would be heard: drift is followed by stretching the source's time instead (`SoundSteering`),
/// and the tie only moves when sound was missing already or the lead is far too large.
struct SourceClock {
    private var graphOrigin = MediaTime.zero
    private var mediaOrigin = MediaTime.zero
    private(set) var isTied = false
    private(set) var lastDue: MediaTime?
    private let latency: MediaTime
    /// Something arrived since the last tick.
    var isFresh = false

    private var windowStart: MediaTime?
    private var lastNews: MediaTime?
    private var smallestLead = Int64.max
    private var missed = 0
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
    ///   - picture: pts of the newest frame.
    ///   - frame: length of a frame.
    ///   - sound: where the sound ends, less one tick's length.
    mutating func adapt(at tick: Tick, picture: MediaTime?, frame: MediaTime, sound: MediaTime?) {
        defer { isFresh = false }
        let due = (tick.time - graphOrigin + mediaOrigin).nanoseconds
        let step = max(frame.nanoseconds, 1_000_000)
        // Sound counts as one frame ahead: it must be there, where a picture may be a frame old.
        var smallest = Int64.max
        if let picture { smallest = picture.nanoseconds &- due }
        if let sound { smallest = min(smallest, sound.nanoseconds &- due &- step) }
        guard smallest != .max else { return }
        let lead = smallest
        let latency = latency.nanoseconds
        if isFresh, lead < -Self.breakLength || lead > latency + Self.breakLength {
            move(by: lead - latency, at: tick)
            return
        }
        guard let windowStart else {
            startWindow(at: tick)
            return
        }
        if isFresh { lastNews = tick.time }
        // A stall says nothing about jitter.
        if let lastNews, (tick.time - lastNews).nanoseconds <= Self.breakLength {
            smallestLead = min(smallestLead, lead)
            if lead < -step - 1_000_000 { missed += 1 }
        }
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
        startWindow(at: tick)
    }

    private static let window: Int64 = 2_000_000_000
    private static let firstWindow: Int64 = 400_000_000
    private static let breakLength: Int64 = 1_000_000_000
    /// A lead that is too large by more than this is not worn down but taken out at once.
    private static let excess: Int64 = 400_000_000
    private static let largestMove: Int64 = 200_000_000
    private static let fileLateness: Int64 = 500_000_000
}

/// Puts the time stamps of one track on an unbroken time line.
///
/// - Missing: follows the one before.
/// - A little backwards (0.2 s, or behind one frame that was early): a disorder; it follows the one before by one unit,
///   so that every frame has its turn.
/// - A jump: further backwards, or forwards by more than the time that went by (live, 1 s) or than 10 min (files,
///   whose long stills are meant). The track goes on where it stopped, and the other track with it.
struct TimestampRepair {
    private let isLive: Bool
    private var offset = MediaTime.zero
    private var last: MediaTime?
    private var beforeLast: MediaTime?
    private var lastEnd = MediaTime.zero
    private var lastArrival: Int64 = 0
    /// The last plausible distance between two stamps; 40 ms before there were two.
    private(set) var lastStep = MediaTime(value: 1, timescale: 25)

    init(isLive: Bool) { self.isLive = isLive }

    mutating func place(_ pts: MediaTime?, duration: MediaTime, arrival: Int64, other: TimestampRepair) -> MediaTime {
        defer { lastArrival = arrival }
        guard let last else {
            let place = (pts ?? .zero) + other.offset
            offset = other.offset
            return settle(place, duration: duration)
        }
        guard let pts else { return settle(lastEnd > last ? lastEnd : last, duration: duration) }
        var place = pts + offset
        let elapsed = isLive ? max(0, arrival - lastArrival) : 0
        if isJump((place - last).nanoseconds, elapsed: elapsed), !isBehindOneThatWasEarly(place, last: last) {
            // The other track may have met the jump first: its offset keeps both in sync.
            let shared = pts + other.offset
            if !isJump((shared - last).nanoseconds, elapsed: elapsed), shared > last {
                offset = other.offset
                place = shared
            } else {
                let pause = elapsed > 1_000_000_000 ? MediaTime(value: elapsed, timescale: 1_000_000_000) : .zero
                place = lastEnd + pause
                offset = place - pts
            }
        } else if place <= last {
            place = MediaTime(value: last.value &+ 1, timescale: last.timescale)
        } else if place - last < MediaTime(value: 1, timescale: 1) {
            lastStep = place - last
        }
        return settle(place, duration: duration)
    }

    private func isJump(_ distance: Int64, elapsed: Int64) -> Bool {
        if distance < -Self.disorder { return true }
        return isLive ? distance > elapsed + Self.second : distance > 600 * Self.second
    }

    private func isBehindOneThatWasEarly(_ place: MediaTime, last: MediaTime) -> Bool {
        guard let beforeLast else { return false }
        return place > beforeLast && last - place < MediaTime(value: 1, timescale: 1) && place < last
    }

    private mutating func settle(_ place: MediaTime, duration: MediaTime) -> MediaTime {
        beforeLast = last
        last = place
        lastEnd = place + duration
        return place
    }

    private static let second: Int64 = 1_000_000_000
    private static let disorder: Int64 = 200_000_000
}
