import Glibc
import PatchDisplay
import PatchGraph
import PatchMedia
import PatchTesting
import Synchronization
import Testing

/// What a window reports.
final class WindowReports: Sendable {
    private let events = Monitor<[String]>([])

    func add(_ event: NodeEvent) {
        let text: String? =
            switch event {
            case .key(let name): "key \(name)"
            case .closed: "closed"
            case .problem(let error): "problem \(error)"
            default: nil
            }
        if let text { events.notify { $0.append(text) } }
    }
    var all: [String] { events.withLock { $0 } }
    func wait(for text: String) -> Bool {
        events.wait(until: monotonicNanoseconds() + 10_000_000_000) { $0.contains(text) ? true : nil } ?? false
    }
}

/// The X server is chosen by the process's environment, so that these tests run one after the other.
@Suite("display", .serialized)
struct DisplayTests {
    private func makeDisplay(
        _ name: String, _ options: [String: OptionValue] = [:], reports: WindowReports = WindowReports()
    ) throws -> any MediaSink {
        let kind = try #require(DisplaySink.kinds.first { $0.schema.kind == "display" })
        guard case .sink(let make) = kind.factory else { throw TestProblem("display is no sink") }
        return try make(
            NodeOptions(options), NodeEnvironment(nodeID: name, location: nil, report: { reports.add($0) }))
    }

    private func show(_ frame: Frame, on sink: any MediaSink, tick: Int64 = 0) throws {
        let rate = FrameRate(30)
        try sink.consume(
            Delivery(
                frame: frame, sound: nil, pts: rate.time(ofFrame: tick), duration: rate.frameDuration, tick: tick,
                sequence: tick))
    }

    private func open(_ sink: any MediaSink, _ offered: VideoFormat) throws -> VideoFormat {
        let request = try sink.negotiate(offered: offered, hasSound: false, rate: FrameRate(30))
        let video = try #require(request.video)
        try sink.open(video: video, audio: nil, rate: FrameRate(30))
        return video
    }

    /// Waits until the pixel at (x, y) has this colour to within 3 codes a channel.
    private func expectPixel(
        _ screen: VirtualScreen, _ x: Int, _ y: Int, _ color: [Int],
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        var found: [Int] = []
        for _ in 0..<40 {
            let pixels = try screen.screenshot()
            let at = (y * screen.width + x) * 3
            found = pixels[at..<at + 3].map(Int.init)
            if zip(found, color).allSatisfy({ abs($0 - $1) <= 3 }) { return }
            usleep(50_000)
        }
        Issue.record("pixel (\(x), \(y)) is \(found), not \(color)", sourceLocation: sourceLocation)
    }

    private func useScreen() throws -> VirtualScreen {
        let screen = try VirtualScreen(width: 800, height: 600)
        setenv("DISPLAY", screen.display, 1)
        setenv("SDL_VIDEODRIVER", "x11", 1)
        return screen
    }

    /// Left half red, right half blue.
    private func halves(_ format: VideoFormat) -> Frame {
        let frame = Frame(allocating: format)
        // BT.601 and BT.709, limited range: Y, Cb, Cr of pure red and pure blue, to the nearest code.
        let codes =
            format.color.matrix == .bt601 ? [[81, 90, 240], [41, 240, 110]] : [[63, 102, 240], [32, 240, 118]]
        for index in 0..<format.pixelFormat.planeCount {
            let layout = format.pixelFormat.layout(ofPlane: index)
            let width = layout.width(of: format.width)
            for y in 0..<layout.height(of: format.height) {
                let row = frame.plane(index).row(y).assumingMemoryBound(to: UInt8.self)
                for x in 0..<width {
                    let right = x >= width / 2 ? 1 : 0
                    switch format.pixelFormat {
                    case .bgra:
                        (row[4 * x], row[4 * x + 1], row[4 * x + 2], row[4 * x + 3]) =
                            right == 1 ? (255, 0, 0, 255) : (0, 0, 255, 255)
                    case .nv12 where index == 1:
                        (row[2 * x], row[2 * x + 1]) = (UInt8(codes[right][1]), UInt8(codes[right][2]))
                    default: row[x] = UInt8(codes[right][index])
                    }
                }
            }
        }
        return frame
    }

