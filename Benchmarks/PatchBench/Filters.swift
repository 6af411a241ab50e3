import PatchKernel

/// The filters of the workloads, each a kernel of its own as in a graph, with its numbers as uniforms.
enum Filters {
    typealias Look = Reference.Look

    static func contrast(_ amount: Double = Look.contrast) throws -> Filter {
        var k = KernelSketch("contrast", uniforms: [("amount", [Float(amount)])])
        let half = k.number(0.5)
        return try k.finish(color: k.add(k.mul(k.sub(k.part(k.image(), "rgb"), half), k.uniform(0)), half))
    }

    static func brightness(_ amount: Double = Look.brightness) throws -> Filter {
        var k = KernelSketch("brightness", uniforms: [("amount", [Float(amount)])])
        return try k.finish(color: k.add(k.part(k.image(), "rgb"), k.uniform(0)))
    }

    /// The result is held in 0…1, as a picture in 8-bit codes would be.
    static func saturation(_ amount: Double = Look.saturation, clamped: Bool = true) throws -> Filter {
        var k = KernelSketch("saturation", uniforms: [("amount", [Float(amount)])])
        let color = try k.part(k.image(), "rgb")
        let luma = try k.apply(.dot, color, lumaWeights(&k))
        let mixed = try k.apply(.mix, k.builder.construct(.vec3, [luma]), color, k.uniform(0))
        return try k.finish(color: clamped ? k.clamp(mixed) : mixed)
    }

    private static func lumaWeights(_ k: inout KernelSketch) throws -> Value {
        let weights = Look.luma.map { k.number($0) }
        return try k.builder.construct(.vec3, weights)
    }

    static func vignette() throws -> Filter {
        var k = KernelSketch(
            "vignette",
            uniforms: [
                ("center", [0.5, 0.5]), ("color", [0, 0, 0]), ("start", [Float(Look.vignetteStart)]),
                ("end", [Float(Look.vignetteEnd)]),
            ])
        let distance = try k.apply(.distance, k.builder.builtin(.uv), k.uniform(0))
        let amount = try k.apply(.smoothstep, k.uniform(2), k.uniform(3), distance)
        return try k.finish(color: k.apply(.mix, k.part(k.image(), "rgb"), k.uniform(1), amount))
    }

    static func gamma(_ exponent: Double = Look.gamma) throws -> Filter {
        var k = KernelSketch("gamma", uniforms: [("gamma", [Float(exponent)])])
        return try k.finish(color: k.apply(.pow, k.part(k.image(), "rgb"), k.uniform(0)))
    }

    /// W1's five filters.
    static func look() throws -> Filter {
        try .chain([contrast(), brightness(), saturation(), vignette(), gamma()])
    }

    /// W1y: eq on the video's own components, then the vignette.
    static func lookYCbCr() throws -> Filter {
        var k = KernelSketch(
            "eq and vignette",
            uniforms: [
                ("contrast", [Float(Look.contrast)]), ("brightness", [Float(Look.brightness)]),
                ("saturation", [Float(Look.saturation)]), ("gamma", [Float(Look.gamma)]),
                ("start", [Float(Look.vignetteStart)]), ("end", [Float(Look.vignetteEnd)]),
            ], space: .ycbcr)
        let image = k.image()
        let half = k.number(0.5)
        let bright = try k.clamp(
            k.add(k.add(k.mul(k.sub(k.part(image, "r"), half), k.uniform(0)), half), k.uniform(1)))
        let center = try k.builder.construct(.vec2, [half])
        let distance = try k.apply(.distance, k.builder.builtin(.uv), center)
        let left = try k.sub(k.number(1), k.apply(.smoothstep, k.uniform(4), k.uniform(5), distance))
        let luma = try k.mul(k.apply(.pow, bright, k.uniform(3)), left)
        let chroma = try k.mul(k.mul(k.part(image, "gb"), k.uniform(2)), left)
        return try k.finish(k.builder.construct(.vec4, [luma, chroma, k.number(1)]))
    }

    /// A row (or column) of a Gaussian.
    static func gaussian(sigma: Double, horizontal: Bool, space: KernelSpace = .rgb) throws -> Filter {
        var k = KernelSketch(
            "gaussian", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)], alpha: .premultiplied,
            space: space)
        let radius = Int((3 * sigma).rounded(.up))
        let weights = (-radius...radius).map { exponential(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = weights.reduce(0, +)
        var terms: [(Double, Value)] = []
        for (i, weight) in weights.enumerated() {
            let offset = i - radius
            let tap = try k.builder.tap(0, dx: horizontal ? offset : 0, dy: horizontal ? 0 : offset)
            terms.append((weight / sum, tap))
        }
        return try k.finish(k.sum(terms))
    }

    static func convolution3x3() throws -> Filter {
        var k = KernelSketch("convolution")
        var terms: [(Double, Value)] = []
        for (i, weight) in Reference.sharpen.enumerated() {
            terms.append((weight, try k.part(k.builder.tap(0, dx: i % 3 - 1, dy: i / 3 - 1), "rgb")))
        }
        return try k.finish(color: k.sum(terms))
    }

    /// BT.601 luma as grey.
    static func luma601() throws -> Filter {
        var k = KernelSketch("luma")
        return try k.finish(luma(&k, k.image()))
    }

    private static func luma(_ k: inout KernelSketch, _ pixel: Value) throws -> Value {
        try k.sum([
            (0.299, k.part(pixel, "r")), (0.587, k.part(pixel, "g")), (0.114, k.part(pixel, "b")),
        ])
    }

    /// |gx| + |gy| of the red channel, or of luma made on the way.
    static func sobel(ofLuma: Bool) throws -> Filter {
        var k = KernelSketch("sobel")
        func at(_ dx: Int, _ dy: Int) throws -> Value {
            let pixel = try k.builder.tap(0, dx: dx, dy: dy)
            return ofLuma ? try luma(&k, pixel) : try k.part(pixel, "r")
        }
        let x = try k.sum([
            (1, at(1, -1)), (2, at(1, 0)), (1, at(1, 1)), (-1, at(-1, -1)), (-2, at(-1, 0)), (-1, at(-1, 1)),
        ])
        let y = try k.sum([
            (1, at(-1, 1)), (2, at(0, 1)), (1, at(1, 1)), (-1, at(-1, -1)), (-2, at(0, -1)), (-1, at(1, -1)),
        ])
        return try k.finish(k.clamp(k.add(k.apply(.abs, x), k.apply(.abs, y))))
    }

    static let copy = Filter(kernel: StandardKernels.copy, uniforms: [])
}
