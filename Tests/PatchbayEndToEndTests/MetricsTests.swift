import Foundation
import PatchTesting
import Testing

/// `--metrics`: what anybody may ask of it, and whether its loudness is what ffmpeg measures.
@Suite struct MetricsTests {
    /// Asks in every way that a client of the network may, and prints a line for each answer.
    private static let asking = """
        import socket, sys, time, urllib.request, urllib.error
        port = int(sys.argv[1])
        def connect():
            s = socket.create_connection(("127.0.0.1", port), timeout=8)
            return s
        def ask(data):
            s = connect(); s.sendall(data); answer = b""
            while True:
                more = s.recv(65536)
                if not more: break
                answer += more
            return answer
        silent = [connect() for _ in range(5)]
        half = connect(); half.sendall(b"GET /met")
        begin = time.monotonic()
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)
        body = page.read().decode()
        print("page", page.status, page.headers["Content-Type"], "patchbay_ticks_total" in body, time.monotonic() - begin < 2)
        def line(data): return ask(data).split(b"\\r\\n")[0].decode("latin-1")
        close = b"Host: x\\r\\nConnection: close\\r\\n\\r\\n"
        head = ask(b"HEAD /metrics HTTP/1.1\\r\\n" + close)
        print("head", head.split(b"\\r\\n")[0].decode(), head.endswith(b"\\r\\n\\r\\n"))
        print("post", line(b"POST /metrics HTTP/1.1\\r\\nContent-Length: 3\\r\\n" + close + b"abc"))
        print("other", line(b"GET /other HTTP/1.1\\r\\n" + close))
        print("garbage", not line(b"\\x00\\xff\\xfe no request\\r\\n\\r\\n").startswith("HTTP/1.1 200"))
        print("large", not line(b"GET /metrics HTTP/1.1\\r\\nX: " + b"x" * 200000 + b"\\r\\n" + close).startswith("HTTP/1.1 200"))
        two = connect(); two.sendall(b"GET /metrics HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" * 2); answers = b""
        while answers.count(b"HTTP/1.1 200 OK") < 2: answers += two.recv(1 << 20) or b"HTTP/1.1 200 OK" * 9
        print("kept", answers.count(b"HTTP/1.1 200 OK"))
        half.settimeout(8)
        print("closed", half.recv(100))
        """

    @Test func anybodyMayAskAnything() throws {
        let run = try GraphRun(
            "testPattern { \"bars\", size = \"64x36\" } >> recorder { \"rec\", file = \"out.mkv\", speed = \"ultrafast\" }",
            arguments: ["--metrics", "0"])
        let port = try Self.port(of: run)
        let answers = try Program.run("python3", ["-c", Self.asking, port]).text.split(separator: "\n").map(String.init)
        #expect(
            answers == [
                "page 200 text/plain; version=0.0.4; charset=utf-8 True True", "head HTTP/1.1 200 OK True",
                "post HTTP/1.1 405 Method Not Allowed", "other HTTP/1.1 404 Not Found", "garbage True", "large True",
                "kept 2", "closed b''",
            ])
        #expect(try Self.page(port).contains("patchbay_ticks_total"))
        _ = try run.interrupt()

        // The port is taken, or no port at all.
        for (address, text) in [("127.0.0.1:99999", "write a port"), ("nowhere:9100", "no IPv4 address")] {
            let wrong = try Executable.run(["run", "graph.lua", "--metrics", address], directory: run.directory.path)
            #expect(wrong.exitCode != 0 && wrong.errorText.contains(text), "\(wrong.errorText)")
        }
    }

    /// A tone that ffmpeg's own meter measures in the recording.
    @Test func loudnessIsWhatFFmpegMeasures() throws {
        let directory = try TemporaryDirectory()
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "sine=997:r=48000:d=12", "-af",
                "volume=6dB,aformat=channel_layouts=stereo", directory.file("tone.wav"),
            ])
        let run = try GraphRun(
            """
            local tone = video { "tone", file = "tone.wav" }
            local out = recorder { "rec", file = "out.mkv", audioCodec = "pcm" }
            testPattern { "bars", size = "64x36" } >> out.video
            tone.audio >> audio.meter { "meter" } >> out.audio
            """, arguments: ["--metrics", "0", "--stats", "json"], directory: directory)
        let port = try Self.port(of: run)
        _ = try run.wait(for: "six seconds") { ($0.statistics?.ticks ?? 0) > 180 }
        let page = try Self.page(port)
        _ = try run.interrupt()
        let text = try Program.run(
            "ffmpeg",
            ["-nostats", "-i", directory.file("out.mkv"), "-vn", "-af", "ebur128=peak=true", "-f", "null", "-"]
        ).errorText
        let summary = try #require(text.range(of: "Summary:").map { text[$0.upperBound...] })
        func measured(_ label: String) throws -> Double {
            let line = try #require(summary.split(separator: "\n").first { $0.contains(label) })
            return try #require(Double(line.split(separator: " ").dropFirst().first ?? ""))
        }
        func told(_ start: String) throws -> Double {
            let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("patchbay_" + start) }, "\(page)")
            return try #require(Double(line.split(separator: " ").last ?? ""))
        }
        for (node, kind) in [("meter", "audio.meter"), ("rec", "recorder")] {
            for over in ["momentary", "shortTerm", "integrated"] {
                let value = try told("node_loudness_lufs{node=\"\(node)\",kind=\"\(kind)\",over=\"\(over)\"}")
                #expect(abs(value - (try measured(" I: "))) < 0.5, "\(node) \(over)")
            }
            let peak = try told("node_true_peak_dbtp{node=\"\(node)\",kind=\"\(kind)\"}")
            #expect(abs(peak - (try measured("Peak:"))) < 0.5, "\(node)")
        }
    }

    private static func port(of run: GraphRun) throws -> String {
        let note = try run.wait(for: "the port") { $0.text?.hasPrefix("metrics on port ") == true }.event
        return try #require(note.text?.split(separator: " ").last.map(String.init))
    }

    private static func page(_ port: String) throws -> String {
        try Program.run(
            "python3",
            [
                "-c",
                "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1], timeout=5).read().decode())",
                "http://127.0.0.1:\(port)/metrics",
            ]
        ).text
    }
}
