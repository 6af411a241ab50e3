import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Sources whose clock is not ours, and sound that is moved against its picture.
@Suite struct SourcesDriftTests {
    private let mono = AudioFormat(sampleRate: 48_000, channels: 1)
    private let rate = FrameRate(25)

    private func tick(_ index: Int64, _ host: Int64 = 0) -> Tick {
        Tick(index: index, rate: rate, hostTime: host, isOffline: false)
    }

    private func push(_ queue: SourceQueue, _ time: MediaTime, arrival: Int64) {
        queue.push(
            Frame(allocating: VideoFormat(.gray8, width: 2, height: 2)), pts: time,
            duration: MediaTime(value: 1, timescale: 25), arrival: arrival)
    }

    private func sound(_ queue: SourceQueue, _ tick: Tick) -> [Float] {
        let block = AudioBlock(format: mono, capacity: 1920)
        block.count = 1920
        _ = queue.sound(at: tick, into: block)
        return Array(UnsafeBufferPointer(start: block.channel(0), count: 1920))
    }

    private static let ramp = (0..<131_072).map { Float($0 % 65_536) }

    /// Five minutes of a source whose clock is off by some ppm, in virtual time. Its producer stretches as it is told, as the
    /// resampler does; what is heard is a ramp of sample numbers: it must never break.
    /// - Returns: seams after the first ten seconds, the drift that was found, and the range of the sound's lead in ms.
    private func follow(ppm: Double, stampsByCount: Bool) -> (seams: Int, drift: Double?, lead: ClosedRange<Double>) {
        let queue = SourceQueue(.newest(depth: 64), audio: mono, latency: MediaTime(value: 150, timescale: 1000))
        let speed = 1 + ppm / 1e6
        var (made, pieces, frames) = (Int64(0), Int64(0), Int64(0))
        var (shift, owed) = (0.0, 0.0)
        var seams = 0
        var last: Float = -1
        var (least, most) = (1e9, -1e9)
        for index: Int64 in 0..<7500 {
            let now = Double(index) * 0.04
            // What the source has captured by now, by its own clock, in pieces of 1024 samples.
            while Double((pieces + 1) * 1024) / 48_000 <= now * speed {
                let stretch = queue.stretch
                let wanted = 1024 * (1 + stretch.time + stretch.sound) + owed
                let count = Int(wanted.rounded())
                owed = wanted - Double(count)
                // Stamps by the source's clock (a stream), or by ours (a sound card).
                let own = Double(pieces * 1024) / 48_000
                let stamp = (stampsByCount ? own : own / speed) + shift
                Self.ramp.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return }
                    queue.pushSound(pts: MediaTime(seconds: stamp), count: count, arrival: Int64(now * 1e9)) { _ in
                        base + Int(made % 65_536)
                    }
                }
                made += Int64(count)
                shift += stretch.time * 1024 / 48_000
                pieces += 1
            }
            let frameSpeed = stampsByCount ? speed : 1
            while Double(frames) * 0.04 <= now * frameSpeed {
                push(queue, MediaTime(seconds: Double(frames) * 0.04 + shift), arrival: Int64(now * 1e9))
                frames += 1
            }
            let tick = tick(index, Int64(now * 1e9))
            _ = queue.frame(at: tick)
            let heard = sound(queue, tick)
            if index > 250 {
                // A block that begins where the last one ended, and ends where it must, has no seam inside.
                let next: Float = last == 65_535 ? 0 : last + 1
                last = heard[1919]
                if heard[0] != next || last != (next + 1919).truncatingRemainder(dividingBy: 65_536) { seams += 1 }
                let lead = (Double(made % 65_536) - Double(last) + 65_536).truncatingRemainder(dividingBy: 65_536) / 48
                (least, most) = (min(least, lead), max(most, lead))
            } else {
                last = heard.last ?? -1
            }
        }
        return (seams, queue.health.drift, least...most)
    }

    @Test(arguments: [-300.0, 50, 300, 1000])
    func aStreamIsFollowedWithoutASeam(_ ppm: Double) throws {
        let (seams, drift, lead) = follow(ppm: ppm, stampsByCount: true)
        #expect(seams == 0)
        #expect(lead.lowerBound > 20 && lead.upperBound < 260, "\(lead) ms")
        let found = try #require(drift)
        #expect(abs(found - ppm) < max(15, abs(ppm) * 0.05), "found \(found) of \(ppm)")
    }

    /// A sound card whose samples are stamped by the machine's clock: stamps do not drift, samples do.
    @Test(arguments: [-200.0, 200])
    func aSoundCardIsFollowedWithoutASeam(_ ppm: Double) throws {
        let (seams, drift, _) = follow(ppm: ppm, stampsByCount: false)
        #expect(seams == 0)
        let found = try #require(drift)
        #expect(abs(found - ppm) < 40, "found \(found) of \(ppm)")
    }

    // MARK: Offset

    /// A click each second at the same moments as a picture; the offset moves it by exactly that.
    @Test(arguments: [0.0, 80, -60, 1000])
    func theOffsetMovesTheSound(_ milliseconds: Double) {
        let queue = SourceQueue(.everyFrame(depth: 400), audio: mono)
        queue.setOffset(milliseconds: milliseconds)
        for number: Int64 in 0..<200 { push(queue, rate.time(ofFrame: number), arrival: 0) }
        let samples = (0..<48_000 * 8).map { Float($0 % 48_000 == 0 ? 1 : 0) }
        samples.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            queue.pushSound(pts: .zero, count: samples.count, arrival: 0) { _ in base }
        }
        var clicks: [Int] = []
        for index: Int64 in 0..<125 {
            let tick = Tick(index: index, rate: rate, hostTime: 0, isOffline: true)
            _ = queue.frame(at: tick)
            for (place, value) in sound(queue, tick).enumerated() where value == 1 {
                clicks.append(Int(index) * 1920 + place)
            }
        }
        let moved = Int(milliseconds * 48)
        #expect(clicks == (0..<6).map { $0 * 48_000 + moved }.filter { (0..<240_000).contains($0) })
    }

    /// Changed while it runs, the old place fades into the new one.
    @Test func anOffsetThatChangesMakesNoClick() {
        let queue = SourceQueue(.everyFrame(depth: 400), audio: mono)
        for number: Int64 in 0..<200 { push(queue, rate.time(ofFrame: number), arrival: 0) }
        let samples = (0..<48_000 * 8).map { Float(0.5 * sin(2 * Double.pi * 440 * Double($0) / 48_000)) }
        samples.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            queue.pushSound(pts: .zero, count: samples.count, arrival: 0) { _ in base }
        }
        var heard: [Float] = []
        for index: Int64 in 0..<100 {
            if index == 40 { queue.setOffset(milliseconds: 37) }
            if index == 70 { queue.setOffset(milliseconds: -113) }
            let tick = Tick(index: index, rate: rate, hostTime: 0, isOffline: true)
            _ = queue.frame(at: tick)
            heard += sound(queue, tick)
        }
        // The sine bends by 0.0017 at most; a cut by 0.1 and more.
        var worst: Float = 0
        for index in 1..<heard.count - 1 {
            worst = max(worst, abs(heard[index - 1] - 2 * heard[index] + heard[index + 1]))
        }
        #expect(worst < 0.006)
        #expect(abs(heard[60 * 1920] - samples[60 * 1920 - 37 * 48]) < 1e-6)
        #expect(abs(heard[90 * 1920] - samples[90 * 1920 + 113 * 48]) < 1e-6)
    }

    /// Live sound that breaks off and comes back does so softly.
    @Test func holesHaveSoftEdges() {
        let queue = SourceQueue(.newest(depth: 64), audio: mono, latency: MediaTime(value: 100, timescale: 1000))
        let samples = [Float](repeating: 0.8, count: 1920)
        var heard: [Float] = []
        for index: Int64 in 0..<100 {
            push(queue, rate.time(ofFrame: index), arrival: index * 40_000_000)
            if !(60..<75).contains(index) {
                samples.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return }
                    queue.pushSound(
                        pts: rate.time(ofFrame: index), count: 1920, arrival: index * 40_000_000
                    ) { _ in base }
                }
            }
            let tick = tick(index, index * 40_000_000)
            _ = queue.frame(at: tick)
            heard += sound(queue, tick)
        }
        let later = Array(heard[(30 * 1920)...])
        #expect(later.contains { $0 == 0 } && later.last == 0.8)
        var step: Float = 0
        for index in 1..<later.count { step = max(step, abs(later[index] - later[index - 1])) }
        // Half a cosine over 240 samples: 0.8 · π / 2 / 240 at its steepest.
        #expect(step < 0.006, "\(step)")
    }
}
