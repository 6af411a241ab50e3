/// How sound of one number of channels becomes sound of another: the coefficients of ITU-R BS.775, as FFmpeg's swresample has
/// them, without its division by their sum, which is for integers.
///
/// What a loudspeaker would say that is not there, its neighbours say, with the same power together: the loudness that
/// EBU R 128 measures stays. Mono is −3 dB in each of left and right, and the centre of 5.1; centre and surround go to left and
/// right at −3 dB; the low-frequency channel is left out where there is none. The sum may exceed full scale.
/// Thread-safety: a value.
public enum ChannelMix {
    private enum Speaker { case left, right, center, low, backLeft, backRight, back, sideLeft, sideRight }

    /// FFmpeg's default layout of so many channels, 1…8.
    private static func speaker(_ index: Int, of channels: Int) -> Speaker {
        switch (channels, index) {
        case (1, _): .center
        case (_, 0): .left
        case (_, 1): .right
        case (3, _): .low
        case (_, 2): .center
        case (4, _): .back
        case (5, 3): .backLeft
        case (5, _): .backRight
        case (_, 3): .low
        case (7, 4): .back
        case (7, 5): .sideLeft
        case (7, _): .sideRight
        case (_, 4): .backLeft
        case (_, 5): .backRight
        case (_, 6): .sideLeft
        default: .sideRight
        }
    }

    private static func has(_ speaker: Speaker, in channels: Int) -> Bool {
        for index in 0..<channels where self.speaker(index, of: channels) == speaker { return true }
        return false
    }

    private static let half = Float(0.5).squareRoot()

    /// The factor with which a channel of one sound goes into a channel of another; 1…8 channels each.
    public static func gain(from source: Int, of sources: Int, to target: Int, of targets: Int) -> Float {
        if sources == targets { return source == target ? 1 : 0 }
        let (from, to) = (speaker(source, of: sources), speaker(target, of: targets))
        if has(from, in: targets) { return from == to ? 1 : 0 }
        switch from {
        case .low: return 0
        case .center: return to == .left || to == .right ? half : 0
        case .left, .right: return to == .center ? half : 0
        case .back:
            if has(.backLeft, in: targets) { return to == .backLeft || to == .backRight ? half : 0 }
            return front(targets, to == .left || to == .right, to, half)
        case .backLeft, .backRight, .sideLeft, .sideRight:
            let isLeft = from == .backLeft || from == .sideLeft
            if has(.backLeft, in: targets) {
                // Sides join the back loudspeakers' own sound at −3 dB.
                return to == (isLeft ? .backLeft : .backRight) ? has(.backLeft, in: sources) ? half : 1 : 0
            }
            if has(.back, in: targets) { return to == .back ? half : 0 }
            return front(targets, to == (isLeft ? .left : .right), to, 1)
        }
    }

    /// What surround gives to the front.
    private static func front(_ targets: Int, _ isMeant: Bool, _ to: Speaker, _ share: Float) -> Float {
        guard has(.left, in: targets) else { return to == .center ? half * half : 0 }
        return isMeant ? half * share : 0
    }
}
