import Foundation
import PatchTesting
import Testing

/// Sound through the program, from a graph file to a file that ffmpeg measures.
@Suite struct SoundTests {
    /// What ffmpeg's ebur128 says of a file, after filters.
    private struct Measure {
        var integrated: Double
        var truePeak: Double

        init(_ file: String, filters: String = "anull") throws {
            let text = try Program.run(
                "ffmpeg", ["-nostats", "-i", file, "-vn", "-af", "\(filters),ebur128=peak=true", "-f", "null", "-"]
            ).errorText
            let summary = try #require(text.range(of: "Summary:").map { text[$0.upperBound...] })
            func number(_ label: String) throws -> Double {
                let line = try #require(summary.split(separator: "\n").first { $0.contains(label) })
                return try #require(Double(line.split(separator: " ").dropFirst().first ?? ""))
            }
            integrated = try number(" I: ")
            truePeak = try number("Peak:")
        }
    }

    /// One number of ffmpeg's astats.
    private func statistic(_ name: String, of file: String, filters: String = "anull") throws -> Double {
        let text = try Program.run(
            "ffmpeg", ["-nostats", "-i", file, "-vn", "-af", "\(filters),astats", "-f", "null", "-"]
        ).errorText
        let line = try #require(text.split(separator: "\n").last { $0.contains(name) }, "\(text)")
        return try #require(Double(line.split(separator: " ").last ?? ""))
    }

