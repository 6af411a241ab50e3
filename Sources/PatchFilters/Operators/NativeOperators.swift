import PatchGraph

/// The native operators that filter files call: `native = "NAME"`.
///
/// Thread-safety: immutable.
public enum NativeOperators {
    /// All of them, for a registry.
    public static let all: [OperatorKind] = [GaussianOperator.kind, MeanColor.kind, Mixer.kind]
}
