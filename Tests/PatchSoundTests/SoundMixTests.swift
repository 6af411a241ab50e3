import Glibc
import PatchFilters
import PatchGraph
import PatchKernel
import PatchMedia
import PatchSound
import Testing

/// Sound inside mixers and transitions.
@Suite struct SoundMixTests {
    /// A mixer with slots a and b, each fed by a tone with a picture, and a listener behind it.
    private func mixer(_ parameters: [String: ParameterValue] = [:]) -> SoundRun {
        var run = SoundRun(["a": ToneSource(sine(440)), "b": ToneSource(sine(311, 0.25))])
        run.patch.nodes.append(
            PatchNode(
                id: "mix", kind: "mixer",
                body: .kernels(MixerSchema.filter([.init("a"), .init("b")], width: 16, height: 16)),
                parameters: parameters))
        run.patch.wires += [
            Wire(from: "a", to: "mix", port: 0), Wire(from: "b", to: "mix", port: 1), Wire(from: "mix", to: "out"),
        ]
        return run
    }

    /// The largest difference to gains of the two tones, from `start` on.
    private func difference(_ heard: [Float], _ a: Float, _ b: Float, from start: Int = 0) -> Float {
        let (first, second) = (sine(440), sine(311, 0.25))
        return heard.indices.dropFirst(start).reduce(0) { worst, index in
            let sample = Int64(index)
            return max(worst, abs(heard[index] - a * first(sample, 0) - b * second(sample, 0)))
        }
    }

