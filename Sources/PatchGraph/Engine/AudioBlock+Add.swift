import PatchMedia

extension AudioBlock {
    enum Fading {
        case straight
        /// From silence to full over at most so many samples, along a raised cosine.
        case fadeIn(Int)
        case fadeOut(Int)
    }

    /// Adds another block to this one, mixed to this one's channels by `ChannelMix`. Allocates nothing.
    func add(_ source: AudioBlock, _ fading: Fading) {
        let samples = min(count, source.count)
        for channel in 0..<format.channels {
            for other in 0..<source.format.channels {
                let gain = ChannelMix.gain(
                    from: other, of: source.format.channels, to: channel, of: format.channels)
                guard gain != 0 else { continue }
                Self.add(source.channel(other), to: self.channel(channel), samples, gain, fading)
            }
        }
    }

    private static func add(
        _ source: UnsafeMutablePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int, _ gain: Float,
        _ fading: Fading
    ) {
        switch fading {
        case .straight: for index in 0..<count { target[index] += gain * source[index] }
        case .fadeIn(let limit):
            let length = min(limit, count)
            for index in 0..<length {
                target[index] += gain * source[index] * rise(index, of: length)
            }
            for index in length..<max(length, count) { target[index] += gain * source[index] }
        case .fadeOut(let limit):
            let length = min(limit, count)
            for index in 0..<length {
                target[index] += gain * source[index] * (1 - rise(index, of: length))
            }
        }
    }
}