    /// Noise that swells and falls, at another rate than the graph's, in any number of channels.
    private func noise(_ file: String, rate: Int, channels: Int, seconds: Int = 6) throws {
        let one = "anoisesrc=color=pink:seed=7:amplitude=0.9:sample_rate=\(rate):duration=\(seconds)"
        let layout = channels == 6 ? "5.1" : channels == 2 ? "stereo" : "mono"
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i",
                "\(one),volume='0.25+0.7*mod(floor(t),2)':eval=frame,aformat=channel_layouts=\(layout)", file,
            ])
    }

    /// Mono goes to stereo at −3 dB a side and 5.1 by BS.775, so that R 128 measures the same before and after; all at 48 kHz.
    @Test(arguments: [(48_000, 2), (44_100, 1), (96_000, 6)])
    func aChainIsAsLoudInTheFileAsFFmpegMakesIt(_ rate: Int, _ channels: Int) throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("noise.wav")
        try noise(file, rate: rate, channels: channels)
        let run = try GraphRun(
            """
            video { "clip", file = "noise.wav" } >> audio.compressor { "soft", threshold = -24, ratio = 4, makeup = 6 }
              >> audio.equalizer { lowCut = 100, presence = 4 } >> audio.limiter { "limit", ceiling = -6 }
              >> audio.meter { "meter" } >> recorder { "rec", file = "out.mkv", audioBitrate = 320000 }
            """, command: "render", directory: directory)
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        // Sources give stereo at most unless the graph says otherwise; not divided by the sum of what is mixed.
        let mixed = "aresample=48000" + (channels == 6 ? ":out_chlayout=stereo:rematrix_maxval=1000" : "")
        let chain =
            ",acompressor=threshold=\(pow(10, -24.0 / 20)):ratio=4:makeup=\(pow(10, 6.0 / 20)):knee=\(pow(10, 9.0 / 20)),"
            + "highpass=f=100,equalizer=f=3000:t=q:w=1:g=4,alimiter=level=0:limit=\(pow(10, -6.0 / 20))"
        let expected = try Measure(file, filters: mixed + chain)
        let made = try Measure(directory.file("out.mkv"))
        #expect(abs(made.integrated - expected.integrated) < 0.5, "\(made), not \(expected)")
        // What a lossy codec adds to peaks.
        #expect(made.truePeak < -4.5, "\(made)")
        let length = try statistic("Number of samples", of: directory.file("out.mkv"))
        #expect(abs(length - 6 * 48_000) < 4_800)
        // What the meter in the graph and the recorder's own say at the end is what ffmpeg measures of the file.
        for node in ["meter", "rec"] {
            let loudness = try #require(statistics.nodes.first { $0.node == node }?.loudness, "\(node)")
            #expect(abs((loudness.integrated ?? 0) - made.integrated) < 0.3, "\(node): \(loudness), not \(made)")
            #expect((loudness.truePeak ?? 0) < -2.5 && (loudness.momentary ?? 0) < 0 && (loudness.shortTerm ?? 0) < 0)
        }
    }

    /// A slot that is turned down by a transition, and a kernel, heard in the file.
    @Test func slotsAndKernelsAreHeardInTheFile() throws {
        let directory = try TemporaryDirectory()
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x36:rate=25:duration=4", "-f", "lavfi", "-i",
                "sine=frequency=1000:sample_rate=48000:duration=4,volume=12dB", "-c:v", "mpeg4", "-c:a", "pcm_s16le",
                directory.file("clip.mkv"),
            ])
        let run = try GraphRun(
            """
            local clip = video { "clip", file = "clip.mkv" }
            local mix = mixer { "mix", size = "64x36" }
            mix.slots.only = { source = clip, gain = 0.5 }
            local half = audio.kernel { sample = function(s, p) return s * 0.5 end }
            mix.audio >> half >> recorder { "low", file = "low.mkv" }
            mix >> recorder { "full", file = "full.mkv" }
            after(2, function() mix.slots.only.mute = true end)
            """, command: "render", directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        func level(_ file: String, _ from: Double, _ to: Double) throws -> Double {
            try statistic("RMS level dB", of: directory.file(file), filters: "atrim=\(from):\(to)")
        }
        let source = try level("clip.mkv", 0.5, 1.5)
        // The clip is mono: 3 dB softer in each of left and right.
        #expect(abs(try level("full.mkv", 0.5, 1.5) - source + 3.01 + 6.02) < 0.2)
        #expect(abs(try level("low.mkv", 0.5, 1.5) - source + 3.01 + 12.04) < 0.2)
        let after = try statistic("Peak level dB", of: directory.file("full.mkv"), filters: "atrim=2.5:3.5")
        #expect(after < -80 || after.isInfinite)
    }

    @Test func aMeterTellsTheScriptWhatFFmpegMeasures() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("noise.wav")
        try noise(file, rate: 48_000, channels: 2)
        let run = try GraphRun(
            """
            local meter, last = audio.meter { "meter" }, nil
            local clip = video { "clip", file = "noise.wav" }
            clip.audio >> recorder { "rec", file = "out.mkv" }
            clip.audio >> meter
            meter:onData(function(d) last = d end)
            after(5.5, function() log(string.format("%.2f %.2f", last.integrated, last.truePeak)) end)
            """, command: "render", directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        let text = try #require(run.events.first { $0.event == "log" }?.text)
        let numbers = text.split(separator: " ").compactMap { Double($0) }
        let expected = try Measure(file)
        #expect(numbers.count == 2)
        #expect(abs(numbers[0] - expected.integrated) < 0.5, "\(text), \(expected)")
        #expect(abs(numbers[1] - expected.truePeak) < 0.5, "\(text), \(expected)")
    }

    /// A PulseAudio server with an output that plays a tone to nobody; its monitor is a source.
    private func pulse(_ directory: TemporaryDirectory) throws -> (Program, String) {
        let socket = directory.file("pulse.socket")
        let server = try Program(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes", "-L",
                "module-native-protocol-unix socket=\(socket) auth-anonymous=1", "-L",
                "module-null-sink sink_name=hall rate=48000", "-L", "module-sine sink=hall frequency=440",
            ], environment: ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "DISPLAY": nil])
        try eventually("the server listens", within: 20) { FileManager.default.fileExists(atPath: socket) }
        return (server, "unix:" + socket)
    }

    /// PulseAudio's own way, and the one by ALSA's plugin for it.
    @Test(arguments: ["pulse", "alsa"]) func aMicrophoneIsHeard(_ system: String) throws {
        let directory = try TemporaryDirectory()
        let (server, address) = try pulse(directory)
        defer { server.signal(SIGKILL) }
        let devices = try Executable.run(["devices"], environment: ["PULSE_SERVER": address, "DISPLAY": nil])
        #expect(devices.text.contains("hall.monitor"), "\(devices.text)")
        try directory.write("asound.conf", "pcm.hall { type pulse device hall.monitor }\n")
        let run = try GraphRun(
            """
            microphone { "mic", device = "\(system == "alsa" ? "hall" : "hall.monitor")", system = "\(system)" }
              >> audio.gain { db = -6 } >> recorder { "rec", file = "out.mkv" }
            """, arguments: ["--duration", "6"],
            environment: ["PULSE_SERVER": address, "ALSA_CONFIG_PATH": directory.file("asound.conf")],
            directory: directory)
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        #expect((statistics.nodes.first { $0.node == "rec" }?.loudness?.integrated ?? -100) > -40)
        let file = directory.file("out.mkv")
        // The tone crosses zero 880 times a second, but for holes where this machine was too busy.
        let rate = try statistic("Zero crossings rate", of: file, filters: "atrim=1:5")
        #expect(abs(rate - 880.0 / 48_000) < 0.1 * 880 / 48_000, "\(rate)")
        #expect(try statistic("RMS level dB", of: file, filters: "atrim=1:5") > -25)
    }

    /// The server goes away on air, and comes back.
    @Test func aMicrophoneThatIsLostIsAnEventThatNamesIt() throws {
        let directory = try TemporaryDirectory()
        let (server, address) = try pulse(directory)
        defer { server.signal(SIGKILL) }
        let run = try GraphRun(
            """
            local mic = microphone { "mic", device = "hall.monitor", system = "pulse" }
            mic >> recorder { "rec", file = "out.mkv" }
            mic:onLost(function(why) log("lost: " .. why) end)
            mic:onBack(function() log("back") end)
            """, environment: ["PULSE_SERVER": address], directory: directory)
        try run.waitUntilOnAir()
        server.signal(SIGKILL)
        let lost = try run.wait(for: "the loss") { $0.event == "lost" }.event.error
        #expect(lost?.node == "mic" && lost?.message.contains("microphone 'hall.monitor'") == true)
        #expect(lost?.remedy?.contains("patchbay devices") == true)
        _ = try run.wait(for: "the script's onLost") { $0.text?.hasPrefix("lost: ") == true }
        let (again, _) = try pulse(directory)
        defer { again.signal(SIGKILL) }
        _ = try run.wait(for: "the script's onBack") { $0.text == "back" }
        _ = try run.interrupt()
    }

    @Test(arguments: ["alsa", "pulse"])
    func aMicrophoneThatIsNotThereIsAnErrorThatNamesIt(_ system: String) throws {
        let run = try GraphRun(
            """
            local view = recorder { "rec", file = "out.mkv" }
            microphone { "mic", device = "hw:77,0", system = "\(system)" } >> view
            """, arguments: ["--duration", "1"], environment: ["PULSE_SERVER": "unix:/nowhere"])
        let outcome = try run.program.waitForEnd(within: 30)
        #expect(outcome.exitCode != 0)
        let error = try #require(run.events.compactMap(\.error).first)
        #expect(error.node == "mic" && error.line == 2, "\(error)")
        #expect(error.message.contains("microphone 'hw:77,0'"))
        #expect(error.remedy?.contains("patchbay devices") == true)
    }

    /// One that may be absent is lost at once, and nothing else waits for it.
    @Test func aMicrophoneWithAPolicyMayBeAbsent() throws {
        let run = try GraphRun(
            """
            graph { fps = 30 }
            testPattern { "bars", kind = "bars", size = "64x36" } >> recorder { "rec", file = "out.mkv" }
            microphone { "mic", device = "hw:77,0", system = "alsa", policy = "hold" } >> audio.meter { "m" }
            """, arguments: ["--duration", "1"])
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        let error = try #require(run.events.first { $0.event == "lost" }?.error)
        #expect(error.node == "mic" && error.message.contains("microphone 'hw:77,0'"))
        #expect(error.remedy?.contains("patchbay devices") == true)
        #expect(statistics.nodes.first { $0.node == "rec" }?.frames == 30)
    }
}
