import Foundation
import PatchTesting
import Testing

/// The graphs that the package ships are what people try first.
@Suite struct GraphsTests {
    static func graphs() throws -> [String] {
        let folder = try Fixtures.package("graphs")
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".lua") }.sorted()
    }

    @Test func everyGraphPassesTheCheck() throws {
        let clip = try Fixtures.path(.bigBuckBunny)
        let graphs = try Self.graphs()
        #expect(graphs.contains("beautify.lua"))
        for graph in graphs {
            let outcome = try Executable.run(
                ["check", "graphs/\(graph)", "--bind", "cam=\(clip)", "--bind", "clip=\(clip)"],
                environment: ["PATCHBAY_URL": "rtmp://127.0.0.1/live/key"], directory: Fixtures.packageRoot)
            #expect(outcome.exitCode == 0, "\(graph): \(outcome.errorText)")
            #expect(!outcome.text.contains("rtmp://127.0.0.1/live/key"), "\(graph) shows the stream key")
        }
    }

    /// What scripts/demo does, without the build: the recording, the playlist and the still come out.
    @Test func theDemoLeavesARecordingAPlaylistAndAStill() throws {
        let directory = try TemporaryDirectory()
        let outcome = try Executable.run(
            [
                "run", Fixtures.package("graphs/beautify.lua"), "--bind", "cam=\(Fixtures.path(.bigBuckBunny))",
                "--duration", "5",
            ], timeout: 60, environment: ["DISPLAY": nil, "PATCHBAY_URL": nil], directory: directory.path)
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        let recording = try FFprobe.report(directory.file("out/beautify.mkv"), counting: true)
        #expect((recording.video?.nbReadFrames.flatMap { Int($0) } ?? 0) >= 100)
        #expect(recording.audio != nil)
        let playlist = try FFprobe.report(directory.file("out/hls/live.m3u8"))
        #expect(playlist.video?.codecName == "h264")
        let still = try FFprobe.report(directory.file("out/still.png"))
        #expect(still.video?.codecName == "png")
        #expect(still.video?.width == recording.video?.width)
    }

    /// The broadcast example's switch, off and on again, as its key and its toggle do it.
    @Test func theDemosSwitchWorksBothWays() throws {
        let directory = try TemporaryDirectory()
        let script = String(decoding: try Fixtures.package("graphs/beautify.lua").contentsOfFile(), as: UTF8.self)
        let run = try GraphRun(
            script + """

                after(0.5, function() enabled.value = false; log("off") end)
                after(1.0, function() enabled.value = true; log("on") end)
                """,
            arguments: ["--bind", "cam=\(Fixtures.path(.bikes))", "--duration", "2"], directory: directory)
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0)
        let errors = run.events.filter { $0.event == "scriptError" }
        #expect(errors.isEmpty, "\(errors)")
        #expect(run.events.filter { $0.event == "log" }.compactMap(\.text) == ["off", "on"])
        #expect(run.events.filter { $0.event == "onAir" }.count == 3)
        let raw = try #require(statistics.nodes.first { $0.node == "raw" })
        #expect(raw.frames + raw.drops == statistics.ticks)
    }
}
