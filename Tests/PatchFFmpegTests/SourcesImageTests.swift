import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// `image{}` against ImageMagick and ffmpeg.
@Suite struct SourcesImageTests {
    /// Opens an image and gives its frame.
    private func load(_ file: String, _ options: [String: OptionValue] = [:], events: SourceEvents = SourceEvents())
        throws -> Frame
    {
        let source = try makeSource("image", options.merging(["file": .string(file)]) { a, _ in a }, events: events)
        defer { source.stop() }
        let format = try source.open()
        try source.start()
        guard
            case .frame(let frame) = source.frame(
                at: Tick(index: 9, rate: FrameRate(30), hostTime: 0, isOffline: false))
        else { throw TestProblem("no frame") }
        #expect(format.video == frame.format)
        #expect(!format.isLive && format.audio == nil)
        return frame
    }

    private func magick(_ arguments: [String]) throws { try Program.run("convert", arguments) }

    @Test func pngIsExact() throws {
        let path = try Fixtures.path(.astronaut)
        let frame = try load(path)
        #expect(frame.format.pixelFormat == .rgba)
        #expect(frame.format.color == .srgb)
        #expect(frame.checksum == (try ReferenceFrame.all(of: path, pixelFormat: "rgba")).first?.checksum)
    }

    @Test func jpegKeepsItsPlanes() throws {
        let path = try Fixtures.path(.graceHopper)
        let frame = try load(path)
        #expect(frame.format.color.range == .full)
        #expect(frame.format.pixelFormat.isYCbCr)
        #expect((frame.width, frame.height) == (512, 600))
        #expect(frame.checksum == (try ReferenceFrame.all(of: path)).first?.checksum)
    }

