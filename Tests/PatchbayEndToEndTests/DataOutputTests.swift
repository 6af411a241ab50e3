import Foundation
import PatchTesting
import Testing

/// The numbers that filters publish (`node:onData`), of a real picture and a real clip, against Fixtures/data/data.txt, which
/// NumPy, SciPy, OpenCV and scikit-image made.
@Suite struct DataOutputTests {
    /// Name and numbers of each line of the fixture.
    static func fixture() throws -> [String: [Double]] {
        let path = try Fixtures.package("Tests/PatchbayEndToEndTests/Fixtures/data/data.txt")
        let text = String(decoding: try path.contentsOfFile(), as: UTF8.self)
        var found: [String: [Double]] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            found[String(words[0])] = words.dropFirst().compactMap { Double($0) }
        }
        return found
    }

    /// Logs what each filter publishes: `NAME.FIELD`, the tick, and numbers; long lists in several lines.
    private static func script(_ expected: [String: [Double]]) -> String {
        func threshold(_ name: String) -> Double { expected["\(name).threshold"]?.first ?? 0 }
        return """
            local pic = image { "pic", file = "astronaut.png" }
            local clip = input { "clip", default = "carphone_pristine.mp4" }
            local function flat(list)
              local words = {}
              for i, element in ipairs(list) do
                words[i] = type(element) == "table" and table.concat(element, " ") or tostring(element)
              end
              return table.concat(words, " ")
            end
            local function tell(node, name, fields, always)
              local told = 0
              node:onData(function(d)
                if not always and told == 2 then return end
                told = told + 1
                for _, field in ipairs(fields) do
                  local text = type(d[field]) == "table" and flat(d[field]) or tostring(d[field])
                  for from = 1, math.max(1, #text), 9000 do
                    log(name .. "." .. field, d.tick, text:sub(from, from + 8999))
                  end
                end
              end)
            end
            local kinds = {
              averageColor = { { "color", "luminance" } }, averageLuminance = { { "color", "luminance" } },
              histogram = { { "red", "green", "blue", "luminance" } },
              harris = { { "points", "count" }, \(threshold("harris")) },
              noble = { { "points", "count" }, \(threshold("noble")) },
              shiTomasi = { { "points", "count" }, \(threshold("shiTomasi")) },
              fast = { { "points", "count" }, \(threshold("fast")) },
              houghLines = { { "lines", "count" } },
            }
            for name, how in pairs(kinds) do
              local node = filter[name] { name, threshold = how[2] }
              pic >> node
              tell(node, name, how[1])
            end
            local motion = filter.motionDetector { "motion", threshold = 0.05 }
            clip >> motion
            tell(motion, "motionDetector", { "amount", "centroid" }, true)
            motion >> rawDataOutput { "raw", file = "/dev/null" }
            """
    }

    /// One run serves all tests.
    private static let outcome = Result { try published(try fixture()) }

    /// What the script logged, by name and tick.
    private static func published(_ expected: [String: [Double]]) throws -> [String: [Double]] {
        let directory = try TemporaryDirectory()
        for clip in [Fixtures.Clip.astronaut, .carphone] {
            try Program.run("cp", [Fixtures.path(clip), directory.file(clip.rawValue)])
        }
        let run = try GraphRun(
            script(expected), command: "render", arguments: ["--duration", "0.8"], directory: directory)
        let (outcome, _) = try run.waitForEnd()
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        var pieces: [String: String] = [:]
        for event in GraphRun.events(in: outcome.output) where event.event == "log" {
            let words = (event.text ?? "").split(separator: "\t", omittingEmptySubsequences: false)
            guard words.count == 3, let tick = Double(words[1]) else { continue }
            pieces["\(words[0])@\(Int(tick))", default: ""] += words[2]
        }
        return pieces.mapValues { $0.split(separator: " ").compactMap { Double($0) } }
    }

    private struct Pixel: Hashable { var x: Int, y: Int }

    private static func pixels(_ points: [Double]) -> [Pixel] {
        stride(from: 0, to: points.count - 1, by: 2).map {
            Pixel(x: Int((points[$0] * 512).rounded(.down)), y: Int((points[$0 + 1] * 512).rounded(.down)))
        }
    }

    @Test func whatFiltersPublishIsWhatOthersCompute() throws {
        let expected = try Self.fixture()
        // The picture is there from the second tick on, at the latest.
        let all = try Self.outcome.get()
        func got(_ name: String, tick: Int = 1) throws -> [Double] { try #require(all["\(name)@\(tick)"], "\(name)") }
        func check(_ name: String, against other: String? = nil, within limit: Double) throws {
            let (ours, theirs) = (try got(name), try #require(expected[other ?? name]))
            #expect(ours.count == theirs.count, "\(name)")
            let worst = zip(ours, theirs).map { abs($0 - $1) }.max() ?? .infinity
            #expect(worst <= limit, "\(name): off by \(worst)")
        }
        try check("averageColor.color", within: 1e-6)
        try check("averageColor.luminance", within: 1e-6)
        try check("averageLuminance.luminance", against: "averageColor.luminance", within: 1e-6)
        for channel in ["red", "green", "blue"] { try check("histogram.\(channel)", within: 1e-6) }
        // Of 262,144 pixels a few lie where the weights' rounding decides.
        try check("histogram.luminance", within: 1e-4)

        for name in ["harris", "noble", "shiTomasi", "fast"] {
            let ours = Self.pixels(try got("\(name).points"))
            #expect(try got("\(name).count") == [Double(ours.count)])
            let sure = Set(Self.pixels(try #require(expected[name])))
            let allowed = Set(Self.pixels(try #require(expected["\(name).allowed"])))
            #expect(sure.count > 20 && Set(ours).count == ours.count)
            #expect(sure.subtracting(ours).isEmpty, "\(name) misses \(sure.subtracting(ours))")
            // OpenCV leaves out the outermost three pixels, where we repeat the border.
            let inner = ours.filter { name != "fast" || (3..<509).contains($0.x) && (3..<509).contains($0.y) }
            #expect(Set(inner).subtracting(allowed).isEmpty, "\(name) invents \(Set(inner).subtracting(allowed))")
        }
        let harris = Self.pixels(try got("harris.points"))
        for corner in Self.pixels(try #require(expected["harris.skimage"])) {
            #expect(harris.contains { max(abs($0.x - corner.x), abs($0.y - corner.y)) <= 2 }, "\(corner)")
        }
    }

    /// Angle of a line's normal in degrees, from −90 on, and its distance from the picture's corner in pixels.
    private static func normal(_ line: ArraySlice<Double>) -> (angle: Double, distance: Double) {
        let p = line.map { $0 * 512 }
        let length = hypot(p[2] - p[0], p[3] - p[1])
        var (x, y) = ((p[3] - p[1]) / length, (p[0] - p[2]) / length)
        if atan2(y, x) * 180 / .pi >= 89.99 || atan2(y, x) * 180 / .pi < -90.01 { (x, y) = (-x, -y) }
        return (atan2(y, x) * 180 / .pi, x * p[0] + y * p[1])
    }

    @Test func linesAreThoseThatScikitImageFinds() throws {
        let expected = try Self.fixture()
        let ours = try #require(try Self.outcome.get()["houghLines.lines@1"])
        let lines = stride(from: 0, to: ours.count, by: 4).map { Self.normal(ours[$0..<$0 + 4]) }
        let theirs = try #require(expected["houghLines"])
        let known = stride(from: 0, to: theirs.count, by: 2).map { (angle: theirs[$0], distance: theirs[$0 + 1]) }
        #expect(lines.count >= 4)
        func isNear(_ a: (angle: Double, distance: Double), _ b: (angle: Double, distance: Double)) -> Bool {
            abs(a.angle - b.angle) <= 1.01 && abs(a.distance - b.distance) <= 1.5
        }
        // The strongest agree in their order; the weaker ones are among those that the other finds.
        #expect(isNear(lines[0], known[0]), "\(lines[0]) \(known[0])")
        for line in lines { #expect(known.contains { isNear(line, $0) }, "\(line): \(known)") }
    }

    @Test func motionIsWhereAndHowMuchItIs() throws {
        let expected = try Self.fixture()
        let all = try Self.outcome.get()
        var checked = 0
        for tick in 0..<23 {
            guard let amount = all["motionDetector.amount@\(tick)"]?.first,
                let centroid = all["motionDetector.centroid@\(tick)"], centroid.count == 2
            else { continue }
            let theirs = try #require(expected["motionDetector.\(tick)"])
            // ffmpeg's conversion to RGB rounds to codes, ours does not.
            #expect(abs(amount - theirs[0]) <= 0.001, "tick \(tick): \(amount), not \(theirs[0])")
            #expect(hypot(centroid[0] - theirs[1], centroid[1] - theirs[2]) <= 0.008, "tick \(tick): \(centroid)")
            checked += 1
        }
        #expect(checked >= 16)
    }
}
