import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// A sink's own numbers.
func outputNumbers(_ sink: any MediaSink) throws -> OutputStatistics {
    var statistics = NodeStatistics(id: "out", kind: "")
    try #require(sink as? any MeasuredSink).fill(&statistics)
    return try #require(statistics.output)
}

/// Publishers on networks that are slow, closed or picky.
@Suite("publisher, networks", .serialized)
struct SinksNetworkTests {
    @Test("a narrow network: the bitrate settles below it and rises again, one session, whole groups, a bounded queue")
    func adaptive() throws {
        let server = try MediaServer()
        let proxy = try ThrottlingProxy(to: server.port, rate: 1_000_000)
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string("rtmp://127.0.0.1:\(proxy.port)/live/stream"), "speed": .string("ultrafast"),
                "bitrate": .number(2e6), "keyframe": .number(1), "adaptive": .bool(true), "audio": .string("none"),
                "minimumBitrate": .number(100_000),
                "buffer": .number(4),
            ], reports: reports)
        let feed = try LiveFeed(sink, sound: false, noise: true)
        #expect(reports.waitForState("live", seconds: 10))
        usleep(3_000_000)
        #expect(try outputNumbers(sink).targetBitrate == 2_000_000)
        // 640 kb/s.
        proxy.rate.store(80_000, ordering: .relaxed)
        try eventually("the bitrate drops", within: 10) { try outputNumbers(sink).targetBitrate < 1_000_000 }
        var highest = OutputStatistics()
        let end = monotonicNanoseconds() + 15_000_000_000
        while monotonicNanoseconds() < end {
            let numbers = try outputNumbers(sink)
            highest.waitingSeconds = max(highest.waitingSeconds, numbers.waitingSeconds)
            highest.waitingBytes = max(highest.waitingBytes, numbers.waitingBytes)
            usleep(200_000)
        }
        let settled = try outputNumbers(sink)
        #expect(settled.targetBitrate > 150_000 && settled.targetBitrate < 640_000, "\(settled.targetBitrate)")
        #expect(settled.bitrate > 150_000 && settled.bitrate < 720_000, "\(settled.bitrate) b/s arrive")
        #expect(settled.waitingSeconds < 1, "\(settled.waitingSeconds) s wait")
        #expect(highest.waitingSeconds < 4.5 && highest.waitingBytes < 1_500_000, "\(highest)")
        #expect(settled.reconnects == 0)
        proxy.rate.store(1_000_000, ordering: .relaxed)
        try eventually("the bitrate rises", within: 40) {
            try outputNumbers(sink).targetBitrate > settled.targetBitrate * 11 / 10
        }
        #expect(reports.states.allSatisfy { $0 != "retrying" && $0 != "failed" }, "\(reports.states)")
        #expect(feed.longestCall.load(ordering: .relaxed) < 500_000_000)
        try feed.stop()
        proxy.stop()
    }

    @Test("RTMPS to a real server: its own certificate is refused, and taken when its file is named")
    func rtmps() throws {
        let server = try MediaServer()
        let folder = try TemporaryDirectory()
        let (certificate, key) = (folder.file("cert.pem"), folder.file("key.pem"))
        try Program.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-out", certificate, "-keyout", key, "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
            ])
        let port = try Ports.freeTCP()
        let script = folder.file("tls.py")
        try folder.write(
            "tls.py",
            """
            import socket, ssl, sys, threading
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[3], sys.argv[4])
            listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
            def pump(a, b):
                try:
                    while data := a.recv(65536): b.sendall(data)
                except OSError: pass
                for s in (a, b):
                    try: s.shutdown(socket.SHUT_RDWR)
                    except OSError: pass
            def serve(raw):
                try: client = context.wrap_socket(raw, server_side=True)
                except OSError: return
                server = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
                threading.Thread(target=pump, args=(server, client), daemon=True).start()
                pump(client, server)
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
            """)
        let tls = try Program("python3", [script, "\(port)", "\(server.port)", certificate, key])
        try eventually("the TLS server listens") { Ports.accepts(port) }
        let url = "rtmps://127.0.0.1:\(port)/live/stream"
        let refused = #expect(throws: PatchError.self) { try Feeder(makeSink("publisher", ["url": .string(url)])) }
        #expect(refused?.cause == "Peer certificate failed verification")
        #expect(refused?.remedy == "if the server's certificate is to be trusted, name its authority in caFile")

        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .string(url), "caFile": .string(certificate), "speed": .string("ultrafast"),
                "keyframe": .number(0.5),
            ], reports: reports)
        let feed = try LiveFeed(sink)
        #expect(reports.waitForState("live", seconds: 10))
        let copy = folder.file("pulled.flv")
        try Program.run(
            "ffmpeg", ["-v", "error", "-analyzeduration", "1M", "-i", server.url(), "-t", "2", "-c", "copy", copy],
            timeout: 30)
        try feed.stop()
        expectCadence(try pictureTimes(copy), rate: FrameRate(30), tolerance: 0.0015)
        tls.signal(SIGKILL)
    }

    @Test("SRT's listener waits for its receiver, takes only one that knows the passphrase, and the next one after it")
    func srtListener() throws {
        let folder = try TemporaryDirectory()
        let port = try Ports.freeUDP()
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .secret(
                    Secret(
                        value: "srt://127.0.0.1:\(port)?mode=listener&passphrase=correct-horse",
                        redacted: "srt://127.0.0.1:\(port)?mode=listener&passphrase=<secret P>")),
                "speed": .string("ultrafast"), "keyframe": .number(0.5),
            ], reports: reports)
        // On air although nobody calls.
        let feed = try LiveFeed(sink)
        usleep(1_000_000)
        #expect(reports.states == ["connecting"])
        func receive(_ passphrase: String, _ name: String) throws -> ProgramOutcome {
            try Program.run(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-analyzeduration", "1M", "-i",
                    "srt://127.0.0.1:\(port)?passphrase=\(passphrase)", "-t", "2", "-c", "copy", folder.file(name),
                ], timeout: 30, mayFail: true)
        }
        #expect(try receive("wrong-battery-staple", "wrong.ts").exitCode != 0)
        for name in ["first.ts", "second.ts"] {
            try eventually("a receiver with the passphrase is served", within: 20) {
                try receive("correct-horse", name).exitCode == 0
            }
            expectCadence(try pictureTimes(folder.file(name)), rate: FrameRate(30), tolerance: 0.0002)
        }
        try feed.stop()
        #expect(reports.states.starts(with: ["connecting", "live"]), "\(reports.states)")
        #expect(reports.states.last == "ended")
        #expect(!"\(reports.all)".contains("correct-horse"))
    }

    @Test("a publisher that is not required goes on air without its server, says why, and comes when it can")
    func notRequired() throws {
        let server = try MediaServer()
        server.stop()
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            ["url": .string(server.url()), "speed": .string("ultrafast"), "required": .bool(false)], reports: reports)
        let feed = try LiveFeed(sink)
        #expect(reports.waitForState("retrying", seconds: 10))
        #expect(reports.problems.first?.cause == "Connection refused")
        try server.start()
        #expect(reports.waitForState("live", seconds: 20))
        try feed.stop()
        #expect(reports.states == ["connecting", "retrying", "live", "ended"])
        #expect(reports.problems.count == 1, "\(reports.problems)")
    }

    @Test("a key that the server refuses while on air is told with its reason, again and again tried")
    func refusedKey() throws {
        let server = try MediaServer(streamKey: "right-key")
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            [
                "url": .secret(
                    Secret(
                        value: server.url("wrong-key", application: "guarded"),
                        redacted: server.url("<secret KEY>", application: "guarded"))),
                "speed": .string("ultrafast"), "required": .bool(false),
            ], reports: reports)
        let feed = try LiveFeed(sink)
        #expect(reports.waitForState("retrying", seconds: 10))
        usleep(2_000_000)
        #expect(!reports.states.contains("live"))
        let problem = try #require(reports.problems.first)
        #expect(problem.code == .network && problem.cause != nil, "\(problem)")
        #expect(!"\(reports.all)".contains("wrong-key"))
        try feed.stop()
    }

    @Test("passwords in an address that stands in the open are hidden")
    func openSecrets() {
        for (url, shown) in [
            ("rtmp://host/live/key", "rtmp://host/live/key"),
            ("rtmp://me:pass@host:1935/live/a?token=t&x=1", "rtmp://me:<secret>@host:1935/live/a?token=<secret>&x=1"),
            ("srt://h:9?mode=caller&passphrase=p", "srt://h:9?mode=caller&passphrase=<secret>"),
            ("out/live.m3u8", "out/live.m3u8"), ("srt://@:9?passphrase=", "srt://@:9?passphrase=<secret>"),
        ] { #expect(Secret(url: url).redacted == shown) }
    }
}
