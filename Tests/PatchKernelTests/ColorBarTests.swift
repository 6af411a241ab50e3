import Glibc
import PatchKernel
import PatchMedia
import Testing

/// Colours against Fixtures/bars.txt and roundtrip.txt, which a script computes independently (bars.py beside them).
@Suite struct ColorBarTests {
    struct Bar: Sendable {
        var color: ColorSpec
        var bits: Int
        /// 8-bit R'G'B'.
        var rgb: [Int]
        /// The codes of that colour.
        var ycc: [Int]
        /// 8-bit R'G'B' of those codes.
        var back: [Int]
    }

    /// The largest errors that rounding alone makes.
    struct Limit {
        var isRGB: Bool
        var color: ColorSpec
        var bits: Int
        var errors: [Int]
    }

    let compiler = KernelCompiler()

    private static func lines(_ name: String) throws -> [[Substring]] {
        let path = String(#filePath.dropLast("ColorBarTests.swift".count)) + "Fixtures/" + name
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var lines: [[Substring]] = []
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            lines.append(text.split { $0 == " " || $0 == "\n" })
        }
        return lines
    }

    private static func color(_ matrix: Substring, _ range: Substring) throws -> ColorSpec {
        ColorSpec(
            matrix: try #require(ColorSpec.Matrix(rawValue: String(matrix))),
            range: try #require(ColorSpec.Range(rawValue: String(range))), transfer: .bt709, siting: .left)
    }

    static func bars() throws -> [Bar] {
        try lines("bars.txt").map { words in
            let numbers = words.dropFirst(2).compactMap { Int($0) }
            return Bar(
                color: try color(words[0], words[1]), bits: numbers[0], rgb: Array(numbers[1...3]),
                ycc: Array(numbers[4...6]), back: Array(numbers[7...9]))
        }
    }

    static func limits() throws -> [Limit] {
        try lines("roundtrip.txt").map { words in
            let numbers = words.dropFirst(3).compactMap { Int($0) }
            return Limit(
                isRGB: words[0] == "rgb", color: try color(words[1], words[2]), bits: numbers[0],
                errors: Array(numbers.dropFirst()))
        }
    }

    private func convert(
        _ source: TestPicture, _ sourceColor: ColorSpec?, to format: PixelFormat, _ color: ColorSpec?,
        dither: Bool = false
    ) throws -> TestPicture {
        let target = TestPicture(format, source.width, source.height)
        run(
            try compiler.compile(
                PassDescription(
                    kernel: StandardKernels.copy, inputs: [PassInput(format: source.format, color: sourceColor)],
                    output: PassOutput(format: format, color: color, dither: dither))), [source], target)
        return target
    }

    private func channel(_ format: PixelFormat, plane: Int, x: Int) -> Int {
        plane == 0 ? 0 : format.planeCount == 2 ? 1 + x % 2 : plane
    }

    /// Codes within one of the exact ones, exact to half a code but for ties; and back within one code of the colour,
    /// which for these colours is what rounding alone gives.
    @Test func barsToEveryFormatAndBack() throws {
        let bars = try Self.bars()
        #expect(bars.count == 168)
        var (off, table) = (0, "")
        for format in PixelFormat.allCases where format.isYCbCr {
            var (worstCode, worstTrip) = (0, 0)
            for bar in bars where bar.bits == format.bitDepth {
                let source = TestPicture(.rgba, 20, 4)
                source.fill { _, x, _ in (bar.rgb + [255])[x % 4] }
                let video = try convert(source, nil, to: format, bar.color)
                for plane in 0..<format.planeCount {
                    for x in 0..<video.samples(inPlane: plane) {
                        let error = abs(video[plane, x, 1] - bar.ycc[channel(format, plane: plane, x: x)])
                        worstCode = max(worstCode, error)
                        if error > 0 { off += 1 }
                        #expect(error <= 1, "\(format) \(bar)")
                    }
                }
                let back = try convert(video, bar.color, to: .rgba, nil)
                for x in 0..<80 where x % 4 < 3 {
                    let error = abs(back[0, x, 2] - bar.rgb[x % 4])
                    worstTrip = max(worstTrip, error)
                    #expect(error <= 1, "\(format) \(bar): channel \(x % 4) came back as \(back[0, x, 2])")
                }
                #expect(back[0, 3, 0] == 255)
            }
            table += "\(format): codes within \(worstCode), there and back within \(worstTrip)\n"
        }
        print("colour bars\n\(table)codes that differ from the exact ones by one: \(off)")
    }

    /// Exact codes (from the script) to R'G'B': within one of the exact colour.
    @Test func exactCodesDecode() throws {
        for format in [PixelFormat.yuv444p, .yuv420p, .nv12, .yuv422p, .yuv444p10, .yuv420p10, .yuv422p10, .p010] {
            for bar in try Self.bars() where bar.bits == format.bitDepth {
                let video = TestPicture(format, 18, 4)
                video.fill { plane, x, _ in bar.ycc[channel(format, plane: plane, x: x)] }
                for target in [PixelFormat.rgba, .bgra, .half3, .half4] {
                    let picture = try convert(video, bar.color, to: target, nil)
                    for c in 0..<3 {
                        let code: Double
                        if target.isFloat {
                            // Half floats keep what lies beyond black and white.
                            code = 255 * min(1, max(0, Double(half(picture[c, 9, 2]))))
                        } else {
                            code = Double(picture[0, 36 + (target == .bgra ? 2 - c : c), 2])
                        }
                        #expect(abs(code - Double(bar.back[c])) <= 1, "\(format) to \(target) \(bar)")
                    }
                }
            }
        }
    }

    /// Every colour of a dense grid, there and back: within what rounding alone makes, as roundtrip.txt has it over all
    /// colours. 8 bits of limited range: 2 for blue, because a code of Cb stands for 2.0 to 2.1 codes of blue.
    @Test func everyColourThereAndBack() throws {
        let side = 52
        let source = TestPicture(.rgba, side, side * side)
        source.fill { _, x, y in
            let values = [x / 4, y % side, y / side].map { $0 * 5 }
            return x % 4 == 3 ? 255 : values[x % 4]
        }
        for limit in try Self.limits() where limit.isRGB {
            for format in [limit.bits == 8 ? PixelFormat.yuv444p : .yuv444p10] {
                let back = try convert(
                    try convert(source, nil, to: format, limit.color), limit.color, to: .rgba, nil)
                var errors = [0, 0, 0, 0]
                for y in 0..<source.height {
                    for x in 0..<4 * side { errors[x % 4] = max(errors[x % 4], abs(back[0, x, y] - source[0, x, y])) }
                }
                for c in 0..<3 {
                    // Fixed-point conversion may round a code the other way, which is a code of Y'CbCr more.
                    #expect(
                        errors[c] <= max(1, limit.errors[c]),
                        "\(limit.color.matrix) \(limit.color.range) \(format): channel \(c) off by \(errors[c])")
                }
            }
        }
    }

