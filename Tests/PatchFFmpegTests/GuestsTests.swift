import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Chains of libavfilter as nodes.
@Suite struct GuestsTests {
    private static let place = SourceLocation(file: "test.lua", line: 7)

    private func node(
        _ chain: String, inputs: [String]? = nil, format: String? = nil, events: SourceEvents = SourceEvents()
    ) throws -> any NativeNode {
        let kind = try #require(FFmpegGuests.kinds.first { $0.schema.kind == "ffmpeg" })
        guard case .native(let make) = kind.factory else { throw TestProblem("ffmpeg is no native node") }
        var options: [String: OptionValue] = ["graph": .string(chain)]
        if let inputs { options["inputs"] = .list(inputs) }
        if let format { options["format"] = .string(format) }
        return try make(
            NodeOptions(options),
            NodeEnvironment(nodeID: "guest", location: Self.place, report: { events.add($0) }))
    }

    private func frame(_ run: any FrameOperator, _ inputs: [Frame], tick: Int64) -> Frame? {
        let optional: [Frame?] = inputs
        return optional.withUnsafeBufferPointer { frames in
            let none: Float = 0
            return run.frame(
                frames, parameters: [none],
                at: Tick(index: tick, rate: FrameRate(25), hostTime: monotonicNanoseconds(), isOffline: true))
        }
    }

    private func gray(_ width: Int, _ height: Int, _ value: (Int, Int) -> UInt8) -> Frame {
        let frame = Frame(allocating: VideoFormat(.gray8, width: width, height: height))
        for y in 0..<height {
            let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width { row[x] = value(x, y) }
        }
        return frame
    }
    private func at(_ frame: Frame, _ x: Int, _ y: Int, plane: Int = 0) -> UInt8 {
        frame.plane(plane).row(y).load(fromByteOffset: x, as: UInt8.self)
    }

    // MARK: What it computes

    @Test func aChainSeesEachPixelAndMayTurnAndCut() throws {
        let input = gray(7, 5) { x, y in UInt8(x * 30 + y) }
        let run = try node("hflip,transpose=clock,crop=4:3:1:2").prepare(inputs: [input.format], rate: FrameRate(25))
        try run.activate()
        #expect(run.inputs == [input.format])
        #expect(run.output.width == 4 && run.output.height == 3)
        let output = try #require(frame(run, [input], tick: 0))
        // Mirrored: (x, y) shows (6 − x, y). Turned clockwise: (x, y) shows that at (y, 4 − x). Cut at (1, 2).
        for y in 0..<3 {
            for x in 0..<4 {
                let (tx, ty) = (x + 1, y + 2)
                let (mx, my) = (ty, 4 - tx)
                #expect(at(output, x, y) == UInt8((6 - mx) * 30 + my))
            }
        }
        #expect(output.pts == FrameRate(25).time(ofFrame: 0))
    }

    @Test func aDelayingOrSlowingChainHoldsItsLastPicture() throws {
        let events = SourceEvents()
        let format = VideoFormat(.gray8, width: 8, height: 8)
        let run = try node("framestep=3", events: events).prepare(inputs: [format], rate: FrameRate(25))
        try run.activate()
        let shown = (0..<7).map { tick in
            frame(run, [gray(8, 8) { _, _ in UInt8(tick + 10) }], tick: Int64(tick)).map { at($0, 3, 3) }
        }
        #expect(shown == [10, 10, 10, 13, 13, 13, 16])
        // Twice as many pictures as ticks: the newest counts.
        let fast = try node("fps=50").prepare(inputs: [format], rate: FrameRate(25))
        try fast.activate()
        let doubled = (0..<5).map { tick in
            frame(fast, [gray(8, 8) { _, _ in UInt8(tick + 10) }], tick: Int64(tick)).map { at($0, 3, 3) }
        }
        // fps cannot tell how long a picture lasts before the next one comes: one tick behind. Until then the input shows.
        #expect(doubled == [10, 10, 11, 12, 13])
        let mean = try node("tmix=frames=2:weights='1 1'").prepare(inputs: [format], rate: FrameRate(25))
        try mean.activate()
        let mixed = [10, 20, 40].enumerated().map { tick, value in
            frame(mean, [gray(8, 8) { _, _ in UInt8(value) }], tick: Int64(tick)).map { at($0, 3, 3) }
        }
        #expect(mixed == [10, 15, 30])
        #expect(events.problems.isEmpty)
    }

