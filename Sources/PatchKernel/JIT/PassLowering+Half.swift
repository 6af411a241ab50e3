import PatchMedia

/// Pictures of half the size, read between their samples: a pixel lies a quarter of a sample beside one, so that bilinear
/// reads weigh two neighbours by ¾ and ¼ each way (chroma that sits on every second column: ⅞ and ⅛, ⅝ and ⅜ across).
extension PassInput {
    /// Whether such a read of these planes needs no gather. Not of chroma that is halved once more, or lies in pairs.
    func isReadHalf(_ planes: PassPlanes) -> Bool {
        isHalf && orientation == .identity && format.log2ChromaWidth == 0 && format.log2ChromaHeight == 0
            && !(format.isYCbCr && format.planeCount == 2)
            && (planes.log2Height == 0 || !color.siting.isCositedVertically)
    }

    /// The far sample's weights of an even and an odd column, and what they are parts of.
    func halfWeights(_ planes: PassPlanes) -> (even: Int, odd: Int, whole: Int) {
        planes.log2Width > 0 && color.siting.isCositedHorizontally ? (1, 3, 8) : (1, 1, 4)
    }

    /// What codes are left multiplied by.
    func halfScale(_ planes: PassPlanes) -> Int { 4 * halfWeights(planes).whole }
}

extension PassLowering {
    /// An input at the pixel's own place.
    mutating func readHalf(_ input: Int) -> [S] {
        let stored = description.inputs[input]
        let scale = Float(stored.halfScale(description.planes))
        let raw = { (lowering: inout PassLowering, channel: Int) -> S in
            var bounds = stored.codeBounds(scale: 1)
            if !stored.format.isFloat { bounds.high *= scale }
            let load = ScalarProgram.Load(
                input: input, channel: channel, dx: 0, dy: 0, edge: .clamp, bounds: bounds, isHalf: true)
            if stored.format.isFloat { return lowering.p.make(.load(load), .float) }
            let code = lowering.p.toFloat(lowering.p.make(.load(load), .int))
            return lowering.p.mul(code, lowering.p.float(1 / scale))
        }
        return decode(input, raw: raw, scale: { _ in 1 })
    }
}
