import Glibc
import PatchGraph
import PatchMedia
import Testing

/// Times of mixers at 1080p, printed: PATCHBAY_SPEED=1.
@Suite(.serialized) struct MixerSpeed {
    @Test func quadrants() throws {
        guard getenv("PATCHBAY_SPEED") != nil else { return }
        for (kind, format) in [("rgba", PixelFormat.rgba), ("yuv420p", .yuv420p)] {
            for (name, place) in [
                ("quadrants", { (i: Int) in "position = {\(i % 2 * 960), \(i / 2 * 540)}, size = {960, 540}" }),
                ("thirds", { (i: Int) in "position = {\(i % 2 * 640), \(i / 2 * 360)}, size = {640, 360}" }),
                (
                    "picture in picture",
                    { (i: Int) in
                        i == 0 ? "size = {1920, 1080}" : "position = {\(i * 400), 700}, size = {360, 202}, z = 1"
                    }
                ),
                ("half transparent", { (i: Int) in "size = {1920, 1080}, transparency = 0.5, z = \(i)" }),
            ] {
                var lines = ["local mix = mixer{ 'mix', size = {1920, 1080} }"]
                for (i, slot) in ["a", "b", "c", "d"].enumerated() {
                    lines.append("mix.slots.\(slot) = { source = \(slot), \(place(i)) }")
                }
                lines.append("mix >> out")
                let sources = ["a", "b", "c", "d"].enumerated().map {
                    MixerCase.Source(name: $1, kind: kind, width: 1920, height: 1080, seed: $0)
                }
                for threads in [1, 2] {
                    let (_, engine) = try MixerRunner.run(
                        sources, lines.joined(separator: "\n"), output: VideoFormat(format, width: 1920, height: 1080),
                        ticks: 60, threads: threads)
                    let node = engine.statistics.nodes.first { $0.id == "mix" }
                    print("SPEED \(kind) \(name), \(threads) threads: \((node?.p50 ?? 0) / 1000) ms")
                }
            }
        }
    }
}
