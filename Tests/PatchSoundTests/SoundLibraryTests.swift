import Foundation
import PatchGraph
import PatchMedia
import PatchSound
import PatchTesting
import Testing

/// The filters that stand on libraries, against independent programs and real voices.
@Suite struct SoundLibraryTests {
    /// 32-bit float mono samples at 48 kHz of a sound file, by ffmpeg.
    private func decoded(_ file: String) throws -> [Float] {
        let bytes = try Program.run(
            "ffmpeg", ["-v", "error", "-i", file, "-ac", "1", "-ar", "48000", "-f", "f32le", "-"]
        ).output
        return bytes.withUnsafeBytes { raw in Array(raw.bindMemory(to: Float.self)) }
    }

    private func power(_ samples: ArraySlice<Float>) -> Double {
        10 * log10(samples.reduce(1e-20) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count)))
    }

    /// A voice said again and again with a second's pause, over pink noise by ffmpeg.
    @Test func noiseSuppressionLowersThePauses() throws {
        let voice = try decoded(Fixtures.path(.frontCenter))
        let directory = try TemporaryDirectory()
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i",
                "anoisesrc=color=pink:amplitude=0.02:seed=1:sample_rate=48000:duration=20",
                directory.file("pink.wav"),
            ])
        let noise = try decoded(directory.file("pink.wav"))
        let period = voice.count + 48_000
        let count = min(noise.count, 8 * period)
        let sound = (0..<count).map { index in
            noise[index] + (index % period < voice.count ? voice[index % period] : 0)
        }
        func run(_ chain: [String]) throws -> [Float] {
            var run = SoundRun(
                ["voice": ToneSource(channels: 1) { sample, _ in sample < count ? sound[Int(sample)] : 0 }], channels: 1
            )
            run.patch.add("clean", "audio.noiseSuppression")
            for (from, to) in zip(chain, chain.dropFirst()) {
                run.patch.wires.append(Wire(from: from, to: to, media: .audio))
            }
            return try run.heard(ticks: Int64(count / 1600))[0]
        }
        let plain = try run(["voice", "out"])
        let clean = try run(["voice", "clean", "out"])
        let latency = NoiseSuppression().latency
        // Pauses after the first three seconds, in which the filter learns; a quarter second off their ends.
        var lowered: [Double] = []
        var kept: [Double] = []
        for start in stride(from: 2 * period, to: plain.count - period - latency, by: period) {
            let pause = start + voice.count + 12_000..<start + period - 12_000
            let late = pause.lowerBound + latency..<pause.upperBound + latency
            lowered.append(power(plain[pause]) - power(clean[late]))
            let spoken = start..<start + voice.count
            kept.append(power(plain[spoken]) - power(clean[spoken.lowerBound + latency..<spoken.upperBound + latency]))
        }
        print(
            "noise suppression: pauses lowered by \(lowered.map { ($0 * 10).rounded() / 10 }) dB, speech by \(kept.map { ($0 * 10).rounded() / 10 }) dB"
        )
        #expect(lowered.count >= 3)
        for value in lowered { #expect(value >= 12) }
        for value in kept { #expect(value < 3) }
    }

    /// The stated delay is where a voice comes out: the shift at which input and output are most alike.
    @Test func noiseSuppressionIsAsLateAsItSays() throws {
        let voice = try decoded(Fixtures.path(.frontCenter))
        var run = SoundRun(
            ["voice": ToneSource(channels: 1) { sample, _ in voice[Int(sample) % voice.count] }], channels: 1)
        run.patch.add("clean", "audio.noiseSuppression")
        run.patch.wire("voice", "clean", "out")
        let heard = try run.heard(ticks: 90)[0]
        var best = (shift: 0, likeness: -Double.infinity)
        for shift in stride(from: 0, to: 4000, by: 1) {
            var likeness = 0.0
            for index in stride(from: 20_000, to: 60_000, by: 3) {
                likeness += Double(voice[index % voice.count]) * Double(heard[index + shift])
            }
            if likeness > best.likeness { best = (shift, likeness) }
        }
        #expect(abs(best.shift - NoiseSuppression().latency) <= 2, "\(best)")
    }

    /// Against ffmpeg's own meter (its ebur128 filter is another implementation of the standard).
    @Test func loudnessIsWhatFFmpegMeasures() throws {
        let meter = LoudnessMeter()
        let kind = NodeKind(
            NodeSchema(kind: "test.meter", role: .filter, summary: "", ports: ["audio"]), .sound { _, _ in meter })
        let directory = try TemporaryDirectory()
        let file = directory.file("stereo.wav")
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-i", try Fixtures.path(.bigBuckBunny), "-ac", "2", "-ar", "48000", "-c:a", "pcm_f32le",
                file,
            ])
        let left = try channel(file, 0)
        let right = try channel(file, 1)
        var run = SoundRun(
            [
                "clip": ToneSource(channels: 2) { sample, channel in
                    let samples = channel == 0 ? left : right
                    return sample < samples.count ? samples[Int(sample)] : 0
                }
            ], kinds: [kind])
        run.patch.add("meter", "test.meter")
        run.patch.wire("clip", "meter", "out")
        _ = try run.heard(ticks: Int64(left.count / 1600))
        let text = try Program.run(
            "ffmpeg", ["-nostats", "-i", file, "-af", "ebur128=peak=true", "-f", "null", "-"]
        ).errorText
        func number(_ label: String) throws -> Double {
            let summary = try #require(text.range(of: "Summary:").map { text[$0.upperBound...] })
            let line = try #require(summary.split(separator: "\n").first { $0.contains(label) })
            return try #require(Double(line.split(separator: " ").dropFirst().first ?? ""))
        }
        let expected = try (loudness: number(" I: "), peak: number("Peak:"))
        #expect(abs(meter.loudness.integrated - expected.loudness) < 0.15, "\(meter.loudness), \(expected)")
        #expect(abs(meter.loudness.truePeak - expected.peak) < 0.3, "\(meter.loudness), \(expected)")
    }

    private func channel(_ file: String, _ index: Int) throws -> [Float] {
        let bytes = try Program.run(
            "ffmpeg",
            ["-v", "error", "-i", file, "-af", "pan=mono|c0=c\(index)", "-ar", "48000", "-f", "f32le", "-"]
        ).output
        return bytes.withUnsafeBytes { raw in Array(raw.bindMemory(to: Float.self)) }
    }
}
