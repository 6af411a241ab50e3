import PatchKernel
import PatchMedia
import Testing

@Suite struct FusingTests {
    let compiler = KernelCompiler()

    private func gain(_ name: String, light: Light = .encoded, alpha: Alpha = .straight) throws -> Kernel {
        var b = KernelBuilder(
            name: name, inputs: [InputDeclaration(name: "image", light: light, alpha: alpha)],
            uniforms: [UniformDeclaration(name: "gain", type: .float)], light: light, alpha: alpha)
        let c = b.current(0)
        let rgb = try b.apply(.mul, [b.swizzle(c, "rgb"), b.uniform(0)])
        let result = try b.construct(.vec4, [rgb, b.swizzle(c, "a")])
        return try b.finish(result)
    }

    @Test func uniformsAndInputsAreNumberedAsPromised() throws {
        let fused = try StandardKernels.sourceOver.inlining(try gain("a"), asInput: 1)
        #expect(fused.inputs.map(\.name) == ["image", "image"])
        #expect(fused.uniforms.map(\.name) == ["gain"])
        let twice = try gain("outer").inlining(try gain("inner"), asInput: 0)
        #expect(twice.uniforms.count == 2)
        #expect(twice.uniformOffset(1) == 1)
        // The outer gain comes first: 0.5 · 0.25 whatever the order, so tell them apart by the text.
        #expect(twice.text.contains("uniform 1"))
    }

    /// Fused and through a half-float picture: within one code, for all combinations of declared forms.
    @Test func fusedEqualsUnfused() throws {
        var random = SeededRandom(3)
        for (light1, alpha1, light2, alpha2) in [
            (Light.encoded, Alpha.straight, Light.encoded, Alpha.straight), (.linear, .straight, .encoded, .straight),
            (.encoded, .premultiplied, .linear, .straight), (.linear, .premultiplied, .linear, .straight),
            (.encoded, .straight, .linear, .premultiplied),
        ] {
            let first = try gain("first", light: light1, alpha: alpha1)
            let second = try gain("second", light: light2, alpha: alpha2)
            let input = TestPicture(.rgba, 37, 5)
            input.fillRandom(&random)
            let color = ColorSpec.srgb
            let middle = TestPicture(.half4, 37, 5)
            let unfused = TestPicture(.rgba, 37, 5)
            let stored = PassInput(format: .rgba, color: color)
            let between = PassInput(format: .half4, color: color)
            run(
                try compiler.compile(
                    PassDescription(
                        kernel: first, inputs: [stored], output: PassOutput(format: .half4, color: color))),
                [input], middle, uniforms: [0.8])
            run(
                try compiler.compile(
                    PassDescription(
                        kernel: second, inputs: [between], output: PassOutput(format: .rgba, color: color))),
                [middle], unfused, uniforms: [1.1])
            let fused = TestPicture(.rgba, 37, 5)
            let kernel = try second.inlining(first, asInput: 0)
            run(
                try compiler.compile(
                    PassDescription(
                        kernel: kernel, inputs: [stored], output: PassOutput(format: .rgba, color: color))),
                [input], fused, uniforms: [1.1, 0.8])
            let (codes, place) = difference(fused, unfused)
            #expect(codes <= 1, "\(light1) \(alpha1) \(light2) \(alpha2): \(place)")
        }
    }

    private func unfused(
        _ first: Kernel, _ second: Kernel, _ input: TestPicture, _ formats: (PixelFormat, PixelFormat, PixelFormat),
        _ uniforms: ([Float], [Float]), isPremultiplied: Bool = true
    ) throws -> TestPicture {
        let middle = TestPicture(formats.1, input.width, input.height)
        let output = TestPicture(formats.2, input.width, input.height)
        let between = PassInput(format: formats.1, color: .srgb, premultiplied: isPremultiplied)
        run(
            try compiler.compile(
                PassDescription(
                    kernel: first, inputs: [PassInput(format: formats.0, color: .srgb, premultiplied: isPremultiplied)],
                    output: PassOutput(format: formats.1, color: .srgb, premultiplied: isPremultiplied))), [input],
            middle, uniforms: uniforms.0)
        run(
            try compiler.compile(
                PassDescription(
                    kernel: second, inputs: [between], output: PassOutput(format: formats.2, color: .srgb))),
            [middle], output, uniforms: uniforms.1)
        return output
    }

    private func fused(
        _ first: Kernel, _ second: Kernel, _ input: TestPicture, _ formats: (PixelFormat, PixelFormat, PixelFormat),
        _ uniforms: ([Float], [Float]), isPremultiplied: Bool = true
    ) throws -> TestPicture {
        let output = TestPicture(formats.2, input.width, input.height)
        run(
            try compiler.compile(
                PassDescription(
                    kernel: try second.inlining(first, asInput: 0),
                    inputs: [PassInput(format: formats.0, color: .srgb, premultiplied: isPremultiplied)],
                    output: PassOutput(format: formats.2, color: .srgb))), [input], output,
            uniforms: uniforms.1 + uniforms.0)
        return output
    }

