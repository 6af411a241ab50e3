import Foundation
import PatchTesting
import Testing

/// Stereo, 5.1 and 7.1 from file to file, and what is computed on the way, to the sample.
@Suite struct SoundLayoutTests {
    private static let frequencies = [200, 400, 600, 800, 1000, 1200, 1400, 1600]

    /// A file with a tone of its own in each channel.
    private func tones(_ file: String, _ layout: String, _ channels: Int) throws {
        let waves = Self.frequencies.prefix(channels).map { "0.1*sin(2*PI*\($0)*t)" }.joined(separator: "|")
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i",
                "aevalsrc=\(waves):channel_layout=\(layout):sample_rate=48000:duration=3",
                "-c:a", "pcm_s24le", file,
            ])
    }

    /// The samples of a file, by channel.
    private func samples(_ file: String, channels: Int) throws -> [[Float]] {
        let bytes = try Program.run("ffmpeg", ["-v", "error", "-i", file, "-vn", "-f", "f32le", "-"]).output
        let floats = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return (0..<channels).map { channel in
            stride(from: channel, to: floats.count, by: channels).map { floats[$0] }
        }
    }

    private func layout(of file: String) throws -> String {
        try Program.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "a", "-show_entries", "stream=channels,channel_layout",
                "-of", "csv=p=0", file,
            ]
        ).text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// How strong a frequency is in samples of whole cycles: the amplitude of its part.
    private func amplitude(_ samples: ArraySlice<Float>, _ frequency: Int) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let phase = 2 * Double.pi * Double(frequency) * Double(index) / 48_000
            real += Double(sample) * cos(phase)
            imaginary += Double(sample) * sin(phase)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(max(1, samples.count))
    }

    /// Each channel comes out in its place, by the graph's layout, through a filter and a mixer's slot.
    @Test(arguments: [("5.1", 6, "pcm"), ("5.1", 6, "aac"), ("7.1", 8, "pcm"), ("7.1", 8, "aac"), ("stereo", 2, "aac")])
    func channelsKeepTheirPlaces(_ layout: String, _ channels: Int, _ codec: String) throws {
        let directory = try TemporaryDirectory()
        try tones(directory.file("tones.wav"), layout, channels)
        // Matroska does not say where the channels of PCM belong, QuickTime does.
        let name = codec == "pcm" ? "out.mov" : "out.mkv"
        let run = try GraphRun(
            """
            graph { fps = 30, size = "64x36", channels = "\(layout)" }
            local mix = mixer { "mix", size = "64x36" }
            mix.slots.only = { source = testPattern { "bars", kind = "bars" } }
            local clip = video { "clip", file = "tones.wav" }
            clip.audio >> audio.equalizer { "tone" } >> mix.slots.only
            mix.audio >> recorder { "rec", file = "\(name)", audioCodec = "\(codec)", audioBitrate = 512000 }
            mix.audio >> recorder { "low", file = "low.mkv", audioCodec = "pcm", channels = "stereo" }
            """, command: "render", arguments: ["--duration", "3"], directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        let file = directory.file(name)
        let stored = try self.layout(of: file)
        #expect(stored.hasPrefix("\(channels),\(layout)"), "\(stored)")
        let heard = try samples(file, channels: channels)
        for channel in 0..<channels {
            // AAC cuts the low-frequency channel off where that is below the tone, but keeps nothing else there.
            for (other, frequency) in Self.frequencies.prefix(channels).enumerated()
            where channel != 3 || codec == "pcm" {
                let expected = other == channel ? 0.1 : 0
                let amplitude = amplitude(heard[channel].dropFirst(48_000).prefix(48_000), frequency)
                #expect(abs(amplitude - expected) < 0.01, "\(frequency) Hz in channel \(channel): \(amplitude)")
            }
        }
        // The same, mixed to stereo as ffmpeg mixes it.
        let low = try samples(directory.file("low.mkv"), channels: 2)
        let output = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-i", directory.file("tones.wav"), "-af",
                "aresample=out_sample_fmt=fltp:out_chlayout=stereo:rematrix_maxval=1000", "-f", "f32le", "-",
            ]
        ).output
        let expected = output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        var worst: Float = 0
        for index in 0..<min(low[0].count, expected.count / 2) {
            for channel in 0...1 { worst = max(worst, abs(low[channel][index] - expected[2 * index + channel])) }
        }
        #expect(low[0].count == 144_000 && worst < 1e-4, "\(low[0].count), \(worst)")
    }

    /// The limiter of the documents on 16-bit samples: a kernel clips them at 1638, to the bit, all the way to the file.
    @Test func aLimiterIsExactOnSixteenBits() throws {
        let directory = try TemporaryDirectory()
        let codes = (0..<96_000).map { Int16(truncatingIfNeeded: $0 &* 40_503) }
        try codes.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: directory.file("codes.s16")))
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "s16le", "-ar", "48000", "-ac", "2", "-i", directory.file("codes.s16"),
                directory.file("codes.wav"),
            ])
        let run = try GraphRun(
            """
            local crush = audio.kernel { params = { limit = { 0.05, min = 0, max = 1 } },
              sample = function(s, p) return clamp(s, -p.limit, p.limit) end }
            video { "clip", file = "codes.wav" } >> crush { "crush", limit = 1638 / 32768 }
              >> recorder { "rec", file = "out.mkv", audioCodec = "pcm" }
            """, command: "render", directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        let bytes = try Program.run(
            "ffmpeg", ["-v", "error", "-i", directory.file("out.mkv"), "-c:a", "pcm_s24le", "-f", "s24le", "-"]
        ).output
        #expect(bytes.count >= 3 * codes.count)
        for (index, code) in codes.enumerated() where 3 * index + 2 < bytes.count {
            let bits = UInt32(bytes[3 * index]) | UInt32(bytes[3 * index + 1]) << 8 | UInt32(bytes[3 * index + 2]) << 16
            let sample = Int32(bitPattern: bits << 8) >> 8
            guard sample == Int32(max(-1638, min(1638, code))) << 8 else {
                Issue.record("sample \(index) is \(sample), not \(max(-1638, min(1638, code))) * 256")
                return
            }
        }
    }

    /// Pan, a fade over seconds and a transition, heard in the file.
    @Test func slotsArePannedAndFadedAndTransitionsCrossfade() throws {
        let directory = try TemporaryDirectory()
        for (name, frequency) in [("a", 400), ("b", 1000)] {
            try Program.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "color=gray:size=64x36:rate=30:duration=4", "-f", "lavfi", "-i",
                    "aevalsrc=0.2*sin(2*PI*\(frequency)*t)|0.2*sin(2*PI*\(frequency)*t):sample_rate=48000:duration=4",
                    "-c:v", "mpeg4", "-c:a", "pcm_s16le", directory.file("\(name).mkv"),
                ])
        }
        let run = try GraphRun(
            """
            graph { fps = 30, size = "64x36" }
            local a, b = video { "a", file = "a.mkv" }, video { "b", file = "b.mkv" }
            local mix = mixer { "mix", size = "64x36" }
            mix.slots.left  = { source = a, pan = -1 }
            mix.slots.right = { source = b, pan = 1 }
            mix >> recorder { "mixed", file = "mixed.mkv", audioCodec = "pcm" }
            local fade = transition.fade { "fade", progress = 0 }
            { a, b } >> fade >> recorder { "faded", file = "faded.mkv", audioCodec = "pcm" }
            after(1, function()
              mix:transition("left", { gain = 0 }, 2)
              fade:ramp("progress", 1, 2, "linear")
            end)
            """, command: "render", directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        func level(_ samples: [Float], at second: Double, _ frequency: Int) -> Double {
            let start = Int(second * 48_000) - 1200
            return amplitude(samples[start..<start + 2400], frequency)
        }
        let mixed = try samples(directory.file("mixed.mkv"), channels: 2)
        #expect(abs(level(mixed[0], at: 0.5, 400) - 0.2) < 0.005 && level(mixed[1], at: 0.5, 400) < 0.005)
        #expect(abs(level(mixed[1], at: 0.5, 1000) - 0.2) < 0.005 && level(mixed[0], at: 0.5, 1000) < 0.005)
        let half = level(mixed[0], at: 2, 400)
        #expect(half > 0.05 && half < 0.15 && level(mixed[0], at: 3.5, 400) < 0.005, "\(half)")
        #expect(abs(level(mixed[1], at: 3.5, 1000) - 0.2) < 0.005)
        let faded = try samples(directory.file("faded.mkv"), channels: 2)[0]
        #expect(abs(level(faded, at: 0.5, 400) - 0.2) < 0.005 && level(faded, at: 0.5, 1000) < 0.005)
        for time in [1.5, 2, 2.5] {
            // The weights are (1 ± cos πp) / 2, a tick late at most.
            let weight = (1 - cos(Double.pi * (time - 1) / 2)) / 2
            #expect(abs(level(faded, at: time, 1000) - 0.2 * weight) < 0.012, "at \(time)")
            #expect(abs(level(faded, at: time, 400) - 0.2 * (1 - weight)) < 0.012, "at \(time)")
        }
        #expect(level(faded, at: 3.5, 400) < 0.005 && abs(level(faded, at: 3.5, 1000) - 0.2) < 0.005)
    }
}
