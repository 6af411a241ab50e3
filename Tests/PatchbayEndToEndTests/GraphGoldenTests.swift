import Foundation
import PatchTesting
import Testing

/// Every graph of graphs/ shows, after 29 frames, what its picture in docs/graphs shows. The pictures are the shop window
/// too: graphs/README.md lists them.
///
/// PATCHBAY_RECORD=1 makes the pictures anew. A difference leaves the new picture and the difference in a folder that the
/// failure names.
@Suite struct GraphGoldenTests {
    /// Inputs that graphs leave to the machine are drawn scenes here.
    static let bindings = ["cam": "host", "clip": "landscape"]
    /// Graphs that stand in their picture as something other than what binds `cam` above.
    static let cameras = ["studio": "greenscreen", "replay": "guest"]
    /// Controls that show what a graph is for.
    static let settings = ["replay": "freeze=true", "news": "clock=20:15:00"]
    /// Places (x, y, width, height in the picture of 640x360) that show the time of day.
    static let clocks = ["news": (510, 8, 122, 40)]

    @Test func theShopWindowIsFull() throws {
        #expect(try GraphsTests.graphs().count >= 12)
    }

    @Test(arguments: try GraphsTests.graphs())
    func theGraphShowsItsPicture(_ graph: String) throws {
        let name = String(graph.dropLast(4))
        let directory = try TemporaryDirectory()
        let made = directory.file("\(name).png")
        var arguments = ["still", "graphs/\(graph)", made, "--at", "0.96", "--scale", "640x360"]
        for (input, scene) in Self.bindings {
            arguments += ["--bind", "\(input)=\(input == "cam" ? Self.cameras[name] ?? scene : scene)"]
        }
        if let setting = Self.settings[name] { arguments += ["--set", setting] }
        let outcome = try Executable.run(
            arguments, timeout: 120, environment: ["DISPLAY": nil, "PATCHBAY_URL": nil],
            directory: Fixtures.packageRoot)
        #expect(outcome.exitCode == 0, "\(graph): \(outcome.errorText)")
        guard outcome.exitCode == 0 else { return }
        let golden = Fixtures.packageRoot + "/docs/graphs/\(name).jpg"
        if ProcessInfo.processInfo.environment["PATCHBAY_RECORD"] != nil {
            try Program.run("ffmpeg", ["-v", "error", "-y", "-i", made, "-q:v", "4", golden])
        }
        guard FileManager.default.fileExists(atPath: golden) else {
            Issue.record("docs/graphs/\(name).jpg is missing: PATCHBAY_RECORD=1 scripts/test --filter GraphGoldenTests")
            return
        }
        if let difference = try PictureDifference(made, golden, size: (640, 360), except: Self.clocks[name]).complaint {
            let kept = try Self.keep(made, golden, name)
            Issue.record("\(graph) differs from docs/graphs/\(name).jpg: \(difference); see \(kept)")
        }
    }

    /// The new picture and eight times the difference, beside each other, where a person can look at them.
    private static func keep(_ made: String, _ golden: String, _ name: String) throws -> String {
        let folder = NSTemporaryDirectory() + "patchbay-goldens"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = "\(folder)/\(name).png"
        let filter =
            "[0]format=gbrp,split[a][c];[1]format=gbrp[b];[a][b]blend=all_mode=difference,lutrgb=r=val*8:g=val*8:b=val*8[d];"
            + "[c][d]hstack"
        _ = try Program.run(
            "ffmpeg", ["-v", "error", "-y", "-i", made, "-i", golden, "-filter_complex", filter, file], mayFail: true)
        return file
    }

    @Test func everyGraphHasALineInTheList() throws {
        let text = String(decoding: try Fixtures.package("graphs/README.md").contentsOfFile(), as: UTF8.self)
        for graph in try GraphsTests.graphs() {
            #expect(text.contains("`\(graph)`"), "graphs/README.md does not list \(graph)")
            #expect(
                text.contains("docs/graphs/\(graph.dropLast(4)).jpg"), "graphs/README.md shows no picture of \(graph)")
        }
    }
}

/// How far two pictures are apart.
struct PictureDifference {
    /// Root of the mean square, in codes of 8 bits.
    let rms: Double
    /// The largest mean difference of a block of 16×16 pixels.
    let block: Double

    /// A stored picture is a JPEG, whose own noise is below these; a moved edge or a wrong colour is above.
    static let limits = (rms: 4.0, block: 10.0)

    /// - Parameter except: x, y, width and height of what does not count.
    init(
        _ first: String, _ second: String, size: (width: Int, height: Int), except: (Int, Int, Int, Int)? = nil
    ) throws {
        let a = try #require(try DecodedVideo(first, size: size, arguments: ["-frames:v", "1"]).frames.first)
        let b = try #require(try DecodedVideo(second, size: size, arguments: ["-frames:v", "1"]).frames.first)
        var sum = 0.0
        var blocks = [Double](repeating: 0, count: ((size.width + 15) / 16) * ((size.height + 15) / 16))
        for index in a.indices {
            let pixel = index / 3
            let (x, y) = (pixel % size.width, pixel / size.width)
            if let (left, top, width, height) = except, (left..<left + width).contains(x),
                (top..<top + height).contains(y)
            {
                continue
            }
            let difference = Double(Int(a[index]) - Int(b[index]))
            sum += difference * difference
            blocks[y / 16 * ((size.width + 15) / 16) + x / 16] += difference.magnitude / (256 * 3)
        }
        rms = (sum / Double(a.count)).squareRoot()
        block = blocks.max() ?? 0
    }

    var complaint: String? {
        guard rms > Self.limits.rms || block > Self.limits.block else { return nil }
        return String(
            format: "RMS %.2f (at most %.0f), worst block %.1f (at most %.0f)", rms, Self.limits.rms, block,
            Self.limits.block)
    }
}
