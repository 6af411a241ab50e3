import Glibc
import PatchKernel
import PatchMedia
import PatchTesting
import Testing

@Suite struct DiskCacheTests {
    /// Of each test its own.
    private let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    private func files(_ directory: String) -> [String] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(cString: $0.baseAddress!.assumingMemoryBound(to: CChar.self))
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private func description(_ gain: Float) throws -> PassDescription {
        var b = KernelBuilder(name: "cached", inputs: [InputDeclaration(name: "image")])
        let scaled = try b.apply(.mul, [b.current(0), b.constant(gain)])
        let kernel = try b.finish(scaled)
        return PassDescription(
            kernel: kernel, inputs: [PassInput(format: .yuv420p)], output: PassOutput(format: .rgba))
    }

    private func pixels(_ pass: CompiledPass) -> TestPicture {
        let input = TestPicture(.yuv420p, 19, 5)
        var random = SeededRandom(5)
        input.fillRandom(&random)
        let output = TestPicture(.rgba, 19, 5)
        run(pass, [input], output)
        return output
    }

    @Test func codeComesBackFromDisk() throws {
        let directory = temporary.path + "/a/b"
        func compile(_ gain: Float) throws -> CompiledPass {
            try KernelCompiler(CompilerOptions(cacheDirectory: directory)).compile(description(gain))
        }
        let first = try compile(0.5)
        #expect(first.origin == .compiled)
        let second = try compile(0.5)
        #expect(second.origin == .diskCache)
        #expect(difference(pixels(first), pixels(second)).codes == 0)
        #expect(try compile(0.25).origin == .compiled)
        #expect(files(directory).count == 2)
    }

    /// Every kind of damage: the entry is ignored, rebuilt and right.
    @Test func damagedEntriesAreRebuilt() throws {
        let directory = temporary.path
        func compile() throws -> CompiledPass {
            try KernelCompiler(CompilerOptions(cacheDirectory: directory)).compile(description(0.5))
        }
        let expected = pixels(try compile())
        let path = directory + "/" + (try #require(files(directory).first))
        for damage in 0..<4 {
            let file = try #require(fopen(path, "r+"))
            switch damage {
            case 0: ftruncate(fileno(file), 100)
            case 1: ftruncate(fileno(file), 0)
            case 2:
                fseek(file, 2000, SEEK_SET)
                fputs("damage", file)
            default:
                fputs("something else", file)
            }
            fclose(file)
            let pass = try compile()
            #expect(pass.origin == .compiled)
            #expect(difference(pixels(pass), expected).codes == 0)
            #expect(try compile().origin == .diskCache)
        }
    }

    @Test func unwritableDirectoryDoesNoHarm() throws {
        let compiler = KernelCompiler(CompilerOptions(cacheDirectory: "/proc/nowhere"))
        #expect(try compiler.compile(description(0.125)).origin == .compiled)
    }

    /// A chain of ten filters comes back in under 3 ms: the median of many.
    @Test func aHitIsQuick() throws {
        let directory = temporary.path
        var kernel = try description(0.9).kernel
        for index in 1..<10 { kernel = try description(1 + Float(index) / 50).kernel.inlining(kernel, asInput: 0) }
        let pass = PassDescription(
            kernel: kernel, inputs: [PassInput(format: .yuv420p)], output: PassOutput(format: .yuv420p))
        func milliseconds(_ directory: String?, _ origin: CompiledPass.Origin) throws -> Double {
            let start = monotonicNanoseconds()
            let compiled = try KernelCompiler(CompilerOptions(cacheDirectory: directory)).compile(pass)
            #expect(compiled.origin == origin)
            return Double(monotonicNanoseconds() - start) / 1e6
        }
        let cold = try milliseconds(directory, .compiled)
        let times = try (0..<31).map { _ in try milliseconds(directory, .diskCache) }.sorted()
        print("disk cache: compiled in \(cold) ms, loaded in \(times[15]) ms (median), \(times[0]) at best")
        #expect(times[15] < (isSanitized ? 60 : 3))
    }

    /// Several processes share a folder: each gets right code, nobody leaves a temporary file.
    @Test func processesShareAFolder() throws {
        let directory = temporary.path
        let programs = try (0..<4).map { _ in
            try Program(Executable.path(of: "KernelBench"), ["--cache", directory, "12", "4"])
        }
        for program in programs {
            let outcome = try program.waitForEnd(within: 120)
            #expect(outcome.exitCode == 0, "\(outcome.errorText)")
            #expect(outcome.text.contains("right"), "\(outcome.text)")
        }
        #expect(files(directory).count == 12, "\(files(directory))")
        #expect(files(directory).allSatisfy { $0.hasSuffix(".code") })
    }

    /// A disk that is full in the middle of an entry: the pass is compiled, the half entry goes.
    @Test func aFullDiskDoesNoHarm() throws {
        let directory = temporary.path
        let outcome = try Program.run(
            Executable.path(of: "KernelBench"), ["--cache", directory, "3", "2", "--full"], timeout: 120, mayFail: true)
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        #expect(outcome.text.contains("6 right, 0 from disk"), "\(outcome.text)")
        #expect(files(directory).isEmpty, "\(files(directory))")
    }

    /// Folders in which nothing can be made: a file in its place, a folder without rights (root has all), a broken link.
    @Test func foldersThatRefuse() throws {
        let base = temporary.path
        let file = base + "/file"
        if let made = fopen(file, "w") { fclose(made) }
        symlink("/nowhere/at/all", base + "/link")
        mkdir(base + "/closed", 0o500)
        for folder in [file, base + "/link", base + "/closed", "/dev/null/x", "/proc/self/fd"] {
            for _ in 0..<2 {
                let pass = try KernelCompiler(CompilerOptions(cacheDirectory: folder)).compile(description(0.625))
                #expect(pass.origin == .compiled || (folder.hasSuffix("closed") && geteuid() == 0), "\(folder)")
            }
        }
    }

    /// Entries that are no files, are enormous, or belong to another key.
    @Test func foreignEntries() throws {
        let directory = temporary.path
        func compile(_ gain: Float) throws -> CompiledPass {
            try KernelCompiler(CompilerOptions(cacheDirectory: directory)).compile(description(gain))
        }
        let first = try compile(0.5)
        let expected = pixels(first)
        let path = directory + "/" + (try #require(files(directory).first))
        _ = try compile(0.25)
        let other = directory + "/" + (try #require(files(directory).first { directory + "/" + $0 != path }))
        for kind in 0..<5 {
            unlink(path)
            switch kind {
            case 0: mkdir(path, 0o700)
            case 1: symlink(path, path)
            case 2: mkfifo(path, 0o600)
            case 3: link(other, path)
            default:
                let file = try #require(fopen(path, "w"))
                ftruncate(fileno(file), 1 << 40)
                fclose(file)
            }
            let pass = try compile(0.5)
            #expect(pass.origin == .compiled, "kind \(kind)")
            #expect(difference(pixels(pass), expected).codes == 0)
            rmdir(path)
        }
    }
}
