import Glibc
import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Sound in scripts: wires, slots, transitions, kernels.
@Suite struct SoundLanguageTests {
    private func wires(_ text: String) throws -> [String] {
        try Workspace().build(text).wires.map { wire in
            "\(wire.from)>\(wire.to)\(wire.port == Wire.noPort ? "" : ":\(wire.port)")/\(wire.media.rawValue)"
        }
    }

    @Test func soundsToOneInputAreAdded() throws {
        let wires = try wires(
            """
            local a, b, mic, rec = camera { "a" }, camera { "b" }, microphone { "mic" }, recorder { "rec", file = "x.mkv" }
            a >> rec
            a.audio >> rec.audio
            b.audio >> audio.gain { "soft", db = -6 } >> rec
            mic >> rec
            a.audio >> rec.audio
            """)
        #expect(
            wires == [
                "a>rec:0/both", "a>rec:0/audio", "b>soft:0/audio", "soft>rec:0/audio", "mic>rec:0/audio",
            ])
    }

    @Test func soundGoesToAMixerOrToOneOfItsSlots() throws {
        let patch = try Workspace().build(
            """
            local a, b, mic = camera { "a" }, camera { "b" }, microphone { "mic" }
            local mix = mixer { "mix" }
            mix.slots.host = { source = a, gain = 0.5, pan = -1 }
            mix.slots.guest = { source = b, mute = true }
            mic >> mix
            mic >> audio.gain { "soft" } >> mix.slots.guest
            mix.slots.host = nil
            mix.slots.guest.source = a
            mix >> display { "view" }
            """)
        let wires = patch.wires.map { "\($0.from)>\($0.to):\($0.port)/\($0.media.rawValue)" }
        // The guest's port is the first now, and its own sound is still the microphone's.
        #expect(
            wires == [
                "mic>mix:-1/audio", "mic>soft:0/audio", "soft>mix:0/audio", "a>mix:0/both", "mix>view:0/both",
            ])
        #expect(patch.node("mix")?.parameters["guest.mute"] == .constant([1]))
        #expect(patch.node("mix")?.parameters["host.gain"] == nil)
    }

    @Test(arguments: [
        ("audio.kernel { sample = function(s, p) return vec2(s, s) end }", "gives a float, not a vec2"),
        ("audio.kernel { frame = function(f, p) return f.x end }", "gives a vec2, not a float"),
        ("audio.kernel { sample = function(s) return s end, frame = function(f) return f end }", "both"),
        ("audio.kernel { frame = function(f) return f end, channels = 6 }", "it is 1, 2, 3 or 4"),
        ("audio.kernel { sample = function(s) return s * uv.x end }", "for sound there are time and phase"),
        ("audio.kernel { sample = function(s, p) return s * p.loud end }", "declare it"),
        ("audio.kernel {}", "no function"),
        ("local k = audio.kernl {}", "did you mean audio.kernel?"),
        ("kernel { pixel = function(c) return c * phase(3) end }", "phase is known only inside audio.kernel"),
        ("audio.limiter { ceiling = 3 }", "-24"),
        ("audio.ffmpeg { \"volume=2\", loud = 1 }", "no 'loud'"),
        ("mixer { \"m\" }.slots.x = { source = camera { \"c\" }, gain = 9 }", "8"),
    ])
    func mistakesSayWhatToWrite(_ text: String, _ words: String) throws {
        let error = #expect(throws: PatchError.self) { try Workspace().build(text) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    /// The kernel of a graph's only `audio.kernel` node, run over a block that begins at `pts`.
    private func run(
        _ text: String, channels: Int, pts: MediaTime = .zero, _ wave: (Int, Int) -> Float
    ) throws -> [[Float]] {
        let patch = try Workspace().build(
            text + "\ncamera { \"cam\" }.audio >> k >> recorder { \"r\", file = \"x.mkv\" }")
        let node = try #require(patch.nodes.first { $0.kind == "audio.kernel" })
        guard case .sound(let kernel) = node.body else { throw PatchError(.graph, "no kernel for sound") }
        let processor = SoundKernelProcessor(kernel)
        try processor.prepare(AudioFormat(channels: channels), longestBlock: 2000)
        let block = AudioBlock(format: AudioFormat(channels: channels), capacity: 2000)
        block.count = 1600
        block.pts = pts
        for channel in 0..<channels {
            for index in 0..<block.count { block.channel(channel)[index] = wave(index, channel) }
        }
        let floats = kernel.parameters.flatMap { schema -> [Float] in
            if case .constant(let value)? = node.parameters[schema.name] { return value }
            return schema.defaultValue
        }
        (floats + [0]).withUnsafeBufferPointer { floats in
            guard let base = floats.baseAddress else { return }
            processor.process(block, SoundParameters(from: base, to: base))
        }
        return (0..<channels).map { Array(UnsafeBufferPointer(start: block.channel($0), count: block.count)) }
    }

    @Test func theCrushOfTheDocuments() throws {
        let wave: (Int, Int) -> Float = { index, channel in sinf(Float(index) * 0.05 + Float(channel)) }
        let heard = try run(
            """
            local crush = audio.kernel { params = { limit = { 0.05, min = 0, max = 1 } },
              sample = function(s, p) return clamp(s, -p.limit, p.limit) end }
            local k = crush { "k", limit = 0.25 }
            """, channels: 6, wave)
        for channel in 0..<6 {
            for index in 0..<1600 { #expect(heard[channel][index] == max(-0.25, min(0.25, wave(index, channel)))) }
        }
    }

    @Test func midAndSide() throws {
        let heard = try run(
            """
            local k = audio.kernel { params = { width = { 1, min = 0, max = 2, neutral = 1 } },
              frame = function(f, p)
                local mid, side = (f.x + f.y) / 2, (f.x - f.y) / 2 * p.width
                return vec2(mid + side, mid - side)
              end } { "k", width = 0.5 }
            """, channels: 2
        ) { index, channel in Float(index % 10) / 10 * (channel == 0 ? 1 : -0.5) }
        for index in 0..<1600 {
            let (left, right) = (Double(index % 10) / 10, -0.5 * Double(index % 10) / 10)
            let (mid, side) = ((left + right) / 2, (left - right) / 4)
            #expect(abs(Double(heard[0][index]) - mid - side) < 1e-6)
            #expect(abs(Double(heard[1][index]) - mid + side) < 1e-6)
        }
    }

    @Test func ringModulationByTime() throws {
        let pts = MediaTime(value: 7 * 3600 * 30 + 7, timescale: 30)
        let heard = try run(
            """
            local k = audio.kernel { params = { hz = { 30, min = 1, max = 5000 } },
              sample = function(s, p) return s * sin(2 * math.pi * phase(p.hz)) + step(1e9, time) end } { "k", hz = 312.5 }
            """, channels: 1, pts: pts
        ) { _, _ in 0.5 }
        for index in 0..<1600 {
            // 312.5 · 7 h is a whole number of cycles.
            let seconds = 7.0 / 30 + Double(index) / 48_000
            #expect(abs(Double(heard[0][index]) - 0.5 * sin(2 * Double.pi * 312.5 * seconds)) < 1e-4)
        }
    }

    @Test func transformersForSoundAreFoundByName() throws {
        let registry = NodeRegistry([
            NodeKind(
                NodeSchema(kind: "camera", role: .source, summary: ""),
                .source { _, _ in throw PatchError(.unavailable, "") }),
            NodeKind(
                NodeSchema(kind: "recorder", role: .sink, summary: ""),
                .sink { _, _ in throw PatchError(.unavailable, "") }),
            NodeKind(
                NodeSchema(kind: "transformer.limiter", role: .filter, summary: "", ports: ["audio"]),
                .sound { _, _ in throw PatchError(.unavailable, "") }),
        ])
        let workspace = Workspace()
        let patch = try workspace.build(
            "camera { \"a\" }.audio >> transformer { \"limiter\" } >> recorder { \"r\" }", registry: registry)
        #expect(patch.nodes.contains { $0.kind == "transformer.limiter" })
        #expect(patch.wires.allSatisfy { $0.media == .audio } && patch.wires.count == 2)
    }
}
