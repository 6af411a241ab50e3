import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Synchronization
import Testing

@Suite("rawDataOutput")
struct SinksRawDataTests {
    /// A picture whose every byte depends on its place.
    static func paint(_ frame: Frame, _ tick: Int64) {
        for index in 0..<frame.format.pixelFormat.planeCount {
            let layout = frame.format.pixelFormat.layout(ofPlane: index)
            let deep = frame.format.pixelFormat.bitDepth > 8
            for y in 0..<layout.height(of: frame.height) {
                let row = frame.plane(index).row(y).assumingMemoryBound(to: UInt8.self)
                for x in 0..<layout.width(of: frame.width) * layout.bytesPerPixel {
                    // 10-bit words are little-endian and have two bits in their second byte.
                    row[x] =
                        deep && x % 2 == 1
                        ? UInt8((x / 2 + y) % 4) : UInt8(truncatingIfNeeded: x * 3 + y * 5 + index * 7 + Int(tick) * 11)
                }
            }
        }
    }

    /// The same picture's bytes, tightly packed, worked out from the formula.
    static func expected(_ format: PixelFormat, width: Int, height: Int, tick: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<format.planeCount {
            let layout = format.layout(ofPlane: index)
            for y in 0..<layout.height(of: height) {
                for x in 0..<layout.width(of: width) * layout.bytesPerPixel {
                    bytes.append(
                        format.bitDepth > 8 && x % 2 == 1
                            ? UInt8((x / 2 + y) % 4)
                            : UInt8(truncatingIfNeeded: x * 3 + y * 5 + index * 7 + Int(tick) * 11))
                }
            }
        }
        return bytes
    }

