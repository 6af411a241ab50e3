import Glibc
import PatchKernel
import PatchMedia
import Testing

/// Chains of point filters: what the compiler brings together must still be what each filter's formula says, computed here in
/// double precision.
@Suite struct PointKernelTests {
    private static let weights = [0.2125, 0.7154, 0.0721]

    /// Contrast, brightness, saturation, a product of each channel, then a power that a knob may leave out.
    private static func look() throws -> Kernel {
        var b = KernelBuilder(
            name: "look", inputs: [InputDeclaration(name: "image")],
            uniforms: [
                UniformDeclaration(name: "contrast", type: .float, range: 0...4),
                UniformDeclaration(name: "brightness", type: .float, range: -1...1),
                UniformDeclaration(name: "saturation", type: .float, range: 0...2),
                UniformDeclaration(name: "gains", type: .vec3, range: 0...2),
                UniformDeclaration(name: "gamma", type: .float, range: 0...10),
            ])
        let half = b.constant(Float(0.5))
        let c = b.current(0)
        var v = try b.swizzle(c, "rgb")
        v = try b.apply(.add, [b.apply(.mul, [b.apply(.sub, [v, half]), b.uniform(0)]), half])
        v = try b.apply(.add, [v, b.uniform(1)])
        let grey = try b.apply(
            .dot, [v, b.construct(.vec3, weights.map { b.constant(Float($0)) })])
        v = try b.apply(.mix, [b.construct(.vec3, [grey]), v, b.uniform(2)])
        v = try b.apply(.mul, [v, b.uniform(3)])
        let power = try b.apply(
            .pow,
            [b.apply(.clamp, [v, b.constant(Float(0)), b.constant(Float(1))]), b.construct(.vec3, [b.uniform(4)])])
        v = try b.select(b.apply(.eq, [b.uniform(4), b.constant(Float(1))]), v, power)
        return try b.finish(try b.construct(.vec4, [v, b.swizzle(c, "a")]))
    }

    private static func exact(_ rgb: [Double], _ p: [Double]) -> [Double] {
        let bright = rgb.map { ($0 - 0.5) * p[0] + 0.5 + p[1] }
        let grey = zip(bright, weights).reduce(0) { $0 + $1.0 * $1.1 }
        return (0..<3).map { i in
            let value = (grey + (bright[i] - grey) * p[2]) * p[3 + i]
            let limited = min(max(value, 0), 1)
            return p[6] == 1 ? limited : pow(limited, p[6])
        }
    }

    @Test(arguments: [
        [1.1, 0.05, 0.8, 1, 1.05, 0.9, 0.9], [1.1, 0.05, 0.8, 1, 1.05, 0.9, 1], [3, -0.6, 2, 2, 0, 1, 0.45],
        [0, 0, 1, 1, 1, 1, 2.2], [1, 0, 1, 1, 1, 1, 1], [1, 0, 1, 1, 1, 1, 7], [4, 1, 0, 0.1, 0.2, 0.3, 0],
    ])
    func chainIsWhatItsFormulasSay(_ uniforms: [Double]) throws {
        let description = PassDescription(
            kernel: try Self.look(), inputs: [PassInput(format: .rgba, premultiplied: false)],
            output: PassOutput(format: .rgba, premultiplied: false))
        let pass = try KernelCompiler().compile(description)
        var random = SeededRandom(7)
        let input = TestPicture(.rgba, 259, 5)
        input.fillRandom(&random)
        let output = TestPicture(.rgba, 259, 5)
        run(pass, [input], output, uniforms: uniforms.map { Float($0) })
        for y in 0..<5 {
            for x in 0..<259 {
                let wanted = Self.exact((0..<3).map { Double(input[0, 4 * x + $0, y]) / 255 }, uniforms)
                for i in 0..<3 {
                    // Where half a code lies on the boundary, either neighbour is right.
                    let distance = abs(Double(output[0, 4 * x + i, y]) - wanted[i] * 255)
                    #expect(distance <= 0.5 + 0.01, "channel \(i) at \(x), \(y)")
                }
                #expect(output[0, 4 * x + 3, y] == input[0, 4 * x + 3, y])
            }
        }
    }

    /// For every level of x86-64, whether or not this machine runs it.
    @Test(arguments: ProcessorLevel.all.map(\.name)) func everyProcessorHasCode(_ level: String) throws {
        let compiler = KernelCompiler(CompilerOptions(processor: level))
        for format in [PixelFormat.rgba, .yuv420p, .nv12, .gray8, .yuv444p10, .half4] {
            let object = try compiler.object(
                of: PassDescription(
                    kernel: try Self.look(), inputs: [PassInput(format: format)], output: PassOutput(format: format)))
            #expect(object.count > 500)
        }
    }
}
