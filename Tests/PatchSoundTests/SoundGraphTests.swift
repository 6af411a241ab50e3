import Glibc
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchSound
import Synchronization
import Testing

/// How sound goes through a graph: filters, sums, changes on air.
@Suite struct SoundGraphTests {
    @Test func gainIsExact() throws {
        var run = SoundRun(["tone": ToneSource(sine(440))])
        run.patch.add("softer", "audio.gain", ["db": .constant([-6.0206]), "pan": .constant([1])])
        run.patch.wire("tone", "softer", "out")
        let heard = try run.heard(ticks: 10)
        #expect(heard[0].count == 16_000)
        let wave = sine(440)
        for index in 0..<16_000 {
            // All to the right: the left is silent, the right as it was; 10^(−6.0206 / 20) = 0.5.
            #expect(abs(heard[0][index]) < 1e-6)
            #expect(abs(heard[1][index] - 0.5 * wave(Int64(index), 0)) < 1e-5)
        }
    }

    @Test func aMutedChainIsSilentAndARampMakesNoClick() throws {
        var run = SoundRun(["tone": ToneSource(sine(440))])
        run.patch.add("fade", "audio.gain", ["db": .ramp(to: [-96], seconds: 0.5, easing: .linear)])
        run.patch.wire("tone", "fade", "out")
        let heard = try run.heard(ticks: 30)
        #expect(sharpestBend(heard[0]) < 0.003)
        #expect(heard[0].suffix(9_600).allSatisfy { $0 == 0 })
        #expect(heard[0].prefix(1600).contains { abs($0) > 0.4 })
    }

    @Test func whatIsWiredToOneInputIsAdded() throws {
        var run = SoundRun([
            "a": ToneSource { sample, channel in Float(sample % 100) / 1000 + Float(channel) },
            "b": ToneSource(channels: 1) { sample, _ in Float(sample % 7) / 100 },
        ])
        run.patch.add("sum", "audio.gain")
        run.patch.wire("a", "sum", "out")
        run.patch.wire("b", "sum")
        let heard = try run.heard(ticks: 3)
        for index in 0..<4800 {
            for channel in 0...1 {
                // Mono is 3 dB softer in each of two channels.
                let expected =
                    Float(index % 100) / 1000 + Float(channel) + Float(index % 7) / 100 * Float(0.5).squareRoot()
                #expect(abs(heard[channel][index] - expected) < 1e-6)
            }
        }
    }

    @Test func delayIsExactToTheSample() throws {
        var run = SoundRun(["count": ToneSource(channels: 1) { sample, _ in Float(sample) }], channels: 1)
        run.patch.add("later", "audio.delay", [:], ["ms": .number(12.5)])
        run.patch.wire("count", "later", "out")
        let heard = try run.heard(ticks: 6)[0]
        #expect(heard.prefix(600).allSatisfy { $0 == 0 })
        for index in 1080..<heard.count where heard[index] != Float(index - 600) {
            Issue.record("sample \(index) is \(heard[index])")
            break
        }
    }

