import PatchGraph
import PatchMedia
import Testing

/// A live source whose connection breaks and is made again, in virtual time: its stamps begin anew, and the first picture has
/// none, as RTSP gives it before the sender's clock is known.
@Suite struct SourcesReconnectTests {
    private let mono = AudioFormat(sampleRate: 48_000, channels: 1)
    private let rate = FrameRate(100)

    @Test(arguments: [-0.03, 0.01, 0.05], [0.0, 0.3])
    func soundAndPictureComeBackTogether(_ soundFirstBy: Double, _ origin: Double) throws {
        let queue = SourceQueue(.newest(depth: 64), audio: mono, latency: MediaTime(value: 150, timescale: 1000))
        let block = AudioBlock(format: mono, capacity: 480)
        block.count = 480
        var offsets: [Double?] = []
        let away = 6.0..<15.0
        var (frames, pieces) = (0, 0)
        for index: Int64 in 0..<2200 {
            let now = Double(index) / 100
            let arrival = Int64(now * 1e9)
            while Double(frames) * 0.04 <= now {
                let time = Double(frames) * 0.04
                frames += 1
                if away.contains(time) { continue }
                let frame = Frame(allocating: VideoFormat(.gray8, width: 2, height: 2))
                // What it shows, whatever its stamp says.
                frame.pts = MediaTime(seconds: time)
                let isFirst = time >= away.upperBound && time < away.upperBound + 0.04
                let stamp = time < away.lowerBound ? time : time - away.upperBound + origin
                queue.push(
                    frame, pts: isFirst ? nil : MediaTime(seconds: stamp),
                    duration: MediaTime(value: 1, timescale: 25), arrival: arrival)
            }
            while Double(pieces) * 0.02 - soundFirstBy <= now {
                let time = Double(pieces) * 0.02
                let start = pieces * 960
                pieces += 1
                if away.contains(time) { continue }
                let stamp = time < away.lowerBound ? time : time - away.upperBound + origin
                let samples = (0..<960).map { Float(start + $0) }
                samples.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return }
                    queue.pushSound(pts: MediaTime(seconds: stamp), count: 960, arrival: arrival) { _ in base }
                }
            }
            let tick = Tick(index: index, rate: rate, hostTime: arrival, isOffline: false)
            var shown: Double?
            if case .frame(let frame) = queue.frame(at: tick) { shown = frame.pts.seconds }
            let found = queue.sound(at: tick, into: block)
            let middle = Double(block.channel(0)[240]) / 48_000
            // A picture lasts 40 ms.
            offsets.append(found && middle > 0 ? shown.map { max($0 - middle, middle - $0 - 0.05, 0) } : nil)
        }
        for index in Array(300..<600) + Array(1750..<2200) {
            let offset = try #require(offsets[index], "no sound at \(Double(index) / 100) s")
            #expect(offset < 0.03, "\(Double(index) / 100) s")
        }
    }
}
