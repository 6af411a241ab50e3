import PatchMedia

#if canImport(Glibc)
import Glibc
#endif

/// What each workload means, in double precision and without any of the code under test.
enum Reference {
    /// The look of W1.
    enum Look {
        static let contrast = 1.1
        static let brightness = 0.05
        static let saturation = 0.8
        static let vignetteStart = 0.3
        static let vignetteEnd = 0.75
        static let gamma = 0.9
        static let luma = [0.2126, 0.7152, 0.0722]
    }

    /// W6's 3×3 kernel: a sharpening that is not separable; the sum is 1.
    static let sharpen: [Double] = [-1, -2, -1, -2, 28, -2, -1, -2, -1].map { $0 / 16 }

    /// The codes that a workload should give, as raw bytes (tight rows, planes one after the other).
    static func result(of workload: Workload, _ pictures: TestPictures, lut: CubeLUT) -> [UInt8] {
        switch workload.name {
        case "W1":
            let isRGB = workload.format == .rgba
            var picture = isRGB ? RealPicture(pictures.rgba) : decode(pictures.yuv420p, range: .limited)
            picture.map { color, x, y in look(color, x, y, pictures.width, pictures.height) }
            return isRGB ? interleaved(picture) : encode(picture).bytes
        case "W1y": return lookYCbCr(pictures.yuv420p)
        case "W2":
            return blurred(workload, pictures, sigma: 4)
        case "W2-20": return blurred(workload, pictures, sigma: 20)
        case "W3-luma", "W3-rgb", "W3-guided", "W4", "W7", "W8", "W9": return mixed(workload, pictures)
        case "W5":
            var picture = RealPicture(pictures.rgba)
            picture.map { color, _, _ in lut.tetrahedral(color) }
            return interleaved(picture)
        case "W6-sobel": return sobel(RealPicture(pictures.rgba))
        case "W6-3x3": return convolved3x3(RealPicture(pictures.rgba))
        case "W10-decode": return interleaved(decode(pictures.yuv420p, range: .limited))
        case "W10-encode": return encode(RealPicture(pictures.rgba)).bytes
        case "W10-both":
            // Through 8-bit RGBA, as everybody does it.
            var picture = decode(pictures.yuv420p, range: .limited)
            picture.map { color, _, _ in color.map { ($0 * 255).rounded() / 255 } }
            return encode(picture).bytes
        default: preconditionFailure("no reference for \(workload.name)")
        }
    }

    /// W9: how far the cross-fade has come.
    static let fade = 0.25

    static func clamp(_ x: Double) -> Double { min(1, max(0, x)) }

    /// How much the vignette leaves at a place in pixels; the first pixel's middle is (0.5, 0.5).
    static func vignette(_ x: Double, _ y: Double, _ width: Int, _ height: Int) -> Double {
        let distance = hypot(x / Double(width) - 0.5, y / Double(height) - 0.5)
        let t = clamp((distance - Look.vignetteStart) / (Look.vignetteEnd - Look.vignetteStart))
        return 1 - t * t * (3 - 2 * t)
    }

