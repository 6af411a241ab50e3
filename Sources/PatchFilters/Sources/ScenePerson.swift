import Glibc

/// A drawn person, head and shoulders.
struct ScenePerson {
    var skin: SceneColor
    var hair: SceneColor
    var shirt: SceneColor
    var iris: SceneColor
    var lips: SceneColor
    /// Long hair falls on the shoulders, short hair ends at the ears.
    var hasLongHair: Bool
    /// Of the head's middle.
    var x: Float = 0

    static let host = ScenePerson(
        skin: SceneCanvas.rgb(0xE3B08D), hair: SceneCanvas.rgb(0x43281B), shirt: SceneCanvas.rgb(0xB8433B),
        iris: SceneCanvas.rgb(0x4C6E3D), lips: SceneCanvas.rgb(0xB85A55), hasLongHair: true)
    static let guest = ScenePerson(
        skin: SceneCanvas.rgb(0x9A6444), hair: SceneCanvas.rgb(0x17120F), shirt: SceneCanvas.rgb(0x2E7C80),
        iris: SceneCanvas.rgb(0x3A2416), lips: SceneCanvas.rgb(0x8A4A40), hasLongHair: false)
    static let presenter = ScenePerson(
        skin: SceneCanvas.rgb(0xD79F7C), hair: SceneCanvas.rgb(0x8A4B22), shirt: SceneCanvas.rgb(0x2F3E66),
        iris: SceneCanvas.rgb(0x4A7396), lips: SceneCanvas.rgb(0xB4605A), hasLongHair: false)

    func paint(_ canvas: inout SceneCanvas, eyesOpen: Bool) {
        let cx = x
        let dx = canvas.x - cx
        paintHairBehind(&canvas, cx)
        paintBody(&canvas, cx)
        paintFace(&canvas, cx)
        paintFeatures(&canvas, cx, eyesOpen: eyesOpen)
        // The fringe: what of the hair's cap lies before the forehead.
        let cap = canvas.ellipse(cx, 0.395, 0.186, 0.215)
        let parting =
            0.335 + 0.9 * (dx + 0.05) * (dx + 0.05) + (hasLongHair ? 0.02 * sin(dx * 40) : 0.008 * sin(dx * 90))
        let fringe = min(canvas.inside(cap), 1 - SceneCanvas.smooth(-0.006, 0.006, canvas.y - parting))
        canvas.paint(strands(canvas, dx), fringe)
    }

    private func strands(_ canvas: SceneCanvas, _ dx: Float) -> SceneColor {
        let wave = sin((dx * 60 + canvas.y * 26) + 2 * sin(canvas.y * 21)) * 0.5 + sin(dx * 131 - canvas.y * 40) * 0.3
        let shine = SceneCanvas.smooth(0.09, 0, abs(canvas.y - 0.27 - dx * dx * 2)) * 0.22
        return hair * (1 + 0.22 * wave) + SceneColor(repeating: shine) * (0.4 + hair)
    }

    private func paintHairBehind(_ canvas: inout SceneCanvas, _ cx: Float) {
        let dx = canvas.x - cx
        canvas.paint(strands(canvas, dx) * 0.8, canvas.inside(canvas.ellipse(cx, 0.40, 0.2, 0.235)))
        if hasLongHair {
            canvas.paint(strands(canvas, dx) * 0.75, canvas.inside(canvas.box(cx, 0.6, 0.205, 0.21, round: 0.09)))
        }
    }

    private func paintBody(_ canvas: inout SceneCanvas, _ cx: Float) {
        let dx = canvas.x - cx
        let light = 1 - 0.35 * SceneCanvas.smooth(-0.3, 0.45, dx)
        let folds = 1 + 0.05 * sin(dx * 23 + canvas.y * 17) * SceneCanvas.smooth(0.8, 1, canvas.y)
        canvas.paint(shirt * (light * folds), canvas.inside(canvas.ellipse(cx, 1.12, 0.46, 0.37)))
        // Neck and its shadow under the chin, then the collar.
        let shade = 0.62 + 0.25 * SceneCanvas.smooth(0.68, 0.78, canvas.y)
        canvas.paint(skin * shade, canvas.inside(canvas.box(cx, 0.72, 0.075, 0.105, round: 0.03)))
        let neckline = canvas.ellipse(cx, 0.775, 0.115, 0.075)
        canvas.paint(skin * 0.86, canvas.inside(neckline) * SceneCanvas.smooth(0.75, 0.78, canvas.y))
        canvas.paint(shirt * 0.55, canvas.inside(abs(neckline) - 0.008) * SceneCanvas.smooth(0.77, 0.79, canvas.y))
    }

