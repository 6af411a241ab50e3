import PatchKernel
import Testing

/// What authors get wrong, and the words they get back.
@Suite struct BuilderErrorTests {
    private struct Mistake: Sendable {
        var name: String
        var code: KernelError.Code
        var words: [String]
        var make: @Sendable (inout KernelBuilder, Values) throws(KernelError) -> Value
    }

    private struct Values: Sendable {
        var pixel, v3, v2, x, i, flag, m3: Value
    }

    private static let mistakes: [Mistake] = [
        Mistake(name: "add of vec2 and vec3", code: .type, words: ["add(vec2, vec3)", "float, vec2, vec3 or vec4"]) {
            b, v throws(KernelError) in try b.apply(.add, [v.v2, v.v3])
        },
        Mistake(name: "dot of vec3 and vec4", code: .type, words: ["dot(vec3, vec4)"]) {
            b, v throws(KernelError) in try b.apply(.dot, [v.v3, v.pixel])
        },
        Mistake(name: "cross of vec2", code: .type, words: ["cross takes (vec3, vec3)"]) {
            b, v throws(KernelError) in try b.apply(.cross, [v.v2, v.v2])
        },
        Mistake(name: "clamp with one bound", code: .type, words: ["clamp takes 3 arguments, not 2"]) {
            b, v throws(KernelError) in try b.apply(.clamp, [v.x, v.x])
        },
        Mistake(name: "sin of nothing", code: .type, words: ["sin takes 1 argument, not 0"]) {
            b, _ throws(KernelError) in try b.apply(.sin, [])
        },
        Mistake(name: "atan of three", code: .type, words: ["atan takes 1 to 2 arguments, not 3"]) {
            b, v throws(KernelError) in try b.apply(.atan, [v.x, v.x, v.x])
        },
        Mistake(name: "smoothstep of a vec2 edge", code: .type, words: ["smoothstep(vec2, float, vec3)"]) {
            b, v throws(KernelError) in try b.apply(.smoothstep, [v.v2, v.x, v.v3])
        },
        Mistake(name: "and of floats", code: .type, words: ["and(float, float)", "(bool, bool)"]) {
            b, v throws(KernelError) in try b.apply(.and, [v.x, v.x])
        },
        Mistake(name: "not of a vector", code: .type, words: ["not(vec3)"]) {
            b, v throws(KernelError) in try b.apply(.not, [v.v3])
        },
        Mistake(name: "arithmetic with a bool", code: .type, words: ["mul(float, bool)"]) {
            b, v throws(KernelError) in try b.apply(.mul, [v.x, v.flag])
        },
        Mistake(name: "mat3 by vec4", code: .type, words: ["mul(mat3, vec4)"]) {
            b, v throws(KernelError) in try b.apply(.mul, [v.m3, v.pixel])
        },
        Mistake(name: "sin of a matrix", code: .type, words: ["sin(mat3)"]) {
            b, v throws(KernelError) in try b.apply(.sin, [v.m3])
        },
        Mistake(name: "transpose of a vector", code: .type, words: ["transpose(vec3)", "mat3"]) {
            b, v throws(KernelError) in try b.apply(.transpose, [v.v3])
        },
        Mistake(name: "select by a float", code: .type, words: ["select(float, vec3, vec3)", "lt, le"]) {
            b, v throws(KernelError) in try b.select(v.x, v.v3, b.apply(.neg, [v.v3]))
        },
        Mistake(name: "select between types", code: .type, words: ["select(bool, vec2, vec3)"]) {
            b, v throws(KernelError) in try b.select(v.flag, v.v2, v.v3)
        },
        Mistake(name: "vec4 of three", code: .type, words: ["vec4(vec3) has 3 components, not 4", "vec4(v.rgb, a)"]) {
            b, v throws(KernelError) in try b.construct(.vec4, [v.v3])
        },
        Mistake(name: "vec3 of five", code: .type, words: ["has 5 components, not 3"]) {
            b, v throws(KernelError) in try b.construct(.vec3, [v.v3, v.v2])
        },
        Mistake(name: "vec2 of nothing", code: .type, words: ["needs something"]) {
            b, _ throws(KernelError) in try b.construct(.vec2, [])
        },
        Mistake(name: "swizzle beyond the end", code: .name, words: ["vec2 has no '.z'", "xy"]) {
            b, v throws(KernelError) in try b.swizzle(v.v2, "xz")
        },
        Mistake(name: "swizzle of mixed sets", code: .name, words: ["'.rgz'", "one set"]) {
            b, v throws(KernelError) in try b.swizzle(v.pixel, "rgz")
        },
        Mistake(name: "swizzle of five letters", code: .name, words: ["one to four"]) {
            b, v throws(KernelError) in try b.swizzle(v.pixel, "rgbar")
        },
        Mistake(name: "swizzle of an int", code: .type, words: ["int has no .x"]) {
            b, v throws(KernelError) in try b.swizzle(v.i, "x")
        },
        Mistake(name: "tap too far", code: .range, words: ["(100, 0)", "64", "sample"]) {
            b, _ throws(KernelError) in try b.tap(0, dx: 100, dy: 0)
        },
        Mistake(name: "sample at a float", code: .type, words: ["vec2 position, not float"]) {
            b, v throws(KernelError) in try b.sample(0, at: v.x)
        },
        Mistake(name: "sample of input 3", code: .name, words: ["input 3"]) {
            b, v throws(KernelError) in try b.sample(3, at: v.v2)
        },
        Mistake(name: "endless loop", code: .range, words: ["4096"]) { b, v throws(KernelError) in
            try b.loop(limit: 1_000_000, initial: [v.x]) { _, _, c throws(KernelError) in (v.flag, c) }[0]
        },
        Mistake(name: "loop that changes types", code: .type, words: ["(float) to (vec3)"]) {
            b, v throws(KernelError) in
            try b.loop(limit: 4, initial: [v.x]) { _, _, _ throws(KernelError) in (v.flag, [v.v3]) }[0]
        },
    ]

