import PatchGraph
import PatchMedia
import PatchTesting
import Synchronization
import Testing

/// `SourceQueue` with frames and times worked by hand.
@Suite struct SourcesQueueTests {
    private let format = VideoFormat(.gray8, width: 2, height: 2)

    private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1000) }

    private func tick(_ index: Int64, _ rate: FrameRate = FrameRate(25), offline: Bool = false) -> Tick {
        Tick(index: index, rate: rate, hostTime: monotonicNanoseconds(), isOffline: offline)
    }

    private func push(_ queue: SourceQueue, _ number: Int64, at time: MediaTime?, arrival: Int64 = 0) {
        let frame = Frame(allocating: format)
        frame.sequence = number
        queue.push(frame, pts: time, duration: milliseconds(40), arrival: arrival)
    }

    /// The number of the frame shown; -1 for waiting, -2 for ended.
    private func shown(_ queue: SourceQueue, _ tick: Tick) -> Int64 {
        switch queue.frame(at: tick) {
        case .frame(let frame): frame.sequence
        case .waiting: -1
        case .ended: -2
        }
    }

    @Test func theFirstFrameTiesTheTimeLines() {
        let queue = SourceQueue(.everyFrame(depth: 8))
        #expect(shown(queue, tick(10)) == -1)
        for number: Int64 in 0..<4 { push(queue, number, at: milliseconds(7000 + 40 * number)) }
        queue.end()
        #expect((11..<17).map { shown(queue, tick($0)) } == [0, 1, 2, 3, -2, -2])
        #expect(queue.counters.received == 4)
        #expect(queue.counters.dropped == 0)
    }

    @Test func theLatestDueFrameIsShown() {
        let queue = SourceQueue(.everyFrame(depth: 8))
        for number: Int64 in 0..<8 { push(queue, number, at: milliseconds(10 * number)) }
        // A tick each 40 ms, a frame each 10 ms.
        #expect((0..<2).map { shown(queue, tick($0)) } == [0, 4])
        #expect(queue.counters.dropped == 3)
        #expect(shown(queue, tick(2)) == 7)
    }

    @Test func cameraKeepsTheNewest() {
        let queue = SourceQueue(.newest(depth: 2))
        for number: Int64 in 0..<5 { push(queue, number, at: milliseconds(40 * number), arrival: 40_000_000 * number) }
        #expect(queue.counters.dropped == 3)
        #expect(queue.counters.queueDepth == 2)
        // The newest is now.
        #expect(shown(queue, tick(0)) == 4)
    }

    @Test func anOfflineTickWaitsForItsFrame() throws {
        let queue = SourceQueue(.everyFrame(depth: 2))
        let producer = try PosixThread(name: "producer") {
            for number: Int64 in 0..<50 {
                guard queue.waitForRoom() else { return }
                let frame = Frame(allocating: VideoFormat(.gray8, width: 2, height: 2))
                frame.sequence = number
                queue.push(frame, pts: MediaTime(value: number, timescale: 25))
            }
            queue.end()
        }
        defer { producer.join() }
        #expect((0..<51).map { shown(queue, tick($0, offline: true)) } == Array(0..<50) + [-2])
    }

    @Test func anOfflineTickDoesNotWaitForEver() {
        let reported = Monitor(0)
        let queue = SourceQueue(.everyFrame(depth: 2), patience: 50_000_000) { event in
            if case .problem = event { reported.notify { $0 += 1 } }
        }
        push(queue, 0, at: .zero)
        #expect(shown(queue, tick(0, offline: true)) == 0)
        #expect(shown(queue, tick(1, offline: true)) == 0)
        #expect(reported.withLock { $0 } == 1)
    }

    @Test func closeWakesEverybody() throws {
        let queue = SourceQueue(.everyFrame(depth: 1))
        push(queue, 0, at: .zero)
        let ended = Monitor(false)
        let producer = try PosixThread(name: "producer") {
            let demand = queue.waitForDemand()
            ended.notify { $0 = demand == nil }
        }
        queue.close()
        producer.join()
        #expect(ended.withLock { $0 })
    }

    @Test func missingAndDisorderedTimesKeepTheirTurn() {
        let queue = SourceQueue(.everyFrame(depth: 8))
        push(queue, 0, at: milliseconds(0))
        push(queue, 1, at: nil)
        push(queue, 2, at: milliseconds(80))
        push(queue, 3, at: milliseconds(60))
        push(queue, 4, at: milliseconds(160))
        queue.end()
        // 3 follows 2 within a millisecond, so that it hides it; then nothing is new until 160 ms.
        #expect((0..<6).map { shown(queue, tick($0)) } == [0, 1, 3, 3, 4, -2])
    }

    @Test func aFileThatStartsAgainGoesOn() {
        let queue = SourceQueue(.everyFrame(depth: 8))
        for (number, time): (Int64, Int64) in [(0, 5000), (1, 5040), (2, 0), (3, 40)] {
            push(queue, number, at: milliseconds(time))
        }
        #expect((0..<4).map { shown(queue, tick($0)) } == [0, 1, 2, 3])
    }

    @Test func aLiveJumpIsTakenOutAndAPauseIsNot() {
        // A jump by an hour between two frames that arrive 40 ms apart.
        let jumping = SourceQueue(.newest(depth: 8))
        let hour: Int64 = 3_600_000
        push(jumping, 0, at: milliseconds(0), arrival: 0)
        #expect(shown(jumping, tick(0)) == 0)
        push(jumping, 1, at: milliseconds(hour + 40), arrival: 40_000_000)
        #expect(shown(jumping, tick(1)) == 1)
        push(jumping, 2, at: milliseconds(hour + 80), arrival: 80_000_000)
        #expect(shown(jumping, tick(2)) == 2)
        // Three seconds without a frame, in time stamps as in life.
        let pausing = SourceQueue(.newest(depth: 8))
        push(pausing, 0, at: milliseconds(0), arrival: 0)
        #expect(shown(pausing, tick(0)) == 0)
        push(pausing, 1, at: milliseconds(3000), arrival: 3_000_000_000)
        #expect(shown(pausing, tick(74)) == 0)
        #expect(shown(pausing, tick(75)) == 1)
    }

    @Test func aFileReadTooLateGoesOnWhereItStopped() {
        let queue = SourceQueue(.everyFrame(depth: 8))
        push(queue, 0, at: milliseconds(0))
        #expect(shown(queue, tick(0)) == 0)
        // Nothing for two seconds: the next frames are not skipped.
        #expect(shown(queue, tick(50)) == 0)
        for number: Int64 in 1..<4 { push(queue, number, at: milliseconds(40 * number)) }
        #expect((51..<54).map { shown(queue, tick($0)) } == [1, 2, 3])
    }

    // MARK: Sound

    private let mono = AudioFormat(sampleRate: 48_000, channels: 1)

    private func pushSound(_ queue: SourceQueue, from first: Int, count: Int, at sample: Int64?) {
        let samples = (0..<count).map { Float(first + $0 + 1) }
        samples.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            queue.pushSound(
                pts: sample.map { MediaTime(value: $0, timescale: 48_000) }, count: count, arrival: 0
            ) { _ in base }
        }
    }

    private func heard(_ queue: SourceQueue, _ tick: Tick, count: Int, channels: Int = 1) -> [[Float]] {
        let block = AudioBlock(format: AudioFormat(sampleRate: 48_000, channels: channels), capacity: count)
        block.count = count
        _ = queue.sound(at: tick, into: block)
        return (0..<channels).map { Array(UnsafeBufferPointer(start: block.channel($0), count: count)) }
    }

    @Test func soundIsCutWhereThePictureIs() {
        let queue = SourceQueue(.everyFrame(depth: 8), audio: mono)
        // The picture begins 10 ms (480 samples) after the sound.
        for number: Int64 in 0..<3 { push(queue, number, at: milliseconds(10 + 40 * number)) }
        pushSound(queue, from: 0, count: 5000, at: 0)
        #expect(shown(queue, tick(0)) == 0)
        let first = heard(queue, tick(0), count: 1920)[0]
        #expect(first.first == 481 && first.last == 2400)
        let second = heard(queue, tick(1), count: 1920)[0]
        #expect(second.first == 2401 && second.last == 4320)
        // 680 samples are left; the rest is silence.
        let third = heard(queue, tick(2), count: 1920)[0]
        #expect(Array(third[..<680]) == (4321...5000).map { Float($0) })
        #expect(third[680...].allSatisfy { $0 == 0 })
    }

    @Test func ntscTicksLeaveNoSeamInTheSound() {
        let rate = FrameRate(30000, over: 1001)
        let queue = SourceQueue(.everyFrame(depth: 400), audio: mono)
        for number: Int64 in 0..<100 { push(queue, number, at: rate.time(ofFrame: number)) }
        pushSound(queue, from: 0, count: 170_000, at: 0)
        var next: Float = 1
        for index: Int64 in 0..<100 {
            let tick = tick(index, rate)
            _ = shown(queue, tick)
            let end = rate.time(ofFrame: index + 1).floored(to: 48_000)
            let samples = heard(queue, tick, count: Int(end - tick.time.floored(to: 48_000)))[0]
            #expect(samples.first == next)
            next += Float(samples.count)
        }
    }

    @Test func holesAreSilentAndOverlapsAreCut() {
        let queue = SourceQueue(.everyFrame(depth: 8), audio: mono)
        push(queue, 0, at: .zero)
        pushSound(queue, from: 0, count: 1000, at: 0)
        // A hole of 2000 samples, then a stretch that overlaps its forerunner by 1500.
        pushSound(queue, from: 3000, count: 2000, at: 3000)
        pushSound(queue, from: 3500, count: 3000, at: 3500)
        let samples = heard(queue, tick(0), count: 7000)[0]
        #expect(samples[999] == 1000 && samples[1000] == 0 && samples[2999] == 0)
        #expect(Array(samples[3000..<6500]) == (3001...6500).map { Float($0) })
        #expect(samples[6500] == 0)
    }

    @Test func theEndIsNotGuessedBeforeTheSoundIsKnown() throws {
        // Both tracks are 400 ms long; the producer finds the sound's end only after a pause.
        let queue = SourceQueue(.everyFrame(depth: 16), audio: mono)
        for number: Int64 in 0..<10 { push(queue, number, at: milliseconds(40 * number)) }
        pushSound(queue, from: 0, count: 9600, at: 0)
        let producer = try PosixThread(name: "producer") {
            queue.endPicture()
            while let demand = queue.waitForDemand(), !demand.sound {}
            _ = queue.sleep(nanoseconds: 50_000_000)
            queue.end()
        }
        defer { producer.join() }
        #expect((0..<11).map { shown(queue, tick($0, offline: true)) } == Array(0..<10) + [-2])
    }

    @Test func channelsFollowTheBlock() {
        let queue = SourceQueue(.everyFrame(depth: 8), audio: AudioFormat(sampleRate: 48_000, channels: 2))
        push(queue, 0, at: .zero)
        let (left, right): ([Float], [Float]) = ([0.5, 1], [0.25, 0])
        left.withUnsafeBufferPointer { left in
            right.withUnsafeBufferPointer { right in
                guard let l = left.baseAddress, let r = right.baseAddress else { return }
                queue.pushSound(pts: .zero, count: 2, arrival: 0) { $0 == 0 ? l : r }
            }
        }
        let stereo = heard(queue, tick(0), count: 1, channels: 2)
        #expect(stereo == [[0.5], [0.25]])
        // What follows, in mono: the mean of 1 and 0, then nothing.
        #expect(heard(queue, tick(0), count: 2) == [[0.5, 0]])
    }

    @Test func aLiveSourceOfBurstsSettlesWithoutHoles() {
        // Sound comes every 200 ms, 200 ms of it; frames of 40 ms likewise in fives.
        let queue = SourceQueue(.newest(depth: 16), audio: mono, latency: milliseconds(100))
        var pushed: Int64 = 0
        var holes: [Int64] = []
        for index: Int64 in 0..<500 {
            if index % 5 == 0 {
                for number in pushed..<pushed + 5 {
                    push(queue, number, at: milliseconds(40 * number), arrival: index * 40_000_000)
                }
                pushSound(queue, from: 0, count: 9600, at: pushed * 1920)
                pushed += 5
            }
            _ = shown(queue, tick(index))
            if heard(queue, tick(index), count: 1920)[0].contains(0) { holes.append(index) }
        }
        #expect(holes.allSatisfy { $0 < 200 }, "holes at \(holes)")
    }

    @Test func aSenderWhoseClockRunsFastStaysInStep() {
        // 1000 ppm fast: after 200 s, 200 ms ahead.
        let queue = SourceQueue(.newest(depth: 16))
        var last: Int64 = 0
        for index: Int64 in 0..<5000 {
            let time = MediaTime(value: index * 40_040, timescale: 1_000_000)
            push(queue, index, at: time, arrival: index * 40_000_000)
            last = shown(queue, tick(index))
        }
        #expect(4999 - last <= 2, "shown \(last)")
    }

    @Test func aTickAllocatesNothing() throws {
        // The frame that was taken is the one that was pushed: nothing is copied or wrapped anew.
        let queue = SourceQueue(.everyFrame(depth: 2))
        let frame = Frame(allocating: format)
        queue.push(frame, pts: .zero, duration: milliseconds(40))
        guard case .frame(let taken) = queue.frame(at: tick(0)) else {
            Issue.record("no frame")
            return
        }
        #expect(taken === frame)
    }

    /// A track that is padded at its end, or ends early, begins its next round where the picture does, to the sample.
    @Test(arguments: [512, 0, -480, -3000])
    func aRoundBeginsWhereItBelongs(_ excess: Int) throws {
        let mono = AudioFormat(sampleRate: 48_000, channels: 1)
        let queue = SourceQueue(.everyFrame(depth: 300), audio: mono)
        for round in 0..<3 {
            for index in 0..<25 {
                let frame = Frame(allocating: VideoFormat(.gray8, width: 2, height: 2))
                queue.push(
                    frame, pts: MediaTime(value: Int64(25 * round + index), timescale: 25),
                    duration: MediaTime(value: 1, timescale: 25))
            }
            // Each sample says where in its round it is.
            let samples = (0..<48_000 + excess).map { Float($0 + 1) }
            samples.withUnsafeBufferPointer { buffer in
                guard let base = buffer.baseAddress else { return }
                queue.pushSound(
                    pts: MediaTime(value: Int64(round), timescale: 1), count: samples.count, beginsRound: round > 0
                ) { _ in base }
            }
        }
        queue.end()
        let block = AudioBlock(format: mono, capacity: 1920)
        for index: Int64 in 0..<75 {
            let tick = Tick(index: index, rate: FrameRate(25), hostTime: 0, isOffline: true)
            _ = queue.frame(at: tick)
            block.count = 1920
            _ = queue.sound(at: tick, into: block)
            for sample in [0, 960, 1919] {
                let place = (Int(index) * 1920 + sample) % 48_000
                let wanted = place < 48_000 + excess ? Float(place + 1) : 0
                #expect(block.channel(0)[sample] == wanted, "tick \(index), sample \(sample)")
            }
        }
    }
}
