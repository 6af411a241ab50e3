import Glibc
import PatchKernel
import PatchMedia
import Synchronization
import Testing

/// Random kernels agree between machine code and interpreter. `PATCHBAY_RANDOM_KERNELS` says how many of each kind,
/// `PATCHBAY_SEED` where to begin.
@Suite struct RandomKernelTests {
    private static func setting(_ name: String, _ fallback: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? fallback
    }

    /// Runs cases on two threads; what failed, shrunk.
    private func failures(
        _ seeds: Range<Int>, _ make: @escaping @Sendable (UInt64) throws -> RandomCase
    ) throws -> [String] {
        let next = Atomic(seeds.lowerBound)
        let found = Mutex<[String]>([])
        try withoutActuallyEscaping(
            {
                while true {
                    let seed = next.add(1, ordering: .relaxed).oldValue
                    guard seed < seeds.upperBound, found.withLock({ $0.count }) < 5 else { return }
                    do {
                        let test = try make(UInt64(seed))
                        guard let problem = try test.failure() else { continue }
                        let small = test.shrunk()
                        let smallProblem = try small.failure() ?? "the small case does not fail again"
                        found.withLock {
                            $0.append("seed \(seed): \(problem)\n\(test.text)\nshrunk: \(smallProblem)\n\(small.text)")
                        }
                    } catch {
                        found.withLock { $0.append("seed \(seed): \(error)\n\((try? make(UInt64(seed)))?.text ?? "")") }
                    }
                }
            } as @Sendable () -> Void
        ) { work in
            let threads = try (0..<2).map { try PosixThread(name: "random \($0)", work) }
            for thread in threads { thread.join() }
        }
        return found.withLock { $0 }
    }

    @Test(arguments: [false, true])
    func machineCodeAgreesWithInterpreter(jumps: Bool) throws {
        let count = Self.setting("PATCHBAY_RANDOM_KERNELS", isSanitized ? 100 : 1000)
        let first = Self.setting("PATCHBAY_SEED", 1)
        print("random kernels: seeds \(first) to \(first + count - 1), jumps \(jumps)")
        let start = monotonicNanoseconds()
        for failure in try failures(first..<first + count, { try RandomCase(seed: $0, jumps: jumps) }) {
            Issue.record("\(failure)")
        }
        print("random kernels: \(count) in \((monotonicNanoseconds() - start) / 1_000_000) ms")
    }

    /// What the generator makes covers the language: else the test above would prove less than it says.
    @Test func generatorCoversTheLanguage() throws {
        var words: Set<String> = []
        var sizes: Set<Int> = []
        var heights: Set<Int> = []
        for seed in UInt64(1)...2000 {
            for jumps in [false, true] {
                let test = try RandomCase(seed: seed, jumps: jumps)
                for input in test.description.inputs {
                    words.insert("reads \(input.format)")
                    words.insert("turned \(input.orientation)")
                }
                words.insert("writes \(test.description.output.format)")
                words.insert("threads \(test.threads)")
                sizes.insert(test.sizes[0].width)
                heights.insert(test.sizes[0].height)
                for line in test.description.kernel.text.split(separator: "\n") {
                    for word in line.split(separator: " ") { words.insert(String(word)) }
                }
            }
        }
        var expected = Operation.allCases.map(\.rawValue)
        expected += ValueType.allCases.map(\.rawValue)
        expected += EdgeMode.allCases.map(\.rawValue) + SampleFilter.allCases.map(\.rawValue)
        expected += PixelFormat.allCases.flatMap { ["reads \($0)", "writes \($0)"] }
        expected += (1...4).map { "threads \($0)" }
        expected += [
            "space=rgb", "space=ycbcr", "light=linear", "light=encoded", "alpha=straight", "alpha=premultiplied",
            "uniform", "current", "tap", "sample", "uv", "position", "size", "inputSize", "time", "frame", "pixelHash",
            "construct", "swizzle", "select", "loop", "loopParameter", "loopResult", "linearize", "encode",
            "premultiply", "unpremultiply", "turned 0° mirrored", "turned 270°",
        ]
        let missing = expected.filter { !words.contains($0) }
        #expect(missing.isEmpty, "never generated: \(missing)")
        #expect(sizes == Set(1...67))
        #expect(heights == Set(1...9))
    }

    /// A compiler that took sin for cos would be found out, and by a kernel of a few values.
    @Test func aFaultIsFoundAndShrunk() throws {
        let fault: @Sendable (Kernel) throws -> Kernel = { kernel in
            let lines = kernel.text.split(separator: "\n").map { line in
                line.contains(" = sin ") ? line.replacing(" = sin ", with: " = cos ") : line
            }
            return try Kernel(parsing: lines.joined(separator: "\n"))
        }
        var found: [RandomCase] = []
        for seed in UInt64(1)...400 where found.count < 3 {
            var test = try RandomCase(seed: seed, jumps: false)
            guard test.description.kernel.text.contains(" = sin ") else { continue }
            test.fault = fault
            if try test.failure() != nil { found.append(test) }
        }
        #expect(found.count == 3, "a wrong function went unnoticed")
        for test in found {
            let small = test.shrunk()
            #expect(try small.failure() != nil)
            #expect(small.description.kernel.valueCount <= test.description.kernel.valueCount)
            #expect(small.description.kernel.text.contains(" = sin "))
            #expect(small.sizes[0].width * small.sizes[0].height <= 4, "\(small.text)")
        }
    }

    @Test(arguments: ProcessorLevel.runnable)
    func olderProcessors(_ processor: String) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: processor))
        for seed in UInt64(5000)..<5030 {
            let test = try RandomCase(seed: seed, jumps: false)
            if let found = try test.failure(compiler) { Issue.record("\(processor): \(found)\n\(test.text)") }
        }
    }

    @Test func textRoundTrips() throws {
        for seed in UInt64(0)..<500 {
            let kernel = try RandomCase(seed: seed, jumps: true).description.kernel
            let again = try Kernel(parsing: kernel.text)
            #expect(again == kernel, "seed \(seed)\n\(kernel.text)")
            #expect(again.text == kernel.text)
        }
    }

    @Test func simplifyingKeepsTheResult() throws {
        for seed in UInt64(0)..<60 {
            var test = try RandomCase(seed: seed, jumps: false)
            let before = test.description.kernel.valueCount
            test.fault = { $0.simplified() }
            #expect(try test.failure() == nil, "seed \(seed)")
            test.description.kernel = test.description.kernel.simplified()
            #expect(test.description.kernel.valueCount <= before)
        }
    }
}

/// The sanitizers make everything many times slower; scripts/sanitize says when they are on.
let isSanitized = getenv("PATCHBAY_SANITIZED") != nil
