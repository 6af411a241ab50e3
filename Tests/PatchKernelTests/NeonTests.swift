import Glibc
import PatchKernel
import PatchMedia
import PatchTesting
import Synchronization
import Testing

/// Machine code for 64-bit ARM, run by qemu's user-mode emulator (Debian package qemu-user-static): the code is linked to
/// Fixtures/emulated.c, the pass's own driver calls it through memory that both share.
@Suite(.serialized) struct NeonTests {
    @Test(arguments: [
        (PixelFormat.yuv420p, PixelFormat.rgba), (.rgba, .yuv420p), (.nv12, .bgra), (.bgra, .nv12), (.yuv422p, .half4),
        (.half4, .yuv444p), (.yuv420p10, .rgba), (.rgba, .p010), (.gray8, .yuv420p), (.yuv420p, .gray8),
    ])
    func convertsOnARM(input: PixelFormat, output: PixelFormat) throws {
        try compare(
            PassDescription(
                kernel: StandardKernels.copy, inputs: [PassInput(format: input)], output: PassOutput(format: output)),
            seed: 3)
    }

    @Test(arguments: UInt64(700)..<716) func randomKernelsOnARM(seed: UInt64) throws {
        var generator = KernelGenerator(seed: seed)
        generator.usesJumps = false
        let kernel = try generator.make(operations: 4 + Int(seed % 12))
        let formats: [PixelFormat] = [.rgba, .yuv420p, .half4, .nv12, .yuv444p, .bgra, .yuv420p10, .gray8]
        var random = SeededRandom(seed)
        func pick() -> PixelFormat { formats[Int(random.next() % UInt64(formats.count))] }
        try compare(
            PassDescription(
                kernel: kernel,
                inputs: kernel.inputs.map { _ in
                    PassInput(
                        format: pick(), orientation: Orientation(quarterTurns: Int(seed % 4), mirrored: seed % 3 == 0))
                },
                output: PassOutput(format: pick())), seed: seed)
    }

    /// The vector units are used: whole registers of four floats are multiplied and added.
    @Test func codeIsVectorised() throws {
        let pass = try ForeignPass(
            try Self.look(), triple: Emulation.triple, processor: "generic", prepare: { _ in }, span: { _ in })
        let folder = try TemporaryDirectory()
        try folder.write("pass.o", bytes: pass.objects[0])
        let text = try Program.run("llvm-objdump", ["-d", "--no-show-raw-insn", folder.file("pass.o")]).text
        #expect(text.contains("file format elf64-littleaarch64"))
        let wide = text.split(separator: "\n").count {
            $0.contains(".4s") && ($0.contains("fmla") || $0.contains("fmul"))
        }
        #expect(wide > 20, "\(text.prefix(4000))")
        #expect(!text.contains("\tbl\t"), "kernels call no functions")
    }

    /// (1.1 · in) ^ 0.9
    static func look() throws -> PassDescription {
        var builder = KernelBuilder(
            name: "look", inputs: [InputDeclaration(name: "image", light: .encoded, alpha: .straight)], uniforms: [],
            light: .encoded, alpha: .straight)
        let scaled = try builder.apply(.mul, [builder.current(0), builder.constant(Float(1.1))])
        let power = try builder.apply(.pow, [scaled, builder.constant(Float(0.9))])
        return PassDescription(
            kernel: try builder.finish(power), inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba))
    }

    /// Emulated code against the interpreter: one code of 8 bits, four of 10 bits, 4/1000 of a half.
    private func compare(_ description: PassDescription, seed: UInt64) throws {
        let (width, height) = (37, 11)
        var random = SeededRandom(seed)
        let inputs = description.inputs.map { input in
            let size = input.orientation.size(width: width, height: height)
            let picture = TestPicture(input.format, size.width, size.height)
            picture.fillRandom(&random)
            return picture
        }
        let uniforms = (0..<max(1, description.kernel.uniformFloatCount)).map { _ in
            Float.random(in: -1...1, using: &random)
        }
        let context = FrameContext(time: 1.25, frame: 42)
        let expected = TestPicture(description.output.format, width, height)
        interpret(description, inputs, expected, uniforms: uniforms, context: context)
        let actual = TestPicture(description.output.format, width, height)
        try Emulation.run(description, inputs, actual, uniforms: uniforms, context: context)
        let found = difference(expected, actual)
        #expect(
            found.codes <= (description.output.format.bitDepth == 8 ? 1 : 4),
            "seed \(seed), \(description.inputs) to \(description.output): \(found.place)\n\(description.kernel.text)")
    }
}

/// A child process under qemu that runs the functions of one pass.
private enum Emulation {
    static let triple = "aarch64-linux-gnu"
    /// The same in both processes; nothing else lies there.
    private static let address = 0x2000_0000_0000
    private static let bytes = 8 << 20
    private static let workspaceOffset = 4096
    private static let ditherOffset = 1 << 20
    private static let pictureOffset = 2 << 20
    private enum Command { static let idle = 0, prepare = 1, span = 2, stop = 3 }

    /// What the entry points, which carry no context, need; set for the duration of one `run`.
    private struct Link {
        var memory: UnsafeMutableRawPointer
        var pass: ForeignPass
        var child: Program
        var isBroken = false
    }
    // Used by one test at a time (the suite is serialised), on its own thread.
    nonisolated(unsafe) private static var link: Link?

