import PatchGraph
import PatchMedia

/// The sound filters that need no codec library: `audio.gain`, `audio.delay`, `audio.noiseSuppression`, `audio.meter`.
public enum SoundNodes {
    public static var kinds: [NodeKind] {
        [SoundGain.kind, SoundDelay.kind, NoiseSuppression.kind, LoudnessMeter.kind]
    }
}
