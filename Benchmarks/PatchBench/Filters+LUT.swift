import PatchKernel

extension Filters {
    /// W5: a 33³ table as a picture of 33·33 × 33 pixels (red fastest, then green, across; blue down), read at the four
    /// corners of the tetrahedron that holds the colour.
    static func lut() throws -> Filter {
        let side = Double(CubeLUT.side)
        var k = KernelSketch(
            "lut", inputs: [InputDeclaration(name: "image"), InputDeclaration(name: "table")])
        let color = try k.part(k.image(), "rgb")
        let scaled = try k.mul(k.clamp(color), k.number(side - 1))
        let base = try k.apply(.min, k.apply(.floor, scaled), k.number(side - 2))
        let rest = try k.sub(scaled, base)
        let (r, g, b) = (try k.part(rest, "r"), try k.part(rest, "g"), try k.part(rest, "b"))

        let largest = try k.apply(.max, k.apply(.max, r, g), b)
        let smallest = try k.apply(.min, k.apply(.min, r, g), b)
        let middle = try k.sub(k.sub(k.add(k.add(r, g), b), largest), smallest)
        // The second corner is one step along the axis of the largest fraction; the third lacks only the smallest's.
        let isRedFirst = try k.apply(.and, k.apply(.ge, r, g), k.apply(.ge, r, b))
        let isGreenFirst = try k.apply(.ge, g, b)
        let isBlueLast = try k.apply(.and, k.apply(.le, b, r), k.apply(.le, b, g))
        let isGreenLast = try k.apply(.le, g, r)

        let across = try k.add(k.part(base, "r"), k.mul(k.part(base, "g"), k.number(side)))
        let down = try k.part(base, "b")
        let (zero, one, sideways) = (k.number(0), k.number(1), k.number(side))
        let red = try k.builder.construct(.vec2, [one, zero])
        let green = try k.builder.construct(.vec2, [sideways, zero])
        let blue = try k.builder.construct(.vec2, [zero, one])
        let all = try k.builder.construct(.vec2, [k.number(side + 1), one])
        let first = try k.builder.select(isRedFirst, red, k.builder.select(isGreenFirst, green, blue))
        // Ties must agree with the choice above: whoever is first is never last.
        let last = try k.builder.select(isBlueLast, blue, k.builder.select(isGreenLast, green, red))
        let corner = try k.builder.construct(.vec2, [across, down])
        let offsets = [nil, first, try k.sub(all, last), all]
        let weights = [
            try k.sub(one, largest), try k.sub(largest, middle), try k.sub(middle, smallest), smallest,
        ]
        let center = try k.builder.construct(.vec2, [k.number(0.5)])
        let size = k.builder.builtin(.inputSize(1))
        let inverse = try k.apply(.div, k.builder.construct(.vec2, [one]), size)
        var result: Value?
        for (offset, weight) in zip(offsets, weights) {
            let place = if let offset { try k.add(corner, offset) } else { corner }
            let uv = try k.mul(k.add(place, center), inverse)
            let entry = try k.part(k.builder.sample(1, at: uv, filter: .nearest), "rgb")
            let term = try k.mul(entry, weight)
            result = if let result { try k.add(result, term) } else { term }
        }
        guard let result else { throw BenchProblem("no corners") }
        return try k.finish(color: result)
    }

    /// Point filters as people chain them; the tenth begins again at the first.
    static func points(_ count: Int) throws -> [Filter] {
        let ten = try tenPoints()
        return (0..<count).map { ten[$0 % ten.count] }
    }

    /// Ten different point filters, the dearest (gamma) last.
    static func tenPoints() throws -> [Filter] {
        [
            try brightness(0.02), try contrast(1.05), try saturation(0.9, clamped: false), try exposure(), try gains(),
            try matrix(), try levels(), try tint(), try vignette(), try gamma(0.95),
        ]
    }

    private static func exposure() throws -> Filter {
        var k = KernelSketch("exposure", uniforms: [("stops", [0.1])])
        return try k.finish(color: k.mul(k.part(k.image(), "rgb"), k.apply(.exp2, k.uniform(0))))
    }

    private static func gains() throws -> Filter {
        var k = KernelSketch("gains", uniforms: [("rgb", [1.02, 1, 0.97])])
        return try k.finish(color: k.mul(k.part(k.image(), "rgb"), k.uniform(0)))
    }

    private static func matrix() throws -> Filter {
        var k = KernelSketch("matrix", uniforms: [("matrix", [0.9, 0.05, 0.05, 0.05, 0.9, 0.05, 0.05, 0.05, 0.9])])
        return try k.finish(color: k.mul(k.uniform(0), k.part(k.image(), "rgb")))
    }

    private static func levels() throws -> Filter {
        var k = KernelSketch("levels", uniforms: [("black", [0.02, 0.02, 0.02]), ("white", [0.97, 0.97, 0.97])])
        let range = try k.sub(k.uniform(1), k.uniform(0))
        return try k.finish(color: k.clamp(k.apply(.div, k.sub(k.part(k.image(), "rgb"), k.uniform(0)), range)))
    }

    private static func tint() throws -> Filter {
        var k = KernelSketch("tint", uniforms: [("color", [1, 0.9, 0.7]), ("amount", [0.15])])
        let color = try k.part(k.image(), "rgb")
        let weights = try k.builder.construct(.vec3, Look.luma.map { k.number($0) })
        let toned = try k.mul(k.uniform(0), k.apply(.dot, color, weights))
        return try k.finish(color: k.apply(.mix, color, toned, k.uniform(1)))
    }

    static func exponential(_ x: Double) -> Double { exp(x) }
}

#if canImport(Glibc)
import Glibc
#endif
