import Glibc
import PatchKernel
import PatchMedia
import Testing

@Suite struct DiskCacheTests {
    private func temporaryDirectory() throws -> String {
        var template = Array("/tmp/patchbay-cache-XXXXXX".utf8CString)
        return String(cString: try #require(mkdtemp(&template)))
    }

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
        let directory = try temporaryDirectory() + "/a/b"
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
        let directory = try temporaryDirectory()
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
}
