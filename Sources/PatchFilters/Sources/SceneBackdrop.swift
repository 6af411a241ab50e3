import Glibc

/// What drawn people stand before.
enum SceneBackdrop {
    /// A room by day, out of focus.
    static func room(_ canvas: inout SceneCanvas) {
        let (x, y) = (canvas.x, canvas.y)
        canvas.color = SceneCanvas.mix(SceneCanvas.rgb(0x8FA3B8), SceneCanvas.rgb(0x4A5568), y * 0.9 + x * 0.15)
        // A window with the sky in it, and a shelf with things on it.
        let window = canvas.inside(canvas.box(-0.62, 0.32, 0.19, 0.26, round: 0.02), blur: 0.015)
        canvas.paint(SceneCanvas.mix(SceneCanvas.rgb(0xD7ECF7), SceneCanvas.rgb(0xF7E7C6), y * 1.6), window)
        canvas.paint(SceneCanvas.rgb(0x6B7A8C), canvas.inside(canvas.box(-0.62, 0.32, 0.008, 0.26), blur: 0.012))
        canvas.paint(SceneCanvas.rgb(0x6B7A8C), canvas.inside(canvas.box(-0.62, 0.32, 0.19, 0.008), blur: 0.012))
        canvas.paint(SceneCanvas.rgb(0x5E4531), canvas.inside(canvas.box(0.66, 0.5, 0.26, 0.012), blur: 0.012))
        canvas.paint(SceneCanvas.rgb(0x5E4531), canvas.inside(canvas.box(0.66, 0.24, 0.26, 0.012), blur: 0.012))
        let books: [(Float, Float, Int)] = [
            (0.46, 0.085, 0xB5493F), (0.495, 0.1, 0xD9A441), (0.535, 0.075, 0x3F6E8C), (0.57, 0.095, 0x4F7F52),
            (0.61, 0.08, 0x7A4F7D), (0.65, 0.1, 0xC9C2B0),
        ]
        for (place, height, color) in books {
            let book = canvas.inside(canvas.box(place, 0.488 - height, 0.015, height), blur: 0.01)
            canvas.paint(SceneCanvas.rgb(color), book)
        }
        for (px, py, r) in [(0.76, 0.42, 0.06), (0.8, 0.38, 0.05), (0.72, 0.38, 0.05)] as [(Float, Float, Float)] {
            canvas.paint(SceneCanvas.rgb(0x4B8B4A), canvas.inside(canvas.circle(px, py, r), blur: 0.02))
        }
        canvas.paint(SceneCanvas.rgb(0xC76B45), canvas.inside(canvas.box(0.76, 0.465, 0.04, 0.03), blur: 0.01))
    }

    /// A town at night, out of focus: discs of light.
    static func evening(_ canvas: inout SceneCanvas) {
        canvas.color = SceneCanvas.mix(SceneCanvas.rgb(0x1D1A33), SceneCanvas.rgb(0x4B2E4F), canvas.y)
        let lights = [0xFFB454, 0xFF6F61, 0x6EC6CA, 0xF7E1A0, 0xB58BE0, 0xFF9E7A]
        for index in 0..<26 {
            let number = Float(index)
            let cx = SceneCanvas.noise(number, 1) * 0.95
            let cy = 0.5 + SceneCanvas.noise(number, 2) * 0.42
            let r = 0.035 + 0.03 * SceneCanvas.noise(number, 3)
            let edge = canvas.circle(cx, cy, r)
            let rim = canvas.inside(abs(edge) - 0.003, blur: 0.002) * 0.2
            let disc = canvas.inside(edge, blur: 0.003) * (0.28 + 0.14 * SceneCanvas.noise(number, 4))
            canvas.paint(SceneCanvas.rgb(lights[index % lights.count]), max(disc, rim))
        }
    }

