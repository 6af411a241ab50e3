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

    @Test("HLS: a live window of valid segments", arguments: ["ts", "fmp4"])
    func hls(segments: String) throws {
        let folder = try TemporaryDirectory()
        let playlist = folder.file("live 100%.m3u8")
        let sink = try makeSink(
            "publisher",
            [
                "url": .string(playlist), "speed": .string("ultrafast"), "keyframe": .number(1), "window": .number(4),
                "segments": .string(segments),
            ], isOffline: true)
        let feeder = try Feeder(sink, sound: false)
        try feeder.feed(count: 600)
        feeder.sink.finish()
        let text = String(decoding: try playlist.contentsOfFile(), as: UTF8.self)
        #expect(text.contains("#EXT-X-TARGETDURATION:1\n"))
        #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:16\n"))
        #expect(text.contains("#EXT-X-ENDLIST"))
        let durations = text.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }
        #expect(durations == Array(repeating: "#EXTINF:1.000000,", count: 4))
        let found = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".ts") || $0.hasSuffix(".m4s")
        }
        // As much again as is listed stays for players that are still reading it, and one segment more.
        #expect((8...9).contains(found.count), "\(found)")
        let times = try pictureTimes(playlist)
        #expect(times.count == 120)
        expectCadence(times, rate: FrameRate(30), tolerance: 0.0001)
        #expect(try probe(playlist, "stream=codec_name", stream: "a").first == "aac")
    }

    @Test(
        "while it is written each list and segment is valid, and a player misses nothing", arguments: ["ts", "fmp4"])
    func validThroughout(segments: String) throws {
        let folder = try TemporaryDirectory()
        let reports = Reports()
        let playlist = folder.file("live.m3u8")
        let sink = try makeSink(
            "publisher", Self.live.merging(["url": .string(playlist), "segments": .string(segments)]) { $1 },
            reports: reports)
        let feed = try LiveFeed(sink, flashes: true)
        try eventually("the playlist appears", within: 20) { access(playlist, R_OK) == 0 }
        let (server, port) = try serve(folder.path)
        let url = "http://127.0.0.1:\(port)/live.m3u8"
        let copy = try TemporaryDirectory()
        let player = try Program(
            "ffmpeg",
            [
                "-v", "error", "-y", "-live_start_index", "0", "-i", url, "-t", "8", "-map", "0", "-c", "copy",
                copy.file("got.mkv"),
            ])
        let watch = try PlaylistWatch(url, seconds: 10)
        let played = try player.waitForEnd(within: 30)
        // Of ten segments and more, three are listed, and as many kept for those who were told of them; one may be new.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.count { $0.hasSuffix(".ts") || $0.hasSuffix(".m4s") } <= 8, "\(files)")
        try feed.stop()
        server.signal(SIGKILL)
        #expect(reports.states == ["connecting", "live", "ended"])

        #expect(played.exitCode == 0 && played.errorText == "", "\(played.errorText)")
        let times = try pictureTimes(copy.file("got.mkv"))
        #expect(times.count >= 210)
        expectCadence(times, rate: FrameRate(30), tolerance: 0.0011)
        // A player that begins in the middle has no sound from before its first segment to decode the first click with.
        let offsets = try soundOffsets(copy.file("got.mkv")).dropFirst()
        #expect(offsets.count >= 5)
        for offset in offsets { #expect(abs(offset) < 0.005, "\(offset) s") }

        watch.expectConsistency()
        #expect(watch.segments.count >= 8)
        for segment in watch.segments {
            let file = try watch.file(segment)
            let flags = try probe(file, "packet=flags", stream: "v")
            #expect(flags.count == 30 && flags.first?.hasPrefix("K") == true, "\(segment.name): \(flags)")
            let decoded = try run("ffmpeg", ["-v", "error", "-i", file, "-f", "null", "-"])
            #expect(decoded.exitCode == 0 && decoded.errorText == "", "\(segment.name): \(decoded.errorText)")
        }
    }

    @Test(
        "groups of any length make segments whose target duration is right",
        arguments: [(0.1, "0.6"), (0.3, "0.6"), (0.5, "1"), (1, "1"), (1.2, "1.2"), (1.5, "1.5"), (2.5, "5")])
    func targetDurations(keyframe: Double, segment: String) throws {
        let folder = try TemporaryDirectory()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string(folder.file("a.m3u8")), "speed": .string("ultrafast"), "keyframe": .number(keyframe),
                "window": .number(0),
            ], isOffline: true)
        let feeder = try Feeder(sink, width: 64, height: 48, sound: false)
        try feeder.feed(count: 600)
        feeder.finish()
        let list = try MediaPlaylist(String(decoding: folder.file("a.m3u8").contentsOfFile(), as: UTF8.self))
        let wanted = try #require(Double(segment))
        #expect(list.segments.count == Int((20 / wanted).rounded(.up)))
        for part in list.segments.dropLast() { #expect(abs(part.duration - wanted) < 0.001, "\(part)") }
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
        let codecs = try ["high", "low"].map { try codecByTracer(folder.file("\($0).m3u8")) + ",MP4A.40.2" }
        #expect(
            text.uppercased()
                == """
                #EXTM3U
                #EXT-X-VERSION:6
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-STREAM-INF:BANDWIDTH=800800,AVERAGE-BANDWIDTH=728000,RESOLUTION=320x240,FRAME-RATE=30.000,\
                CODECS="\(codecs[0])"
                high.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=360800,AVERAGE-BANDWIDTH=328000,RESOLUTION=160x120,FRAME-RATE=30.000,\
                CODECS="\(codecs[1])"
                low.m3u8

                """.uppercased())
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
        server.signal(SIGKILL)
    }

    /// Profile, constraints and level of a stream's H.264, as FFmpeg's bitstream tracer reads them, in RFC 6381's form.
    private func codecByTracer(_ playlist: String) throws -> String {
        let text = try run(
            "ffmpeg",
            [
                "-live_start_index", "0", "-i", playlist, "-t", "1", "-map", "0:v", "-c", "copy", "-bsf:v",
                "trace_headers",
                "-f", "null", "-",
            ]
        ).errorText
        let set = try #require(text.range(of: "Sequence Parameter Set").map { text[$0.upperBound...] }, "\(text)")
        func bits(_ name: String) throws -> String {
            let line = try #require(set.split(separator: "\n").first { $0.contains(" \(name) ") }, "\(name)")
            return String(try #require(line.split(separator: " ").dropLast(2).last))
        }
        let flags = try (0...5).map { try bits("constraint_set\($0)_flag") }.joined() + "00"
        return try "AVC1."
            + [bits("profile_idc"), flags, bits("level_idc")].map {
                String(format: "%02X", try #require(Int($0, radix: 2)))
            }.joined()
    }

    /// Writes the codec of an MP4 header as RFC 6381 does, from its hvcC or av1C box.
    private static let codecOfBox = """
        import sys
        data = open(sys.argv[1], "rb").read()
        if b"hvcC" in data:
            assert b"hvc1" in data
            box = data[data.index(b"hvcC") + 4:]
            flags = int(format(int.from_bytes(box[2:6], "big"), "032b")[::-1], 2)
            rest = box[6:12].rstrip(b"\\0")
            print(f"hvc1.{['', 'A', 'B', 'C'][box[1] >> 6]}{box[1] & 31}.{flags:X}.{'LH'[box[1] >> 5 & 1]}{box[12]}"
                  + "".join(f".{b:X}" for b in rest))
        else:
            box = data[data.index(b"av1C") + 4:]
            print(f"av01.{box[1] >> 5}.{box[1] & 31:02d}{'MH'[box[2] >> 7]}.{[8, 10][box[2] >> 6 & 1]:02d}")
        """

    @Test(
        "the master names profile and level of every codec", arguments: ["h264", "h265", "av1"],
        [(128, 96), (640, 360)])
    func masterNamesCodecs(codec: String, size: (Int, Int)) throws {
        let folder = try TemporaryDirectory()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string(folder.file("a.m3u8")), "master": .string(folder.file("all.m3u8")),
                "codec": .string(codec),
                "segments": .string("fmp4"), "speed": .string("ultrafast"), "keyframe": .number(1),
            ], isOffline: true)
        let feeder = try Feeder(sink, width: size.0, height: size.1)
        try feeder.feed(count: 45)
        feeder.finish()
        let text = String(decoding: try folder.file("all.m3u8").contentsOfFile(), as: UTF8.self)
        let named = try #require(text.firstMatch(of: /CODECS="([^"]*),mp4a\.40\.2"/).map { String($0.1) }, "\(text)")
        let expected =
            codec == "h264"
            ? try codecByTracer(folder.file("a.m3u8"))
            : try Program.run("python3", ["-c", Self.codecOfBox, folder.file("a-init.mp4")]).text
                .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(codec == "h264" ? named.uppercased() == expected : named == expected)
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
            makeSink("publisher", options.merging(["url": .string(copy.file("live.m3u8"))]) { $1 }), flashes: true)
        try eventually("the list goes on", within: 20) {
            let text = String(decoding: try copy.file("live.m3u8").contentsOfFile(), as: UTF8.self)
            return try MediaPlaylist(text).segments.last?.name != before
        }
        let list = try MediaPlaylist(String(decoding: copy.file("live.m3u8").contentsOfFile(), as: UTF8.self))
        let mark = try #require(list.segments.firstIndex { $0.isDiscontinuous }, "\(list)")
        #expect(mark > 0 && list.segments[mark - 1].name == before, "\(list)")
        #expect(list.segments.count { $0.isDiscontinuous } == 1, "\(list)")
        let offset = try #require(try soundOffsets(copy.file(list.segments[mark].name)).first)
        #expect(abs(offset) < 0.005, "\(offset) s")
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
        try eventually("a new list", within: 20) {
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
