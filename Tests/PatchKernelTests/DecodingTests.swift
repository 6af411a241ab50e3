import PatchKernel
import PatchMedia
import Testing

/// 8-bit video to packed pixels, which has code of its own.
@Suite struct DecodingTests {
    /// Every siting, range and matrix, with codes over the whole range, and widths around a chunk's: at most one code from the
    /// interpreter, and seldom that, for every level of processor.
    @Test(arguments: IntegerLaneTests.processors)
    func halvedChromaDecodes(_ processor: String?) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        var random = SeededRandom(11)
        var (samples, off) = (0, 0)
        for source in [PixelFormat.yuv420p, .yuv422p] {
            for siting in [ColorSpec.ChromaSiting.left, .center, .topLeft] {
                for (range, matrix) in [
                    (ColorSpec.Range.limited, ColorSpec.Matrix.bt709), (.full, .bt601), (.full, .bt2020),
                ] {
                    let target = siting == .center ? PixelFormat.bgra : .rgba
                    var color = ColorSpec.srgb
                    (color.siting, color.range, color.matrix) = (siting, range, matrix)
                    let description = PassDescription(
                        kernel: StandardKernels.copy, inputs: [PassInput(format: source, color: color)],
                        output: PassOutput(format: target))
                    let pass = try compiler.compile(description)
                    for (width, height) in [
                        (1, 1), (2, 3), (31, 4), (63, 2), (64, 3), (65, 2), (66, 5), (131, 4), (260, 3),
                    ] {
                        let input = TestPicture(source, width, height)
                        // The ends of the range as often as all that lies between.
                        input.fillRandom(&random)
                        for plane in 0..<3 {
                            for y in 0..<input.rows(inPlane: plane) {
                                for x in 0..<input.samples(inPlane: plane) where random.next() % 2 == 0 {
                                    input[plane, x, y] = random.next() % 2 == 0 ? 0 : 255
                                }
                            }
                        }
                        let (expected, output) = (
                            TestPicture(target, width, height), TestPicture(target, width, height)
                        )
                        interpret(description, [input], expected)
                        run(pass, [input], output, bands: height > 2 ? 2 : 1)
                        let (codes, place) = difference(output, expected)
                        #expect(codes <= 1, "\(source) \(color) at \(width)x\(height): \(place)")
                        for y in 0..<height {
                            for x in 0..<4 * width {
                                samples += 1
                                if output[0, x, y] != expected[0, x, y] { off += 1 }
                            }
                        }
                    }
                }
            }
        }
        #expect(Double(off) < 0.03 * Double(samples), "\(off) of \(samples) codes are off")
    }
}
