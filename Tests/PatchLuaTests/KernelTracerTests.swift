import PatchGraph
import PatchKernel
import PatchLua
import PatchMedia
import Testing

/// Looks become kernels, and mistakes in them are explained.
@Suite struct KernelTracerTests {
    private func filter(_ text: String) throws -> KernelFilter {
        let patch = try Workspace().build("camera{'c'} >> \(text) >> display{'d'}")
        for node in patch.nodes { if case .kernels(let filter) = node.body { return filter } }
        throw PatchError(.kernel, "no kernel")
    }

    @Test func looksComputeWhatTheySay() throws {
        let look = try filter(
            """
            kernel{ "look", params = { k = { 2, min = 0, max = 4 }, on = { true } },
              pixel = function(c, p)
                local sum = vec3(0)
                for i = 1, 3 do sum = sum + c.rgb * (i / 6) end            -- unrolls to c.rgb
                local bright = gt(c.r, 0.5) & lt(c.g, 0.75)
                local rgb = select(bright & p.on, vec3(sum.bg, 1) , mix(sum, vec3(min(2, 1)), 0.5))
                return vec4(rgb * p.k * 0.25, c.a)
              end }
            """)
        // Red 0.75, green 0.5: bright, so (b, g, 1) · 0.5. Red 0.25: (rgb + 1) / 4.
        let result = try FilterRunner.run(look, [[0.75, 0.5, 0.25, 1], [0.25, 0.5, 0.75, 1]], width: 2)
        FilterRunner.expect(result, [[0.125, 0.25, 0.5, 1], [0.3125, 0.375, 0.4375, 1]])
    }

    @Test func stencilsGathersAndPasses() throws {
        let blur = try filter(
            """
            kernel{ "blur", passes = {
              { name = "across", sample = function(src) return (src:at(-1, 0) + src:at(0, 0) + src:at(1, 0)) / 3 end },
              { inputs = { "across", "image" }, pixel = function(a, b) return vec4(a.rgb - b.rgb, 1) end },
            } }
            """)
        let result = try FilterRunner.run(blur, [[0, 0, 0, 1], [0.75, 0, 0, 1], [0, 0, 0, 1]], width: 3)
        FilterRunner.expect(result, [[0.25, 0, 0, 1], [-0.5, 0, 0, 1], [0.25, 0, 0, 1]])

        let mirror = try filter(
            "kernel{ sample = function(src, pos) return src:sample(vec2(1 - uv.x, pos.y / size.y)) end }")
        let turned = try FilterRunner.run(mirror, [[0, 0, 0, 1], [0.5, 0, 0, 1], [1, 0, 0, 1]], width: 3)
        FilterRunner.expect(turned, [[1, 0, 0, 1], [0.5, 0, 0, 1], [0, 0, 0, 1]])
    }

    @Test func numbersStayNumbers() throws {
        let patch = try Workspace().build(
            """
            assert(clamp(2, 0, 1) == 1 and mix(0, 4, 0.25) == 1 and mod(-1, 3) == 2 and smoothstep(0, 1, 0.5) == 0.5)
            assert(lt(1, 2) == true and select(2, "a", "b") == "b" and select("#", 1, 2) == 2 and sqrt(9) == 3)
            assert(float(2) == 2 and int(2.7) == 2 and step(1, 0.5) == 0)
            """)
        #expect(patch.nodes.isEmpty)
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        var name: String
        /// Line 1 of the look is the function's head; the body begins on line 2 of the file.
        var body: String
        var line = 2
        var hint: String
        var testDescription: String { name }
    }

