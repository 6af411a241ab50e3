import PatchGraph
import PatchMedia

/// What a text looks like: the options of `text{ … }`, read and checked.
struct TextSettings: Hashable {
    enum Alignment: String, CaseIterable { case left, center, right, justify }
    enum VerticalAlignment: String, CaseIterable { case top, middle, bottom }
    enum Wrap: String, CaseIterable { case word, char, none }
    enum Direction: String, CaseIterable { case auto, leftToRight, rightToLeft }

    /// R'G'B'A, straight, 0…1.
    struct Color: Hashable {
        var red, green, blue, alpha: Double
        static let white = Color(red: 1, green: 1, blue: 1, alpha: 1)
        static let black = Color(red: 0, green: 0, blue: 0, alpha: 1)
    }

    struct Outline: Hashable {
        /// Pixels outside the letters.
        var width = 2.0
        var color = Color.black
    }

    struct Shadow: Hashable {
        /// Pixels to the right and down.
        var x = 0.0
        var y = 3.0
        /// Pixels over which the edge fades, twice the Gaussian's sigma; 0 is sharp.
        var blur = 4.0
        var color = Color(red: 0, green: 0, blue: 0, alpha: 0.6)
        /// How far from the letters it reaches.
        var reach: Double { 1.5 * blur + max(abs(x), abs(y)) }
    }

    var string: String
    var font = "Sans"
    /// Pixels an em.
    var size = 48.0
    var color = Color.white
    /// Of the whole picture; nil is as large as the text.
    var width: Int?
    var height: Int?
    var wrap = Wrap.word
    var align = Alignment.left
    var verticalAlign = VerticalAlignment.middle
    var direction = Direction.auto
    /// Distance of baselines in terms of the font's own.
    var lineSpacing = 1.0
    /// Pixels added between letters.
    var letterSpacing = 0.0
    var outline: Outline?
    var shadow: Shadow?
    var background: Color?
    /// Pixels between the edge of the picture and the text, and the radius of the background's corners.
    var padding = 0.0
    var cornerRadius = 0.0
    var isMarkup = false

    /// A string's most bytes: more is no text for a picture, and layout takes its time.
    static let stringLimit = 20_000
    /// The most pixels of a picture: those of 8K.
    static let pixelLimit = 7680 * 4320
    static let sizes = 1.0...2000.0
    static let lengths = 0.0...500.0

    static let schemas: [OptionSchema] = [
        OptionSchema("string", .string, "What it says.", required: true, live: true),
        OptionSchema(
            "font", .string, "Family and style, such as \"Noto Sans Bold\"; several families after commas.",
            default: "Sans", live: true),
        OptionSchema("size", .number(sizes), "Height of the font.", unit: "px", default: "48", live: true),
        OptionSchema("color", .color, "Colour of the letters.", default: "#ffffff", live: true),
        OptionSchema(
            "width", .integer(1...VideoFormat.maximumSide), "Width of the picture; longer lines wrap.", unit: "px",
            default: "the text's", live: true),
        OptionSchema(
            "height", .integer(1...VideoFormat.maximumSide), "Height of the picture; what does not fit ends in …",
            unit: "px", default: "the text's", live: true),
        OptionSchema(
            "wrap", .choice(Wrap.allCases.map(\.rawValue)), "Where lines may break.", default: "word", live: true),
        OptionSchema(
            "align", .choice(Alignment.allCases.map(\.rawValue)),
            "How lines lie; where a script runs from right to left, left and right change places.", default: "left",
            live: true),
        OptionSchema(
            "verticalAlign", .choice(VerticalAlignment.allCases.map(\.rawValue)), "Where the text lies in the height.",
            default: "middle", live: true),
        OptionSchema(
            "direction", .choice(Direction.allCases.map(\.rawValue)), "Main direction; auto looks at the letters.",
            default: "auto", live: true),
        OptionSchema(
            "lineSpacing", .number(0.1...10), "Distance of lines, 1 is the font's own.", default: "1", live: true),
        OptionSchema(
            "letterSpacing", .number(-50...200), "Added between letters.", unit: "px", default: "0", live: true),
        OptionSchema(
            "outline",
            .record([
                OptionSchema("width", .number(0...100), "How far it reaches.", unit: "px", default: "2"),
                OptionSchema("color", .color, "Its colour.", default: "#000000"),
            ]), "A line around the letters.", default: "none", live: true),
        OptionSchema(
            "shadow",
            .record([
                OptionSchema("x", .number(-200...200), "To the right.", unit: "px", default: "0"),
                OptionSchema("y", .number(-200...200), "Down.", unit: "px", default: "3"),
                OptionSchema("blur", .number(0...200), "Width of the soft edge.", unit: "px", default: "4"),
                OptionSchema("color", .color, "Its colour.", default: "#00000099"),
            ]), "A shadow below the letters.", default: "none", live: true),
        OptionSchema("background", .color, "Colour behind the text.", default: "none", live: true),
        OptionSchema(
            "padding", .number(lengths),
            "From the edge of the picture to the text; above and below it gives way to a height.", unit: "px",
            default: "0", live: true),
        OptionSchema(
            "cornerRadius", .number(lengths), "Of the background's corners.", unit: "px", default: "0", live: true),
        OptionSchema(
            "markup", .bool, "The string has Pango's marks, such as <b>…</b> and <span color='red'>…</span>.",
            default: "false", live: true),
    ]

