import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

@Suite("recorder")
struct SinksRecorderTests {
    static let containers: [(name: String, codec: String?, expected: String, sound: String, pixels: String)] = [
        ("a.mp4", nil, "h264", "aac", "yuv420p"), ("a.mkv", nil, "h264", "aac", "yuv420p"),
        ("a.ts", nil, "h264", "aac", "yuv420p"), ("a.flv", nil, "h264", "aac", "yuv420p"),
        ("a.mov", "prores", "prores", "aac", "yuv422p10le"), ("b.mp4", "h265", "hevc", "aac", "yuv420p"),
        ("a.webm", nil, "vp9", "opus", "yuv420p"), ("b.mkv", "av1", "av1", "aac", "yuv420p"),
    ]

    @Test("every frame and sample arrives, in every container", arguments: containers.indices)
    func containersHoldEverything(index: Int) throws {
        let (name, codec, expected, sound, pixels) = Self.containers[index]
        let scratch = try TemporaryDirectory()
        let file = scratch.file(name)
        var options: [String: OptionValue] = ["file": .string(file), "speed": .string("ultrafast")]
        if let codec { options["codec"] = .string(codec) }
        let feeder = try Feeder(makeSink("recorder", options))
        try feeder.feed(count: 75, flashes: true)
        feeder.sink.finish()
        // ffprobe lists a stream of MPEG-TS twice: below its program and by itself.
        #expect(
            try probe(file, "stream=codec_name,width,height,pix_fmt", stream: "v").prefix(4)
                == [expected, "320", "240", pixels])
        #expect(
            try probe(file, "stream=codec_name,sample_rate,channels", stream: "a").prefix(3) == [sound, "48000", "2"])
        let times = try pictureTimes(file)
        #expect(times.count == 75)
        // Matroska, WebM and FLV count milliseconds, MPEG-TS 1/90000 s, the others the rate itself.
        let coarse = ["mkv", "webm", "flv"].contains(name.split(separator: ".").last.map(String.init) ?? "")
        expectCadence(times, rate: FrameRate(30), tolerance: coarse ? 0.0011 : 0.00002)
        for offset in try soundOffsets(file) { #expect(abs(offset) < 0.005, "sound is off by \(offset) s") }
        // 75 frames at 30/s are 2.5 s; the last frame of sound may be padded to its full size.
        let decoded = try run("ffmpeg", ["-v", "error", "-i", file, "-map", "0:a", "-f", "s16le", "-ac", "1", "-"])
        let samples = decoded.output.count / 2
        #expect(samples >= 120_000 && samples <= 120_000 + 2048, "\(samples) samples")
        let luma = try decodedLuma(file)
        #expect(luma.count == 75)
        for (tick, value) in luma.enumerated() where tick % 30 != 0 {
            #expect(abs(value - Int(Feeder.luma(Int64(tick)))) <= 3, "frame \(tick)")
        }
    }

    @Test("dropped ticks are filled, so that time stamps and sound stay whole")
    func gapsAreFilled() throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.file("gap.mp4")
        let reports = Reports()
        let feeder = try Feeder(makeSink("recorder", ["file": .string(file)], reports: reports), startTick: 1000)
        try feeder.feed(count: 25)
        feeder.skip(5)
        try feeder.feed(count: 60, flashes: true)
        feeder.sink.finish()
        let times = try pictureTimes(file)
        #expect(times.count == 90)
        expectCadence(times, rate: FrameRate(30), tolerance: 0.00002)
        // Ticks 1025…1029 show tick 1024's picture.
        let luma = try decodedLuma(file)
        #expect(luma[24...29].allSatisfy { abs($0 - Int(Feeder.luma(1024))) <= 3 })
        for offset in try soundOffsets(file) { #expect(abs(offset) < 0.005) }
        #expect(reports.notices == ["5 of 90 frames repeat the one before: encoding was too slow"])
    }

    @Test("NTSC rates stay exact")
    func ntsc() throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.file("ntsc.mp4")
        let rate = FrameRate(30000, over: 1001)
        let feeder = try Feeder(makeSink("recorder", ["file": .string(file)]), rate: rate)
        try feeder.feed(count: 100)
        feeder.sink.finish()
        #expect(try probe(file, "stream=avg_frame_rate", stream: "v") == ["30000/1001"])
        expectCadence(try pictureTimes(file), rate: rate, tolerance: 0.00002)
    }

    @Test("fps halves or doubles the graph's rate", arguments: [(15.0, 30), (60.0, 120)])
    func rateConversion(fps: Double, count: Int) throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.file("rate.mp4")
        let feeder = try Feeder(makeSink("recorder", ["file": .string(file), "fps": .number(fps)]))
        try feeder.feed(count: 60)
        feeder.sink.finish()
        let times = try pictureTimes(file)
        #expect(times.count == count)
        expectCadence(times, rate: FrameRate(Int64(fps)), tolerance: 0.00002)
    }

    @Test("colour is tagged by size, odd sides lose a pixel")
    func colour() throws {
        let scratch = try TemporaryDirectory()
        for (size, tag) in [([321.0, 241.0], "smpte170m"), ([1280, 720], "bt709")] {
            let file = scratch.file("\(tag).mp4")
            let feeder = try Feeder(makeSink("recorder", ["file": .string(file), "size": .vector(size)]), sound: false)
            try feeder.feed(count: 3)
            feeder.sink.finish()
            let found = try probe(file, "stream=width,height,color_range,color_space", stream: "v")
            #expect(found == ["\(Int(size[0]) & ~1)", "\(Int(size[1]) & ~1)", "tv", tag])
            #expect(try probe(file, "stream=codec_name", stream: "a").isEmpty)
        }
    }

    @Test("keyframes come at the interval")
    func keyframes() throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.file("key.mkv")
        let feeder = try Feeder(makeSink("recorder", ["file": .string(file), "keyframe": .number(0.5)]), sound: false)
        // A still picture: no cut makes the encoder add keyframes of its own.
        for _ in 0..<60 { try feeder.feed { frame, _ in Feeder.fill(frame, luma: 100) } }
        feeder.sink.finish()
        let flags = try probe(file, "packet=flags", stream: "v").map { $0.hasPrefix("K") }
        #expect(flags.indices.filter { flags[$0] } == [0, 15, 30, 45])
    }

    @Test(
        "a file that is cut off anywhere after its first second plays",
        arguments: ["cut.mp4", "cut.mkv", "cut.mov", "cut.ts"])
    func killed(name: String) throws {
        let scratch = try TemporaryDirectory()
        let (file, copy) = (scratch.file(name), scratch.file("copy-" + name))
        let feeder = try Feeder(makeSink("recorder", ["file": .string(file), "speed": .string("ultrafast")]))
        try feeder.feed(count: 150)
        // What a killed process leaves: the bytes that were written, without an end.
        try FileManager.default.copyItem(atPath: file, toPath: copy)
        let whole = try #require(FileManager.default.contents(atPath: copy))
        try whole.dropLast(whole.count / 20).write(to: URL(fileURLWithPath: copy))
        feeder.sink.finish()
        let decoded = try decodedLuma(copy)
        #expect(decoded.count >= 75, "\(decoded.count) of 150 frames play")
        for (tick, value) in decoded.dropLast().enumerated() {
            #expect(abs(value - Int(Feeder.luma(Int64(tick)))) <= 3, "frame \(tick)")
        }
    }

    @Test("encoding neither copies frames nor keeps them")
    func poolStaysSmall() throws {
        let scratch = try TemporaryDirectory()
        let feeder = try Feeder(makeSink("recorder", ["file": .string(scratch.file("a.mp4"))]), sound: false)
        try feeder.feed(count: 200)
        // The one being filled, the last one (kept to fill a gap), and what the encoder has not copied yet.
        #expect(try #require(feeder.framesInPool) <= 4)
        feeder.sink.finish()
    }

    @Test("sound alone")
    func soundAlone() throws {
        let scratch = try TemporaryDirectory()
        let file = scratch.file("a.mkv")
        let sink = try makeSink("recorder", ["file": .string(file)])
        let request = try sink.negotiate(offered: nil, hasSound: true, rate: FrameRate(30))
        #expect(request.video == nil)
        try sink.open(video: nil, audio: request.audio, rate: FrameRate(30))
        for tick in 0..<30 {
            let block = AudioBlock(format: AudioFormat(), capacity: 1600)
            block.count = 1600
            try sink.consume(
                Delivery(
                    frame: nil, sound: block, pts: FrameRate(30).time(ofFrame: Int64(tick)),
                    duration: FrameRate(30).frameDuration, tick: Int64(tick), sequence: Int64(tick)))
        }
        sink.finish()
        #expect(try probe(file, "stream=codec_type") == ["audio"])
        let decoded = try run("ffmpeg", ["-v", "error", "-i", file, "-f", "s16le", "-ac", "1", "-"]).output.count / 2
        #expect(decoded >= 48_000 && decoded <= 48_000 + 2048)
    }

    @Test("an opened recorder keeps its format when the graph changes")
    func renegotiation() throws {
        let scratch = try TemporaryDirectory()
        let feeder = try Feeder(makeSink("recorder", ["file": .string(scratch.file("a.mp4"))]), sound: false)
        let again = try feeder.sink.negotiate(
            offered: VideoFormat(.rgba, width: 1920, height: 1080), hasSound: true, rate: FrameRate(25))
        #expect(again.video == feeder.request.video)
        #expect(again.audio == nil)
        feeder.sink.finish()
    }
}

