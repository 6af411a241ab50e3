import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Sources that come by the world's clock: streams from a real server, the screen, the host program.
@Suite(.serialized) struct SourcesLiveTests {
    /// Ticks by the clock until `seconds` are over or `isEnough` says so; gives what each tick showed and heard.
    private func live(
        _ source: any MediaSource, format: SourceFormat, rate: FrameRate = FrameRate(25), seconds: Double,
        first: Int64 = 0, until isEnough: (SourceReading, AudioBlock?) -> Bool = { _, _ in false }
    ) {
        let begin = monotonicNanoseconds()
        let count = Int64(seconds * rate.perSecond)
        let block = format.audio.map { AudioBlock(format: $0, capacity: 48_000) }
        for index in first..<first + count {
            let due = begin + rate.time(ofFrame: index - first).nanoseconds
            var pause = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &pause, nil)
            let tick = Tick(index: index, rate: rate, hostTime: due, isOffline: false)
            let reading = source.frame(at: tick)
            if let block {
                block.count = Int(rate.time(ofFrame: index + 1).floored(to: 48_000) - tick.time.floored(to: 48_000))
                _ = source.sound(at: tick, into: block)
            }
            if isEnough(reading, block) { return }
        }
    }

    /// Publishes a test picture with a beep each second to the server.
    private func publish(to url: String, format: String = "flv") throws -> Program {
        try Program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi",
                "-i",
                "aevalsrc=0.3*sin(2*PI*500*t):s=44100", "-c:v", "libx264", "-preset", "ultrafast", "-tune",
                "zerolatency",
                "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", format, url,
            ])
    }

    @Test func rtmpPlaysBreaksAndComesBack() throws {
        let server = try MediaServer()
        let sender = try publish(to: server.url())
        try eventually("the stream is there", within: 20) {
            try Program.run("ffprobe", ["-v", "error", "-analyzeduration", "1M", server.url()], mayFail: true).exitCode
                == 0
        }
        let events = SourceEvents()
        let source = try makeSource(
            "stream", ["url": .string(server.url()), "timeout": .number(3)], offline: false, events: events)
        let format = try source.open()
        defer { source.stop() }
        #expect(format.isLive)
        #expect(format.video?.width == 320 && format.video?.height == 180)
        #expect(format.audio == AudioFormat(sampleRate: 48_000, channels: 1))
        try source.start()
        var shown: Set<Int64> = []
        var silent = 0
        var ticks = 0
        live(source, format: format, seconds: 5) { reading, block in
            ticks += 1
            if case .frame(let frame) = reading { shown.insert(frame.sequence) }
            // The first second may settle.
            if ticks > 75, let block {
                let samples = UnsafeBufferPointer(start: block.channel(0), count: block.count)
                if samples.allSatisfy({ $0 == 0 }) { silent += 1 }
            }
            return false
        }
        #expect(shown.count > 100, "\(shown.count) of 125 ticks had a new frame")
        #expect(silent == 0, "\(silent) of \(ticks - 75) ticks had no sound")
        // The sender goes; the last frame stays.
        sender.signal(SIGKILL)
        var held = true
        live(source, format: format, seconds: 12, first: 200) { reading, _ in
            if case .frame = reading {} else { held = false }
            return events.waitForLost(seconds: 0)
        }
        #expect(events.waitForLost(seconds: 0))
        #expect(held)
        let again = try publish(to: server.url())
        defer { again.signal(SIGKILL) }
        live(source, format: format, seconds: 20, first: 600) { _, _ in events.waitForBack(seconds: 0) }
        #expect(events.waitForBack(seconds: 0))
        var after: Set<Int64> = []
        live(source, format: format, seconds: 3, first: 1200) { reading, _ in
            if case .frame(let frame) = reading { after.insert(frame.sequence) }
            return after.count > 25
        }
        #expect(after.count > 25)
    }

    @Test func udpArrives() throws {
        let port = try Ports.freeUDP()
        let sender = try publish(to: "udp://127.0.0.1:\(port)?pkt_size=1316", format: "mpegts")
        defer { sender.signal(SIGKILL) }
        let source = try makeSource("stream", ["url": .string("udp://127.0.0.1:\(port)")], offline: false)
        let format = try source.open()
        defer { source.stop() }
        try source.start()
        #expect(format.video?.width == 320)
        var shown: Set<Int64> = []
        live(source, format: format, seconds: 3) { reading, _ in
            if case .frame(let frame) = reading { shown.insert(frame.sequence) }
            return false
        }
        #expect(shown.count > 50)
    }

    @Test func srtArrives() throws {
        let port = try Ports.freeUDP()
        let sender = try publish(to: "srt://127.0.0.1:\(port)?mode=listener", format: "mpegts")
        defer { sender.signal(SIGKILL) }
        var opened: (any MediaSource, SourceFormat)?
        // The sender listens some time after its start.
        try eventually("the stream opens", within: 20) {
            let source = try makeSource("stream", ["url": .string("srt://127.0.0.1:\(port)")], offline: false)
            opened = (try? source.open()).map { (source, $0) }
            return opened != nil
        }
        let (source, format) = try #require(opened)
        defer { source.stop() }
        try source.start()
        #expect(format.video?.width == 320)
        var shown: Set<Int64> = []
        live(source, format: format, seconds: 3) { reading, _ in
            if case .frame(let frame) = reading { shown.insert(frame.sequence) }
            return shown.count > 40
        }
        #expect(shown.count > 40)
    }

    /// A white flash and a beep at each full second, sent over RTMP; what the ticks show must agree within 40 ms.
    @Test func lipsStayInSync() throws {
        let server = try MediaServer()
        let sender = try Program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "color=black:size=160x90:rate=25", "-f", "lavfi",
                "-i", "aevalsrc=if(lt(mod(t\\,1)\\,0.2)\\,0.5*sin(2*PI*1000*t)\\,0):s=48000", "-vf",
                "drawbox=color=white:t=fill:enable='lt(mod(t,1),0.2)'", "-c:v", "libx264", "-preset", "ultrafast",
                "-tune",
                "zerolatency", "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", "flv", server.url(),
            ])
        defer { sender.signal(SIGKILL) }
        try eventually("the stream is there", within: 20) {
            try Program.run("ffprobe", ["-v", "error", "-analyzeduration", "1M", server.url()], mayFail: true).exitCode
                == 0
        }
        let source = try makeSource("stream", ["url": .string(server.url())], offline: false)
        let format = try source.open()
        defer { source.stop() }
        try source.start()
        var (flashes, beeps): ([Double], [Double]) = ([], [])
        var (wasWhite, lastLoud) = (true, 0.0)
        var tick = 0
        live(source, format: format, seconds: 8) { reading, block in
            let time = Double(tick) * 0.04
            tick += 1
            guard case .frame(let frame) = reading, let block else { return false }
            let isWhite = frame.plane(0).row(45).load(fromByteOffset: 80, as: UInt8.self) > 128
            if isWhite, !wasWhite { flashes.append(time) }
            wasWhite = isWhite
            for index in 0..<block.count where abs(block.channel(0)[index]) > 0.2 {
                let at = time + Double(index) / 48_000
                if at - lastLoud > 0.3 { beeps.append(at) }
                lastLoud = at
            }
            return false
        }
        // The first seconds may settle.
        let late = flashes.filter { $0 > 3.5 }
        #expect(late.count >= 3)
        for flash in late {
            let nearest = beeps.map { $0 - flash }.min { abs($0) < abs($1) } ?? 1
            #expect(abs(nearest) <= 0.04, "the beep is \(nearest) s off the flash")
        }
    }

    @Test func aFileBehindAURLIsReadWhole() throws {
        let port = try Ports.freeTCP()
        let folder = try TemporaryDirectory()
        let file = folder.file("clip.ts")
        try ffmpeg(["-i", Fixtures.path(.carphone), "-c:v", "mpeg2video", "-qscale:v", "4", file])
        let server = try Program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", file, "-c", "copy", "-f", "mpegts", "-listen", "1",
                "http://127.0.0.1:\(port)/clip.ts",
            ])
        defer { server.signal(SIGKILL) }
        // Asking whether the port is open would use up the one answer that the server gives.
        var source: (any MediaSource)?
        var run: SourceRun?
        try eventually("the server answers", within: 20) {
            let candidate = try makeSource("video", ["url": .string("http://127.0.0.1:\(port)/clip.ts")])
            run = try? SourceRun(candidate, rate: FrameRate(30000, over: 1001), limit: 200)
            source = candidate
            return run != nil
        }
        _ = source
        let reference = try ReferenceFrame.all(of: file).map(\.checksum)
        #expect(run?.frames.map(\.checksum) == reference)
    }

    @Test func stopIsPromptWhileAStreamIsSilent() throws {
        let server = try MediaServer()
        let sender = try publish(to: server.url())
        try eventually("the stream is there", within: 20) {
            try Program.run("ffprobe", ["-v", "error", "-analyzeduration", "1M", server.url()], mayFail: true).exitCode
                == 0
        }
        let source = try makeSource("stream", ["url": .string(server.url())], offline: false)
        _ = try source.open()
        try source.start()
        // Still connected, but nothing comes.
        sender.signal(SIGSTOP)
        defer { sender.signal(SIGKILL) }
        let begin = monotonicNanoseconds()
        source.stop()
        #expect(monotonicNanoseconds() - begin < 1_500_000_000)
    }

    @Test func theScreenIsCaptured() throws {
        let screen = try VirtualScreen(width: 320, height: 240)
        try screen.paint("#ff8000")
        let source = try makeSource("screen", ["display": .string(screen.display), "fps": .number(25)], offline: false)
        let format = try source.open()
        defer { source.stop() }
        #expect(format.isLive)
        #expect(format.rate == FrameRate(25))
        #expect(format.video?.width == 320 && format.video?.height == 240)
        #expect(format.video?.color.range == .full)
        try source.start()
        var pixel: [UInt8] = []
        live(source, format: format, seconds: 2) { reading, _ in
            if case .frame(let frame) = reading { pixel = frame.pixel(200, 100) }
            return pixel == [255, 128, 0, 255]
        }
        #expect(pixel == [255, 128, 0, 255])
        try screen.paint("#0040ff")
        live(source, format: format, seconds: 5, first: 100) { reading, _ in
            if case .frame(let frame) = reading { pixel = frame.pixel(200, 100) }
            return pixel == [0, 64, 255, 255]
        }
        #expect(pixel == [0, 64, 255, 255])
        #expect(Devices.list().contains { $0.kind == .display && $0.name == screen.display })
    }

    @Test func aRegionOfTheScreen() throws {
        let screen = try VirtualScreen(width: 320, height: 240)
        try screen.paint("#102030")
        let source = try makeSource(
            "screen", ["display": .string(screen.display), "region": .vector([10, 20, 101, 51])], offline: false)
        let format = try source.open()
        defer { source.stop() }
        #expect(format.video?.width == 101 && format.video?.height == 51)
        let outside = failure {
            try makeSource(
                "screen", ["display": .string(screen.display), "region": .vector([300, 20, 101, 51])], offline: false)
        }
        #expect(outside?.code == .notFound, "\(String(describing: outside))")
    }

    @Test func theHostProgramPushes() throws {
        let format = VideoFormat(.rgba, width: 4, height: 4)
        let push = PushSource(format, rate: FrameRate(30), depth: 3)
        let kind = PushSource.kind(["synth": push])
        guard case .source(let make) = kind.factory else { return }
        let source = try make(NodeOptions(), NodeEnvironment(nodeID: "synth"))
        #expect(source === push)
        #expect(try source.open().video == format)
        let producer = try PosixThread(name: "host") {
            for number: Int64 in 0..<20 {
                push.push(pts: FrameRate(30).time(ofFrame: number)) { frame in
                    frame.plane(0).row(0).storeBytes(of: UInt8(number), as: UInt8.self)
                }
            }
            push.finish()
        }
        var seen: [UInt8] = []
        for index: Int64 in 0..<30 {
            let tick = Tick(index: index, rate: FrameRate(30), hostTime: 0, isOffline: true)
            guard case .frame(let frame) = source.frame(at: tick) else { break }
            seen.append(frame.plane(0).row(0).load(as: UInt8.self))
        }
        producer.join()
        source.stop()
        #expect(seen == Array(0..<20))
        #expect(!push.push(pts: .zero) { _ in })
    }

    @Test func liveFilesRunByTheClock() throws {
        let source = try makeSource("video", ["file": .string(Fixtures.path(.bikes))], offline: false)
        let format = try source.open()
        defer { source.stop() }
        try source.start()
        var shown: [Int64] = []
        live(source, format: format, seconds: 2) { reading, _ in
            if case .frame(let frame) = reading { shown.append(frame.sequence) }
            return false
        }
        // From the first tick on, one new frame a tick.
        #expect(shown == (0..<50).map { $0 })
    }

    @Test func devicesAreListed() {
        for device in Devices.list() {
            #expect(!device.name.isEmpty && !device.title.isEmpty)
        }
    }
}
