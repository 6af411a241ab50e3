import Glibc
import PatchKernel
import PatchMedia

/// Compiles the same few passes again and again through a cache on disk, each time by a compiler that has seen nothing, and
/// checks every result: several of these at once are what a cache folder has to stand.
struct CacheHammer {
    private let folder: String
    private let count: Int
    private let rounds: Int

    init(_ arguments: inout some IteratorProtocol<String>) throws(KernelError) {
        guard let folder = arguments.next(), let count = arguments.next().flatMap({ Int($0) }),
            let rounds = arguments.next().flatMap({ Int($0) })
        else { throw KernelError(.range, "--cache needs a folder, a count of passes, a count of rounds") }
        self.folder = folder
        self.count = count
        self.rounds = rounds
        if arguments.next() == "--full" {
            // No file may grow beyond 1 KB, less than any entry, which ends writes in the middle as a full disk does.
            var limit = rlimit(rlim_cur: 1024, rlim_max: 1024)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            signal(SIGXFSZ, SIG_IGN)
        }
    }

    func run() throws {
        var (right, fromDisk) = (0, 0)
        for _ in 0..<rounds {
            for index in 0..<count {
                let pass = try KernelCompiler(CompilerOptions(cacheDirectory: folder)).compile(description(index))
                if pass.origin == .diskCache { fromDisk += 1 }
                if try isRight(pass) { right += 1 }
            }
        }
        print("\(right) right, \(fromDisk) from disk")
        if right != count * rounds { exit(1) }
    }

    private func description(_ index: Int) throws(KernelError) -> PassDescription {
        var b = KernelBuilder(name: "hammer", inputs: [InputDeclaration(name: "image")])
        let scaled = try b.apply(.mul, [b.current(0), b.constant(Float(index + 1) / Float(count + 1))])
        return PassDescription(
            kernel: try b.finish(scaled), inputs: [PassInput(format: .yuv420p)], output: PassOutput(format: .rgba))
    }

    private func isRight(_ pass: CompiledPass) throws -> Bool {
        let input = Frame(allocating: VideoFormat(.yuv420p, width: 67, height: 6))
        Bench.fill(input, seed: 3)
        let format = VideoFormat(.rgba, width: 67, height: 6)
        let (actual, expected) = (Frame(allocating: format), Frame(allocating: format))
        [ImageReference(input)].withUnsafeBufferPointer { inputs in
            var uniform: Float = 0
            pass.run(
                inputs: inputs, output: ImageReference(actual), uniforms: &uniform, context: FrameContext(), rows: 0..<6
            )
            Interpreter.run(
                pass.description, inputs: inputs, output: ImageReference(expected), uniforms: &uniform,
                context: FrameContext(), rows: 0..<6)
        }
        return Bench.difference(actual, expected, rows: 0..<6) <= 1
    }
}
