import Glibc
import PatchTesting
import Testing

/// Files survive what happens to processes.
@Suite struct RecordingTests {
    @Test(arguments: ["mkv", "mp4", "ts"])
    func aKilledRecordingIsPlayable(_ suffix: String) throws {
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bigBuckBunny), directory.file("clip.mp4")])
        let run = try GraphRun(
            """
            video { "clip", file = "clip.mp4", loop = true }
              >> filter.saturation { saturation = 1.2 } >> recorder { "rec", file = "out.\(suffix)", size = "640x360" }
            """, directory: directory)
        try run.waitUntilOnAir()
        let file = directory.file("out.\(suffix)")
        // Until a few seconds must be on the disk.
        try eventually("the recording grows", within: 30) {
            var status = stat()
            return stat(file, &status) == 0 && status.st_size > 300_000
        }
        run.program.signal(SIGKILL)
        #expect(try run.program.waitForEnd(within: 5).signal == Int(SIGKILL))

        let report = try FFprobe.report(file, counting: true)
        #expect(report.video?.width == 640)
        let frames = report.video?.nbReadFrames.flatMap { Int($0) } ?? 0
        #expect(frames >= 25, "only \(frames) frames survived")
        #expect(report.audio != nil)
        // The pictures are whole: ffmpeg finds no error but, at most, in the last packet.
        let decoded = try Program.run(
            "ffmpeg", ["-v", "error", "-nostdin", "-i", file, "-map", "0:v", "-f", "null", "-"], mayFail: true)
        #expect(decoded.errorText.split(separator: "\n").count <= 3, "\(decoded.errorText)")
    }

    /// `render` loses nothing: every frame of the clip, in order, once.
    @Test func renderKeepsEveryFrame() throws {
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.carphone), directory.file("clip.mp4")])
        let run = try GraphRun(
            """
            local clip = video { "clip", file = "clip.mp4" }
            clip >> rawDataOutput { "raw", file = "out.y4m", container = "y4m", format = "yuv420p" }
            clip >> recorder { "rec", file = "out.mkv" }
            """, command: "render", directory: directory)
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        #expect(statistics.ticks == 120)
        // Nothing changes the picture, so what comes out are the decoder's own bytes.
        #expect(try FrameChecksums.md5(directory.file("out.y4m")) == FrameChecksums.md5(directory.file("clip.mp4")))
        let report = try FFprobe.report(directory.file("out.mkv"), counting: true)
        #expect(report.video?.nbReadFrames == "120")
        #expect(report.video?.avgFrameRate == "30000/1001")
    }

    /// Nothing draws a bar into a pipe, and standard output stays clean for data.
    @Test func rawFramesGoThroughAPipe() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            """
            testPattern { "bars", kind = "bars", size = "64x48", fps = 25 }
              >> rawDataOutput { "raw", file = "-", format = "rgba" }
            """)
        let outcome = try Executable.run(["render", "graph.lua", "--duration", "1"], directory: directory.path)
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        #expect(outcome.output.count == 25 * 64 * 48 * 4)
        #expect(!outcome.errorText.contains("\r") && !outcome.errorText.contains("["), "\(outcome.errorText)")
    }

    /// A terminal gets a bar; script(1) makes one.
    @Test func renderShowsABarOnATerminal() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            """
            testPattern { "bars", kind = "bars", size = "1280x720", fps = 30 } >> recorder { "rec", file = "out.mkv" }
            """)
        let command = try "\(Executable.path()) render graph.lua --duration 10"
        let outcome = try Program.run(
            "script", ["-qec", command, "/dev/null"], environment: ["TERM": "xterm"], directory: directory.path)
        #expect(outcome.text.contains(" %  "), "\(outcome.text)")
        #expect(outcome.text.contains("/300 frames"), "\(outcome.text)")
        #expect(try FFprobe.report(directory.file("out.mkv"), counting: true).video?.nbReadFrames == "300")
    }
}
