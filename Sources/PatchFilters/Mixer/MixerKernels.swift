import PatchGraph
import PatchKernel
import PatchMedia

/// The kernels that a mixer draws with. All work on premultiplied colour, encoded unless `light` says otherwise; positions are
/// pixels of the part of the canvas that the pass writes. Colours among the uniforms are encoded and straight.
enum MixerKernels {
    /// Floats that any of them takes at most.
    static let mostFloats = 16

    /// The source alone, for slots that hide what is below: no read of the canvas.
    static func copy() throws -> Kernel {
        try build("mixerCopy", inputs: ["source"], uniforms: []) { b throws(KernelError) in b.current(0) }
    }

    /// The source over the canvas. Uniform: opacity.
    static func over(_ light: Light = .encoded) throws -> Kernel {
        try build("mixerOver", light, inputs: ["canvas", "source"], uniforms: [("opacity", .float)]) {
            b throws(KernelError) in
            try over(&b, b.apply(.mul, [b.current(1), b.uniform(0)]), b.current(0), "normal")
        }
    }

    /// The source over one colour. Uniforms: the colour, premultiplied, and opacity.
    static func overColor() throws -> Kernel {
        try build("mixerOverColor", inputs: ["source"], uniforms: [("color", .vec4), ("opacity", .float)]) {
            b throws(KernelError) in
            try over(&b, b.apply(.mul, [b.current(0), b.uniform(1)]), b.uniform(0), "normal")
        }
    }

    /// The source over the canvas, with edges, corners, border, opacity, blend and mask. Uniforms: the picture's and the
    /// slot's rectangle, the border's colour, and opacity, corner radius, border width.
    /// - Parameter isAlone: what would be laid over a canvas, which is not read. `blend` is "normal" then.
    static func layer(
        blend: String, hasMask: Bool, isAlone: Bool = false, _ light: Light = .encoded
    ) throws -> Kernel {
        let uniforms: [(String, ValueType)] = [
            ("rect", .vec4), ("outer", .vec4), ("border", .vec4), ("shape", .vec3),
        ]
        let inputs = (isAlone ? [] : ["canvas"]) + ["source"] + (hasMask ? ["mask"] : [])
        let source = isAlone ? 0 : 1
        return try build("mixerLayer", light, inputs: inputs, uniforms: uniforms) { b throws(KernelError) in
            var layer = b.current(source)
            let inside = try coverage(&b, b.uniform(0))
            let shape = b.uniform(3)
            let (opacity, radius, width) = (
                try b.swizzle(shape, "x"), try b.swizzle(shape, "y"), try b.swizzle(shape, "z")
            )
            let distance = try distance(&b, b.uniform(1), radius)
            let half = b.constant(Float(0.5))
            let (zero, one) = (b.constant(Float(0)), b.constant(Float(1)))
            let covered = try cover(&b, b.uniform(1), distance, radius)
            // Where an edge of the picture is one of the slot's it counts once.
            layer = try b.apply(.mul, [layer, b.apply(.min, [inside, covered])])
            // The border lies on the inner side of the edge.
            let onBorder = try b.apply(
                .mul,
                [
                    b.apply(.clamp, [b.apply(.add, [b.apply(.add, [distance, width]), half]), zero, one]),
                    b.apply(.clamp, [width, zero, one]),
                ])
            let border = try premultiplied(&b, b.uniform(2))
            let under = try b.apply(
                .mul, [layer, b.apply(.sub, [one, b.apply(.mul, [onBorder, b.swizzle(border, "a")])])])
            layer = try b.apply(.add, [under, b.apply(.mul, [border, b.apply(.mul, [onBorder, covered])])])
            let weight = hasMask ? try b.apply(.mul, [opacity, mask(&b, source + 1)]) : opacity
            layer = try b.apply(.mul, [layer, weight])
            return isAlone ? layer : try over(&b, layer, b.current(0), blend)
        }
    }

