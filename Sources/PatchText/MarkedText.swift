internal import CPango
import PatchMedia

/// A text with Pango's marks, taken apart.
///
/// Thread-safety: one thread.
final class MarkedText {
    let text: String
    let attributes: OpaquePointer?

    /// - Throws: `PatchError.usage` with what Pango says is wrong and where.
    init(_ marked: String) throws {
        var attributes: OpaquePointer?
        var text: UnsafeMutablePointer<CChar>?
        var problem: UnsafeMutablePointer<GError>?
        guard pango_parse_markup(marked, -1, 0, &attributes, &text, nil, &problem) != 0, let text else {
            let words = problem.flatMap { $0.pointee.message }.map { String(cString: $0) }
            g_error_free(problem)
            throw PatchError(
                .usage, "the marks in the text are wrong",
                remedy: "close what is opened, write &lt; for < and &amp; for &, or take markup = true away",
                cause: words)
        }
        self.text = String(cString: text)
        g_free(text)
        self.attributes = attributes
    }

    deinit { if let attributes { pango_attr_list_unref(attributes) } }

    /// The largest font size that the marks ask for, in pixels.
    /// - Throws: `PatchError.usage` when one is beyond what a text may have.
    func largestSize(base: Double) throws -> Double {
        let scale = Double(PANGO_SCALE)
        let limit = TextSettings.sizes.upperBound
        var largest = base
        guard let first = pango_attr_list_get_attributes(attributes) else { return base }
        defer { g_slist_free(first) }
        var next: UnsafeMutablePointer<GSList>? = first
        var isBeyond = false
        while let entry = next {
            next = entry.pointee.next
            guard let attribute = entry.pointee.data?.assumingMemoryBound(to: PangoAttribute.self) else { continue }
            defer { pango_attribute_destroy(attribute) }
            switch patch_attribute_type(attribute) {
            case PANGO_ATTR_SIZE, PANGO_ATTR_ABSOLUTE_SIZE:
                largest = max(largest, Double(patch_attribute_number(attribute)) / scale)
            case PANGO_ATTR_FONT_DESC:
                largest = max(largest, Double(patch_attribute_font_size(attribute)) / scale)
            case PANGO_ATTR_RISE, PANGO_ATTR_LETTER_SPACING, PANGO_ATTR_ABSOLUTE_LINE_HEIGHT, PANGO_ATTR_BASELINE_SHIFT:
                if abs(Double(patch_attribute_number(attribute))) > limit * scale { isBeyond = true }
            case PANGO_ATTR_SCALE, PANGO_ATTR_LINE_HEIGHT:
                let factor = pango_attribute_as_float(attribute).map(\.pointee.value) ?? 1
                if factor.isFinite { largest = max(largest, base * factor) } else { isBeyond = true }
            default: break
            }
        }
        guard !isBeyond, largest <= limit else {
            throw PatchError(
                .usage, "a mark in the text asks for letters or distances of more than \(Int(limit)) px",
                remedy: "make its size, rise or spacing smaller")
        }
        return largest
    }
}

/// Takes out of a text what cannot be shown.
enum TextCleaning {
    /// Line ends become "\n"; control characters other than it and the tab are left out.
    static func clean(_ text: String) -> (string: String, hadControls: Bool) {
        guard text.unicodeScalars.contains(where: { isControl($0) || $0 == "\r" }) else { return (text, false) }
        var result = String.UnicodeScalarView()
        var hadControls = false
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            defer { last = scalar }
            if scalar == "\n", last == "\r" { continue }
            if scalar == "\r" {
                result.append("\n")
            } else if isControl(scalar) {
                hadControls = true
            } else {
                result.append(scalar)
            }
        }
        return (String(result), hadControls)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false
        case 0..<0x20, 0x7F..<0xA0: true
        default: false
        }
    }
}
