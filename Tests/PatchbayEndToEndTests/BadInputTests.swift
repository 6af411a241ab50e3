import Glibc
import PatchTesting
import Testing

/// Bad input gets one clear error with node and line, and an exit code; never a crash, never a hang.
@Suite struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var script: String
        var exitCode = 4
        /// All of these stand in the one error.
        var words: [String]
        var testDescription: String { name }
    }

    static let bars = "local bars = testPattern { \"bars\", kind = \"bars\", size = \"320x180\", fps = 30 }\n"

    static let beforeAir: [Case] = [
        Case(
            name: "missing camera",
            script: "camera { \"cam\", device = \"/dev/video99\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            words: ["graph.lua:1", "'cam'", "/dev/video99"]),
        Case(
            name: "missing file",
            script: "\nvideo { \"clip\", file = \"nowhere.mp4\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            words: ["graph.lua:2", "nowhere.mp4"]),
        Case(
            name: "empty file",
            script: "video { \"clip\", file = \"empty.mp4\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            words: ["graph.lua:1", "'clip'", "empty.mp4"]),
        Case(
            name: "text named mp4",
            script: "video { \"clip\", file = \"text.mp4\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            words: ["graph.lua:1", "'clip'", "text.mp4"]),
        Case(
            name: "text named png",
            script: "image { \"still\", file = \"text.png\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            words: ["graph.lua:1", "'still'", "text.png"]),
        Case(
            name: "unreachable stream",
            script:
                "stream { \"far\", url = \"rtmp://127.0.0.1:1/live/x\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            words: ["graph.lua:1", "'far'"]),
        Case(
            name: "unwritable path", script: bars + "bars >> recorder { \"rec\", file = \"text.mp4/out.mp4\" }",
            words: ["graph.lua:2", "'rec'"]),
        Case(
            name: "unknown container", script: bars + "bars >> recorder { \"rec\", file = \"out.xyz\" }", exitCode: 3,
            words: ["graph.lua:2", "'rec'", ".mp4"]),
        Case(
            name: "codec that the container cannot hold",
            script: bars + "bars >> recorder { \"rec\", file = \"out.mp4\", codec = \"prores\" }", exitCode: 3,
            words: ["graph.lua:2", "'rec'", "prores"]),
        Case(
            name: "unknown codec", script: bars + "bars >> recorder { \"rec\", file = \"out.mp4\", codec = \"h246\" }",
            exitCode: 3, words: ["graph.lua:2", "h264"]),
        Case(
            name: "unbound input", script: "input { \"guest\" } >> rawDataOutput { \"raw\", file = \"a.y4m\" }",
            exitCode: 3, words: ["graph.lua:1", "'guest'", "--bind guest="]),
        Case(
            name: "missing secret",
            script: bars + "bars >> publisher { \"live\", url = secret \"PATCHBAY_TEST_NO_SUCH\" }",
            words: ["graph.lua:2", "PATCHBAY_TEST_NO_SUCH"]),
        Case(name: "no graph file", script: "", words: ["missing.lua"]),
        Case(name: "syntax error", script: "local x = = 1", exitCode: 3, words: ["graph.lua:1"]),
        Case(name: "nothing to do", script: "local x = 1", exitCode: 3, words: ["graph.lua"]),
    ]

    @Test(arguments: beforeAir)
    func whatFailsBeforeGoingOnAirEndsTheRun(_ bad: Case) throws {
        let directory = try TemporaryDirectory()
        try directory.write("graph.lua", bad.script)
        try directory.write("empty.mp4", "")
        try directory.write("text.mp4", "This is no film.\n")
        try directory.write("text.png", "This is no picture.\n")
        let graph = bad.name == "no graph file" ? "missing.lua" : "graph.lua"
        let outcome = try Executable.run(
            ["run", graph, "--duration", "2"], timeout: 40, environment: ["DISPLAY": nil],
            directory: directory.path)
        #expect(outcome.exitCode == bad.exitCode, "\(outcome.errorText)")
        let errors = outcome.errorText.split(separator: "\n").filter { $0.hasPrefix("error: ") }
        #expect(errors.count == 1, "one error, not \(errors.count): \(outcome.errorText)")
        for word in bad.words { #expect(outcome.errorText.contains(word), "no '\(word)' in \(outcome.errorText)") }
    }

    @Test func aWrongStreamKeyIsRefusedWithoutShowingIt() throws {
        let server = try MediaServer(streamKey: "right-key-1234")
        let run = try GraphRun(
            Self.bars + "bars >> publisher { \"live\", url = secret \"PATCHBAY_STREAM\" }\n",
            arguments: ["--duration", "4"],
            environment: ["PATCHBAY_STREAM": server.url("wrong-key-9876", application: "guarded")])
        let outcome = try run.program.waitForEnd(within: 40)
        #expect(outcome.exitCode == 4, "\(outcome.text)\(outcome.errorText)")
        let all = outcome.text + outcome.errorText
        #expect(all.contains("'live'") || all.contains("\"node\": \"live\""), "\(all)")
        #expect(!all.contains("wrong-key-9876"), "the key is in the output:\n\(all)")
    }

    @Test func anUnreachableServiceLeavesTheRestOnAir() throws {
        let port = try Ports.freeTCP()
        let run = try GraphRun(
            Self.bars
                + "bars >> publisher { \"live\", url = \"rtmp://127.0.0.1:\(port)/live/x\" }\n"
                + "bars >> rawDataOutput { \"raw\", file = \"out.y4m\", container = \"y4m\" }\n",
            arguments: ["--duration", "3"])
        let outcome = try run.program.waitForEnd(within: 40)
        #expect(outcome.exitCode == 4, "\(outcome.text)")
        let all = outcome.text + outcome.errorText
        #expect(all.contains("graph.lua:2") || all.contains("\"line\": 2"), "\(all)")
    }

    /// Runs graph.lua for some seconds with files limited to `kilobytes`: what a full disk does, without one.
    private static func runOnASmallDisk(
        _ directory: TemporaryDirectory, kilobytes: Int, seconds: Int
    ) throws -> ProgramOutcome {
        let command = "ulimit -f \(kilobytes); exec \"$0\" \"$@\""
        let program = try Program(
            "bash", ["-c", command, Executable.path(), "run", "graph.lua", "--json", "--duration", "\(seconds)"],
            environment: ["DISPLAY": nil], directory: directory.path)
        return try program.waitForEnd(within: 40)
    }

    @Test func aFullDiskIsReportedAndLeavesWholeFrames() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua", Self.bars + "bars >> rawDataOutput { \"raw\", file = \"out.y4m\", container = \"y4m\" }\n")
        let outcome = try Self.runOnASmallDisk(directory, kilobytes: 500, seconds: 2)
        #expect(outcome.exitCode == 4, "\(outcome.text)")
        let problem = try #require(GraphRun.events(in: outcome.output).first { $0.event == "problem" })
        #expect(problem.error?.node == "raw" && problem.error?.line == 2)
        // 320x180 in 4:2:0 are 86,400 bytes, so five frames fit into 512,000.
        let reader = try Y4MReader(directory.file("out.y4m"))
        var count = 0
        while try reader.next() != nil { count += 1 }
        #expect(count == 5)
    }

    /// The disk fills up on air, by a limit on the size of files: the recorder reports, the rest goes on, and what
    /// was written stays playable.
    @Test func aDiskThatFillsUpOnAirStopsOnlyTheRecorder() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            """
            local clip = video { "clip", file = "clip.mp4", loop = true }
            clip >> recorder { "rec", file = "out.mkv", bitrate = 4000000 }
            clip >> rawDataOutput { "raw" }
            """)
        try Program.run("cp", [Fixtures.path(.bikes), directory.file("clip.mp4")])
        let outcome = try Self.runOnASmallDisk(directory, kilobytes: 512, seconds: 6)
        #expect(outcome.exitCode == 4, "\(outcome.text)\(outcome.errorText)")
        let events = GraphRun.events(in: outcome.output)
        let problems = events.filter { $0.event == "problem" && $0.error?.node == "rec" }
        #expect(problems.count == 1)
        #expect(problems.first?.error?.line == 2)
        let end = try #require(events.last?.statistics)
        #expect(end.ticks == 150)
        #expect(end.nodes.first { $0.node == "raw" }?.frames == 150)
        let frames = try FFprobe.report(directory.file("out.mkv"), counting: true).video?.nbReadFrames
        #expect((frames.flatMap { Int($0) } ?? 0) > 10)
    }
}
