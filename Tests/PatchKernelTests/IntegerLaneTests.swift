import PatchKernel
import PatchMedia
import Testing

/// Passes in 16-bit integers: which kernels become such, that they keep their stated bound against the real numbers
/// (computed here, in Double), and that they may write over what they read.
@Suite struct IntegerLaneTests {
    /// All four vector widths, the narrowest also without SSSE3's products.
    static let processors: [String?] = [nil] + ProcessorLevel.runnable

    private static func premultiplied(_ names: String...) -> [InputDeclaration] {
        names.map { InputDeclaration(name: $0, alpha: .premultiplied) }
    }

    static func crossfade(_ range: ClosedRange<Float>? = 0...1) throws -> Kernel {
        var b = KernelBuilder(
            name: "crossfade", inputs: premultiplied("before", "after"),
            uniforms: [UniformDeclaration(name: "progress", type: .float, range: range)], alpha: .premultiplied)
        return try b.finish(try b.apply(.mix, [b.current(0), b.current(1), b.uniform(0)]))
    }

    static func over(opacity: Bool) throws -> Kernel {
        var b = KernelBuilder(
            name: "over", inputs: premultiplied("image", "overlay"),
            uniforms: [UniformDeclaration(name: "opacity", type: .float, range: 0...1)], alpha: .premultiplied)
        var overlay = b.current(1)
        if opacity { overlay = try b.apply(.mul, [overlay, b.uniform(0)]) }
        let rest = try b.apply(.sub, [b.constant(Float(1)), b.swizzle(overlay, "a")])
        return try b.finish(try b.apply(.add, [overlay, b.apply(.mul, [b.current(0), rest])]))
    }

    private func bound(_ pass: CompiledPass) throws -> Double {
        guard case .int16(let bound) = pass.arithmetic else {
            Issue.record("\(pass.description.kernel.name): \(pass.arithmetic)")
            throw KernelError(.compiler, "floats")
        }
        #expect(bound > 0 && bound <= 0.75)
        return bound
    }

    /// Every pair of codes, in every channel.
    @Test(arguments: processors) func crossfadeKeepsItsBound(_ processor: String?) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        for format in [PixelFormat.rgba, .bgra, .gray8] {
            let pass = try compiler.compile(
                PassDescription(
                    kernel: try Self.crossfade(), inputs: Array(repeating: PassInput(format: format), count: 2),
                    output: PassOutput(format: format)))
            let bound = try bound(pass)
            let bytes = format == .gray8 ? 1 : 4
            let (a, b) = (TestPicture(format, 257, 256), TestPicture(format, 257, 256))
            a.fill { _, x, _ in x / bytes % 256 }
            b.fill { _, x, y in (y + x % bytes * 50) % 256 }
            for weight: Float in [0, 1, 0.5, 1.0 / 3, 0.999, 0.001, 0.73, -2, 7, .nan] {
                let output = TestPicture(format, 257, 256)
                run(pass, [a, b], output, uniforms: [weight], bands: 3)
                let w = Double(weight > 0 ? min(weight, 1) : 0)
                var worst = 0.0
                for y in 0..<256 {
                    for x in 0..<257 * bytes {
                        let real = Double(a[0, x, y]) * (1 - w) + Double(b[0, x, y]) * w
                        worst = max(worst, abs(Double(output[0, x, y]) - real))
                    }
                }
                #expect(worst <= 0.5 + bound, "\(format) \(weight)")
                if w == 0 { #expect(difference(output, a).codes == 0) }
                if w == 1 { #expect(difference(output, b).codes == 0) }
            }
        }
    }

    /// Every code of the image with every alpha; colours of the overlay up to its alpha, and some beyond.
    @Test(arguments: processors) func sourceOverKeepsItsBound(_ processor: String?) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        for format in [PixelFormat.rgba, .bgra] {
            for opacity: Float? in [nil, 0, 0.25, 0.6, 1] {
                let pass = try compiler.compile(
                    PassDescription(
                        kernel: try Self.over(opacity: opacity != nil),
                        inputs: Array(repeating: PassInput(format: format), count: 2),
                        output: PassOutput(format: format)))
                let bound = try bound(pass)
                let (image, overlay) = (TestPicture(format, 259, 256), TestPicture(format, 259, 256))
                image.fill { _, x, _ in x / 4 % 256 }
                overlay.fill { _, x, y in x % 4 == 3 ? y : [y, y * x / 4 % 256, (x * 7 + y) % 256][x % 4] }
                let output = TestPicture(format, 259, 256)
                run(pass, [image, overlay], output, uniforms: [opacity ?? 1], bands: 2)
                var worst = 0.0
                for y in 0..<256 {
                    for x in 0..<259 * 4 {
                        let part = Double(opacity ?? 1)
                        let real =
                            Double(overlay[0, x, y]) * part
                            + Double(image[0, x, y]) * (1 - Double(overlay[0, x / 4 * 4 + 3, y]) / 255 * part)
                        worst = max(worst, abs(Double(output[0, x, y]) - min(255, real)))
                    }
                }
                #expect(worst <= 0.5 + bound, "\(format) \(String(describing: opacity))")
                // In place gives the same.
                run(pass, [image, overlay], image, uniforms: [opacity ?? 1], bands: 2)
                #expect(difference(image, output).codes == 0, "in place, \(format)")
            }
        }
    }

