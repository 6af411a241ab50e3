import Glibc
import PatchMedia
import Testing

/// `filter.gaussianBlur` on 8-bit pictures, whose pyramid is one of integers.
@Suite struct ByteBlurTests {
    /// SciPy's pictures, for packed pixels; half a code is lost on the way in and one on the way out.
    @Test(arguments: FilterCase.all.filter { $0.filter == "gaussianBlur" })
    func blursPackedPixelsAsSciPyDoes(test: FilterCase) throws {
        let picture = try #require(test.inputs.first?.pictures.first)
        func bytes(_ picture: FilterPicture) -> [UInt8] {
            picture.pixels.flatMap { pixel in
                (0..<4).map { c in
                    UInt8((255 * max(0, min(1, c < 3 ? pixel[c] * pixel[3] : pixel[3]))).rounded())
                }
            }
        }
        let sigma = try #require(test.parameters["sigma"]?.first)
        let made = try ByteEngine.run(
            "filter.gaussianBlur { sigma = \(sigma) }", bytes(picture), width: picture.width, height: picture.height)
        let worst = zip(made, bytes(test.output)).map { abs(Int($0) - Int($1)) }.max() ?? 255
        #expect(worst <= 3)
    }

    /// Weighted sums in double precision, edges repeated, on planes at their own sizes.
    @Test(arguments: [0.7, 1.9, 2.7, 4, 9, 33]) func blursPlanes(sigma: Double) throws {
        let (width, height) = (75, 43)
        let source = MixerCase.Source(name: "a", kind: "yuv420p", width: width, height: height, seed: 3)
        let frame = PatternSource(source).frame
        var pictures: [[[[UInt8]]]] = []
        for threads in [1, 3] {
            pictures.append(
                try MixerRunner.run(
                    [source], "a >> filter.gaussianBlur{ sigma = \(sigma) } >> out",
                    output: VideoFormat(.yuv420p, width: width, height: height), threads: threads
                ).pictures)
        }
        #expect(pictures[0] == pictures[1], "threads differ")
        let made = try #require(pictures[0].first)
        var first = 0
        for plane in 0..<3 {
            let layout = PixelFormat.yuv420p.layout(ofPlane: plane)
            let (columns, rows) = (layout.width(of: width), layout.height(of: height))
            let codes = (0..<rows).map { y in
                (0..<columns).map { x in
                    Double(frame.plane(plane).row(y).load(fromByteOffset: x, as: UInt8.self))
                }
            }
            let expected = Self.blurred(codes, sigma: sigma / Double(1 << layout.log2Width))
            var worst = 0.0
            for y in 0..<rows {
                for x in 0..<columns { worst = max(worst, abs(Double(made[first + y][x]) - expected[y][x])) }
            }
            // 1.2 codes in one dimension (docs/decisions/blur.md), and rounding.
            #expect(worst <= 2, "plane \(plane)")
            first += rows
        }
    }

    private static func blurred(_ codes: [[Double]], sigma: Double) -> [[Double]] {
        let radius = Int((6 * sigma).rounded(.up))
        var weights = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = weights.reduce(0, +)
        for index in weights.indices { weights[index] /= total }
        func across(_ rows: [[Double]]) -> [[Double]] {
            rows.map { row in
                row.indices.map { x in
                    var sum = 0.0
                    for away in -radius...radius {
                        sum += row[max(0, min(row.count - 1, x + away))] * weights[away + radius]
                    }
                    return sum
                }
            }
        }
        func turned(_ rows: [[Double]]) -> [[Double]] { rows[0].indices.map { x in rows.map { $0[x] } } }
        return turned(across(turned(across(codes))))
    }
}
