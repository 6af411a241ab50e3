import Glibc

/// What a stream of sound looks like.
///
/// Thread-safety: a value.
public struct AudioFormat: Hashable, Sendable {
    /// Samples a second and channel, 8,000…192,000.
    public var sampleRate: Int
    /// 1…8, in FFmpeg's default order for that many.
    public var channels: Int

    public init(sampleRate: Int = 48_000, channels: Int = 2) {
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// The layouts that graphs and outputs name, with their channels in this order: 5.1 is left, right, centre, low frequencies,
    /// surround left and right; 7.1 has back left and right, then side left and right.
    public static let layouts: [(name: String, channels: Int)] = [("mono", 1), ("stereo", 2), ("5.1", 6), ("7.1", 8)]
}

/// A stretch of sound: planar 32-bit floats, one row a channel, nominal range −1…1.
///
/// Written by one owner, then published, like a `Frame`.
/// Thread-safety: published blocks are immutable and may be read from any thread.
public final class AudioBlock: @unchecked Sendable {
    // Unchecked: written only by the owner before it is published; a pool reuses a block only when it holds the
    // sole reference.
    public let format: AudioFormat
    /// Samples a channel that fit.
    public let capacity: Int
    /// Samples a channel in use, 0…capacity.
    public var count: Int = 0
    /// When the first sample is heard, on the same time line as the frames beside it.
    public var pts: MediaTime = .zero
    private let samples: UnsafeMutablePointer<Float>

    public init(format: AudioFormat, capacity: Int) {
        self.format = format
        self.capacity = capacity
        samples = .allocate(capacity: max(1, capacity * format.channels))
        samples.initialize(repeating: 0, count: max(1, capacity * format.channels))
    }

    /// The samples of one channel; `capacity` of them are addressable, `count` are in use.
    /// - Precondition: `index` is below `format.channels`.
    public func channel(_ index: Int) -> UnsafeMutablePointer<Float> {
        precondition(index >= 0 && index < format.channels)
        return samples + index * capacity
    }

    public func silence(from first: Int = 0, count silenced: Int) {
        for index in 0..<format.channels { (channel(index) + first).update(repeating: 0, count: silenced) }
    }

    deinit { samples.deallocate() }

    /// How far a fade without corners is at a sample in the middle of `length`: (1 − cos πt) / 2.
    public static func rise(_ index: Int, of length: Int) -> Float {
        (1 - cosf(Float.pi * (Float(index) + 0.5) / Float(length))) / 2
    }

    /// Multiplies a channel by a factor that goes in a straight line from `begin`, before the first sample, to `end` at the
    /// last.
    public func scale(_ channel: Int, from begin: Float, to end: Float) {
        if begin == 1, end == 1 { return }
        let row = self.channel(channel)
        let step = (end - begin) / Float(max(1, count))
        for index in 0..<count { row[index] *= begin + step * Float(index + 1) }
    }
}
