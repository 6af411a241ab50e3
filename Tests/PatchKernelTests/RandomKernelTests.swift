import Glibc
import PatchKernel
import PatchMedia
import Testing

/// Random kernels agree between machine code and interpreter. `PATCHBAY_RANDOM_KERNELS` says how many (1,000 and more
/// take minutes), `PATCHBAY_SEED` where to begin.
@Suite struct RandomKernelTests {
    private static func setting(_ name: String, _ fallback: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? fallback
    }

    /// One code of 8 bits, four of 10 bits, 4/1000 of a half: what rounding differences of a kernel's arithmetic come
    /// to. Kernels with jumps may differ more at a few samples, where a rounding difference crosses a jump.
    private func tolerance(_ format: PixelFormat) -> Double { format.bitDepth == 8 ? 1 : 4 }

    private struct Case {
        var description: PassDescription
        var sizes: [(Int, Int)]
        var uniforms: [Float]
        var seed: UInt64
        var mayJump: Bool
    }

    private func makeCase(seed: UInt64, jumps: Bool) throws -> Case {
        var generator = KernelGenerator(seed: seed)
        generator.usesJumps = jumps
        let kernel = try generator.make(operations: 3 + Int(seed % 14))
        var random = SeededRandom(seed ^ 0xabcdef)
        func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }
        func color(_ format: PixelFormat) -> ColorSpec {
            ColorSpec(
                matrix: pick([.bt601, .bt709, .bt2020]), range: pick([.limited, .full]),
                transfer: pick([.bt709, .srgb]), siting: pick([.left, .center, .topLeft])
            ).resolved(format: format, height: 720).spec
        }
        let inputs = kernel.inputs.map { _ in
            let format = pick(PixelFormat.allCases)
            return PassInput(
                format: format, color: color(format),
                orientation: Orientation(
                    quarterTurns: pick([0, 0, 0, 1, 2, 3]), mirrored: pick([false, false, true])),
                premultiplied: pick([true, false]))
        }
        let target = pick(PixelFormat.allCases)
        let output = PassOutput(
            format: target, color: color(target), premultiplied: pick([true, false]),
            dither: pick([false, false, true])
        )
        let uniforms = (0..<max(1, kernel.uniformFloatCount)).map { _ in Float.random(in: -1...1, using: &random) }
        let width = 1 + Int(random.next() % 67)
        let height = 1 + Int(random.next() % 9)
        let other = pick([(width, height), (width, height), (1 + width / 2, 3), (33, 12)])
        return Case(
            description: PassDescription(kernel: kernel, inputs: inputs, output: output),
            sizes: [(width, height), other], uniforms: uniforms, seed: seed, mayJump: jumps)
    }

    /// What is wrong, or nil.
    private func failure(_ test: Case, _ kernel: Kernel, _ compiler: KernelCompiler) throws -> String? {
        var description = test.description
        description.kernel = kernel
        let pass = try compiler.compile(description)
        let (width, height) = test.sizes[0]
        var random = SeededRandom(test.seed ^ 77)
        let inputs = description.inputs.enumerated().map { index, input in
            let size = index == 0 ? (width, height) : test.sizes[1]
            let stored = input.orientation.size(width: size.0, height: size.1)
            let picture = TestPicture(
                input.format, stored.width, stored.height, bottomUp: test.seed % 3 == 1, padding: Int(test.seed % 5))
            picture.fillRandom(&random)
            return picture
        }
        let context = FrameContext(time: 1.25, frame: 42)
        let format = description.output.format
        let expected = TestPicture(format, width, height)
        interpret(description, inputs, expected, uniforms: test.uniforms, context: context)
        let actual = TestPicture(format, width, height)
        run(pass, inputs, actual, uniforms: test.uniforms, context: context, bands: 1 + Int(test.seed % 4))
        var beyond = 0
        var count = 0
        var place = ""
        for plane in 0..<format.planeCount {
            for y in 0..<actual.rows(inPlane: plane) {
                for x in 0..<actual.samples(inPlane: plane) {
                    count += 1
                    let (p, q) = (actual[plane, x, y], expected[plane, x, y])
                    let distance =
                        format.isHalf
                        ? 1000 * abs(Double(half(p)) - Double(half(q))) / max(1, abs(Double(half(q))))
                        : Double(abs(p - q))
                    if !(distance <= tolerance(format)) {
                        beyond += 1
                        place = "plane \(plane) sample \(x) row \(y): \(p), not \(q)"
                    }
                }
            }
        }
        let allowed = test.mayJump ? 2 + count / 50 : 0
        return beyond > allowed ? "\(beyond) of \(count) samples differ, \(place)" : nil
    }

    /// The smallest part of a failing kernel that still fails.
    private func shrink(_ test: Case, _ compiler: KernelCompiler) -> String {
        let kernel = test.description.kernel
        for value in 0..<kernel.valueCount {
            guard let part = kernel.showing(value: value), let found = try? failure(test, part, compiler) else {
                continue
            }
            return "\(found)\n\(part.text)"
        }
        return "\(kernel.text)"
    }

    @Test(arguments: [false, true])
    func machineCodeAgreesWithInterpreter(jumps: Bool) throws {
        let count = Self.setting("PATCHBAY_RANDOM_KERNELS", 60)
        let first = Self.setting("PATCHBAY_SEED", 1)
        let compiler = KernelCompiler()
        for seed in first..<first + count {
            let test = try makeCase(seed: UInt64(seed), jumps: jumps)
            if let found = try failure(test, test.description.kernel, compiler) {
                Issue.record(
                    """
                    seed \(seed), jumps \(jumps): \(found)
                    reads \(test.description.inputs) writes \(test.description.output) size \(test.sizes)
                    \(shrink(test, compiler))
                    """)
            }
        }
    }

    @Test(arguments: ["x86-64", "x86-64-v3", "x86-64-v4"])
    func olderProcessors(_ processor: String) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        for seed in UInt64(5000)..<5030 {
            let test = try makeCase(seed: seed, jumps: false)
            if let found = try failure(test, test.description.kernel, compiler) {
                Issue.record("\(processor), seed \(seed): \(found)\n\(shrink(test, compiler))")
            }
        }
    }

    @Test func textRoundTrips() throws {
        for seed in UInt64(0)..<200 {
            let kernel = try makeCase(seed: seed, jumps: true).description.kernel
            let again = try Kernel(parsing: kernel.text)
            #expect(again == kernel, "seed \(seed)\n\(kernel.text)")
            #expect(again.text == kernel.text)
        }
    }

    @Test func simplifyingKeepsTheResult() throws {
        let compiler = KernelCompiler()
        for seed in UInt64(0)..<40 {
            let test = try makeCase(seed: seed, jumps: false)
            let simpler = test.description.kernel.simplified()
            #expect(simpler.valueCount <= test.description.kernel.valueCount)
            #expect(try failure(test, simpler, compiler) == nil, "seed \(seed)")
        }
    }
}
