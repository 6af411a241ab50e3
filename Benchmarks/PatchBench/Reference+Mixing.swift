import PatchMedia

#if canImport(Glibc)
import Glibc
#endif

/// W3, W4, W7, W8, W9: several pictures, or filters that look at differences. Y'CbCr goes through R'G'B' and back, unrounded.
extension Reference {
    static func mixed(_ workload: Workload, _ pictures: TestPictures) -> [UInt8] {
        func picture(_ name: String) -> RealPicture {
            guard let frame = pictures.byName[name + workload.formatName] else { return RealPicture(pictures.rgba) }
            if workload.format == .gray8 { return RealPicture(plane: 0, of: frame, offset: 0, scale: 255) }
            return workload.format == .rgba ? RealPicture(frame) : decode(frame, range: .limited)
        }
        func finished(_ picture: RealPicture) -> [UInt8] {
            if workload.format == .gray8 { return picture.codes(0) }
            return workload.format == .rgba ? interleaved(picture) : encode(picture).bytes
        }
        switch workload.name {
        case "W3-luma", "W3-rgb":
            return finished(bilateral(picture(""), rows: workload.checkedRows(height: pictures.height)))
        case "W3-guided": return finished(guided(picture(""), rows: workload.checkedRows(height: pictures.height)))
        case "W4":
            guard let frame = pictures.byName["overlay"] else { return [] }
            if workload.format == .yuv420p { return over(pictures.yuv420p, RealPicture(frame)) }
            return finished(over(picture(""), RealPicture(frame)))
        case "W7": return quarters(workload, pictures)
        case "W8": return finished(keyed(picture("key-"), picture("b-")))
        default:
            if workload.format == .rgba { return finished(faded(picture(""), picture("b-"))) }
            return (0..<3).flatMap { plane -> [UInt8] in
                guard let b = pictures.byName["b-yuv420p"] else { return [] }
                return faded(
                    RealPicture(plane: plane, of: pictures.yuv420p, offset: 0, scale: 255),
                    RealPicture(plane: plane, of: b, offset: 0, scale: 255)
                ).codes(0)
            }
        }
    }

    /// GPUImage's nine taps, four pixels apart, down and then across, for 4.0 as distance normalisation.
    private static func bilateral(_ picture: RealPicture, rows: Range<Int>) -> RealPicture {
        var picture = picture
        let weights = [0.05, 0.09, 0.12, 0.15, 0.18, 0.15, 0.12, 0.09, 0.05]
        let channels = min(3, picture.channels.count)
        // One grey channel stands for three equal ones.
        let scale = channels == 1 ? 3.0.squareRoot() : 1
        for isHorizontal in [false, true] {
            var result = picture
            for y in rows {
                for x in 0..<picture.width {
                    var total = weights[4]
                    var sums = (0..<channels).map { picture[$0, x, y] * weights[4] }
                    for i in -4...4 where i != 0 {
                        let (px, py) = isHorizontal ? (x + 4 * i, y) : (x, y + 4 * i)
                        var square = 0.0
                        for c in 0..<channels {
                            let d = picture[c, px, py] - picture[c, x, y]
                            square += d * d
                        }
                        let weight = weights[i + 4] * (1 - min(square.squareRoot() * scale * 4, 1))
                        total += weight
                        for c in 0..<channels { sums[c] += weight * picture[c, px, py] }
                    }
                    for c in 0..<channels { result[c, x, y] = sums[c] / total }
                }
            }
            picture = result
        }
        return picture
    }

    /// He, Sun, Tang 2010, each channel guided by itself, with Gaussian windows.
    private static func guided(_ picture: RealPicture, sigma: Double = 4, epsilon: Double = 0.01, rows: Range<Int>)
        -> RealPicture
    {
        let around = max(0, rows.lowerBound - 20)..<min(picture.height, rows.upperBound + 20)
        var squares = picture
        for c in 0..<3 { squares.channels[c] = picture.channels[c].map { $0 * $0 } }
        let mean = gaussian(picture, sigma: sigma, rows: around)
        let power = gaussian(squares, sigma: sigma, rows: around)
        var (slope, rise) = (mean, mean)
        for c in 0..<3 {
            for i in around.lowerBound * picture.width..<around.upperBound * picture.width {
                let m = mean.channels[c][i]
                let variance = max(power.channels[c][i] - m * m, 0)
                slope.channels[c][i] = variance / (variance + epsilon)
                rise.channels[c][i] = m * epsilon / (variance + epsilon)
            }
        }
        slope = gaussian(slope, sigma: sigma, rows: rows)
        rise = gaussian(rise, sigma: sigma, rows: rows)
        var result = picture
        for c in 0..<3 {
            for i in rows.lowerBound * picture.width..<rows.upperBound * picture.width {
                result.channels[c][i] = slope.channels[c][i] * picture.channels[c][i] + rise.channels[c][i]
            }
        }
        return result
    }

