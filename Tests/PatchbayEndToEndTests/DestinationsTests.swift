import Foundation
import PatchTesting
import Testing

/// Several destinations at once: what happens to one is no other's concern.
@Suite(.serialized) struct DestinationsTests {
    /// Mounts a tmpfs of so many kilobytes; unmounts it when nobody holds it any more.
    private final class SmallDisk {
        let folder: TemporaryDirectory
        init(kilobytes: Int) throws {
            folder = try TemporaryDirectory()
            try Program.run("mount", ["-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.path])
        }
        deinit { _ = try? Program.run("umount", [folder.path]) }
    }

    @Test func oneFailsTheOthersNeverNotice() throws {
        let server = try MediaServer()
        let disk = try SmallDisk(kilobytes: 3000)
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bigBuckBunny), directory.file("clip.mp4")])
        let port = try Ports.freeUDP()
        let received = directory.file("srt.ts")
        let receiver = try Program(
            "sh",
            ["-c", "exec srt-live-transmit -q -a:yes 'srt://127.0.0.1:\(port)?mode=listener' file://con > \(received)"])
        let run = try GraphRun(
            """
            graph { fps = 30 }
            local clip = video { "clip", file = "clip.mp4", loop = true }
            local how = { size = "320x180", bitrate = 500000, keyframe = 1, speed = "ultrafast" }
            local function with(t) for k, v in pairs(how) do t[k] = v end return t end
            clip >> publisher(with { "rtmp", url = secret "PATCHBAY_RTMP" })
            clip >> publisher(with { "srt", url = secret "PATCHBAY_SRT", required = false })
            clip >> recorder(with { "small", file = "\(disk.folder.file("small.mkv"))" })
            clip >> recorder(with { "keep", file = "keep.mkv" })
            """, arguments: ["--stats", "json"],
            environment: ["PATCHBAY_RTMP": server.url(), "PATCHBAY_SRT": "srt://127.0.0.1:\(port)"],
            directory: directory)
        var next = try run.waitUntilOnAir()
        for name in ["rtmp", "srt"] {
            _ = try run.wait(for: "\(name) is live") { $0.node == name && $0.state == "live" }
        }
        // All four are one encode.
        _ = try run.wait(for: "shares") { event in
            event.event == "stats" && event.statistics?.nodes.filter { $0.output?.encoderShares == 4 }.count == 4
        }

        server.crash()
        next = try run.wait(for: "rtmp retries", from: next, within: 20) { $0.node == "rtmp" && $0.state == "retrying" }
            .next
        let down = try run.wait(for: "the reason", within: 20) { $0.node == nil && $0.error?.node == "rtmp" }
        #expect(down.event.error?.code == "network")
        usleep(10_000_000)
        let whileDown = try #require(run.events.last { $0.event == "stats" }?.statistics)
        #expect(whileDown.nodes.first { $0.node == "rtmp" }?.state == "retrying")
        #expect(whileDown.nodes.first { $0.node == "srt" }?.state == "live")
        try server.start()
        next = try run.wait(for: "rtmp is back", from: next, within: 40) { $0.node == "rtmp" && $0.state == "live" }
            .next
        // From here on a viewer gets every picture, whatever happens to the others.
        let copy = directory.file("rtmp.mkv")
        let viewer = try Program(
            "ffmpeg", ["-v", "error", "-nostdin", "-analyzeduration", "1M", "-i", server.url(), "-c", "copy", copy])
        usleep(2_000_000)

        // Up to here the SRT receiver has seen every frame.
        let beforeStop = directory.file("before.ts")
        try Program.run("cp", [received, beforeStop])
        receiver.signal(SIGSTOP)
        next = try run.wait(for: "srt retries", from: next, within: 30) { $0.node == "srt" && $0.state == "retrying" }
            .next
        receiver.signal(SIGCONT)
        next = try run.wait(for: "srt is back", from: next, within: 60) { $0.node == "srt" && $0.state == "live" }.next

        usleep(3_000_000)
        let returned = directory.file("after.ts")
        try Program.run("cp", [received, returned])

