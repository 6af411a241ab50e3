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
}
