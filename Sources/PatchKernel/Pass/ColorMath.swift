import PatchMedia

/// R'G'B' ↔ Y'CbCr and codes ↔ values, from ITU-R BT.601, BT.709 and BT.2020. Y' in 0…1, Cb and Cr in −0.5…0.5.
struct YCbCrMath {
    let kr: Double
    let kb: Double
    /// value = (code − offset) / scale.
    let lumaOffset: Double
    let lumaScale: Double
    let chromaOffset: Double
    let chromaScale: Double

    init(color: ColorSpec, bitDepth: Int) {
        (kr, kb) = color.lumaCoefficients
        let unit = Double(1 << (bitDepth - 8))
        if color.range == .full {
            lumaOffset = 0
            lumaScale = 256 * unit - 1
            chromaScale = 256 * unit - 1
        } else {
            lumaOffset = 16 * unit
            lumaScale = 219 * unit
            chromaScale = 224 * unit
        }
        chromaOffset = 128 * unit
    }

    var kg: Double { 1 - kr - kb }
    /// R' = Y' + redCr · Cr, and so on.
    var redCr: Double { 2 * (1 - kr) }
    var blueCb: Double { 2 * (1 - kb) }
    var greenCb: Double { -2 * kb * (1 - kb) / kg }
    var greenCr: Double { -2 * kr * (1 - kr) / kg }
    /// Cb and Cr as weights of R', G', B'.
    var cb: (Double, Double, Double) { (-kr / blueCb, -kg / blueCb, 0.5) }
    var cr: (Double, Double, Double) { (0.5, -kg / redCr, -kb / redCr) }
}

extension ColorSpec.ChromaSiting {
    /// Chroma samples sit on even luma columns (else between two).
    var isCositedHorizontally: Bool { self != .center }
    /// Chroma samples sit on even luma rows (else between two).
    var isCositedVertically: Bool { self == .topLeft }
}

/// An 8×8 Bayer matrix, values (2·rank + 1) / 128 in 0…1, row by row.
let bayerMatrix: [Float] = {
    var ranks = [0]
    var size = 1
    while size < 8 {
        var next = [Int](repeating: 0, count: 4 * size * size)
        for y in 0..<size {
            for x in 0..<size {
                let rank = 4 * ranks[y * size + x]
                next[y * 2 * size + x] = rank
                next[y * 2 * size + x + size] = rank + 2
                next[(y + size) * 2 * size + x] = rank + 3
                next[(y + size) * 2 * size + x + size] = rank + 1
            }
        }
        ranks = next
        size *= 2
    }
    return ranks.map { (2 * Float($0) + 1) / 128 }
}()

/// Colour whose alpha is not above this is black once it is freed of it: one over less may be infinite.
let clearAlpha: Float = 0x1p-126
