internal import CPango
import PatchMedia

/// The font families that this machine has.
///
/// Thread-safety: one thread.
struct FontFamilies {
    /// Names that fontconfig gives a meaning to, although no font has them.
    private static let generic: Set<String> = [
        "sans", "sans-serif", "serif", "monospace", "mono", "cursive", "fantasy", "system-ui", "emoji",
    ]
    private var names: Set<String> = []

    init(_ fonts: UnsafeMutablePointer<PangoFontMap>?) {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<PangoFontFamily>?>?
        var count: Int32 = 0
        guard let fonts else { return }
        pango_font_map_list_families(fonts, &list, &count)
        guard let list else { return }
        defer { g_free(list) }
        for index in 0..<Int(count) {
            if let name = list[index].flatMap({ pango_font_family_get_name($0) }) {
                names.insert(String(cString: name).lowercased())
            }
        }
    }

    /// No font but the generic names, which Pango always lists.
    var isEmpty: Bool { names.subtracting(Self.generic).isEmpty }

    /// What to say when none of the families that `font` names is there; nil when one is.
    func substitution(for font: String, context: OpaquePointer) -> String? {
        guard let wanted = pango_font_description_from_string(font) else { return nil }
        defer { pango_font_description_free(wanted) }
        guard let list = pango_font_description_get_family(wanted) else { return nil }
        let asked = String(cString: list).split(separator: ",").map { name in
            String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        let isThere = asked.contains { Self.generic.contains($0.lowercased()) || names.contains($0.lowercased()) }
        guard !isThere, !asked.isEmpty else { return nil }
        let others = asked.map { "'\($0)'" }.joined(separator: ", ")
        var standIn = ""
        if let loaded = pango_context_load_font(context, wanted) {
            defer { g_object_unref(loaded) }
            if let description = pango_font_describe(loaded) {
                defer { pango_font_description_free(description) }
                if let name = pango_font_description_get_family(description) {
                    standIn = ": '\(String(cString: name))' stands in"
                }
            }
        }
        let near = asked.first.flatMap { Spelling.nearest(to: $0.lowercased(), in: names) }
        return "the font \(others) is not installed\(standIn)" + (near.map { "; did you mean '\($0)'?" } ?? "")
    }
}
