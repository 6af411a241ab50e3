import PatchKernel
import PatchMedia

/// One line of the table: a kernel over formats.
struct Workload {
    var name: String
    var kernel: Kernel
    var uniforms: [Float] = []
    var source: PixelFormat
    var target: PixelFormat
    /// Alpha as it lies in memory: straight where peers ignore it.
    var premultiplied = true
    var orientation = Orientation.identity
    /// The sides of what is read over those of what is written.
    var ratio = 1.0

    func description(height: Int = 1080) -> PassDescription {
        PassDescription(
            kernel: kernel,
            inputs: kernel.inputs.map { _ in
                var input = PassInput(
                    format: source, color: ColorSpec().resolved(format: source, height: height).spec,
                    orientation: orientation, premultiplied: premultiplied)
                input.isHalf = ratio == 0.5
                return input
            },
            output: PassOutput(
                format: target, color: ColorSpec().resolved(format: target, height: height).spec,
                premultiplied: premultiplied))
    }
}

enum Kernels {
    /// Contrast, brightness, saturation, vignette, gamma as five uniforms: the look of workload W1.
    static func look() throws(KernelError) -> Kernel {
        let names = ["contrast", "brightness", "saturation", "vignette", "gamma"]
        var b = KernelBuilder(
            name: "look", inputs: [InputDeclaration(name: "image")],
            uniforms: names.map { UniformDeclaration(name: $0, type: .float) })
        let half = b.constant(Float(0.5))
        let c = b.current(0)
        var v = try b.swizzle(c, "rgb")
        v = try b.apply(.add, [b.apply(.mul, [b.apply(.sub, [v, half]), b.uniform(0)]), half])
        v = try b.apply(.add, [v, b.uniform(1)])
        let weights = try b.construct(
            .vec3, [b.constant(Float(0.2126)), b.constant(Float(0.7152)), b.constant(Float(0.0722))])
        let grey = try b.apply(.dot, [v, weights])
        v = try b.apply(.mix, [b.construct(.vec3, [grey]), v, b.uniform(2)])
        let centred = try b.apply(.sub, [b.builtin(.uv), half])
        let distance = try b.apply(.dot, [centred, centred])
        let shade = try b.apply(.sub, [b.constant(Float(1)), b.apply(.mul, [b.uniform(3), distance])])
        v = try b.apply(.mul, [v, shade])
        v = try b.apply(.clamp, [v, b.constant(Float(0)), b.constant(Float(1))])
        v = try b.apply(.pow, [v, b.uniform(4)])
        let alpha = try b.swizzle(c, "a")
        return try b.finish(try b.construct(.vec4, [v, alpha]))
    }

    static let lookUniforms: [Float] = [1.1, 0.05, 0.8, 0.6, 0.9]

