import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// What bad input gets: one clear error each, never a crash or a hang.
@Suite struct SourcesFailureTests {
    private func expect(
        _ error: PatchError?, _ code: PatchError.Code, _ words: String...,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        guard let error else {
            Issue.record("there was no error", sourceLocation: sourceLocation)
            return
        }
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(!error.remedy.isEmpty, "\(error)", sourceLocation: sourceLocation)
        for word in words { #expect(error.description.contains(word), "\(error)", sourceLocation: sourceLocation) }
    }

    @Test func missingFile() {
        expect(
            failure { try makeSource("video", ["file": .string("/nowhere/x.mp4")]) }, .notFound, "/nowhere/x.mp4",
            "not exist")
        expect(failure { try makeSource("image", ["file": .string("/nowhere/x.png")]) }, .notFound, "/nowhere/x.png")
        expect(failure { try makeSource("video", ["file": .string("/tmp")]) }, .media, "folder")
        expect(failure { try makeSource("video") }, .usage, "file=", "url=")
    }

    @Test func factoryErrorsNameNodeAndLine() {
        let error = failure { try makeSource("video", ["file": .string("/nowhere/x.mp4")], named: "clip") }
        #expect(error?.node == "clip")
        #expect(error?.location == SourceLocation(file: "test.lua", line: 3))
    }

    @Test func emptyAndFalseFiles() throws {
        let folder = try TemporaryDirectory()
        let empty = try folder.write("empty.mp4", "")
        expect(failure { try makeSource("video", ["file": .string(empty)]) }, .media, "empty.mp4", "0 bytes")
        expect(failure { try makeSource("image", ["file": .string(empty)]) }, .media, "0 bytes")
        let text = try folder.write(
            "text.mp4", "This is no film.\n" + String(repeating: "Lorem ipsum dolor. ", count: 300))
        expect(failure { try makeSource("video", ["file": .string(text)]) }, .media, "text.mp4")
        let noise = try folder.write("noise.mp4", bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })
        expect(failure { try makeSource("video", ["file": .string(noise)]) }, .media, "noise.mp4")
        let png = try folder.write("text.png", "not a picture")
        expect(failure { try makeSource("image", ["file": .string(png)]) }, .media, "text.png")
    }

    @Test func aFilmCutOffPlaysWhatThereIs() throws {
        let folder = try TemporaryDirectory()
        // AVI has its frames in order; its index at the end is missing then.
        let bytes = try Fixtures.path(.pedestrians).contentsOfFile()
        let file = try folder.write("cut.avi", bytes: Array(bytes[..<(bytes.count / 3)]))
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(10), limit: 1000)
        #expect(run.ended)
        #expect((150..<400).contains(run.frames.count))
        // An MP4 without its index cannot be read at all.
        let mp4 = try Fixtures.path(.bikes).contentsOfFile()
        let half = try folder.write("half.mp4", bytes: Array(mp4[..<(mp4.count / 2)]))
        let error = failure { try makeSource("video", ["file": .string(half)]) }
        if let error { expect(error, .media, "half.mp4") }
    }

    @Test func startBeyondTheEnd() throws {
        let path = try Fixtures.path(.bikes)
        let error = failure { try makeSource("video", ["file": .string(path), "start": .number(500)]) }
        expect(error, .usage, "500", "10")
    }

    @Test func urlsThatScriptsMayNotRead() {
        for url in [
            "file:///etc/passwd", "concat:/etc/passwd|/etc/group", "pipe:0", "subfile,,start,0,end,9,,:/etc/passwd",
            "/etc/passwd", "ftp://x/y",
        ] {
            expect(failure { try makeSource("video", ["url": .string(url)]) }, .usage, "use")
            expect(failure { try makeSource("stream", ["url": .string(url)]) }, .usage, "use")
        }
    }

    @Test func nobodyListens() throws {
        let port = try Ports.freeTCP()
        let begin = monotonicNanoseconds()
        for url in ["rtmp://127.0.0.1:\(port)/live/x", "http://127.0.0.1:\(port)/x.m3u8", "rtsp://127.0.0.1:\(port)/x"]
        {
            expect(failure { try makeSource("stream", ["url": .string(url)]) }, .network, url, "sender")
        }
        #expect(monotonicNanoseconds() - begin < 5_000_000_000)
    }

    @Test func nobodySends() throws {
        let port = try Ports.freeUDP()
        let begin = monotonicNanoseconds()
        let error = failure {
            try makeSource("stream", ["url": .string("udp://127.0.0.1:\(port)"), "timeout": .number(1)])
        }
        expect(error, .network, "127.0.0.1:\(port)", "1 s")
        #expect(monotonicNanoseconds() - begin < 4_000_000_000)
    }

    @Test func secretsStayHidden() throws {
        let port = try Ports.freeTCP()
        let secret = Secret(
            value: "rtmp://127.0.0.1:\(port)/live/hunter2", redacted: "rtmp://127.0.0.1:\(port)/live/<secret KEY>")
        let error = failure { try makeSource("stream", ["url": .secret(secret)]) }
        expect(error, .network, "<secret KEY>")
        #expect(error?.description.contains("hunter2") == false)
        let password = failure { try makeSource("stream", ["url": .string("rtsp://me:hunter2@127.0.0.1:\(port)/x")]) }
        expect(password, .network, "rtsp://me:***@127.0.0.1")
        #expect(password?.description.contains("hunter2") == false)
    }

    @Test func unboundInput() {
        expect(failure { try makeSource("input", named: "guest") }, .usage, "--bind guest=FILE|URL|DEVICE")
    }

    @Test func camerasThatAreNone() throws {
        expect(failure { try makeSource("camera", ["device": .string("/dev/video99")]) }, .notFound, "/dev/video99")
        expect(failure { try makeSource("camera", ["device": .string("/dev/null")]) }, .notFound, "/dev/null")
        expect(failure { try makeSource("input", bindings: ["guest": "/dev/video99"]) }, .notFound, "/dev/video99")
        if Devices.list().allSatisfy({ $0.kind != .camera }) {
            expect(failure { try makeSource("camera") }, .notFound, "no camera")
        }
    }

    @Test func displaysThatAreNone() throws {
        expect(failure { try makeSource("screen", ["display": .string(":987")]) }, .notFound, ":987", "display")
        expect(
            failure { try makeSource("screen", ["display": .string(":987"), "region": .vector([0, 0, 0, 5])]) }, .usage,
            "region")
    }

    @Test func nobodyPushes() {
        expect(failure { try makeSource("push", named: "synth") }, .usage, "synth", "PushSource.kind")
    }

    @Test func ffmpegIsSilentOnStandardError() throws {
        // FFmpeg would write there for each of these.
        let folder = try TemporaryDirectory()
        let file = folder.file("stderr.txt")
        fflush(nil)
        let saved = dup(2)
        let target = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        dup2(target, 2)
        let text = try? folder.write("text.mp4", String(repeating: "no film ", count: 1000))
        _ = failure { try makeSource("video", ["file": .string(text ?? "")]) }
        _ = failure { try makeSource("stream", ["url": .string("rtmp://127.0.0.1:1/a/b")]) }
        fflush(nil)
        dup2(saved, 2)
        close(saved)
        close(target)
        let written = String(decoding: try file.contentsOfFile(), as: UTF8.self)
        #expect(!written.contains("moov") && !written.contains(" @ 0x"))
    }
}
