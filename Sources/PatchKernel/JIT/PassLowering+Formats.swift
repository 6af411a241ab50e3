import PatchMedia

extension PassLowering {
    /// The matrix that a Y'CbCr kernel works in: the first Y'CbCr input's, else the output's.
    var workingColor: ColorSpec {
        description.inputs.first { $0.format.isYCbCr }?.color ?? description.output.color
    }

    // MARK: Decoding

    /// Raw codes of an input's channels (in plane order, interleaved ones in memory order) to the form that the kernel
    /// declares. `scale(channel)` is what the raw value is multiplied by beforehand.
    mutating func decode(
        _ input: Int, raw: (inout PassLowering, Int) -> S, scale: (Int) -> Double, coverage: S? = nil
    ) -> [S] {
        let format = description.inputs[input].format
        let color = description.inputs[input].color
        var value: [S]
        if format.isYCbCr {
            let ycc = decodeYCbCr(input, raw: raw, scale: scale)
            if description.kernel.space == .ycbcr {
                value = matrixMatches(color) ? ycc : toYCbCr(toRGB(ycc, color), workingColor)
            } else {
                value = toRGB(ycc, color)
            }
            value.append(p.float(Float(1)))
        } else {
            let one = p.float(Float(1))
            switch format {
            case .gray8, .half1, .float1:
                let grey = decodeGrey(input, raw: raw)
                // Grey has no chroma, whatever the matrix.
                let isYCbCr = description.kernel.space == .ycbcr
                let rest = isYCbCr ? p.float(Float(0)) : grey
                return toDeclared([grey, rest, rest, one], input, coverage: coverage)
            case .rgba, .bgra:
                let order = format == .rgba ? [0, 1, 2, 3] : [2, 1, 0, 3]
                let unit = p.float(Float(1.0 / 255))
                value = order.map { p.mul(raw(&self, $0), unit) }
            case .half2, .float2: value = [raw(&self, 0), raw(&self, 1), p.float(Float(0)), one]
            case .half3, .float3: value = [raw(&self, 0), raw(&self, 1), raw(&self, 2), one]
            default: value = [raw(&self, 0), raw(&self, 1), raw(&self, 2), raw(&self, 3)]
            }
            if description.kernel.space == .ycbcr { value = toYCbCr(Array(value[..<3]), workingColor) + [value[3]] }
        }
        return toDeclared(value, input, coverage: coverage)
    }

    private mutating func decodeGrey(_ input: Int, raw: (inout PassLowering, Int) -> S) -> S {
        guard description.planes.includes(channel: 0) else { return p.float(Float(0)) }
        let stored = description.inputs[input]
        if stored.format.isFloat { return raw(&self, 0) }
        let math = YCbCrMath(color: stored.color, bitDepth: 8)
        return p.fma(raw(&self, 0), p.float(1 / math.lumaScale), p.float(-math.lumaOffset / math.lumaScale))
    }

    private func matrixMatches(_ color: ColorSpec) -> Bool {
        color.lumaCoefficients == workingColor.lumaCoefficients
    }

    private mutating func decodeYCbCr(
        _ input: Int, raw: (inout PassLowering, Int) -> S, scale: (Int) -> Double
    ) -> [S] {
        let math = YCbCrMath(
            color: description.inputs[input].color, bitDepth: description.inputs[input].format.bitDepth)
        return (0..<3).map { channel in
            guard description.planes.includes(channel: channel) else { return p.float(Float(0)) }
            let (offset, unit) =
                channel == 0 ? (math.lumaOffset, math.lumaScale) : (math.chromaOffset, math.chromaScale)
            return p.fma(raw(&self, channel), p.float(1 / (unit * scale(channel))), p.float(-offset / unit))
        }
    }

    mutating func toRGB(_ ycc: [S], _ color: ColorSpec) -> [S] {
        let math = YCbCrMath(color: color, bitDepth: 8)
        return [
            p.fma(ycc[2], p.float(math.redCr), ycc[0]),
            p.fma(ycc[1], p.float(math.greenCb), p.fma(ycc[2], p.float(math.greenCr), ycc[0])),
            p.fma(ycc[1], p.float(math.blueCb), ycc[0]),
        ]
    }

    mutating func luma(_ rgb: [S], _ color: ColorSpec) -> S {
        let math = YCbCrMath(color: color, bitDepth: 8)
        return p.fma(
            rgb[0], p.float(math.kr), p.fma(rgb[1], p.float(math.kg), p.mul(rgb[2], p.float(math.kb))))
    }

    mutating func toYCbCr(_ rgb: [S], _ color: ColorSpec) -> [S] {
        let math = YCbCrMath(color: color, bitDepth: 8)
        let y = luma(rgb, color)
        return [
            y, p.mul(p.sub(rgb[2], y), p.float(1 / math.blueCb)), p.mul(p.sub(rgb[0], y), p.float(1 / math.redCr)),
        ]
    }

