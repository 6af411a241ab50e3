import Glibc
import PatchTesting
import Testing

/// The helpers themselves: a broken helper would make other tests pass for nothing.
@Suite struct ToolsTests {
    @Test func programsGiveTheirOutputAndExitCode() throws {
        let outcome = try Program.run("sh", ["-c", "echo out; echo err >&2; exit 3"], mayFail: true)
        #expect(outcome.text == "out\n")
        #expect(outcome.errorText == "err\n")
        #expect(outcome.exitCode == 3)
        #expect(throws: TestProblem.self) { try Program.run("false", []) }
        #expect(throws: TestProblem.self) { try Program.run("no-such-program-here", []) }
    }

    @Test func aProgramThatHangsIsKilledWithItsChildren() throws {
        let program = try Program("sh", ["-c", "sleep 987 & echo ready; wait"])
        try program.waitForOutput("ready")
        #expect(throws: TestProblem.self) { try program.waitForEnd(within: 0.1) }
        #expect(try program.waitForEnd(within: 1).signal == Int(SIGKILL))
        try eventually("the child is gone") { kill(-program.processID, 0) != 0 }
    }

    @Test func allClipsAreThere() throws {
        for clip in Fixtures.Clip.allCases { _ = try Fixtures.path(clip) }
        let report = try FFprobe.report(Fixtures.path(.bigBuckBunny), counting: true)
        #expect(report.video?.width == 1280)
        #expect(report.video?.nbReadFrames == "132")
        #expect(report.audio?.codecName == "aac")
    }

    @Test func temporaryDirectoriesGoAway() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let file = try directory?.write("below/it.txt", "text") ?? ""
        #expect(try file.contentsOfFile() == Array("text".utf8))
        directory = nil
        #expect(access(file, F_OK) != 0)
    }

    @Test func frameChecksumsSeeOneChangedPixel() throws {
        let directory = try TemporaryDirectory()
        // Two frames of 2x2 RGB: black, then black with one red pixel.
        let black = [UInt8](repeating: 0, count: 12)
        var red = black
        red[0] = 255
        let raw = try directory.write("two.rgb", bytes: black + red)
        let movie = directory.file("two.nut")
        try Program.run(
            "ffmpeg",
            ["-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "2x2", "-i", raw, "-c:v", "rawvideo", movie])
        let sums = try FrameChecksums.md5(movie)
        // `head -c 12 /dev/zero | md5sum`
        #expect(sums.first == "8dd6bb7329a71449b0a1b292b5999164")
        #expect(sums.count == 2 && sums[0] != sums[1])
        #expect(try DecodedVideo(movie).frames == [black, red])
        // FNV-1a's published test vector.
        #expect(FrameChecksums.fnv1a("foobar".utf8) == 0x8594_4171_f739_67e8)
    }

    @Test func theMediaServerTakesAndGivesAStream() throws {
        let server = try MediaServer(streamKey: "secret")
        let clip = try Fixtures.path(.bikes)
        let publish = ["-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy", "-f", "flv"]
        let publisher = try Program("ffmpeg", publish + [server.url("a")])
        let report = try FFprobe.report(server.url("a"), timeout: 20)
        #expect(report.video?.width == 640)
        #expect(report.video?.codecName == "h264")
        publisher.signal(SIGTERM)

        let refused = try Program.run(
            "ffmpeg", publish + [server.url("wrong", application: "guarded")], timeout: 20, mayFail: true)
        #expect(refused.exitCode != 0)
        let taken = try Program("ffmpeg", publish + [server.url("secret", application: "guarded")])
        #expect(try FFprobe.report(server.url("secret", application: "guarded"), timeout: 20).video?.height == 272)
        taken.signal(SIGTERM)
        server.stop()
        #expect(!Ports.accepts(server.port))
        try server.start()
        #expect(Ports.accepts(server.port))
    }

    @Test func theVirtualScreenShowsWhatIsPainted() throws {
        let screen = try VirtualScreen(width: 64, height: 48)
        try screen.paint("#ff8001")
        let picture = try screen.screenshot()
        #expect(picture.count == 64 * 48 * 3)
        #expect(Array(picture.prefix(3)) == [0xff, 0x80, 0x01])
        #expect(Array(picture.suffix(3)) == [0xff, 0x80, 0x01])
    }
}
