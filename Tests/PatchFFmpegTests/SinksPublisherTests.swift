import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

@Suite("publisher", .serialized)
struct SinksPublisherTests {
    @Test("RTMP to nginx: codec, size, cadence, sound in sync")
    func rtmp() throws {
        let server = try MediaServer()
        let folder = try TemporaryDirectory()
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string(server.url()), "preset": .string("basic-landscape"), "speed": .string("ultrafast"),
                "keyframe": .number(0.5),
            ],
            reports: reports)
        let feed = try LiveFeed(sink, flashes: true)
        #expect(reports.waitForState("live", seconds: 10))
        let copy = folder.file("pulled.flv")
        try Program.run(
            "ffmpeg", ["-v", "error", "-analyzeduration", "1M", "-i", server.url(), "-t", "4", "-c", "copy", copy],
            timeout: 30)
        try feed.stop()
        #expect(reports.states == ["connecting", "live", "ended"])
        #expect(try probe(copy, "stream=codec_name,width,height", stream: "v") == ["h264", "852", "480"])
        #expect(try probe(copy, "stream=codec_name,sample_rate", stream: "a") == ["aac", "48000"])
        let times = try pictureTimes(copy)
        #expect(times.count >= 100)
        expectCadence(times, rate: FrameRate(30), tolerance: 0.0015)
        let offsets = try soundOffsets(copy)
        #expect(offsets.count >= 3)
        for offset in offsets { #expect(abs(offset) < 0.040, "sound is off by \(offset) s") }
        #expect(reports.problems.isEmpty)
    }

    @Test("without sound RTMP gets a silent track")
    func silentTrack() throws {
        let server = try MediaServer()
        let folder = try TemporaryDirectory()
        let reports = Reports()
        let sink = try makeSink(
            "publisher", ["url": .string(server.url("mute")), "speed": .string("ultrafast"), "keyframe": .number(0.5)],
            reports: reports)
        let feed = try LiveFeed(sink, sound: false)
        #expect(reports.waitForState("live", seconds: 10))
        let copy = folder.file("pulled.flv")
        try Program.run(
            "ffmpeg",
            ["-v", "error", "-analyzeduration", "1M", "-i", server.url("mute"), "-t", "2", "-c", "copy", copy],
            timeout: 30)
        try feed.stop()
        let volume = try run("ffmpeg", ["-i", copy, "-map", "0:a", "-af", "volumedetect", "-f", "null", "-"])
        #expect(volume.errorText.contains("max_volume: -91.0 dB"))
    }

    @Test("a server that dies and comes back: retrying, then live again, from a keyframe")
    func reconnects() throws {
        let server = try MediaServer()
        let folder = try TemporaryDirectory()
        let reports = Reports()
        let sink = try makeSink(
            "publisher", ["url": .string(server.url()), "speed": .string("ultrafast"), "keyframe": .number(1)],
            reports: reports)
        let feed = try LiveFeed(sink)
        #expect(reports.waitForState("live", seconds: 10))
        server.crash()
        #expect(reports.waitForState("retrying", seconds: 10))
        let seen = reports.all.count
        try server.start()
        #expect(reports.waitForState("live", after: seen, seconds: 20))
        let copy = folder.file("pulled.flv")
        try Program.run(
            "ffmpeg", ["-v", "error", "-analyzeduration", "1M", "-i", server.url(), "-t", "2", "-c", "copy", copy],
            timeout: 30)
        try feed.stop()
        #expect(reports.states == ["connecting", "live", "retrying", "live", "ended"])
        expectCadence(try pictureTimes(copy), rate: FrameRate(30), tolerance: 0.0015)
        // Once that the connection broke and, if an attempt came too early, once that nobody answers: not at each attempt.
        #expect((1...2).contains(reports.problems.count))
        #expect(reports.problems.allSatisfy { $0.code == .network })
        #expect(feed.longestCall.load(ordering: .relaxed) < 500_000_000)
    }

    @Test("a new connection starts with a keyframe made for it, and time goes on")
    func resumesAtKeyframe() throws {
        let peer = try Listener()
        let folder = try TemporaryDirectory()
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string("tcp://127.0.0.1:\(peer.port)"), "speed": .string("ultrafast"), "keyframe": .number(30),
            ], reports: reports)
        let feed = try LiveFeed(sink)
        var files: [String] = []
        for part in 0...1 {
            try peer.accept()
            let file = folder.file("part\(part).ts")
            try Data(peer.read(atLeast: 60_000)).write(to: URL(fileURLWithPath: file))
            peer.drop()
            files.append(file)
        }
        try peer.accept()
        _ = try PosixThread(name: "read") { peer.readAll { _ in } }
        try feed.stop()
        let first = try pictureTimes(files[0])
        let second = try pictureTimes(files[1])
        #expect(try #require(second.first) > #require(first.last))
        // The interval alone would bring the next keyframe after 30 s.
        #expect(try probe(files[1], "packet=flags", stream: "v").first?.hasPrefix("K") == true)
        expectCadence(second, rate: FrameRate(30), tolerance: 0.0001)
        #expect(reports.states.starts(with: ["connecting", "live", "retrying", "live"]))
    }

    @Test("errors before going on air say what is wrong and never show the key")
    func refusals() throws {
        let port = try Ports.freeTCP()
        let secret = Secret(
            value: "rtmp://127.0.0.1:\(port)/live/sekrit-key", redacted: "rtmp://127.0.0.1:\(port)/live/<secret KEY>")
        let reports = Reports()
        let refused = #expect(throws: PatchError.self) {
            try Feeder(makeSink("publisher", ["url": .secret(secret)], reports: reports))
        }
        #expect(refused?.code == .network)
        #expect(refused?.message == "cannot connect to rtmp://127.0.0.1:\(port)/live/<secret KEY>")
        #expect(refused?.cause == "Connection refused")
        #expect(refused?.remedy == "start the server, or check its address and port")
        #expect(reports.states == ["connecting", "failed"])

        // What the log says more than the code stays, as long as no word of the secret is in it.
        let unknown = #expect(throws: PatchError.self) {
            try Feeder(
                makeSink(
                    "publisher",
                    [
                        "url": .secret(
                            Secret(
                                value: "rtmp://no-such-host.invalid/live/sekrit",
                                redacted: "rtmp://no-such-host.invalid/live/<secret KEY>"))
                    ]))
        }
        #expect(
            unknown?.cause?.hasPrefix("Failed to resolve hostname no-such-host.invalid") == true,
            "\(unknown?.description ?? "")")

        let server = try MediaServer(streamKey: "right-key")
        let wrong = Secret(
            value: server.url("wrong-key", application: "guarded"),
            redacted: server.url("<secret KEY>", application: "guarded"))
        let rejected = #expect(throws: PatchError.self) {
            try Feeder(makeSink("publisher", ["url": .secret(wrong)], reports: reports))
        }
        #expect(rejected?.code == .network)
        for text in [refused?.description ?? "", rejected?.description ?? "", "\(reports.all)"] {
            #expect(!text.contains("sekrit") && !text.contains("wrong-key"), "\(text)")
        }
        for (url, message) in [
            ("http://example.com/x", "cannot publish to 'http://example.com/x'"),
            ("stream.mp4", "cannot publish to 'stream.mp4'"), ("rtmp:///live/x", "'rtmp:///live/x' names no host"),
            ("rtmp://host:99999/x", "'rtmp://host:99999/x' has no valid port"),
        ] {
            let error = #expect(throws: PatchError.self) { try makeSink("publisher", ["url": .string(url)]) }
            #expect(error?.message == message)
            #expect(error?.code == .usage)
        }
        let codec = #expect(throws: PatchError.self) {
            try makeSink("publisher", ["url": .string("rtmp://h/l/x"), "codec": .string("vp9")])
        }
        #expect(codec?.message == "flv cannot hold codec 'vp9'")
    }

    @Test("RTMPS: an unknown certificate is refused, one that is named is trusted")
    func certificates() throws {
        let folder = try TemporaryDirectory()
        let port = try Ports.freeTCP()
        let (certificate, key) = (folder.file("cert.pem"), folder.file("key.pem"))
        try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-out", certificate, "-keyout", key, "-days", "2",
                "-subj",
                "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
            ])
        // Speaks TLS, but no RTMP: whoever trusts it fails one step later.
        let server = try Program(
            "openssl", ["s_server", "-accept", "\(port)", "-cert", certificate, "-key", key, "-quiet"])
        try eventually("the server listens") { Ports.accepts(port) }
        let url = "rtmps://127.0.0.1:\(port)/live/x"
        let refused = #expect(throws: PatchError.self) {
            try Feeder(makeSink("publisher", ["url": .string(url)]))
        }
        #expect(refused?.cause == "Peer certificate failed verification")
        #expect(refused?.remedy == "if the server's certificate is to be trusted, name its authority in caFile")
        let trusted = #expect(throws: PatchError.self) {
            try Feeder(makeSink("publisher", ["url": .string(url), "caFile": .string(certificate)]))
        }
        #expect(trusted?.cause?.contains("certificate") == false, "\(trusted?.description ?? "")")
        server.signal(SIGKILL)
    }

    @Test("a peer that does not answer is given up after five seconds")
    func silence() throws {
        // Listens, but never accepts: the handshake gets no answer.
        let peer = try Listener()
        let start = monotonicNanoseconds()
        let error = #expect(throws: PatchError.self) {
            try Feeder(makeSink("publisher", ["url": .string("rtmp://127.0.0.1:\(peer.port)/live/x")]))
        }
        #expect(error?.cause == "no answer in time")
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        #expect(seconds > 4.5 && seconds < 7)
    }

    @Test("a slow receiver: whole groups are dropped, what arrives decodes from its first packet, nobody waits")
    func slowReceiver() throws {
        let peer = try Listener()
        let folder = try TemporaryDirectory()
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string("tcp://127.0.0.1:\(peer.port)"), "speed": .string("ultrafast"), "bitrate": .number(20e6),
                "keyframe": .number(0.5), "buffer": .number(2),
            ], reports: reports)
        let feed = try LiveFeed(sink, width: 640, height: 480, noise: true)
        try peer.accept()
        // Nothing is read until the sockets' buffers and the queue are full.
        #expect(reports.waitForState("stalled", seconds: 20))
        try eventually("groups are dropped", within: 20) { !reports.problems.isEmpty }
        let seen = reports.all.count
        let bytes = Monitor<[UInt8]>([])
        _ = try PosixThread(name: "read") { peer.readAll { chunk in bytes.notify { $0 += chunk } } }
        #expect(reports.waitForState("live", after: seen, seconds: 10))
        usleep(1_000_000)
        try feed.stop()
        #expect(feed.longestCall.load(ordering: .relaxed) < 500_000_000)
        #expect(
            reports.problems.first?.message.hasSuffix("takes less than is encoded: groups of pictures are dropped")
                == true)
        let file = folder.file("slow.ts")
        try eventually("the stream ends") { peer.isDone }
        try Data(bytes.withLock { $0 }).write(to: URL(fileURLWithPath: file))
        let decoded = try run("ffmpeg", ["-v", "error", "-i", file, "-map", "0:v", "-f", "null", "-"])
        #expect(decoded.errorText == "", "\(decoded.errorText.prefix(500))")
        // Groups are gone, so there are jumps; between them every frame is there, and each jump lands on a keyframe.
        let packets = try probe(file, "packet=pts_time,flags", stream: "v").enumerated()
        let times = packets.filter { $0.offset % 2 == 0 }.compactMap { Double($0.element) }
        let keys = packets.filter { $0.offset % 2 == 1 }.map { $0.element.hasPrefix("K") }
        let jumps = times.indices.dropFirst().filter { times[$0] - times[$0 - 1] > 0.034 }
        #expect(!jumps.isEmpty)
        for jump in jumps { #expect(keys[jump], "the jump to \(times[jump]) s is no keyframe") }
    }
}