    private func paintFace(_ canvas: inout SceneCanvas, _ cx: Float) {
        let dx = canvas.x - cx
        for side: Float in [-1, 1] {
            canvas.paint(skin * 0.82, canvas.inside(canvas.ellipse(cx + side * 0.168, 0.475, 0.024, 0.045)))
        }
        // An egg: narrower towards the chin.
        let narrowing = 1 - 0.28 * SceneCanvas.smooth(0.48, 0.69, canvas.y)
        let head = canvas.ellipse(cx, 0.465, 0.168 * narrowing, 0.222)
        let depth = 1 - (dx / 0.168) * (dx / 0.168) - ((canvas.y - 0.465) / 0.222) * ((canvas.y - 0.465) / 0.222)
        let light = 0.78 + 0.3 * SceneCanvas.smooth(-0.1, 0.8, depth) - 0.28 * SceneCanvas.smooth(-0.05, 0.2, dx)
        // Pores and spots, so that smoothing has something to do.
        let fine = SceneCanvas.noise((canvas.x * 620).rounded(.down), (canvas.y * 620).rounded(.down)) * 0.022
        let patches = sin(canvas.x * 95 + 3 * sin(canvas.y * 60)) * sin(canvas.y * 88) * 0.018
        var tone = skin * (light + fine + patches)
        for (sx, sy) in [(-0.07, 0.53), (0.052, 0.55), (-0.03, 0.62), (0.1, 0.5), (-0.1, 0.49), (0.02, 0.4)]
            as [(Float, Float)]
        {
            let spot = 1 - SceneCanvas.smooth(0.002, 0.0065, canvas.circle(cx + sx, sy, 0.001) + 0.001)
            tone = SceneCanvas.mix(tone, skin * SceneColor(0.78, 0.55, 0.5), spot * 0.7)
        }
        for side: Float in [-1, 1] {
            let blush = 1 - SceneCanvas.smooth(0, 0.055, canvas.circle(cx + side * 0.088, 0.535, 0.004))
            tone = SceneCanvas.mix(tone, skin * SceneColor(1.02, 0.72, 0.68), blush * 0.35)
        }
        canvas.paint(tone, canvas.inside(head))
    }

    private func paintFeatures(_ canvas: inout SceneCanvas, _ cx: Float, eyesOpen: Bool) {
        let dark = skin * SceneColor(0.4, 0.3, 0.28)
        for side: Float in [-1, 1] {
            let ex = cx + side * 0.069
            // The hollow, the white, the iris, the lid.
            canvas.paint(
                skin * 0.72, (1 - SceneCanvas.smooth(-0.02, 0.025, canvas.ellipse(ex, 0.447, 0.042, 0.027))) * 0.5)
            let white = canvas.ellipse(ex, 0.45, 0.033, 0.0165)
            if eyesOpen {
                let isInside = canvas.inside(white)
                canvas.paint(SceneColor(0.95, 0.94, 0.92), isInside)
                canvas.paint(iris * 0.6, min(isInside, canvas.inside(canvas.circle(ex, 0.449, 0.0158))))
                canvas.paint(iris, min(isInside, canvas.inside(canvas.circle(ex, 0.449, 0.013))))
                canvas.paint(
                    SceneColor(repeating: 0.03), min(isInside, canvas.inside(canvas.circle(ex, 0.449, 0.0065))))
                canvas.paint(SceneColor(repeating: 1), canvas.inside(canvas.circle(ex - 0.005, 0.444, 0.0028)))
                let lid = canvas.inside(abs(white) - 0.003) * (1 - SceneCanvas.smooth(0.445, 0.456, canvas.y))
                canvas.paint(dark * 0.5, lid)
            } else {
                canvas.paint(skin * 0.9, canvas.inside(white))
                let lid = canvas.inside(abs(white) - 0.0025) * SceneCanvas.smooth(0.45, 0.456, canvas.y)
                canvas.paint(dark * 0.5, lid)
            }
            let arch = 0.405 + 2.2 * (canvas.x - ex) * (canvas.x - ex) * (1 + side * (canvas.x - ex) * 6)
            let brow =
                canvas.inside(abs(canvas.y - arch) - 0.0075) * canvas.inside(abs(canvas.x - ex) - 0.04, blur: 0.006)
            canvas.paint(hair * 0.9, brow * 0.9)
        }
        // The nose by its shadow, its tip by a light.
        canvas.paint(
            skin * 0.72, canvas.inside(canvas.line(cx + 0.012, 0.46, cx + 0.024, 0.53, 0.01), blur: 0.012) * 0.55)
        canvas.paint(skin * 0.62, canvas.inside(canvas.ellipse(cx, 0.548, 0.03, 0.007), blur: 0.006) * 0.7)
        canvas.paint(skin * 1.18, canvas.inside(canvas.circle(cx - 0.006, 0.527, 0.008), blur: 0.012) * 0.6)
        // The mouth.
        // Its corners are lifted: a friendly face.
        let dx = canvas.x - cx
        let lift = 3.2 * dx * dx
        let curve = 0.604 - lift
        let lifted = SceneCanvas(x: canvas.x, y: canvas.y + lift, pixel: canvas.pixel)
        canvas.paint(lips * 0.92, lifted.inside(lifted.ellipse(cx, 0.6, 0.056, 0.0125)))
        canvas.paint(lips * 1.12, lifted.inside(lifted.ellipse(cx, 0.61, 0.046, 0.013)))
        canvas.paint(
            lips * 0.4, canvas.inside(abs(canvas.y - curve) - 0.0018) * canvas.inside(abs(dx) - 0.055, blur: 0.004))
        canvas.paint(lips * 1.4, canvas.inside(canvas.ellipse(cx - 0.01, 0.613, 0.016, 0.003), blur: 0.003) * 0.5)
        canvas.paint(skin * 0.75, canvas.inside(canvas.ellipse(cx, 0.635, 0.03, 0.003), blur: 0.008) * 0.5)
    }
}
