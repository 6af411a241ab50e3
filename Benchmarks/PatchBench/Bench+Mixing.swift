import PatchGraph
import PatchMedia

/// Rows without peers: what mixing in linear light costs beside mixing codes, pictures that are brought to another size, and medians
/// of many pixels.
extension Bench {
    /// Each in a graph that mixes codes and in one that mixes light, in turns.
    func measureLight() throws {
        let (width, height) = (options.width, options.height)
        let half = "{ \(width / 2), \(height / 2) }"
        let mixes = [
            (
                "a half picture over another",
                """
                mix.slots.back = { source = all, size = { \(width), \(height) }, z = 0 }
                mix.slots.front = { source = all, position = \(half), size = \(half), transparency = 0.3, z = 1 }
                """
            ),
            (
                "four quarters",
                (0..<4).map {
                    "mix.slots.q\($0) = { source = all, position = { \($0 % 2 * width / 2), \($0 / 2 * height / 2) }, size = \(half) }"
                }.joined(separator: "\n")
            ),
        ]
        for format in [PixelFormat.rgba, .yuv420p] {
            for (title, slots) in mixes {
                let graph =
                    "local all, mix = picture{ \"a\" }, mixer{ \"mix\", size = \"\(width)x\(height)\" }\n\(slots)\nmix >> result{\"out\"}"
                let ways = [OurWay(name: "codes", graph: graph), OurWay(name: "linear", graph: graph, light: "linear")]
                try measure("light", ways, format, width, height) { index, timings in
                    let cost = timings[1].median / timings[0].median
                    return index == 0 ? "\(title), codes" : "\(title), light: \(rounded(cost)) times"
                }
            }
        }
    }

    /// One slot whose picture has another shape than the canvas, in each aspect.
    func measureAspects() throws {
        for format in [PixelFormat.rgba, .yuv420p] {
            let ways = ["stretch", "fit", "fill"].map { aspect in
                OurWay(
                    name: aspect,
                    graph: """
                        local mix = mixer{ "mix", size = "1280x720" }
                        mix.slots.one = { source = picture{"a"}, size = { 1280, 720 }, aspect = "\(aspect)" }
                        mix >> result{"out"}
                        """)
            }
            try measure("aspect", ways, format, 1280, 720, picture: (640, 480)) { index, _ in
                "640×480 on 1280×720, \(ways[index].name)"
            }
        }
    }

    /// Medians beyond the networks: histograms whose cost is not to grow with the radius.
    func measureMedians() throws {
        let radii = [1, 3, 4, 16, 64]
        let ways = radii.map {
            OurWay(name: "\($0)", graph: "picture{'a'} >> filter.median{ radius = \($0) } >> result{'out'}")
        }
        for (width, height) in [(1280, 720), (1920, 1080)] {
            try measure("median", ways, .yuv420p, width, height) { index, _ in "radius \(radii[index])" }
        }
    }

    /// Ways in turns, each for itself, a row each.
    private func measure(
        _ name: String, _ ways: [OurWay], _ format: PixelFormat, _ width: Int, _ height: Int,
        picture: (Int, Int)? = nil, title: (Int, [Timing]) -> String
    ) throws {
        for threads in options.threads {
            let competitors = try ways.enumerated().map { index, way in
                var competitor = Competitor.ours(
                    way, try run(way, format, width, height, threads: threads, picture: picture))
                competitor.group = "\(index)"
                return competitor
            }
            let timings = Interleaving(rounds: options.rounds).measure(competitors) { _, _ in (nil, nil) }
            for (index, timing) in timings.enumerated() {
                add(row(name, format, "\(width)x\(height)", threads, title(index, timings), timing, nil))
            }
        }
    }
}
