import PatchMedia

/// A pass whose kernel changes nothing: 8-bit Y'CbCr to packed R'G'B' or back. Done in 16-bit integers, with the
/// numbers here in place of the scalar program; at most one code off the float result.
enum FormatConversion {
    case decode(DecodeNumbers)
    case encode(EncodeNumbers)
}

/// R = y + cr · redCr and so on, all times 32: y = (luma code − 128) · 256 · lumaFactor / 65536 + bias, and a chroma
/// code, less 128 and times 256, times a factor / 65536. Or y = luma code · 256 · lumaFactor / 65536 + unsignedBias, and a chroma
/// code, less 128 and times 128, times a factor / 32768, rounded.
struct DecodeNumbers {
    var lumaFactor: Int
    var bias: Int
    var unsignedBias: Int
    var redCr: Int
    var greenCb: Int
    var greenCr: Int
    var blueCb: Int
}

/// A code = (Σ weight · component + bias) >> shift.
struct EncodeNumbers {
    struct Code {
        /// Of R, G, B.
        var weights: [Int]
        var bias: Int
        var shift: Int
    }
    var luma: Code
    var cb: Code
    var cr: Code
}

extension PassLowering {
    /// The conversion that this pass is, or nil when it is more (or other) than one.
    ///
    /// Proof of the bound: factors are rounded to 1/16384 of their size or better, each of the at most three products
    /// is cut at 1/32 of a code (whose mean is put back), so that the sum is less than 0.2 codes off before it is
    /// rounded. (By columns, factors of odd ones are halved: 1/3000 or better of at most 50 codes for green, 1/13000 of 205 and
    /// 258 for the others, and chroma's products are rounded to a 64th of a code.) Intermediate sums stay within 16 bits: |y| ≤ 9600, chroma products ≤ 128 · 2.2 · 32 = 9011 each.
    var conversion: FormatConversion? {
        guard let stored = description.inputs.first, description.inputs.count == 1 else { return nil }
        let (kernel, output) = (description.kernel, description.output)
        let declared = kernel.inputs[0]
        guard kernel.nodes[kernel.result].kind == .current(0), kernel.space == .rgb,
            declared.light == .encoded, kernel.light == .encoded, declared.alpha == kernel.alpha,
            stored.keepsRows, !output.dither,
            stored.color.transfer != .linear, output.color.transfer != .linear,
            stored.format.bitDepth == 8, output.format.bitDepth == 8
        else { return nil }
        let isPacked: Set<PixelFormat> = [.rgba, .bgra]
        if stored.format.isYCbCr, isPacked.contains(output.format) { return .decode(decodeNumbers(stored.color)) }
        // What has alpha goes into video premultiplied.
        if isPacked.contains(stored.format), output.format.isYCbCr, output.format != .nv24, stored.premultiplied,
            kernel.alpha == .premultiplied
        {
            return .encode(encodeNumbers(output))
        }
        return nil
    }

    private func decodeNumbers(_ color: ColorSpec) -> DecodeNumbers {
        let math = YCbCrMath(color: color, bitDepth: 8)
        func factor(_ value: Double) -> Int { Int((value * 255 / math.chromaScale * 32 * 256).rounded()) }
        let luma = 255 / math.lumaScale * 32
        return DecodeNumbers(
            lumaFactor: Int((luma * 256).rounded()),
            // Half a code to round, and what cutting the products loses on average.
            bias: Int(((128 - math.lumaOffset) * luma + 16 + 1).rounded()),
            // Products of chroma are rounded there.
            unsignedBias: Int((16.5 - math.lumaOffset * luma).rounded()),
            redCr: factor(math.redCr), greenCb: factor(math.greenCb), greenCr: factor(math.greenCr),
            blueCb: factor(math.blueCb))
    }

    private func encodeNumbers(_ output: PassOutput) -> EncodeNumbers {
        let math = YCbCrMath(color: output.color, bitDepth: 8)
        let siting = output.color.siting
        func code(_ weights: [Double], _ scale: Double, _ offset: Double, _ extra: Int) -> EncodeNumbers.Code {
            let shift = 15 + extra
            return EncodeNumbers.Code(
                weights: weights.map { Int(($0 * scale / 255 * 32768).rounded()) },
                bias: Int(((offset + 0.5) * Double(1 << shift)).rounded()), shift: shift)
        }
        var extra = 0
        if output.format.log2ChromaWidth > 0 { extra += siting.isCositedHorizontally ? 2 : 1 }
        if output.format.log2ChromaHeight > 0, !siting.isCositedVertically { extra += 1 }
        return EncodeNumbers(
            luma: code([math.kr, math.kg, math.kb], math.lumaScale, math.lumaOffset, 0),
            cb: code([math.cb.0, math.cb.1, math.cb.2], math.chromaScale, math.chromaOffset, extra),
            cr: code([math.cr.0, math.cr.1, math.cr.2], math.chromaScale, math.chromaOffset, extra))
    }
}