    /// A green cloth, unevenly lit and a little wavy, as real ones are.
    static func greenCloth(_ canvas: inout SceneCanvas) {
        let light = 1.06 - 0.22 * (canvas.x * canvas.x) - 0.12 * canvas.y
        let folds = 1 + 0.03 * sin(canvas.x * 19 + 1.5 * sin(canvas.y * 4))
        canvas.color = SceneCanvas.rgb(0x1FA34A) * (light * folds)
    }

    /// Hills in the morning, with a sun and a lake.
    static func landscape(_ canvas: inout SceneCanvas) {
        let (x, y) = (canvas.x, canvas.y)
        sky(&canvas)
        func ridge(_ base: Float, _ height: Float, _ a: Float, _ b: Float, _ c: Float) -> Float {
            base - height * (sin(x * a + c) * 0.5 + sin(x * b + 2 * c) * 0.3 + sin(x * b * 2.3 + c) * 0.12 + 0.5)
        }
        let layers: [(ridge: Float, color: Int)] = [
            (ridge(0.56, 0.15, 3.1, 6.7, 0.4), 0x8FA6C4), (ridge(0.6, 0.12, 2.3, 5.9, 2.1), 0x6C8AA6),
            (ridge(0.645, 0.1, 3.7, 8.3, 4.2), 0x4B7078), (ridge(0.67, 0.05, 5.1, 11.3, 1.3), 0x3A5F4E),
        ]
        for layer in layers {
            let mist = SceneCanvas.mix(
                SceneCanvas.rgb(layer.color), SceneCanvas.rgb(0xF5D9B8), SceneCanvas.smooth(0.5, 0.72, y) * 0.35)
            canvas.paint(mist, canvas.inside(layer.ridge - y))
        }
        // The lake mirrors the sky, broken by small waves.
        if y > 0.69 {
            var mirrored = SceneCanvas(x: x + 0.006 * sin(y * 260), y: 0.69 - (y - 0.69) * 1.4, pixel: canvas.pixel)
            sky(&mirrored)
            let ripple = 1 + 0.06 * sin(y * 420 + 3 * sin(x * 13))
            canvas.paint(mirrored.color * SceneColor(0.72, 0.8, 0.86) * ripple, SceneCanvas.smooth(0.69, 0.7, y))
        }
        // The near shore with grass and two trees.
        let shore = ridge(0.965, 0.05, 2.7, 7.1, 3.3)
        let blades = 0.006 * abs(sin(x * 160)) + 0.004 * abs(sin(x * 271))
        canvas.paint(SceneCanvas.rgb(0x2C4A2B) * (0.8 + 0.4 * (1 - y)), canvas.inside(shore - blades - y))
        for (tx, ty, size) in [(-0.72, 0.93, 0.30), (0.66, 0.95, 0.24), (0.78, 0.96, 0.18)] as [(Float, Float, Float)] {
            let up = (ty - y) / size
            let half = 0.16 * size * max(0, 1 - up) * (0.75 + 0.25 * abs(sin(up * 26)))
            let tree = canvas.inside(abs(x - tx) - half) * canvas.inside(y - ty) * canvas.inside(ty - size - y)
            canvas.paint(SceneCanvas.rgb(0x1E3A2A), tree)
        }
    }

