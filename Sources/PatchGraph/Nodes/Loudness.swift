import PatchMedia

/// What a meter reads.
///
/// Thread-safety: a value.
public struct Loudness: Hashable, Sendable {
    /// LUFS over the last 0.4 s, the last 3 s, and since the meter began (gated); −∞ where nothing was heard.
    public var momentary = -Double.infinity
    public var shortTerm = -Double.infinity
    public var integrated = -Double.infinity
    /// The highest true peak of any channel since the meter began, dBTP.
    public var truePeak = -Double.infinity
    public init() {}

    /// The readings by the names that scripts use.
    var values: [String: OperatorData.Value] {
        [
            "momentary": .number(Float(momentary)), "shortTerm": .number(Float(shortTerm)),
            "integrated": .number(Float(integrated)), "truePeak": .number(Float(truePeak)),
        ]
    }
}

/// A sound filter that measures loudness and changes nothing.
///
/// Thread-safety: `loudness` may be read from any thread; the rest as `SoundProcessor`.
public protocol LoudnessMetering: SoundProcessor {
    var loudness: Loudness { get }
    /// Takes a block into account, which stays as it is.
    func hear(_ block: AudioBlock)
}
