import PatchGraph

/// The native operators that filter files call: `native = "NAME"`.
///
/// Thread-safety: immutable.
public enum NativeOperators {
    /// All of them, for a registry.
    public static let all: [OperatorKind] = [
        CentroidOperator.kind, ClaheOperator.kind, EqualizeOperator.kind, GaussianOperator.kind, HistogramOperator.kind,
        HoughOperator.kind, MeanColor.kind, Mixer.kind, PointsOperator.kind,
    ]
}
