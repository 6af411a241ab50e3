import Glibc
import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Random looks: each becomes a kernel or an error, never a crash or a hang.
///
/// PATCHBAY_FUZZ_SEED and PATCHBAY_FUZZ_PROGRAMS choose others and more; with PATCHBAY_FUZZ_SECONDS it goes on with further
/// seeds for so long (scripts/fuzz).
@Suite struct TracerFuzzTests {
    /// A small generator, so that a seed names its programs.
    struct Generator {
        var state: UInt64
        mutating func below(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        mutating func pick<Element>(_ list: [Element]) -> Element { list[below(list.count)] }
    }

    private static let leaves = [
        "src:at(0, 0)", "src:at(-1, 2)", "src:at(99, 0)", "src:at(math.mininteger, 0)", "src:at(0.5, 0)",
        "src:sample(uv)",
        "src:sample(uv, 'bicubic', 'wrap')", "src", "src.size", "p", "p.amount", "p.tint", "p.flag", "p.place",
        "p.nope",
        "pos", "uv", "size", "time", "frame", "hash()", "0", "1", "0.5", "-1", "1e308", "0/0", "1/0", "-0.0",
        "math.maxinteger",
        "true", "nil", "'x'", "{}", "{1, 2, 3}", "vec2(1, 2)", "vec3(1)", "vec4(0.1, 0.2, 0.3, 1)", "mat3(1)",
        "mat2(1, 2, 3, 4)",
    ]
    private static let functions = [
        "abs", "sign", "floor", "ceil", "fract", "mod", "min", "max", "clamp", "mix", "step", "smoothstep", "sqrt",
        "inversesqrt", "pow", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "length",
        "distance", "dot", "cross", "normalize", "reflect", "lt", "le", "gt", "ge", "eq", "ne", "any", "all", "select",
        "float", "int", "bool", "vec2", "vec3", "vec4", "mat2", "mat3", "mat4", "hash", "radians", "transpose", "trunc",
        "round", "degrees",
    ]
    private static let swizzles = [
        "r", "g", "b", "a", "rgb", "xy", "bgra", "rrrr", "xg", "q", "st", "rgbar", "nope", "[1]",
    ]
    private static let operators = [
        "+", "-", "*", "/", "%", "^", "&", "|", "<", "<=", "==", "//", "..", "and", "or", ">>", "~",
    ]

    private static func expression(_ generator: inout Generator, depth: Int) -> String {
        if depth == 0 { return generator.pick(leaves) }
        switch generator.below(6) {
        case 0: return generator.pick(leaves)
        case 1: return "(- " + expression(&generator, depth: depth - 1) + ")"
        case 2:
            let swizzle = generator.pick(swizzles)
            return "(" + expression(&generator, depth: depth - 1) + ")"
                + (swizzle.hasPrefix("[") ? swizzle : "." + swizzle)
        case 3:
            return "(" + expression(&generator, depth: depth - 1) + " " + generator.pick(operators) + " "
                + expression(&generator, depth: depth - 1) + ")"
        default:
            let arguments = (0..<generator.below(4)).map { _ in expression(&generator, depth: depth - 1) }
            return generator.pick(functions) + "(" + arguments.joined(separator: ", ") + ")"
        }
    }

    @Test func randomLooksEndWell() throws {
        func number(_ name: String, _ fallback: Int) -> Int {
            getenv(name).flatMap { Int(String(cString: $0)) } ?? fallback
        }
        let first = number("PATCHBAY_FUZZ_SEED", 1)
        let programs = number("PATCHBAY_FUZZ_PROGRAMS", 400)
        let deadline = monotonicNanoseconds() + Int64(number("PATCHBAY_FUZZ_SECONDS", 0)) * 1_000_000_000
        var (seed, looks) = (first, 0)
        repeat {
            looks += try runLooks(seed: seed, programs: programs)
            seed += 1
        } while monotonicNanoseconds() < deadline
        print(
            "tracer fuzz: seeds \(first) to \(seed - 1), \(looks) of \((seed - first) * programs) programs were looks")
    }

    /// How many of the programs became kernels; each of those ran.
    private func runLooks(seed: Int, programs: Int) throws -> Int {
        var generator = Generator(state: UInt64(truncatingIfNeeded: seed))
        var text = "local made = 0\nlocal cam = camera{'cam'}\n"
        for _ in 0..<programs {
            // Most random values are no vec4: add them to one.
            let body = Self.expression(&generator, depth: 4)
            let result = generator.below(2) == 0 ? "src:at(0, 0) * (\(body))" : "vec4(\(body))"
            text += """
                do local ok, k = pcall(function() return kernel{ params = { amount = { 0.5, min = -1, max = 1 }, flag = true, \
                tint = '#f80', place = { { 0.5, 0.5 } } }, sample = function(src, pos, p) return \(result) end } end)
                if ok then made = made + 1 cam >> k{} >> display{} end end

                """
        }
        text += "log('made ' .. made)\nassert(made > 20, made)\n"
        var options = ScriptOptions()
        options.limits.loading = 60
        options.limits.nodes = 100_000
        options.limits.sourceSize = 64 << 20
        let patch = try Workspace().build(text, options: options)
        // What was made can be run, and gives numbers or infinities, not a trap.
        let pixels: [[Float]] = [[0, 0.5, 1, 1], [0.2, 0.4, 0.6, 0.5]]
        var ran = 0
        for node in patch.nodes {
            guard case .kernels(let filter) = node.body else { continue }
            _ = try FilterRunner.run(filter, pixels, width: 2)
            ran += 1
        }
        #expect(ran > 20, "seed \(seed)")
        return ran
    }
}
