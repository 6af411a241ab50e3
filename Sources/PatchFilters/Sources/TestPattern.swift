import Glibc
import PatchMedia

/// A test picture in limited-range yuv420p: a still background, a white square that moves, and the frame's number in
/// digits and as a strip of 24 cells that `frameNumber(in:)` reads back.
///
/// Every frame is a function of its index alone. Below 720 lines the colours are BT.601's, else BT.709's.
/// Thread-safety: immutable; `draw` may be called on any thread with a frame of one's own.
public final class TestPattern: DrawnPicture {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// SMPTE EG 1: 75 % bars, castellations, −I, white, +Q and PLUGE.
        case bars
        /// Luma 16…235 from left to right.
        case ramp
        /// Rings whose frequency grows to half the sampling rate at the left and right edges.
        case zonePlate
    }

    public let format: VideoFormat
    private let background: Frame

    /// - Parameter orientation: of the frames; the picture is drawn as it is stored.
    /// - Precondition: sides are in 1…16384.
    public init(_ kind: Kind, width: Int, height: Int, orientation: Orientation = .identity) {
        let color: ColorSpec = height < 720 ? .bt601 : .bt709
        format = VideoFormat(.yuv420p, width: width, height: height, color: color, orientation: orientation)
        background = Frame(allocating: format)
        let canvas = PatternCanvas(background)
        canvas.fill(x: 0, y: 0, width: width, height: height, .black)
        switch kind {
        case .bars: canvas.drawBars()
        case .ramp: canvas.drawRamp()
        case .zonePlate: canvas.drawZonePlate()
        }
    }

    /// Draws frame `index` (0 or more; the strip holds it modulo 2²⁴, the digits modulo 10⁸).
    /// - Precondition: `frame` has the pattern's format.
    public func draw(_ index: Int64, into frame: Frame) {
        precondition(frame.format == format)
        frame.copyPixels(from: background)
        let canvas = PatternCanvas(frame)
        canvas.drawSquare(index)
        canvas.drawNumber(index)
    }

    /// Reads the strip of cells back, from a picture of any size that shows the whole pattern upright.
    /// - Parameter luma: the luma, or any channel, of the pixel at (x, y), growing with brightness.
    /// - Returns: nil when the strip's two guard cells are not white and black.
    public static func frameNumber(width: Int, height: Int, luma: (_ x: Int, _ y: Int) -> Int) -> Int? {
        let strip = NumberStrip(width: width, height: height)
        func isWhite(_ cell: Int) -> Bool {
            let (x, y) = strip.center(ofCell: cell)
            return luma(min(x, width - 1), min(y, height - 1)) > 125
        }
        guard isWhite(0), !isWhite(1) else { return nil }
        var number = 0
        for bit in 0..<NumberStrip.bits { number = number << 1 | (isWhite(bit + 2) ? 1 : 0) }
        return number
    }
}

/// Where the strip of cells lies: along the top, one white and one black guard cell, then the bits, highest first.
struct NumberStrip {
    static let bits = 24
    static let cells = bits + 2
    let width: Int
    let height: Int

    var cellWidth: Double { Double(width) / Double(Self.cells) }
    var cellHeight: Int { max(2, height / 24 / 2 * 2) }

    /// Even, so that chroma samples are not shared.
    func left(ofCell cell: Int) -> Int { Int(Double(cell) * cellWidth / 2) * 2 }
    func center(ofCell cell: Int) -> (x: Int, y: Int) {
        ((left(ofCell: cell) + left(ofCell: cell + 1)) / 2, cellHeight / 2)
    }
}

/// 8-bit Y', Cb, Cr.
struct PatternColor: Equatable {
    var y: UInt8
    var cb: UInt8
    var cr: UInt8
    static let black = PatternColor(y: 16, cb: 128, cr: 128)
    static let white = PatternColor(y: 235, cb: 128, cr: 128)
}

/// Draws into an 8-bit yuv420p frame that was not published yet.
struct PatternCanvas {
    let width: Int
    let height: Int
    private let color: ColorSpec
    private let luma: Plane
    private let cb: Plane
    private let cr: Plane

    init(_ frame: Frame) {
        width = frame.width
        height = frame.height
        color = frame.format.color
        (luma, cb, cr) = (frame.plane(0), frame.plane(1), frame.plane(2))
    }

    /// A rectangle, cut at the edges. Chroma is set where the rectangle holds a chroma sample's first luma sample.
    func fill(x: Int, y: Int, width: Int, height: Int, _ color: PatternColor) {
        let (right, bottom) = (min(self.width, x + width), min(self.height, y + height))
        guard x < right, y < bottom else { return }
        for row in y..<bottom { memset(luma.row(row) + x, Int32(color.y), right - x) }
        let (left, end) = ((x + 1) / 2, (right + 1) / 2)
        guard left < end else { return }
        for row in (y + 1) / 2..<(bottom + 1) / 2 {
            memset(cb.row(row) + left, Int32(color.cb), end - left)
            memset(cr.row(row) + left, Int32(color.cr), end - left)
        }
    }

    /// Rounds up, so that edges lie between chroma samples.
    private func even(_ length: Int) -> Int { (length + 1) / 2 * 2 }

    // MARK: Backgrounds

