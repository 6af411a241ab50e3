import Glibc
import PatchMedia

/// Reads pixels of a picture in memory, one at a time: the plain form of what the JIT's reading code does.
struct PictureReader {
    let image: ImageReference
    let input: PassInput
    let planes: PassPlanes

    var orientedWidth: Int { input.orientation.swapsAxes ? image.height : image.width }
    var orientedHeight: Int { input.orientation.swapsAxes ? image.width : image.height }

    private func isChroma(_ channel: Int) -> Bool { input.format.isYCbCr && channel > 0 }
    private func log2(_ channel: Int) -> (x: Int, y: Int) {
        isChroma(channel) ? (input.format.log2ChromaWidth, input.format.log2ChromaHeight) : (0, 0)
    }

    /// The raw code of a channel at (x, y) of its own plane.
    func code(_ channel: Int, _ x: Int, _ y: Int) -> Float {
        let format = input.format
        switch format {
        case .rgba, .bgra: return Float(image.plane(0).row(y).load(fromByteOffset: 4 * x + channel, as: UInt8.self))
        case .half1, .half2, .half3, .half4:
            let bits = image.plane(channel).row(y).loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self)
            return floatFromHalf(bits)
        case .float1, .float2, .float3, .float4:
            return image.plane(channel).row(y).loadUnaligned(fromByteOffset: 4 * x, as: Float.self)
        default: break
        }
        let isInterleaved = format.planeCount == 2 && channel > 0
        let row = image.plane(isInterleaved ? 1 : channel).row(y)
        let index = isInterleaved ? 2 * x + channel - 1 : x
        if format.bitDepth == 8 { return Float(row.load(fromByteOffset: index, as: UInt8.self)) }
        let word = row.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)
        return Float(word >> UInt16(format.lowBits))
    }

    /// The code of a channel at a pixel of the stored picture; chroma between its samples by siting.
    func code(_ channel: Int, atPixel x: Int, _ y: Int) -> Float {
        let (lx, ly) = log2(channel)
        let columns = neighbours(x, image.width, lx, input.color.siting.isCositedHorizontally)
        let rows = neighbours(y, image.height, ly, input.color.siting.isCositedVertically)
        var sum: Float = 0
        for (row, rowWeight) in rows {
            for (column, weight) in columns { sum += weight * rowWeight * code(channel, column, row) }
        }
        return sum
    }

    private func neighbours(_ at: Int, _ extent: Int, _ log2: Int, _ isCosited: Bool) -> [(Int, Float)] {
        func clamped(_ index: Int) -> Int { min(max(index, 0), ((extent - 1) >> log2)) }
        if log2 == 0 { return [(clamped(at), 1)] }
        let near = at >> 1
        let isOdd = at & 1 == 1
        if isCosited, isOdd { return [(clamped(near), 0.5), (clamped(near + 1), 0.5)] }
        if isCosited { return [(clamped(near), 1)] }
        return [(clamped(near), 0.75), (clamped(isOdd ? near + 1 : near - 1), 0.25)]
    }

    /// The stored place of pixel (x, y) of the oriented picture.
    func stored(_ x: Int, _ y: Int) -> (Int, Int) {
        let place = input.orientation.source(x: x, y: y, width: image.width, height: image.height)
        return (place.x, place.y)
    }

    /// Channel codes at a pixel of the oriented picture that may lie outside; coverage is 0 outside a transparent edge.
    ///
    /// `isOffset`: the read is at a whole-pixel offset. Then subsampled chroma left and right of a clamped picture
    /// repeats its own last sample (which differs from the last pixel's chroma only for centred chroma of odd widths).
    func pixel(_ x: Int, _ y: Int, _ edge: EdgeMode, isOffset: Bool) -> (codes: [Float], coverage: Float) {
        let isInside = x >= 0 && y >= 0 && x < orientedWidth && y < orientedHeight
        let (sx, sy) = stored(edge.mapped(x, orientedWidth), edge.mapped(y, orientedHeight))
        let extendsChroma = isOffset && input.keepsRows && (edge == .clamp || edge == .transparent)
        let codes = (0..<channelCount).map { channel in
            isRead(channel) ? code(channel, atPixel: extendsChroma && isChroma(channel) ? stored(x, y).0 : sx, sy) : 0
        }
        return (codes, edge == .transparent && !isInside ? 0 : 1)
    }

    private func isRead(_ channel: Int) -> Bool { planes.includes(channel: channel) || planes == .all }

    /// Codes at an offset that counts the whole picture's pixels, from sample (x, y) of the planes at hand.
    func offset(_ x: Int, _ y: Int, dx: Int, dy: Int, _ edge: EdgeMode) -> (codes: [Float], coverage: Float) {
        let columns = planes.samples(at: dx, log2: planes.log2Width)
        let rows = planes.samples(at: dy, log2: planes.log2Height)
        var mean = [Float](repeating: 0, count: channelCount)
        var coverage: Float = 1
        for row in rows {
            for column in columns {
                let read = pixel(x + column, y + row, edge, isOffset: true)
                for channel in mean.indices { mean[channel] += read.codes[channel] }
                coverage = read.coverage
            }
        }
        return (mean.map { $0 / Float(columns.count * rows.count) }, coverage)
    }

    var channelCount: Int {
        switch input.format {
        case .rgba, .bgra, .half4, .float4: 4
        case .gray8, .half1, .float1: 1
        case .half2, .float2: 2
        default: 3
        }
    }

    // MARK: Computed positions

    func sample(_ u: Float, _ v: Float, _ filter: SampleFilter, _ edge: EdgeMode) -> (codes: [Float], coverage: Float) {
        func limited(_ value: Float) -> Float {
            let low = value > -1_000_000 ? value : -1_000_000
            return low < 1_000_000 ? low : 1_000_000
        }
        let (width, height) =
            planes == .all ? (orientedWidth, orientedHeight) : (image.pictureWidth, image.pictureHeight)
        let x = limited(u * Float(width)) - 0.5
        let y = limited(v * Float(height)) - 0.5
        func onPlane(_ at: Float, _ log2: Int, _ isCosited: Bool) -> Float {
            log2 == 0 ? at : isCosited ? at * 0.5 : at * 0.5 - 0.25
        }
        let siting = input.color.siting
        let planeX = onPlane(x, planes.log2Width, siting.isCositedHorizontally)
        let planeY = onPlane(y, planes.log2Height, siting.isCositedVertically)
        var coverage: Float = 1
        if edge == .transparent { coverage = covered(x, width, filter) * covered(y, height, filter) }
        if filter == .nearest {
            let read = pixel(
                Int((planeX + 0.5).rounded(.down)), Int((planeY + 0.5).rounded(.down)), edge, isOffset: false)
            return planes == .all ? read : (read.codes, coverage)
        }
        let (sx, sy) = stored(planeX, planeY)
        let codes = (0..<channelCount).map { isRead($0) ? interpolated($0, sx, sy, filter, edge) : 0 }
        return (codes, coverage)
    }

    private func stored(_ x: Float, _ y: Float) -> (Float, Float) {
        let (lastX, lastY) = (Float(image.width - 1), Float(image.height - 1))
        let column = input.orientation.mirrored ? Float(orientedWidth - 1) - x : x
        switch input.orientation.quarterTurns {
        case 0: return (column, y)
        case 1: return (y, lastY - column)
        case 2: return (lastX - column, lastY - y)
        default: return (lastX - y, column)
        }
    }

    private func weights(_ f: Float, _ filter: SampleFilter) -> [(Int, Float)] {
        if filter != .bicubic { return [(0, 1 - f), (1, f)] }
        return [
            (-1, 0.5 * (2 * f * f - f * f * f - f)), (0, 1.5 * f * f * f - 2.5 * f * f + 1),
            (1, -1.5 * f * f * f + 2 * f * f + 0.5 * f), (2, 0.5 * (f * f * f - f * f)),
        ]
    }

    private func covered(_ at: Float, _ extent: Int, _ filter: SampleFilter) -> Float {
        if filter == .nearest {
            let nearest = (at + 0.5).rounded(.down)
            return nearest >= 0 && nearest < Float(extent) ? 1 : 0
        }
        let whole = at.rounded(.down)
        var sum: Float = 0
        for (offset, weight) in weights(at - whole, filter) {
            let tap = Int(whole) + offset
            if tap >= 0 && tap < extent { sum += weight }
        }
        return min(max(sum, 0), 1)
    }

    private func interpolated(
        _ channel: Int, _ x: Float, _ y: Float, _ filter: SampleFilter, _ edge: EdgeMode
    ) -> Float {
        let (lx, ly) = log2(channel)
        func taps(_ at: Float, _ extent: Int, _ log2: Int, _ isCosited: Bool) -> [(Int, Float)] {
            let at = log2 == 0 ? at : isCosited ? at * 0.5 : at * 0.5 - 0.25
            let extent = (extent + (1 << log2) - 1) >> log2
            let whole = at.rounded(.down)
            return weights(at - whole, filter).map { (edge.mapped(Int(whole) + $0.0, extent), $0.1) }
        }
        var sum: Float = 0
        for (row, rowWeight) in taps(y, image.height, ly, input.color.siting.isCositedVertically) {
            var rowSum: Float = 0
            for (column, weight) in taps(x, image.width, lx, input.color.siting.isCositedHorizontally) {
                rowSum += weight * code(channel, column, row)
            }
            sum += rowWeight * rowSum
        }
        return sum
    }
}

func floatFromHalf(_ bits: UInt16) -> Float {
    let sign: Float = bits & 0x8000 == 0 ? 1 : -1
    let exponent = Int(bits >> 10) & 31
    let fraction = Float(bits & 1023)
    switch exponent {
    case 0: return sign * fraction * 0x1p-24
    case 31: return fraction == 0 ? sign * .infinity : .nan
    default: return sign * (1 + fraction / 1024) * exp2f(Float(exponent - 15))
    }
}

/// To nearest even; the value is finite and below 65520.
func halfFromFloat(_ value: Float) -> UInt16 {
    let sign: UInt16 = value.sign == .minus ? 0x8000 : 0
    let magnitude = Swift.abs(value)
    if magnitude == 0 { return sign }
    // In units of the last place of a half in this binade.
    let exponent = max(Int(magnitude.exponent), -14)
    let units = (magnitude / exp2f(Float(exponent - 10))).rounded(.toNearestOrEven)
    // 1024…2048 units are a normal half; 2048 carries into the next exponent by itself.
    return sign | UInt16(units + Float(exponent + 14) * 1024)
}