    static func run(
        _ description: PassDescription, _ inputs: [TestPicture], _ output: TestPicture, uniforms: [Float],
        context: FrameContext
    ) throws {
        let pass = try ForeignPass(
            description, triple: triple, processor: "generic", prepare: { Emulation.call(Command.prepare, $0) },
            span: { Emulation.call(Command.span, $0) })
        let folder = try TemporaryDirectory()
        let objects = pass.objects.indices.map { folder.file("pass\($0).o") }
        for (index, object) in pass.objects.enumerated() { try folder.write("pass\(index).o", bytes: object) }
        let source = String(#filePath.dropLast("NeonTests.swift".count)) + "Fixtures/emulated.c"
        // swiftc's own clang and lld: no cross compiler is needed.
        try Program.run(
            "clang",
            [
                "--target=\(triple)", "-O1", "-ffreestanding", "-fno-stack-protector", "-fno-builtin", "-nostdlib",
                "-static",
                "-fuse-ld=lld", source,
            ] + objects + ["-o", folder.file("program")])
        let file = folder.file("memory")
        let descriptor = open(file, O_RDWR | O_CREAT, 0o600)
        try #require(descriptor >= 0 && ftruncate(descriptor, off_t(bytes)) == 0)
        defer { close(descriptor) }
        let memory = try #require(
            mmap(
                UnsafeMutableRawPointer(bitPattern: address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | 0x100000,
                descriptor, 0))
        defer { munmap(memory, bytes) }
        try #require(Int(bitPattern: memory) == address, "mmap: \(String(cString: strerror(errno)))")
        try #require(workspaceOffset + pass.workspaceBytes < ditherOffset)

        var next = memory + pictureOffset
        func share(_ picture: TestPicture) -> ImageReference {
            var reference = picture.reference
            func place(_ index: Int) -> Plane {
                guard index < picture.format.planeCount else { return reference.planes.0 }
                let rowBytes = picture.samples(inPlane: index) * picture.format.bytesPerSample
                let plane = Plane(base: next, stride: rowBytes)
                for y in 0..<picture.rows(inPlane: index) {
                    memcpy(plane.row(y), picture.plane(index).row(y), rowBytes)
                }
                next += (rowBytes * picture.rows(inPlane: index) + 4095) / 4096 * 4096
                return plane
            }
            reference.planes = (place(0), place(1), place(2), place(3))
            return reference
        }
        let references = inputs.map(share)
        let target = share(output)
        let uniformMemory = next.assumingMemoryBound(to: Float.self)
        uniformMemory.update(from: uniforms, count: uniforms.count)

        let child = try Program(
            "qemu-aarch64-static", [folder.file("program"), file, "\(address)", "\(bytes)"])
        link = Link(memory: memory, pass: pass, child: child)
        defer { link = nil }
        references.withUnsafeBufferPointer {
            pass.run(inputs: $0, output: target, uniforms: uniformMemory, context: context, rows: 0..<output.height)
        }
        let isBroken = link?.isBroken ?? true
        memory.storeBytes(of: Command.stop, as: Int.self)
        let outcome = try child.waitForEnd(within: 20)
        try #require(!isBroken && outcome.exitCode == 0, "\(outcome)")
        for index in 0..<output.format.planeCount {
            let planes = [target.planes.0, target.planes.1, target.planes.2, target.planes.3]
            for y in 0..<output.rows(inPlane: index) {
                memcpy(
                    output.plane(index).row(y), planes[index].row(y),
                    output.samples(inPlane: index) * output.format.bytesPerSample)
            }
        }
    }

    /// Moves the workspace into shared memory, pointers into it included, lets the child work on it, and takes it back.
    private static func call(_ command: Int, _ workspace: UnsafeMutableRawPointer) {
        guard let now = link, !now.isBroken else { return }
        let shared = now.memory + workspaceOffset
        memcpy(shared, workspace, now.pass.workspaceBytes)
        let words = shared.assumingMemoryBound(to: Int.self)
        let own = Int(bitPattern: workspace)..<Int(bitPattern: workspace) + now.pass.workspaceBytes
        for index in 0..<now.pass.wordCount where own.contains(words[index]) {
            words[index] += Int(bitPattern: shared) - own.lowerBound
        }
        if let table = UnsafeRawPointer(bitPattern: words[now.pass.ditherWord]) {
            memcpy(now.memory + ditherOffset, table, now.pass.ditherBytes)
            words[now.pass.ditherWord] = Int(bitPattern: now.memory + ditherOffset)
        }
        atomicFence()
        now.memory.storeBytes(of: command, as: Int.self)
        let deadline = monotonicNanoseconds() + 60_000_000_000
        while now.memory.load(as: Int.self) != Command.idle {
            if !now.child.isRunning || monotonicNanoseconds() > deadline {
                link?.isBroken = true
                return
            }
            sched_yield()
        }
        atomicFence()
        let head = now.pass.wordCount * 8
        memcpy(workspace + head, shared + head, now.pass.workspaceBytes - head)
    }

    private static func atomicFence() { atomicMemoryFence(ordering: .sequentiallyConsistent) }
}