    /// SMPTE EG 1-1990: seven bars over two thirds, castellations down to three quarters, then −I, white, +Q, black and
    /// the PLUGE (4 % below and above black between blacks).
    func drawBars() {
        let bar = even((width + 6) / 7)
        let top = even(height * 2 / 3)
        let middle = even(height * 3 / 4 - top)
        let bars = [(1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1)].map {
            code(red: 0.75 * Double($0.0), green: 0.75 * Double($0.1), blue: 0.75 * Double($0.2))
        }
        let black = PatternColor.black
        let castellations = [bars[6], black, bars[4], black, bars[2], black, bars[0]]
        for index in 0..<7 {
            fill(x: index * bar, y: 0, width: bar, height: top, bars[index])
            fill(x: index * bar, y: top, width: bar, height: middle, castellations[index])
        }
        let low = top + middle
        let patch = even(bar * 5 / 4)
        let pluge = even(bar / 3)
        var x = 0
        func next(_ width: Int, _ color: PatternColor) {
            fill(x: x, y: low, width: width, height: height - low, color)
            x += width
        }
        // −I and +Q lie outside R'G'B': a subcarrier of 20 IRE at 303° and 33° on black. With 7.5 IRE set-up the
        // amplitude is 20/92.5 of white, U = 0.492 (B' − Y'), V = 0.877 (R' − Y').
        next(patch, PatternColor(y: 16, cb: 158, cr: 95))
        next(patch, .white)
        next(patch, PatternColor(y: 16, cb: 175, cr: 149))
        next(5 * bar - x, black)
        next(pluge, PatternColor(y: 7, cb: 128, cr: 128))
        next(pluge, black)
        next(pluge, PatternColor(y: 25, cb: 128, cr: 128))
        next(width - x, black)
    }

    func drawRamp() {
        let last = max(1, width - 1)
        for y in 0..<height {
            let row = luma.row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width { row[x] = UInt8(16 + (219 * x + last / 2) / last) }
        }
    }

    /// Y' = 125.5 + 109.5 · cos(π·r²/width), r in pixels from the middle: the frequency along x is r/width cycles a
    /// pixel, a half at the edges.
    func drawZonePlate() {
        let (middleX, middleY) = (Double(width - 1) / 2, Double(height - 1) / 2)
        for y in 0..<height {
            let row = luma.row(y).assumingMemoryBound(to: UInt8.self)
            let dy = Double(y) - middleY
            for x in 0..<width {
                let dx = Double(x) - middleX
                row[x] = UInt8((125.5 + 109.5 * cos(.pi * (dx * dx + dy * dy) / Double(width))).rounded())
            }
        }
    }

    // MARK: What moves

    /// A white square in a black band two thirds down, four pixels a frame to the right, around and around.
    func drawSquare(_ index: Int64) {
        let side = max(2, height / 12 / 2 * 2)
        let y = height * 2 / 3 / 2 * 2
        let range = Int64(max(1, (width - side) / 4))
        let x = Int(index % range) * 4
        fill(x: 0, y: y, width: width, height: side, .black)
        fill(x: x, y: y, width: side, height: side, .white)
    }

    func drawNumber(_ index: Int64) {
        let strip = NumberStrip(width: width, height: height)
        for cell in 0..<NumberStrip.cells {
            let isWhite = cell == 0 || (cell > 1 && index >> Int64(NumberStrip.cells - 1 - cell) & 1 == 1)
            let left = strip.left(ofCell: cell)
            let right = cell + 1 == NumberStrip.cells ? width : strip.left(ofCell: cell + 1)
            fill(x: left, y: 0, width: right - left, height: strip.cellHeight, isWhite ? .white : .black)
        }
        // Digits of 5 by 7 dots, twice as wide as high dots would need, in a black box below the strip.
        let dot = max(2, height / 120 * 2)
        let (left, top) = (2 * dot, strip.cellHeight + dot)
        fill(x: left - dot, y: top - dot, width: (8 * 6 + 1) * dot, height: 9 * dot, .black)
        var rest = index
        for place in (0..<8).reversed() {
            let glyph = DigitFont.rows[Int(rest % 10)]
            rest /= 10
            for row in 0..<7 {
                for column in 0..<5 where glyph[row] >> (4 - UInt8(column)) & 1 == 1 {
                    fill(x: left + (place * 6 + column) * dot, y: top + row * dot, width: dot, height: dot, .white)
                }
            }
        }
    }

    /// Y'CbCr codes of R'G'B' in 0…1, rounded to nearest (ITU-R BT.601, BT.709: 219 and 224 steps).
    private func code(red: Double, green: Double, blue: Double) -> PatternColor {
        let (kr, kb) = color.lumaCoefficients
        let y = kr * red + (1 - kr - kb) * green + kb * blue
        return PatternColor(
            y: UInt8((16 + 219 * y).rounded()), cb: UInt8((128 + 112 * (blue - y) / (1 - kb)).rounded()),
            cr: UInt8((128 + 112 * (red - y) / (1 - kr)).rounded()))
    }
}

/// Ten digits, five dots wide and seven high; a row's highest of five bits is its left dot.
enum DigitFont {
    static let rows: [[UInt8]] = [
        [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
        [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
        [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
    ]
}

extension Frame {
    /// Copies every plane of a frame of the same format.
    func copyPixels(from other: Frame) {
        let pixelFormat = format.pixelFormat
        for index in 0..<pixelFormat.planeCount {
            let layout = pixelFormat.layout(ofPlane: index)
            let count = layout.width(of: width) * layout.bytesPerPixel
            let (target, source) = (plane(index), other.plane(index))
            for y in 0..<layout.height(of: height) { memcpy(target.row(y), source.row(y), count) }
        }
    }
}
