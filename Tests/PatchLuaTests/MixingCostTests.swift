import Glibc
import PatchMedia
import Testing

/// Processor time of mixers and blurs at 1080p, printed for whoever asks by the beginning of their names:
/// PATCHBAY_MEASURE=sigma swift test --filter MixingCostTests
@Suite struct MixingCostTests {
    private static let places = [("a", "0, 0"), ("b", "960, 0"), ("a", "0, 540"), ("b", "960, 540")]
    private static let graphs: [(name: String, text: String)] = [
        ("copy", "a >> filter.gaussianBlur{ sigma = 0 } >> out"),
        ("sigma 2", "a >> filter.gaussianBlur{ sigma = 2 } >> out"),
        ("sigma 4", "a >> filter.gaussianBlur{ sigma = 4 } >> out"),
        ("sigma 20", "a >> filter.gaussianBlur{ sigma = 20 } >> out"),
        (
            "overlay",
            """
            local mix = mixer{ "mix", size = {1920, 1080} }
            mix.slots.back = { source = a, size = {1920, 1080} }
            mix.slots.logo = { source = o, position = {320, 180}, size = {1280, 720}, z = 1 }
            mix >> out
            """
        ),
        ("quadrants", quadrants("960, 540")), ("odd quadrants", quadrants("900, 500")),
    ]

    private static func quadrants(_ size: String) -> String {
        places.enumerated().reduce("local mix = mixer{ 'mix', size = {1920, 1080} }\n") { text, place in
            text + "mix.slots.s\(place.offset) = { source = \(place.element.0), position = {\(place.element.1)}, "
                + "size = {\(size)} }\n"
        } + "mix >> out"
    }

    private static let wanted = getenv("PATCHBAY_MEASURE").map { String(cString: $0) } ?? ""

    @Test(.enabled(if: getenv("PATCHBAY_MEASURE") != nil)) func costs() throws {
        for kind in ["clear", "yuv420p"] {
            for graph in Self.graphs where graph.name.hasPrefix(Self.wanted) {
                func source(_ name: String, _ kind: String, _ width: Int, _ height: Int) -> MixerCase.Source {
                    MixerCase.Source(name: name, kind: kind, width: width, height: height, seed: 1)
                }
                let engine = try MixerRunner.loaded(
                    [source("a", kind, 1920, 1080), source("b", kind, 1920, 1080), source("o", "clear", 1280, 720)],
                    graph.text,
                    output: VideoFormat(kind == "clear" ? .rgba : .yuv420p, width: 1920, height: 1080), threads: 1)
                defer { engine.stop(drainLimit: 0) }
                var times: [Double] = []
                for tick in 0..<30 {
                    var (start, end) = (timespec(), timespec())
                    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
                    try engine.renderOnce(tick: Int64(tick))
                    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
                    times.append(Double(end.tv_sec - start.tv_sec) * 1e3 + Double(end.tv_nsec - start.tv_nsec) / 1e6)
                }
                times.sort()
                print("\(graph.name) on \(kind): \(times[0]) least, \(times[15]) median, ms")
            }
        }
    }
}
