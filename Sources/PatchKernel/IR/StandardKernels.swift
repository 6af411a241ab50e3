/// Kernels that the planner itself needs. All but `solid` work in any space.
///
/// Thread-safety: values.
public enum StandardKernels {
    /// The picture as it is.
    public static let copy: Kernel = build("copy", inputs: [premultiplied("image")]) { b throws(KernelError) in
        b.current(0)
    }

    /// One colour: uniform 0, `color`, straight.
    public static let solid: Kernel = build(
        "solid", uniforms: [UniformDeclaration(name: "color", type: .vec4)], alpha: .straight, space: .rgb
    ) { b throws(KernelError) in
        b.uniform(0)
    }

    /// Input 1, `overlay`, over input 0, `image` (Porter and Duff's over, premultiplied).
    public static let sourceOver: Kernel = build(
        "sourceOver", inputs: [premultiplied("image"), premultiplied("overlay")]
    ) { b throws(KernelError) in
        let (image, overlay) = (b.current(0), b.current(1))
        let rest = try b.apply(.sub, [b.constant(Float(1)), b.swizzle(overlay, "a")])
        return try b.apply(.add, [overlay, b.apply(.mul, [image, rest])])
    }

    /// The whole picture at the output's size.
    public static func resize(filter: SampleFilter = .bilinear) -> Kernel {
        copy.samplingInput(0, filter: filter).named("resize")
    }

    /// The picture in a rectangle, `fill` around it.
    ///
    /// Uniforms: `rect` (x, y, width, height of the place in the output's uv), `fill` (straight colour), `crop`
    /// (x, y, width, height of what is shown in the picture's own uv). Nothing outside the crop is read.
    public static func place(filter: SampleFilter = .bilinear) -> Kernel {
        let uniforms = [
            UniformDeclaration(name: "rect", type: .vec4), UniformDeclaration(name: "fill", type: .vec4),
            UniformDeclaration(name: "crop", type: .vec4),
        ]
        return build("place", inputs: [premultiplied("image")], uniforms: uniforms) { b throws(KernelError) in
            let (rect, fill, crop) = (b.uniform(0), b.uniform(1), b.uniform(2))
            let (zero, one, half) = (b.constant(Float(0)), b.constant(Float(1)), b.constant(Float(0.5)))
            let size = try b.swizzle(rect, "zw")
            let local = try b.apply(
                .div, [b.apply(.sub, [b.builtin(.uv), b.swizzle(rect, "xy")]), size])
            let cropOrigin = try b.swizzle(crop, "xy")
            let cropSize = try b.swizzle(crop, "zw")
            let inset = try b.apply(.div, [half, b.builtin(.inputSize(0))])
            let low = try b.apply(.add, [cropOrigin, inset])
            let high = try b.apply(.sub, [b.apply(.add, [cropOrigin, cropSize]), inset])
            let wanted = try b.apply(.add, [cropOrigin, b.apply(.mul, [local, cropSize])])
            let uv = try b.apply(.min, [b.apply(.max, [wanted, low]), high])
            let picture = try b.sample(0, at: uv, filter: filter)
            let isInside = try b.apply(
                .and,
                [
                    b.apply(.all, [b.apply(.ge, [local, zero])]),
                    b.apply(.all, [b.apply(.lt, [local, one])]),
                ])
            return try b.select(isInside, picture, b.convert(b.color(fill), .premultiply))
        }
    }

    /// The picture shrunk by whole factors, each pixel the mean of `x` × `y` pixels.
    /// - Precondition: factors are 1…16.
    public static func reduce(x: Int, y: Int) -> Kernel {
        precondition((1...16).contains(x) && (1...16).contains(y), "reduce shrinks by 1 to 16")
        return build("reduce\(x)x\(y)", inputs: [premultiplied("image")]) { b throws(KernelError) in
            // Bilinear reads on the border between two pixels weigh both alike: half the reads for even factors.
            func offsets(_ factor: Int) -> [Float] {
                factor % 2 == 0
                    ? (0..<factor / 2).map { Float(2 * $0 + 1) } : (0..<factor).map { Float($0) + 0.5 }
            }
            let half = b.constant(Float(0.5))
            let corner = try b.apply(
                .mul,
                [
                    b.apply(.sub, [b.builtin(.position), half]),
                    b.construct(.vec2, [b.constant(Float(x)), b.constant(Float(y))]),
                ])
            var sum: Value?
            var count: Float = 0
            for dy in offsets(y) {
                for dx in offsets(x) {
                    let offset = try b.construct(.vec2, [b.constant(dx), b.constant(dy)])
                    let uv = try b.apply(.div, [b.apply(.add, [corner, offset]), b.builtin(.inputSize(0))])
                    let pixel = try b.sample(0, at: uv, filter: .bilinear)
                    sum = if let sum { try b.apply(.add, [sum, pixel]) } else { pixel }
                    count += 1
                }
            }
            return try b.apply(.mul, [sum ?? b.current(0), b.constant(1 / count)])
        }
    }

    private static func premultiplied(_ name: String) -> InputDeclaration {
        InputDeclaration(name: name, alpha: .premultiplied)
    }

    private static func build(
        _ name: String, inputs: [InputDeclaration] = [], uniforms: [UniformDeclaration] = [],
        alpha: Alpha = .premultiplied, space: KernelSpace = .any,
        _ body: (inout KernelBuilder) throws(KernelError) -> Value
    ) -> Kernel {
        var builder = KernelBuilder(
            name: name, inputs: inputs, uniforms: uniforms, alpha: alpha, space: space)
        do {
            let result = try body(&builder)
            return try builder.finish(result)
        } catch {
            // These kernels are fixed text: an error here is a bug of ours.
            preconditionFailure("\(name): \(error)")
        }
    }
}
