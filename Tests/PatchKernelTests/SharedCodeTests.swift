import PatchKernel
import PatchMedia
import Testing

/// What lets passes share machine code, or keep fewer channels.
@Suite struct SharedCodeTests {
    private func kernel(_ name: String, input: String, uniform: String, factor: Float) throws -> Kernel {
        var b = KernelBuilder(
            name: name, inputs: [InputDeclaration(name: input)],
            uniforms: [UniformDeclaration(name: uniform, type: .float)])
        let scaled = try b.apply(.mul, [b.current(0), b.uniform(0)])
        return try b.finish(b.apply(.mul, [scaled, b.constant(factor)]))
    }

    @Test func namesMakeNoOtherCode() throws {
        let compiler = KernelCompiler()
        func compile(_ kernel: Kernel) throws -> CompiledPass {
            try compiler.compile(
                PassDescription(
                    kernel: kernel, inputs: [PassInput(format: .rgba)], output: PassOutput(format: .half4)))
        }
        let first = try compile(kernel("one", input: "image", uniform: "amount", factor: 0.5))
        let second = try compile(kernel("two", input: "picture", uniform: "strength", factor: 0.5))
        let other = try compile(kernel("one", input: "image", uniform: "amount", factor: 0.25))
        #expect(first === second)
        #expect(first !== other)
    }

    @Test func greyIsFoundWhereAllChannelsAreOneValue() throws {
        let even = try kernel("even", input: "image", uniform: "amount", factor: 2)
        #expect(even.isGrey(reading: [PassInput(format: .gray8)]))
        #expect(even.isGrey(reading: [PassInput(format: .half1)]))
        #expect(!even.isGrey(reading: [PassInput(format: .rgba)]))
        #expect(!even.isGrey(reading: [PassInput(format: .half3)]))

        var b = KernelBuilder(name: "tinted", inputs: [InputDeclaration(name: "image")], uniforms: [])
        let tint = try b.construct(
            .vec4, [b.constant(Float(1)), b.constant(Float(0.5)), b.constant(Float(1)), b.constant(Float(1))])
        let tinted = try b.finish(b.apply(.mul, [b.current(0), tint]))
        #expect(!tinted.isGrey(reading: [PassInput(format: .gray8)]))
    }
}
