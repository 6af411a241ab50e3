import Glibc
import PatchTesting
import Testing

/// Screens in and out, on an X server without a monitor.
@Suite struct ScreenTests {
    /// A screen is a live device: what is painted on it arrives.
    @Test func aScreenIsCaptured() throws {
        let screen = try VirtualScreen(width: 320, height: 240)
        try screen.paint("#ff0000")
        let directory = try TemporaryDirectory()
        let fifo = directory.file("pipe.y4m")
        #expect(mkfifo(fifo, 0o600) == 0)
        let run = try GraphRun(
            """
            screen { "screen", display = "\(screen.display)", fps = 30 }
              >> rawDataOutput { "raw", file = "pipe.y4m", container = "y4m" }
            """, environment: screen.environment, directory: directory)
        let reader = try Y4MReader(fifo)
        #expect(reader.width == 320 && reader.height == 240)
        // Limited-range codes of the colours, BT.601 since the picture has fewer than 720 lines:
        // red   Y = 16 + 219·0.299 = 81, Cb = 128 − 112·0.299/0.886 = 90, Cr = 240
        // green Y = 16 + 219·0.587 = 145, Cb = 128 − 112·0.587/0.886 = 54, Cr = 128 − 112·0.587/0.701 = 34
        try Self.expect([81, 90, 240], from: reader)
        try screen.paint("#00ff00")
        try Self.expect([145, 54, 34], from: reader)
        run.program.signal(SIGINT)
        while try reader.next() != nil {}
        #expect(try run.program.waitForEnd(within: 20).exitCode == 130)
    }

    /// Reads on until a picture has the codes, within two; a screen's first pictures may be older.
    private static func expect(_ codes: [Int], from reader: Y4MReader) throws {
        var last: [Int] = []
        for _ in 0..<90 {
            guard let picture = try reader.next() else { break }
            last = picture.codes(40, 40)
            if zip(last, codes).allSatisfy({ abs($0 - $1) <= 2 }) { return }
        }
        Issue.record("expected \(codes), the last picture has \(last)")
    }

    /// The window shows the picture, its keys reach the script, and its close button ends it.
    @Test func aWindowShowsThePictureAndHearsKeys() throws {
        let screen = try VirtualScreen(width: 640, height: 480)
        try screen.paint("#0000ff")
        let directory = try TemporaryDirectory()
        // Left half red, right half white, as PPM that ImageMagick turns into PNG.
        let row = (0..<320).flatMap { x -> [UInt8] in x < 160 ? [255, 0, 0] : [255, 255, 255] }
        let ppm = try directory.write(
            "half.ppm", bytes: Array("P6 320 240 255\n".utf8) + (0..<240).flatMap { _ in row })
        try Program.run("convert", [ppm, directory.file("half.png")])
        let run = try GraphRun(
            """
            local still = image { "still", file = "half.png" }
            local view = display { "view", size = "320x240" }
            local negative = filter.invert {}
            still >> negative >> view
            onKey("b", function()
              negative:removeAllTargets()
              still:removeAllTargets()
              still:addTarget(view)
              log("switched")
            end)
            """, environment: screen.environment, directory: directory)
        try run.waitUntilOnAir()
        let window = try screen.window(titled: "view")
        // Inverted: cyan on the left, black on the right.
        try Self.waitForWindow(screen, left: [0, 255, 255], right: [0, 0, 0])
        try screen.press("b", in: window)
        _ = try run.wait(for: "the script heard the key") { $0.event == "log" && $0.text == "switched" }
        try Self.waitForWindow(screen, left: [255, 0, 0], right: [255, 255, 255])
        _ = try run.interrupt()
    }

    /// Waits until the window, found by what is not the blue background, has these colours in its halves.
    private static func waitForWindow(_ screen: VirtualScreen, left: [Int], right: [Int]) throws {
        var seen = ""
        do {
            try eventually("the window shows \(left) and \(right)", within: 20) {
                let picture = try screen.screenshot()
                let pixel = { (x: Int, y: Int) in
                    (0..<3).map { Int(picture[(y * screen.width + x) * 3 + $0]) }
                }
                // Without a window manager the window has no frame; find its box.
                var (minX, maxX, minY, maxY) = (Int.max, -1, Int.max, -1)
                for y in stride(from: 0, to: screen.height, by: 4) {
                    for x in stride(from: 0, to: screen.width, by: 4) where pixel(x, y) != [0, 0, 255] {
                        (minX, maxX, minY, maxY) = (min(minX, x), max(maxX, x), min(minY, y), max(maxY, y))
                    }
                }
                guard maxX > minX + 100, maxY > minY + 100 else { return false }
                let y = (minY + maxY) / 2
                let quarter = (maxX - minX) / 4
                let (a, b) = (pixel(minX + quarter, y), pixel(maxX - quarter, y))
                seen = "box \(minX)…\(maxX) × \(minY)…\(maxY), \(a) and \(b)"
                let isNear = { (x: [Int], y: [Int]) in zip(x, y).allSatisfy { abs($0 - $1) <= 6 } }
                return isNear(a, left) && isNear(b, right)
            }
        } catch { throw TestProblem("\(error); last seen: \(seen)") }
    }

    /// No screen: said once, and everything else goes on.
    @Test func withoutAScreenTheRestGoesOn() throws {
        let run = try GraphRun(
            """
            local bars = testPattern { "bars", kind = "bars", size = "320x180", fps = 30 }
            bars >> display { "view" }
            bars >> rawDataOutput { "raw", file = "out.y4m", container = "y4m" }
            """, arguments: ["--duration", "1"])
        let (outcome, statistics) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.text)\(outcome.errorText)")
        #expect(run.events.filter { $0.error?.node == "view" || $0.node == "view" }.isEmpty == false)
        #expect(statistics.nodes.first { $0.node == "raw" }?.frames == 30)
    }
}
