import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// RTSP with a real server between: GStreamer's.
@Suite(.serialized) struct RTSPTests {
    /// The server is killed while it records, and comes back: what it has of each session is whole.
    @Test func aServerRecordsBreaksAndRecordsAgain() throws {
        let server = try RTSPServer()
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            ["url": .string(server.url("take")), "speed": .string("ultrafast"), "keyframe": .number(0.5)],
            reports: reports)
        let feed = try LiveFeed(sink)
        #expect(reports.waitForState("live", seconds: 10))
        usleep(4_000_000)
        server.crash()
        let known = reports.all.count
        #expect(reports.waitForState("retrying", after: 0, seconds: 15))
        try server.start()
        #expect(reports.waitForState("live", after: known, seconds: 40))
        usleep(4_000_000)
        try feed.stop()
        #expect(reports.states == ["connecting", "live", "retrying", "live", "ended"], "\(reports.states)")
        #expect(reports.problems.contains { $0.code == .network && $0.node == "out" })

        let files = server.taken
        try #require(files.count == 2, "\(files)")
        for file in files {
            let luma = try decodedLuma(file)
            #expect(luma.count > 60, "\(file)")
            // Each picture is the one after the one before.
            for (one, next) in zip(luma, luma.dropFirst()) {
                let step = (next - one + 128) % 128
                #expect(abs(step - 8) <= 3, "\(file): \(one) to \(next)")
            }
            let times = try pictureTimes(file)
            let steps = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { $0 > 0 }, "\(file): \(steps)")
            // The server's jitter buffer sets its clock anew when the machine keeps it waiting; else steps are even.
            #expect(steps.count { abs($0 - 1 / 30.0) >= 0.02 } <= 2, "\(file): \(steps)")
            #expect(try probe(file, "packet=flags", stream: "v").first?.hasPrefix("K") == true)
            #expect(try probe(file, "stream=codec_name", stream: "a") == ["aac"])
        }
    }

    /// Picture and sound come, stop with the server, and come back with it.
    @Test func aServerPlaysBreaksAndPlaysAgain() throws {
        let server = try RTSPServer()
        let events = SourceEvents()
        let source = try makeSource(
            "stream", ["url": .string(server.url("cam")), "timeout": .number(3)], offline: false, events: events)
        let format = try source.open()
        defer { source.stop() }
        #expect(format.isLive && format.video?.width == 320 && format.video?.height == 180)
        #expect(format.audio == AudioFormat(sampleRate: 48_000, channels: 2))
        try source.start()
        var tick: Int64 = 0
        func run(seconds: Double) -> (shown: Int, heard: Int, held: Bool) {
            let begin = monotonicNanoseconds()
            var (shown, heard, held): (Set<Int64>, Int, Bool) = ([], 0, true)
            let block = AudioBlock(format: AudioFormat(sampleRate: 48_000, channels: 2), capacity: 4800)
            let first = tick
            for _ in 0..<Int64(seconds * 30) {
                let due = begin + FrameRate(30).time(ofFrame: tick - first).nanoseconds
                let wait = due - monotonicNanoseconds()
                if wait > 0 { usleep(UInt32(wait / 1000)) }
                let now = Tick(index: tick, rate: FrameRate(30), hostTime: due, isOffline: false)
                if case .frame(let frame) = source.frame(at: now) { shown.insert(frame.sequence) } else { held = false }
                block.count = 1600
                _ = source.sound(at: now, into: block)
                let samples = UnsafeBufferPointer(start: block.channel(0), count: block.count)
                if samples.contains(where: { abs($0) > 0.1 }) { heard += 1 }
                tick += 1
            }
            return (shown.count, heard, held)
        }
        _ = run(seconds: 2)
        let before = run(seconds: 4)
        #expect(before.shown > 100 && before.heard > 115, "\(before)")
        server.crash()
        let away = run(seconds: 6)
        #expect(away.held && away.shown < 60, "\(away)")
        #expect(events.waitForLost(seconds: 1))
        try server.start()
        _ = run(seconds: 12)
        #expect(events.waitForBack(seconds: 1))
        let after = run(seconds: 4)
        #expect(after.shown > 100 && after.heard > 115, "\(after)")
    }
}
