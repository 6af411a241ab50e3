import Glibc
import PatchMedia

extension Interpreter {
    var workingColor: ColorSpec {
        description.inputs.first { $0.format.isYCbCr }?.color ?? description.output.color
    }

    // MARK: Reading

    /// Channel codes of an input to the form that the kernel declares.
    func decode(_ input: Int, _ read: (codes: [Float], coverage: Float)) -> [Float] {
        let stored = description.inputs[input]
        let declared = description.kernel.inputs[input]
        let format = stored.format
        let codes = read.codes
        let isYCbCrKernel = description.kernel.space == .ycbcr
        var value: [Float]
        if format.isYCbCr {
            let math = YCbCrMath(color: stored.color, bitDepth: format.bitDepth)
            let ycc = [
                (codes[0] - Float(math.lumaOffset)) / Float(math.lumaScale),
                (codes[1] - Float(math.chromaOffset)) / Float(math.chromaScale),
                (codes[2] - Float(math.chromaOffset)) / Float(math.chromaScale),
            ]
            if !isYCbCrKernel {
                value = Self.rgb(ycc, stored.color)
            } else if stored.color.lumaCoefficients == workingColor.lumaCoefficients {
                value = ycc
            } else {
                value = Self.ycc(Self.rgb(ycc, stored.color), workingColor)
            }
            value.append(1)
        } else {
            switch format {
            case .rgba: value = codes.map { $0 / 255 }
            case .bgra: value = [codes[2] / 255, codes[1] / 255, codes[0] / 255, codes[3] / 255]
            case .gray8:
                let math = YCbCrMath(color: stored.color, bitDepth: 8)
                let isRead = description.planes.includes(channel: 0)
                let grey = isRead ? (codes[0] - Float(math.lumaOffset)) / Float(math.lumaScale) : 0
                value = [grey, grey, grey, 1]
            case .half1, .float1: value = [codes[0], codes[0], codes[0], 1]
            case .half2, .float2: value = [codes[0], codes[1], 0, 1]
            case .half3, .float3: value = codes + [1]
            default: value = codes
            }
            if isYCbCrKernel { value = Self.ycc(Array(value[..<3]), workingColor) + [value[3]] }
        }
        var alpha: Alpha = format.hasAlpha && stored.premultiplied ? .premultiplied : .straight
        for i in (alpha == .premultiplied ? 0 : 3)..<4 { value[i] *= read.coverage }
        let light: Light = stored.color.transfer == .linear ? .linear : .encoded
        if light != declared.light, !isYCbCrKernel {
            if alpha == .premultiplied { value = convert(value, .unpremultiply) }
            alpha = .straight
            value = convert(value, light == .encoded ? .linearize : .encode)
        }
        if alpha != declared.alpha {
            value = convert(value, alpha == .premultiplied ? .unpremultiply : .premultiply)
        }
        return value
    }

    static func rgb(_ ycc: [Float], _ color: ColorSpec) -> [Float] {
        let math = YCbCrMath(color: color, bitDepth: 8)
        return [
            ycc[0] + Float(math.redCr) * ycc[2],
            ycc[0] + Float(math.greenCb) * ycc[1] + Float(math.greenCr) * ycc[2],
            ycc[0] + Float(math.blueCb) * ycc[1],
        ]
    }

    static func luma(_ rgb: [Float], _ color: ColorSpec) -> Float {
        let math = YCbCrMath(color: color, bitDepth: 8)
        return Float(math.kr) * rgb[0] + Float(math.kg) * rgb[1] + Float(math.kb) * rgb[2]
    }

    static func ycc(_ rgb: [Float], _ color: ColorSpec) -> [Float] {
        let math = YCbCrMath(color: color, bitDepth: 8)
        let y = luma(rgb, color)
        return [y, (rgb[2] - y) / Float(math.blueCb), (rgb[0] - y) / Float(math.redCr)]
    }

