import Foundation
import PatchGraph
import PatchMedia
import PatchSound
import PatchTesting
import Testing

/// Sound of 1…8 channels: how it is mixed, and how loud it is.
@Suite struct SoundLayoutTests {
    private static let names = ["mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"]

    /// All pairs of layouts against swresample: each channel in turn is 1, the others 0.
    @Test(arguments: 1...8)
    func layoutsAreMixedAsFFmpegMixesThem(_ sources: Int) throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("units.f32")
        var units = [Float](repeating: 0, count: sources * 100 * sources)
        for channel in 0..<sources {
            for index in 0..<100 { units[(channel * 100 + index) * sources + channel] = 1 }
        }
        try units.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: file))
        for targets in 1...8 {
            let output = try Program.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "f32le", "-ar", "48000", "-channel_layout", Self.names[sources - 1], "-ac",
                    "\(sources)", "-i", file, "-af",
                    "aresample=out_chlayout=\(Self.names[targets - 1]):rematrix_maxval=1000", "-f", "f32le", "-",
                ]
            ).output
            let mixed = output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            try #require(mixed.count == 100 * sources * targets)
            for source in 0..<sources {
                for target in 0..<targets {
                    let gain = ChannelMix.gain(from: source, of: sources, to: target, of: targets)
                    let expected = mixed[(source * 100 + 50) * targets + target]
                    #expect(abs(gain - expected) < 1e-3, "\(source) of \(sources) to \(target) of \(targets)")
                }
            }
        }
    }

    /// What a meter reads of a 997 Hz tone at −20 dBFS in some of the channels.
    private func loudness(of playing: Set<Int>, channels: Int) throws -> Double {
        let meter = LoudnessMeter()
        try meter.prepare(AudioFormat(channels: channels), longestBlock: 4800)
        let block = AudioBlock(format: AudioFormat(channels: channels), capacity: 4800)
        block.count = 4800
        for round in 0..<50 {
            for channel in 0..<channels {
                for index in 0..<4800 {
                    let phase = 2 * Double.pi * 997 * Double(round * 4800 + index) / 48_000
                    block.channel(channel)[index] = playing.contains(channel) ? Float(0.1 * sin(phase)) : 0
                }
            }
            meter.hear(block)
        }
        return meter.loudness.integrated
    }

    /// EBU Tech 3341, case 1: a tone of 1000 Hz at −20 dBFS (peak) in both channels of stereo reads −20 LUFS; BS.1770 weighs
    /// sides by 1.41 and leaves low frequencies out.
    @Test func metersWeighChannelsByWhereTheyAre() throws {
        #expect(abs(try loudness(of: [0, 1], channels: 2) + 20) < 0.1)
        let one = -20 - 10 * log10(2.0)
        #expect(abs(try loudness(of: [0], channels: 1) - one) < 0.1)
        let surround = one + 10 * log10(1.41)
        let layouts: [Int: [Double]] = [
            3: [one, one, -.infinity], 4: [one, one, one, one], 5: [one, one, one, surround, surround],
            6: [one, one, one, -.infinity, surround, surround],
            7: [one, one, one, -.infinity, one, surround, surround],
            8: [one, one, one, -.infinity, one, one, surround, surround],
        ]
        for (channels, expected) in layouts {
            for (channel, value) in expected.enumerated() {
                let heard = try loudness(of: [channel], channels: channels)
                let isRight = value.isFinite ? abs(heard - value) < 0.1 : heard < -70
                #expect(isRight, "channel \(channel) of \(channels): \(heard), not \(value)")
            }
        }
    }
}