    @Test(
        "a frame appears in its colours, without a conversion of ours",
        arguments: [
            VideoFormat(.yuv420p, width: 320, height: 240, color: .bt601),
            VideoFormat(.yuv420p, width: 320, height: 240, color: .bt709),
            VideoFormat(.nv12, width: 320, height: 240, color: .bt709), VideoFormat(.bgra, width: 320, height: 240),
        ])
    func colours(format: VideoFormat) throws {
        let screen = try useScreen()
        let sink = try makeDisplay("colours")
        #expect(try open(sink, format) == format)
        try show(halves(format), on: sink)
        // A window of 320x240 in the middle of 800x600 begins at (240, 180).
        try expectPixel(screen, 300, 300, [254, 0, 0])
        try expectPixel(screen, 500, 300, [0, 0, 254])
        try expectPixel(screen, 230, 300, [0, 0, 0])
        sink.finish()
    }

    @Test("fill modes place the picture as GPUImage's do, with the background beside it")
    func fillModes() throws {
        let screen = try useScreen()
        let format = VideoFormat(.bgra, width: 200, height: 100)
        // A 2:1 picture in a 300x300 window at (250, 150): by `fit` it is 300x150, from y = 225 to 375.
        for (mode, top, edge) in [
            ("fit", [0, 255, 0], [255, 0, 0]), ("preserveAspectRatio", [0, 255, 0], [255, 0, 0]),
            ("stretch", [255, 0, 0], [255, 0, 0]), ("fill", [255, 0, 0], [255, 0, 0]),
            ("preserveAspectRatioAndFill", [255, 0, 0], [255, 0, 0]),
        ] {
            let sink = try makeDisplay(
                "fill", ["fill": .string(mode), "size": .vector([300, 300]), "background": .vector([0, 1, 0, 1])])
            _ = try open(sink, format)
            // Red, but for the outer quarters, which are blue: `fill` cuts them off, `stretch` shows them.
            let frame = Frame(allocating: format)
            for y in 0..<100 {
                let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt32.self)
                for x in 0..<200 { row[x] = x < 50 || x >= 150 ? 0xff00_00ff : 0xffff_0000 }
            }
            try show(frame, on: sink)
            try expectPixel(screen, 400, 300, edge)
            try expectPixel(screen, 400, 160, top)
            try expectPixel(screen, 260, 300, mode.contains("ill") ? [255, 0, 0] : [0, 0, 255])
            sink.finish()
        }
    }

    @Test("keys, the close button, resizing and several windows")
    func events() throws {
        let screen = try useScreen()
        let (first, second) = (WindowReports(), WindowReports())
        let one = try makeDisplay("one", ["title": .string("window one")], reports: first)
        let two = try makeDisplay("two", ["title": .string("window two")], reports: second)
        let format = VideoFormat(.yuv420p, width: 320, height: 240, color: .bt601)
        _ = try open(one, format)
        _ = try open(two, format)
        let (idOne, idTwo) = (try screen.window(titled: "window one"), try screen.window(titled: "window two"))
        try screen.press("b", in: idOne)
        #expect(first.wait(for: "key b"))
        try screen.press("space", in: idTwo)
        #expect(second.wait(for: "key space"))
        #expect(!first.all.contains("key space"))
        // The second window lies on the first; it is moved away and made larger.
        try Program.run(
            "xdotool", ["windowmove", "--sync", idTwo, "0", "0", "windowsize", "--sync", idTwo, "640", "480"],
            timeout: 10,
            environment: screen.environment)
        try show(halves(format), on: two)
        try expectPixel(screen, 10, 10, [254, 0, 0])
        try expectPixel(screen, 630, 470, [0, 0, 254])
        try closeButton(of: idTwo, on: screen)
        #expect(second.wait(for: "closed"))
        #expect(!first.all.contains("closed"))
        try show(halves(format), on: two)
        try show(halves(format), on: one)
        try expectPixel(screen, 300, 300, [254, 0, 0])
        one.finish()
        two.finish()
    }

    /// Sends what a window manager's close button sends: WM_DELETE_WINDOW. No packaged program does just that.
    private func closeButton(of window: String, on screen: VirtualScreen) throws {
        let script = """
            import ctypes as c, sys
            x = c.CDLL("libX11.so.6")
            x.XOpenDisplay.restype = c.c_void_p
            x.XInternAtom.restype = c.c_ulong
            class Message(c.Structure):
                _fields_ = [("type", c.c_int), ("serial", c.c_ulong), ("send", c.c_int), ("display", c.c_void_p),
                            ("window", c.c_ulong), ("kind", c.c_ulong), ("format", c.c_int), ("data", c.c_long * 5),
                            ("pad", c.c_long * 12)]
            d = c.c_void_p(x.XOpenDisplay(None))
            protocols = x.XInternAtom(d, b"WM_PROTOCOLS", 0)
            delete = x.XInternAtom(d, b"WM_DELETE_WINDOW", 0)
            w = int(sys.argv[1])
            m = Message(33, 0, 1, d, w, protocols, 32, (c.c_long * 5)(delete, 0, 0, 0, 0))
            x.XSendEvent(d, c.c_ulong(w), 0, c.c_long(0), c.byref(m))
            x.XSync(d, 0)
            """
        try Program.run("python3", ["-c", script, window], timeout: 20, environment: screen.environment)
    }

    @Test("the newest frame wins and showing never waits")
    func newestWins() throws {
        let screen = try useScreen()
        let sink = try makeDisplay("fast")
        let format = VideoFormat(.bgra, width: 320, height: 240)
        _ = try open(sink, format)
        let start = monotonicNanoseconds()
        let frame = Frame(allocating: format)
        for tick in 0..<500 { try show(frame, on: sink, tick: Int64(tick)) }
        #expect(monotonicNanoseconds() - start < 500_000_000)
        try show(halves(format), on: sink, tick: 500)
        try expectPixel(screen, 300, 300, [255, 0, 0])
        sink.finish()
    }

    @Test("without a display there is a clear error")
    func noDisplay() throws {
        unsetenv("DISPLAY")
        unsetenv("WAYLAND_DISPLAY")
        unsetenv("SDL_VIDEODRIVER")
        let sink = try makeDisplay("local")
        let format = VideoFormat(.bgra, width: 320, height: 240)
        let none = #expect(throws: PatchError.self) { try open(sink, format) }
        #expect(none?.code == .unavailable)
        #expect(
            none?.description
                == "node 'local': there is no display to open a window on; set DISPLAY or WAYLAND_DISPLAY, "
                + "or leave the display node out; everything else goes on")
        try show(Frame(allocating: format), on: sink)
        setenv("DISPLAY", ":4711", 1)
        let dead = #expect(throws: PatchError.self) { try open(sink, format) }
        #expect(dead?.code == .unavailable)
        #expect(dead?.message == "the display cannot be opened")
        sink.finish()
    }

    @Test("SDL leaves the process's signal handlers alone")
    func signals() throws {
        let screen = try useScreen()
        var before = sigaction()
        sigaction(SIGINT, nil, &before)
        let sink = try makeDisplay("signals")
        _ = try open(sink, VideoFormat(.bgra, width: 320, height: 240))
        var after = sigaction()
        sigaction(SIGINT, nil, &after)
        #expect(
            unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(after.__sigaction_handler.sa_handler, to: Int.self))
        sink.finish()
        _ = screen.display
    }

    /// Last, because afterwards this process can have no more windows.
    @Test("an X server that dies takes neither the process nor the sink with it")
    func serverDies() throws {
        var screen: VirtualScreen? = try useScreen()
        let reports = WindowReports()
        let sink = try makeDisplay("dying", reports: reports)
        let format = VideoFormat(.bgra, width: 320, height: 240)
        _ = try open(sink, format)
        try show(halves(format), on: sink)
        try expectPixel(try #require(screen), 300, 300, [255, 0, 0])
        screen = nil
        #expect(
            reports.wait(
                for: "problem node 'dying': the X server went away; nothing is shown any more; "
                    + "start the program again to have windows"))
        try show(halves(format), on: sink, tick: 1)
        sink.finish()
        let again = #expect(throws: PatchError.self) { try open(makeDisplay("again"), format) }
        #expect(again?.code == .unavailable)
    }
}
