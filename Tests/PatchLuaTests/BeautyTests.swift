import Glibc
import PatchMedia
import PatchTesting
import Testing

/// Beautify against its reference on a real portrait, and what skinSmooth promises.
@Suite struct BeautyTests {
    @Test func theReferenceIsNumPys() throws {
        var count = 0
        for test in FilterCase.all where test.filter == "beautify" {
            let input = try #require(test.inputs.first?.pictures.first)
            let reference = BeautifyReference(
                width: input.width, height: input.height,
                image: input.pixels.map { SIMD3(Double($0[0]), Double($0[1]), Double($0[2])) })
            func value(_ name: String, _ fallback: Double) -> Double {
                test.parameters[name]?.first.map { Double($0) } ?? fallback
            }
            let result = reference.result(
                smooth: value("smooth", 0.5), brightness: value("brightness", 1.1), saturation: value("saturation", 1.1)
            )
            for (ours, theirs) in zip(result, test.output.pixels) {
                for channel in 0..<3 { #expect(abs(ours[channel] - Double(theirs[channel])) < 0.0002) }
            }
            count += 1
        }
        #expect(count >= 2)
    }

    /// At most 2/255, everywhere.
    @Test func aPortraitIsBeautifiedAsDescribed() throws {
        let portrait = try DecodedVideo(try Fixtures.path(.astronaut))
        let (width, height) = (portrait.width, portrait.height)
        let rgb = try #require(portrait.frames.first)
        var rgba = [UInt8](repeating: 255, count: 4 * width * height)
        for pixel in 0..<width * height { for c in 0..<3 { rgba[4 * pixel + c] = rgb[3 * pixel + c] } }
        let reference = BeautifyReference(
            width: width, height: height,
            image: (0..<width * height).map { pixel in
                let (r, g, b) = (Double(rgb[3 * pixel]), Double(rgb[3 * pixel + 1]), Double(rgb[3 * pixel + 2]))
                return SIMD3<Double>(r / 255, g / 255, b / 255)
            })
        // The portrait has edges, and the decision about each of them counts.
        let edges = reference.canny().count { $0 }
        #expect(edges > 5000)
        let expected = reference.result()
        let result = try ByteEngine.run("filter.beautify {}", rgba, width: width, height: height)
        var worst = 0.0
        for pixel in expected.indices {
            for channel in 0..<3 {
                let wanted = max(0, min(1, expected[pixel][channel])) * 255
                worst = max(worst, abs(Double(result[4 * pixel + channel]) - wanted))
            }
        }
        #expect(worst <= 2, "off by \(worst)/255")
    }

    /// A face before a blue wall, drawn at any size: soft light, blemishes, an eye, a white collar.
    private func portrait(width: Int, height: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 255, count: 4 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                // In heights, from the middle.
                let u = (Double(x) + 0.5 - Double(width) / 2) / Double(height)
                let v = (Double(y) + 0.5) / Double(height) - 0.5
                /// Coverage of what lies inside a distance, smoothed over one pixel.
                func inside(_ distance: Double) -> Double { max(0, min(1, 0.5 - distance * Double(height))) }
                var color = SIMD3<Double>(0.2, 0.35, 0.7)
                let slow: Double = sin(180 * u) * sin(160 * v)
                let fast: Double = sin(311 * u + 97 * v)
                let light: Double = 0.95 + 0.1 * u
                let spots: Double = 0.02 * (slow + 0.6 * fast)
                let skin = SIMD3<Double>(0.84, 0.62, 0.5) * light + SIMD3<Double>(repeating: spots)
                let fromFace: Double = hypot(1.22 * u, v)
                color += (skin - color) * inside(fromFace - 0.38)
                let fromEye: Double = hypot(u - 0.12, v + 0.08)
                color += (SIMD3<Double>(0.1, 0.1, 0.12) - color) * inside(fromEye - 0.04)
                for channel in 0..<3 { bytes[4 * (y * width + x) + channel] = UInt8((color[channel] * 255).rounded()) }
            }
        }
        return bytes
    }

    /// Limits in 255ths: what skin_smooth of beauty.py gives for the same drawings is 1.7, 2.0 and 2.0 apart at the usual radius, and
    /// 5.3, 5.5 and 5.3 at the widest, most of it where the drawings differ themselves, at the eye.
    @Test(arguments: [(0.01, 3.0), (0.05, 6.0)])
    func skinSmoothLooksTheSameAtEveryResolution(radius: Double, limit: Double) throws {
        let sizes = [(640, 360), (1280, 720), (1920, 1080), (3840, 2160)]
        var pictures: [[Double]] = []
        for (width, height) in sizes {
            let before = portrait(width: width, height: height)
            let after = try ByteEngine.run(
                "filter.skinSmooth { smooth = 1, detail = 0, radius = \(radius) }", before, width: width, height: height
            )
            // What became of green, scaled to 320×180 by means. (The drawings themselves differ by up to 5/255 at the eye.)
            let factor = height / 180
            var small = [Double](repeating: 0, count: 320 * 180)
            var change = 0
            for y in 0..<height {
                for x in 0..<width {
                    let at = 4 * (y * width + x)
                    let difference = Int(after[at + 1]) - Int(before[at + 1])
                    small[y / factor * 320 + x / factor] += Double(difference) / Double(factor * factor)
                    change = max(change, abs(difference))
                }
            }
            #expect(change >= 3, "nothing was smoothed at \(height)p")
            pictures.append(small)
        }
        for other in pictures.dropFirst() {
            let worst = zip(pictures[0], other).map { abs($0 - $1) }.max() ?? 255
            #expect(worst <= limit, "\(worst)/255 apart")
        }
    }

    @Test func skinSmoothEvensSkinAndSparesTheRest() throws {
        let (width, height) = (640, 360)
        let before = portrait(width: width, height: height)
        let after = try ByteEngine.run(
            "filter.skinSmooth { smooth = 1, detail = 0 }", before, width: width, height: height)
        func pixel(_ bytes: [UInt8], _ x: Int, _ y: Int) -> SIMD3<Int> {
            let at = 4 * (y * width + x)
            return SIMD3(Int(bytes[at]), Int(bytes[at + 1]), Int(bytes[at + 2]))
        }
        /// Standard deviation of green in a square.
        func roughness(_ bytes: [UInt8], _ x: Int, _ y: Int, _ side: Int) -> Double {
            let values = (0..<side * side).map { Double(pixel(bytes, x + $0 % side, y + $0 / side)[1]) }
            let mean = values.reduce(0, +) / Double(values.count)
            return (values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count)).squareRoot()
        }
        // A cheek: blemishes vanish.
        #expect(roughness(after, 260, 200, 24) < 0.55 * roughness(before, 260, 200, 24))
        // The wall: not a code changes.
        for y in 0..<height { for x in 0..<60 { #expect(pixel(after, x, y) == pixel(before, x, y)) } }
        // The eye's contour keeps its contrast: across it, 363 is inside and 383 outside (0.12 + 0.04 of 360 pixels).
        let y = Int(0.42 * 360)
        func contrast(_ bytes: [UInt8]) -> Int { pixel(bytes, 383, y)[1] - pixel(bytes, 372, y)[1] }
        #expect(contrast(after) >= contrast(before) * 9 / 10, "\(contrast(before)) became \(contrast(after))")
        #expect(contrast(before) > 80)
    }
}
