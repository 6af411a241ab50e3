import Foundation
import PatchKernel
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
}
