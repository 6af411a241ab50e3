import Foundation
import PatchTesting
import Testing

/// On air against a real service: nginx with its RTMP module on loopback.
@Suite struct BroadcastTests {
    /// A real clip through a look to RTMP: codec, size, cadence and sound as a viewer gets them.
    @Test func aViewerGetsWhatThePresetPromises() throws {
        let server = try MediaServer()
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bigBuckBunny), directory.file("clip.mp4")])
        let run = try GraphRun(
            """
            graph { fps = 30 }
            local clip = video { "clip", file = "clip.mp4", loop = true }
            clip >> filter.contrast { contrast = 1.1 }
              >> publisher { "live", url = secret "PATCHBAY_URL", preset = "basic-landscape" }
            """, environment: ["PATCHBAY_URL": server.url()], directory: directory)
        try run.waitUntilOnAir()
        _ = try run.wait(for: "the publisher is live") { $0.node == "live" && $0.state == "live" }

        // A viewer records four seconds without touching them.
        let seen = directory.file("seen.mkv")
        try Program.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-analyzeduration", "1M", "-i", server.url(), "-t", "4", "-c", "copy", seen],
            timeout: 40)
        let (outcome, statistics) = try run.interrupt()
        #expect(outcome.exitCode == 130)
        #expect(statistics.nodes.first { $0.node == "live" }?.drops == 0)

        let report = try FFprobe.report(seen)
        #expect(report.video?.codecName == "h264")
        #expect(report.audio?.codecName == "aac")
        #expect(report.video?.width == 852 && report.video?.height == 480)

        let pictures = try FFprobe.frames(seen).compactMap(\.pts)
        #expect(pictures.count > 90)
        // FLV counts milliseconds, so a thirtieth of a second is 33 or 34 of them.
        for (before, after) in zip(pictures, pictures.dropFirst()) {
            #expect(abs(after - before - 1 / 30) < 0.0025, "a gap of \(after - before) s at \(before) s")
        }
        let sounds = try FFprobe.frames(seen, stream: "a:0").compactMap(\.pts)
        for (before, after) in zip(sounds, sounds.dropFirst()) {
            #expect(after - before < 0.03 && after > before, "sound: \(after - before) s at \(before) s")
        }
    }

    /// A flash and a beep that begin together must arrive within 40 ms of each other.
    @Test func soundStaysInSyncWithThePicture() throws {
        let server = try MediaServer()
        let directory = try TemporaryDirectory()
        // Black and silent, but for white and a 1 kHz tone in the first 200 ms of every second.
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i",
                "color=black:s=320x180:r=30:d=8,drawbox=c=white:t=fill:enable='lt(mod(t,1),0.199)'", "-f", "lavfi",
                "-i", "aevalsrc='if(lt(mod(t,1),0.2),0.8*sin(2*PI*1000*t),0)':s=48000:d=8", "-c:v", "libx264", "-crf",
                "10",
                "-pix_fmt", "yuv420p", "-c:a", "aac", directory.file("flash.mp4"),
            ])
        let run = try GraphRun(
            """
            local clip = video { "clip", file = "flash.mp4", loop = true }
            clip >> filter.brightness { brightness = 0 } >> publisher { "live", url = secret "PATCHBAY_URL" }
            """, environment: ["PATCHBAY_URL": server.url()], directory: directory)
        try run.waitUntilOnAir()
        let seen = directory.file("seen.mkv")
        try Program.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-analyzeduration", "1M", "-i", server.url(), "-t", "5", "-c", "copy", seen],
            timeout: 40)
        _ = try run.interrupt()

        let flashes = try Self.flashes(seen)
        let beeps = try Self.beeps(seen)
        #expect(flashes.count >= 3 && beeps.count >= 3)
        var worst = 0.0
        for flash in flashes.dropFirst() where flash < (beeps.last ?? 0) + 0.1 {
            let nearest = beeps.min { abs($0 - flash) < abs($1 - flash) } ?? .infinity
            worst = max(worst, abs(nearest - flash))
        }
        print("sound against picture: at most \(Int(worst * 1e6)) µs apart in \(flashes.count) flashes")
        #expect(worst < 0.04, "flashes \(flashes), beeps \(beeps)")
    }

    /// When the picture turns white, in seconds.
    static func flashes(_ path: String) throws -> [Double] {
        let video = try DecodedVideo(path, size: (16, 9))
        let times = try FFprobe.frames(path).compactMap(\.pts)
        var result: [Double] = []
        var wasBright = true
        for index in 0..<min(times.count, video.frames.count) {
            let isBright = video.meanColor(ofFrame: index).green > 128
            if isBright, !wasBright { result.append(times[index]) }
            wasBright = isBright
        }
        return result
    }

    /// When the tone begins, in seconds on the picture's time line.
    static func beeps(_ path: String) throws -> [Double] {
        let start = try FFprobe.frames(path, stream: "a:0").compactMap(\.pts).first ?? 0
        let outcome = try Program.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", path, "-map", "0:a:0", "-ac", "1", "-ar", "48000", "-f", "s16le", "-"])
        let samples = outcome.output.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        var result: [Double] = []
        var quiet = 0
        for (index, sample) in samples.enumerated() {
            if abs(Int(sample)) > 6000 {
                // 300 ms of silence before it make it a new beep.
                if quiet > 14_400 { result.append(start + Double(index) / 48_000) }
                quiet = 0
            } else {
                quiet += 1
            }
        }
        return result
    }

    /// The service goes away and comes back: the publisher says so and goes on by itself; the rest never notices.
    @Test func aServiceThatRestartsGetsTheStreamBack() throws {
        let server = try MediaServer()
        let run = try GraphRun(
            """
            local bars = testPattern { "bars", kind = "bars", size = "320x180", fps = 30 }
            bars >> publisher { "live", url = secret "PATCHBAY_URL" }
            bars >> rawDataOutput { "raw", file = "out.y4m", container = "y4m" }
            """, environment: ["PATCHBAY_URL": server.url()])
        var next = try run.wait(for: "live") { $0.state == "live" }.next
        server.crash()
        next = try run.wait(for: "retrying", from: next, within: 20) { $0.state == "retrying" || $0.state == "stalled" }
            .next
        try server.start()
        next = try run.wait(for: "live again", from: next, within: 40) { $0.state == "live" }.next
        #expect(try FFprobe.report(server.url(), timeout: 20).video?.width == 320)
        let (_, statistics) = try run.interrupt()
        #expect(statistics.nodes.first { $0.node == "raw" }?.drops == 0)
        #expect(statistics.nodes.first { $0.node == "raw" }?.frames == statistics.ticks)
    }
}
