import Glibc

/// Left or right: turns the far channel of stereo down by the cosine of a quarter turn and leaves the near one; other channel
/// counts ignore it.
///
/// Thread-safety: a value.
public enum SoundBalance {
    /// - Parameter pan: −1 (left) … 1 (right).
    public static func factor(_ pan: Float, ofChannel channel: Int, of channels: Int) -> Float {
        guard channels == 2, pan != 0 else { return 1 }
        return cosf(max(0, channel == 0 ? pan : -pan) * Float.pi / 2)
    }
}
