import PatchMedia

/// A look-up table from colours to colours: what .cube and .3dl files and HaldCLUT pictures hold.
///
/// Thread-safety: a value.
public struct ColorTable: Hashable, Sendable {
    public enum Shape: String, Hashable, Sendable {
        /// A curve for each channel: `size` entries.
        case curves
        /// A cube of colours: `size`³ entries, red runs fastest, then green, then blue.
        case cube
    }

    public var shape: Shape
    /// Entries along each axis, at least 2.
    public var size: Int
    /// The colours that the first and the last entry stand for; beyond them the ends hold.
    public var low: SIMD3<Float>
    public var high: SIMD3<Float>
    /// R'G'B' of each entry; mostly 0…1.
    public var entries: [SIMD3<Float>]

    public init(
        _ shape: Shape, size: Int, entries: [SIMD3<Float>], low: SIMD3<Float> = .zero, high: SIMD3<Float> = .one
    ) {
        self.shape = shape
        self.size = size
        self.entries = entries
        self.low = low
        self.high = high
    }

    /// The table that changes nothing.
    public static let identity = ColorTable(
        .cube, size: 2, entries: (0..<8).map { SIMD3(Float($0 & 1), Float($0 >> 1 & 1), Float($0 >> 2)) })

    /// Most entries of an axis: those of the Cube specification.
    static let cubeLimit = 256
    static let curveLimit = 65_536

    static func count(_ shape: Shape, _ size: Int) -> Int { shape == .curves ? size : size * size * size }

    // MARK: As a picture

    /// Where the entries lie in a picture. Cubes: slices of equal blue side by side, red across and green down in each, as
    /// many in a row as fit. Curves: entry i at x = i modulo 4096, y = i / 4096.
    public struct Layout: Hashable, Sendable {
        /// Slices, or entries of curves, in a row of the picture.
        public let across: Int
        public let width: Int
        public let height: Int
    }

    public static func layout(_ shape: Shape, size: Int) -> Layout {
        switch shape {
        case .curves:
            let across = min(size, 4096)
            return Layout(across: across, width: across, height: (size + across - 1) / across)
        case .cube:
            let across = min(size, VideoFormat.maximumSide / size)
            return Layout(across: across, width: across * size, height: (size + across - 1) / across * size)
        }
    }

    /// Draws the table as a picture that kernels read.
    /// - Parameter format: `.rgba` rounds entries to 255ths and clamps them to 0…1; `.half4` keeps 11 bits.
    /// - Precondition: `format` is one of these two.
    public func picture(_ format: PixelFormat) -> Frame {
        precondition(format == .rgba || format == .half4)
        let layout = Self.layout(shape, size: size)
        let frame = Frame(
            allocating: VideoFormat(
                format, width: layout.width, height: layout.height, color: .srgb, premultiplied: false))
        for (index, entry) in entries.enumerated() {
            let (x, y): (Int, Int)
            switch shape {
            case .curves: (x, y) = (index % layout.across, index / layout.across)
            case .cube:
                let (red, green, blue) = (index % size, index / size % size, index / size / size)
                (x, y) = (blue % layout.across * size + red, blue / layout.across * size + green)
            }
            if format == .rgba {
                let row = frame.plane(0).row(y) + 4 * x
                for channel in 0..<3 {
                    let code = UInt8((max(0, min(1, entry[channel])) * 255).rounded())
                    row.storeBytes(of: code, toByteOffset: channel, as: UInt8.self)
                }
                row.storeBytes(of: 255, toByteOffset: 3, as: UInt8.self)
            } else {
                for channel in 0..<4 {
                    let value = channel < 3 ? max(-65_504, min(65_504, entry[channel])) : 1
                    frame.plane(channel).row(y).storeBytes(of: Float16(value), toByteOffset: 2 * x, as: Float16.self)
                }
            }
        }
        return frame
    }
}

/// Reads numbers and words of a table's text, line by line, and knows where it is.
struct TableText {
    private let bytes: [UInt8]
    private var position = 0
    /// 1-based number of the line that was read last.
    private(set) var line = 0
    private let name: String

    init(_ bytes: [UInt8], name: String) {
        self.bytes = bytes
        self.name = name
    }

    /// The parts of the next line that is neither empty nor a comment; nil at the end.
    mutating func nextLine() -> [Range<Int>]? {
        while position < bytes.count {
            line += 1
            var words: [Range<Int>] = []
            var start: Int?
            var isComment = false
            while position < bytes.count {
                let byte = bytes[position]
                if byte == 0x0A || byte == 0x0D { break }
                if byte == UInt8(ascii: "#"), start == nil { isComment = true }
                let isBlank = byte == 0x20 || byte == 0x09 || isComment
                if isBlank, let begun = start {
                    words.append(begun..<position)
                    start = nil
                } else if !isBlank, start == nil {
                    start = position
                }
                position += 1
            }
            if let start { words.append(start..<position) }
            // A line ends in LF, CR LF or CR alone.
            if position < bytes.count {
                let isPair = bytes[position] == 0x0D && position + 1 < bytes.count && bytes[position + 1] == 0x0A
                position += isPair ? 2 : 1
            }
            if !words.isEmpty { return words }
        }
        return nil
    }

    func text(_ word: Range<Int>) -> String { String(decoding: bytes[word].prefix(60), as: UTF8.self) }

    /// A decimal number; nil for anything else, infinities and NaN too.
    func number(_ word: Range<Int>) -> Double? {
        var index = word.lowerBound
        let end = word.upperBound
        var isNegative = false
        if index < end, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") {
            isNegative = bytes[index] == UInt8(ascii: "-")
            index += 1
        }
        var (mantissa, scale, digits) = (0.0, 0, 0)
        var isFraction = false
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else if (0x30...0x39).contains(byte) {
                mantissa = mantissa * 10 + Double(byte - 0x30)
                if isFraction { scale -= 1 }
                digits += 1
            } else {
                break
            }
            index += 1
        }
        guard digits > 0 else { return nil }
        if index < end {
            guard bytes[index] | 0x20 == UInt8(ascii: "e"),
                let exponent = Int(String(decoding: bytes[index + 1..<end], as: UTF8.self)), abs(exponent) < 400
            else { return nil }
            scale += exponent
        }
        var value = mantissa
        let power = Self.power(abs(scale))
        value = scale < 0 ? value / power : value * power
        return value.isFinite ? (isNegative ? -value : value) : nil
    }

    private static func power(_ exponent: Int) -> Double {
        var (result, base, rest) = (1.0, 10.0, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result *= base }
            base *= base
            rest >>= 1
        }
        return result
    }

    func integer(_ word: Range<Int>) -> Int? { number(word).flatMap { Int(exactly: $0) } }

    /// Three numbers, a colour; nil when the line is something else.
    func color(_ words: [Range<Int>]) -> SIMD3<Float>? {
        guard words.count == 3, let red = number(words[0]), let green = number(words[1]), let blue = number(words[2])
        else { return nil }
        let color = SIMD3(Float(red), Float(green), Float(blue))
        return color.x.isFinite && color.y.isFinite && color.z.isFinite ? color : nil
    }

    /// An error at the line that was read last.
    func error(_ message: String, _ remedy: String) -> PatchError {
        PatchError(.media, "'\(name)' line \(line): \(message)", remedy: remedy)
    }

    /// An error of the file as a whole.
    func fileError(_ message: String, _ remedy: String) -> PatchError {
        PatchError(.media, "'\(name)' \(message)", remedy: remedy)
    }
}
