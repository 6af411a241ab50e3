import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchSound
import PatchTesting
import Testing

/// Sound filters made of libavfilter, against the program ffmpeg on the same samples.
@Suite struct SoundChainTests {
    /// Loud and soft passages of noise, the same in each run.
    static func noise(_ sample: Int64, _ channel: Int) -> Float {
        var state = UInt64(bitPattern: sample &* 2 + Int64(channel)) &* 0x9e37_79b9_7f4a_7c15
        state = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        state = (state ^ (state >> 27)) &* 0x94d0_49bb_1331_11eb
        let white = Float(Int64(bitPattern: state ^ (state >> 31)) >> 40) / 8_388_608
        return white * (sample / 9_000 % 2 == 0 ? 0.6 : 0.03)
    }

    /// What ffmpeg makes of `count` samples of the noise.
    private func ffmpeg(_ filters: String, channels: Int, count: Int) throws -> [[Float]] {
        let directory = try TemporaryDirectory()
        var bytes = Data()
        for sample in 0..<count {
            for channel in 0..<channels {
                withUnsafeBytes(of: Self.noise(Int64(sample), channel)) { bytes.append(contentsOf: $0) }
            }
        }
        let file = directory.file("in.f32")
        try bytes.write(to: URL(fileURLWithPath: file))
        let output = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "f32le", "-ar", "48000", "-ac", "\(channels)", "-i", file, "-af", filters, "-f",
                "f32le", "-",
            ]
        ).output
        let floats = output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return (0..<channels).map { channel in
            stride(from: channel, to: floats.count, by: channels).map { floats[$0] }
        }
    }

    private func heard(
        _ kind: String, _ parameters: [String: ParameterValue] = [:], _ options: [String: OptionValue] = [:],
        channels: Int = 2, ticks: Int64
    ) throws -> [[Float]] {
        var run = SoundRun(
            ["noise": ToneSource(channels: channels, Self.noise)], channels: channels, kinds: FFmpegSound.kinds)
        run.patch.add("chain", kind, parameters, options)
        run.patch.wire("noise", "chain", "out")
        return try run.heard(ticks: ticks)
    }

    private func latency(_ kind: String, _ options: [String: OptionValue] = [:], channels: Int = 2) throws -> Int {
        guard case .sound(let make)? = FFmpegSound.kinds.first(where: { $0.schema.kind == kind })?.factory else {
            throw TestProblem("\(kind) is no sound filter")
        }
        let processor = try make(NodeOptions(options), NodeEnvironment(nodeID: "chain"))
        try processor.prepare(AudioFormat(channels: channels), longestBlock: 48_001)
        return processor.latency
    }

    /// The largest difference between what was heard, `shift` samples later, and what was expected.
    /// The first samples after the shift are silent until the chain has something to give, and rise slowly.
    private func difference(_ heard: [[Float]], _ expected: [[Float]], shift: Int = 0) -> Float {
        var worst: Float = 0
        for (row, wanted) in zip(heard, expected) {
            let count = min(row.count - shift, wanted.count)
            guard count > 10_000 else { return .infinity }
            for index in (shift == 0 ? 0 : 4_800)..<count {
                worst = max(worst, abs(row[index + shift] - wanted[index]))
            }
        }
        return worst
    }

    @Test(arguments: [1, 2, 6])
    func aChainIsWhatFFmpegMakesOfIt(_ channels: Int) throws {
        let chain = "highpass=f=90,equalizer=f=1000:t=q:w=1:g=6,acompressor=threshold=0.1:ratio=4"
        let expected = try ffmpeg(chain, channels: channels, count: 32_000)
        let heard = try heard("audio.ffmpeg", [:], ["chain": .string(chain)], channels: channels, ticks: 20)
        #expect(heard.allSatisfy { $0.count == 32_000 })
        #expect(difference(heard, expected) < 1e-5)
    }

    /// Filters that work in windows of their own: as many samples come out as went in, late by what the node says.
    @Test(arguments: ["afftdn=nr=12", "asetnsamples=n=1000", "adeclick", "dynaudnorm=f=100:g=5"])
    func whatAChainHoldsBackIsItsLatency(_ chain: String) throws {
        let latency = try latency("audio.ffmpeg", ["chain": .string(chain)])
        #expect(latency > 0 && latency < 48_000)
        let expected = try ffmpeg(chain, channels: 2, count: 64_000)
        let heard = try heard("audio.ffmpeg", [:], ["chain": .string(chain)], ticks: 40)
        #expect(heard[0].count == 64_000)
        #expect(heard[0].prefix(latency).allSatisfy { $0 == 0 })
        // The end of the expected file is made of what ffmpeg adds when a file ends.
        let whole = expected.map { Array($0.prefix(64_000 - latency)) }
        #expect(difference(heard, whole, shift: latency) < 1e-5, "latency \(latency)")
    }

    @Test func theLimiterKeepsItsCeilingAndIsFFmpegs() throws {
        let latency = try latency("audio.limiter")
        // Five milliseconds of look-ahead.
        #expect(abs(latency - 240) <= 64)
        let heard = try heard(
            "audio.limiter", ["ceiling": .constant([-9]), "drive": .constant([6])], ticks: 30)
        let ceiling = powf(10, -9.0 / 20)
        #expect(heard[0].allSatisfy { abs($0) <= ceiling * 1.0001 })
        #expect(heard[0].contains { abs($0) > ceiling * 0.95 })
        let expected = try ffmpeg(
            "alimiter=level=0:latency=1:limit=\(ceiling):level_in=\(powf(10, 6.0 / 20))", channels: 2, count: 40_000)
        #expect(difference(heard, expected.map { Array($0.prefix(39_000)) }, shift: latency) < 1e-4)
    }

    @Test func typedFiltersAreWhatFFmpegMakesOfTheirNumbers() throws {
        func factor(_ decibels: Double) -> Double { pow(10, decibels / 20) }
        let times: [String: OptionValue] = ["attack": .number(2), "release": .number(60), "knee": .number(3)]
        let cases: [(String, [String: ParameterValue], [String: OptionValue], String)] = [
            (
                "audio.compressor",
                [
                    "threshold": .constant([-20]), "ratio": .constant([6]), "attack": .constant([3]),
                    "release": .constant([80]), "knee": .constant([6]), "makeup": .constant([4]),
                    "mix": .constant([0.8]),
                ], [:],
                "acompressor=threshold=\(factor(-20)):ratio=6:attack=3:release=80:knee=\(factor(6)):makeup=\(factor(4)):mix=0.8"
            ),
            (
                "audio.gate",
                [
                    "threshold": .constant([-20]), "ratio": .constant([9]), "reduction": .constant([30]),
                ], times,
                "agate=threshold=\(factor(-20)):ratio=9:range=\(factor(-30)):attack=2:release=60:knee=\(factor(3))"
            ),
            (
                "audio.equalizer",
                [
                    "lowCut": .constant([80]), "low": .constant([-4]), "lowFrequency": .constant([150]),
                    "mid": .constant([5]), "midFrequency": .constant([700]), "midQ": .constant([2]),
                    "presence": .constant([3]), "high": .constant([-6]), "highFrequency": .constant([9000]),
                ], [:],
                "highpass=f=80,bass=g=-4:f=150,equalizer=f=700:t=q:w=2:g=5,equalizer=f=3000:t=q:w=1:g=3,treble=g=-6:f=9000"
            ),
        ]
        for (kind, parameters, options, chain) in cases {
            #expect(try latency(kind) == 0, "\(kind)")
            let heard = try heard(kind, parameters, options, ticks: 20)
            let expected = try ffmpeg(chain, channels: 2, count: 32_000)
            #expect(difference(heard, expected) < 1e-4, "\(kind)")
        }
    }

    @Test func neutralNumbersChangeNothing() throws {
        let plain = (0..<2).map { channel in (0..<16_000).map { Self.noise($0, channel) } }
        #expect(difference(try heard("audio.equalizer", ticks: 10), plain) < 1e-5)
        #expect(difference(try heard("audio.compressor", ["ratio": .constant([1])], ticks: 10), plain) < 1e-5)
    }

    @Test func commandsChangeARunningChain() throws {
        var run = SoundRun(["tone": ToneSource(sine(440, 0.25))], kinds: FFmpegSound.kinds)
        run.patch.add("chain", "audio.ffmpeg", [:], ["chain": .string("volume=1,anull")])
        run.patch.wire("tone", "chain", "out")
        let engine = try run.engine(frames: nil)
        try engine.load(run.patch)
        try engine.start()
        usleep(30_000)
        try engine.command(node: "chain", target: "volume", name: "volume", argument: "0.5")
        usleep(60_000)
        let error = #expect(throws: PatchError.self) {
            try engine.command(node: "chain", target: "volum", name: "volume", argument: "1")
        }
        #expect(error?.remedy == "did you mean 'volume'?" && error?.node == "chain")
        engine.stop()
        let heard = run.listener.samples[0]
        #expect(abs((heard.suffix(2000).map { abs($0) }.max() ?? 0) - 0.125) < 0.001)
        #expect(abs((heard.prefix(2000).map { abs($0) }.max() ?? 0) - 0.25) < 0.001)
        #expect(sharpestBend(heard) < 0.002)
    }

    /// The list of what may be used against the installed libavfilter: no option of such a filter is a file's name.
    @Test func noAllowedFilterHasAnOptionForFiles() throws {
        let all = FFmpegSound.filters()
        let usable = all.filter { $0.refusal == nil }
        #expect(usable.count > 85)
        let words = ["file", "path", "url", "model", "plugin", "device", "address", "socket", "sofa", "dump"]
        for filter in usable {
            #expect(filter.inputs != "0" && filter.isSound)
            for option in filter.parameters where option.form.hasPrefix("text") {
                let text = (option.name + " " + option.summary).lowercased()
                #expect(!words.contains { text.contains($0) }, "\(filter.name): \(option.name) (\(option.summary))")
            }
        }
        for name in ["amovie", "arnndn", "sofalizer", "firequalizer", "atempo", "anullsrc", "asendcmd", "ashowinfo"] {
            #expect(all.first { $0.name == name }.map { $0.refusal != nil } ?? true, "\(name)")
        }
    }

    @Test(arguments: [
        ("amovie=/etc/passwd", "may not be used"), ("arnndn=m=x", "may not be used"), ("atempo=2", "may not be used"),
        ("equaliser=f=1", "did you mean 'equalizer'?"), ("equalizer=nonsense=1", "Option"),
        ("asplit[a][b]", "open ends"), ("equalizer=t=q", "frequency"),
        ("bass=f=30000", "frequency"), ("treble=w=0", "width"), ("hflip", "may not be used"),
        ("dynaudnorm=f=8000:g=301", "holds back"),
    ])
    func mistakesNameTheNode(_ chain: String, _ words: String) throws {
        var run = SoundRun(["tone": ToneSource(sine(440))], kinds: FFmpegSound.kinds)
        run.patch.nodes.append(
            PatchNode(
                id: "chain", kind: "audio.ffmpeg", options: NodeOptions(["chain": .string(chain)]),
                at: SourceLocation(file: "x.lua", line: 3)))
        run.patch.wire("tone", "chain", "out")
        let engine = try run.engine(frames: 1)
        let error = #expect(throws: PatchError.self) { try engine.load(run.patch) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        #expect(error?.node == "chain" && error?.location?.line == 3 && error?.remedy.isEmpty == false)
    }
}
