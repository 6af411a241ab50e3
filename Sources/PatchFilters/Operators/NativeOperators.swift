import PatchGraph

/// The native operators that filter files call: `native = "NAME"`.
///
/// Thread-safety: immutable.
public enum NativeOperators {
    /// All of them, for a registry.
    public static let all = all(lookups: LookupTables())

    /// - Parameter lookups: where `lookupTable` reads its tables.
    public static func all(lookups: LookupTables) -> [OperatorKind] {
        [GaussianOperator.kind, LookupOperator.kind(lookups), MeanColor.kind, Mixer.kind]
    }
}
