import PatchKernel
import PatchMedia

/// A kernel with formats, sizes and numbers, all from one seed, and the judgement whether machine code and interpreter
/// agree on it.
struct RandomCase: Sendable {
    var description: PassDescription
    /// Of the output, and so of the first input; and of a second input.
    var sizes: [(width: Int, height: Int)]
    var uniforms: [Float]
    var seed: UInt64
    var mayJump: Bool
    /// Threads that share the rows.
    var threads: Int
    /// Which of `compilers` makes the code.
    var setup: Int
    /// Changes the kernel that is compiled: to see that the comparison notices.
    var fault: (@Sendable (Kernel) throws -> Kernel)?

    /// The ways in which code is made: this machine's own, and narrower ones, which compile in less time and have other
    /// chunks, so that pictures end at other places of a chunk.
    static let compilers: [KernelCompiler] = [
        CompilerOptions(), CompilerOptions(vectorBits: 128, interleave: 1),
        CompilerOptions(vectorBits: 256, interleave: 1), CompilerOptions(vectorBits: 512, interleave: 1),
        CompilerOptions(vectorBits: 128, interleave: 2), CompilerOptions(vectorBits: 256, interleave: 2),
    ].map { options in
        var options = options
        options.memoryCacheLimit = 0
        return KernelCompiler(options)
    }

    init(seed: UInt64, jumps: Bool) throws {
        var generator = KernelGenerator(seed: seed)
        generator.usesJumps = jumps
        var kernel = try generator.make(operations: 3 + Int(seed % 14))
        var random = SeededRandom(seed ^ 0xabcdef)
        func pick<T>(_ items: [T]) -> T { items[Int(random.next() % UInt64(items.count))] }
        if random.next() % 6 == 0, kernel.inputs.count == 1, kernel.space == .rgb,
            kernel.footprint(ofInput: 0) == .point
        {
            // A fused kernel: conversions of light and alpha stand between the two.
            var first = KernelGenerator(seed: seed ^ 0x5eed)
            first.usesJumps = jumps
            first.isPlain = true
            kernel = try kernel.inlining(try first.make(operations: 3), asInput: 0)
        }
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
        uniforms = (0..<max(1, kernel.uniformFloatCount)).map { _ in Float.random(in: -1...1, using: &random) }
        let width = 1 + Int(random.next() % 67)
        let height = 1 + Int(random.next() % 9)
        let other = pick([(width, height), (width, height), (1 + width / 2, 3), (33, 12)])
        description = PassDescription(kernel: kernel, inputs: inputs, output: output)
        sizes = [(width, height), (width: other.0, height: other.1)]
        self.seed = seed
        mayJump = jumps
        threads = 1 + Int(seed % 4)
        setup = pick([0, 0, 1, 1, 2, 2, 3, 4])
    }

    /// One code of 8 bits, four of 10 bits, 4/1000 of a half: what rounding differences of a kernel's arithmetic come
    /// to. Kernels with jumps may differ more at a few samples, where a rounding difference crosses a jump.
    static func tolerance(_ format: PixelFormat) -> Double { format.bitDepth == 8 ? 1 : 4 }

    /// What is wrong, or nil.
    func failure(_ compiler: KernelCompiler? = nil) throws -> String? {
        var made = description
        if let fault { made.kernel = try fault(made.kernel) }
        let pass = try (compiler ?? Self.compilers[setup]).compile(made)
        let (width, height) = sizes[0]
        var random = SeededRandom(seed ^ 77)
        let inputs = description.inputs.enumerated().map { index, input in
            let size = index == 0 ? (width, height) : sizes[1]
            let stored = input.orientation.size(width: size.0, height: size.1)
            let picture = TestPicture(
                input.format, stored.width, stored.height, bottomUp: seed % 3 == 1, padding: Int(seed % 5))
            picture.fillRandom(&random)
            return picture
        }
        let context = FrameContext(time: 1.25, frame: 42)
        let format = description.output.format
        let expected = TestPicture(format, width, height)
        interpret(description, inputs, expected, uniforms: uniforms, context: context)
        let actual = TestPicture(format, width, height)
        runOnThreads(threads, pass, inputs, actual, uniforms: uniforms, context: context)
        var beyond = 0
        var count = 0
        var place = ""
        for plane in 0..<format.planeCount {
            for y in 0..<actual.rows(inPlane: plane) {
                for x in 0..<actual.samples(inPlane: plane) {
                    count += 1
                    let (p, q) = (actual[plane, x, y], expected[plane, x, y])
                    let distance =
                        format.isFloat
                        ? 1000 * abs(format.number(p) - format.number(q)) / max(1, abs(format.number(q)))
                        : Double(abs(p - q))
                    if !(distance <= Self.tolerance(format)) {
                        beyond += 1
                        place = "plane \(plane) sample \(x) row \(y): \(p), not \(q)"
                    }
                }
            }
        }
        let allowed = mayJump ? 2 + count / 50 : 0
        return beyond > allowed ? "\(beyond) of \(count) samples differ, \(place)" : nil
    }

    /// The case, its kernel as text.
    var text: String {
        "seed \(seed), jumps \(mayJump), setup \(setup), \(threads) threads, sizes \(sizes)\n"
            + "reads \(description.inputs)\nwrites \(description.output)\n\(description.kernel.text)"
    }

    /// A smaller case that fails as well: the smallest part of the kernel, then the plainest picture.
    func shrunk() -> RandomCase {
        var best = self
        func accept(_ change: (inout RandomCase) -> Void) -> Bool {
            var candidate = best
            change(&candidate)
            guard let found = try? candidate.failure(), !found.isEmpty else { return false }
            best = candidate
            return true
        }
        let kernel = description.kernel
        for value in 0..<kernel.valueCount {
            guard let part = kernel.showing(value: value), part.valueCount < kernel.valueCount else { continue }
            if accept({ $0.description.kernel = part }) { break }
        }
        _ = accept { $0.description.output.dither = false }
        for index in description.inputs.indices {
            _ = accept { $0.description.inputs[index].orientation = .identity }
            _ = accept { $0.description.inputs[index] = PassInput(format: .rgba) }
        }
        _ = accept { $0.description.output = PassOutput(format: .rgba) }
        _ = accept { $0.threads = 1 }
        while best.sizes[0].height > 1, accept({ $0.sizes[0].height = ($0.sizes[0].height + 1) / 2 }) {}
        while best.sizes[0].width > 1, accept({ $0.sizes[0].width = ($0.sizes[0].width + 1) / 2 }) {}
        return best
    }
}