    /// The video's own codes through 8-bit R'G'B' and back: within one code, where no channel clips.
    @Test func everyCodeThereAndBack() throws {
        let side = 64
        let source = TestPicture(.yuv444p, side, side * side)
        source.fill { plane, x, y in [x * 4, (y % side) * 4, (y / side) * 4][plane] }
        for limit in try Self.limits() where !limit.isRGB {
            let middle = try convert(source, limit.color, to: .rgba, nil)
            let back = try convert(middle, nil, to: .yuv444p, limit.color)
            var (worst, count) = (0, 0)
            for y in 0..<source.height {
                for x in 0..<side {
                    // A channel at 0 or 255 may have been cut.
                    if (0..<3).contains(where: { [0, 255].contains(middle[0, 4 * x + $0, y]) }) { continue }
                    count += 1
                    for plane in 0..<3 { worst = max(worst, abs(back[plane, x, y] - source[plane, x, y])) }
                }
            }
            #expect(count > 20_000)
            #expect(worst <= 1, "\(limit.color.matrix) \(limit.color.range): off by \(worst)")
            #expect(limit.errors.allSatisfy { $0 <= 1 })
        }
    }

    /// With dither a code is one of the two around the exact value, and its mean over a tile is the exact value: there and
    /// back, the mean of a tile is within one code.
    @Test(arguments: [PixelFormat.yuv420p, .nv12, .yuv422p, .yuv444p, .yuv420p10, .yuv444p10, .p010])
    func barsWithDither(_ format: PixelFormat) throws {
        for bar in try Self.bars() where bar.bits == format.bitDepth {
            let source = TestPicture(.rgba, 32, 32)
            source.fill { _, x, _ in (bar.rgb + [255])[x % 4] }
            let video = try convert(source, nil, to: format, bar.color, dither: true)
            for plane in 0..<format.planeCount {
                for y in 0..<video.rows(inPlane: plane) {
                    for x in 0..<video.samples(inPlane: plane) {
                        #expect(
                            abs(video[plane, x, y] - bar.ycc[channel(format, plane: plane, x: x)]) <= 1, "\(bar)")
                    }
                }
            }
            let back = try convert(video, bar.color, to: .half3, nil)
            for c in 0..<3 {
                var sum = 0.0
                for y in 8..<24 { for x in 8..<24 { sum += Double(half(back[c, x, y])) } }
                let mean = sum / 256 * 255
                #expect(abs(mean - Double(bar.rgb[c])) <= 1, "\(format) \(bar): channel \(c) is \(mean) on average")
            }
        }
    }
}