    /// Porter and Duff's over with premultiplied colour.
    private static func over(_ base: RealPicture, _ overlay: RealPicture) -> RealPicture {
        var result = base
        let (left, top) = (Overlay.x(base.width), Overlay.y(base.height))
        for y in 0..<overlay.height {
            for x in 0..<overlay.width {
                let rest = 1 - overlay[3, x, y]
                for c in 0..<3 {
                    result[c, left + x, top + y] = overlay[c, x, y] + base[c, left + x, top + y] * rest
                }
            }
        }
        return result
    }

    /// The same on the planes of a limited-range picture: the upper one is brought to components and to chroma's size, and its alpha
    /// with it, so that what lies below keeps its codes.
    private static func over(_ base: Frame, _ overlay: RealPicture) -> [UInt8] {
        let components = components(of: overlay)
        var upper = RealPicture(width: base.width, height: base.height, channels: 4)
        let (left, top) = (Overlay.x(base.width), Overlay.y(base.height))
        for y in 0..<overlay.height {
            for x in 0..<overlay.width {
                for c in 0..<3 { upper[c, left + x, top + y] = components[c, x, y] }
                upper[3, left + x, top + y] = overlay[3, x, y]
            }
        }
        var alpha = upper
        alpha.channels = [upper.channels[3]]
        let small = subsampled(upper, channel: 3)
        return (0..<3).flatMap { plane -> [UInt8] in
            let (offset, scale) = plane == 0 ? (16.0, 219.0) : (128.0, 224.0)
            var result = RealPicture(plane: plane, of: base, offset: offset, scale: scale)
            let (color, cover) = plane == 0 ? (upper, alpha) : (subsampled(upper, channel: plane), small)
            for i in result.channels[0].indices {
                result.channels[0][i] = color.channels[0][i] + result.channels[0][i] * (1 - cover.channels[0][i])
            }
            return result.codes(0, offset: offset, scale: scale)
        }
    }

    private static func faded(_ from: RealPicture, _ to: RealPicture) -> RealPicture {
        var result = from
        for c in result.channels.indices {
            for i in result.channels[c].indices {
                result.channels[c][i] = (1 - fade) * from.channels[c][i] + fade * to.channels[c][i]
            }
        }
        return result
    }

    /// The distance of Cb and Cr from green's, times 1.41, through a smoothstep.
    private static func keyed(_ front: RealPicture, _ back: RealPicture) -> RealPicture {
        func chroma(_ r: Double, _ g: Double, _ b: Double) -> (Double, Double) {
            let y = 0.299 * r + 0.587 * g + 0.114 * b
            return ((b - y) / 1.772, (r - y) / 1.402)
        }
        let wall = chroma(0, 1, 0)
        var result = front
        for i in front.channels[0].indices {
            let (cb, cr) = chroma(front.channels[0][i], front.channels[1][i], front.channels[2][i])
            let distance = hypot(cb - wall.0, cr - wall.1) * 1.41
            let t = clamp((distance - ChromaKey.threshold) / ChromaKey.smoothing)
            let keep = t * t * (3 - 2 * t)
            for c in 0..<3 {
                result.channels[c][i] = front.channels[c][i] * keep + back.channels[c][i] * (1 - keep)
            }
        }
        return result
    }

    /// Half the size by the means of two by two.
    private static func quarters(_ workload: Workload, _ pictures: TestPictures) -> [UInt8] {
        let names = ["", "b-", "", "b-"].map { $0 + workload.formatName }
        func compose(_ plane: Int?) -> RealPicture {
            let sources = names.compactMap { name -> RealPicture? in
                guard let frame = pictures.byName[name] else { return nil }
                return plane.map { RealPicture(plane: $0, of: frame, offset: 0, scale: 255) } ?? RealPicture(frame)
            }
            var result = sources[0]
            let (width, height) = (result.width / 2, result.height / 2)
            for (index, source) in sources.enumerated() {
                let (left, top) = (index % 2 * width, index / 2 * height)
                for c in result.channels.indices {
                    for y in 0..<height {
                        for x in 0..<width {
                            let sum =
                                source[c, 2 * x, 2 * y] + source[c, 2 * x + 1, 2 * y] + source[c, 2 * x, 2 * y + 1]
                                + source[c, 2 * x + 1, 2 * y + 1]
                            result[c, left + x, top + y] = sum / 4
                        }
                    }
                }
            }
            return result
        }
        if workload.format == .rgba { return interleaved(compose(nil)) }
        return (0..<3).flatMap { compose($0).codes(0) }
    }
}
