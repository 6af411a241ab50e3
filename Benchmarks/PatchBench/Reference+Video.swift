import PatchMedia

/// BT.601 Y'CbCr 4:2:0, chroma sited left: written from Rec. ITU-R BT.601-7 and H.273.
extension Reference {
    /// A Y'CbCr picture as codes.
    struct Codes {
        var bytes: [UInt8]
    }

    private static func scales(_ range: ColorSpec.Range) -> (offset: Double, luma: Double, chroma: Double) {
        range == .full ? (0, 255, 255) : (16, 219, 224)
    }

    /// Y', Cb, Cr at luma's size. Left-sited chroma: on even columns, between rows.
    static func components(_ frame: Frame, range: ColorSpec.Range) -> RealPicture {
        let scale = scales(range)
        var result = RealPicture(width: frame.width, height: frame.height, channels: 3)
        result.channels[0] =
            RealPicture(plane: 0, of: frame, offset: scale.offset, scale: scale.luma).channels[0]
        for c in 1...2 {
            let small = RealPicture(plane: c, of: frame, offset: 128, scale: scale.chroma)
            for y in 0..<frame.height {
                // The nearer chroma row counts three times.
                let near = y / 2
                let far = y % 2 == 0 ? near - 1 : near + 1
                for x in 0..<frame.width {
                    func row(_ y: Int) -> Double {
                        x % 2 == 0 ? small[0, x / 2, y] : (small[0, x / 2, y] + small[0, x / 2 + 1, y]) / 2
                    }
                    result[c, x, y] = (3 * row(near) + row(far)) / 4
                }
            }
        }
        return result
    }

    /// R', G', B' (not clamped but by the codes' reach) and alpha 1.
    static func decode(_ frame: Frame, range: ColorSpec.Range) -> RealPicture {
        let components = components(frame, range: range)
        var result = RealPicture(width: frame.width, height: frame.height, channels: 4)
        let (red, blue) = (0.299, 0.114)
        let green = 1 - red - blue
        for i in 0..<frame.width * frame.height {
            let (y, cb, cr) = (components.channels[0][i], components.channels[1][i], components.channels[2][i])
            let r = y + 2 * (1 - red) * cr
            let b = y + 2 * (1 - blue) * cb
            result.channels[0][i] = clamp(r)
            result.channels[1][i] = clamp((y - red * r - blue * b) / green)
            result.channels[2][i] = clamp(b)
            result.channels[3][i] = 1
        }
        return result
    }

    /// R'G'B' to limited-range codes.
    static func encode(_ picture: RealPicture) -> Codes {
        Codes(bytes: subsampled(components(of: picture), range: .limited))
    }

    /// R'G'B' to Y', Cb, Cr.
    static func components(of picture: RealPicture) -> RealPicture {
        var components = RealPicture(width: picture.width, height: picture.height, channels: 3)
        let (red, blue) = (0.299, 0.114)
        for i in 0..<picture.width * picture.height {
            let (r, g, b) = (picture.channels[0][i], picture.channels[1][i], picture.channels[2][i])
            let y = red * r + (1 - red - blue) * g + blue * b
            components.channels[0][i] = y
            components.channels[1][i] = (b - y) / (2 * (1 - blue))
            components.channels[2][i] = (r - y) / (2 * (1 - red))
        }
        return components
    }

    /// A channel at chroma's size, filtered by [1 2 1] across and [1 1] down.
    static func subsampled(_ picture: RealPicture, channel c: Int) -> RealPicture {
        let (width, height) = ((picture.width + 1) / 2, (picture.height + 1) / 2)
        var small = RealPicture(width: width, height: height, channels: 1)
        for y in 0..<height {
            for x in 0..<width {
                func row(_ y: Int) -> Double {
                    (picture[c, 2 * x - 1, y] + 2 * picture[c, 2 * x, y] + picture[c, 2 * x + 1, y]) / 4
                }
                small[0, x, y] = (row(2 * y) + row(2 * y + 1)) / 2
            }
        }
        return small
    }

    /// Y' codes, then Cb and Cr at their size.
    static func subsampled(_ components: RealPicture, range: ColorSpec.Range) -> [UInt8] {
        let scale = scales(range)
        var result = components.codes(0, offset: scale.offset, scale: scale.luma)
        for c in 1...2 {
            result += subsampled(components, channel: c).codes(0, offset: 128, scale: scale.chroma)
        }
        return result
    }
}
