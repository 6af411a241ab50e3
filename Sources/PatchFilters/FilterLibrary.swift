/// The Lua texts of the built-in filters, one file a filter under `Library/CATEGORY/NAME.lua`.
///
/// Thread-safety: all members may be called from any thread.
public enum FilterLibrary {
    struct Entry: Sendable {
        /// What scripts call it after `filter.`, or the whole word for `blend.NAME` and `transition.NAME`.
        var name: String
        var category: String
        var source: String
    }

    private static let byName: [String: Entry] = Dictionary(
        entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// All names, sorted.
    public static let names: [String] = byName.keys.sorted()

    /// The Lua text of a filter; nil when there is none of that name.
    public static func source(of name: String) -> String? { byName[name]?.source }

    /// The folder that a filter is in, such as `color` or `blend`; nil when there is none of that name.
    public static func category(of name: String) -> String? { byName[name]?.category }
}
