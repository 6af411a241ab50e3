import PatchGraph

/// The native operators that filter files call: `native = "NAME"`.
///
/// Thread-safety: immutable.
public enum NativeOperators {
    /// All of them, for a registry of a program that reads no pictures as tables.
    public static let all = all(lookups: LookupTables())

    /// - Parameter lookups: where `lookupTable` reads its tables.
    public static func all(lookups: LookupTables) -> [OperatorKind] {
        [
            CentroidOperator.kind, ClaheOperator.kind, EqualizeOperator.kind, GaussianOperator.kind,
            GuidedOperator.kind, HistogramOperator.kind, HoughOperator.kind, LookupOperator.kind(lookups),
            MeanColor.kind, MedianOperator.kind, Mixer.kind, PointsOperator.kind,
        ]
    }
}