    static func look(_ color: [Double], _ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [Double] {
        let bright = color.map { ($0 - 0.5) * Look.contrast + 0.5 + Look.brightness }
        let luma = zip(bright, Look.luma).reduce(0) { $0 + $1.0 * $1.1 }
        let left = vignette(Double(x) + 0.5, Double(y) + 0.5, width, height)
        return bright.map { pow(clamp(luma + ($0 - luma) * Look.saturation) * left, Look.gamma) }
    }

    /// FFmpeg's eq, then a vignette towards black, on full-range components, each plane at its own size. Chroma sits left:
    /// on even columns, between rows.
    private static func lookYCbCr(_ frame: Frame) -> [UInt8] {
        (0..<3).flatMap { plane -> [UInt8] in
            var picture = RealPicture(plane: plane, of: frame, offset: plane == 0 ? 0 : 128, scale: 255)
            for y in 0..<picture.height {
                for x in 0..<picture.width {
                    let value = picture[0, x, y]
                    if plane == 0 {
                        let bright = clamp((value - 0.5) * Look.contrast + 0.5 + Look.brightness)
                        let left = vignette(Double(x) + 0.5, Double(y) + 0.5, frame.width, frame.height)
                        picture[0, x, y] = pow(bright, Look.gamma) * left
                    } else {
                        let left = vignette(Double(2 * x) + 0.5, Double(2 * y + 1), frame.width, frame.height)
                        picture[0, x, y] = value * Look.saturation * left
                    }
                }
            }
            return picture.codes(0, offset: plane == 0 ? 0 : 128)
        }
    }

    private static func blurred(_ workload: Workload, _ pictures: TestPictures, sigma: Double) -> [UInt8] {
        let rows = workload.checkedRows(height: pictures.height)
        if workload.format == .rgba {
            return interleaved(gaussian(RealPicture(pictures.rgba), sigma: sigma, rows: rows))
        }
        return (0..<3).flatMap { plane -> [UInt8] in
            let picture = RealPicture(plane: plane, of: pictures.yuv420p, offset: 0, scale: 255)
            let part = plane == 0 ? rows : rows.lowerBound / 2..<(rows.upperBound + 1) / 2
            return gaussian(picture, sigma: plane == 0 ? sigma : sigma / 2, rows: part).codes(0)
        }
    }

    /// - Parameter rows: only these are right; the others stay as they were.
    static func gaussian(_ picture: RealPicture, sigma: Double, rows: Range<Int>? = nil) -> RealPicture {
        let radius = Int((4 * sigma).rounded(.up))
        var weights = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        weights = weights.map { $0 / sum }
        let rows = rows ?? 0..<picture.height
        let around = max(0, rows.lowerBound - radius)..<min(picture.height, rows.upperBound + radius)
        return picture.convolved(weights, horizontally: true, rows: around)
            .convolved(weights, horizontally: false, rows: rows)
    }

    /// |gx| + |gy| of BT.601 luma, as a grey RGBA picture.
    private static func sobel(_ picture: RealPicture) -> [UInt8] {
        var luma = RealPicture(width: picture.width, height: picture.height, channels: 1)
        for i in luma.channels[0].indices {
            luma.channels[0][i] =
                0.299 * picture.channels[0][i] + 0.587 * picture.channels[1][i] + 0.114 * picture.channels[2][i]
        }
        let sums = luma.convolved([1, 2, 1], horizontally: false).convolved([-1, 0, 1], horizontally: true)
        let others = luma.convolved([1, 2, 1], horizontally: true).convolved([-1, 0, 1], horizontally: false)
        var result = RealPicture(width: picture.width, height: picture.height, channels: 4)
        for i in luma.channels[0].indices {
            let edge = abs(sums.channels[0][i]) + abs(others.channels[0][i])
            for c in 0..<3 { result.channels[c][i] = edge }
            result.channels[3][i] = 1
        }
        return interleaved(result)
    }

    private static func convolved3x3(_ picture: RealPicture) -> [UInt8] {
        var result = picture
        for c in 0..<3 {
            for y in 0..<picture.height {
                for x in 0..<picture.width {
                    var sum = 0.0
                    for i in 0..<9 { sum += sharpen[i] * picture[c, x + i % 3 - 1, y + i / 3 - 1] }
                    result[c, x, y] = sum
                }
            }
        }
        return interleaved(result)
    }

    static func interleaved(_ picture: RealPicture) -> [UInt8] {
        let codes = (0..<4).map { picture.codes($0) }
        var result = [UInt8](repeating: 0, count: picture.width * picture.height * 4)
        for i in codes[0].indices {
            for c in 0..<4 { result[4 * i + c] = codes[c][i] }
        }
        return result
    }
}