        let full = try run.wait(for: "the disk is full", within: 120) { $0.node == "small" && $0.state == "failed" }
        #expect(full.event.state == "failed")
        #expect(run.events.contains { $0.error?.node == "small" && $0.error?.code == "output" })
        usleep(2_000_000)
        viewer.signal(SIGINT)
        try viewer.waitForEnd(within: 20)
        let (_, statistics) = try run.interrupt()
        // SRT's first attempts may come before its receiver listens, and a peer that was stopped may show as stalled first.
        func states(_ name: String) -> [String] {
            run.events.filter { $0.node == name }.compactMap(\.state).filter { $0 != "stalled" }
        }
        #expect(states("rtmp") == ["connecting", "live", "retrying", "live", "ended"])
        #expect(states("srt").suffix(4) == ["live", "retrying", "live", "ended"])
        #expect(states("small") == ["failed"])
        #expect(!states("keep").contains("failed"))
        let nodes = Dictionary(uniqueKeysWithValues: statistics.nodes.map { ($0.node, $0) })
        #expect(nodes["keep"]?.drops == 0)

        // The recording has every tick, one frame after the other; and so has what SRT brought before its receiver stopped.
        let kept = try FFprobe.frames(directory.file("keep.mkv")).compactMap(\.pts)
        #expect(kept.count == nodes["keep"]?.frames)
        expectFrames(kept, tolerance: 0.0011)
        let seen = try FFprobe.frames(beforeStop).compactMap(\.pts)
        #expect(seen.count > 300)
        expectFrames(seen, tolerance: 0.0002)
        // The stream that came back goes on later on the same time line, with a keyframe, and misses nothing from there on.
        // Of what was on its way when the receiver stopped, parts may have come too late.
        let resumed = try FFprobe.packets(returned)
        let times = resumed.compactMap(\.pts)
        #expect(times.count == resumed.count && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        let jump = try #require(times.indices.dropFirst().last { times[$0] - times[$0 - 1] > 0.034 })
        #expect(resumed[jump].isKey && times[jump] - times[jump - 1] > 1 && times.count - jump > 60)
        expectFrames(Array(times[jump...]), tolerance: 0.0002)
        let viewed = try FFprobe.packets(copy)
        #expect(viewed.count > 300 && viewed.first?.isKey == true)
        expectFrames(viewed.compactMap(\.pts), tolerance: 0.0021)
        // What fits on the small disk plays.
        #expect(try FFprobe.frames(disk.folder.file("small.mkv")).count > 100)
        receiver.signal(SIGKILL)
    }

    /// Numbers a second, for programs and for Prometheus.
    @Test func numbersAreTold() throws {
        let port = try Ports.freeUDP()
        let sender = try Program(
            "ffmpeg",
            [
                "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=160x90:r=30", "-f", "lavfi", "-i",
                "sine=r=48000",
                "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "15", "-pix_fmt", "yuv420p",
                "-c:a", "aac", "-f", "mpegts", "udp://127.0.0.1:\(port)?pkt_size=1316",
            ])
        let directory = try TemporaryDirectory()
        // A reader that reads nothing for six seconds: a picture or two fill its pipe.
        try Program.run("mkfifo", [directory.file("slow")])
        let reader = try Program("sh", ["-c", "exec < \(directory.file("slow")); sleep 6; cat > /dev/null"])
        let run = try GraphRun(
            """
            graph { fps = 30 }
            local bars = testPattern { "bars", kind = "bars", size = "320x180" }
            bars >> filter.contrast { "look", contrast = 1.2 } >> recorder { "rec", file = "out.mkv", bitrate = 300000 }
            local far = stream { "far", url = "udp://127.0.0.1:\(port)" }
            far >> rawDataOutput { "slow", file = "slow", format = "rgba" }
            far >> recorder { "heard", file = "heard.mkv", bitrate = 300000, speed = "ultrafast" }
            """, arguments: ["--stats", "json", "--metrics", "0"], directory: directory)
        let note = try run.wait(for: "the port") { $0.text?.hasPrefix("metrics on port ") == true }.event
        let metricsPort = try #require(note.text.flatMap { Int($0.split(separator: " ").last ?? "") })
        let start = try run.wait(for: "numbers") { $0.event == "stats" }
        let later = try run.wait(for: "more numbers", from: start.next, within: 20) { event in
            event.event == "stats" && (event.statistics?.nodes.first { $0.node == "rec" }?.output?.bytesSent ?? 0) > 0
        }.event
        #expect(later.time - start.event.time > 0.9)
        let recorder = try #require(later.statistics?.nodes.first { $0.node == "rec" })
        #expect(recorder.state == "live" && recorder.output?.targetBitrate == 300_000)
        #expect((recorder.output?.encodeP99ms ?? 0) > 0 && (recorder.output?.sendP99ms ?? 0) > 0)
        #expect((recorder.output?.encodeP50ms ?? 0) > (recorder.output?.sendP50ms ?? .infinity))

        // Each node has its own: what is slow is late and drops, what it hangs on is not.
        let slow = try #require(
            try run.wait(for: "a late output", within: 30) { event in
                (event.statistics?.nodes.first { $0.node == "slow" }.map { $0.late > 0 && $0.drops > 30 }) ?? false
            }.event.statistics?.nodes.first { $0.node == "slow" })
        #expect(slow.frames > 0)
        let far = try run.wait(for: "numbers of the stream", within: 30) { event in
            event.statistics?.nodes.first { $0.node == "far" }?.source?.avOffsetMs != nil
        }.event.statistics?.nodes.first { $0.node == "far" }
        #expect(far?.state == "live" && far?.source?.latencyMs ?? 0 > 0 && far?.source?.reconnects == 0)
        let before = try #require(far?.late)
        sender.signal(SIGSTOP)
        _ = try run.wait(for: "a late source", from: run.events.count, within: 30) { event in
            event.statistics?.nodes.first { $0.node == "far" }.map { $0.late > before + 25 } ?? false
        }
        sender.signal(SIGCONT)
        _ = try run.wait(for: "the stream", from: run.events.count, within: 30) { event in
            event.statistics?.nodes.first { $0.node == "far" }.map { $0.state == "live" && $0.source?.latencyMs != nil }
                ?? false
        }

        let url = "http://127.0.0.1:\(metricsPort)"
        var page = ""
        // A source has no offset while none of its sound is heard.
        try eventually("the source's numbers", within: 30) {
            page = try Program.run("python3", ["-c", Self.get, url + "/metrics"]).text
            return page.contains("source_av_offset_seconds") && page.contains("source_latency_seconds")
        }
        let metric = /^(patchbay_[a-z_]+)(\{([a-z]+="[^"]*"(,[a-z]+="[^"]*")*)\})? -?[0-9.e+-]+$/
        var names: Set<String> = []
        for line in page.split(separator: "\n") where !line.hasPrefix("#") {
            let match = try #require(try metric.wholeMatch(in: line), "\(line)")
            names.insert(String(match.1))
        }
        for name in [
            "ticks_total", "late_ticks_total", "node_frames_total", "node_drops_total", "node_late_ticks_total",
            "node_queue_frames", "node_state", "source_latency_seconds", "source_av_offset_seconds",
            "source_reconnects_total", "source_corrupt_packets_total", "source_stand_in",
            "output_sent_bytes_total", "output_bits_per_second", "output_reconnects_total", "output_encode_seconds",
            "output_send_seconds",
        ] { #expect(names.contains("patchbay_" + name), "\(page)") }
        #expect(page.contains("patchbay_node_state{node=\"rec\",state=\"live\"} 1"))
        #expect(try Program.run("python3", ["-c", Self.get, url + "/other"], mayFail: true).exitCode != 0)
        _ = try run.interrupt()
        sender.signal(SIGKILL)
        reader.signal(SIGKILL)

        let wrong = try Executable.run(["run", "graph.lua", "--stats", "xml"], directory: run.directory.path)
        #expect(wrong.errorText.contains("write --stats json"))
    }

    private static let get =
        "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1], timeout=5).read().decode())"
}
