import PatchKernel
import PatchMedia
import Testing

/// Pictures of half the size, read at the output's pixels without a gather: what the interpreter gets by sampling.
@Suite struct HalfSizeTests {
    private static let formats: [PixelFormat] = [
        .rgba, .bgra, .gray8, .half1, .half2, .half3, .half4, .float4, .yuv444p, .yuv444p10,
    ]

    private static func description(
        _ kernel: Kernel, _ format: PixelFormat, _ output: PassOutput, isHalf: Bool = true
    ) -> PassDescription {
        var input = PassInput(format: format)
        input.isHalf = isHalf
        return PassDescription(kernel: kernel, inputs: [input], output: output)
    }

    /// By hand: ¾ and ¼ between two samples, the outermost alone at the edge.
    @Test(arguments: ProcessorLevel.runnable) func quarters(_ processor: String) throws {
        let pass = try KernelCompiler(CompilerOptions(processor: processor)).compile(
            Self.description(StandardKernels.resize(), .gray8, PassOutput(format: .gray8)))
        #expect(pass.arithmetic == .float(reason: "it reads a picture of half the size"))
        let (input, output) = (TestPicture(.gray8, 3, 2), TestPicture(.gray8, 6, 4))
        input.fill { _, x, y in y == 0 ? [0, 128, 64][x] : [16, 16, 16][x] }
        run(pass, [input], output)
        // Rows 0 and 3 are the outermost alone; rows 1 and 2 three quarters of one and a quarter of the other.
        let (upper, lower) = ([0.0, 32, 96, 112, 80, 64], [16.0, 16, 16, 16, 16, 16])
        for x in 0..<6 {
            for (y, weight) in [1, 0.75, 0.25, 0].enumerated() {
                let exact = upper[x] * weight + lower[x] * (1 - weight)
                #expect(abs(Double(output[0, x, y]) - exact) <= 0.51, "(\(x), \(y))")
            }
        }
    }

    /// All formats, widths of 2 to 130 columns, with rows of any alignment, on several threads.
    @Test(arguments: [nil] + ProcessorLevel.runnable) func agreesWithTheInterpreter(_ processor: String?) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        for format in Self.formats {
            for target in [PassOutput(format: .rgba), PassOutput(format: .half4), PassOutput(format: .yuv420p)] {
                let description = Self.description(StandardKernels.resize(), format, target)
                let pass = try compiler.compile(description)
                for size in [1, 2, 3, 7, 16, 17, 33, 65] {
                    var random = SeededRandom(UInt64(size))
                    let input = TestPicture(format, size, 1 + size % 5, bottomUp: size % 3 == 1, padding: size % 4)
                    input.fillRandom(&random)
                    let (actual, expected) = (
                        TestPicture(target.format, 2 * size, 2 * input.height),
                        TestPicture(target.format, 2 * size, 2 * input.height)
                    )
                    run(pass, [input], actual, bands: 1 + size % 3)
                    interpret(description, [input], expected)
                    let worst = difference(actual, expected)
                    #expect(worst.codes <= 1, "\(format) to \(target.format), \(size): \(worst.place)")
                }
            }
        }
    }

    /// Beside a picture of full size, which the same pass reads around the pixel.
    @Test func besideAStencil() throws {
        var b = KernelBuilder(
            name: "glow",
            inputs: ["image", "soft"].map { InputDeclaration(name: $0, alpha: .premultiplied) }, alpha: .premultiplied)
        var sum = try b.sample(1, at: b.builtin(.uv))
        for dy in -1...1 {
            for dx in -1...1 {
                sum = try b.apply(.add, [sum, b.apply(.mul, [b.tap(0, dx: dx, dy: dy), b.constant(Float(0.05))])])
            }
        }
        let kernel = try b.finish(sum)
        for format in [PixelFormat.rgba, .half4] {
            var soft = PassInput(format: format)
            soft.isHalf = true
            let description = PassDescription(
                kernel: kernel, inputs: [PassInput(format: format), soft], output: PassOutput(format: format))
            let pass = try KernelCompiler().compile(description)
            for width in [2, 8, 46, 130] {
                var random = SeededRandom(UInt64(width))
                let (image, small) = (TestPicture(format, width, 10), TestPicture(format, width / 2, 5))
                image.fillRandom(&random)
                small.fillRandom(&random)
                let (actual, expected) = (TestPicture(format, width, 10), TestPicture(format, width, 10))
                run(pass, [image, small], actual, bands: 2)
                interpret(description, [image, small], expected)
                let worst = difference(actual, expected)
                #expect(worst.codes <= 1, "\(format) \(width): \(worst.place)")
            }
        }
    }

    /// Luma and chroma apart: chroma by its siting, which for `left` is no quarter.
    @Test func planesApart() throws {
        for format in [PixelFormat.yuv420p, .yuv422p, .yuv420p10] {
            for siting in [ColorSpec.ChromaSiting.left, .center, .topLeft] {
                var color = ColorSpec.bt709
                color.siting = siting
                var input = PassInput(format: format, color: color)
                input.isHalf = true
                let whole = PassDescription(
                    kernel: StandardKernels.resize(), inputs: [input], output: PassOutput(format: format, color: color))
                guard case .apart(let parts) = whole.planePasses() else {
                    Issue.record("\(format) stays together")
                    continue
                }
                for size in [2, 6, 9, 33] {
                    var random = SeededRandom(UInt64(size))
                    let small = TestPicture(format, size, 1 + size % 4)
                    small.fillRandom(&random)
                    let (actual, expected) = (
                        TestPicture(format, 2 * size, 2 * small.height),
                        TestPicture(format, 2 * size, 2 * small.height)
                    )
                    for part in parts {
                        let pass = try KernelCompiler().compile(part)
                        func shown(_ picture: TestPicture) -> ImageReference {
                            picture.reference.showing(part.planes, of: format)
                        }
                        let (source, target) = ([shown(small)], shown(actual))
                        source.withUnsafeBufferPointer { source in
                            [Float(0)].withUnsafeBufferPointer { uniforms in
                                pass.run(
                                    inputs: source, output: target, uniforms: uniforms.baseAddress!,
                                    context: FrameContext(), rows: 0..<target.height)
                                Interpreter.run(
                                    part, inputs: source, output: shown(expected), uniforms: uniforms.baseAddress!,
                                    context: FrameContext(), rows: 0..<target.height)
                            }
                        }
                    }
                    let worst = difference(actual, expected)
                    #expect(worst.codes <= 1, "\(format) \(siting) \(size): \(worst.place)")
                }
            }
        }
    }

    /// Told wrongly, the result is another one; no byte outside the pictures is touched (they end at guarded pages).
    @Test func otherSizesReadNothingOutside() throws {
        for format in [PixelFormat.rgba, .half4, .gray8] {
            let pass = try KernelCompiler().compile(
                Self.description(StandardKernels.resize(), format, PassOutput(format: format)))
            for (width, height) in [(1, 1), (3, 2), (40, 9), (200, 30)] {
                let input = TestPicture(format, width, height)
                var random = SeededRandom(7)
                input.fillRandom(&random)
                run(pass, [input], TestPicture(format, 67, 13))
            }
        }
    }
}
