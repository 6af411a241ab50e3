import PatchKernel
import PatchMedia
import Synchronization
import Testing

@Suite struct ThreadTests {
    /// Eight threads ask for one pass at once and get one; four of them then share a picture's bands.
    @Test(arguments: [PixelFormat.yuv420p, .rgba])
    func threadsShareOnePass(_ format: PixelFormat) throws {
        var generator = KernelGenerator(seed: 77)
        let kernel = try generator.make(operations: 12)
        let description = PassDescription(
            kernel: kernel, inputs: kernel.inputs.map { _ in PassInput(format: format) },
            output: PassOutput(format: format))
        let compiler = KernelCompiler()
        let passes = Mutex<[ObjectIdentifier]>([])
        let threads = try (0..<8).map { index in
            try PosixThread(name: "compile \(index)") {
                if let pass = try? compiler.compile(description) {
                    passes.withLock { $0.append(ObjectIdentifier(pass)) }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(passes.withLock { $0.count } == 8)
        #expect(Set(passes.withLock { $0 }).count == 1)

        let pass = try compiler.compile(description)
        var random = SeededRandom(9)
        let inputs = kernel.inputs.map { _ in TestPicture(format, 67, 64) }
        for input in inputs { input.fillRandom(&random) }
        let uniforms = [Float](repeating: 0.4, count: max(1, kernel.uniformFloatCount))
        let whole = TestPicture(format, 67, 64)
        run(pass, inputs, whole, uniforms: uniforms)
        for count in 2...4 {
            let shared = TestPicture(format, 67, 64)
            let references = inputs.map(\.reference)
            let target = shared.reference
            let next = Atomic(0)
            let workers = try withoutActuallyEscaping(
                {
                    while true {
                        let band = next.add(1, ordering: .relaxed).oldValue
                        guard band < 16 else { return }
                        references.withUnsafeBufferPointer { references in
                            uniforms.withUnsafeBufferPointer { uniforms in
                                pass.run(
                                    inputs: references, output: target, uniforms: uniforms.baseAddress!,
                                    context: FrameContext(), rows: band * 4..<band * 4 + 4)
                            }
                        }
                    }
                } as @Sendable () -> Void
            ) { work in
                let workers = try (0..<count).map { try PosixThread(name: "worker \($0)", work) }
                for worker in workers { worker.join() }
                return workers.count
            }
            #expect(workers == count)
            #expect(difference(whole, shared).codes == 0)
        }
    }
}
