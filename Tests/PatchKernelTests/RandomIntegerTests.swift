import Glibc
import PatchKernel
import PatchMedia
import Testing

/// Random kernels of the kinds that integers can compute, on 8-bit pictures: within one code of the interpreter on all
/// processors, and most of them really in integers. `PATCHBAY_RANDOM_KERNELS` and `PATCHBAY_SEED` as elsewhere.
@Suite struct RandomIntegerTests {
    private static func setting(_ name: String, _ fallback: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? fallback
    }

    private struct Maker {
        var random: SeededRandom
        var b: KernelBuilder
        let inputCount: Int
        mutating func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }
        mutating func float(_ range: ClosedRange<Float>) -> Float { Float.random(in: range, using: &random) }

        mutating func leaf() throws -> Value {
            let input = Int(random.next() % UInt64(inputCount))
            let tap =
                pick([true, false, false])
                ? try b.tap(input, dx: pick([-2, -1, 0, 1]), dy: pick([-1, 0, 1]), edge: .clamp) : b.current(input)
            switch pick([0, 0, 0, 1, 2]) {
            case 0: return tap
            case 1: return try b.swizzle(tap, pick(["bgra", "aaaa", "rrra", "ggga"]))
            default:
                let weights = try b.construct(
                    .vec3, [b.constant(Float(0.2126)), b.constant(Float(0.7152)), b.constant(Float(0.0722))])
                let luma = try b.apply(.dot, [b.swizzle(tap, "rgb"), weights])
                return try b.construct(.vec4, [luma, luma, luma, b.swizzle(tap, "a")])
            }
        }

        mutating func weight() throws -> Value {
            switch pick([0, 1, 2]) {
            case 0: return b.uniform(0)
            case 1: return b.constant(float(0...1))
            default: return try b.swizzle(b.current(Int(random.next() % UInt64(inputCount))), pick(["a", "r"]))
            }
        }