    /// The documented guarantee of `CompiledPass.run`, for floats too: kernels that exchange channels between planes,
    /// read another input around the pixel, and blocks of several rows, at all small widths.
    @Test func outputMayBeAnInputThatIsReadAtItsOwnPixel() throws {
        var b = KernelBuilder(name: "turned", inputs: Self.premultiplied("image", "around"), alpha: .premultiplied)
        var sum = try b.swizzle(b.current(0), "gbra")
        for dy in -3...3 {
            let tap = try b.apply(.mul, [b.tap(1, dx: dy, dy: dy, edge: .mirror), b.constant(Float(0.1))])
            sum = try b.apply(.add, [b.apply(.mul, [sum, b.constant(Float(0.75))]), tap])
        }
        let kernel = try b.finish(sum)
        let compiler = KernelCompiler()
        for format in [PixelFormat.rgba, .gray8, .yuv444p, .half4, .yuv444p10] {
            let pass = try compiler.compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: format), PassInput(format: .rgba)],
                    output: PassOutput(format: format)))
            for width in [1, 7, 16, 31, 64, 65, 130] {
                var random = SeededRandom(UInt64(width))
                let (image, around) = (TestPicture(format, width, 9), TestPicture(.rgba, width, 9))
                image.fillRandom(&random)
                around.fillRandom(&random)
                let apart = TestPicture(format, width, 9)
                run(pass, [image, around], apart, bands: 2)
                run(pass, [image, around], image, bands: 2)
                #expect(difference(image, apart).codes == 0, "\(format) \(width)")
            }
        }
    }

    /// Colour freed of its alpha has no terms of its own, and is yet no constant: beside grey, in minima, maxima and
    /// choices, it counts as what it is.
    @Test(arguments: processors) func colorFreedOfItsAlphaIsNoConstant(_ processor: String?) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        let (image, grey) = (TestPicture(.rgba, 259, 256), TestPicture(.gray8, 259, 256))
        image.fill { _, x, y in x % 4 == 3 ? y : [y, y * x / 4 % 256 * y / 255, (x * 7 + y) % 256 * y / 255][x % 4] }
        grey.fill { _, x, y in (x * 3 + y * 5) % 256 }
        for word in ["min", "max", "select"] {
            var b = KernelBuilder(
                name: word, inputs: [InputDeclaration(name: "image"), InputDeclaration(name: "grey")])
            let (color, other) = (try b.swizzle(b.current(0), "rgb"), try b.swizzle(b.current(1), "rgb"))
            let alpha = try b.swizzle(b.current(0), "a")
            let isOther = try b.apply(.lt, [alpha, b.constant(Float(0.3))])
            let result =
                word == "select"
                ? try b.select(isOther, other, color) : try b.apply(word == "min" ? .min : .max, [color, other])
            let kernel = try b.finish(try b.construct(.vec4, [result, alpha]))
            let pass = try compiler.compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: .rgba), PassInput(format: .gray8, color: .srgb)],
                    output: PassOutput(format: .rgba)))
            let output = TestPicture(.rgba, 259, 256)
            run(pass, [image, grey], output, bands: 2)
            var worst = 0.0
            for y in 0..<256 {
                for x in 0..<259 * 4 where x % 4 < 3 {
                    let alpha = Double(image[0, x / 4 * 4 + 3, y]) / 255
                    let color = alpha > 0 ? Double(image[0, x, y]) / 255 / alpha : 0
                    let other = Double(grey[0, x / 4, y]) / 255
                    let real =
                        word == "min"
                        ? min(color, other) : word == "max" ? max(color, other) : alpha < 0.3 ? other : color
                    worst = max(worst, abs(Double(output[0, x, y]) - real * alpha * 255))
                }
            }
            #expect(worst <= 1, "\(word), \(pass.arithmetic)")
        }
    }

    /// What is not provable says why.
    @Test func refusalsSayWhy() throws {
        func arithmetic(_ kernel: Kernel, _ output: PassOutput = PassOutput(format: .rgba)) throws -> Arithmetic {
            try KernelCompiler().compile(
                PassDescription(
                    kernel: kernel, inputs: kernel.inputs.map { _ in PassInput(format: .rgba) }, output: output)
            ).arithmetic
        }
        #expect(
            try arithmetic(Self.crossfade(nil))
                == .float(reason: "a parameter, or what is computed of it, has no known range"))
        #expect(
            try arithmetic(Self.crossfade(), PassOutput(format: .half4)) == .float(reason: "it writes more than 8 bits")
        )
        #expect(
            try arithmetic(Self.crossfade(), PassOutput(format: .rgba, dither: true)) == .float(reason: "it dithers"))
        var b = KernelBuilder(name: "root", inputs: Self.premultiplied("image"), alpha: .premultiplied)
        let root = try b.finish(try b.apply(.sqrt, [b.current(0)]))
        #expect(try arithmetic(root) == .float(reason: "it computes a square root"))
    }
}