    @Test func slotsAreAdded() throws {
        let heard = try mixer().heard(ticks: 5)
        #expect(heard[0].count == 8000)
        for channel in 0...1 { #expect(difference(heard[channel], 1, 1) < 1e-6) }
    }

    @Test func gainPanAndMuteAreTheSlotsOwn() throws {
        let heard = try mixer(["a.gain": .constant([0.5]), "b.pan": .constant([1])]).heard(ticks: 5)
        #expect(difference(heard[0], 0.5, 0) < 1e-6)
        #expect(difference(heard[1], 0.5, 1) < 1e-6)
        let muted = try mixer(["a.mute": .constant([1])]).heard(ticks: 5)
        #expect(difference(muted[0], 0, 1) < 1e-6)
    }

    @Test func aHiddenSlotIsSilentAndATransparentOneIsNot() throws {
        let heard = try mixer(["b.visible": .constant([0]), "a.transparency": .constant([1])]).heard(ticks: 5)
        #expect(difference(heard[0], 1, 0) < 1e-6)
    }

    @Test func soundForTheMixerAndForOneSlot() throws {
        var run = mixer()
        run.sources["c"] = ToneSource(channels: 1) { sample, _ in Float(sample % 100) / 1000 }
        run.patch.nodes.append(PatchNode(id: "c", kind: "c"))
        run.patch.wires.append(Wire(from: "c", to: "mix", port: Wire.noPort, media: .audio))
        // Mono is 3 dB softer in each of two channels.
        let ramp: [Float] = (0..<8000).map { Float($0 % 100) / 1000 * Float(0.5).squareRoot() }
        let added = try run.heard(ticks: 5)[0]
        #expect(difference(zip(added, ramp).map { $0 - $1 }, 1, 1) < 1e-6)
        // In place of what comes with the picture of b.
        var other = mixer(["b.gain": .constant([2])])
        other.sources["c"] = run.sources["c"].map { _ in
            ToneSource(channels: 1) { sample, _ in Float(sample % 100) / 1000 }
        }
        other.patch.nodes.append(PatchNode(id: "c", kind: "c"))
        other.patch.wires.append(Wire(from: "c", to: "mix", port: 1, media: .audio))
        let replaced = try other.heard(ticks: 5)[0]
        #expect(difference(zip(replaced, ramp).map { $0 - 2 * $1 }, 1, 0) < 1e-6)
    }

    /// Slots that are hidden, shown, muted, panned and turned at moments that nobody chose.
    @Test func aHundredTurnsOnAirMakeNoClick() throws {
        let run = mixer()
        let engine = try run.engine(frames: nil)
        try engine.load(run.patch)
        try engine.start()
        let turns: [(String, [Float])] = [
            ("a.visible", [0]), ("b.gain", [0]), ("a.visible", [1]), ("a.pan", [-1]), ("b.gain", [1.5]),
            ("b.mute", [1]),
            ("a.pan", [1]), ("a.gain", [0.2]), ("b.mute", [0]), ("a.gain", [1]),
        ]
        for number in 0..<100 {
            let (name, value) = turns[number % turns.count]
            #expect(engine.setParameter(node: "mix", name: name, .constant(value)))
            usleep(useconds_t(200 + number * 37 % 900))
        }
        engine.stop()
        #expect(run.listener.samples[0].count > 48_000)
        // Gains of up to 1.5 for b, in straight lines over a block of 1600: two corners may meet at its edge.
        let waves = [sine(440), sine(311, 0.375)].map { wave in (0..<4_800).map { wave(Int64($0), 0) } }
        let sum = zip(waves[0], waves[1]).map { abs($0) + abs($1) }
        let limit = ClickLimit([zip(waves[0], waves[1]).map { $0 + $1 }]).bend + 2 * (sum.max() ?? 0) / 1600
        for channel in 0...1 {
            let found = clicks(run.listener.samples[channel], above: limit)
            #expect(found.isEmpty, "limit \(limit): \(found)")
        }
    }

    /// From a to b in half a second: the weights are (1 ± cos πp) / 2.
    @Test func aTransitionCrossfadesItsSound() throws {
        var run = SoundRun(["a": ToneSource { _, _ in 0.5 }, "b": ToneSource { _, _ in -0.25 }])
        let fade = try FilterProbe.transition()
        run.patch.nodes.append(
            PatchNode(
                id: "fade", kind: "transition.fade", body: .kernels(fade),
                parameters: ["progress": .ramp(to: [1], seconds: 0.5, easing: .linear)]))
        run.patch.wires += [
            Wire(from: "a", to: "fade", port: 0), Wire(from: "b", to: "fade", port: 1), Wire(from: "fade", to: "out"),
        ]
        let heard = try run.heard(ticks: 30)[0]
        #expect(heard.last == -0.25)
        #expect(sharpestBend(heard) < 1e-4)
        for (index, sample) in heard.enumerated() {
            let progress = min(1, Double(index) / 24_000)
            let weight = (1 - cos(Double.pi * progress)) / 2
            // A tick of 1600 samples is a straight piece that begins at the tick before.
            #expect(abs(Double(sample) - (0.5 - 0.75 * weight)) < 0.09)
        }
    }

    /// The same sound on both sides stays as loud as it is.
    @Test func aTransitionBetweenTheSameSoundChangesNothing() throws {
        var run = SoundRun(["a": ToneSource(sine(440))])
        run.patch.nodes.append(
            PatchNode(
                id: "fade", kind: "transition.fade", body: .kernels(try FilterProbe.transition()),
                parameters: ["progress": .ramp(to: [1], seconds: 0.3, easing: .linear)]))
        run.patch.wires += [
            Wire(from: "a", to: "fade", port: 0), Wire(from: "a", to: "fade", port: 1), Wire(from: "fade", to: "out"),
        ]
        let heard = try run.heard(ticks: 15)[0]
        let wave = sine(440)
        for index in heard.indices { #expect(abs(heard[index] - wave(Int64(index), 0)) < 1e-6) }
    }
}

/// A transition as a look would make it.
private enum FilterProbe {
    static func transition() throws -> KernelFilter {
        var builder = KernelBuilder(
            name: "fade", inputs: [InputDeclaration(name: "from"), InputDeclaration(name: "to")],
            uniforms: [UniformDeclaration(name: "progress", type: .float)])
        let (from, to, progress) = (builder.current(0), builder.current(1), builder.uniform(0))
        let kernel = try builder.finish(try builder.apply(.mix, [from, to, progress]))
        return KernelFilter(
            name: "fade", summary: "", ports: ["from", "to"],
            parameters: [ParameterSchema("progress", default: [0], range: 0...1)],
            stages: [.init(kernel: kernel, inputs: [.port(0), .port(1)], uniforms: ["progress"])])
    }
}