    @Test func severalInputsAreNamedInTheChain() throws {
        let format = VideoFormat(.gray8, width: 16, height: 8)
        let small = VideoFormat(.gray8, width: 4, height: 2)
        let run = try node("[under][over]overlay=x=3:y=2:format=yuv444", inputs: ["under", "over"], format: "yuv444p")
            .prepare(inputs: [format, small], rate: FrameRate(25))
        try run.activate()
        #expect(run.inputs.map(\.pixelFormat) == [.yuv444p, .yuv444p])
        func yuv(_ width: Int, _ height: Int, _ luma: UInt8) -> Frame {
            let frame = Frame(blank: VideoFormat(.yuv444p, width: width, height: height))
            for y in 0..<height {
                let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
                for x in 0..<width { row[x] = luma }
            }
            return frame
        }
        let output = try #require(frame(run, [yuv(16, 8, 50), yuv(4, 2, 200)], tick: 0))
        for y in 0..<8 {
            for x in 0..<16 { #expect(at(output, x, y) == ((3..<7).contains(x) && (2..<4).contains(y) ? 200 : 50)) }
        }
    }

    @Test func theFirstFiltersFormatIsAskedForAtOnce() throws {
        // hqdn3d reads planar Y'CbCr: the planner is asked for that, and no swscale stands in the chain.
        let rgba = VideoFormat(.rgba, width: 64, height: 36)
        let run = try node("hqdn3d=4").prepare(inputs: [rgba], rate: FrameRate(25))
        #expect(run.inputs[0].pixelFormat.isYCbCr)
        #expect(run.output.pixelFormat.isYCbCr)
        let nv12 = VideoFormat(.yuv420p, width: 64, height: 36)
        #expect(try node("hqdn3d=4").prepare(inputs: [nv12], rate: FrameRate(25)).output == nv12)
    }

    @Test func commandsReachTheRunningChain() throws {
        let events = SourceEvents()
        let format = VideoFormat(.yuv420p, width: 16, height: 16)
        let guest = try node("hue@first=s=1", events: events)
        let run = try guest.prepare(inputs: [format], rate: FrameRate(25))
        try run.activate()
        let input = Frame(blank: format)
        for y in 0..<8 {
            let row = input.plane(1).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<8 { row[x] = 200 }
        }
        #expect(at(try #require(frame(run, [input], tick: 0)), 2, 2, plane: 1) == 200)
        try guest.command("hue", "s", "0")
        #expect(at(try #require(frame(run, [input], tick: 1)), 2, 2, plane: 1) == 128)
        // The same run serves the same formats; another size has a new one, which knows what was said.
        #expect(try guest.prepare(inputs: [format], rate: FrameRate(25)) === run)
        let large = VideoFormat(.yuv420p, width: 32, height: 16)
        let other = try guest.prepare(inputs: [large], rate: FrameRate(25))
        try other.activate()
        let wide = Frame(blank: large)
        wide.plane(1).row(2).storeBytes(of: 200, toByteOffset: 2, as: UInt8.self)
        #expect(at(try #require(frame(other, [wide], tick: 2)), 2, 2, plane: 1) == 128)
        for (target, name, words) in [
            ("hua", "s", "did you mean"), ("hue", "nothing", ""),
        ] {
            do { try guest.command(target, name, "1") } catch let error as PatchError {
                #expect(error.description.contains(words), "\(error)")
            }
        }
        let fixed = try node("hflip")
        #expect(throws: PatchError.self) { try fixed.command("hflip", "x", "1") }
        #expect(events.problems.isEmpty || events.problems.allSatisfy { $0.message.contains("nothing") })
    }

    // MARK: What it refuses

    /// A graph file is not trusted: its chain must reach no file, network, device, plugin or sleep.
    @Test(arguments: [
        "movie=/etc/passwd", "movie=x.mp4,hflip", "null[a];movie=x.png[b];[a][b]overlay", "mo'v'ie=x", "m\\ovie=x",
        "'movie'=x", "movie@hidden=x", " movie = x", "amovie=x", "color=red", "testsrc2,null", "nullsrc",
        "lut3d=/etc/passwd",
        "lut1d=x", "curves=psfile=/etc/passwd", "drawtext=textfile=/etc/passwd", "subtitles=x.srt", "ass=x",
        "sendcmd=f=x",
        "zmq", "frei0r=cartoon", "metadata=print:file=/tmp/x", "psnr=f=/tmp/x", "ssim", "deshake=filename=/tmp/x",
        "vidstabdetect=result=/tmp/x", "removelogo=x", "find_rect=x", "signature=filename=/tmp/x", "program_opencl=x",
        "libplacebo", "hwupload", "realtime", "loop=-1:100", "reverse", "sws_flags=0;movie=x", "hflip;[x]movie=y[z]",
        "[in]movie=x[out]", "hflip,\nmovie=x", "dnn_processing=model=x", "paletteuse", "selectivecolor=psfile=x",
        "buffer",
        "buffersink", "nullsink", "split[a],movie=x[b];[a][b]overlay",
    ])
    func filtersThatReachOutAreRefused(_ chain: String) throws {
        do {
            let refused = try node(chain)
            _ = try refused.prepare(inputs: [VideoFormat(.yuv420p, width: 16, height: 16)], rate: FrameRate(25))
            Issue.record("\(chain) was taken")
        } catch let error as PatchError {
            #expect(error.message.contains("may not be used"), "\(chain): \(error)")
            #expect(error.location == Self.place && error.node == "guest")
            #expect(!error.remedy.isEmpty)
        }
    }

    /// The list of what may be used against the installed libavfilter: no option of such a filter is a file's name.
    @Test func noAllowedFilterHasAnOptionForFiles() throws {
        let all = FFmpegGuests.filters()
        let usable = all.filter { $0.refusal == nil }
        #expect(usable.count > 150)
        let words = ["file", "path", "url", "dir", "model", "plugin", "device", "address", "classifier", "socket"]
        // Options that only sound like it: `filename` is no part of them, and their values are numbers or expressions.
        let harmless: Set = ["bilateral/sigmaS", "colorspace/iall"]
        for filter in usable {
            for option in filter.parameters where option.form.hasPrefix("text") {
                let isSuspect = words.contains {
                    option.name.lowercased().contains($0) || option.summary.lowercased().contains("file")
                }
                #expect(
                    !isSuspect || harmless.contains("\(filter.name)/\(option.name)"),
                    "\(filter.name): \(option.name) (\(option.summary))")
            }
            #expect(filter.inputs != "0", "\(filter.name) has no input")
        }
        for name in ["movie", "lut3d", "drawtext", "zmq", "frei0r", "color"] {
            #expect(all.first { $0.name == name }.map { $0.refusal != nil } ?? true, "\(name)")
        }
    }

