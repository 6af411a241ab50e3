import Glibc
import PatchKernel
import PatchMedia
import Testing

/// The text of the built-in kernels, as recorded in Fixtures/kernels.txt. `PATCHBAY_RECORD=1` records it again.
@Suite struct GoldenTests {
    @Test func standardKernelsAreAsRecorded() throws {
        let kernels = [
            StandardKernels.copy, StandardKernels.solid, StandardKernels.sourceOver, StandardKernels.resize(),
            StandardKernels.resize(filter: .bicubic), StandardKernels.place(), StandardKernels.reduce(x: 3, y: 2),
        ]
        let text = kernels.map(\.text).joined(separator: "\n")
        let path = String(#filePath.dropLast("GoldenTests.swift".count)) + "Fixtures/kernels.txt"
        if getenv("PATCHBAY_RECORD") != nil {
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
        }
        let file = try #require(fopen(path, "r"), "run the tests once with PATCHBAY_RECORD=1")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        let recorded = String(decoding: bytes, as: UTF8.self)
        let (old, new) = (recorded.split(separator: "\n"), text.split(separator: "\n"))
        for (line, (a, b)) in zip(old, new).enumerated() where a != b {
            Issue.record("line \(line + 1): '\(a)' became '\(b)'; record with PATCHBAY_RECORD=1 if that is meant")
            return
        }
        #expect(old.count == new.count)
    }

    /// The largest pass that the default budget lets through compiles in bearable time.
    @Test func largeKernelCompiles() throws {
        var b = KernelBuilder(name: "large", inputs: [InputDeclaration(name: "image")])
        var rgb = try b.swizzle(b.current(0), "rgb")
        for index in 0..<150 {
            rgb = try b.apply(.sin, [b.apply(.add, [rgb, b.constant(Float(index))])])
        }
        let kernel = try b.finish(rgb)
        let pass = try KernelCompiler().compile(
            PassDescription(kernel: kernel, inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba)))
        #expect(pass.compileNanoseconds < 60_000_000_000)
    }
}