    /// One colour in a rectangle, with corners and soft edges: what is beside a picture, and shadows.
    static func box(_ light: Light = .encoded) throws -> Kernel {
        let uniforms: [(String, ValueType)] = [("rect", .vec4), ("color", .vec4), ("shape", .vec2)]
        return try build("mixerBox", light, inputs: ["canvas"], uniforms: uniforms) { b throws(KernelError) in
            let shape = b.uniform(2)
            let (radius, softness) = (try b.swizzle(shape, "x"), try b.swizzle(shape, "y"))
            let distance = try distance(&b, b.uniform(0), radius)
            let (one, half) = (b.constant(Float(1)), b.constant(Float(0.5)))
            let hard = try cover(&b, b.uniform(0), distance, radius)
            // Half the softness on either side of the edge.
            let reach = try b.apply(.max, [softness, half])
            let soft = try b.apply(
                .sub, [one, b.apply(.smoothstep, [b.apply(.neg, [reach]), reach, distance])])
            let cover = try b.select(b.apply(.gt, [softness, half]), soft, hard)
            return try over(&b, b.apply(.mul, [premultiplied(&b, b.uniform(1)), cover]), b.current(0), "normal")
        }
    }

    // MARK: Parts

    /// A colour in the kernel's light, times its alpha.
    private static func premultiplied(_ b: inout KernelBuilder, _ color: Value) throws(KernelError) -> Value {
        let (rgb, alpha) = (try b.swizzle(b.color(color), "rgb"), try b.swizzle(color, "a"))
        return try b.construct(.vec4, [b.apply(.mul, [rgb, alpha]), alpha])
    }

    /// How much of the pixel lies in the rectangle, 0…1: its share along x times that along y.
    private static func coverage(_ b: inout KernelBuilder, _ rect: Value) throws(KernelError) -> Value {
        let (zero, one, half) = (b.constant(Float(0)), b.constant(Float(1)), b.constant(Float(0.5)))
        let position = b.builtin(.position)
        let inner = try b.apply(
            .min,
            [b.apply(.sub, [position, b.swizzle(rect, "xy")]), b.apply(.sub, [b.swizzle(rect, "zw"), position])])
        let share = try b.apply(.clamp, [b.apply(.add, [inner, half]), zero, one])
        return try b.apply(.mul, [b.swizzle(share, "x"), b.swizzle(share, "y")])
    }

    /// How much of the pixel a rectangle covers: by its distance where corners are round, else exactly.
    private static func cover(
        _ b: inout KernelBuilder, _ rect: Value, _ distance: Value, _ radius: Value
    ) throws(KernelError) -> Value {
        let (zero, one, half) = (b.constant(Float(0)), b.constant(Float(1)), b.constant(Float(0.5)))
        let round = try b.apply(.clamp, [b.apply(.sub, [half, distance]), zero, one])
        return try b.select(b.apply(.gt, [radius, zero]), round, coverage(&b, rect))
    }

    /// Distance from the pixel's centre to the edge of a rectangle with round corners, negative inside.
    private static func distance(
        _ b: inout KernelBuilder, _ rect: Value, _ radius: Value
    ) throws(KernelError) -> Value {
        let (zero, half) = (b.constant(Float(0)), b.constant(Float(0.5)))
        let (low, high) = (try b.swizzle(rect, "xy"), try b.swizzle(rect, "zw"))
        let centre = try b.apply(.mul, [b.apply(.add, [low, high]), half])
        let extent = try b.apply(.mul, [b.apply(.sub, [high, low]), half])
        let smallest = try b.apply(.min, [b.swizzle(extent, "x"), b.swizzle(extent, "y")])
        let round = try b.apply(.min, [radius, smallest])
        let away = try b.apply(
            .sub,
            [b.apply(.abs, [b.apply(.sub, [b.builtin(.position), centre])]), b.apply(.sub, [extent, round])])
        let outside = try b.apply(.length, [b.apply(.max, [away, zero])])
        let inside = try b.apply(.min, [b.apply(.max, [b.swizzle(away, "x"), b.swizzle(away, "y")]), zero])
        return try b.apply(.sub, [b.apply(.add, [outside, inside]), round])
    }

    /// Luminance times alpha of the mask, which is stretched over the slot.
    private static func mask(_ b: inout KernelBuilder, _ input: Int) throws(KernelError) -> Value {
        let outer = b.uniform(1)
        let (low, high) = (try b.swizzle(outer, "xy"), try b.swizzle(outer, "zw"))
        let uv = try b.apply(.div, [b.apply(.sub, [b.builtin(.position), low]), b.apply(.sub, [high, low])])
        let pixel = try b.sample(input, at: uv, filter: .bilinear)
        let weights = try b.construct(
            .vec3, [b.constant(Float(0.2126)), b.constant(Float(0.7152)), b.constant(Float(0.0722))])
        return try b.apply(.dot, [b.swizzle(pixel, "rgb"), weights])
    }

