import PatchGraph
import PatchMedia

/// `audio.delay`: the same sound, later. It begins with silence, then rises within 10 ms.
///
/// Thread-safety: as `SoundProcessor` states.
public final class SoundDelay: SoundProcessor, @unchecked Sendable {
    // Unchecked: written by `prepare` before the node runs, then by one thread.
    private let samples: Int
    private var lines: [UnsafeMutableBufferPointer<Float>] = []
    private var place = 0
    /// Samples that came out so far; the first ones after the silence rise slowly.
    private var age = 0
    private static let rise = 480

    static let kind = NodeKind(
        NodeSchema(
            kind: "audio.delay", role: .filter, summary: "The same sound, later.",
            options: [OptionSchema("ms", .number(0...10_000), "How much later.", unit: "ms", required: true)],
            ports: ["audio"]),
        .sound { options, _ in SoundDelay(seconds: (options.number("ms") ?? 0) / 1000) })

    /// - Parameter seconds: 0…10; rounded to whole samples at 48 kHz.
    public init(seconds: Double) { samples = Int((max(0, min(10, seconds)) * 48_000).rounded()) }

    deinit { for line in lines { line.deallocate() } }

    /// The delay is what the node is for, so that it counts for nothing to be made up elsewhere.
    public var latency: Int { 0 }

    public func prepare(_ format: AudioFormat, longestBlock: Int) throws {
        for _ in 0..<format.channels {
            let line = UnsafeMutableBufferPointer<Float>.allocate(capacity: max(1, samples))
            line.initialize(repeating: 0)
            lines.append(line)
        }
    }

    public func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        guard samples > 0 else { return }
        var next = place
        for channel in 0..<min(block.format.channels, lines.count) {
            let (line, row) = (lines[channel], block.channel(channel))
            next = place
            for index in 0..<block.count {
                swap(&line[next], &row[index])
                next += 1
                if next == samples { next = 0 }
            }
        }
        place = next
        block.rise(age: age, after: samples, over: Self.rise)
        age = min(samples + Self.rise, age + block.count)
    }
}
