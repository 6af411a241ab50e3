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
