import Glibc
import PatchKernel
import PatchMedia
import Testing

/// Random kernels that keep components apart, on the planes of subsampled video: machine code and interpreter agree on
/// each plane at its own size, for every such format, siting and depth, widths 1 to 67, odd heights and bands of a few rows.
/// `PATCHBAY_RANDOM_KERNELS` and `PATCHBAY_SEED` as in `RandomKernelTests`.
@Suite struct RandomPlaneTests {
    /// Pairs that may be read and written by one pass on planes.
    private static let families: [[PixelFormat]] = [
        [.yuv420p, .nv12, .yuv420p10, .p010], [.yuv422p, .yuv422p10],
    ]

    struct PlaneCase {
        var description: PassDescription
        var size: (width: Int, height: Int)
        var uniforms: [Float]
        var seed: UInt64

        init(seed: UInt64) throws {
            var generator = KernelGenerator(seed: seed)
            let kernel = try PlaneCase.kernel(&generator)
            let formats = generator.pick(families)
            var color = ColorSpec.bt709
            color.siting = generator.pick([.left, .center, .topLeft])
            func ranged(_ generator: inout KernelGenerator) -> ColorSpec {
                var color = color
                color.range = generator.pick([.limited, .full])
                return color
            }
            let inputs = kernel.inputs.map { _ in
                // Grey is video without chroma.
                let format = generator.chance(15) ? .gray8 : generator.pick(formats)
                return PassInput(format: format, color: ranged(&generator))
            }
            let output = PassOutput(
                format: generator.pick(formats), color: ranged(&generator), dither: generator.chance(30))
            description = PassDescription(kernel: kernel, inputs: inputs, output: output)
            size = (1 + generator.below(67), 1 + generator.below(15))
            uniforms = (0..<max(1, kernel.uniformFloatCount)).map { _ in generator.float(-1...1) }
            self.seed = seed
        }

        /// Four components that never meet: sums, products with numbers, choices, reads around and at places.
        private static func kernel(_ g: inout KernelGenerator) throws -> Kernel {
            let inputs = (0..<g.pick([1, 1, 2])).map { InputDeclaration(name: "input\($0)") }
            var b = KernelBuilder(
                name: "planes", inputs: inputs, uniforms: [UniformDeclaration(name: "amount", type: .float)],
                space: g.pick([.any, .ycbcr]))
            var colors = inputs.indices.map { b.current($0) }
            var numbers = [
                b.uniform(0), try b.swizzle(b.builtin(.uv), g.pick(["x", "y"])), b.constant(g.float(0...1)),
            ]
            for _ in 0..<2 + g.below(8) {
                let (x, y) = (g.pick(colors), g.pick(colors))
                let number = g.pick(numbers)
                switch g.below(9) {
                case 0, 1: colors.append(try b.apply(.mix, [x, y, g.moderate(&b, number, 0, 1)]))
                case 2: colors.append(try g.moderate(&b, b.apply(.mul, [x, number]), -2, 2))
                case 3: colors.append(try g.moderate(&b, b.apply(g.pick([.add, .sub]), [x, y]), -2, 2))
                case 4: colors.append(try b.apply(g.pick([.min, .max]), [x, y]))
                case 5:
                    numbers.append(try b.apply(.smoothstep, [b.constant(Float(0.1)), b.constant(Float(1)), number]))
                case 6:
                    let edge: EdgeMode = g.pick([.clamp, .mirror, .wrap])
                    colors.append(
                        try b.tap(g.below(inputs.count), dx: g.below(9) - 4, dy: g.below(7) - 3, edge: edge))
                case 7:
                    let scaled = try b.apply(.mul, [b.builtin(.uv), b.constant(g.float(0.3...1.7))])
                    let uv = try b.apply(.add, [scaled, b.constant(g.float(-0.4...0.4))])
                    colors.append(try b.sample(0, at: uv, filter: g.pick([.bilinear, .bicubic])))
                default: colors.append(try b.apply(.abs, [b.apply(.sub, [x, y])]))
                }
            }
            return try b.finish(colors[colors.count - 1])
        }

        var text: String {
            "seed \(seed), size \(size)\nreads \(description.inputs)\nwrites \(description.output)\n"
                + description.kernel.text
        }

        /// What is wrong, or nil. Adds the planes of what it compared.
        func failure(_ compiler: KernelCompiler, _ seen: inout Set<String>) throws -> String? {
            guard case .apart(let parts) = description.planePasses() else {
                return "the planes stay together: \(description.planePasses())"
            }
            var random = SeededRandom(seed ^ 3)
            let inputs = description.inputs.map { input in
                let picture = TestPicture(input.format, size.width, size.height, bottomUp: seed % 3 == 1)
                picture.fillRandom(&random)
                return picture
            }
            let format = description.output.format
            let actual = TestPicture(format, size.width, size.height)
            let expected = TestPicture(format, size.width, size.height)
            let context = FrameContext(time: 1.25, frame: 42)
            for part in parts {
                let pass = try compiler.compile(part)
                let pictures = inputs.map { $0.reference.showing(part.planes, of: $0.format) }
                func output(_ picture: TestPicture) -> ImageReference {
                    picture.reference.showing(part.planes, of: format)
                }
                let height = output(actual).height
                seen.insert("\(format) \(part.planes == .luma ? "luma" : "chroma")")
                pictures.withUnsafeBufferPointer { pictures in
                    uniforms.withUnsafeBufferPointer { uniforms in
                        let step = pass.rowAlignment * (1 + Int(seed % 3))
                        for row in stride(from: 0, to: height, by: step) {
                            pass.run(
                                inputs: pictures, output: output(actual), uniforms: uniforms.baseAddress!,
                                context: context, rows: row..<min(height, row + step))
                        }
                        Interpreter.run(
                            part, inputs: pictures, output: output(expected), uniforms: uniforms.baseAddress!,
                            context: context, rows: 0..<height)
                    }
                }
            }
            let worst = difference(actual, expected)
            return worst.codes <= RandomCase.tolerance(format) ? nil : "\(worst.codes) codes at \(worst.place)"
        }
    }

    @Test func machineCodeAgreesWithInterpreter() throws {
        let count = getenv("PATCHBAY_RANDOM_KERNELS").flatMap { Int(String(cString: $0)) } ?? 300
        let first = getenv("PATCHBAY_SEED").flatMap { Int(String(cString: $0)) } ?? 1
        print("random kernels on planes: seeds \(first) to \(first + count - 1)")
        var seen: Set<String> = []
        for seed in first..<first + count {
            let test = try PlaneCase(seed: UInt64(seed))
            let compiler = RandomCase.compilers[seed % RandomCase.compilers.count]
            if let found = try test.failure(compiler, &seen) { Issue.record("\(found)\n\(test.text)") }
        }
        let formats = Self.families.flatMap { $0 }
        if count >= 300 { #expect(seen == Set(formats.flatMap { ["\($0) luma", "\($0) chroma"] })) }
    }
}