    /// Where storing the intermediate rounds nothing (it only chooses and moves half floats, and half floats are stored),
    /// the fused result is the unfused one, bit by bit.
    @Test func fusedIsUnfusedExactlyWhereNothingIsRounded() throws {
        for seed in UInt64(1)...60 {
            var generator = KernelGenerator(seed: seed)
            generator.isPlain = true
            generator.isEncoded = true
            generator.isExact = true
            let first = try generator.make(operations: 4)
            generator.isExact = false
            generator.usesStencils = false
            generator.usesGathers = false
            let second = try generator.make(operations: 5)
            guard second.footprint(ofInput: 0) == .point else { continue }
            var random = SeededRandom(seed)
            let input = TestPicture(.half4, 41, 5)
            input.fillRandom(&random)
            let numbers = (0..<max(1, second.uniformFloatCount)).map { _ in Float.random(in: -1...1, using: &random) }
            for target in [PixelFormat.half4, .rgba, .yuv420p] {
                let formats = (PixelFormat.half4, PixelFormat.half4, target)
                let values = (
                    [Float](repeating: 0.5, count: first.uniformFloatCount),
                    second.uniformFloatCount == 0 ? [] : numbers
                )
                // Straight alpha in memory: dividing by alpha and multiplying again would round.
                let apart = try unfused(first, second, input, formats, values, isPremultiplied: false)
                let together = try fused(first, second, input, formats, values, isPremultiplied: false)
                let (codes, place) = difference(apart, together)
                #expect(codes == 0, "seed \(seed) to \(target): \(place)\n\(first.text)\n\(second.text)")
            }
        }
    }

    /// Random smooth kernels, one after the other: within one code of 255.
    @Test func randomKernelsFuse() throws {
        var count = 0
        for seed in UInt64(100)..<180 {
            var generator = KernelGenerator(seed: seed)
            generator.usesJumps = false
            generator.usesStencils = false
            generator.usesGathers = false
            generator.isPlain = true
            generator.isEncoded = true
            let first = try generator.make(operations: 4)
            // Gentle, so that the rounding of the intermediate is not amplified.
            let second = try [gain("second"), gain("second", light: .linear), gain("second", alpha: .premultiplied)][
                Int(seed % 3)]
            var random = SeededRandom(seed)
            let input = TestPicture(.rgba, 33, 4)
            input.fillRandom(&random)
            let numbers = (0..<first.uniformFloatCount).map { _ in Float.random(in: -1...1, using: &random) }
            let formats = (PixelFormat.rgba, PixelFormat.half4, seed % 2 == 0 ? PixelFormat.rgba : .yuv420p)
            let apart = try unfused(first, second, input, formats, (numbers, [0.9]))
            let together = try fused(first, second, input, formats, (numbers, [0.9]))
            let (codes, place) = difference(apart, together)
            #expect(codes <= 1, "seed \(seed): \(place)\n\(first.text)")
            count += 1
        }
        #expect(count == 80)
    }

    @Test func mergedInputsReadOnePicture() throws {
        let merged = try StandardKernels.sourceOver.mergingInputs([0, 0])
        #expect(merged.inputs.count == 1)
        let input = TestPicture(.rgba, 3, 1)
        input.fill { _, x, _ in [100, 50, 0, 128][x % 4] }
        let output = TestPicture(.rgba, 3, 1)
        run(
            try compiler.compile(
                PassDescription(
                    kernel: merged, inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba))),
            [input], output)
        // 100 + 100 · (1 − 128/255) = 149.8, alpha 128 + 128 · 127/255 = 191.7.
        #expect((0..<4).map { output[0, $0, 0] } == [150, 75, 0, 192])
        #expect(throws: KernelError.self) { try StandardKernels.sourceOver.mergingInputs([0, 2]) }
    }

    @Test func stencilsAreNotInlined() throws {
        var b = KernelBuilder(name: "stencil", inputs: [InputDeclaration(name: "image")])
        let tap = try b.tap(0, dx: 1, dy: 0)
        let stencil = try b.finish(tap)
        #expect(stencil.footprint(ofInput: 0) == .stencil(left: 0, right: 1, up: 0, down: 0))
        let error = #expect(throws: KernelError.self) { try stencil.inlining(try gain("a"), asInput: 0) }
        #expect(error?.code == .unsupported)
        #expect(StandardKernels.resize().footprint(ofInput: 0) == .gather)
        #expect(StandardKernels.copy.footprint(ofInput: 0) == .point)
    }
}
