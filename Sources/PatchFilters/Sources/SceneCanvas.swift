import Glibc

/// Colour as R'G'B', 0…1.
typealias SceneColor = SIMD3<Float>

/// Shapes with soft edges, for drawn scenes. Places are in heights of the picture: y from 0 (top) to 1, x from the middle.
struct SceneCanvas {
    /// Colour at the place being drawn; shapes paint over it.
    var color = SceneColor()
    let x: Float
    let y: Float
    /// Size of a pixel: edges are as soft as one.
    let pixel: Float

    init(x: Float, y: Float, pixel: Float) {
        (self.x, self.y, self.pixel) = (x, y, pixel)
    }

    static func rgb(_ code: Int) -> SceneColor {
        SceneColor(Float(code >> 16 & 255), Float(code >> 8 & 255), Float(code & 255)) / 255
    }
    static func mix(_ a: SceneColor, _ b: SceneColor, _ t: Float) -> SceneColor { a + (b - a) * max(0, min(1, t)) }
    static func smooth(_ from: Float, _ to: Float, _ value: Float) -> Float {
        let t = max(0, min(1, (value - from) / (to - from)))
        return t * t * (3 - 2 * t)
    }
    /// Noise of a place, −1…1: the same for the same numbers.
    static func noise(_ a: Float, _ b: Float) -> Float {
        var h = UInt32(bitPattern: Int32(a)) &* 0x9E37_79B1 ^ UInt32(bitPattern: Int32(b)) &* 0x85EB_CA6B
        h ^= h >> 15
        h = h &* 0x2C1B_3C6D
        h ^= h >> 12
        h = h &* 0x297A_2D39
        h ^= h >> 15
        return Float(h & 0xFFFF) / 32767.5 - 1
    }

    mutating func paint(_ paint: SceneColor, _ coverage: Float) { color = Self.mix(color, paint, coverage) }

    /// How much of the pixel lies inside, by the distance to the edge (negative inside), softened by `blur` more.
    func inside(_ distance: Float, blur: Float = 0) -> Float {
        let half = pixel * 0.75 + blur
        return 1 - Self.smooth(-half, half, distance)
    }

    /// Distance to an ellipse's edge, close enough near the edge.
    func ellipse(_ cx: Float, _ cy: Float, _ rx: Float, _ ry: Float) -> Float {
        let (dx, dy) = ((x - cx) / rx, (y - cy) / ry)
        let length = (dx * dx + dy * dy).squareRoot()
        return (length - 1) * min(rx, ry)
    }
    func circle(_ cx: Float, _ cy: Float, _ r: Float) -> Float { ellipse(cx, cy, r, r) }
    func box(_ cx: Float, _ cy: Float, _ rx: Float, _ ry: Float, round: Float = 0) -> Float {
        let dx = abs(x - cx) - rx + round
        let dy = abs(y - cy) - ry + round
        let outside = (max(dx, 0) * max(dx, 0) + max(dy, 0) * max(dy, 0)).squareRoot()
        return outside + min(max(dx, dy), 0) - round
    }
    /// Distance to a thick line.
    func line(_ ax: Float, _ ay: Float, _ bx: Float, _ by: Float, _ width: Float) -> Float {
        let (px, py, vx, vy) = (x - ax, y - ay, bx - ax, by - ay)
        let t = max(0, min(1, (px * vx + py * vy) / (vx * vx + vy * vy)))
        let (dx, dy) = (px - vx * t, py - vy * t)
        return (dx * dx + dy * dy).squareRoot() - width / 2
    }
}
