import PatchKernel
import PatchMedia
import Testing

/// What kernels see of colour: the video's own components, light, dither. ColorBarTests has the bars.
@Suite struct ColorTests {
    /// A kernel in Y'CbCr sees the video's own codes: a copy keeps even those beyond the nominal range.
    @Test(arguments: [PixelFormat.yuv444p, .yuv422p, .yuv420p, .yuv444p10])
    func ycbcrKernelKeepsCodes(_ format: PixelFormat) throws {
        var b = KernelBuilder(
            name: "ycbcr", inputs: [InputDeclaration(name: "image")], space: .ycbcr)
        let c = b.current(0)
        let kernel = try b.finish(c)
        let input = TestPicture(format, 256, 4)
        let top = format.bitDepth == 8 ? 1 : 4
        input.fill { plane, x, y in plane == 0 ? x * top : (60 + 20 * plane) * top }
        let output = TestPicture(format, 256, 4)
        let pass = try KernelCompiler().compile(
            PassDescription(
                kernel: kernel, inputs: [PassInput(format: format, color: .bt709)],
                output: PassOutput(format: format, color: .bt709)))
        run(pass, [input], output)
        #expect(difference(input, output).codes == 0, "\(difference(input, output).place)")
    }

    /// Contrast as ffmpeg's eq means it: luma away from the middle, chroma untouched.
    @Test func ycbcrContrast() throws {
        var b = KernelBuilder(
            name: "contrast", inputs: [InputDeclaration(name: "image")],
            uniforms: [UniformDeclaration(name: "contrast", type: .float)], space: .ycbcr)
        let c = b.current(0)
        let half = b.constant(Float(0.5))
        let y = try b.apply(
            .add, [b.apply(.mul, [b.apply(.sub, [b.swizzle(c, "r"), half]), b.uniform(0)]), half])
        let kernel = try b.finish(try b.construct(.vec4, [y, b.swizzle(c, "gba")]))
        let input = TestPicture(.yuv444p, 3, 1)
        input.fill { plane, x, _ in plane == 0 ? [60, 126, 190][x] : 90 + plane }
        let output = TestPicture(.yuv444p, 3, 1)
        let color = ColorSpec(matrix: .bt709, range: .limited, transfer: .bt709, siting: .left)
        run(
            try KernelCompiler().compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: .yuv444p, color: color)],
                    output: PassOutput(format: .yuv444p, color: color))), [input], output, uniforms: [1.5])
        // 125.5 + 1.5 · (code − 125.5): 27.25, 126.25, 222.25.
        #expect((0..<3).map { output[0, $0, 0] } == [27, 126, 222])
        #expect((0..<3).map { output[1, $0, 0] } == [91, 91, 91])
        #expect((0..<3).map { output[2, $0, 0] } == [92, 92, 92])
    }

    /// Half grey in linear light is sRGB code 188 (IEC 61966-2-1).
    @Test func linearLight() throws {
        var b = KernelBuilder(
            name: "half", inputs: [InputDeclaration(name: "image", light: .linear)], light: .linear)
        let c = b.current(0)
        let dimmed = try b.apply(.mul, [b.swizzle(c, "rgb"), b.constant(Float(0.5))])
        let kernel = try b.finish(try b.construct(.vec4, [dimmed, b.swizzle(c, "a")]))
        let input = TestPicture(.rgba, 2, 1)
        input.fill { _, _, _ in 255 }
        let output = TestPicture(.rgba, 2, 1)
        run(
            try KernelCompiler().compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba))),
            [input], output)
        #expect([output[0, 0, 0], output[0, 3, 0]] == [188, 255])
    }

    /// Ordered dither keeps the mean of a grey between two codes.
    @Test func ditherKeepsTheMean() throws {
        let input = TestPicture(.half3, 64, 64)
        // 0x3801 = 0.50048828125: 127.6 codes.
        input.fill { _, _, _ in 0x3801 }
        let output = TestPicture(.rgba, 64, 64)
        run(
            try KernelCompiler().compile(
                PassDescription(
                    kernel: StandardKernels.copy, inputs: [PassInput(format: .half3)],
                    output: PassOutput(format: .rgba, dither: true))), [input], output)
        var sum = 0
        for y in 0..<64 { for x in 0..<64 { sum += output[0, 4 * x, y] } }
        #expect(abs(Double(sum) / 4096 - 127.6245) < 0.02)
    }

    /// One over an alpha of 2^−140 is infinite: such a pixel is clear, not white.
    @Test func colorOfNearlyNoAlphaIsBlack() throws {
        var b = KernelBuilder(
            name: "light", inputs: [InputDeclaration(name: "image", light: .linear, alpha: .premultiplied)],
            alpha: .premultiplied)
        let kernel = try b.finish(b.current(0))
        let pass = try KernelCompiler().compile(
            PassDescription(
                kernel: kernel, inputs: [PassInput(format: .float4)], output: PassOutput(format: .rgba)))
        let (input, output) = (TestPicture(.float4, 3, 1), TestPicture(.rgba, 3, 1))
        let alphas: [Float] = [0x1p-140, 0x1p-100, 1]
        input.fill { plane, x, _ in Int((plane == 3 ? alphas[x] : alphas[x] / 2).bitPattern) }
        run(pass, [input], output)
        #expect((0..<8).map { output[0, $0, 0] } == [0, 0, 0, 0, 0, 0, 0, 0])
        // Half of sRGB's white is 0.214 of its light.
        #expect((8..<12).map { output[0, $0, 0] } == [55, 55, 55, 255])
    }
}