    @Test("raw files hold tightly packed rows", arguments: ["bgra", "rgba", "yuv420p", "nv12", "yuv422p10", "gray8"])
    func rawFile(name: String) throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("frames.raw")
        let sink = try makeSink("rawDataOutput", ["file": .string(file), "format": .string(name)])
        let feeder = try Feeder(sink, width: 37, height: 21)
        for _ in 0..<3 { try feeder.feed(paint: Self.paint) }
        sink.finish()
        let format = try #require(PixelFormat(rawValue: name))
        let expected = (0..<3).flatMap { Self.expected(format, width: 37, height: 21, tick: $0) }
        #expect(try file.contentsOfFile() == expected)
    }

    @Test(
        "y4m is what ffmpeg reads: size, rate, layout, range and every byte",
        arguments: ["yuv420p", "yuv422p", "yuv444p", "yuv420p10", "yuv422p10", "yuv444p10", "gray8"])
    func y4m(name: String) throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("frames.y4m")
        let sink = try makeSink("rawDataOutput", ["file": .string(file), "format": .string(name)])
        let feeder = try Feeder(sink, width: 36, height: 20, rate: FrameRate(30000, over: 1001))
        for _ in 0..<3 { try feeder.feed(paint: Self.paint) }
        sink.finish()
        let pixels = name == "gray8" ? "gray" : name.hasSuffix("10") ? name + "le" : name
        let found = try probe(file, "stream=width,height,pix_fmt,color_range,r_frame_rate")
        #expect(found == ["36", "20", pixels, name == "gray8" ? "pc" : "tv", "30000/1001"])
        let decoded = try run("ffmpeg", ["-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", pixels, "-"]).output
        let format = try #require(PixelFormat(rawValue: name))
        #expect(decoded == (0..<3).flatMap { Self.expected(format, width: 36, height: 20, tick: $0) })
    }

    @Test("closures get format, size, strides, time, colour and number of each frame")
    func closure() throws {
        let handlers = RawDataHandlers()
        let kind = RawDataOutput.kind(handlers: handlers)
        guard case .sink(let make) = kind.factory else { return }
        let sink = try make(
            NodeOptions(["size": .vector([48, 64]), "format": .string("bgra")]), NodeEnvironment(nodeID: "raw"))
        let output = try #require(sink as? RawDataOutput)
        let byName = Mutex<[String]>([])
        let direct = Atomic(0)
        handlers.onFrame(of: "raw") { frame in
            let last = frame.row(63).last ?? 0
            byName.withLock {
                $0.append(
                    "\(frame.format) \(frame.width)x\(frame.height) \(frame.stride(ofPlane: 0) >= 192) \(frame.rowBytes(ofPlane: 0)) "
                        + "\(frame.pts) \(frame.duration) \(frame.sequence) \(frame.color.range) \(last)")
            }
        }
        handlers.onFrame(of: "other") { _ in Issue.record("another output's closure was called") }
        output.onFrame = { _ in direct.add(1, ordering: .relaxed) }
        let feeder = try Feeder(sink, width: 640, height: 480)
        #expect(feeder.request.video == VideoFormat(.bgra, width: 48, height: 64))
        try feeder.feed(paint: Self.paint)
        feeder.skip(2)
        try feeder.feed(paint: Self.paint)
        handlers.onFrame(of: "raw", nil)
        try feeder.feed(paint: Self.paint)
        // Last byte of row 63: 191·3 + 63·5 + 11·tick = 888 + 11·tick, modulo 256.
        #expect(
            byName.withLock { $0 } == [
                "bgra 48x64 true 192 0/30 s 1/30 s 0 full 120", "bgra 48x64 true 192 3/30 s 1/30 s 3 full 153",
            ])
        #expect(direct.load(ordering: .relaxed) == 3)
    }

    @Test("a FIFO without a reader holds up nobody; each reader gets a header and whole frames")
    func fifo() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let reports = Reports()
        let sink = try makeSink(
            "rawDataOutput", ["file": .string(path), "container": .string("y4m")], reports: reports)
        let feeder = try Feeder(sink, width: 32, height: 16)
        let start = monotonicNanoseconds()
        for _ in 0..<5 { try feeder.feed(paint: Self.paint) }
        #expect(monotonicNanoseconds() - start < 500_000_000)
        #expect(reports.notices == ["\(path) has no reader yet; waiting for one"])
        let header = "YUV4MPEG2 W32 H16 F30:1 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=LIMITED\nFRAME\n"
        for round in 0..<2 {
            let reader = open(path, O_RDONLY | O_NONBLOCK)
            let tick = feeder.tick
            try feeder.feed(paint: Self.paint)
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(reader, &buffer, buffer.count)
            let expected = Array(header.utf8) + Self.expected(.yuv420p, width: 32, height: 16, tick: tick)
            #expect(count == expected.count && Array(buffer.prefix(max(0, count))) == expected, "round \(round)")
            close(reader)
            // The next write finds nobody: no signal, no error, frames are skipped again.
            try feeder.feed(paint: Self.paint)
            try feeder.feed(paint: Self.paint)
        }
        #expect(reports.notices.count == 3)
        sink.finish()
    }

    @Test("a reader that stops reading blocks only until the output is interrupted")
    func interrupt() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let sink = try makeSink("rawDataOutput", ["file": .string(path)])
        let feeder = try Feeder(sink, width: 640, height: 480)
        let reader = open(path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        _ = try PosixThread(name: "interrupt") {
            usleep(200_000)
            sink.interrupt()
        }
        // A frame of 1.2 MB does not fit a pipe.
        let start = monotonicNanoseconds()
        try feeder.feed(paint: Self.paint)
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        #expect(seconds > 0.1 && seconds < 2)
    }

    @Test("a full disk ends in an error and leaves whole frames")
    func fullDisk() throws {
        let folder = try TemporaryDirectory()
        let disk = try SmallDisk(kilobytes: 64)
        let file = try disk?.folder.file("a.raw") ?? SmallDisk.fullFile("a.raw", in: folder)
        let sink = try makeSink("rawDataOutput", ["file": .string(file), "format": .string("gray8")])
        let feeder = try Feeder(sink, width: 100, height: 100)
        let error = #expect(throws: PatchError.self) { for _ in 0..<10 { try feeder.feed(paint: Self.paint) } }
        #expect(error?.code == .output)
        #expect(error?.cause == "No space left on device")
        sink.finish()
        guard disk != nil else { return }
        // 65,536 bytes hold six frames of 10,000.
        #expect(try file.contentsOfFile().count == 60_000)
    }

    @Test("outputs that cannot be written")
    func unwritable() throws {
        let sink = try makeSink("rawDataOutput", ["file": .string("/nonexistent/a.raw")])
        let error = #expect(throws: PatchError.self) { try Feeder(sink) }
        #expect(
            error?.description
                == "test.lua:7: node 'out': cannot write to /nonexistent/a.raw (No such file or directory); make the folder first"
        )
        let format = #expect(throws: PatchError.self) {
            try makeSink("rawDataOutput", ["file": .string("a.y4m"), "format": .string("bgra")])
        }
        #expect(format?.message == "y4m cannot carry bgra")
        let full = try makeSink("rawDataOutput", ["file": .string("/dev/full")])
        #expect(throws: PatchError.self) { try Feeder(full).feed() }
    }

    @Test("missing folders are made below the working directory")
    func folders() throws {
        let base = "build-test-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: base) }
        for path in [base + "/a/one.raw", FileManager.default.currentDirectoryPath + "/" + base + "/b/two.raw"] {
            let sink = try makeSink("rawDataOutput", ["file": .string(path)])
            let feeder = try Feeder(sink, width: 2, height: 2)
            try feeder.feed(paint: Self.paint)
            sink.finish()
            #expect(try path.contentsOfFile().count == 16)
        }
    }

    @Test("offline every frame waits for room, live the stated policy holds")
    func policies() throws {
        func policy(_ options: [String: OptionValue], offline: Bool = false) throws -> QueuePolicy {
            try makeSink("rawDataOutput", options, isOffline: offline)
                .negotiate(offered: VideoFormat(.rgba, width: 8, height: 8), hasSound: false, rate: FrameRate(30)).queue
        }
        #expect(try policy([:]) == .dropOldest(depth: 4))
        #expect(try policy(["policy": .string("dropNewest"), "queue": .number(2)]) == .dropNewest(depth: 2))
        #expect(
            try policy(["policy": .string("block"), "limit": .number(0.25)]) == .block(depth: 4, limit: 250_000_000))
        #expect(try policy([:], offline: true) == .block(depth: 4, limit: .max / 4))
    }
}

