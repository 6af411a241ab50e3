import Glibc
import PatchKernel
import PatchMedia
import Synchronization

/// Times passes over 1920×1080 on one and two threads, after checking a part of each against the interpreter.
/// Arguments: names of workloads (prefixes); none runs all. `--processor NAME` (such as x86-64-v4), `--bits N`,
/// `--interleave N` and `--pipeline P` change how code is made; `--frames N` is the number of frames timed; `--dump FILE` writes the object of one workload instead;
/// `--filters "NAME=UNIFORMS …"` with `--formats rgba-rgba` is a workload of that name (FilterChain);
/// `--soak N` compiles N different passes and prints the memory in use; `--cache FOLDER COUNT ROUNDS [--full]` uses a cache
/// on disk as one of several processes would (CacheHammer).
@main struct Bench {
    static func main() {
        do { try run() } catch {
            let text = "KernelBench: error: \(error)\n"
            _ = text.withCString { write(2, $0, strlen($0)) }
            exit(1)
        }
    }

    private static func run() throws {
        var only: [String] = []
        var options = CompilerOptions()
        var frames = 60
        var dump: String?
        var soak = 0
        var filters: String?
        var formats = "rgba-rgba"
        var arguments = CommandLine.arguments.dropFirst().makeIterator()
        while let argument = arguments.next() {
            switch argument {
            case "--bits": options.vectorBits = arguments.next().flatMap { Int($0) }
            case "--interleave": options.interleave = arguments.next().flatMap { Int($0) }
            case "--processor": options.processor = arguments.next()
            case "--pipeline": options.pipeline = arguments.next()
            case "--soak": soak = arguments.next().flatMap { Int($0) } ?? 0
            case "--dump": dump = arguments.next()
            case "--filters": filters = arguments.next()
            case "--formats": formats = arguments.next() ?? formats
            case "--cache": return try CacheHammer(&arguments).run()
            case "--frames": frames = arguments.next().flatMap { Int($0) } ?? frames
            default: only.append(argument)
            }
        }
        let compiler = KernelCompiler(options)
        var workloads = try all()
        if let filters {
            workloads = [try FilterChain(filters).workload(formats)]
            only = workloads.map(\.name)
        }
        if let dump {
            for workload in workloads where only.contains(workload.name) {
                let object = try compiler.object(of: workload.description())
                guard let file = fopen(dump, "w") else { return }
                fwrite(object, 1, object.count, file)
                fclose(file)
            }
            return
        }
        if soak > 0 { return try soakCompiler(soak) }
        print("workload                        compile ms   code KB   1 thread min/med ms   2 threads min/med ms")
        for workload in workloads where only.isEmpty || only.contains(where: { workload.name.hasPrefix($0) }) {
            try measure(workload, compiler, frames)
        }
    }

