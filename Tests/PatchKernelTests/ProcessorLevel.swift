import Foundation
import PatchKernel
import PatchTesting
import Testing

/// The levels of x86-64, and which of them this machine runs, by what the system says of it.
enum ProcessorLevel {
    static let all: [(name: String, flags: [String])] = [
        ("x86-64", []), ("x86-64-v2", ["ssse3", "sse4_1", "sse4_2", "popcnt"]),
        ("x86-64-v3", ["avx2", "fma", "f16c", "bmi2"]),
        ("x86-64-v4", ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
    ]

    static let runnable: [String] = {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("flags") } ?? ""
        let flags = Set(line.split(separator: " ").map(String.init))
        let levels = all.prefix { flags.isSuperset(of: $0.flags) }.map { $0.name }
        print("levels of x86-64 that run here: \(levels.joined(separator: ", "))")
        return levels
    }()
}

/// Code for a processor that this machine is not.
@Suite struct ProcessorLevelTests {
    /// It can be made and looked at; to run it would end the program.
    @Test(arguments: ProcessorLevel.all.map(\.name)) func codeIsRunOnlyWhereItRuns(_ level: String) throws {
        let description = PassDescription(
            kernel: try IntegerLaneTests.crossfade(), inputs: [PassInput(format: .rgba), PassInput(format: .rgba)],
            output: PassOutput(format: .rgba))
        let compiler = KernelCompiler(CompilerOptions(processor: level))
        #expect(try compiler.object(of: description).count > 500)
        if ProcessorLevel.runnable.contains(level) {
            _ = try compiler.compile(description)
        } else {
            let refusal = #expect(throws: KernelError.self) { try compiler.compile(description) }
            #expect(refusal?.code == .unsupported)
            #expect("\(refusal.map { "\($0)" } ?? "")".contains(level))
        }
    }

    /// Roots of what has none but itself (0, infinity) on every processor that is here; with AVX-512, where the root comes from an
    /// estimate that is no help there, the code looks for what is no number.
    @Test(arguments: ProcessorLevel.all.map(\.name)) func rootsOfNothingAndOfInfinity(_ level: String) throws {
        var b = KernelBuilder(
            name: "root", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)], alpha: .premultiplied)
        let root = try b.apply(.sqrt, [b.swizzle(b.current(0), "rgb")])
        let kernel = try b.finish(try b.construct(.vec4, [root, b.constant(Float(1))]))
        let description = PassDescription(
            kernel: kernel, inputs: [PassInput(format: .float4)], output: PassOutput(format: .float4))
        let compiler = KernelCompiler(CompilerOptions(processor: level))
        if level == "x86-64-v4" {
            let folder = try TemporaryDirectory()
            try folder.write("pass.o", bytes: compiler.object(of: description))
            let text = try Program.run("llvm-objdump", ["-d", "--no-show-raw-insn", folder.file("pass.o")]).text
            #expect(text.contains("vrsqrt14ps") && text.contains("vcmpunordps"), "\(text.prefix(4000))")
        }
        guard ProcessorLevel.runnable.contains(level) else { return }
        let (input, output) = (TestPicture(.float4, 67, 1), TestPicture(.float4, 67, 1))
        let numbers: [Float] = [0, .infinity, 4, Float(bitPattern: 71_362), 3e38]
        input.fill { _, x, _ in Int(numbers[x % 5].bitPattern) }
        run(try compiler.compile(description), [input], output)
        for x in 0..<67 {
            let (value, number) = (Float(bitPattern: UInt32(output[0, x, 0])), numbers[x % 5])
            // What is written is at most the largest half.
            let exact = min(number.squareRoot(), 65504)
            #expect(abs(value - exact) <= max(1e-19, exact * 1e-6), "the root of \(number) is \(value)")
        }
    }
}
