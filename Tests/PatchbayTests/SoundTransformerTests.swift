import Foundation
import PatchTesting
import Patchbay
import Testing

/// A sound filter of the host program, from a file to a file.
@Suite struct SoundTransformerTests {
    /// Swaps left and right and clips at ±1638 / 32768, in place.
    private final class Crush: SoundProcessor {
        func process(_ block: AudioBlock, _ parameters: SoundParameters) {
            let most = Float(1638) / 32_768
            let (left, right) = (block.channel(0), block.channel(1))
            for index in 0..<block.count {
                let sample = left[index]
                left[index] = max(-most, min(most, right[index]))
                right[index] = max(-most, min(most, sample))
            }
        }
    }

    @Test func itChangesSixteenBitsToTheBit() throws {
        let directory = try TemporaryDirectory()
        let codes = (0..<96_000).map { Int16(truncatingIfNeeded: $0 &* 40_503) }
        try codes.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: directory.file("codes.s16")))
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "s16le", "-ar", "48000", "-ac", "2", "-i", directory.file("codes.s16"),
                directory.file("codes.wav"),
            ])
        let graph = Graph(size: (64, 36), rate: FrameRate(30))
        let crush = graph.soundProcessor("crush") { Crush() }
        let output = graph.node(
            "recorder", "rec",
            options: ["file": .string(directory.file("out.mkv")), "audioCodec": .string("pcm")])
        graph.video("clip", file: directory.file("codes.wav")) --> crush --> output
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        try graph.start(configuration)
        graph.waitUntilFinished()
        // The host program sees how loud its outputs are.
        #expect((graph.engine?.statistics.nodes.first { $0.id == "rec" }?.loudness?.integrated ?? 0) < -10)
        graph.stop()

        let bytes = try Program.run(
            "ffmpeg", ["-v", "error", "-i", directory.file("out.mkv"), "-c:a", "pcm_s24le", "-f", "s24le", "-"]
        ).output
        #expect(bytes.count >= 3 * codes.count)
        for index in codes.indices where 3 * index + 2 < bytes.count {
            let bits = UInt32(bytes[3 * index]) | UInt32(bytes[3 * index + 1]) << 8 | UInt32(bytes[3 * index + 2]) << 16
            let expected = max(-1638, min(1638, codes[index ^ 1]))
            guard Int32(bitPattern: bits << 8) >> 8 == Int32(expected) << 8 else {
                Issue.record("sample \(index) is \(Int32(bitPattern: bits << 8) >> 8), not \(expected) * 256")
                return
            }
        }
    }
}
