import PatchMedia

extension SourceQueue {
    /// A frame and its place on the repaired media time line.
    struct Slot {
        var frame: Frame
        var pts: MediaTime
        var duration: MediaTime
        /// Monotonic nanoseconds.
        var arrival: Int64
        var end: MediaTime { pts + duration }
    }

    /// Everything that the queue's lock guards.
    struct State {
        private let policy: SourcePolicy
        private let hasPicture: Bool
        private let hasSound: Bool
        private var isLive: Bool {
            if case .newest = policy { true } else { false }
        }
        private var depth: Int {
            switch policy {
            case .everyFrame(let depth), .newest(let depth): max(1, depth)
            }
        }

        var frames: Ring<Slot>
        private var current: Slot?
        private var currentWasShown = false
        private var ring: SoundRing?
        /// The next sample that a tick will take, as long as ticks follow each other.
        private var nextSample: Int64?
        /// Samples of silence are known to lie before this one.
        private var soundKnownUntil = Int64.min
        /// What an offline tick waits for.
        private var soundWanted = Int64.min
        private var pictureEnded: Bool
        private var soundEnded: Bool
        private var pictureRepair: TimestampRepair
        private var soundRepair: TimestampRepair
        private var clock: SourceClock
        /// Where the first of what came since the last tick begins.
        private var firstPicture: MediaTime?
        private var firstSound: Int64?
        /// Where the sound is taken from.
        var sound: SoundPlace
        /// Samples by which the stamps of the sound run ahead of the samples themselves, smoothed: a sound card's clock
        /// against the one that stamps.
        private var stampLead = 0.0
        /// What the producer says of its connection, when it is not live.
        var trouble: SourceState?
        private var lastArrival: Int64 = 0
        private var arrivals: Int64 = 0
        private var latency: Double?
        private var avOffset: Double?
        var reconnects: Int64 = 0

        var isClosed = false
        var hasGivenUp = false
        /// A tick saw the end and it was told.
        var isEndKnown = false
        var counters = SourceCounters()
        /// Counts what the producer did, so that a waiting tick knows when to look again.
        var version = 0

        init(policy: SourcePolicy, hasPicture: Bool, audio: AudioFormat?, latency: MediaTime) {
            self.policy = policy
            self.hasPicture = hasPicture
            hasSound = audio != nil
            pictureEnded = !hasPicture
            soundEnded = audio == nil
            let isLive = if case .newest = policy { true } else { false }
            pictureRepair = TimestampRepair(isLive: isLive)
            soundRepair = TimestampRepair(isLive: isLive)
            clock = SourceClock(latency: isLive ? latency : .zero)
            sound = SoundPlace(audio)
            ring = audio.map { SoundRing(channels: $0.channels, limit: (isLive ? 4 : 60) * SoundRing.rate) }
            frames = Ring(capacity: 8)
            frames.reserve(depth)
        }

        // MARK: Producer

        var demand: Demand {
            let sound: Bool
            if let ring, !soundEnded {
                // Half a second ahead, or what a long tick asked for.
                let ahead =
                    ring.first.map { max($0 + SoundPlace.history, nextSample ?? $0) + Int64(SoundRing.rate / 2) }
                    ?? .min
                sound = ring.end.map { $0 < max(ahead, soundWanted) } ?? true
            } else {
                sound = false
            }
            return Demand(picture: !pictureEnded && frames.count < depth, sound: sound)
        }

        mutating func push(_ frame: Frame, pts: MediaTime?, duration: MediaTime, arrival: Int64) {
            version &+= 1
            counters.received += 1
            let duration = duration > .zero ? duration : pictureRepair.lastStep
            let place = pictureRepair.place(pts, duration: duration, arrival: arrival, other: soundRepair)
            if isLive, frames.count >= depth {
                _ = frames.popFirst()
                counters.dropped += 1
            }
            frames.append(Slot(frame: frame, pts: place, duration: duration, arrival: arrival))
            if firstPicture == nil { firstPicture = place }
            arrived(arrival)
        }

        private mutating func arrived(_ arrival: Int64) {
            lastArrival = arrival
            arrivals += 1
            trouble = nil
        }

