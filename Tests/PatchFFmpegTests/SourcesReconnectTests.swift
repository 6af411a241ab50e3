import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// A live source whose connection breaks and is made again, in virtual time: its stamps begin anew, and the first picture has
/// none, as RTSP gives it before the sender's clock is known.
@Suite struct SourcesReconnectTests {
    private let mono = AudioFormat(sampleRate: 48_000, channels: 1)
    private let rate = FrameRate(100)

    @Test(arguments: [-0.03, 0.01, 0.05], [0.0, 0.3])
    func soundAndPictureComeBackTogether(_ soundFirstBy: Double, _ origin: Double) throws {
        let queue = SourceQueue(.newest(depth: 64), audio: mono, latency: MediaTime(value: 150, timescale: 1000))
        let block = AudioBlock(format: mono, capacity: 480)
        block.count = 480
        var offsets: [Double?] = []
        let away = 6.0..<15.0
        var (frames, pieces) = (0, 0)
        for index: Int64 in 0..<2200 {
            let now = Double(index) / 100
            let arrival = Int64(now * 1e9)
            while Double(frames) * 0.04 <= now {
                let time = Double(frames) * 0.04
                frames += 1
                if away.contains(time) { continue }
                let frame = Frame(allocating: VideoFormat(.gray8, width: 2, height: 2))
                // What it shows, whatever its stamp says.
                frame.pts = MediaTime(seconds: time)
                let isFirst = time >= away.upperBound && time < away.upperBound + 0.04
                let stamp = time < away.lowerBound ? time : time - away.upperBound + origin
                queue.push(
                    frame, pts: isFirst ? nil : MediaTime(seconds: stamp),
                    duration: MediaTime(value: 1, timescale: 25), arrival: arrival)
            }
            while Double(pieces) * 0.02 - soundFirstBy <= now {
                let time = Double(pieces) * 0.02
                let start = pieces * 960
                pieces += 1
                if away.contains(time) { continue }
                let stamp = time < away.lowerBound ? time : time - away.upperBound + origin
                let samples = (0..<960).map { Float(start + $0) }
                samples.withUnsafeBufferPointer { buffer in
                    guard let base = buffer.baseAddress else { return }
                    queue.pushSound(pts: MediaTime(seconds: stamp), count: 960, arrival: arrival) { _ in base }
                }
            }
            let tick = Tick(index: index, rate: rate, hostTime: arrival, isOffline: false)
            var shown: Double?
            if case .frame(let frame) = queue.frame(at: tick) { shown = frame.pts.seconds }
            let found = queue.sound(at: tick, into: block)
            let middle = Double(block.channel(0)[240]) / 48_000
            // A picture lasts 40 ms.
            offsets.append(found && middle > 0 ? shown.map { max($0 - middle, middle - $0 - 0.05, 0) } : nil)
        }
        for index in Array(300..<600) + Array(1750..<2200) {
            let offset = try #require(offsets[index], "no sound at \(Double(index) / 100) s")
            #expect(offset < 0.03, "\(Double(index) / 100) s")
        }
    }
}

/// Sound that begins only after a live stream was opened, of which its header says nothing, as FLV allows.
@Suite(.serialized) struct SourcesLateSoundTests {
    /// Serves an FLV file over TCP by its own stamps, to each who comes from where it is; tags of sound not before 9 s.
    private static let sender = """
        import socket, struct, sys, threading, time
        data = open(sys.argv[1], "rb").read()
        tags, place = [], 13
        while place + 15 <= len(data):
            size = int.from_bytes(data[place + 1:place + 4], "big")
            stamp = int.from_bytes(data[place + 4:place + 7], "big") | data[place + 7] << 24
            tags.append((stamp, data[place], data[place:place + size + 15]))
            place += size + 15
        header = {kind: next(t for t in tags if t[1] == kind)[2] for kind in (8, 9)}
        server = socket.create_server(("127.0.0.1", 0))
        print(server.getsockname()[1], flush=True)
        begin = time.monotonic()
        def serve(peer):
            try:
                now = time.monotonic() - begin
                peer.sendall(b"FLV\\x01\\x01\\0\\0\\0\\x09\\0\\0\\0\\0" + header[9])
                heard = False
                for stamp, kind, tag in tags:
                    if kind == 18 or stamp / 1000 < now or tag in header.values(): continue
                    if kind == 8 and stamp < 9000: continue
                    time.sleep(max(0, begin + stamp / 1000 - time.monotonic()))
                    if kind == 8 and not heard:
                        heard = True
                        peer.sendall(header[8])
                    peer.sendall(tag)
            except OSError: pass
        while True:
            threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        """

    @Test(arguments: [true, false])
    func soundThatIsNotAnnounced(_ isExpected: Bool) throws {
        let folder = try TemporaryDirectory()
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=30", "-f", "lavfi", "-i", "sine=r=48000", "-t",
                "30", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "15", "-pix_fmt",
                "yuv420p",
                "-c:a", "aac", folder.file("a.flv"),
            ])
        let sender = try Program("python3", ["-c", Self.sender, folder.file("a.flv")])
        try sender.waitForOutput("\n", within: 10)
        let port = String(decoding: sender.outputSoFar.output, as: UTF8.self).prefix { $0 != "\n" }
        let events = SourceEvents()
        let source = try makeSource(
            "stream", ["url": .string("tcp://127.0.0.1:\(port)"), "required": .bool(!isExpected)], offline: false,
            events: events)
        let format = try source.open()
        defer { source.stop() }
        #expect((format.audio != nil) == isExpected)
        try source.start()
        var heard = 0
        let begin = monotonicNanoseconds()
        let block = AudioBlock(format: AudioFormat(sampleRate: 48_000, channels: 2), capacity: 4800)
        for index: Int64 in 0..<(30 * 20) {
            let due = begin + FrameRate(30).time(ofFrame: index).nanoseconds
            let wait = due - monotonicNanoseconds()
            if wait > 0 { usleep(UInt32(wait / 1000)) }
            let tick = Tick(index: index, rate: FrameRate(30), hostTime: due, isOffline: false)
            _ = source.frame(at: tick)
            guard format.audio != nil else { continue }
            block.count = 1600
            _ = source.sound(at: tick, into: block)
            let samples = UnsafeBufferPointer(start: block.channel(0), count: block.count)
            // The last five seconds.
            if index >= 30 * 15, samples.contains(where: { abs($0) > 0.05 }) { heard += 1 }
        }
        if isExpected {
            // A sender in Python may stumble on a busy machine.
            #expect(heard > 145)
            #expect(events.waitForBack(seconds: 1))
        } else {
            #expect(events.problems.contains { $0.remedy.contains("required = false") }, "\(events.problems)")
        }
        sender.signal(SIGKILL)
    }
}