@Suite("recorder, bad outputs")
struct SinksRecorderFailureTests {
    @Test("a folder that is missing")
    func missingFolder() throws {
        let sink = try makeSink("recorder", ["file": .string("/nonexistent/folder/a.mp4")])
        let error = #expect(throws: PatchError.self) { try Feeder(sink) }
        #expect(error?.code == .output)
        #expect(error?.node == "out")
        #expect(
            error?.description
                == "test.lua:7: node 'out': cannot write to /nonexistent/folder/a.mp4 (No such file or directory); "
                + "make the folder first")
    }

    @Test("unknown endings and codecs name the legal ones")
    func wrongNames() throws {
        let ending = #expect(throws: PatchError.self) { try makeSink("recorder", ["file": .string("a.xyz")]) }
        #expect(ending?.remedy == "end the name in .mp4, .mkv, .mov, .ts, .flv, .webm")
        let codec = #expect(throws: PatchError.self) {
            try makeSink("recorder", ["file": .string("a.webm"), "codec": .string("h264")])
        }
        #expect(codec?.message == "webm cannot hold codec 'h264'")
        #expect(codec?.remedy == "use vp9, av1")
    }

    @Test(
        "a disk that fills up stops the recorder with an error and leaves a playable file",
        arguments: ["full.mp4", "full.mkv"])
    func fullDisk(name: String) throws {
        let scratch = try TemporaryDirectory()
        let disk = try SmallDisk(kilobytes: 4096)
        let file = try disk?.folder.file(name) ?? SmallDisk.fullFile(name, in: scratch)
        let sink = try makeSink(
            "recorder", ["file": .string(file), "bitrate": .number(4e6), "speed": .string("ultrafast")])
        let feeder = try Feeder(sink, sound: false)
        var generator = SystemRandomNumberGenerator()
        let error = #expect(throws: PatchError.self) {
            for _ in 0..<600 {
                try feeder.feed { frame, _ in
                    for y in 0..<frame.height {
                        let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt64.self)
                        for x in 0..<frame.width / 8 { row[x] = generator.next() }
                    }
                }
            }
        }
        #expect(error?.code == .output)
        #expect(error?.cause == "No space left on device")
        #expect(error?.remedy == "free some space, or write to another disk")
        sink.finish()
        guard disk != nil else { return }
        let played = try run(
            "ffprobe",
            [
                "-v", "quiet", "-count_packets", "-select_streams", "v", "-show_entries", "stream=nb_read_packets",
                "-of", "default=nw=1:nk=1", file,
            ])
        #expect((Int(played.text.prefix { $0.isNumber }) ?? 0) > 30, "\(played.text)")
    }
}
