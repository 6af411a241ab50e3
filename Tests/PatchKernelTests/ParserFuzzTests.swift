import Glibc
import PatchKernel
import PatchMedia
import Testing

/// Broken and odd kernel texts: each is an error or a kernel that means something, never a crash or a hang.
///
/// scripts/fuzz runs this for minutes: PATCHBAY_FUZZ_SECONDS says how long, PATCHBAY_FUZZ_SEED where to begin.
@Suite struct ParserFuzzTests {
    static func setting(_ name: String, _ fallback: Int) -> Int {
        getenv(name).flatMap { Int(String(cString: $0)) } ?? fallback
    }

    private static let words = [
        "%0", "%1", "%2", "%999999", "%-1", "%", "0", "-1", "1", "64", "65", "4096", "4097", "1000000", "2147483648",
        "-65",
        "9223372036854775808", "nan", "inf", "-0.0", "1e39", "bits=2143289344", "bits=4294967296", "float", "int",
        "bool",
        "vec2", "vec3", "vec4", "mat2", "mat3", "mat4", "uniform", "current", "tap", "sample", "swizzle", "xyzw",
        "rgba",
        "xxxxx", "q", "select", "construct", "loop", "loopParameter", "loopResult", "kernel", "input", "result", "uv",
        "size",
        "position", "inputSize", "time", "frame", "pixelHash", "clamp", "mirror", "wrap", "transparent", "nearest",
        "bilinear", "bicubic", "linearize", "encode", "premultiply", "unpremultiply", "true", "false", ":", "=", "#",
        "\"",
        "\"a", "\\", "space=rgb", "space=ycbcr", "light=linear", "alpha=straight", "é", "\u{0}", "𝄞",
    ]

    /// Words that stand for each other: exchanging them often leaves a kernel.
    private static let kinds: [[String]] = [
        ["0.0", "1.0", "-1.0", "0.5", "1e30", "-1e30", "1e-40", "inf", "-inf", "3.0", "255.0"],
        ["add", "sub", "mul", "div", "min", "max", "mod", "pow", "step", "reflect", "atan"],
        [
            "abs", "neg", "sign", "floor", "ceil", "trunc", "fract", "round", "sqrt", "inversesqrt", "exp", "exp2",
            "log",
            "log2", "sin", "cos", "tan", "asin", "acos", "atan", "radians", "degrees", "normalize",
        ],
        ["mix", "clamp", "smoothstep"], ["lt", "le", "gt", "ge", "eq", "ne"], ["dot", "distance"], ["any", "all"],
        EdgeMode.allCases.map(\.rawValue), SampleFilter.allCases.map(\.rawValue),
        ["uv", "position", "size"], ["light=linear", "light=encoded"], ["alpha=straight", "alpha=premultiplied"],
    ]

    /// One word for another of its kind.
    private static func exchanged(_ text: String, _ random: inout SeededRandom) -> String {
        var lines = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        for _ in 0..<8 {
            let line = Int(random.next() % UInt64(lines.count))
            let place = Int(random.next() % UInt64(max(1, lines[line].count)))
            let word = lines[line][place]
            if word.hasPrefix("%"), place > 1, let number = Int(word.dropFirst()), number > 0 {
                lines[line][place] = "%\(random.next() % UInt64(number + 1))"
            } else if Float(word) != nil, lines[line].contains("float") {
                lines[line][place] = kinds[0][Int(random.next() % UInt64(kinds[0].count))]
            } else if let kind = kinds.first(where: { $0.contains(word) }) {
                lines[line][place] = kind[Int(random.next() % UInt64(kind.count))]
            } else {
                continue
            }
            break
        }
        return lines.map { $0.joined(separator: " ") }.joined(separator: "\n")
    }

    private static func mutated(_ text: String, _ random: inout SeededRandom) -> String {
        func below(_ count: Int) -> Int { count > 0 ? Int(random.next() % UInt64(count)) : 0 }
        if below(2) == 0 { return exchanged(text, &random) }
        if below(4) == 0 {
            var bytes = Array(text.utf8)
            for _ in 0...below(4) where !bytes.isEmpty {
                let at = below(bytes.count)
                switch below(4) {
                case 0: bytes[at] = UInt8(below(256))
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(UInt8(below(256)), at: at)
                default: bytes.swapAt(at, below(bytes.count))
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        }
        for _ in 0...below(3) where !lines.isEmpty {
            let at = below(lines.count)
            let place = below(lines[at].count)
            switch below(7) {
            case 0...2 where !lines[at].isEmpty: lines[at][place] = words[below(words.count)]
            case 3 where !lines[at].isEmpty: lines[at].remove(at: place)
            case 4: lines[at].insert(words[below(words.count)], at: place)
            case 5: lines.remove(at: at)
            default: lines.swapAt(at, below(lines.count))
            }
        }
        return lines.map { $0.joined(separator: " ") }.joined(separator: "\n")
    }

    @Test func oddTextsEndWell() throws {
        let seed = Self.setting("PATCHBAY_FUZZ_SEED", 1)
        let seconds = Self.setting("PATCHBAY_FUZZ_SECONDS", 0)
        let deadline = monotonicNanoseconds() + Int64(seconds) * 1_000_000_000
        print("parser fuzz: seed \(seed)")
        var random = SeededRandom(UInt64(truncatingIfNeeded: seed))
        var (texts, kernels, compiled, refused) = (0, 0, 0, 0)
        let compiler = KernelCompiler(
            CompilerOptions(vectorBits: 128, interleave: 1, memoryCacheLimit: 0))
        let input = TestPicture(.rgba, 7, 3)
        input.fillRandom(&random)
        while seconds > 0 ? monotonicNanoseconds() < deadline : texts < 6000 {
            let base = try RandomCase(seed: random.next() % 100_000, jumps: true).description.kernel.text
            for _ in 0..<20 {
                texts += 1
                let text = Self.mutated(base, &random)
                let kernel: Kernel
                do { kernel = try Kernel(parsing: text) } catch {
                    #expect(!error.message.isEmpty)
                    continue
                }
                kernels += 1
                #expect(try Kernel(parsing: kernel.text) == kernel, "seed \(seed)\n\(kernel.text)")
                _ = kernel.simplified()
                // What is a kernel runs: on guarded pages, whatever its numbers are.
                guard kernel.inputs.count <= 2, kernels % 30 == 0 else { continue }
                let description = PassDescription(
                    kernel: kernel, inputs: kernel.inputs.map { _ in PassInput(format: .rgba) },
                    output: PassOutput(format: .half4))
                do {
                    let pass = try compiler.compile(description)
                    let output = TestPicture(.half4, 7, 3)
                    run(
                        pass, kernel.inputs.map { _ in input }, output,
                        uniforms: [Float](repeating: 0.5, count: max(1, kernel.uniformFloatCount)))
                    compiled += 1
                } catch {
                    refused += 1
                    #expect(error.code != .compiler, "\(error)\n\(kernel.text)")
                }
            }
        }
        print("parser fuzz: \(texts) texts, \(kernels) kernels, \(compiled) compiled and run, \(refused) refused")
        #expect(kernels > 500 && compiled > 10)
    }
}