    @Test func mistakesAreExplained() throws {
        for mistake in Self.mistakes {
            var b = KernelBuilder(name: "test", inputs: [InputDeclaration(name: "image")])
            let pixel = b.current(0)
            let x = try b.swizzle(pixel, "r")
            let values = Values(
                pixel: pixel, v3: try b.swizzle(pixel, "rgb"), v2: try b.swizzle(pixel, "rg"), x: x,
                i: try b.apply(.toInt, [x]), flag: try b.apply(.lt, [x, x]),
                m3: try b.construct(.mat3, [x]))
            do {
                _ = try mistake.make(&b, values)
                Issue.record("\(mistake.name): accepted")
            } catch {
                #expect(error.code == mistake.code, "\(mistake.name): \(error)")
                for word in mistake.words {
                    #expect("\(error)".contains(word), "\(mistake.name): '\(error)' lacks '\(word)'")
                }
            }
        }
    }

    @Test func resultMustBeAColour() throws {
        var b = KernelBuilder(name: "test", inputs: [InputDeclaration(name: "image")])
        let two = try b.swizzle(b.current(0), "rg")
        let error = #expect(throws: KernelError.self) { try b.finish(two) }
        #expect(error?.description.contains("vec4(r, g, b, a)") == true)
    }

    @Test func tooLargeAPassIsAnError() throws {
        var b = KernelBuilder(name: "huge", inputs: [InputDeclaration(name: "image")])
        var x = b.current(0)
        for index in 0..<200 { x = try b.apply(.sin, [b.apply(.add, [x, b.constant(Float(index))])]) }
        let kernel = try b.finish(x)
        let compiler = KernelCompiler(CompilerOptions(instructionBudget: 1000))
        let error = #expect(throws: KernelError.self) {
            try compiler.compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba)))
        }
        #expect(error?.code == .budget)
        #expect(error?.message.contains("huge") == true)
    }

    /// Text that is no kernel is an error with its line, never a crash.
    @Test func malformedTextIsAnError() throws {
        let good = StandardKernels.place().text
        var random = SeededRandom(11)
        for _ in 0..<3000 {
            var bytes = Array(good.utf8)
            for _ in 0..<Int(random.next() % 4) + 1 {
                let at = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes[at] = UInt8(32 + random.next() % 95)
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(UInt8(32 + random.next() % 95), at: at)
                default: bytes.swapAt(at, Int(random.next() % UInt64(bytes.count)))
                }
            }
            do {
                let kernel = try Kernel(parsing: String(decoding: bytes, as: UTF8.self))
                #expect(try Kernel(parsing: kernel.text) == kernel)
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
        let error = #expect(throws: KernelError.self) {
            try Kernel(parsing: "kernel \"a\" space=rgb light=encoded alpha=straight\n%0 = nonsense : float\nresult %0")
        }
        #expect(error?.message.contains("line 2") == true)
    }
}
