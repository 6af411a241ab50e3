import PatchMedia

/// A picture in double precision, one array a channel, values in 0…1 (Cb and Cr −0.5…0.5): what the references compute
/// on. Written for plainness, not speed.
struct RealPicture {
    var width: Int
    var height: Int
    var channels: [[Double]]

    init(width: Int, height: Int, channels: Int) {
        self.width = width
        self.height = height
        self.channels = Array(repeating: Array(repeating: 0, count: width * height), count: channels)
    }

    /// R, G, B, A of an rgba frame.
    init(_ frame: Frame) {
        self.init(width: frame.width, height: frame.height, channels: 4)
        for y in 0..<height {
            let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                for c in 0..<4 { channels[c][y * width + x] = Double(row[4 * x + c]) / 255 }
            }
        }
    }

    /// One plane of 8-bit codes as a picture of one channel: (code − offset) / scale.
    init(plane index: Int, of frame: Frame, offset: Double, scale: Double) {
        self.init(width: frame.rowBytes(ofPlane: index), height: frame.rows(ofPlane: index), channels: 1)
        for y in 0..<height {
            let row = frame.plane(index).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width { channels[0][y * width + x] = (Double(row[x]) - offset) / scale }
        }
    }

    /// A pixel by channel; beyond the edges, the nearest.
    subscript(_ c: Int, _ x: Int, _ y: Int) -> Double {
        get { channels[c][min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)] }
        set { channels[c][y * width + x] = newValue }
    }

    /// Replaces the first channels (at most three of them) of each pixel by what `body` makes of them.
    mutating func map(_ body: (_ color: [Double], _ x: Int, _ y: Int) -> [Double]) {
        var color = Array(repeating: 0.0, count: min(3, channels.count))
        for y in 0..<height {
            for x in 0..<width {
                for c in color.indices { color[c] = channels[c][y * width + x] }
                let result = body(color, x, y)
                for c in color.indices { channels[c][y * width + x] = result[c] }
            }
        }
    }

    /// The sum of pixels along one axis, weighted; rows outside `rows` stay as they are.
    func convolved(_ weights: [Double], horizontally: Bool, rows: Range<Int>? = nil) -> RealPicture {
        var result = self
        let radius = weights.count / 2
        for c in channels.indices {
            for y in rows ?? 0..<height {
                for x in 0..<width {
                    var sum = 0.0
                    for (i, weight) in weights.enumerated() {
                        sum += weight * (horizontally ? self[c, x + i - radius, y] : self[c, x, y + i - radius])
                    }
                    result.channels[c][y * width + x] = sum
                }
            }
        }
        return result
    }

    /// 8-bit codes of a channel, rounded and clamped: value · scale + offset.
    func codes(_ c: Int, offset: Double = 0, scale: Double = 255) -> [UInt8] {
        channels[c].map { UInt8(min(255, max(0, ($0 * scale + offset + 0.5).rounded(.down)))) }
    }
}