    /// A chain that changes a hundred times on air, at moments that nobody chose.
    @Test func aHundredChangesOnAirMakeNoClick() throws {
        var run = SoundRun(
            ["tone": ToneSource(sine(440)), "other": ToneSource(sine(311, 0.3))], kinds: FFmpegSound.kinds)
        run.patch.add("limit", "audio.limiter", ["ceiling": .constant([-9])])
        run.patch.add("press", "audio.compressor", ["ratio": .constant([4])])
        run.patch.add("bass", "audio.equalizer", ["low": .constant([6])])
        run.patch.add("a", "audio.gain", ["db": .constant([-3])])
        run.patch.add("b", "audio.gain", ["db": .constant([-9]), "pan": .constant([-0.5])])
        run.patch.add("late", "audio.delay", [:], ["ms": .number(3)])
        let chains: [[[String]]] = [
            [["tone", "out"]], [["tone", "a", "out"]], [["tone", "a", "b", "out"]], [["other", "out"]],
            [["tone", "late", "out"]], [["tone", "out"], ["other", "b", "out"]], [["other", "late", "b", "out"]],
            [["tone", "b", "a", "late", "out"]], [["tone", "limit", "out"]],
            [["tone", "bass", "press", "limit", "out"]],
            [], [["tone", "press", "out"]],
        ]
        func patch(_ number: Int) -> Patch {
            var patch = run.patch
            // The listener stays when no sound is wired to it.
            patch.wires.append(Wire(from: "tone", to: "out", media: .video))
            for chain in chains[number % chains.count] {
                for (from, to) in zip(chain, chain.dropFirst()) {
                    patch.wires.append(Wire(from: from, to: to, media: .audio))
                }
            }
            return patch
        }
        let engine = try run.engine(frames: nil)
        try engine.load(patch(0))
        try engine.start()
        for number in 1...100 {
            try engine.load(patch(number * 3 + number / 8), isReload: number % 2 == 0)
            usleep(useconds_t(200 + number * 37 % 900))
        }
        engine.stop()
        let heard = run.listener.samples
        #expect(heard[0].count > 100 * 1600)
        let steady = try (0..<chains.count).flatMap { number in
            var still = SoundRun(
                ["tone": ToneSource(sine(440)), "other": ToneSource(sine(311, 0.3))], kinds: FFmpegSound.kinds)
            still.patch = patch(number)
            return try still.heard(ticks: 10).map { Array($0.dropFirst(8_000)) }
        }
        // A change fades in the filters and at the listener.
        let limit = ClickLimit(steady).fading(over: 960, nested: 2)
        #expect(clicks(heard[0], above: limit).isEmpty, "limit \(limit): \(clicks(heard[0], above: limit))")
        #expect(clicks(heard[1], above: limit).isEmpty, "limit \(limit): \(clicks(heard[1], above: limit))")
        // The detector sees a cut.
        let wave = sine(440)
        let cut = (0..<2000).map { $0 < 1013 ? wave(Int64($0), 0) : 0 }
        #expect(sharpestBend(cut) > 4 * limit)
    }

    @Test func soundWithoutASourceIsAnError() throws {
        var run = SoundRun(["tone": ToneSource(sine(440))])
        run.patch.add("lost", "audio.gain")
        run.patch.wire("lost", "out")
        let engine = try run.engine(frames: 1)
        let error = #expect(throws: PatchError.self) { try engine.load(run.patch) }
        #expect(error?.message.contains("audio.gain") == true && error?.remedy.contains(".audio") == true)
        run.patch.wires.append(Wire(from: "tone", to: "lost", media: .video))
        let other = #expect(throws: PatchError.self) { try engine.load(run.patch) }
        #expect(other?.message.contains("no picture") == true)
    }

    /// GPUImage's amplitude limiter: 16-bit samples clipped at ±limit · full scale, exactly.
    @Test func aTransformerInSwiftClipsToTheBit() throws {
        let limit: Float = 0.05
        let limiter = NodeKind(
            NodeSchema(kind: "transformer.limiter", role: .filter, summary: "", ports: ["audio"]),
            .sound { _, _ in ClippingTransformer(limit: limit) })
        var run = SoundRun(
            ["noise": ToneSource(channels: 1) { sample, _ in Float(Self.code(sample)) / 32768 }], channels: 1,
            kinds: [limiter])
        run.patch.add("limit", "transformer.limiter")
        run.patch.wire("noise", "limit", "out")
        let heard = try run.heard(ticks: 30)[0]
        let most = Int16(limit * 32767)
        for index in heard.indices {
            let expected = max(-most, min(most, Self.code(Int64(index))))
            guard heard[index] * 32768 == Float(expected) else {
                Issue.record("sample \(index): \(heard[index] * 32768), not \(expected)")
                return
            }
        }
    }

    /// Every 16-bit code comes up.
    static func code(_ sample: Int64) -> Int16 { Int16(truncatingIfNeeded: sample &* 40_503) }
}

/// The host program's own transformer: in place on the block.
private final class ClippingTransformer: SoundProcessor {
    private let most: Float
    init(limit: Float) { most = Float(Int16(limit * 32767)) / 32768 }
    func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        for channel in 0..<block.format.channels {
            let row = block.channel(channel)
            for index in 0..<block.count { row[index] = max(-most, min(most, row[index])) }
        }
    }
}
