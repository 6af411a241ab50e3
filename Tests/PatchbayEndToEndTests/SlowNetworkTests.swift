import Foundation
import PatchTesting
import Testing

/// Receivers that take less than is encoded, beside one that takes everything.
@Suite(.serialized) struct SlowNetworkTests {
    /// Two of four outputs go through a link of 480 kb/s that was wide before: one keeps its bitrate and drops groups, the other
    /// follows. The other two never notice, and memory stays what it was.
    @Test func slowReceiversAreTheirOwnAffair() throws {
        let server = try MediaServer()
        let links = try (0..<2).map { _ in try ThrottlingProxy(to: server.port, rate: 4_000_000) }
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bigBuckBunny), directory.file("clip.mp4")])
        func url(_ port: Int, _ name: String) -> String { "rtmp://127.0.0.1:\(port)/live/\(name)" }
        let run = try GraphRun(
            """
            graph { fps = 30 }
            local clip = video { "clip", file = "clip.mp4", loop = true }
            local how = { size = "480x270", bitrate = 1500000, keyframe = 1, speed = "ultrafast" }
            local function with(t) for k, v in pairs(how) do t[k] = v end return t end
            clip >> publisher(with { "slow", url = "\(url(links[0].port, "slow"))", buffer = 3 })
            clip >> publisher(with { "follows", url = "\(url(links[1].port, "follows"))", buffer = 3,
              adaptive = true, minimumBitrate = 100000 })
            clip >> publisher(with { "free", url = "\(server.url("free"))" })
            clip >> recorder(with { "keep", file = "keep.mkv" })
            """, arguments: ["--stats", "json"], directory: directory)
        let next = try run.waitUntilOnAir()
        for name in ["slow", "follows", "free"] {
            _ = try run.wait(for: "\(name) is live") { $0.node == name && $0.state == "live" }
        }
        let seen = directory.file("seen.mkv")
        let viewer = try Program(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-analyzeduration", "1M", "-i", server.url("free"), "-c", "copy", seen])
        usleep(4_000_000)
        let memory = try residentKilobytes(run.program.processID)
        for link in links { link.rate.store(60_000, ordering: .relaxed) }
        usleep(25_000_000)
        let grown = try residentKilobytes(run.program.processID) - memory
        // Three seconds of 1.6 Mb/s for each of the two are 1.2 MB.
        #expect(grown < 24_000, "\(grown) KB more")
        let numbers = run.events[next...].filter { $0.event == "stats" }.compactMap(\.statistics)
        func output(_ name: String, _ line: GraphRun.Event.Statistics) throws -> GraphRun.Event.Statistics.Output {
            try #require(line.nodes.first { $0.node == name }?.output)
        }
        let last = try #require(numbers.last)
        for line in numbers {
            for name in ["slow", "follows"] {
                let output = try output(name, line)
                #expect(output.waitingSeconds < 3.2 && output.waitingBytes < 900_000, "\(name): \(output)")
            }
        }
        let (slow, follows) = (try output("slow", last), try output("follows", last))
        // Of 25 groups about a third fits; a group counts once.
        #expect((3...30).contains(slow.droppedGroups) && slow.targetBitrate == 1_500_000, "\(slow)")
        #expect(run.events.contains { $0.error?.node == "slow" && $0.error?.message.contains("dropped") == true })
        #expect(follows.targetBitrate >= 100_000 && follows.targetBitrate < 480_000, "\(follows)")
        #expect(follows.waitingSeconds < 1.5, "\(follows)")
        for name in ["slow", "follows"] {
            #expect(try output(name, last).reconnects == 0)
            #expect(!run.events.contains { $0.node == name && ["retrying", "failed"].contains($0.state) })
        }
        let free = try output("free", last)
        #expect(free.droppedGroups == 0 && free.droppedPackets == 0 && free.waitingSeconds < 1, "\(free)")

        viewer.signal(SIGINT)
        try viewer.waitForEnd(within: 20)
        for link in links { link.rate.store(4_000_000, ordering: .relaxed) }
        let (_, statistics) = try run.interrupt()
        for link in links { link.stop() }
        let keep = try #require(statistics.nodes.first { $0.node == "keep" })
        #expect(keep.drops == 0)
        let kept = try FFprobe.frames(directory.file("keep.mkv")).compactMap(\.pts)
        #expect(kept.count == keep.frames)
        expectFrames(kept, tolerance: 0.0011)
        let viewed = try FFprobe.packets(seen).compactMap(\.pts)
        #expect(viewed.count > 700)
        // FLV counts milliseconds.
        expectFrames(viewed, tolerance: 0.0021)
    }

    /// What the process has in memory (proc(5), VmRSS).
    private func residentKilobytes(_ process: pid_t) throws -> Int {
        let text = String(decoding: try "/proc/\(process)/status".contentsOfFile(), as: UTF8.self)
        return try #require(text.firstMatch(of: /VmRSS:\s+([0-9]+) kB/).flatMap { Int($0.1) })
    }
}

/// Checks that each picture comes a thirtieth of a second after the one before.
func expectFrames(
    _ times: [Double], tolerance: Double, sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    for (before, after) in zip(times, times.dropFirst()) where abs(after - before - 1 / 30) > tolerance {
        Issue.record("a step of \(after - before) s at \(before) s", sourceLocation: sourceLocation)
        return
    }
}
