import Glibc
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchSound
import Testing

/// Numbers, commands and filters that change while a tone sounds: none is heard as a click.
@Suite struct SoundKnobTests {
    private static let tone = sine(311, 0.4)
    private static let kinds = FFmpegSound.kinds

    private func run(
        _ kind: String, _ parameters: [String: ParameterValue] = [:], _ options: [String: OptionValue] = [:]
    ) -> SoundRun {
        var run = SoundRun(["tone": ToneSource(Self.tone)], kinds: Self.kinds)
        run.patch.add("chain", kind, parameters, options)
        run.patch.wire("tone", "chain", "out")
        return run
    }

    /// Both ends and the default of each knob; gains by 12 dB at most, so that no bend is merely a loud tone.
    private func settings(_ schema: ParameterSchema) -> [[Float]] {
        if schema.form == .bool { return [[1], schema.defaultValue] }
        guard let range = schema.range else { return [] }
        let bounded = schema.unit == "dB" ? max(-12, range.lowerBound)...min(12, range.upperBound) : range
        return [[bounded.upperBound], schema.defaultValue, [bounded.lowerBound], schema.defaultValue]
    }

    /// Every knob jumps from end to end and back, a hundred times in all, two to four ticks apart.
    @Test(arguments: [
        "audio.limiter", "audio.compressor", "audio.gate", "audio.equalizer", "audio.gain", "audio.noiseSuppression",
    ])
    func knobsThatJumpMakeNoClick(_ kind: String) throws {
        let kinds = SoundNodes.kinds + Self.kinds
        let schema = try #require(kinds.first { $0.schema.kind == kind }).schema
        let moves = schema.parameters.flatMap { parameter in settings(parameter).map { (parameter.name, $0) } }
        let edits = (0..<100).map { moves[$0 % moves.count] }
        let ticks = (0..<100).reduce(into: [5]) { $0.append($0[$1] + 2 + $1 * 7 % 3) }
        let heard = try run(kind).heard(ticks: Int64(ticks[100] + 20)) { engine, tick in
            guard let index = ticks.firstIndex(of: Int(tick)), index < edits.count else { return }
            #expect(engine.setParameter(node: "chain", name: edits[index].0, .constant(edits[index].1)))
        }
        var steady: [[Float]] = []
        for (name, value) in moves {
            steady += try run(kind, [name: .constant(value)]).heard(ticks: 30).map { Array($0.dropFirst(16_000)) }
        }
        let sounds = ClickLimit(steady)
        let limit = kind == "audio.gain" ? sounds.moving(over: 1600) : sounds.fading(over: 1600)
        // Opening at the start of a run is no change.
        let found = clicks(Array(heard[0].dropFirst(4_800)), above: limit)
        #expect(
            found.isEmpty,
            "\(kind), limit \(limit): \(found.map { click in (ticks.lastIndex { $0 <= click.sample / 1600 }.map { edits[min(99, $0)] }, click) })"
        )
        // A click would be seen: half the tone cut off bends by 0.2.
        #expect(limit < 0.1)
    }

    /// Commands to running chains of libavfilter, also of filters that hold sound back.
    @Test(arguments: [
        ("volume@v=1", "volume@v", "volume", ["0.3", "1"]), ("afftdn@d=nr=12", "afftdn@d", "nr", ["40", "12"]),
        ("equalizer@e=f=311:t=q:w=1:g=0", "equalizer@e", "gain", ["-12", "6"]),
        ("acompressor@c=ratio=2", "acompressor@c", "threshold", ["0.02", "0.5"]),
        ("dynaudnorm@n=f=50:g=3", "dynaudnorm@n", "m", ["1", "4"]),
    ])
    func commandsMakeNoClick(_ chain: String, _ target: String, _ name: String, _ values: [String]) throws {
        let heard = try run("audio.ffmpeg", [:], ["chain": .string(chain)]).heard(ticks: 330) { engine, tick in
            guard tick >= 30, tick % 3 == 0 else { return }
            let value = values[Int(tick / 3) / 4 % values.count]
            try engine.command(node: "chain", target: target, name: name, argument: value)
        }
        var steady: [[Float]] = []
        for value in values {
            let still = try run("audio.ffmpeg", [:], ["chain": .string(chain)]).heard(ticks: 60) { engine, tick in
                guard tick == 1 else { return }
                try engine.command(node: "chain", target: target, name: name, argument: value)
            }
            steady += still.map { Array($0.dropFirst(48_000)) }
        }
        let limit = ClickLimit(steady).fading(over: 800)
        let found = clicks(Array(heard[0].dropFirst(4_800)), above: limit)
        #expect(found.isEmpty, "\(chain), limit \(limit): \(found)")
        #expect(limit < 0.1)
    }

    /// Each kind of filter is put on air and taken off again, a hundred changes.
    @Test(arguments: [
        ("audio.gain", ""), ("audio.delay", ""), ("audio.noiseSuppression", ""), ("audio.meter", ""),
        ("audio.limiter", ""), ("audio.compressor", ""), ("audio.gate", ""), ("audio.equalizer", ""),
        ("audio.ffmpeg", "afftdn=nr=12"), ("audio.ffmpeg", "aecho=0.8:0.9:40:0.3"), ("audio.ffmpeg", "adeclick"),
        ("audio.ffmpeg", "dynaudnorm=f=100:g=5"), ("audio.ffmpeg", "asetnsamples=n=1000"),
        ("audio.ffmpeg", "chorus=0.5:0.9:50:0.4:0.25:2"),
    ])
    func filtersComeAndGoWithoutAClick(_ kind: String, _ chain: String) throws {
        var options: [String: OptionValue] = chain.isEmpty ? [:] : ["chain": .string(chain)]
        if kind == "audio.delay" { options["ms"] = .number(7) }
        let filtered = run(kind, [:], options)
        var plain = filtered.patch
        plain.wires = [Wire(from: "tone", to: "out", media: .audio)]
        let patches = [plain, filtered.patch]
        let heard = try filtered.heard(ticks: 720) { engine, tick in
            if tick > 3, tick % 7 == 0 { try engine.load(patches[Int(tick) / 7 % 2]) }
        }
        var steady: [[Float]] = []
        for patch in patches {
            var still = SoundRun(["tone": ToneSource(Self.tone)], kinds: Self.kinds)
            still.patch = patch
            steady += try still.heard(ticks: 60).map { Array($0.dropFirst(48_000)) }
        }
        // What begins after a silence rises within 480 samples while the wire fades within 960.
        let limit = ClickLimit(steady).fading(over: 480, nested: 2)
        let found = clicks(Array(heard[0].dropFirst(4_800)), above: limit)
        #expect(
            found.isEmpty,
            "\(kind) \(chain), limit \(limit): \(found.map { ($0.sample / 1600, $0.sample % 1600, $0.bend) })")
        #expect(limit < 0.1)
    }
}
