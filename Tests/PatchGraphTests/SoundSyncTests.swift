import PatchGraph
import PatchMedia
import Synchronization
import Testing

/// The sound of a tick beside its picture, however long both take on their way.
@Suite struct SoundSyncTests {
    private static let audio = AudioFormat(sampleRate: 48_000, channels: 1)
    private static let rate = FrameRate(25)
    /// Every tenth picture is white, and its first sample is a click.
    private static let period: Int64 = 10

    /// What a sink got, tick by tick.
    private final class AVSink: MediaSink {
        let seen = Monitor<(white: [Bool], sound: [Float])>(([], []))
        func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
            SinkRequest(
                video: small, fill: .stretch, audio: SoundSyncTests.audio, queue: .block(depth: 4, limit: 1 << 40))
        }
        func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
        func consume(_ delivery: Delivery) throws {
            guard let sound = delivery.sound, let frame = delivery.frame else { return }
            let isWhite = frame.plane(0).row(0).load(as: UInt8.self) > 128
            seen.notify {
                $0.white.append(isWhite)
                $0.sound += UnsafeBufferPointer(start: sound.channel(0), count: sound.count)
            }
        }
        func finish() {}

        /// Samples from each white picture's begin to the click nearest to it.
        func offsets() -> [Int] {
            let (white, sound) = seen.withLock { $0 }
            let flashes = white.indices.filter { white[$0] && ($0 == 0 || !white[$0 - 1]) }.map { $0 * 1920 }
            let clicks = sound.indices.filter { sound[$0] > 0.5 }
            return flashes.compactMap { flash in clicks.map { $0 - flash }.min { abs($0) < abs($1) } }
        }
    }

    /// Later by exactly what it says.
    private final class Lag: SoundProcessor, @unchecked Sendable {
        // Unchecked: written by the one thread that calls `process`.
        let latency: Int
        private var line: [Float]
        private var place = 0
        init(_ samples: Int) {
            latency = samples
            line = Array(repeating: 0, count: samples)
        }
        func process(_ block: AudioBlock, _ parameters: SoundParameters) {
            for index in 0..<block.count {
                swap(&line[place], &block.channel(0)[index])
                place = (place + 1) % line.count
            }
        }
    }

    private func source(_ wave: @escaping @Sendable (Int64) -> Float) throws -> PushSource {
        let source = PushSource(small, rate: Self.rate, audio: Self.audio)
        _ = try PosixThread(name: "pusher") {
            for number: Int64 in 0..<200 {
                let block = AudioBlock(format: Self.audio, capacity: 1920)
                block.count = 1920
                for index in 0..<1920 { block.channel(0)[index] = wave(number * 1920 + Int64(index)) }
                source.pushSound(block, pts: Self.rate.time(ofFrame: number))
                let red: UInt8 = number % Self.period == 0 ? 255 : 0
                if !source.push(pts: Self.rate.time(ofFrame: number), fill: { fill($0, (red, red, red, 255)) }) {
                    return
                }
            }
            source.finish()
        }
        return source
    }

    private static func click(_ sample: Int64) -> Float { sample % (period * 1920) == 0 ? 1 : 0 }

    /// 500 Hz, ±0.5.
    private static func triangle(_ sample: Int64) -> Float {
        let place = Float(sample % 48) / 48
        return sample % 96 < 48 ? place - 0.5 : 0.5 - place
    }

    private func engine(
        _ source: PushSource, _ sinks: [String: AVSink], lag: Int = 1920, beforeTick: (@Sendable (Tick) -> Void)? = nil
    ) throws -> Engine {
        let registry = NodeRegistry(
            [PushSource.kind(["cam": source]), NodeKind.delay]
                + sinks.map { name, sink in
                    NodeKind(NodeSchema(kind: name, role: .sink, summary: ""), .sink { _, _ in sink })
                } + [
                    NodeKind(
                        NodeSchema(kind: "audio.lag", role: .filter, summary: "", ports: ["audio"]),
                        .sound { _, _ in Lag(lag) })
                ])
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = 1
        configuration.beforeTick = beforeTick
        return try Engine(configuration, registry: registry)
    }

    private func patch(delay frames: Int, lag: Bool) -> Patch {
        var patch = Patch()
        patch.settings.rate = Self.rate
        patch.add("cam", "push")
        patch.add("out", "view")
        if frames > 0 {
            patch.add("late", "delay", options: ["frames": .number(Double(frames))])
            patch.wires += [
                Wire(from: "cam", to: "late", media: .video), Wire(from: "late", to: "out", media: .video),
            ]
        } else {
            patch.wires.append(Wire(from: "cam", to: "out", media: .video))
        }
        if lag {
            patch.add("lag", "audio.lag")
            patch.wires += [Wire(from: "cam", to: "lag", media: .audio), Wire(from: "lag", to: "out", media: .audio)]
        } else {
            patch.wires.append(Wire(from: "cam", to: "out", media: .audio))
        }
        return patch
    }

    /// Pictures that are late, sound that is late, both, neither: in step to the sample.
    @Test(arguments: [(0, 0), (5, 0), (0, 1920), (1, 1920), (3, 700), (0, 311)])
    func whatLeftTogetherArrivesTogether(_ frames: Int, _ lag: Int) throws {
        let sink = AVSink()
        let engine = try engine(try source(Self.click), ["view": sink], lag: max(1, lag))
        try engine.load(patch(delay: frames, lag: lag > 0))
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000))
        engine.stop()
        let offsets = sink.offsets()
        #expect(offsets.count >= 18)
        // The first click may be gone: the source begins with the picture, and its sound was wanted sooner.
        #expect(offsets.dropFirst().allSatisfy { $0 == 0 }, "\(offsets)")
    }

    /// Two sinks, one with a late picture: each hears in step with what it sees.
    @Test func eachSinkHearsWhatItSees() throws {
        let (prompt, late) = (AVSink(), AVSink())
        let engine = try engine(try source(Self.click), ["view": prompt, "tape": late])
        var patch = patch(delay: 4, lag: true)
        patch.add("tape", "tape")
        patch.wires = [
            Wire(from: "cam", to: "out"), Wire(from: "cam", to: "late", media: .video),
            Wire(from: "late", to: "tape", media: .video), Wire(from: "cam", to: "lag", media: .audio),
            Wire(from: "lag", to: "tape", media: .audio),
        ]
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000))
        engine.stop()
        for sink in [prompt, late] {
            let offsets = sink.offsets().dropFirst()
            #expect(offsets.count >= 17 && offsets.allSatisfy { $0 == 0 }, "\(offsets)")
        }
    }

    /// Delays that come and go on air: no click in the sound, and in step again at once.
    @Test func theWaitChangesWithAFade() throws {
        let sink = AVSink()
        let tone = try source(Self.triangle)
        let turns = Mutex<Engine?>(nil)
        let delays = [0, 3, 0, 7, 1, 0]
        let engine = try engine(tone, ["view": sink]) { tick in
            guard tick.index > 0, tick.index % 20 == 0, tick.index / 20 < delays.count else { return }
            let frames = delays[Int(tick.index / 20)]
            _ = try? turns.withLock { $0 }?.load(self.patch(delay: frames, lag: true))
        }
        turns.withLock { $0 = engine }
        try engine.load(patch(delay: 0, lag: true))
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000))
        engine.stop()
        turns.withLock { $0 = nil }
        let sound = sink.seen.withLock { $0.sound }
        var step: Float = 0
        // The filter's own begin and the source's end are cuts.
        for index in 4000..<sound.count - 24_000 { step = max(step, abs(sound[index] - sound[index - 1])) }
        // The triangle's own step is 1/48; a cut would step by up to 1.
        #expect(step < 0.06, "\(step)")
    }
}
