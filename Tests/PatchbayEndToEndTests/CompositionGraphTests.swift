import Foundation
import PatchTesting
import Testing

/// Stingers with a matte, zooms and overlays in motion: each frame's pixels against what the definition says.
@Suite struct CompositionGraphTests {
    private static func makeVideo(_ path: String, _ source: String, _ filter: String) throws {
        try Program.run(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", source, "-vf", filter, "-c:v", "qtrle", "-pix_fmt", "argb", path]
        )
    }

    /// A matte in a second file, or beside the picture: where it is white the other picture shows, frame by frame, until the
    /// cut; and back.
    @Test(arguments: ["video = \"film.mov\", matte = \"matte.mov\"", "video = \"both.mov\", beside = true"])
    func aMatteDecidesUntilTheCut(_ how: String) throws {
        let directory = try TemporaryDirectory()
        let black = "color=black:size=64x48:rate=30:duration=0.33333"
        try Self.makeVideo(directory.file("film.mov"), black, "format=rgba,geq=r=0:g=0:b=0:a=0")
        // Frame N is white in its first 4 (N + 1) columns.
        let bar = "if(lt(X,4*(N+1)),255,0)"
        try Self.makeVideo(
            directory.file("matte.mov"), black, "format=rgba,geq=r='\(bar)':g='\(bar)':b='\(bar)':a=255")
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-i", directory.file("film.mov"), "-i", directory.file("matte.mov"), "-filter_complex",
                "[0]format=rgba[a];[1]format=rgba[b];[a][b]hstack", "-c:v", "qtrle", "-pix_fmt", "argb",
                directory.file("both.mov"),
            ])
        let run = try GraphRun(
            """
            graph { fps = 30, size = "64x48" }
            local sting = require "looks.stinger" { "sting", \(how), cut = 0.3 }
            color { "one", rgba = "#c00000" } >> sting.from
            color { "two", rgba = "#0000c0" } >> sting.to
            sting.output >> rawDataOutput { "raw", file = "out.raw", container = "raw", format = "rgba" }
            onFrame(function(time, tick)
              if tick == 5 then sting.play() end
              if tick == 20 then sting.play(true) end
            end)
            """, command: "render", arguments: ["--duration", "1.2"], directory: directory)
        #expect(try run.waitForEnd().outcome.exitCode == 0)
        let frames = try Self.frames(directory.file("out.raw"), width: 64, height: 48)
        #expect(frames.count == 36)
        for (tick, frame) in frames.enumerated() {
            // Nine frames under the matte, then the cut.
            let columns = tick < 5 ? 0 : tick < 14 ? 4 * (tick - 4) : 64
            let back = tick < 20 ? 0 : tick < 29 ? 4 * (tick - 19) : 64
            for y in [0, 24, 47] {
                for x in 0..<64 {
                    let isTwo = x < columns && x >= back
                    let pixel = Array(frame[(y * 64 + x) * 4..<(y * 64 + x) * 4 + 3])
                    #expect(pixel == (isTwo ? [0, 0, 192] : [192, 0, 0]), "tick \(tick), \(x), \(y)")
                }
            }
        }
    }

    private static func frames(_ path: String, width: Int, height: Int) throws -> [[UInt8]] {
        let bytes = try path.contentsOfFile()
        let size = width * height * 4
        return stride(from: 0, to: bytes.count / size * size, by: size).map { Array(bytes[$0..<$0 + size]) }
    }

    /// A picture whose red is the column and whose green is four times the row, so that a pixel says where it comes from.
    @Test func zoomsAndOverlaysMoveAsTheyAreTold() throws {
        let directory = try TemporaryDirectory()
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "color=black:size=256x64", "-frames:v", "1", "-vf",
                "format=gbrp,geq=r=X:g='4*Y':b=128", "-pix_fmt", "rgb24", directory.file("ramp.png"),
            ])
        let run = try GraphRun(
            """
            graph { fps = 30, size = "256x64" }
            local ramp = image { "ramp", file = "ramp.png" }
            local function raw(name)
              return rawDataOutput { name, file = name .. ".raw", container = "raw", format = "rgba" }
            end
            local move, pinched, over = filter.zoom { "move" }, filter.zoom { "pinched" }, overlay { "over", x = 10, y = 4 }
            ramp >> { move, pinched }
            move >> raw "moved"
            pinched >> raw "pinch"
            color { "below", rgba = "#000000" } >> over
            ramp >> over.overlay
            over >> raw "laid"
            onFrame(function(_, tick)
              if tick == 5 then
                move.factor = keyframes { { 0, 1 }, { 0.2, 3 } }
                move.center = keyframes { { 0, { 0.5, 0.5 } }, { 0.2, { 0.75, 0.25 } } }
                pinched:pinch(15)
                over.width, over.height = 128, 16
              end
              if tick == 10 then
                pinched:pinch(30)
                over:ramp("x", 40, 0.2)
                over.y, over.width = 30, 64
              end
            end)
            """, command: "render", arguments: ["--duration", "0.7"], directory: directory)
        #expect(try run.waitForEnd().outcome.exitCode == 0)
        func pictures(_ name: String) throws -> [[UInt8]] {
            try Self.frames(directory.file("\(name).raw"), width: 256, height: 64)
        }
        let (moved, pinch, laid) = (try pictures("moved"), try pictures("pinch"), try pictures("laid"))
        #expect(moved.count == 21 && pinch.count == 21 && laid.count == 21)
        for tick in 1..<21 {
            // Six ticks from 1 to 3 and from the middle to the upper right.
            let part = min(1, max(0, Double(tick - 5) / 6))
            check(
                moved[tick], factor: 1 + 2 * part, center: (0.5 + 0.25 * part, 0.5 - 0.25 * part), "keyframes, \(tick)")
            // factor + atan2(velocity, 15): π/4, then atan(2).
            let factor = tick < 5 ? 1 : tick < 10 ? 1.785398 : 2.892547
            check(pinch[tick], factor: factor, center: (0.5, 0.5), "pinch, \(tick)")
            // The overlay is its own size, then as told; its place moves by five pixels a tick.
            let left = tick < 10 ? 10 : min(40, 10 + 5 * (tick - 10))
            let rect =
                tick < 5
                ? (10, 4, 256, 64) : tick < 10 ? (10, 4, 138, 20) : (left, 30, left + 64, 46)
            for y in 0..<64 {
                for x in 0..<256 {
                    let isOver = (rect.0..<rect.2).contains(x) && (rect.1..<rect.3).contains(y)
                    let blue = laid[tick][(y * 256 + x) * 4 + 2]
                    if blue != (isOver ? 128 : 0) { Issue.record("overlay, tick \(tick): \(x), \(y) is \(blue)") }
                }
            }
        }
    }

    /// Bilinear reading of the ramp at centre + (uv − 0.5) / factor, the view held inside the picture.
    private func check(_ frame: [UInt8], factor: Double, center: (Double, Double), _ what: String) {
        let half = 0.5 / factor
        let cx = min(max(center.0, half), 1 - half), cy = min(max(center.1, half), 1 - half)
        var worst = 0.0
        for y in 0..<64 {
            for x in 0..<256 {
                let u = (cx + ((Double(x) + 0.5) / 256 - 0.5) / factor) * 256 - 0.5
                let v = (cy + ((Double(y) + 0.5) / 64 - 0.5) / factor) * 64 - 0.5
                let at = (y * 256 + x) * 4
                worst = max(worst, abs(Double(frame[at]) - min(max(u, 0), 255)))
                worst = max(worst, abs(Double(frame[at + 1]) - 4 * min(max(v, 0), 63)))
            }
        }
        #expect(worst <= 1, "\(what): off by \(worst)")
    }
}
