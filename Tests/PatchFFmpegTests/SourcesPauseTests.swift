import PatchGraph
import PatchMedia
import Testing

/// Live sources one of whose tracks pauses, in virtual time: the other goes on as if nothing had happened.
@Suite struct SourcesPauseTests {
    private let mono = AudioFormat(sampleRate: 48_000, channels: 1)
    private let rate = FrameRate(100)

    /// Fifteen seconds of a source that sends 25 pictures a second, and sound in pieces of 184 ms, 60 ms after its time.
    /// - Parameters:
    ///   - picture, sound: when a track pauses, in seconds.
    ///   - held: the last picture before the pause comes with the first one after it, as from a decoder that needs the next.
    /// - Returns: for each tick, how far what is shown and heard lies behind the tick, in seconds; nil where there is nothing.
    private func run(
        picture: Range<Double> = 0..<0, sound: Range<Double> = 0..<0, held: Bool = false
    ) -> (shown: [Double?], heard: [Double?]) {
        let queue = SourceQueue(.newest(depth: 64), audio: mono, latency: MediaTime(value: 150, timescale: 1000))
        let block = AudioBlock(format: mono, capacity: 480)
        block.count = 480
        var (shown, heard): ([Double?], [Double?]) = ([], [])
        var (frames, pieces) = (0, 0)
        var waiting: [Double] = []
        for index: Int64 in 0..<1500 {
            let now = Double(index) / 100
            let arrival = Int64(now * 1e9)
            while Double(frames) * 0.04 <= now {
                let time = Double(frames) * 0.04
                frames += 1
                if picture.contains(time) { continue }
                waiting.append(time)
                if held, picture.contains(time + 0.04) { continue }
                for time in waiting {
                    let frame = Frame(allocating: VideoFormat(.gray8, width: 2, height: 2))
                    frame.pts = MediaTime(seconds: time)
                    queue.push(
                        frame, pts: frame.pts, duration: MediaTime(value: 1, timescale: 25), arrival: arrival)
                }
                waiting = []
            }
            while Double(pieces) * 0.184 + 0.244 <= now {
                let start = pieces * 8832
                pieces += 1
                if sound.contains(Double(start) / 48_000) { continue }
                // Each sample says when it is.
                let samples = (0..<8832).map { Float(start + $0) }
                samples.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return }
                    queue.pushSound(
                        pts: MediaTime(value: Int64(start), timescale: 48_000), count: 8832, arrival: arrival
                    ) { _ in base }
                }
            }
            let tick = Tick(index: index, rate: rate, hostTime: arrival, isOffline: false)
            if case .frame(let frame) = queue.frame(at: tick) {
                shown.append(now - frame.pts.seconds)
            } else {
                shown.append(nil)
            }
            let found = queue.sound(at: tick, into: block)
            let middle = block.channel(0)[240]
            heard.append(found && middle > 0 ? now - Double(middle) / 48_000 : nil)
        }
        return (shown, heard)
    }

    /// The least and the most of what there is in a span of seconds, after the first seconds have settled.
    private func range(_ values: [Double?], _ span: Range<Double>) -> ClosedRange<Double>? {
        let found = values[Int(span.lowerBound * 100)..<Int(span.upperBound * 100)].compactMap { $0 }
        guard let least = found.min(), let most = found.max() else { return nil }
        return least...most
    }

    @Test(arguments: [false, true])
    func soundGoesOnWithoutItsPicture(_ held: Bool) throws {
        let (shown, heard) = run(picture: 6..<9, held: held)
        let before = try #require(range(heard, 4..<6))
        #expect(before.upperBound - before.lowerBound < 0.005)
        for span in [6.0..<9, 9..<15] {
            let after = try #require(range(heard, span))
            #expect(
                abs(after.lowerBound - before.lowerBound) < 0.01 && abs(after.upperBound - before.upperBound) < 0.01)
        }
        #expect(heard[600...].allSatisfy { $0 != nil })
        // The picture comes back as late as it was, in step: a picture is up to 40 ms and a tick old.
        let late = try #require(range(shown, 9.5..<15))
        #expect(late.lowerBound > before.lowerBound - 0.011 && late.upperBound < before.upperBound + 0.051, "\(late)")
    }

    @Test func aPictureGoesOnWithoutItsSound() throws {
        let (shown, heard) = run(sound: 6..<9)
        let before = try #require(range(shown, 4..<6))
        let after = try #require(range(shown, 6..<15))
        #expect(abs(after.lowerBound - before.lowerBound) < 0.011 && abs(after.upperBound - before.upperBound) < 0.011)
        let (sound, again) = (try #require(range(heard, 4..<6)), try #require(range(heard, 9.5..<15)))
        #expect(abs(again.lowerBound - sound.lowerBound) < 0.01 && abs(again.upperBound - sound.upperBound) < 0.01)
        #expect(heard[950...].allSatisfy { $0 != nil })
    }
}
