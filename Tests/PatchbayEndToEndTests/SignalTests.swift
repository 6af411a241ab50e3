import Glibc
import PatchTesting
import Testing

/// How a run ends.
@Suite struct SignalTests {
    static let script = """
        local bars = testPattern { "bars", kind = "bars", size = "320x180", fps = 30 }
        bars >> recorder { "file", file = "out.mkv" }
        """

    @Test(arguments: [SIGINT, SIGTERM])
    func theFirstSignalFinishesTheFile(_ signal: Int32) throws {
        let run = try GraphRun(Self.script)
        try run.waitUntilOnAir()
        try run.waitForFrames(30, of: run.directory.file("out.mkv"))
        run.program.signal(signal)
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 130)
        let report = try FFprobe.report(run.directory.file("out.mkv"), counting: true)
        // A finished file has its duration in the header, and every frame that the engine made.
        #expect(report.format?.duration != nil)
        #expect(report.video?.nbReadFrames.flatMap { Int($0) } == statistics.ticks)
    }

    @Test func durationEndsExactly() throws {
        let run = try GraphRun(Self.script, arguments: ["--duration", "2"])
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0)
        #expect(statistics.ticks == 60)
        let frames = try FFprobe.frames(run.directory.file("out.mkv"))
        #expect(frames.count == 60)
        #expect(outcome.seconds < 6)
    }

    @Test func theSecondSignalEndsAtOnce() throws {
        // A reader that never reads: finishing has to wait for the FIFO, until the second Ctrl-C.
        let directory = try TemporaryDirectory()
        let fifo = directory.file("pipe")
        #expect(mkfifo(fifo, 0o600) == 0)
        let reader = open(fifo, O_RDWR)
        defer { close(reader) }
        let run = try GraphRun(
            """
            testPattern { "bars", kind = "bars", size = "1280x720", fps = 30 }
              >> rawDataOutput { "raw", file = "pipe", container = "y4m", policy = "block" }
            """, directory: directory)
        try run.waitUntilOnAir()
        run.program.signal(SIGINT)
        _ = try run.wait(for: "a note that it finishes") { $0.event == "note" }
        run.program.signal(SIGINT)
        #expect(try run.program.waitForEnd(within: 2).exitCode == 130)
    }
}

extension GraphRun {
    /// Waits until a file that is being written has bytes for about `count` frames: it grows with every cluster.
    func waitForFrames(_ count: Int, of file: String) throws {
        try eventually("\(file) grows", within: 20) {
            var status = stat()
            return stat(file, &status) == 0 && status.st_size > count * 50
        }
    }
}
