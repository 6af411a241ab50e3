internal import CPango
import PatchMedia

/// A text that is laid out: how large its picture is, and drawing it.
///
/// Thread-safety: one thread.
final class TextLayout {
    private let layout: OpaquePointer
    /// Of the picture, in pixels.
    private(set) var width = 1
    private(set) var height = 1
    private var origin = (x: 0.0, y: 0.0)
    private(set) var notices: [String] = []

    private static let scale = Double(PANGO_SCALE)
    /// Pango counts in 1024ths of a pixel with 32 bits: a longer line would overflow.
    private static let longestParagraph = 1_000_000.0

    /// - Throws: `PatchError` when the marks are wrong or the picture would be too large or has no room.
    init(_ settings: TextSettings, context: OpaquePointer) throws {
        Self.prepare(context, settings)
        guard let layout = pango_layout_new(context) else { throw TextRenderer.outOfMemory }
        self.layout = layout
        if let font = pango_font_description_from_string(settings.font) {
            pango_font_description_set_absolute_size(font, settings.size * Self.scale)
            pango_layout_set_font_description(layout, font)
            pango_font_description_free(font)
        }
        let text = TextCleaning.clean(settings.string)
        if text.hadControls { notices.append("control characters in the text are left out") }
        if settings.isMarkup {
            let marked = try MarkedText(text.string)
            try checkLength(marked.text, size: max(settings.size, try marked.largestSize(base: settings.size)))
            pango_layout_set_text(layout, marked.text, -1)
            pango_layout_set_attributes(layout, marked.attributes)
        } else {
            try checkLength(text.string, size: settings.size)
            pango_layout_set_text(layout, text.string, -1)
        }
        if settings.letterSpacing != 0 { addLetterSpacing(settings.letterSpacing) }
        if settings.lineSpacing != 1 { pango_layout_set_line_spacing(layout, Float(settings.lineSpacing)) }
        pango_layout_set_justify(layout, settings.align == .justify ? 1 : 0)
        let alignment =
            switch settings.align {
            case .left, .justify: PANGO_ALIGN_LEFT
            case .center: PANGO_ALIGN_CENTER
            case .right: PANGO_ALIGN_RIGHT
            }
        pango_layout_set_alignment(layout, alignment)
        pango_layout_set_auto_dir(layout, settings.direction == .auto ? 1 : 0)
        try fit(settings)
        let unknown = pango_layout_get_unknown_glyphs_count(layout)
        if unknown > 0 {
            notices.append(
                "no installed font has \(unknown) of the text's characters: boxes stand for them; "
                    + "apt-get install fonts-noto-core fonts-noto-color-emoji")
        }
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    private static func prepare(_ context: OpaquePointer, _ settings: TextSettings) {
        let options = cairo_font_options_create()
        cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
        cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
        cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
        pango_cairo_context_set_font_options(context, options)
        cairo_font_options_destroy(options)
        // One point of a mark such as size='20pt' is one pixel.
        pango_cairo_context_set_resolution(context, 72)
        pango_context_set_round_glyph_positions(context, 0)
        pango_context_set_base_dir(
            context, settings.direction == .rightToLeft ? PANGO_DIRECTION_RTL : PANGO_DIRECTION_LTR)
    }

    private func addLetterSpacing(_ pixels: Double) {
        let old = pango_layout_get_attributes(layout)
        guard let list = old.flatMap({ pango_attr_list_copy($0) }) ?? pango_attr_list_new() else { return }
        // From the first byte to the last; marks of the text's own come later in the list and win.
        pango_attr_list_insert_before(list, pango_attr_letter_spacing_new(Int32(pixels * Self.scale)))
        pango_layout_set_attributes(layout, list)
        pango_attr_list_unref(list)
    }

    private func checkLength(_ text: String, size: Double) throws {
        let longest = text.split(separator: "\n").map(\.unicodeScalars.count).max() ?? 0
        guard Double(longest) * size <= Self.longestParagraph else {
            throw PatchError(
                .usage, "\(longest) characters without a line break are too many at a size of \(Int(size)) px",
                remedy: "make them smaller, or break the lines; \(Int(Self.longestParagraph / size)) are the most")
        }
    }

    // MARK: Size

    private func fit(_ settings: TextSettings) throws {
        let margin = settings.margin
        if let width = settings.width {
            let room = Double(width) - 2 * margin
            guard room >= 1 else { throw noRoom(width, margin) }
            pango_layout_set_width(layout, Int32(room * Self.scale))
            pango_layout_set_wrap(layout, settings.wrap == .char ? PANGO_WRAP_CHAR : PANGO_WRAP_WORD_CHAR)
            if settings.wrap == .none { pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END) }
        }
        if let height = settings.height {
            // Padding, outline and shadow give way where the height is fixed.
            let room = Double(height)
            if logicalExtents.height > room {
                if settings.width == nil {
                    // Pango cuts lines only where it knows a width.
                    pango_layout_set_width(layout, Int32((logicalExtents.width + 1) * Self.scale))
                }
                pango_layout_set_height(layout, Int32(room * Self.scale))
                pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
            }
        }
        let (logical, ink) = (logicalExtents, inkExtents)
        let left = min(logical.x, ink.width > 0 ? ink.x : logical.x)
        let top = min(logical.y, ink.height > 0 ? ink.y : logical.y)
        let right = max(logical.x + logical.width, ink.x + ink.width)
        let bottom = max(logical.y + logical.height, ink.y + ink.height)
        let fitted = (width: (right - left + 2 * margin).rounded(.up), height: (bottom - top + 2 * margin).rounded(.up))
        guard logical.width >= 0, logical.height >= 0, fitted.width.isFinite, fitted.height.isFinite else {
            throw tooLarge(fitted.width, fitted.height)
        }
        let (width, height) = (
            settings.width.map(Double.init) ?? max(1, fitted.width),
            settings.height.map(Double.init) ?? max(1, fitted.height)
        )
        let side = Double(VideoFormat.maximumSide)
        guard width <= side, height <= side, width * height <= Double(TextSettings.pixelLimit) else {
            throw tooLarge(width, height)
        }
        (self.width, self.height) = (Int(width), Int(height))
        origin.x = settings.width == nil ? (margin - left).rounded() : margin.rounded()
        switch settings.verticalAlign {
        case _ where settings.height == nil: origin.y = margin - top
        case .top: origin.y = min(margin, max(0, height - logical.height)) - logical.y
        case .middle: origin.y = (height - logical.height) / 2 - logical.y
        case .bottom: origin.y = max(0, height - margin - logical.height) - logical.y
        }
        // The first line stands on whole pixels.
        let baseline = Double(pango_layout_get_baseline(layout)) / Self.scale
        origin.y = (origin.y + baseline).rounded() - baseline
    }