@Suite("snapshot")
struct SinksSnapshotTests {
    @Test("a PNG still holds every pixel of the frame at its time")
    func png() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("still.png")
        let sink = try makeSink("snapshot", ["file": .string(file), "at": .number(0.1)])
        let feeder = try Feeder(sink, width: 33, height: 17)
        for _ in 0..<6 { try feeder.feed(paint: SinksRawDataTests.paint) }
        sink.finish()
        let decoded = try run("ffmpeg", ["-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", "rgba", "-"]).output
        // Tick 3 is the first at or after 0.1 s.
        #expect(decoded == SinksRawDataTests.expected(.rgba, width: 33, height: 17, tick: 3))
    }

    @Test("a JPEG still looks like the frame")
    func jpeg() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("still.jpg")
        let sink = try makeSink("snapshot", ["file": .string(file)])
        let feeder = try Feeder(sink, width: 64, height: 48)
        try feeder.feed { frame, _ in Feeder.fill(frame, luma: 200) }
        sink.finish()
        let decoded = try DecodedVideo(file)
        #expect(decoded.width == 64 && decoded.height == 48)
        let mean = decoded.meanColor(ofFrame: 0)
        #expect(abs(mean.red - 200) < 2 && abs(mean.green - 200) < 2 && abs(mean.blue - 200) < 2)
    }

    @Test("premultiplied colour becomes straight, other formats are converted")
    func formats() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("a.png")
        let frame = Frame(allocating: VideoFormat(.rgba, width: 1, height: 1))
        let pixel = frame.plane(0).base.assumingMemoryBound(to: UInt8.self)
        // Half-covered orange: 100/128·255 = 199.2, 50/128·255 = 99.6.
        (pixel[0], pixel[1], pixel[2], pixel[3]) = (100, 50, 0, 128)
        try writePNG(frame, to: file)
        func decode() throws -> [UInt8] {
            try run("ffmpeg", ["-v", "error", "-i", file, "-f", "rawvideo", "-pix_fmt", "rgba", "-"]).output
        }
        #expect(try decode() == [199, 100, 0, 128])
        let bgra = Frame(allocating: VideoFormat(.bgra, width: 1, height: 1))
        let other = bgra.plane(0).base.assumingMemoryBound(to: UInt8.self)
        (other[0], other[1], other[2], other[3]) = (10, 20, 30, 255)
        try writePNG(bgra, to: file)
        #expect(try decode() == [30, 20, 10, 255])
        let half = #expect(throws: PatchError.self) {
            try writePNG(Frame(allocating: VideoFormat(.half4, width: 1, height: 1)), to: file)
        }
        #expect(half?.code == .media)
        let missing = #expect(throws: PatchError.self) { try writePNG(frame, to: "/nonexistent/a.png") }
        #expect(missing?.code == .output)
    }
}
