internal import CFrei0r
import Glibc
import PatchGraph
import PatchMedia

/// What a plugin said about itself.
struct Frei0rPlugin: Sendable {
    enum Kind: Int, Sendable {
        case filter = 0
        case source, mixer2, mixer3

        var inputs: Int { self == .source ? 0 : self == .mixer2 ? 2 : self == .mixer3 ? 3 : 1 }
    }
    enum Form: Int, Sendable {
        case bool = 0
        case double, color, position, string
    }
    struct Parameter: Sendable {
        var form: Form
        /// As the plugin calls it, such as "Block width".
        var title: String
        /// As scripts call it: `blockWidth`.
        var name: String
        /// One number, three of a colour, two of a position; empty for a text.
        var defaultValue: [Double]
        var defaultText: String
        var summary: String
        var meaning: Frei0rMeaning?
    }

    var file: String
    /// As scripts call it: the file's name.
    var name: String
    var kind: Kind
    /// 0 BGRA, 1 RGBA, 2 any 32 bits.
    var colorModel: Int
    var version: String
    var author: String
    var summary: String
    var parameters: [Parameter]

    var pixelFormat: PixelFormat { colorModel == 0 ? .bgra : .rgba }
    var ports: [String] { Array(["image", "overlay", "third"].prefix(kind.inputs)) }

    /// Reads the lines of `patchbay-guest describe`; nil when they are not complete.
    init?(lines: [Substring], file: String, name: String) {
        guard let first = lines.first, lines.last == "end" else { return nil }
        let head = first.split(separator: "\t", omittingEmptySubsequences: false)
        guard head.count >= 7, head[0] == "plugin", let kind = Int(head[1]).flatMap(Kind.init),
            let model = Int(head[2])
        else { return nil }
        self.file = file
        self.name = name
        self.kind = kind
        colorModel = model
        version = String(head[3])
        author = String(head[5])
        summary = String(head[6].isEmpty ? head[4] : head[6])
        parameters = []
        for line in lines.dropFirst().dropLast() {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count >= 5, fields[0] == "parameter", let form = Int(fields[1]).flatMap(Form.init) else {
                return nil
            }
            let numbers = fields[2].split(separator: " ").compactMap { Double($0) }.map { $0.isFinite ? $0 : 0 }
            let count = [Form.color: 3, .position: 2, .string: 0][form] ?? 1
            let padded = Array((numbers + [0, 0, 0]).prefix(count))
            let title = String(fields[3])
            parameters.append(
                Parameter(
                    form: form, title: title, name: unusedName(title), defaultValue: form == .string ? [] : padded,
                    defaultText: form == .string ? String(fields[2]) : "", summary: String(fields[4]),
                    meaning: Frei0rMeaning.known["\(name)/\(title)"]))
        }
        let floats = parameters.reduce(0) { $0 + $1.defaultValue.count }
        guard floats <= Int(PATCH_GUEST_PARAMETERS) else { return nil }
    }

    /// "Block width" becomes blockWidth, "1_speed" speed1; words that nodes use otherwise, and names that are taken, get
    /// something behind them.
    private func unusedName(_ title: String) -> String {
        var words = title.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
        if let first = words.first, first.allSatisfy(\.isNumber), words.count > 1 {
            words.append(words.removeFirst())
        }
        var name = ""
        for (index, word) in words.enumerated() {
            let isShouted = word.allSatisfy { $0.isUppercase || $0.isNumber }
            let tail = isShouted ? word.dropFirst().lowercased() : String(word.dropFirst())
            let head = word.prefix(1)
            name += (index == 0 ? head.lowercased() : head.uppercased()) + tail
        }
        if name.isEmpty { name = "value" }
        if name.first?.isNumber == true { name = "value" + name }
        if Self.taken.contains(name) { name += "Value" }
        var candidate = name
        var number = 2
        while parameters.contains(where: { $0.name == candidate }) {
            candidate = "\(name)\(number)"
            number += 1
        }
        return candidate
    }

    /// Fields and methods of nodes, and words of Lua.
    private static let taken: Set<String> = [
        "name", "kind", "audio", "video", "targets", "plugin", "image", "overlay", "third", "ramp", "command",
        "addTarget", "removeTarget", "removeAllTargets", "end", "and", "or", "not", "if", "in", "do", "for", "while",
        "function", "local", "nil", "repeat", "return", "then", "true", "false", "until", "break", "else", "goto",
        "size",
    ]
}

/// What the 0…1 of a parameter means, where that is known: frei0r has no other numbers.
struct Frei0rMeaning: Sendable {
    var range: ClosedRange<Float>
    var unit: String
    /// The value at which the filter changes nothing.
    var neutral: Float?

    /// The plugin's 0…1 for a value, and back.
    func inner(_ value: Double) -> Double {
        let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
        return min(1, max(0, (value - low) / (high - low)))
    }
    func outer(_ value: Double) -> Float { range.lowerBound + Float(value) * (range.upperBound - range.lowerBound) }

    /// By plugin and the parameter's own title; from the plugins' descriptions and their published sources' formulas.
    static let known: [String: Frei0rMeaning] = [
        "brightness/Brightness": Frei0rMeaning(range: -1...1, unit: "", neutral: 0),
        "contrast0r/Contrast": Frei0rMeaning(range: -1...1, unit: "", neutral: 0),
        "hueshift0r/Hue": Frei0rMeaning(range: 0...360, unit: "°", neutral: 0),
        "saturat0r/Saturation": Frei0rMeaning(range: 0...8, unit: "", neutral: 1),
        "pixeliz0r/Block width": Frei0rMeaning(range: 0...1, unit: "of the width", neutral: nil),
        "pixeliz0r/Block height": Frei0rMeaning(range: 0...1, unit: "of the height", neutral: nil),
        "cartoon/diffspace": Frei0rMeaning(range: 0...256, unit: "px", neutral: nil),
        "posterize/levels": Frei0rMeaning(range: 0...48, unit: "steps", neutral: nil),
        "emboss/azimuth": Frei0rMeaning(range: 0...360, unit: "°", neutral: nil),
        "emboss/elevation": Frei0rMeaning(range: 0...90, unit: "°", neutral: nil),
        "emboss/width45": Frei0rMeaning(range: 0...40, unit: "px", neutral: nil),
        "letterb0xed/Border Width": Frei0rMeaning(range: 0...1, unit: "of the height", neutral: 0),
    ]
}