        mutating func pushSound(
            pts: MediaTime?, count: Int, beginsRound: Bool, arrival: Int64, channel: (Int) -> UnsafePointer<Float>
        ) {
            guard let ring, count > 0 else { return }
            version &+= 1
            let duration = MediaTime(value: Int64(count), timescale: Int64(SoundRing.rate))
            let place = soundRepair.place(pts, duration: duration, arrival: arrival, other: pictureRepair)
            let start = place.converted(to: Int64(SoundRing.rate))
            if beginsRound { ring.begin(at: start) }
            if firstSound == nil { firstSound = ring.place(of: start) }
            let gap = ring.append(at: start, count: count, channel: channel)
            let weight = min(1, Double(count) / (2 * Double(SoundRing.rate)))
            stampLead += (Double(gap) - stampLead) * weight
            if !hasPicture { arrived(arrival) }
        }

        mutating func endPicture() {
            version &+= 1
            pictureEnded = true
        }

        mutating func endSound() {
            version &+= 1
            soundEnded = true
        }

        mutating func noSound(before time: MediaTime) {
            version &+= 1
            soundKnownUntil = max(soundKnownUntil, time.converted(to: Int64(SoundRing.rate)))
        }

        var hasSomething: Bool { current != nil || frames.count > 0 || (!hasPicture && ring?.end != nil) }
        var isOver: Bool { pictureEnded && soundEnded }

        // MARK: Clock

        /// Brings the state to `tick`.
        /// - Parameter count: samples that the tick will take; 0 when it takes only the frame.
        /// - Returns: whether it is certain what is due.
        mutating func advance(to tick: Tick, sound count: Int) -> Bool {
            guard tieClock(at: tick) else { return isOver || isClosed }
            if !tick.isOffline { adaptClock(at: tick) }
            let due = clock.mediaTime(at: tick)
            // Before anything was shown, a frame that is early beats none.
            while let next = frames.first, current == nil || clock.isDue(next.pts, at: due, tick: tick) {
                if current != nil, !currentWasShown { counters.dropped += 1 }
                current = frames.popFirst()
                currentWasShown = false
                if let arrival = current?.arrival, isLive { noteLatency(tick.hostTime - arrival) }
            }
            if count == 0, isLate(due, tick) { counters.late += 1 }
            let start = sound.earliest(of: firstSample(at: tick))
            ring?.drop(before: start)
            var wanted = count > 0 ? sound.latest(of: firstSample(at: tick)) + Int64(count) : Int64.min
            if isEndOpen(at: due), let current {
                // Whether the source is over depends on how long its sound goes on.
                wanted = max(wanted, (current.end + Self.longerSound).converted(to: Int64(SoundRing.rate)))
            }
            soundWanted = max(soundWanted, wanted)
            guard tick.isOffline else { return true }
            let isPictureKnown = pictureEnded || frames.count > 0
            let isSoundKnown = soundEnded || max(ring?.end ?? .min, soundKnownUntil) >= wanted
            return (isPictureKnown && isSoundKnown) || isClosed
        }

        /// The picture was shown for as long as it lasts, and the next one has not come.
        private func isLate(_ due: MediaTime, _ tick: Tick) -> Bool {
            guard !tick.isOffline, !pictureEnded, frames.count == 0, let current else { return false }
            return clock.isDue(max(current.end, current.pts + pictureRepair.lastStep), at: due)
        }

        /// The picture was shown to its end, but more sound may come.
        private func isEndOpen(at due: MediaTime) -> Bool {
            guard hasPicture, pictureEnded, !soundEnded, frames.count == 0, let current else { return false }
            return clock.isDue(current.end, at: due)
        }

        /// Ties graph time to media time at the first thing there is.
        private mutating func tieClock(at tick: Tick) -> Bool {
            if clock.isTied { return true }
            if hasPicture, !pictureEnded || frames.count > 0 {
                // What waits in a live source's queue is old: its newest frame is now.
                guard let first = isLive ? frames.last : frames.first else { return false }
                clock.tie(tick, to: first.pts)
            } else {
                guard let first = ring?.first else { return false }
                clock.tie(tick, to: MediaTime(value: first, timescale: Int64(SoundRing.rate)))
            }
            return true
        }

