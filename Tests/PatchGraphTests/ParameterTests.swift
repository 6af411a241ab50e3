import PatchGraph
import PatchMedia
import Testing

@Suite struct ParameterTests {
    /// Offline, frame by frame: what a parameter is at each tick, read off the picture.
    private func reds(_ value: ParameterValue, frames: Int64 = 31) throws -> [Double] {
        let source = CountingSource(small, frames: frames) { frame, _ in fill(frame, (200, 200, 200, 255)) }
        let sink = CollectingSink(small)
        let engine = try makeEngine(registry(sources: ["flat": source], sinks: ["view": sink]))
        var patch = Patch()
        patch.settings.rate = FrameRate(30)
        patch.add("in", "flat")
        patch.add("f", try scaleFilter(), ["scale": value])
        patch.add("out", "view")
        patch.wire("in", "f", "out")
        try engine.load(patch)
        try engine.start()
        _ = engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000)
        engine.stop()
        return sink.all.map { Double($0.first[0]) / 200 }
    }

    @Test func aRampTakesItsSecondsAndStays() throws {
        let values = try reds(.ramp(to: [0], seconds: 0.5, easing: .linear), frames: 30)
        for (index, value) in values.enumerated() {
            let expected = max(0, 1 - Double(index) / 15)
            #expect(abs(value - expected) < 0.005, "frame \(index)")
        }
    }

    @Test func anOscillationFollowsItsWave() throws {
        let values = try reds(
            .oscillation(Oscillation(wave: .triangle, frequency: 1, center: 0.5, amplitude: 0.5)))
        // A triangle from the centre: up to 1 at a quarter, 0 at three quarters.
        #expect(abs(values[0] - 0.5) < 0.005)
        #expect(abs(values[15] - 0.5) < 0.005)
        #expect(values.max() ?? 0 > 0.96)
        #expect(values.min() ?? 1 < 0.04)
    }

    @Test func keyframesPassThroughTheirValues() throws {
        let values = try reds(
            .keyframes(
                [Keyframe(time: 0, value: [1]), Keyframe(time: 0.5, value: [0.5]), Keyframe(time: 1, value: [1])],
                loop: false))
        #expect(abs(values[0] - 1) < 0.005)
        #expect(abs(values[15] - 0.5) < 0.005)
        #expect(abs(values[30] - 1) < 0.005)
    }

    @Test func easingsBeginAtZeroAndEndAtOne() {
        for easing in Easing.allCases {
            #expect(easing(0) == 0)
            #expect(easing(1) == 1)
            #expect(easing(-1) == 0)
            #expect(easing(2) == 1)
        }
        #expect(Easing.easeInOut(0.5) == 0.5)
    }
}
