import PatchMedia

extension PassLowering {
    mutating func convert(_ rgba: [S], _ conversion: Conversion) -> [S] {
        switch conversion {
        case .premultiply: return rgba[..<3].map { p.mul($0, rgba[3]) } + [rgba[3]]
        case .unpremultiply:
            let zero = p.float(Float(0))
            let one = p.float(Float(1))
            let clear = p.float(clearAlpha)
            let scale = p.select(p.compare(.lessThan, clear, rgba[3]), p.div(one, rgba[3]), zero)
            return rgba[..<3].map { p.mul($0, scale) } + [rgba[3]]
        case .linearize:
            let transfer = description.workingTransfer
            return rgba[..<3].map { linearize($0, transfer) } + [rgba[3]]
        case .fromRGB:
            if description.kernel.space == .rgb { return rgba }
            return toYCbCr(Array(rgba[..<3]), workingColor) + [rgba[3]]
        case .encode:
            let transfer = description.workingTransfer
            return rgba[..<3].map { encodeLight($0, transfer) } + [rgba[3]]
        }
    }

    /// Encoded to linear; the formulas are those of `TransferCurve`.
    mutating func linearize(_ x: S, _ transfer: ColorSpec.Transfer) -> S {
        switch TransferCurve(transfer) {
        case .identity: return x
        case .power(let c):
            let high = p.pow(p.mul(p.add(x, p.float(c.offset)), p.float(1 / c.scale)), p.float(c.exponent))
            let low = p.mul(x, p.float(1 / c.slope))
            return p.select(p.compare(.lessThan, x, p.float(c.encodedKnee)), low, high)
        case .pq:
            let e = p.pow(x, p.float(1 / PQ.m2))
            let zero = p.float(Float(0))
            let numerator = p.max(p.sub(e, p.float(PQ.c1)), zero)
            let denominator = p.sub(p.float(PQ.c2), p.mul(p.float(PQ.c3), e))
            return p.pow(p.div(numerator, denominator), p.float(1 / PQ.m1))
        case .hlg:
            let low = p.mul(p.mul(x, x), p.float(Float(1) / 3))
            let high = p.mul(
                p.add(p.exp(p.mul(p.sub(x, p.float(HLG.c)), p.float(1 / HLG.a))), p.float(HLG.b)),
                p.float(Float(1) / 12))
            return p.select(p.compare(.lessThan, x, p.float(Float(0.5))), low, high)
        }
    }

    mutating func encodeLight(_ x: S, _ transfer: ColorSpec.Transfer) -> S {
        switch TransferCurve(transfer) {
        case .identity: return x
        case .power(let c):
            let high = p.sub(p.mul(p.pow(x, p.float(1 / c.exponent)), p.float(c.scale)), p.float(c.offset))
            let low = p.mul(x, p.float(c.slope))
            return p.select(p.compare(.lessThan, x, p.float(c.linearKnee)), low, high)
        case .pq:
            let y = p.pow(x, p.float(PQ.m1))
            let numerator = p.add(p.float(PQ.c1), p.mul(p.float(PQ.c2), y))
            let denominator = p.add(p.float(Float(1)), p.mul(p.float(PQ.c3), y))
            return p.pow(p.div(numerator, denominator), p.float(PQ.m2))
        case .hlg:
            let low = p.positiveSqrt(p.mul(x, p.float(Float(3))))
            let high = p.add(
                p.mul(p.log(p.sub(p.mul(x, p.float(Float(12))), p.float(HLG.b))), p.float(HLG.a)), p.float(HLG.c))
            return p.select(p.compare(.lessThan, x, p.float(Float(1) / 12)), low, high)
        }
    }
}