    func convert(_ rgba: [Float], _ conversion: Conversion) -> [Float] {
        if conversion == .fromRGB {
            return description.kernel.space == .rgb ? rgba : Self.ycc(Array(rgba[..<3]), workingColor) + [rgba[3]]
        }
        let a = rgba[3]
        let transfer = description.workingTransfer
        let function: (Float) -> Float =
            switch conversion {
            case .premultiply: { $0 * a }
            case .unpremultiply: { $0 * (a > clearAlpha ? 1 / a : 0) }
            case .linearize: { Self.linear($0, transfer) }
            case .encode: { Self.encoded($0, transfer) }
            case .fromRGB: { $0 }
            }
        return rgba[..<3].map(function) + [a]
    }

    static func linear(_ x: Float, _ transfer: ColorSpec.Transfer) -> Float {
        func power(_ x: Float, _ y: Float) -> Float { component(.pow, [x, y]) }
        switch TransferCurve(transfer) {
        case .identity: return x
        case .power(let c):
            return x < c.encodedKnee ? x / c.slope : power((x + c.offset) / c.scale, c.exponent)
        case .pq:
            let e = power(x, 1 / PQ.m2)
            return power(component(.max, [e - PQ.c1, 0]) / (PQ.c2 - PQ.c3 * e), 1 / PQ.m1)
        case .hlg: return x < 0.5 ? x * x / 3 : (component(.exp, [(x - HLG.c) / HLG.a]) + HLG.b) / 12
        }
    }

    static func encoded(_ x: Float, _ transfer: ColorSpec.Transfer) -> Float {
        func power(_ x: Float, _ y: Float) -> Float { component(.pow, [x, y]) }
        switch TransferCurve(transfer) {
        case .identity: return x
        case .power(let c): return x < c.linearKnee ? x * c.slope : power(x, 1 / c.exponent) * c.scale - c.offset
        case .pq:
            let y = power(x, PQ.m1)
            return power((PQ.c1 + PQ.c2 * y) / (1 + PQ.c3 * y), PQ.m2)
        case .hlg:
            return x < 1.0 / 12
                ? component(.sqrt, [3 * x]) : HLG.a * component(.log, [12 * x - HLG.b]) + HLG.c
        }
    }

    // MARK: Writing

    /// The kernel's result in the output's light and alpha, clamped where the output holds integer R'G'B' codes.
    private func stored(_ result: [Float]) -> [Float] {
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
        if writesYCbCrDirectly { return value }
        if kernel.space == .ycbcr { value = Self.rgb(value, workingColor) + [value[3]] }
        return output.format.isFloat ? value : value.map { Self.clamped($0, 0, 1) }
    }

    /// A Y'CbCr kernel's result goes to a Y'CbCr output of the same matrix without a detour.
    private var writesYCbCrDirectly: Bool {
        description.kernel.space == .ycbcr
            && (description.output.format.isYCbCr || description.output.format == .gray8)
            && description.output.color.lumaCoefficients == workingColor.lumaCoefficients
    }

    /// NaN gives `low`.
    private static func clamped(_ x: Float, _ low: Float, _ high: Float) -> Float {
        let above = x > low ? x : low
        return above < high ? above : high
    }

    func write(rows: Range<Int>) {
        let format = description.output.format
        let step = description.rowAlignment
        var registers = [UInt32](repeating: 0, count: registerCount)
        var y = rows.lowerBound
        while y < min(rows.upperBound, output.height) {
            var pictureRows: [[[Float]]] = []
            for row in 0..<step {
                let at = min(y + row, output.height - 1)
                pictureRows.append((0..<output.width).map { stored(pixel($0, at, &registers)) })
            }
            if description.planes.includes(channel: 0) {
                for row in 0..<step where y + row < output.height { writeRow(pictureRows[row], y + row) }
            }
            if format.isYCbCr, description.planes != .luma { writeChroma(pictureRows, y) }
            y += step
        }
    }

