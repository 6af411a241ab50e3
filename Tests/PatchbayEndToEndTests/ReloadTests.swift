import Glibc
import PatchMedia
import PatchTesting
import Testing

/// Editing on air.
@Suite struct ReloadTests {
    /// A graph whose every output pixel is the grey `level` (0…255) whatever comes in; `extra` goes to the end.
    static func script(level: Int, extra: String = "") -> String {
        """
        graph { fps = 30 }
        local clip = video { "clip", file = "clip.mp4", loop = true }
        local raw = rawDataOutput { "raw", file = "out.y4m", container = "y4m", size = "320x180" }
        local live = publisher { "live", url = secret "PATCHBAY_URL", preset = "basic-landscape" }
        local look = kernel {
          summary = "Paints everything one grey.",
          pixel = function(c, p) return vec4(\(level) / 255, \(level) / 255, \(level) / 255, 1) + c * 0 end,
        }
        clip >> look { "look" } >> { raw, live }
        \(extra)
        """
    }

    /// Luma code of a grey, limited range: Y = 16 + 219 · level / 255.
    static func luma(_ level: Int) -> Int { Int((16 + 219 * Double(level) / 255).rounded()) }

    /// Bad saves, each with the words that its report must have.
    static let badSaves: [(name: String, change: String, words: String)] = [
        ("a syntax error", "local x = = 1", "syntax error"),
        ("a run-time error", "local t = nil; t.field = 1", "nil"),
        ("an unknown filter", "clip >> filter.brightnes {} >> raw", "filter.brightness?"),
        ("a missing asset", "local logo = image { \"logo\", file = \"nowhere.png\" }", "nowhere.png"),
        ("a wrong parameter", "local wrong = filter.brightness { brightness = 99 }", "99"),
        ("an endless loop", "while true do end", "loop"),
    ]

    /// What is right whatever else the machine does is expected of every broadcast: each save is told once, each picture is
    /// wholly one look, in order. That nothing is lost or late needs a machine with room for it, compiling included: a broadcast
    /// that lost something is compared with one without saves, and tried again with more time between saves. A fault of
    /// saving itself shows at any pace.
    @Test func twoHundredSavesInOneBroadcast() throws {
        var record: [String] = []
        var blamed = 0
        for pause in [0, 0.1, 0.3] {
            let saved = try lossesOfABroadcast(saves: 200, pause: pause)
            record.append("200 saves in \(saved.ticks) frames: \(saved.losses)")
            if saved.losses.isEmpty { break }
            let calm = try lossesOfABroadcast(seconds: min(30, saved.ticks / 30))
            record.append("no saves in \(calm.ticks) frames: \(calm.losses)")
            if calm.losses.isEmpty { blamed += 1 }
        }
        print(record.joined(separator: "\n"))
        if blamed == 3 { Issue.record("saving loses what a calm broadcast keeps: \(record)") }
        if record.count == 6, blamed < 3 { print("the machine was too busy to prove that saving loses nothing") }
    }

