internal import CPango
import PatchMedia

/// A drawn text.
struct TextPicture: Sendable {
    var frame: Frame
    /// What people should know: a font that is missing, letters that no font has.
    var notices: [String]
}

/// Lays text out by Pango and draws it by cairo.
///
/// Glyphs are neither hinted nor snapped to pixels, so that a picture is the same on every machine with the same fonts, and
/// letters keep their distances at any size. Emoji keep their colours and have no outline.
/// Thread-safety: one thread.
final class TextRenderer {
    private let fonts: UnsafeMutablePointer<PangoFontMap>?
    /// Names of the families, in lower case.
    private lazy var families = FontFamilies(fonts)

    init() { fonts = pango_cairo_font_map_new() }

    deinit { if let fonts { g_object_unref(fonts) } }

    /// - Throws: `PatchError` when the marks in the text are wrong, the picture would be too large, or there is no font.
    func draw(_ settings: TextSettings) throws -> TextPicture {
        guard let fonts, let context = pango_font_map_create_context(fonts) else { throw Self.outOfMemory }
        defer { g_object_unref(UnsafeMutableRawPointer(context)) }
        guard !families.isEmpty else {
            throw PatchError(
                .unavailable, "no font is installed on this machine", remedy: "apt-get install fonts-dejavu-core")
        }
        let layout = try TextLayout(settings, context: context)
        var notices = layout.notices
        if let notice = families.substitution(for: settings.font, context: context) { notices.append(notice) }
        let frame = Frame(
            allocating: VideoFormat(.bgra, width: layout.width, height: layout.height, color: .srgb))
        try paint(layout, settings, into: frame)
        return TextPicture(frame: frame, notices: notices)
    }

    static var outOfMemory: PatchError {
        PatchError(.unavailable, "no memory for a text", remedy: "make it smaller, or close other programs")
    }

    // MARK: Drawing

    private func paint(_ layout: TextLayout, _ settings: TextSettings, into frame: Frame) throws {
        let plane = frame.plane(0)
        try Self.withCanvas(
            plane.base, format: CAIRO_FORMAT_ARGB32, width: frame.width, height: frame.height, stride: plane.stride
        ) { cairo in
            if let background = settings.background {
                Self.roundedRectangle(
                    cairo, width: Double(frame.width), height: Double(frame.height), radius: settings.cornerRadius)
                Self.setColor(cairo, background)
                cairo_fill(cairo)
            }
            if let shadow = settings.shadow { try paintShadow(shadow, of: layout, settings, on: cairo, frame) }
            layout.draw(on: cairo, settings)
        }
    }

    /// The text's own coverage, blurred, in the shadow's colour.
    private func paintShadow(
        _ shadow: TextSettings.Shadow, of layout: TextLayout, _ settings: TextSettings, on cairo: OpaquePointer?,
        _ frame: Frame
    ) throws {
        let stride = (frame.width + 3) / 4 * 4
        let count = stride * frame.height
        let coverage = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        defer { coverage.deallocate() }
        coverage.initialize(repeating: 0, count: count)
        try Self.withCanvas(
            coverage, format: CAIRO_FORMAT_A8, width: frame.width, height: frame.height, stride: stride
        ) { layout.draw(on: $0, settings) }
        BoxBlur.apply(to: coverage, width: frame.width, height: frame.height, stride: stride, sigma: shadow.blur / 2)
        let mask = cairo_image_surface_create_for_data(
            coverage, CAIRO_FORMAT_A8, Int32(frame.width), Int32(frame.height), Int32(stride))
        defer { cairo_surface_destroy(mask) }
        Self.setColor(cairo, shadow.color)
        cairo_mask_surface(cairo, mask, shadow.x, shadow.y)
    }

    /// A cairo context on memory of ours.
    private static func withCanvas(
        _ memory: UnsafeMutableRawPointer, format: cairo_format_t, width: Int, height: Int, stride: Int,
        _ body: (OpaquePointer?) throws -> Void
    ) throws {
        let surface = cairo_image_surface_create_for_data(
            memory.assumingMemoryBound(to: UInt8.self), format, Int32(width), Int32(height), Int32(stride))
        let cairo = cairo_create(surface)
        defer {
            cairo_destroy(cairo)
            cairo_surface_finish(surface)
            cairo_surface_destroy(surface)
        }
        try body(cairo)
        cairo_surface_flush(surface)
        let status = cairo_status(cairo)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw PatchError(
                .media, "the text cannot be drawn", remedy: "try another font or size",
                cause: String(cString: cairo_status_to_string(status)))
        }
    }

    static func setColor(_ cairo: OpaquePointer?, _ color: TextSettings.Color) {
        cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.alpha)
    }

    private static func roundedRectangle(_ cairo: OpaquePointer?, width: Double, height: Double, radius: Double) {
        let radius = min(radius, width / 2, height / 2)
        cairo_new_path(cairo)
        cairo_arc(cairo, width - radius, radius, radius, -.pi / 2, 0)
        cairo_arc(cairo, width - radius, height - radius, radius, 0, .pi / 2)
        cairo_arc(cairo, radius, height - radius, radius, .pi / 2, .pi)
        cairo_arc(cairo, radius, radius, radius, .pi, .pi * 1.5)
        cairo_close_path(cairo)
    }
}