    private typealias Extents = (x: Double, y: Double, width: Double, height: Double)

    private static func pixels(_ rectangle: PangoRectangle) -> Extents {
        (
            Double(rectangle.x) / scale, Double(rectangle.y) / scale, Double(rectangle.width) / scale,
            Double(rectangle.height) / scale
        )
    }

    private var logicalExtents: Extents {
        var rectangle = PangoRectangle()
        pango_layout_get_extents(layout, nil, &rectangle)
        return Self.pixels(rectangle)
    }

    private var inkExtents: Extents {
        var rectangle = PangoRectangle()
        pango_layout_get_extents(layout, &rectangle, nil)
        return Self.pixels(rectangle)
    }

    private func noRoom(_ width: Int, _ margin: Double) -> PatchError {
        PatchError(
            .usage, "a width of \(width) px leaves no room for text",
            remedy: "padding, outline and shadow need \(Int(2 * margin)) px of it: make it larger or them smaller")
    }

    private func tooLarge(_ width: Double, _ height: Double) -> PatchError {
        func whole(_ number: Double) -> String { number.isFinite && abs(number) < 1e9 ? "\(Int(number))" : "…" }
        return PatchError(
            .usage, "the text would be a picture of \(whole(width))x\(whole(height)) pixels",
            remedy: "give it a width, so that it wraps, or a smaller size; the limits are \(VideoFormat.maximumSide) "
                + "a side and \(TextSettings.pixelLimit) pixels")
    }

    // MARK: Drawing

    /// Draws outline and letters; on a mask surface only their coverage counts.
    func draw(on cairo: OpaquePointer?, _ settings: TextSettings) {
        if let outline = settings.outline {
            addOutlinePath(to: cairo)
            cairo_set_line_width(cairo, 2 * outline.width)
            cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND)
            TextRenderer.setColor(cairo, outline.color)
            cairo_stroke(cairo)
        }
        TextRenderer.setColor(cairo, settings.color)
        cairo_move_to(cairo, origin.x, origin.y)
        pango_cairo_show_layout(cairo, layout)
    }

    /// The contours of all letters; emoji, whose glyphs are pictures, have none.
    private func addOutlinePath(to cairo: OpaquePointer?) {
        cairo_new_path(cairo)
        guard let iterator = pango_layout_get_iter(layout) else { return }
        defer { pango_layout_iter_free(iterator) }
        repeat {
            guard let run = pango_layout_iter_get_run_readonly(iterator), patch_run_has_color(run) == 0 else {
                continue
            }
            var extents = PangoRectangle()
            pango_layout_iter_get_run_extents(iterator, nil, &extents)
            let baseline = Double(pango_layout_iter_get_run_baseline(iterator)) / Self.scale
            cairo_move_to(cairo, origin.x + Double(extents.x) / Self.scale, origin.y + baseline)
            pango_cairo_glyph_string_path(cairo, run.pointee.item.pointee.analysis.font, run.pointee.glyphs)
        } while pango_layout_iter_next_run(iterator) != 0
    }
}