    /// A broadcast that is saved into so many times, every second time something broken, as fast as the answers come or with a
    /// pause (seconds) after each; or one of so many seconds without a save.
    /// - Returns: how many frames it had, and what was late or missing, in words; empty on a machine with room for it.
    private func lossesOfABroadcast(
        saves: Int = 0, pause: Double = 0, seconds: Int = 0
    ) throws -> (ticks: Int, losses: [String]) {
        let server = try MediaServer()
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bigBuckBunny), directory.file("clip.mp4")])
        let run = try GraphRun(
            Self.script(level: 20), environment: ["PATCHBAY_URL": server.url() as String?], directory: directory)
        let next = try run.waitUntilOnAir()
        let viewer = try Program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-analyzeduration", "1M", "-i", server.url(), "-c", "copy",
                directory.file("seen.mkv"),
            ])
        try save(saves, into: run, directory, from: next, pause: pause)
        usleep(UInt32(seconds) * 1_000_000)
        // Each save was told once.
        #expect(run.events.count { $0.event == "reloaded" } == saves / 2)
        #expect(run.events.count { $0.event == "rejected" } == saves / 2)
        // The viewer first: it looks at signals only between packets.
        viewer.signal(SIGINT)
        _ = try viewer.waitForEnd(within: 20)
        let (outcome, statistics) = try run.interrupt()
        #expect(outcome.exitCode == 130)
        #expect(statistics.generation >= saves / 2 + 1)

        var losses: [String] = []
        // A hundredth may be late: the first ticks touch memory for the first time.
        if statistics.late * 100 > statistics.ticks { losses.append("\(statistics.late) late") }
        for node in statistics.nodes where node.drops > 0 { losses.append("\(node.node) dropped \(node.drops)") }

        // Every frame is wholly one look, and the looks come in the order of the saves, none left out.
        let dropped = try #require(statistics.nodes.first { $0.node == "raw" }).drops
        let reader = try Y4MReader(directory.file("out.y4m"))
        var count = 0
        var seen: [Int] = []
        while let picture = try reader.next() {
            count += 1
            let codes = try #require(picture.soleColor(tolerance: 0), "frame \(count) has two colours")
            #expect(abs(codes[1] - 128) <= 1 && abs(codes[2] - 128) <= 1)
            if seen.last != codes[0] { seen.append(codes[0]) }
        }
        // The raw output has one picture a tick, but for those that it says it dropped.
        #expect(count + dropped == statistics.ticks)
        let expected = (0...saves / 2).map { Self.luma(20 + 2 * $0) }
        if dropped == 0 {
            #expect(seen.count == expected.count, "\(seen)")
            #expect(zip(seen, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(seen)")
        } else {
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "\(seen)")
        }

        // The viewer saw no gap: what a publisher lacks, it repeats.
        let times = try FFprobe.frames(directory.file("seen.mkv")).compactMap(\.pts)
        if times.count <= 100 { losses.append("the viewer saw \(times.count) frames") }
        for (before, after) in zip(times, times.dropFirst()) {
            #expect(abs(after - before - 1 / 30) < 0.0025, "a gap of \(after - before) s at \(before) s")
        }
        return (statistics.ticks, losses)
    }

    private func save(
        _ saves: Int, into run: GraphRun, _ directory: TemporaryDirectory, from first: Int, pause: Double
    ) throws {
        var next = first
        var level = 20
        for save in 0..<saves {
            usleep(UInt32(pause * 1e6))
            if save % 2 == 0 {
                level += 2
                try directory.replace("graph.lua", with: Self.script(level: level))
                next = try run.wait(for: "save \(save) on air", from: next) { $0.event == "reloaded" }.next
            } else {
                let bad = Self.badSaves[save / 2 % Self.badSaves.count]
                try directory.replace("graph.lua", with: Self.script(level: level, extra: bad.change))
                let (event, after) = try run.wait(for: "\(bad.name) is refused", from: next) {
                    $0.event == "rejected" && "\($0.error?.message ?? "") \($0.error?.remedy ?? "")".contains(bad.words)
                }
                next = after
                #expect(event.error?.file?.hasSuffix("graph.lua") == true, "\(bad.name): \(event)")
                #expect(event.error?.line == 10, "\(bad.name): \(event)")
            }
        }
    }

    /// From the moment of saving to the arrival of the first whole frame with the new look.
    @Test func savingShowsTheNewLookInABlink() throws {
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bigBuckBunny), directory.file("clip.mp4")])
        let fifo = directory.file("pipe.y4m")
        #expect(mkfifo(fifo, 0o600) == 0)
        let script = { (level: Int) in
            """
            graph { fps = 30 }
            local clip = video { "clip", file = "clip.mp4", loop = true }
            local raw = rawDataOutput { "raw", file = "pipe.y4m", container = "y4m" }
            local paint = kernel {
              summary = "Paints everything one grey.",
              pixel = function(c, p) return vec4(\(level) / 255, \(level) / 255, \(level) / 255, 1) + c * 0 end,
            }
            clip >> filter.brightness { brightness = 0.1 } >> filter.contrast { contrast = 1.1 }
              >> filter.saturation { saturation = 1.2 } >> filter.grayscale {} >> filter.invert {}
              >> filter.brightness { brightness = -0.1 } >> filter.contrast { contrast = 0.9 }
              >> filter.saturation { saturation = 0.8 } >> filter.invert {} >> paint { "paint" } >> raw
            """
        }
        let run = try GraphRun(script(20), directory: directory)
        let reader = try Y4MReader(fifo)
        #expect(reader.width == 1280 && reader.height == 720)
        for _ in 0..<30 { _ = try reader.next() }
        var times: [Double] = []
        for edit in 1...20 {
            let level = 20 + edit * 10
            // Not in step with the frames: each edit begins somewhere else between two of them.
            usleep(UInt32(edit * 7 % 33) * 1000)
            let begin = monotonicNanoseconds()
            try directory.replace("graph.lua", with: script(level))
            var found = false
            for _ in 0..<120 where !found {
                guard let picture = try reader.next() else { break }
                guard picture.luma(640, 360) == Self.luma(level) else { continue }
                times.append(Double(picture.arrival - begin) / 1e6)
                found = true
            }
            #expect(found, "edit \(edit) never arrived")
            for _ in 0..<10 { _ = try reader.next() }
        }
        run.program.signal(SIGINT)
        while try reader.next() != nil {}
        _ = try run.program.waitForEnd(within: 20)
        times.sort()
        let median = times[times.count / 2]
        print(
            "save to first frame, ten filters at 720p30: median \(Int(median)) ms,",
            "best \(Int(times[0])) ms, worst \(Int(times[times.count - 1])) ms")
        // 60 ms is the promise on an idle machine; a shared one may be three times as slow and still has no fault.
        #expect(median < 180, "\(times)")
    }
}
