import Foundation
import PatchTesting
import Testing

/// Guests and clips in graph files, as people use them.
@Suite struct GuestGraphTests {
    private func still(_ script: String, at time: String = "0.5", _ directory: TemporaryDirectory) throws
        -> DecodedVideo
    {
        try directory.write("graph.lua", script)
        let outcome = try Executable.run(
            ["still", "graph.lua", "out.png", "--at", time], environment: ["DISPLAY": nil], directory: directory.path)
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        return try DecodedVideo(directory.file("out.png"))
    }

    private func color(_ picture: DecodedVideo, _ x: Int, _ y: Int) throws -> [Int] {
        let frame = try #require(picture.frames.first)
        let at = (y * picture.width + x) * 3
        return frame[at..<at + 3].map { Int($0) }
    }
    private func isNear(_ a: [Int], _ b: [Int], _ tolerance: Int = 3) -> Bool {
        zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test func aLibavfilterChainInAGraph() throws {
        let directory = try TemporaryDirectory()
        let picture = try still(
            """
            local red, blue = color { "red", rgba = "#c02010", size = "64x48" }, color { "blue", rgba = "#2040d0", size = "16x8" }
            local over = ffmpeg { "[base]negate[n];[n][top]overlay=8:4", name = "over", inputs = { "base", "top" }, top = blue }
            red >> over.base
            over >> display { "view" }
            """, directory)
        #expect(picture.width == 64 && picture.height == 48)
        #expect(isNear(try color(picture, 40, 30), [0x3f, 0xdf, 0xef], 6))
        #expect(isNear(try color(picture, 14, 7), [0x20, 0x40, 0xd0], 6))
    }

    @Test func aFrei0rPluginInAGraph() throws {
        let directory = try TemporaryDirectory()
        let picture = try still(
            """
            local grey = color { "grey", rgba = "#804020", size = "50x30" }
            grey >> frei0r { "invert0r", name = "negative" } >> display { "view" }
            """, directory)
        #expect(picture.width == 50 && picture.height == 30)
        #expect(isNear(try color(picture, 25, 15), [0x7f, 0xbf, 0xdf]))
    }

    @Test(arguments: [
        (#"ffmpeg { "movie=/etc/passwd" }"#, 2, "may not be used"),
        (#"ffmpeg { "hqdn4d" }"#, 2, "did you mean 'hqdn3d'"),
        (#"ffmpeg { "scale=0x:abc" }"#, 2, "cannot be"),
        (#"ffmpeg {}"#, 2, "needs graph"),
        (#"ffmpeg { "null", inputs = { "a", "a" } }"#, 2, "different names"),
        (#"frei0r { "cartoom" }"#, 2, "did you mean 'cartoon'"),
        (#"frei0r { "cartoon", trip = 0.3 }"#, 2, "has no 'trip'"),
        (#"frei0r { "cartoon", triplevel = 3 }"#, 2, "triplevel"),
        (#"frei0r { "../cartoon" }"#, 2, "is no name"),
    ])
    func mistakesNameTheLine(_ node: String, _ line: Int, _ words: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            "local source = testPattern { \"bars\", size = \"64x48\" }\nlocal guest = \(node)\nsource >> guest >> display { \"view\" }\n"
        )
        let outcome = try Executable.run(["check", "graph.lua"], directory: directory.path)
        #expect(outcome.exitCode != 0)
        #expect(outcome.errorText.contains("graph.lua:\(line):"), "\(outcome.errorText)")
        #expect(outcome.errorText.contains(words), "\(outcome.errorText)")
    }

    @Test func commandsChangeAChainOnAirAndWrongOnesNameTheLine() throws {
        let run = try GraphRun(
            """
            local source = testPattern { "bars", size = "64x48", fps = 30 }
            local chain = ffmpeg { "hue=s=1", name = "chain" }
            source >> chain >> rawDataOutput { "raw", file = "raw.y4m", container = "y4m" }
            after(0.2, function() chain:command("hue", "s", 0) log("told") end)
            after(0.4, function() chain:command("hua", "s", 0) end)
            """, arguments: ["--duration", "1.5"])
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0)
        let errors = run.events.filter { $0.event == "scriptError" }
        #expect(errors.count == 1)
        #expect(errors.first?.error?.message.contains("no filter 'hua'") == true)
        let frames = try DecodedVideo(run.directory.file("raw.y4m")).frames
        let first = try #require(frames.dropFirst(2).first), last = try #require(frames.last)
        func colourfulness(_ frame: [UInt8]) -> Int {
            stride(from: 0, to: frame.count, by: 3).reduce(0) { max($0, abs(Int(frame[$1]) - Int(frame[$1 + 2]))) }
        }
        #expect(colourfulness(first) > 100)
        #expect(colourfulness(last) < 8)
    }

    @Test func theListsNameGuestsAndWhatTheyTake() throws {
        let all = try Executable.run(["filters", "--frei0r"]).text
        #expect(all.contains("cartoon") && all.contains("Cartoonify"))
        let one = try Executable.run(["filters", "--frei0r", "cartoon"]).text
        #expect(one.contains("triplevel = ") && one.contains("example: cam >> frei0r{ \"cartoon\""))
        let chain = try Executable.run(["filters", "--ffmpeg", "hqdn3d"]).text
        #expect(chain.contains("luma_spatial = 0") && chain.contains("on air"))
        let refused = try Executable.run(["filters", "--ffmpeg", "movie"]).text
        #expect(refused.contains("not for graphs"))
        let json = try Executable.run(["filters", "--ffmpeg", "--json"]).text
        #expect(json.contains("\"name\": \"hqdn3d\"") || json.contains("\"name\" : \"hqdn3d\""))
        let wrong = try Executable.run(["filters", "--ffmpeg", "hqdn4d"])
        #expect(wrong.exitCode == 2 && wrong.errorText.contains("did you mean 'hqdn3d'"))
    }

    // MARK: Stingers

    /// A video with alpha plays once over the cut; before the cut the first picture is under it, then the second.
    @Test(arguments: [("qtrle", "argb", "mov"), ("png", "rgba", "mov"), ("prores_ks", "yuva444p10le", "mov")])
    func aStingerPlaysOverItsCut(_ codec: String, _ format: String, _ container: String) throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.file("looks"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: Fixtures.package("graphs/looks/stinger.lua"), toPath: directory.file("looks/stinger.lua"))
        // Ten frames: the left half is opaque white, the right half see-through.
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "color=white:size=64x48:rate=30:duration=0.33333", "-vf",
                "format=\(format.hasPrefix("yuv") ? "yuva444p10le" : "rgba"),geq=\(format.hasPrefix("yuv") ? "lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='if(lt(X,32),1023,0)'" : "r=255:g=255:b=255:a='if(lt(X,32),255,0)'")",
                "-c:v", codec, "-pix_fmt", format, directory.file("sting.\(container)"),
            ])
        let run = try GraphRun(
            """
            graph { fps = 30, size = "64x48" }
            local sting = require "looks.stinger" { "sting", video = "sting.\(container)", cut = 0.19 }
            color { "one", rgba = "#c00000" } >> sting.from
            color { "two", rgba = "#0000c0" } >> sting.to
            sting.output >> rawDataOutput { "raw", file = "raw.y4m", container = "y4m", format = "yuv444p" }
            onFrame(function(time, tick) if tick == 10 then sting.play() end end)
            """, command: "render", arguments: ["--duration", "1"], directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0)
        let video = try DecodedVideo(run.directory.file("raw.y4m"))
        #expect(video.frames.count == 30)
        func side(_ frame: Int, _ x: Int) -> String {
            let at = (24 * 64 + x) * 3
            let rgb = video.frames[frame][at..<at + 3].map { Int($0) }
            if rgb.min() ?? 0 > 230 { return "white" }
            return rgb[0] > 150 && rgb[2] < 40 ? "one" : rgb[2] > 150 && rgb[0] < 40 ? "two" : "\(rgb)"
        }
        let left = (0..<30).map { side($0, 12) }
        let right = (0..<30).map { side($0, 52) }
        #expect(
            left == Array(repeating: "one", count: 10) + Array(repeating: "white", count: 10)
                + Array(repeating: "two", count: 10))
        #expect(right == Array(repeating: "one", count: 16) + Array(repeating: "two", count: 14))
    }
}
