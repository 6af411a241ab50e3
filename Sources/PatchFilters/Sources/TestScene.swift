import Glibc
import PatchGraph
import PatchMedia

/// Drawn people and places, for trying graphs where there is no camera: faces for what looks at skin, a green cloth for
/// keys, a landscape for backgrounds, and a card with a bit of everything. They blink, and a light wanders.
///
/// Every frame is a function of its index alone; limited-range yuv420p, BT.601 below 720 lines, else BT.709.
/// Thread-safety: immutable; `draw` may be called on any thread with a frame of one's own.
final class TestScene: DrawnPicture {
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case host, guest, greenscreen, landscape, card
    }

    let kind: Kind
    let format: VideoFormat
    private let open: Frame
    private let closed: Frame
    /// Frames a second, for movement in seconds.
    private let rate: Double

    init(_ kind: Kind, width: Int, height: Int, rate: Double) {
        self.kind = kind
        self.rate = rate
        format = VideoFormat(.yuv420p, width: width, height: height)
        open = Self.render(kind, format, eyesOpen: true)
        closed = kind == .landscape ? open : Self.render(kind, format, eyesOpen: false)
    }

    /// Draws frame `index`.
    func draw(_ index: Int64, into frame: Frame) {
        let seconds = Double(index) / rate
        let isBlinking = seconds.truncatingRemainder(dividingBy: 3.1) > 2.95
        let base = isBlinking ? closed : open
        for plane in 0..<3 {
            let layout = PixelFormat.yuv420p.layout(ofPlane: plane)
            let bytes = layout.width(of: format.width)
            for y in 0..<layout.height(of: format.height) {
                frame.plane(plane).row(y).copyMemory(from: base.plane(plane).row(y), byteCount: bytes)
            }
        }
        if kind != .card, kind != .greenscreen { drawLight(seconds, into: frame) }
    }

    /// A glowing ball that wanders from side to side above everybody's head.
    private func drawLight(_ seconds: Double, into frame: Frame) {
        let (width, height) = (format.width, format.height)
        let radius = Float(height) * 0.03
        let cx = Float(width) * Float(0.5 + 0.42 * sin(seconds * 1.6 - 1.2))
        let cy = Float(height) * Float(0.085 + 0.02 * sin(seconds * 3.1))
        let reach = radius * 2.4
        let warm = ColorCode(SceneCanvas.rgb(0xFFE9B0), format)
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            let code: Float = [warm.y, warm.cb, warm.cr][plane]
            let low = max(0, Int(cy - reach)) >> shift
            let high = min(height - 1, Int(cy + reach)) >> shift
            let left = max(0, Int(cx - reach)) >> shift
            let right = min(width - 1, Int(cx + reach)) >> shift
            guard low <= high, left <= right else { continue }
            for y in low...high {
                let row = frame.plane(plane).row(y).assumingMemoryBound(to: UInt8.self)
                for x in left...right {
                    let dx = Float(x << shift) - cx
                    let dy = Float(y << shift) - cy
                    let distance = (dx * dx + dy * dy).squareRoot() / radius
                    let core = 1 - SceneCanvas.smooth(0.85, 1.1, distance)
                    let glow = 0.35 * max(0, 1 - distance / 2.4)
                    let amount = max(core, glow)
                    row[x] = UInt8(max(0, min(255, Float(row[x]) + (code - Float(row[x])) * amount)))
                }
            }
        }
    }

    /// Codes of a colour in a limited-range Y'CbCr format.
    private struct ColorCode {
        var y: Float
        var cb: Float
        var cr: Float

        init(_ color: SceneColor, _ format: VideoFormat) {
            let (kr, kb) = format.color.lumaCoefficients
            let luma = Float(kr) * color.x + Float(1 - kr - kb) * color.y + Float(kb) * color.z
            y = 16 + 219 * luma
            cb = 128 + 224 * (color.z - luma) / Float(2 * (1 - kb))
            cr = 128 + 224 * (color.x - luma) / Float(2 * (1 - kr))
        }
    }

    /// Paints the whole picture once, pixel by pixel.
    private static func render(_ kind: Kind, _ format: VideoFormat, eyesOpen: Bool) -> Frame {
        let frame = Frame(allocating: format)
        let (width, height) = (format.width, format.height)
        var chroma = [SIMD2<Float>](repeating: .zero, count: (width + 1) / 2)
        func code(_ value: Float) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
        for y in 0..<height {
            if y & 1 == 0 { for index in chroma.indices { chroma[index] = .zero } }
            let luma = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                var canvas = SceneCanvas(
                    x: (Float(x) + 0.5 - Float(width) / 2) / Float(height), y: (Float(y) + 0.5) / Float(height),
                    pixel: 1 / Float(height))
                paint(kind, &canvas, aspect: Float(width) / Float(height), eyesOpen: eyesOpen)
                let clamped = canvas.color.clamped(lowerBound: .zero, upperBound: SceneColor(repeating: 1))
                let codes = ColorCode(clamped, format)
                luma[x] = code(codes.y)
                chroma[x / 2] += SIMD2(codes.cb, codes.cr)
            }
            guard y & 1 == 1 || y == height - 1 else { continue }
            let rows: Float = y & 1 == 1 ? 2 : 1
            let blue = frame.plane(1).row(y / 2).assumingMemoryBound(to: UInt8.self)
            let red = frame.plane(2).row(y / 2).assumingMemoryBound(to: UInt8.self)
            for index in chroma.indices {
                let columns: Float = 2 * index + 1 < width ? 2 : 1
                let mean = chroma[index] / (rows * columns)
                blue[index] = code(mean.x)
                red[index] = code(mean.y)
            }
        }
        return frame
    }

    private static func paint(_ kind: Kind, _ canvas: inout SceneCanvas, aspect: Float, eyesOpen: Bool) {
        switch kind {
        case .host:
            SceneBackdrop.room(&canvas)
            ScenePerson.host.paint(&canvas, eyesOpen: eyesOpen)
        case .guest:
            SceneBackdrop.evening(&canvas)
            ScenePerson.guest.paint(&canvas, eyesOpen: eyesOpen)
        case .greenscreen:
            SceneBackdrop.greenCloth(&canvas)
            ScenePerson.presenter.paint(&canvas, eyesOpen: eyesOpen)
        case .landscape: SceneBackdrop.landscape(&canvas)
        case .card: SceneCard.paint(&canvas, aspect: aspect, eyesOpen: eyesOpen)
        }
    }
}