    private func rounding(_ x: Int, _ y: Int) -> Float {
        description.output.dither ? bayerMatrix[(y & 7) * 8 + (x & 7)] : 0.5
    }

    private func store(_ code: Int, plane: Int, index: Int, y: Int) {
        let row = output.plane(plane).row(y)
        switch description.output.format.bitDepth {
        case 8: row.storeBytes(of: UInt8(code), toByteOffset: index, as: UInt8.self)
        default:
            let word = UInt16(code) << UInt16(description.output.format.lowBits)
            row.storeBytes(of: word, toByteOffset: 2 * index, as: UInt16.self)
        }
    }

    private func writeRow(_ pixels: [[Float]], _ y: Int) {
        let format = description.output.format
        let color = description.output.color
        let math = YCbCrMath(color: color, bitDepth: format.isFloat ? 8 : format.bitDepth)
        for (x, value) in pixels.enumerated() {
            switch format {
            case .rgba, .bgra:
                for channel in 0..<4 {
                    let source = format == .bgra && channel < 3 ? 2 - channel : channel
                    store(Int(value[source] * 255 + rounding(x, y)), plane: 0, index: 4 * x + channel, y: y)
                }
            case .half1, .half2, .half3, .half4, .float1, .float2, .float3, .float4:
                for plane in 0..<format.planeCount {
                    let number = value[plane].isNaN ? 0 : Self.clamped(value[plane], -65504, 65504)
                    let row = output.plane(plane).row(y)
                    if format.bytesPerSample == 4 {
                        row.storeBytes(of: number, toByteOffset: 4 * x, as: Float.self)
                    } else {
                        row.storeBytes(of: halfFromFloat(number), toByteOffset: 2 * x, as: UInt16.self)
                    }
                }
            default:
                let luma = writesYCbCrDirectly ? value[0] : Self.luma(value, color)
                let code = luma * Float(math.lumaScale) + Float(math.lumaOffset) + rounding(x, y)
                store(Int(Self.clamped(code, 0, Float((1 << format.bitDepth) - 1))), plane: 0, index: x, y: y)
            }
        }
    }

    private func writeChroma(_ rows: [[[Float]]], _ y: Int) {
        let format = description.output.format
        let color = description.output.color
        let math = YCbCrMath(color: color, bitDepth: format.bitDepth)
        let width = output.width
        let columns = (width + (1 << format.log2ChromaWidth) - 1) >> format.log2ChromaWidth
        for column in 0..<columns {
            // Weights of the pixels around this chroma sample.
            var taps: [(Int, Float)] = [(column, 1)]
            if format.log2ChromaWidth > 0 {
                let x = 2 * column
                if color.siting.isCositedHorizontally {
                    taps = [(max(x - 1, 0), 0.25), (x, 0.5), (x + 1, 0.25)]
                } else {
                    taps = [(x, 0.5), (x + 1, 0.5)]
                }
                taps = taps.map { ($0.0 < width ? $0.0 : x, $0.1) }
            }
            let usesBothRows = rows.count == 2 && !color.siting.isCositedVertically
            var mean = [Float](repeating: 0, count: 4)
            for row in rows.prefix(usesBothRows ? 2 : 1) {
                for (x, weight) in taps {
                    for i in 0..<4 { mean[i] += row[x][i] * weight * (usesBothRows ? 0.5 : 1) }
                }
            }
            let ycc = writesYCbCrDirectly ? mean : Self.ycc(Array(mean[..<3]), color)
            let chromaY = y >> format.log2ChromaHeight
            for channel in 1...2 {
                let code = ycc[channel] * Float(math.chromaScale) + Float(math.chromaOffset) + rounding(column, chromaY)
                let isInterleaved = format.planeCount == 2
                store(
                    Int(Self.clamped(code, 0, Float((1 << format.bitDepth) - 1))), plane: isInterleaved ? 1 : channel,
                    index: isInterleaved ? 2 * column + channel - 1 : column, y: chromaY)
            }
        }
    }
}