    /// 3×3 convolution of all channels.
    static func convolution() throws(KernelError) -> Kernel {
        var b = KernelBuilder(
            name: "convolution", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)],
            alpha: .premultiplied)
        var sum: Value?
        for dy in -1...1 {
            for dx in -1...1 {
                let weight: Float = dx == 0 && dy == 0 ? 3 : dx == 0 || dy == 0 ? -0.4 : -0.1
                let term = try b.apply(.mul, [b.tap(0, dx: dx, dy: dy), b.constant(weight)])
                sum = if let sum { try b.apply(.add, [sum, term]) } else { term }
            }
        }
        return try b.finish(sum ?? b.current(0))
    }

    /// Two pictures mixed by a parameter.
    static func crossfade() throws(KernelError) -> Kernel {
        var b = KernelBuilder(
            name: "crossfade", inputs: ["before", "after"].map { InputDeclaration(name: $0, alpha: .premultiplied) },
            uniforms: [UniformDeclaration(name: "progress", type: .float, range: 0...1)], alpha: .premultiplied,
            space: .any)
        return try b.finish(try b.apply(.mix, [b.current(0), b.current(1), b.uniform(0)]))
    }

    /// Contrast and brightness with ranges.
    static func levels() throws(KernelError) -> Kernel {
        var b = KernelBuilder(
            name: "levels", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)],
            uniforms: [
                UniformDeclaration(name: "contrast", type: .float, range: 0...4),
                UniformDeclaration(name: "brightness", type: .float, range: -1...1),
            ], alpha: .premultiplied)
        let half = b.constant(Float(0.5))
        let c = b.current(0)
        var v = try b.swizzle(c, "rgb")
        v = try b.apply(.add, [b.apply(.mul, [b.apply(.sub, [v, half]), b.uniform(0)]), half])
        v = try b.apply(.add, [v, b.uniform(1)])
        return try b.finish(try b.construct(.vec4, [v, b.swizzle(c, "a")]))
    }

    /// Sum of the magnitudes of Sobel's gradients of luma, grey and opaque.
    static func sobelSum() throws(KernelError) -> Kernel {
        var b = KernelBuilder(
            name: "sobelSum", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)], alpha: .premultiplied)
        let weights = try b.construct(
            .vec3, [b.constant(Float(0.2126)), b.constant(Float(0.7152)), b.constant(Float(0.0722))])
        func weighted(_ taps: [(Int, Int, Float)]) throws(KernelError) -> Value {
            var sum: Value?
            for (dx, dy, weight) in taps {
                let luma = try b.apply(.dot, [b.swizzle(b.tap(0, dx: dx, dy: dy), "rgb"), weights])
                let term = try b.apply(.mul, [luma, b.constant(weight)])
                sum = if let sum { try b.apply(.add, [sum, term]) } else { term }
            }
            return try b.apply(.abs, [sum ?? b.constant(Float(0))])
        }
        let x = try weighted([(-1, -1, -1), (-1, 0, -2), (-1, 1, -1), (1, -1, 1), (1, 0, 2), (1, 1, 1)])
        let y = try weighted([(-1, -1, -1), (0, -1, -2), (1, -1, -1), (-1, 1, 1), (0, 1, 2), (1, 1, 1)])
        let sum = try b.apply(.add, [x, y])
        return try b.finish(try b.construct(.vec4, [sum, sum, sum, b.constant(Float(1))]))
    }

    /// Gradient magnitude of luma, grey.
    static func sobel() throws(KernelError) -> Kernel {
        var b = KernelBuilder(name: "sobel", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)])
        let weights = try b.construct(
            .vec3, [b.constant(Float(0.2126)), b.constant(Float(0.7152)), b.constant(Float(0.0722))])
        func luma(_ dx: Int, _ dy: Int) throws(KernelError) -> Value {
            try b.apply(.dot, [b.swizzle(b.tap(0, dx: dx, dy: dy), "rgb"), weights])
        }
        func weighted(_ taps: [(Int, Int, Float)]) throws(KernelError) -> Value {
            var sum: Value?
            for (dx, dy, weight) in taps {
                let term = try b.apply(.mul, [luma(dx, dy), b.constant(weight)])
                sum = if let sum { try b.apply(.add, [sum, term]) } else { term }
            }
            return sum ?? b.constant(Float(0))
        }
        let x = try weighted([(-1, -1, -1), (-1, 0, -2), (-1, 1, -1), (1, -1, 1), (1, 0, 2), (1, 1, 1)])
        let y = try weighted([(-1, -1, -1), (0, -1, -2), (1, -1, -1), (-1, 1, 1), (0, 1, 2), (1, 1, 1)])
        return try b.finish(try b.apply(.length, [b.construct(.vec2, [x, y])]))
    }

    /// `count` point filters, one after another, fused into one kernel.
    static func chain(_ count: Int) throws(KernelError) -> Kernel {
        var kernel = try link(0)
        for index in 1..<max(count, 1) { kernel = try link(index).inlining(kernel, asInput: 0) }
        return kernel
    }

    /// One filter of the chain: each a different small colour operation with a knob.
    private static func link(_ index: Int) throws(KernelError) -> Kernel {
        var b = KernelBuilder(
            name: "link\(index)", inputs: [InputDeclaration(name: "image")],
            uniforms: [UniformDeclaration(name: "amount", type: .float)])
        let c = b.current(0)
        let rgb = try b.swizzle(c, "rgb")
        let amount = b.uniform(0)
        let half = b.constant(Float(0.5))
        let result: Value
        switch index % 5 {
        case 0: result = try b.apply(.add, [b.apply(.mul, [b.apply(.sub, [rgb, half]), amount]), half])
        case 1: result = try b.apply(.add, [rgb, amount])
        case 2:
            let weights = try b.construct(
                .vec3, [b.constant(Float(0.3)), b.constant(Float(0.6)), b.constant(Float(0.1))])
            result = try b.apply(.mix, [b.construct(.vec3, [b.apply(.dot, [rgb, weights])]), rgb, amount])
        case 3: result = try b.apply(.pow, [b.apply(.max, [rgb, b.constant(Float(0))]), amount])
        default:
            let tint = try b.construct(.vec3, [b.constant(Float(1)), amount, b.constant(Float(0.9))])
            result = try b.apply(.mul, [rgb, tint])
        }
        return try b.finish(try b.construct(.vec4, [result, b.swizzle(c, "a")]))
    }
}
