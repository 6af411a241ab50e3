import Glibc
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchSound
import Testing

/// Wires that change on air: no click, and no sample of what the change does not touch.
@Suite struct SoundEditTests {
    /// Noise goes to the listener while filters come and go elsewhere: not one sample is another.
    @Test func anEditElsewhereChangesNoSample() throws {
        var run = SoundRun(["noise": ToneSource(SoundChainTests.noise), "other": ToneSource(sine(311, 0.3))])
        run.patch.add("a", "audio.gain")
        run.patch.add("through", "audio.gain")
        run.patch.add("meter", "audio.meter")
        run.patch.wire("noise", "through", "out")
        let patch = run.patch
        let heard = try run.heard(ticks: 20) { engine, tick in
            var patch = patch
            if tick % 2 == 0 { patch.wire("other", "a", "meter") }
            try engine.load(patch, isReload: tick % 3 == 0)
        }
        for channel in 0...1 {
            for (index, sample) in heard[channel].enumerated() {
                guard sample == SoundChainTests.noise(Int64(index), channel) else {
                    Issue.record("sample \(index) of channel \(channel) is \(sample)")
                    return
                }
            }
        }
    }

    /// Any graph of filters becomes any other: chains that become shorter, longer, parallel, that swap places or become each
    /// other's input. A hundred changes a seed, at ticks that nobody chose.
    @Test(arguments: 1...6)
    func anyGraphBecomesAnyOtherWithoutAClick(_ seed: UInt64) throws {
        var run = SoundRun(
            ["tone": ToneSource(sine(440, 0.3)), "other": ToneSource(sine(311, 0.2))], kinds: FFmpegSound.kinds)
        run.patch.add("a", "audio.gain", ["db": .constant([-3])])
        run.patch.add("b", "audio.gain", ["db": .constant([-6])])
        run.patch.add("late", "audio.delay", [:], ["ms": .number(3)])
        run.patch.add("limit", "audio.limiter", ["ceiling": .constant([-6])])
        run.patch.add("bass", "audio.equalizer", ["low": .constant([3])])
        run.patch.add("press", "audio.compressor", ["ratio": .constant([4])])
        let filters = ["a", "b", "late", "limit", "bass", "press"]
        // The listener stays when no sound is wired to it.
        run.patch.wires.append(Wire(from: "tone", to: "out", media: .video))
        var random = Random(state: seed)
        let patches = (0..<100).map { _ in Self.wired(run.patch, filters, &random) }
        let waits = (0..<100).map { _ in 1 + random.below(3) }
        let starts = waits.reduce(into: [2]) { $0.append(($0.last ?? 0) + $1) }
        let heard = try run.heard(ticks: Int64((starts.last ?? 0) + 3)) { engine, tick in
            guard let index = starts.firstIndex(of: Int(tick)), index < patches.count else { return }
            try engine.load(patches[index], isReload: index % 2 == 0)
        }
        // Each graph by itself, once it has settled.
        var steady: [[Float]] = []
        for patch in patches.prefix(100) {
            var still = SoundRun(
                ["tone": ToneSource(sine(440, 0.3)), "other": ToneSource(sine(311, 0.2))], kinds: FFmpegSound.kinds)
            still.patch = patch
            steady += try still.heard(ticks: 8).map { Array($0.dropFirst(4_800)) }
        }
        let limit = ClickLimit(steady).fading(over: 960, nested: 3)
        let isFinite = heard[0].allSatisfy { $0.isFinite }
        #expect(isFinite)
        #expect(heard[0] == heard[1], "both sides of the sources are the same")
        for channel in 0...1 {
            let found = clicks(heard[channel], above: limit)
            #expect(
                found.isEmpty,
                "seed \(seed), limit \(limit), ticks \(found.map { ($0.sample / 1600, $0.sample % 1600, $0.bend) })")
        }
        #expect(limit < 0.02)
    }

    /// A patch with filters in a random order, each fed by sources and filters before it, some of them heard.
    private static func wired(_ patch: Patch, _ filters: [String], _ random: inout Random) -> Patch {
        var patch = patch
        var order = filters
        for index in order.indices.reversed() { order.swapAt(index, random.below(index + 1)) }
        var known = ["tone", "other"]
        for filter in order.prefix(random.below(filters.count + 1)) {
            for _ in 0...random.below(2) {
                let wire = Wire(from: known[random.below(known.count)], to: filter, media: .audio)
                if !patch.wires.contains(wire) { patch.wires.append(wire) }
            }
            known.append(filter)
        }
        for _ in 0..<random.below(3) {
            let wire = Wire(from: known[known.count - 1 - random.below(min(3, known.count))], to: "out", media: .audio)
            if !patch.wires.contains(wire) { patch.wires.append(wire) }
        }
        return patch
    }
}

/// xorshift64*: the same numbers in each run.
struct Random {
    var state: UInt64
    mutating func below(_ limit: Int) -> Int {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return Int((state &* 0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}