    private static func sky(_ canvas: inout SceneCanvas) {
        let y = canvas.y
        canvas.color = SceneCanvas.mix(SceneCanvas.rgb(0x4E8FD0), SceneCanvas.rgb(0xA9CBE6), y * 2.2)
        canvas.color = SceneCanvas.mix(canvas.color, SceneCanvas.rgb(0xFBD9A5), SceneCanvas.smooth(0.22, 0.6, y))
        let distance = canvas.circle(0.34, 0.33, 0.055)
        canvas.paint(SceneCanvas.rgb(0xFFF0C2), (1 - SceneCanvas.smooth(0, 0.34, distance)) * 0.55)
        canvas.paint(SceneCanvas.rgb(0xFFFBEA), canvas.inside(distance, blur: 0.004))
        let puffs: [(Float, Float, Float)] = [
            (-0.52, 0.2, 0.06), (-0.45, 0.185, 0.075), (-0.37, 0.2, 0.055), (-0.1, 0.12, 0.04), (-0.04, 0.11, 0.05),
            (0.03, 0.122, 0.035), (0.66, 0.16, 0.05), (0.72, 0.15, 0.06),
        ]
        for (cx, cy, r) in puffs {
            canvas.paint(
                SceneColor(0.99, 0.97, 0.95), canvas.inside(canvas.ellipse(cx, cy, r, r * 0.45), blur: 0.02) * 0.75)
        }
    }
}

/// A card for looking at filters: skin, sky, text, fine lines, ramps and pure colours side by side.
enum SceneCard {
    static func paint(_ canvas: inout SceneCanvas, aspect: Float, eyesOpen: Bool) {
        SceneBackdrop.landscape(&canvas)
        var person = ScenePerson.host
        person.x = -aspect / 2 + 0.42
        person.paint(&canvas, eyesOpen: eyesOpen)
        let left = aspect / 2 - 0.42
        // Eight colours.
        let colors = [0xE02020, 0xF08A18, 0xF5D916, 0x2FB344, 0x19B5C9, 0x2456D6, 0x8A35C9, 0xE2389B]
        for (index, color) in colors.enumerated() {
            let cx = left + 0.055 + 0.09 * Float(index % 4)
            let cy = 0.1 + 0.09 * Float(index / 4)
            canvas.paint(SceneCanvas.rgb(color), canvas.inside(canvas.box(cx, cy, 0.042, 0.042, round: 0.008)))
        }
        // A star whose rays grow finer towards its middle.
        let (sx, sy): (Float, Float) = (left + 0.19, 0.385)
        let edge = canvas.circle(sx, sy, 0.13)
        let ray = sin(atan2(canvas.y - sy, canvas.x - sx) * 24)
        let distance = edge + 0.13
        let soft = max(0.02, 24 * canvas.pixel / max(distance, 0.004))
        canvas.paint(SceneColor(repeating: SceneCanvas.smooth(-soft, soft, ray)), canvas.inside(edge))
        // Letters, dark on light, and a grey ramp in steps and without.
        canvas.paint(SceneCanvas.rgb(0xF4F0E6), canvas.inside(canvas.box(left + 0.19, 0.6, 0.18, 0.055, round: 0.012)))
        let isLetter = SceneLetters.cover((canvas.x - left - 0.035) / 0.31, (canvas.y - 0.572) / 0.056)
        canvas.paint(SceneCanvas.rgb(0x1C2230), isLetter ? 1 : 0)
        if canvas.y > 0.9 {
            let along = (canvas.x + aspect / 2) / aspect
            let stepped = (along * 11).rounded(.down) / 10
            canvas.color = SceneColor(repeating: canvas.y > 0.95 ? along : min(1, stepped))
        }
    }
}

/// Capital letters of 5 by 7 dots.
enum SceneLetters {
    private static let rows: [Character: [UInt8]] = [
        "P": [0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000],
        "A": [0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
        "T": [0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100],
        "C": [0b01111, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b01111],
        "H": [0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
        "B": [0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110],
        "Y": [0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100],
    ]
    private static let word = Array("PATCHBAY")

    /// Whether a letter of the word covers a place, both coordinates 0…1 over the whole word.
    static func cover(_ u: Float, _ v: Float) -> Bool {
        guard u >= 0, u < 1, v >= 0, v < 1 else { return false }
        let column = Int(u * Float(word.count * 6 - 1))
        guard let glyph = rows[word[column / 6]], column % 6 < 5 else { return false }
        return glyph[Int(v * 7)] >> UInt8(4 - column % 6) & 1 == 1
    }
}