        mutating func tree(_ depth: Int) throws -> Value {
            if depth == 0 { return try leaf() }
            let x = try tree(depth - 1)
            switch pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
            case 0: return try b.apply(.mix, [x, tree(depth - 1), weight()])
            case 1:
                let rest = try b.apply(.sub, [b.constant(Float(1)), weight()])
                return try b.apply(
                    .add, [b.apply(.mul, [x, rest]), b.apply(.mul, [leaf(), b.constant(Float(0.25))])])
            case 2: return try b.apply(.add, [b.apply(.mul, [x, b.uniform(1)]), b.uniform(2)])
            case 3: return try b.apply(pick([.min, .max]), [x, tree(depth - 1)])
            case 4: return try b.apply(.abs, [b.apply(.sub, [x, leaf()])])
            case 5: return try b.apply(.clamp, [x, b.constant(float(0...0.4)), b.constant(float(0.5...1.2))])
            case 6:
                let condition = try b.apply(
                    pick([.lt, .ge]), [leaf(), pick([true, false]) ? leaf() : b.constant(Float(0.3))])
                return try b.select(condition, x, leaf())
            case 7: return try b.apply(.mul, [x, b.constant(float(-1.5...1.5))])
            case 8:
                return try b.apply(.sub, [b.apply(.add, [x, leaf()]), b.apply(.mul, [leaf(), b.constant(Float(2))])])
            default:
                return try b.apply(
                    .add, [b.apply(.mul, [x, b.constant(float(0...1))]), b.constant(float(-0.3...0.3))])
            }
        }
    }

    private func kernel(_ seed: UInt64) throws -> Kernel {
        var random = SeededRandom(seed ^ 0x5eed)
        let inputCount = 1 + Int(random.next() % 3)
        let alpha: Alpha = random.next() % 4 == 0 ? .straight : .premultiplied
        let b = KernelBuilder(
            name: "integers", inputs: (0..<inputCount).map { InputDeclaration(name: "input\($0)", alpha: alpha) },
            uniforms: [
                UniformDeclaration(name: "weight", type: .float, range: 0...1),
                UniformDeclaration(name: "gain", type: .vec4, range: 0...4),
                UniformDeclaration(name: "offset", type: .float, range: -1...1),
            ], alpha: alpha)
        var maker = Maker(random: random, b: b, inputCount: inputCount)
        let result = try maker.tree(1 + Int(seed % 3))
        return try maker.b.finish(result)
    }

    private func description(_ seed: UInt64) throws -> PassDescription {
        let kernel = try kernel(seed)
        var random = SeededRandom(seed ^ 0xf0)
        func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }
        let formats: [PixelFormat] = [.rgba, .rgba, .bgra, .gray8, .yuv444p, .yuv420p, .nv12, .yuv422p]
        func color(_ format: PixelFormat) -> ColorSpec {
            ColorSpec(
                matrix: pick([.bt601, .bt709]), range: pick([.limited, .full]), transfer: .bt709,
                siting: pick([.left, .center, .topLeft])
            ).resolved(format: format, height: 720).spec
        }
        let target = pick(formats)
        return PassDescription(
            kernel: kernel,
            inputs: kernel.inputs.map { _ in
                let format = pick([target, pick(formats)])
                return PassInput(
                    format: format, color: color(format),
                    orientation: Orientation(quarterTurns: pick([0, 0, 2]), mirrored: pick([false, false, true])),
                    premultiplied: pick([true, true, false]))
            },
            output: PassOutput(format: target, color: color(target), premultiplied: pick([true, true, false])))
    }

    /// The largest difference from the interpreter, in codes.
    private func difference(_ description: PassDescription, _ pass: CompiledPass, seed: UInt64) -> (Double, String) {
        var random = SeededRandom(seed)
        let (width, height) = (1 + Int(random.next() % 140), 1 + Int(random.next() % 5))
        let inputs = description.inputs.map { input in
            let picture = TestPicture(input.format, width, height, padding: Int(seed % 3))
            picture.fillRandom(&random)
            return picture
        }
        let uniforms = (0..<6).map { _ in Float.random(in: -0.2...1.3, using: &random) }
        let (actual, expected) = (
            TestPicture(description.output.format, width, height), TestPicture(description.output.format, width, height)
        )
        run(pass, inputs, actual, uniforms: uniforms, bands: 1 + Int(seed % 3))
        interpret(description, inputs, expected, uniforms: uniforms)
        let worst = PatchKernelTests.difference(actual, expected)
        return (worst.codes, worst.place)
    }

    @Test(arguments: IntegerLaneTests.processors) func agreeWithinOneCode(_ processor: String?) throws {
        let count = Self.setting("PATCHBAY_RANDOM_KERNELS", 60)
        let first = Self.setting("PATCHBAY_SEED", 1)
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        var inIntegers = 0
        var reasons: [String: Int] = [:]
        for seed in UInt64(first)..<UInt64(first + count) {
            let description = try description(seed)
            let pass = try compiler.compile(description)
            switch pass.arithmetic {
            case .int16(let bound):
                inIntegers += 1
                #expect(bound <= 0.75)
            case .float(let reason): reasons[reason, default: 0] += 1
            }
            let (codes, place) = difference(description, pass, seed: seed)
            // Floats may differ more where a rounding decides a comparison; they have tests of their own.
            if codes > 1, case .int16 = pass.arithmetic {
                Issue.record(
                    """
                    seed \(seed) on \(processor ?? "this processor"), \(pass.arithmetic): \(codes) codes, \(place)
                    reads \(description.inputs.map { "\($0.format) \($0.orientation)" }) writes \(description.output.format)
                    \(description.kernel.text)
                    """)
            }
        }
        // A few seeds by themselves may all be floats.
        if count >= 60 { #expect(inIntegers * 2 > count, "\(inIntegers) of \(count) in integers; others: \(reasons)") }
    }
}