    /// Compiles ever new passes and drops them: memory must stay flat.
    static func soakCompiler(_ count: Int) throws {
        let compiler = KernelCompiler()
        for index in 0...count {
            var b = KernelBuilder(name: "soak", inputs: [InputDeclaration(name: "image")])
            let scaled = try b.apply(.mul, [b.apply(.sin, [b.current(0)]), b.constant(Float(index))])
            let kernel = try b.finish(scaled)
            _ = try compiler.compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba)))
            if index % max(1, count / 10) == 0 { print("\(index) passes: \(residentKilobytes()) KB resident") }
        }
    }

    static func residentKilobytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let words = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }.split(separator: " ")
        return (Int(words[1]) ?? 0) * 4
    }

    static func all() throws(KernelError) -> [Workload] {
        let look = try Kernels.look()
        let uniforms = Kernels.lookUniforms
        var list = [
            Workload(
                name: "W1 look rgba", kernel: look, uniforms: uniforms, source: .rgba, target: .rgba,
                premultiplied: false),
            Workload(
                name: "W1 look rgba premultiplied", kernel: look, uniforms: uniforms, source: .rgba, target: .rgba),
            Workload(name: "W1 look yuv420p", kernel: look, uniforms: uniforms, source: .yuv420p, target: .yuv420p),
            Workload(name: "W1 look nv12", kernel: look, uniforms: uniforms, source: .nv12, target: .nv12),
            Workload(name: "W1 look half4", kernel: look, uniforms: uniforms, source: .half4, target: .half4),
            Workload(name: "W6 convolution rgba", kernel: try Kernels.convolution(), source: .rgba, target: .rgba),
            Workload(name: "W6 sobel rgba-gray8", kernel: try Kernels.sobel(), source: .rgba, target: .gray8),
            Workload(name: "W6 sobel gray8", kernel: try Kernels.sobel(), source: .gray8, target: .gray8),
            Workload(name: "W10 yuv420p-rgba", kernel: StandardKernels.copy, source: .yuv420p, target: .rgba),
            Workload(name: "W10 rgba-yuv420p", kernel: StandardKernels.copy, source: .rgba, target: .yuv420p),
            Workload(name: "W10 rgba-nv12", kernel: StandardKernels.copy, source: .rgba, target: .nv12),
            Workload(name: "copy rgba", kernel: StandardKernels.copy, source: .rgba, target: .rgba),
            Workload(name: "copy yuv420p", kernel: StandardKernels.copy, source: .yuv420p, target: .yuv420p),
            Workload(name: "sourceOver rgba", kernel: StandardKernels.sourceOver, source: .rgba, target: .rgba),
            Workload(
                name: "crossfade rgba", kernel: try Kernels.crossfade(), uniforms: [0.3], source: .rgba, target: .rgba),
            Workload(
                name: "crossfade gray8", kernel: try Kernels.crossfade(), uniforms: [0.3], source: .gray8,
                target: .gray8),
            Workload(
                name: "levels rgba", kernel: try Kernels.levels(), uniforms: [1.2, 0.05], source: .rgba, target: .rgba),
            Workload(
                name: "levels yuv420p-rgba", kernel: try Kernels.levels(), uniforms: [1.2, 0.05], source: .yuv420p,
                target: .rgba),
            Workload(name: "W6 sobelSum rgba", kernel: try Kernels.sobelSum(), source: .rgba, target: .rgba),
            Workload(name: "W6 sobelSum gray8", kernel: try Kernels.sobelSum(), source: .gray8, target: .gray8),
            Workload(name: "resize rgba", kernel: StandardKernels.resize(), source: .rgba, target: .rgba),
            Workload(name: "resize yuv420p", kernel: StandardKernels.resize(), source: .yuv420p, target: .yuv420p),
        ]
        for format in [PixelFormat.rgba, .half4] {
            for (word, ratio) in [("double", 0.5), ("halve", 2)] {
                list.append(
                    Workload(
                        name: "\(word) \(format)", kernel: StandardKernels.resize(), source: format, target: format,
                        ratio: ratio))
            }
        }
        let turned = Orientation(quarterTurns: 1)
        list += [
            Workload(
                name: "mirror yuv420p", kernel: StandardKernels.copy, source: .yuv420p, target: .yuv420p,
                orientation: .mirror),
            Workload(
                name: "turn yuv420p", kernel: StandardKernels.copy, source: .yuv420p, target: .yuv420p,
                orientation: turned),
            Workload(
                name: "turn rgba", kernel: StandardKernels.copy, source: .rgba, target: .rgba, orientation: turned),
        ]
        for count in [1, 5, 10, 20, 40] {
            list.append(
                Workload(
                    name: "chain \(count)", kernel: try Kernels.chain(count),
                    uniforms: (0..<count).map { [1.05, 0.01, 0.9, 0.95, 0.98][$0 % 5] }, source: .rgba,
                    target: .rgba, premultiplied: false))
        }
        return list
    }

    static func measure(_ workload: Workload, _ compiler: KernelCompiler, _ frames: Int) throws {
        let description = workload.description()
        var compileTimes: [Int64] = []
        var fresh = try compiler.compile(description)
        for _ in 0..<5 {
            let start = processNanoseconds()
            fresh = try KernelCompiler(compiler.options).compile(description)
            compileTimes.append(processNanoseconds() - start)
        }
        let pass = fresh
        let width = 1920
        let height = 1080
        let stored = workload.orientation.size(width: width, height: height)
        let source = VideoFormat(
            workload.source, width: Int(Double(stored.width) * workload.ratio),
            height: Int(Double(stored.height) * workload.ratio))
        let target = VideoFormat(workload.target, width: width, height: height)
        let inputs = description.inputs.map { _ in Frame(allocating: source) }
        for (index, frame) in inputs.enumerated() { fill(frame, seed: UInt32(index + 1)) }
        let output = Frame(allocating: target)
        let references = inputs.map { ImageReference($0) }
        let uniforms = workload.uniforms.isEmpty ? [0] : workload.uniforms
        let job = Job(
            pass: pass, inputs: references, output: ImageReference(output), uniforms: uniforms,
            frames: inputs + [output])

        // Equality first: one band against the interpreter.
        job.run(400..<432)
        let expected = Frame(allocating: target)
        references.withUnsafeBufferPointer { references in
            uniforms.withUnsafeBufferPointer { uniforms in
                Interpreter.run(
                    description, inputs: references, output: ImageReference(expected), uniforms: uniforms.baseAddress!,
                    context: FrameContext(), rows: 400..<432)
            }
        }
        let worst = difference(output, expected, rows: 400..<432)
        withExtendedLifetime(expected) {}
        guard worst <= 1 else {
            print("\(workload.name): differs from the interpreter by \(worst) codes; not timed")
            return
        }

        // Processor time: what other programs do meanwhile does not count.
        let one = times(frames, clock: threadNanoseconds) { job.run(0..<height) }
        let crew = Crew(job: job, height: height)
        let two = times(frames) { crew.runFrame() }
        crew.stop()
        func text(_ value: Double) -> String {
            let hundredths = Int((value * 100).rounded())
            let rest = hundredths % 100
            return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
        }
        func pad(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        let compile = Double(compileTimes.sorted()[compileTimes.count / 2]) / 1e6
        print(
            pad(workload.name, 32) + pad(text(compile), 13) + pad("\(pass.codeBytes / 1024)", 10)
                + pad("\(text(one.min)) / \(text(one.median))", 22) + "\(text(two.min)) / \(text(two.median))")
    }

    /// The compiler works on a thread of its own.
    static func processNanoseconds() -> Int64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }
    static func threadNanoseconds() -> Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func times(
        _ frames: Int, clock: () -> Int64 = monotonicNanoseconds, _ body: () -> Void
    ) -> (min: Double, median: Double) {
        for _ in 0..<3 { body() }
        var times: [Double] = []
        for _ in 0..<frames {
            let start = clock()
            body()
            times.append(Double(clock() - start) / 1e6)
        }
        times.sort()
        return (times[0], times[times.count / 2])
    }

    static func fill(_ frame: Frame, seed: UInt32) {
        var state = seed &* 2_654_435_761
        for index in 0..<frame.format.pixelFormat.planeCount {
            let layout = frame.format.pixelFormat.layout(ofPlane: index)
            for y in 0..<layout.height(of: frame.height) {
                let row = frame.plane(index).row(y)
                let bytes = layout.width(of: frame.width) * layout.bytesPerPixel
                for x in 0..<bytes {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    var byte = UInt8(truncatingIfNeeded: state >> 24)
                    // Halves in 0…1: the high byte up to that of 1.0.
                    if frame.format.pixelFormat.isFloat, x % 2 == 1 { byte %= 0x3c }
                    row.storeBytes(of: byte, toByteOffset: x, as: UInt8.self)
                }
            }
        }
    }

    static func difference(_ a: Frame, _ b: Frame, rows: Range<Int>) -> Int {
        let format = a.format.pixelFormat
        var worst = 0
        for index in 0..<format.planeCount {
            let layout = format.layout(ofPlane: index)
            for y in (rows.lowerBound >> layout.log2Height)..<(rows.upperBound >> layout.log2Height) {
                let (p, q) = (a.plane(index).row(y), b.plane(index).row(y))
                let bytes = layout.width(of: a.width) * layout.bytesPerPixel
                if format.bitDepth == 8 {
                    for x in 0..<bytes {
                        worst = max(
                            worst,
                            abs(
                                Int(p.load(fromByteOffset: x, as: UInt8.self))
                                    - Int(q.load(fromByteOffset: x, as: UInt8.self))))
                    }
                } else {
                    for x in stride(from: 0, to: bytes, by: 2) {
                        worst = max(
                            worst,
                            abs(
                                Int(p.load(fromByteOffset: x, as: UInt16.self))
                                    - Int(q.load(fromByteOffset: x, as: UInt16.self))))
                    }
                }
            }
        }
        return worst
    }
}

