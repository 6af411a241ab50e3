import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Outputs that share an encoder, and those that must not.
@Suite("shared encoders", .serialized)
struct SinksEncoderTests {
    private static let encoding: [String: OptionValue] = [
        "bitrate": .number(800_000), "speed": .string("ultrafast"), "keyframe": .number(1),
    ]

    /// Two sinks in one engine.
    private func pair(
        _ first: (String, [String: OptionValue]), _ second: (String, [String: OptionValue])
    ) throws -> (any MediaSink, any MediaSink) {
        let shared = SharedWork()
        return (
            try makeSink(first.0, first.1.merging(Self.encoding) { a, _ in a }, shared: shared),
            try makeSink(second.0, second.1.merging(Self.encoding) { a, _ in a }, shared: shared)
        )
    }

    private func shares(_ sink: any MediaSink) throws -> Int {
        var statistics = NodeStatistics(id: "out", kind: "")
        try #require(sink as? any MeasuredSink).fill(&statistics)
        return try #require(statistics.output).encoderShares
    }

    @Test("a publisher and a recording of the same picture are one encode; both are whole")
    func publisherAndRecording() throws {
        let server = try MediaServer()
        let folder = try TemporaryDirectory()
        let file = folder.file("same.mp4")
        let (live, recorder) = try pair(
            ("publisher", ["url": .string(server.url())]), ("recorder", ["file": .string(file)]))
        let feeder = try Feeder([live, recorder])
        #expect(try shares(live) == 2 && shares(recorder) == 2)
        try feeder.feed(count: 90, flashes: true)
        // The first one to finish must not lose what the encoder still holds while the other one goes on.
        feeder.finish()
        let times = try pictureTimes(file)
        #expect(times.count == 90)
        expectCadence(times, rate: FrameRate(30), tolerance: 0.00002)
        for offset in try soundOffsets(file) { #expect(abs(offset) < 0.005) }
        let luma = try decodedLuma(file)
        for (tick, value) in luma.enumerated() where tick % 30 != 0 {
            #expect(abs(value - Int(Feeder.luma(Int64(tick)))) <= 3, "frame \(tick)")
        }
    }

    @Test("another bitrate, or another picture, is another encode")
    func differences() throws {
        let folder = try TemporaryDirectory()
        let files = ["a.mkv", "b.mkv"].map { folder.file($0) }
        let (one, other) = try pair(
            ("recorder", ["file": .string(files[0])]),
            ("recorder", ["file": .string(files[1]), "bitrate": .number(900_000)]))
        let feeder = try Feeder([one, other])
        #expect(try shares(one) == 1 && shares(other) == 1)
        try feeder.feed(count: 10)
        feeder.finish()

        // The same settings, but each its own picture: found out at the first frame.
        let (left, right) = try pair(
            ("recorder", ["file": .string(files[0])]), ("recorder", ["file": .string(files[1])]))
        let tapped = try Feeder([left, right])
        #expect(try shares(left) == 2)
        try tapped.feed(count: 60, taps: [0, 1])
        #expect(try shares(left) == 1 && shares(right) == 1)
        tapped.finish()
        for (index, file) in files.enumerated() {
            let luma = try decodedLuma(file)
            #expect(luma.count == 60)
            for (tick, value) in luma.enumerated() {
                #expect(abs(value - Int(Feeder.luma(Int64(tick + index * 8)))) <= 3, "\(file) frame \(tick)")
            }
        }
    }

    @Test("an edit that parts them leaves both continuous, each with its picture")
    func parting() throws {
        let folder = try TemporaryDirectory()
        let files = ["a.mkv", "b.mkv"].map { folder.file($0) }
        let (left, right) = try pair(
            ("recorder", ["file": .string(files[0])]), ("recorder", ["file": .string(files[1])]))
        let feeder = try Feeder([left, right])
        try feeder.feed(count: 45)
        feeder.generation = 2
        try feeder.feed(count: 45, taps: [0, 1])
        feeder.finish()
        for (index, file) in files.enumerated() {
            let times = try pictureTimes(file)
            #expect(times.count == 90)
            expectCadence(times, rate: FrameRate(30), tolerance: 0.0011)
            let luma = try decodedLuma(file)
            #expect(luma.count == 90)
            for (tick, value) in luma.enumerated() {
                let shown = tick + (tick >= 45 ? index * 8 : 0)
                #expect(abs(value - Int(Feeder.luma(Int64(shown)))) <= 3, "\(file) frame \(tick)")
            }
        }
    }

    @Test("a recorder that joins later begins with a keyframe at time 0, and ends while the other goes on")
    func joiningLate() throws {
        let folder = try TemporaryDirectory()
        let files = ["a.mkv", "b.mp4"].map { folder.file($0) }
        let (first, second) = try pair(
            ("recorder", ["file": .string(files[0])]), ("recorder", ["file": .string(files[1])]))
        let feeder = try Feeder([first])
        try feeder.feed(count: 40)
        try feeder.add(second)
        #expect(try shares(first) == 2)
        try feeder.feed(count: 50, flashes: true)
        feeder.remove(second)
        try feeder.feed(count: 60)
        feeder.finish()
        #expect(try pictureTimes(files[0]).count == 150)
        let times = try pictureTimes(files[1])
        #expect(times.first == 0)
        // It was given ticks 40 to 89. A keyframe that the encoder still held, tick 30's, may come first; and some more frames
        // until its thread came to end it.
        #expect(times.count >= 50 && times.count < 120, "\(times.count)")
        let luma = try decodedLuma(files[1])
        let begins = [30, 40].contains { begin in
            (0..<5).allSatisfy { abs(luma[$0] - Int(Feeder.luma(Int64(begin + $0)))) <= 3 }
        }
        #expect(begins, "\(luma.prefix(5))")
        expectCadence(times, rate: FrameRate(30), tolerance: 0.0002)
        for offset in try soundOffsets(files[1]) { #expect(abs(offset) < 0.005) }
    }

    @Test(
        "recordings split by time: every frame is in one part, each part begins at 0 and is whole",
        arguments: ["mp4", "mkv", "ts"])
    func splits(suffix: String) throws {
        let folder = try TemporaryDirectory()
        let sink = try makeSink(
            "recorder",
            [
                "file": .string(folder.file("show.\(suffix)")), "split": .number(2), "keyframe": .number(1),
                "speed": .string("ultrafast"),
            ])
        let feeder = try Feeder(sink)
        try feeder.feed(count: 150, flashes: true)
        feeder.finish()
        var shown = 0
        for (part, count) in [(1, 60), (2, 60), (3, 30)] {
            let file = folder.file("show-00\(part).\(suffix)")
            let luma = try decodedLuma(file)
            #expect(luma.count == count, "part \(part)")
            for (index, value) in luma.enumerated() where (shown + index) % 30 != 0 {
                #expect(abs(value - Int(Feeder.luma(Int64(shown + index)))) <= 3, "part \(part) frame \(index)")
            }
            shown += luma.count
            // The frame of sound that a part's first click begins in may belong to the part before.
            for offset in try soundOffsets(file).dropFirst(part == 1 ? 0 : 1) {
                #expect(abs(offset) < 0.005, "part \(part): \(offset) s")
            }
            if suffix == "mp4" { #expect(try pictureTimes(file).first == 0) }
        }
        #expect(access(folder.file("show-004.\(suffix)"), F_OK) != 0)
        // A second run writes over nothing.
        let again = try Feeder(
            makeSink("recorder", ["file": .string(folder.file("show.\(suffix)")), "split": .number(2)]))
        try again.feed(count: 5)
        again.finish()
        #expect(try decodedLuma(folder.file("show-004.\(suffix)")).count == 5)
        #expect(try decodedLuma(folder.file("show-001.\(suffix)")).count == 60)
    }

    @Test("recordings split by size")
    func splitsBySize() throws {
        let folder = try TemporaryDirectory()
        let sink = try makeSink(
            "recorder",
            [
                "file": .string(folder.file("show.mkv")), "splitSize": .number(1_000_000), "keyframe": .number(0.5),
                "bitrate": .number(8_000_000), "speed": .string("ultrafast"),
            ])
        let feeder = try Feeder(sink, sound: false)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<120 {
            try feeder.feed { frame, _ in
                for y in 0..<frame.height {
                    let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt64.self)
                    for x in 0..<frame.width / 8 { row[x] = generator.next() }
                }
            }
        }
        feeder.finish()
        let parts = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(parts.count >= 3, "\(parts)")
        var frames = 0
        for part in parts {
            frames += try pictureTimes(folder.file(part)).count
            let size = try FileManager.default.attributesOfItem(atPath: folder.file(part))[.size] as? Int ?? 0
            // At most one group more than was asked for.
            #expect(size < 2_000_000, "\(part): \(size)")
        }
        #expect(frames == 120)
    }
}

@Suite("bitrate controller")
struct BitrateControllerTests {
    /// A network that takes so many bits a second, in steps of a tick, with the encoder at the controller's bitrate.
    private func simulate(
        _ controller: inout BitrateController, capacity: Double, seconds: Int, from start: Int64, queue: inout Double
    ) -> [Int] {
        var trace: [Int] = []
        for step in 0..<seconds * 30 {
            let produced = Double(controller.bitrate + controller.audio) / 30
            let taken = min(queue + produced, capacity / 30)
            queue += produced - taken
            let waiting = queue / Double(controller.bitrate + controller.audio)
            _ = controller.update(
                now: start + Int64(step) * 33_333_333, accepted: taken * 30, waiting: waiting)
            trace.append(controller.bitrate)
        }
        return trace
    }

    @Test("down fast, up slowly, and it settles below what the network takes")
    func converges() {
        var controller = BitrateController(ceiling: 4_000_000, floor: 300_000, audio: 128_000)
        var queue = 0.0
        let wide = simulate(&controller, capacity: 8e6, seconds: 10, from: 0, queue: &queue)
        #expect(wide.allSatisfy { $0 == 4_000_000 })
        let narrow = simulate(&controller, capacity: 1.5e6, seconds: 120, from: 10_000_000_000, queue: &queue)
        // Within three seconds it is below what the network takes.
        #expect(narrow[90] < 1_500_000)
        let settled = narrow.suffix(30 * 60)
        #expect(settled.allSatisfy { $0 < 1_600_000 && $0 > 900_000 }, "\(settled.min() ?? 0)…\(settled.max() ?? 0)")
        #expect(queue < 1.5e6)
        let again = simulate(&controller, capacity: 8e6, seconds: 600, from: 130_000_000_000, queue: &queue)
        #expect(again[30 * 3] < 2_500_000)
        #expect(again[30 * 120] > 2_000_000)
        #expect(again.last == 4_000_000)
    }

    @Test("the floor holds")
    func floor() {
        var controller = BitrateController(ceiling: 2_000_000, floor: 500_000, audio: 0)
        var queue = 0.0
        let trace = simulate(&controller, capacity: 1e5, seconds: 60, from: 0, queue: &queue)
        #expect(trace.last == 500_000)
    }

    /// Frames that go in before the first packet comes out.
    @Test("low latency holds no picture back", arguments: ["h264", "h265"])
    func lowLatency(codec: String) throws {
        let folder = try TemporaryDirectory()
        func held(_ latency: String) throws -> Int {
            let sink = try makeSink(
                "publisher",
                [
                    "url": .string(folder.file("\(codec)-\(latency).m3u8")), "codec": .string(codec),
                    "latency": .string(latency), "speed": .string("ultrafast"), "audio": .string("none"),
                ])
            let feeder = try Feeder(sink, sound: false)
            let measured = try #require(sink as? any MeasuredSink)
            for count in 1...60 {
                try feeder.feed(count: 1)
                var statistics = NodeStatistics(id: "out", kind: "")
                measured.fill(&statistics)
                if let output = statistics.output, output.encodeP99 > 0 {
                    feeder.finish()
                    return count
                }
            }
            feeder.finish()
            return 61
        }
        #expect(try held("low") == 1)
        #expect(try held("normal") > 10)
    }

    @Test("low latency is refused where the codec has none")
    func lowLatencyOfAV1() throws {
        let error = try #require(throws: PatchError.self) {
            try makeSink(
                "publisher",
                [
                    "url": .string("a.m3u8"), "segments": .string("fmp4"), "codec": .string("av1"),
                    "latency": .string("low"),
                ])
        }
        #expect(error.remedy.contains("leave latency out") && error.node == "out")
    }
}