    /// What look authors do wrong most: where it is said and what the hint names.
    static let mistakes: [Mistake] = [
        Mistake(name: "less than", body: "if c.r < 0.5 then return c end return c", hint: "write lt(a, b)"),
        Mistake(name: "greater or equal", body: "local x = 0.5 >= c.r return c", hint: "write le(a, b)"),
        Mistake(name: "equal to a number", body: "if c.r == 0.5 then return c end return c", hint: "write eq(a, b)"),
        Mistake(name: "equal values", body: "local x = c.r == c.g return c", hint: "write eq(a, b)"),
        Mistake(name: "not equal", body: "if p.amount ~= 0 then return c end return c", hint: "write ne(a, b)"),
        Mistake(
            name: "if on a condition", body: "if lt(c.r, 0.5) then return vec4(1) end\nreturn c",
            hint: "`if`, `and`, `or` and `not` cannot look at pixel values; write select(lt(…), a, b)"),
        Mistake(
            name: "and on conditions", body: "local x = lt(c.r, 0.5) and 1 or 0\nreturn c * x",
            hint: "write select(lt(…), a, b)"),
        Mistake(name: "assigned swizzle", body: "\nc.r = 1 return c", line: 3, hint: "c = vec4(…, c.g, c.b, c.a)"),
        Mistake(
            name: "unknown function", body: "return vec4(smothstep(0, 1, c.rgb), c.a)",
            hint: "unknown name 'smothstep'; did you mean 'smoothstep'?"),
        Mistake(
            name: "unknown parameter", body: "return c * p.amout", hint: "no parameter 'amout'; did you mean 'amount'?"),
        Mistake(
            name: "wrong type", body: "return vec4(cross(c.rgb, c.rg), 1)",
            hint: "cross(vec3, vec2) does not exist; cross takes (vec3, vec3)"),
        Mistake(
            name: "wrong sizes", body: "return vec4(c.rgb + c.rg, 1)",
            hint: "vec3 + vec2 does not exist; make both one type"),
        Mistake(
            name: "number for a vector", body: "return vec4(vec3(dot(c.rgb, 0.5)), 1)",
            hint: "dot(vec3, float) does not exist; dot takes (T, T)"),
        Mistake(
            name: "too few components", body: "return vec4(c.r, c.g)",
            hint: "vec4(float, float) has 2 components, not 4"),
        Mistake(
            name: "too few arguments", body: "return vec4(clamp(c.rgb, 0), 1)", hint: "clamp takes 3 values, not 2"),
        Mistake(
            name: "returns a vec3", body: "return c.rgb", line: 1,
            hint: "pixel returns a vec3, not a vec4; return vec4(rgb, c.a)"),
        Mistake(name: "returns nothing", body: "local x = c", line: 1, hint: "pixel returns nothing, not a vec4"),
        Mistake(name: "bad swizzle", body: "return vec4(c.rgx, 1)", hint: "'.rgx' is no swizzle"),
        Mistake(name: "component that is not there", body: "return vec4(c.rg.b)", hint: "a vec2 has no '.b'"),
        Mistake(name: "nil", body: "local t = {} return c * t.gain", hint: "* cannot take nil; check its name"),
        Mistake(
            name: "table for a vector", body: "return vec4(c.rgb * {1, 0, 0}, 1)",
            hint: "* cannot take a table; write vec2(x, y)"),
        Mistake(name: "missing operator", body: "return c (1)", hint: "a * is missing"),
        Mistake(
            name: "too large", body: "local s = c for i = 1, 1e6 do s = sin(s + i) end return s",
            hint: "the kernel has more than 20000 operations"),
        Mistake(name: "endless loop", body: "while true do end return c", hint: "the script ran longer than"),
        Mistake(name: "math library", body: "return vec4(vec3(math.sin(c.r)), 1)", hint: "number expected, got "),
        Mistake(
            name: "vector out of nothing", body: "return vec4(vec3(), 1)", hint: "vec3() needs something to be made of"),
        Mistake(name: "integer division", body: "return c // 2", hint: "write floor(a / b)"),
        Mistake(
            name: "not", body: "local x = not lt(c.r, 0.5)\nreturn select(x, c, c)",
            hint: "`not` cannot look at pixel values"),
    ]

    @Test(arguments: mistakes) func mistakesAreExplained(mistake: Mistake) {
        var options = ScriptOptions()
        options.limits.loading = mistake.name == "too large" ? 20 : 1
        let text = Workspace().errorText(
            "camera{'c'} >> kernel{ params = { amount = 1 }, pixel = function(c, p)\n\(mistake.body)\nend } >> display{'d'}",
            options: options)
        #expect(text.hasPrefix("graph.lua:\(mistake.line): "), "\(text)")
        #expect(text.contains(mistake.hint), "\(text)")
    }

    @Test(arguments: [
        ("kernel{ pixle = 1 }", "kernel has no 'pixle'; did you mean 'pixel'?"),
        ("kernel{ summary = 'x' }", "kernel 'kernel' has no function"),
        (
            "kernel{ light = 'liner', pixel = function(c) return c end }",
            "light is \"liner\"; it is \"encoded\" or \"linear\" or \"graph\""
        ),
        (
            "kernel{ params = { a = { 3, min = 0, max = 1 } }, pixel = function(c) return c end }",
            "parameter 'a' begins with 3"
        ),
        (
            "kernel{ params = { a = { mim = 0 } }, pixel = function(c) return c end }",
            "parameter 'a' has no 'mim'; did you mean 'min'?"
        ),
        ("kernel{ sample = function(src) return src end }", "sample returns an input of a kernel, not a vec4"),
        ("kernel{ sample = function(src) return src:at(0.5, 0) end }", "at takes two whole numbers"),
        ("kernel{ sample = function(src) return src:at(100, 0) end }", "more than 64 pixels away"),
        ("kernel{ sample = function(src) return src:sample(0.5) end }", "sample takes a vec2 position, not float"),
        ("kernel{ sample = function(src) return src.rgb end }", "read a pixel first: src:at(0, 0).rgb"),
        ("kernel{ sample = function(src) return src:sampel(uv) end }", "did you mean 'sample'?"),
        (
            "kernel{ passes = { { inputs = {'imag'}, pixel = function(c) return c end } } }",
            "reads 'imag', which is no input and no earlier pass; did you mean 'image'?"
        ),
        (
            "local kept kernel{ pixel = function(c) kept = c return c end } kernel{ pixel = function(c) return kept end }",
            "pixel returns a pixel value, not a vec4"
        ),
        ("vec3(1)", "'vec3' is known only while a kernel's pixel function runs"),
        ("local x = size", "'size' is known only while a kernel's pixel function runs"),
    ])
    func wrongDefinitions(text: String, hint: String) {
        let error = Workspace().errorText(text)
        #expect(error.hasPrefix("graph.lua:1: ") && error.contains(hint), "\(error)")
    }
}