/// A pass with everything it needs.
final class Job: Sendable {
    let pass: CompiledPass
    let inputs: [ImageReference]
    let output: ImageReference
    let uniforms: [Float]
    /// Whose memory the references point into.
    let frames: [Frame]

    init(
        pass: CompiledPass, inputs: [ImageReference], output: ImageReference, uniforms: [Float], frames: [Frame]
    ) {
        self.frames = frames
        self.pass = pass
        self.inputs = inputs
        self.output = output
        self.uniforms = uniforms
    }

    func run(_ rows: Range<Int>) {
        inputs.withUnsafeBufferPointer { inputs in
            uniforms.withUnsafeBufferPointer { uniforms in
                pass.run(
                    inputs: inputs, output: output, uniforms: uniforms.baseAddress!, context: FrameContext(),
                    rows: rows)
            }
        }
    }
}

/// Two threads that share a frame's bands by an atomic counter.
final class Crew: Sendable {
    private let job: Job
    private let bands: Int
    private let bandRows: Int
    private let next = Atomic(0)
    private let frame = Atomic(0)
    private let done = Atomic(0)
    private let isOver = Atomic(false)
    private let helper: Mutex<PosixThread?> = Mutex(nil)

    init(job: Job, height: Int) {
        self.job = job
        bandRows = 36
        bands = (height + bandRows - 1) / bandRows
        let thread = try? PosixThread(name: "helper") { [self] in
            var seen = 0
            while !isOver.load(ordering: .acquiring) {
                let now = frame.load(ordering: .acquiring)
                if now == seen { continue }
                seen = now
                work()
                done.add(1, ordering: .acquiringAndReleasing)
            }
        }
        helper.withLock { $0 = thread }
    }

    private func work() {
        while true {
            let band = next.add(1, ordering: .acquiringAndReleasing).oldValue
            guard band < bands else { return }
            job.run(band * bandRows..<(band + 1) * bandRows)
        }
    }

    func runFrame() {
        next.store(0, ordering: .releasing)
        done.store(0, ordering: .releasing)
        frame.add(1, ordering: .acquiringAndReleasing)
        work()
        while done.load(ordering: .acquiring) == 0 {}
    }

    func stop() {
        isOver.store(true, ordering: .releasing)
        helper.withLock { $0?.join() }
    }
}