        private mutating func adaptClock(at tick: Tick) {
            guard isLive else {
                if let next = frames.first?.pts { clock.slip(at: tick, to: next) }
                return
            }
            defer { (firstPicture, firstSound) = (nil, nil) }
            let frame = pictureRepair.lastStep
            let picture = (frames.last?.pts ?? current?.pts).map {
                TrackNews(newest: $0, next: $0 + frame, first: firstPicture)
            }
            let heard = ring?.end.map { end in
                let reach = heardBy(end) - tick.duration
                return TrackNews(newest: reach, next: reach, first: firstSound.map { heardBy($0) - tick.duration })
            }
            clock.adapt(at: tick, picture: picture, frame: frame, sound: heard)
        }

        /// When a sample is heard, on the media's time line.
        private func heardBy(_ sample: Int64) -> MediaTime {
            MediaTime(value: sample + Int64(sound.delay), timescale: Int64(SoundRing.rate))
        }

        private func firstSample(at tick: Tick) -> Int64 {
            let start = clock.sample(at: tick)
            // The engine may round the length of a tick's sound otherwise than we do: whole samples must still follow
            // each other.
            if let nextSample, abs(start - nextSample) <= 4 { return nextSample }
            return start
        }

        mutating func reading() -> SourceReading {
            if let current, !isFinished {
                currentWasShown = true
                return .frame(current.frame)
            }
            return isFinished || isClosed && current == nil ? .ended : .waiting
        }

        /// Sound that goes on for longer than this after the picture is heard to its end.
        private static let longerSound = MediaTime(value: 1, timescale: 2)

        /// Everything was shown for its whole duration and heard.
        private var isFinished: Bool {
            guard isOver, frames.count == 0 else { return false }
            guard let due = clock.lastDue else { return !hasSomething && (ring?.isEmpty ?? true) }
            let pictureEnd = current?.end ?? due
            guard pictureEnd <= due || clock.isDue(pictureEnd, at: due) else { return false }
            // A track of sound that is a little longer than the picture does not add frames.
            guard let ring, let end = ring.end else { return true }
            let heard = heardBy(end)
            return heard <= due || (current != nil && heard - pictureEnd < Self.longerSound)
        }

        mutating func takeSound(at tick: Tick, into block: AudioBlock) -> Bool {
            guard let ring, clock.isTied else {
                block.silence(count: block.count)
                return false
            }
            let start = firstSample(at: tick)
            let found = sound.read(ring, at: start, into: block, isSmooth: isLive && !tick.isOffline)
            nextSample = start + Int64(block.count)
            ring.drop(before: sound.earliest(of: start + Int64(block.count)))
            noteOffset(at: start, isHeard: found)
            return found
        }

        // MARK: Numbers

        /// Parts by which the producer is to stretch its time, and its sound beyond that, so that the sound's samples keep up
        /// with their stamps.
        var stretch: (time: Double, sound: Double) {
            guard isLive, hasSound else { return (0, 0) }
            // A second of gap is closed by 5 % a second, at most 0.2 %.
            let seconds = stampLead / Double(SoundRing.rate)
            return (clock.steering.stretch, max(-0.002, min(0.002, 0.05 * seconds)))
        }

        private mutating func noteLatency(_ nanoseconds: Int64) {
            let new = Double(max(0, nanoseconds)) / 1e6
            latency = latency.map { $0 + (new - $0) / 16 } ?? new
        }

        /// Compares the sound heard with the picture shown, on the source's time line.
        private mutating func noteOffset(at start: Int64, isHeard: Bool) {
            guard isHeard, let current else {
                avOffset = nil
                return
            }
            let heard = (Double(start) + stampLead) / Double(SoundRing.rate)
            let end = max(current.end, current.pts + pictureRepair.lastStep).seconds
            let shown = max(current.pts.seconds, min(end, heard))
            avOffset = (shown - heard) * 1000
        }

        func health(now: Int64) -> SourceHealth {
            var state = SourceState.live
            if trouble == .failed {
                state = .failed
            } else if isOver {
                state = .ended
            } else if let trouble {
                state = trouble
            } else if lastArrival == 0 {
                state = .connecting
            } else if isLive, now - lastArrival > Self.stall {
                state = .stalled
            }
            var health = SourceHealth(state)
            health.lastArrival = lastArrival
            health.arrivals = arrivals
            health.reconnects = reconnects
            health.latency = latency
            health.avOffset = avOffset
            health.drift = isLive && hasSound ? clock.steering.drift.map { ($0 - stretch.sound) * 1e6 } : nil
            return health
        }

        /// Without a picture for this long a source that is connected has stalled: 1 s.
        private static let stall: Int64 = 1_000_000_000
    }
}