    /// - Throws: `PatchError.usage` that names what is wrong and what is legal.
    init(_ options: NodeOptions) throws {
        guard let string = options.string("string") else {
            throw PatchError(.usage, "text needs string=", remedy: "write text{ \"title\", string = \"Hello\" }")
        }
        guard string.utf8.count <= Self.stringLimit else {
            throw PatchError(
                .usage, "the text has \(string.utf8.count) bytes",
                remedy: "\(Self.stringLimit) are the most; show it in parts")
        }
        self.string = string
        if let font = options.string("font") { self.font = try Self.checkedFont(font) }
        size = try Self.number(options, "size", Self.sizes) ?? size
        color = try Self.color(options, "color") ?? color
        width = try Self.side(options, "width")
        height = try Self.side(options, "height")
        wrap = try Self.word(options, "wrap") ?? wrap
        align = try Self.word(options, "align") ?? align
        verticalAlign = try Self.word(options, "verticalAlign") ?? verticalAlign
        direction = try Self.word(options, "direction") ?? direction
        lineSpacing = try Self.number(options, "lineSpacing", 0.1...10) ?? lineSpacing
        letterSpacing = try Self.number(options, "letterSpacing", -50...200) ?? letterSpacing
        padding = try Self.number(options, "padding", Self.lengths) ?? padding
        cornerRadius = try Self.number(options, "cornerRadius", Self.lengths) ?? cornerRadius
        background = try Self.color(options, "background")
        isMarkup = options.bool("markup") ?? false
        if let record = options.record("outline") {
            var outline = Outline()
            outline.width = try Self.number(record, "width", 0...100, in: "outline") ?? outline.width
            outline.color = try Self.color(record, "color", in: "outline") ?? outline.color
            if outline.width > 0 { self.outline = outline }
        }
        if let record = options.record("shadow") {
            var shadow = Shadow()
            shadow.x = try Self.number(record, "x", -200...200, in: "shadow") ?? shadow.x
            shadow.y = try Self.number(record, "y", -200...200, in: "shadow") ?? shadow.y
            shadow.blur = try Self.number(record, "blur", 0...200, in: "shadow") ?? shadow.blur
            shadow.color = try Self.color(record, "color", in: "shadow") ?? shadow.color
            self.shadow = shadow
        }
    }

    /// Pixels around the text for padding, outline and shadow.
    var margin: Double { padding + max(outline?.width ?? 0, shadow.map { $0.reach + (outline?.width ?? 0) } ?? 0) }

    // MARK: Reading

    private static func checkedFont(_ font: String) throws -> String {
        guard !font.isEmpty, font.utf8.count <= 200, !font.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw PatchError(.usage, "the font has no usable name", remedy: "write font = \"Noto Sans Bold\"")
        }
        return font
    }

    private static func number(
        _ options: NodeOptions, _ name: String, _ range: ClosedRange<Double>, in record: String = ""
    ) throws -> Double? {
        guard options.values[name] != nil else { return nil }
        guard let number = options.number(name), range.contains(number) else {
            throw illegal(options, name, record, "it goes from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func side(_ options: NodeOptions, _ name: String) throws -> Int? {
        guard options.values[name] != nil else { return nil }
        guard let number = options.integer(name), (1...VideoFormat.maximumSide).contains(number) else {
            throw illegal(options, name, "", "it is a whole number from 1 to \(VideoFormat.maximumSide)")
        }
        return number
    }

    private static func color(_ options: NodeOptions, _ name: String, in record: String = "") throws -> Color? {
        guard options.values[name] != nil else { return nil }
        guard let numbers = options.vector(name), (3...4).contains(numbers.count),
            numbers.allSatisfy({ (0...1).contains($0) })
        else { throw illegal(options, name, record, "a colour has 3 or 4 numbers in 0…1") }
        return Color(
            red: numbers[0], green: numbers[1], blue: numbers[2], alpha: numbers.count > 3 ? numbers[3] : 1)
    }

    private static func word<W: RawRepresentable & CaseIterable>(
        _ options: NodeOptions, _ name: String
    ) throws -> W? where W.RawValue == String {
        guard options.values[name] != nil else { return nil }
        guard let word = options.string(name).flatMap({ W(rawValue: $0) }) else {
            throw illegal(options, name, "", "it is one of \(W.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    private static func illegal(
        _ options: NodeOptions, _ name: String, _ record: String, _ remedy: String
    ) -> PatchError {
        let value = options.values[name]?.description ?? "nil"
        return PatchError(
            .usage, "\(record.isEmpty ? "" : record + ".")\(name) of text is \(value.prefix(60))", remedy: remedy)
    }
}