    /// From the form in memory to the declared one. `coverage` is 0 where a transparent edge was read.
    private mutating func toDeclared(_ value: [S], _ input: Int, coverage: S?) -> [S] {
        let stored = description.inputs[input]
        let declared = description.kernel.inputs[input]
        var value = value
        var alpha: Alpha = stored.format.hasAlpha && stored.premultiplied ? .premultiplied : .straight
        if let coverage {
            let count = alpha == .premultiplied ? 0..<4 : 3..<4
            for i in count { value[i] = p.mul(value[i], coverage) }
        }
        let light: Light = stored.color.transfer == .linear ? .linear : .encoded
        if light != declared.light, description.kernel.space == .rgb {
            if alpha == .premultiplied { value = convert(value, .unpremultiply) }
            alpha = .straight
            value = convert(value, light == .encoded ? .linearize : .encode)
        }
        if alpha != declared.alpha {
            value = convert(value, alpha == .premultiplied ? .unpremultiply : .premultiply)
        }
        return value
    }

    // MARK: Encoding

    /// The kernel's result to codes.
    mutating func encode(_ result: [S]) -> PassRoots {
        let kernel = description.kernel
        let output = description.output
        var value = result
        var alpha = kernel.alpha
        let light: Light = output.color.transfer == .linear ? .linear : .encoded
        if light != kernel.light, kernel.space == .rgb {
            if alpha == .premultiplied { value = convert(value, .unpremultiply) }
            alpha = .straight
            value = convert(value, light == .encoded ? .encode : .linearize)
        }
        let wanted: Alpha = output.format.hasAlpha && !output.premultiplied ? .straight : .premultiplied
        if alpha != wanted { value = convert(value, wanted == .straight ? .unpremultiply : .premultiply) }
        if kernel.space == .ycbcr {
            if output.format.isYCbCr, matrixMatches(output.color) { return encodeYCbCr(value, limited: false) }
            if output.format == .gray8, matrixMatches(output.color) {
                let math = YCbCrMath(color: output.color, bitDepth: 8)
                return .planes([p.toIntUnchecked(p.clamp(lumaCode(value[0], math, rounding), 0, 255))])
            }
            value = toRGB(value, workingColor) + [value[3]]
        }
        if output.format.isFloat { return .planes(encodeFloat(value)) }
        for i in value.indices { value[i] = p.clamp(value[i], 0, 1) }
        let rounding = self.rounding
        switch output.format {
        case .rgba, .bgra:
            let order = output.format == .rgba ? [0, 1, 2, 3] : [2, 1, 0, 3]
            let unit = p.float(Float(255))
            return .packed(order.map { p.toIntUnchecked(p.fma(value[$0], unit, rounding)) })
        case .gray8:
            let math = YCbCrMath(color: output.color, bitDepth: 8)
            let code = lumaCode(luma(value, output.color), math, rounding)
            return .planes([p.toIntUnchecked(code)])
        default:
            return encodeYCbCr(value, limited: true)
        }
    }

    private var rounding: S {
        mutating get { description.output.dither ? p.make(.dither, .float) : p.float(Float(0.5)) }
    }

    private mutating func lumaCode(_ y: S, _ math: YCbCrMath, _ rounding: S) -> S {
        if let constant = p.floatValue(rounding) {
            return p.fma(y, p.float(math.lumaScale), p.float(math.lumaOffset + Double(constant)))
        }
        return p.fma(y, p.float(math.lumaScale), p.add(rounding, p.float(math.lumaOffset)))
    }

    /// `limited`: the value is R'G'B' in 0…1, so that codes stay in range; otherwise it is Y'CbCr of any size.
    private mutating func encodeYCbCr(_ value: [S], limited isRGB: Bool) -> PassRoots {
        let output = description.output
        let math = YCbCrMath(color: output.color, bitDepth: output.format.bitDepth)
        let maximum = Float((1 << output.format.bitDepth) - 1)
        let y = isRGB ? luma(value, output.color) : value[0]
        var code = lumaCode(y, math, rounding)
        if !isRGB { code = p.clamp(code, 0, maximum) }
        let lumaRoot = p.toIntUnchecked(code)
        let weights: ([Double], [Double]) =
            isRGB
            ? ([math.cb.0, math.cb.1, math.cb.2], [math.cr.0, math.cr.1, math.cr.2]) : ([1, 0], [0, 1])
        let chroma = ChromaRoot(
            values: isRGB ? Array(value[..<3]) : Array(value[1..<3]),
            cb: weights.0.map { Float($0 * math.chromaScale) }, cr: weights.1.map { Float($0 * math.chromaScale) },
            bias: Float(math.chromaOffset), needsClamp: !isRGB || output.color.range == .full, maximum: maximum)
        if output.format.log2ChromaWidth > 0 { return .subsampled(luma: lumaRoot, chroma: chroma) }
        if description.planes == .luma { return .planes([lumaRoot, p.int(0), p.int(0)]) }
        let codes = [chroma.cb, chroma.cr].map { weights in
            var code = p.add(rounding, p.float(chroma.bias))
            for (weight, value) in zip(weights, chroma.values) where weight != 0 {
                code = p.fma(value, p.float(weight), code)
            }
            if chroma.needsClamp { code = p.clamp(code, 0, maximum) }
            return p.toIntUnchecked(code)
        }
        return .planes([lumaRoot] + codes)
    }

    /// Finite halves: NaN becomes 0, what is too large 65504.
    private mutating func encodeFloat(_ value: [S]) -> [S] {
        (0..<description.output.format.planeCount).map { i in
            let v = value[i]
            let zero = p.float(Float(0))
            let isNumber = p.compare(.equal, v, v)
            return p.clamp(p.select(isNumber, v, zero), -65504, 65504)
        }
    }
}