    /// Source over with the blend's formula where both are: (1 − αb)·S + (1 − αs)·B + αs·αb·f(Cb, Cs), premultiplied.
    private static func over(
        _ b: inout KernelBuilder, _ source: Value, _ backdrop: Value, _ blend: String
    ) throws(KernelError) -> Value {
        let one = b.constant(Float(1))
        let (sa, ba) = (try b.swizzle(source, "a"), try b.swizzle(backdrop, "a"))
        if blend == "normal" {
            return try b.apply(.add, [source, b.apply(.mul, [backdrop, b.apply(.sub, [one, sa])])])
        }
        let small = b.constant(Float(1e-6))
        let s = try b.apply(.div, [b.swizzle(source, "rgb"), b.apply(.max, [sa, small])])
        let d = try b.apply(.div, [b.swizzle(backdrop, "rgb"), b.apply(.max, [ba, small])])
        let mixed = try formula(&b, blend, d, s)
        let alone = try b.apply(.mul, [b.swizzle(source, "rgb"), b.apply(.sub, [one, ba])])
        let below = try b.apply(.mul, [b.swizzle(backdrop, "rgb"), b.apply(.sub, [one, sa])])
        let both = try b.apply(.mul, [mixed, b.apply(.mul, [sa, ba])])
        let rgb = try b.apply(.add, [b.apply(.add, [alone, below]), both])
        let alpha = try b.apply(.add, [sa, b.apply(.mul, [ba, b.apply(.sub, [one, sa])])])
        return try b.construct(.vec4, [rgb, alpha])
    }

    private static func formula(
        _ b: inout KernelBuilder, _ blend: String, _ d: Value, _ s: Value
    ) throws(KernelError) -> Value {
        let (one, two, half) = (b.constant(Float(1)), b.constant(Float(2)), b.constant(Float(0.5)))
        func screen(_ x: Value, _ y: Value, _ b: inout KernelBuilder) throws(KernelError) -> Value {
            try b.apply(.sub, [b.apply(.add, [x, y]), b.apply(.mul, [x, y])])
        }
        func hardLight(_ d: Value, _ s: Value, _ b: inout KernelBuilder) throws(KernelError) -> Value {
            let double = try b.apply(.mul, [s, two])
            let dark = try b.apply(.mul, [d, double])
            let light = try screen(d, b.apply(.sub, [double, one]), &b)
            return try b.apply(.mix, [dark, light, b.apply(.step, [half, s])])
        }
        switch blend {
        case "multiply": return try b.apply(.mul, [d, s])
        case "screen": return try screen(d, s, &b)
        case "overlay": return try hardLight(s, d, &b)
        case "hardLight": return try hardLight(d, s, &b)
        case "darken": return try b.apply(.min, [d, s])
        case "lighten": return try b.apply(.max, [d, s])
        case "add": return try b.apply(.min, [b.apply(.add, [d, s]), one])
        case "difference": return try b.apply(.abs, [b.apply(.sub, [d, s])])
        case "exclusion":
            return try b.apply(.sub, [b.apply(.add, [d, s]), b.apply(.mul, [b.apply(.mul, [d, s]), two])])
        default: throw KernelError(.name, "there is no blend '\(blend)'")
        }
    }

    /// A kernel for linear light is one for any space, made into one that weighs light; a mask keeps its codes.
    private static func build(
        _ name: String, _ light: Light = .encoded, inputs: [String], uniforms: [(String, ValueType)],
        _ body: (inout KernelBuilder) throws(KernelError) -> Value
    ) throws -> Kernel {
        let isBounded: Set = ["opacity", name == "mixerOverColor" ? "color" : ""]
        var builder = KernelBuilder(
            name: name, inputs: inputs.map { InputDeclaration(name: $0, alpha: .premultiplied) },
            uniforms: uniforms.map {
                // A known range lets integers do the work.
                UniformDeclaration(name: $0.0, type: $0.1, range: isBounded.contains($0.0) ? 0...1 : nil)
            }, alpha: .premultiplied, space: light == .linear ? .any : .rgb)
        do {
            let result = try body(&builder)
            let kernel = try builder.finish(result)
            return light == .linear ? kernel.inLinearLight(except: Set(inputs.indices.dropFirst(2))) : kernel
        } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }
}