    @Test func alphaIsPremultiplied() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("alpha.png")
        try magick(["-size", "4x4", "xc:rgba(255,128,10,0.501961)", "PNG32:" + file])
        let frame = try load(file)
        // 255·128/255 = 128, 128·128/255 = 64.25 → 64, 10·128/255 = 5.02 → 5.
        #expect(frame.pixel(2, 2) == [128, 64, 5, 128])
        #expect(frame.format.premultiplied)
    }

    @Test func greyWithAlphaAndSixteenBits() throws {
        let folder = try TemporaryDirectory()
        let grey = folder.file("ga.png")
        try magick(["-size", "4x4", "xc:rgba(200,200,200,0.2)", "-define", "png:color-type=4", "-depth", "8", grey])
        let pixel = try load(grey).pixel(1, 1)
        // Alpha 0.2·255 = 51; 200·51/255 = 40.
        #expect(pixel == [40, 40, 40, 51])
        let deep = folder.file("deep.png")
        try magick(["-size", "4x4", "xc:rgb(25700,51400,65535)", "-depth", "16", "PNG48:" + deep])
        let expected = try Program.run("convert", [deep, "-depth", "8", "rgba:-"]).output
        let shown = try load(deep).pixel(1, 1)
        for channel in 0..<4 { #expect(abs(Int(shown[channel]) - Int(expected[channel])) <= 1) }
    }

    @Test func cmykJpeg() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("cmyk.jpg")
        try magick(["-size", "32x32", "xc:cmyk(0,255,255,0)", "-colorspace", "CMYK", "-quality", "100", file])
        let frame = try load(file)
        // Full magenta and yellow is red.
        let pixel = frame.format.pixelFormat == .rgba ? frame.pixel(16, 16) : []
        try #require(pixel.count == 4, "\(frame.format)")
        #expect(pixel[0] > 230 && pixel[1] < 40 && pixel[2] < 40 && pixel[3] == 255, "\(pixel)")
    }

    @Test(arguments: 1...8)
    func exifOrientation(value: Int) throws {
        let folder = try TemporaryDirectory()
        // Four corners of different grey, stored as they are, with the tag set.
        let plain = folder.file("plain.png")
        try magick([
            "-size", "48x32", "xc:gray(100)", "-fill", "gray(0)", "-draw", "rectangle 0,0 15,15", "-fill", "gray(255)",
            "-draw",
            "rectangle 32,16 47,31", "-fill", "gray(180)", "-draw", "rectangle 32,0 47,15", plain,
        ])
        let jpeg = folder.file("plain.jpg")
        try magick([plain, "-colorspace", "Gray", "-quality", "100", jpeg])
        let tagged = try folder.write("tagged.jpg", bytes: withExif(jpeg.contentsOfFile(), orientation: value))
        // ImageMagick's own idea of upright.
        let upright = try Program.run("convert", [tagged, "-auto-orient", "-depth", "8", "gray:-"]).output
        let frame = try load(tagged)
        let (width, height) = frame.format.displaySize
        #expect((width, height) == (value >= 5 ? (32, 48) : (48, 32)))
        try #require(upright.count == width * height)
        var worst = 0
        for y in 0..<height {
            for x in 0..<width {
                let (fromX, fromY) = frame.format.orientation.source(
                    x: x, y: y, width: frame.width, height: frame.height)
                let ours = Int(frame.plane(0).row(fromY).load(fromByteOffset: fromX, as: UInt8.self))
                worst = max(worst, abs(ours - Int(upright[y * width + x])))
            }
        }
        #expect(worst <= 3, "orientation \(value)")
    }

    @Test func svgAtItsSizeAndAtAnother() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            "half.svg",
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">
            <rect x="0" y="0" width="20" height="20" fill="#ff0000"/>
            <rect x="24" y="4" width="8" height="8" fill="#00c800" fill-opacity="0.501961"/></svg>
            """)
        let frame = try load(file)
        #expect((frame.width, frame.height) == (40, 20))
        #expect(frame.pixel(5, 10) == [255, 0, 0, 255])
        #expect(frame.pixel(35, 10) == [0, 0, 0, 0])
        // 200·128/255 = 100.4.
        #expect(frame.pixel(28, 8) == [0, 100, 0, 128])
        let large = try load(file, ["size": .vector([80, 40])])
        #expect((large.width, large.height) == (80, 40))
        #expect(large.pixel(30, 20) == [255, 0, 0, 255])
        #expect(large.pixel(74, 20) == [0, 0, 0, 0])
    }

    @Test func webp() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("a.webp")
        try magick(["-size", "32x16", "xc:rgba(0,200,0,0.501961)", "-define", "webp:lossless=true", file])
        let pixel = try load(file).pixel(3, 3)
        // 200·128/255 = 100.4.
        #expect(pixel == [0, 100, 0, 128])
    }

    @Test func animationsShowTheirFirstPictureAndSaySo() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("a.gif")
        try magick(["-size", "16x16", "xc:red", "xc:blue", "-delay", "10", "-loop", "0", file])
        let events = SourceEvents()
        #expect(try load(file, events: events).pixel(3, 3) == [255, 0, 0, 255])
        #expect(events.notices.contains { $0.contains("animated") })
        // The same file is a film for video{}.
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(10), limit: 20)
        #expect(run.frames.count == 2)
    }

    @Test func animatedWebPIsRefusedInWords() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("a.webp")
        try ffmpeg(["-f", "lavfi", "-i", "testsrc2=size=32x32:rate=5", "-frames:v", "3", "-c:v", "libwebp_anim", file])
        let error = failure { try makeSource("image", ["file": .string(file)]) }
        #expect(error?.code == .media && error?.remedy.isEmpty == false, "\(String(describing: error))")
    }

    @Test func cutOffPicturesAreDamagedOrRefused() throws {
        let folder = try TemporaryDirectory()
        let bytes = try Fixtures.path(.graceHopper).contentsOfFile()
        let events = SourceEvents()
        let file = try folder.write("cut.jpg", bytes: Array(bytes[..<(bytes.count / 2)]))
        let error = failure { try makeSource("image", ["file": .string(file)], events: events) }
        #expect(error != nil || events.problems.contains { $0.message.contains("cut.jpg") })
        let png = try Fixtures.path(.astronaut).contentsOfFile()
        let half = try folder.write("half.png", bytes: Array(png[..<(png.count / 2)]))
        let pngEvents = SourceEvents()
        let pngError = failure { try makeSource("image", ["file": .string(half)], events: pngEvents) }
        #expect(pngError != nil || pngEvents.problems.contains { $0.message.contains("half.png") })
    }

    @Test func hugePicturesAreRefused() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("wide.png")
        try ffmpeg(["-f", "lavfi", "-i", "color=gray:size=16500x2", "-frames:v", "1", file])
        let error = failure { try makeSource("image", ["file": .string(file)]) }
        #expect(error?.code == .media)
        #expect(error?.description.contains("16384") == true, "\(String(describing: error))")
    }

    /// What a header promises is not believed: neither nothing nor more than memory holds.
    @Test(arguments: [(0, 0), (0, 8), (8, 0), (20_000, 20_000), (2_000_000_000, 2), (65_535, 65_535)])
    func sizesThatCannotBeAreRefused(_ size: (width: Int, height: Int)) throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write("x.png", bytes: Self.pngHeader(size.width, size.height))
        let begin = monotonicNanoseconds()
        let error = try #require(failure { try makeSource("image", ["file": .string(file)]) })
        #expect(error.code == .media && !error.remedy.isEmpty, "\(error)")
        #expect(monotonicNanoseconds() - begin < 5_000_000_000)
    }

    @Test(arguments: [
        "", "hello", "\u{89}PNG", "GIF89a", "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='0'/>",
    ])
    func filesThatAreNoPictureAreRefused(_ text: String) throws {
        let folder = try TemporaryDirectory()
        for name in ["x.png", "x.jpg", "x.gif", "x.svg"] {
            let file = try folder.write(name, text)
            let error = failure { try makeSource("image", ["file": .string(file)]) }
            #expect(error != nil && error?.remedy.isEmpty == false, "\(name): \(String(describing: error))")
        }
    }

    /// A picture of 20,000 pixels a side, whole: refused by its size, at once and without taking its memory.
    @Test func twentyThousandPixelsAreTooMany() throws {
        let folder = try TemporaryDirectory()
        for (name, size) in [("wide", "20000x3"), ("high", "3x20000")] {
            let file = folder.file("\(name).png")
            try ffmpeg(["-f", "lavfi", "-i", "color=gray:size=\(size)", "-frames:v", "1", file])
            let error = failure { try makeSource("image", ["file": .string(file)]) }
            #expect(
                error?.code == .media && error?.description.contains("16384") == true, "\(String(describing: error))")
        }
    }

    /// A table of ffmpeg's own making: pixel i of a HaldCLUT of level 4 is the colour (i mod 16, i / 16 mod 16, i / 256) / 15.
    @Test func stillPicturesAreExact() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("hald.png")
        try ffmpeg(["-f", "lavfi", "-i", "haldclutsrc=4", "-frames:v", "1", "-pix_fmt", "rgb24", file])
        let frame = try StillPicture.read(file)
        try #require(frame.width == 64 && frame.height == 64 && frame.format.pixelFormat == .rgba)
        for index in 0..<4096 {
            let expected = [index % 16, index / 16 % 16, index / 256].map { $0 * 17 } + [255]
            let pixel = frame.pixel(index % 64, index / 64).map { Int($0) }
            #expect(zip(pixel, expected).allSatisfy { abs($0 - $1) <= 1 }, "\(index): \(pixel), \(expected)")
        }
        #expect(throws: PatchError.self) { try StillPicture.read(folder.file("none.png")) }
    }

    /// Signature and IHDR chunk of an RGBA PNG, and nothing else.
    private static func pngHeader(_ width: Int, _ height: Int) -> [UInt8] {
        func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
        let chunk = Array("IHDR".utf8) + word(width) + word(height) + [8, 6, 0, 0, 0]
        // CRC-32 of the chunk (PNG specification, annex D).
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in chunk {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + word(13) + chunk + word(Int(crc ^ 0xFFFF_FFFF))
    }

    @Test func namesWithColonsAndPercents() throws {
        let folder = try TemporaryDirectory()
        for name in ["a:b.png", "50%.png", "%03d.png", "with space.png", "über.png"] {
            let file = folder.file("x.png")
            try magick(["-size", "8x8", "xc:red", "PNG32:" + file])
            let path = try folder.write(name, bytes: file.contentsOfFile())
            #expect(try load(path).pixel(0, 0) == [255, 0, 0, 255], "\(name)")
        }
    }

    @Test func inputTakesAStandIn() throws {
        let standIn = NodeKind(
            NodeSchema(kind: "still", role: .source, summary: ""),
            .source { _, environment in
                throw PatchError(.usage, "the stand-in was asked for '\(environment.nodeID)'")
            })
        let kinds = MediaSources.kinds(standIns: ["test": standIn])
        let input = try #require(kinds.first { $0.schema.kind == "input" })
        guard case .source(let make) = input.factory else { return }
        for (options, bindings) in [
            ([:], ["guest": "test"]), (["default": OptionValue.string("test")], [String: String]()),
        ] {
            let environment = NodeEnvironment(nodeID: "guest", bindings: bindings)
            let error = #expect(throws: PatchError.self) { try make(NodeOptions(options), environment) }
            #expect(error?.message == "the stand-in was asked for 'guest'")
        }
    }

    @Test func inputTakesAFile() throws {
        let image = try makeSource("input", bindings: ["guest": Fixtures.path(.astronaut)])
        #expect(try image.open().video?.width == 512)
        image.stop()
        let film = try makeSource(
            "input", ["orientation": .string("portrait"), "mirror": .bool(true)],
            bindings: ["guest": Fixtures.path(.carphone)])
        let format = try #require(try film.open().video)
        #expect(format.displaySize == (144, 176))
        #expect(format.orientation == Orientation(quarterTurns: 1, mirrored: true))
        film.stop()
    }

    /// A JPEG with an EXIF segment whose only entry is the orientation (EXIF 2.3, TIFF little-endian).
    private func withExif(_ jpeg: [UInt8], orientation: Int) -> [UInt8] {
        let tiff: [UInt8] =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0] + [0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0] + [
                0, 0, 0, 0,
            ]
        let body = Array("Exif\0\0".utf8) + tiff
        let length = body.count + 2
        return jpeg[..<2] + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + body + jpeg[2...]
    }
}