    @Test(arguments: [
        ("hqdn4d", "did you mean 'hqdn3d'?"), ("", "no filter name"), ("hqdn3d,", "no filter name"), ("[a", "label"),
        ("hqdn3d=nonsense=1", "Option"), ("hflip]x", "no filter 'hflip]x'"), ("scale=0x:abc", "cannot be"),
        ("hflip,[x]overlay", "ffmpeg chain"), ("split[a][b]", "result"), ("hflip[out],[x]null[y]", "no picture: [x]"),
        ("split[out][b]", "nobody reads"),
    ])
    func mistakesAreNamedWithLibavfiltersWords(_ chain: String, _ words: String) throws {
        do {
            let wrong = try node(chain)
            _ = try wrong.prepare(inputs: [VideoFormat(.yuv420p, width: 16, height: 16)], rate: FrameRate(25))
            Issue.record("\(chain) was taken")
        } catch let error as PatchError {
            #expect(error.description.contains(words), "\(chain): \(error)")
        }
    }

    @Test func aChainThatKeepsEveryPictureIsStopped() throws {
        let events = SourceEvents()
        let format = VideoFormat(.gray8, width: 8, height: 8)
        let run = try node("tile=40x40", events: events).prepare(inputs: [format], rate: FrameRate(25))
        try run.activate()
        #expect(run.output.width == 320)
        // Its result is larger than its input, so black shows until there is one.
        for tick in 0..<3 { #expect(frame(run, [gray(8, 8) { _, _ in 99 }], tick: Int64(tick))?.width == 320) }
        #expect(events.problems.isEmpty)
    }
}
