import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// HLS as a web server shows it.
@Suite("publisher, HLS", .serialized)
struct SinksHLSTests {
    private static let live: [String: OptionValue] = [
        "speed": .string("ultrafast"), "keyframe": .number(0.5), "window": .number(2),
    ]

    private func serve(_ folder: String) throws -> (program: Program, port: Int) {
        let port = try Ports.freeTCP()
        let server = try Program(
            "python3", ["-m", "http.server", "\(port)", "--bind", "127.0.0.1", "--directory", folder])
        try eventually("the web server listens") { Ports.accepts(port) }
        return (server, port)
    }

    @Test("renditions and their master play from a web server while they are written", arguments: ["ts", "fmp4"])
    func renditions(segments: String) throws {
        let folder = try TemporaryDirectory()
        let shared = SharedWork()
        func rendition(_ name: String, _ size: [Double], _ bitrate: Double) throws -> any MediaSink {
            try makeSink(
                "publisher",
                [
                    "url": .string(folder.file("\(name).m3u8")), "master": .string(folder.file("master.m3u8")),
                    "size": .vector(size), "bitrate": .number(bitrate), "segments": .string(segments),
                ].merging(Self.live) { a, _ in a }, shared: shared)
        }
        let feeds = [
            try LiveFeed(rendition("low", [160, 120], 200_000)), try LiveFeed(rendition("high", [320, 240], 600_000)),
        ]
        let master = folder.file("master.m3u8")
        try eventually("both renditions are listed", within: 10) {
            ((try? String(decoding: master.contentsOfFile(), as: UTF8.self)) ?? "").contains("low.m3u8")
                && access(folder.file("high.m3u8"), R_OK) == 0 && access(folder.file("low.m3u8"), R_OK) == 0
        }
        let text = String(decoding: try master.contentsOfFile(), as: UTF8.self)
        #expect(
            text == """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-STREAM-INF:BANDWIDTH=800800,AVERAGE-BANDWIDTH=728000,RESOLUTION=320x240,FRAME-RATE=30.000
                high.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=360800,AVERAGE-BANDWIDTH=328000,RESOLUTION=160x120,FRAME-RATE=30.000
                low.m3u8

                """)
        let (server, port) = try serve(folder.path)
        let played = try run(
            "ffmpeg",
            [
                "-v", "error", "-i", "http://127.0.0.1:\(port)/master.m3u8", "-t", "4", "-map", "0:v", "-f", "null",
                "-",
            ])
        #expect(played.exitCode == 0 && played.errorText == "", "\(played.errorText)")
        let seen = try probe(
            "http://127.0.0.1:\(port)/master.m3u8", "stream=width,height", stream: "v")
        let sizes = stride(from: 0, to: seen.count - 1, by: 2).map { "\(seen[$0])x\(seen[$0 + 1])" }
        #expect(Set(sizes) == Set(["320x240", "160x120"]))
        // Each listed segment is there and decodes by itself.
        let list = String(decoding: try folder.file("high.m3u8").contentsOfFile(), as: UTF8.self)
        for name in list.split(separator: "\n") where !name.hasPrefix("#") && segments == "ts" {
            let decoded = try run("ffmpeg", ["-v", "error", "-i", folder.file(String(name)), "-f", "null", "-"])
            #expect(decoded.exitCode == 0 && decoded.errorText == "", "\(name): \(decoded.errorText)")
        }
        for feed in feeds { try feed.stop() }
        // The window: four segments, one more for those who still read it.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.count { $0.hasPrefix("high-") && !$0.hasSuffix(".mp4") } <= 6, "\(files)")
        server.signal(SIGKILL)
    }

    @Test("a run that was killed is followed by the next one, after a mark of discontinuity")
    func restart() throws {
        let folder = try TemporaryDirectory()
        let playlist = folder.file("live.m3u8")
        let options = Self.live.merging(["url": .string(playlist), "window": .number(4)]) { $1 }
        let first = try LiveFeed(makeSink("publisher", options))
        usleep(2_600_000)
        // What a killed process leaves: the list without an end.
        let copy = try TemporaryDirectory()
        try Program.run("cp", ["-r", folder.path + "/.", copy.path])
        try first.stop()
        let before = try #require(try lastSegment(copy.file("live.m3u8")))
        let second = try LiveFeed(
            makeSink("publisher", options.merging(["url": .string(copy.file("live.m3u8"))]) { $1 }))
        usleep(1_800_000)
        let text = String(decoding: try copy.file("live.m3u8").contentsOfFile(), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let mark = try #require(lines.firstIndex(of: "#EXT-X-DISCONTINUITY"), "\(text)")
        #expect(lines[..<mark].last == before, "\(text)")
        #expect(lines.last.map { $0 > before } == true, "\(text)")
        let played = try run(
            "ffmpeg",
            [
                "-v", "error", "-live_start_index", "0", "-i", copy.file("live.m3u8"), "-t", "3", "-map", "0:v", "-f",
                "null", "-",
            ])
        #expect(played.exitCode == 0, "\(played.errorText)")
        try second.stop()

        // A list that was finished is followed by a new one, and its segments are gone.
        let third = try LiveFeed(
            makeSink("publisher", options.merging(["url": .string(copy.file("live.m3u8"))]) { $1 }))
        try eventually("a new list", within: 10) {
            let text = String(decoding: try copy.file("live.m3u8").contentsOfFile(), as: UTF8.self)
            return text.contains("#EXT-X-MEDIA-SEQUENCE:0\n") && !text.contains("ENDLIST")
        }
        #expect(access(copy.file(before), F_OK) != 0)
        try third.stop()
    }

    private func lastSegment(_ playlist: String) throws -> String? {
        String(decoding: try playlist.contentsOfFile(), as: UTF8.self).split(separator: "\n").last {
            !$0.hasPrefix("#")
        }
        .map(String.init)
    }
}
