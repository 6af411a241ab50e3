import PatchMedia
import Testing

/// A small picture of straight R'G'B'A floats, as fixtures and tests write them.
struct FilterPicture: Sendable {
    var width: Int
    var height: Int
    /// Row by row.
    var pixels: [[Float]]

    init(width: Int, height: Int, pixels: [[Float]]) {
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    init(_ pixels: [[Float]], width: Int) {
        self.init(width: width, height: pixels.count / width, pixels: pixels)
    }

    init(filled color: [Float], width: Int, height: Int) {
        self.init(width: width, height: height, pixels: Array(repeating: color, count: width * height))
    }

    /// Pixels that differ from each other in every channel, the same on every run: a multiple of 1/256 each, which half
    /// floats hold exactly.
    static func noise(_ width: Int, _ height: Int, seed: UInt32, isOpaque: Bool = true) -> FilterPicture {
        var state = seed &* 747_796_405 &+ 2_891_336_453
        func next() -> Float {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Float(state >> 24) / 256
        }
        let pixels = (0..<width * height).map { _ in
            [next(), next(), next(), isOpaque ? 1 : (next() * 4).rounded() / 4]
        }
        return FilterPicture(width: width, height: height, pixels: pixels)
    }

    var format: VideoFormat { VideoFormat(.half4, width: width, height: height, color: .srgb) }

    /// Writes it as pictures between nodes are: planar half floats, premultiplied.
    func store(in frame: Frame) {
        for (index, pixel) in pixels.enumerated() {
            for channel in 0..<4 {
                let row = frame.plane(channel).row(index / width).assumingMemoryBound(to: Float16.self)
                row[index % width] = Float16(channel < 3 ? pixel[channel] * pixel[3] : pixel[3])
            }
        }
    }

    func frame() throws -> Frame {
        let frame = try #require(FramePool(format: format).take())
        store(in: frame)
        return frame
    }

    /// Reads planar half floats, premultiplied.
    init(premultiplied frame: Frame) {
        let (width, height) = (frame.width, frame.height)
        self.init(
            width: width, height: height,
            pixels: (0..<width * height).map { index in
                (0..<4).map { channel in
                    Float(frame.plane(channel).row(index / width).assumingMemoryBound(to: Float16.self)[index % width])
                }
            })
    }

    var premultiplied: FilterPicture {
        FilterPicture(
            width: width, height: height,
            pixels: pixels.map { [$0[0] * $0[3], $0[1] * $0[3], $0[2] * $0[3], $0[3]] })
    }

    var straight: FilterPicture {
        FilterPicture(
            width: width, height: height,
            pixels: pixels.map { $0[3] == 0 ? $0 : [$0[0] / $0[3], $0[1] / $0[3], $0[2] / $0[3], $0[3]] })
    }

    var isFinite: Bool { pixels.joined().allSatisfy(\.isFinite) }

    /// The largest difference of two values; infinite when the sizes differ.
    func difference(from other: FilterPicture) -> Float {
        guard width == other.width, height == other.height else { return .infinity }
        return zip(pixels.joined(), other.pixels.joined()).map { $0 == $1 ? 0 : abs($0 - $1) }
            .reduce(0) { $0 >= $1 ? $0 : $1.isNaN ? .infinity : $1 }
    }

    /// Where two pictures differ most, in words.
    func worst(against other: FilterPicture) -> String {
        guard width == other.width, height == other.height else {
            return "\(width)x\(height) is not \(other.width)x\(other.height)"
        }
        func distance(_ index: Int) -> Float { zip(pixels[index], other.pixels[index]).map { abs($0 - $1) }.max() ?? 0 }
        guard let index = pixels.indices.max(by: { distance($0) < distance($1) }) else { return "" }
        return "pixel (\(index % width), \(index / width)) is \(pixels[index]), not \(other.pixels[index])"
    }
}
