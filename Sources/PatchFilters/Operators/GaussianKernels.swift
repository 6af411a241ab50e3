import PatchKernel

/// The kernels that `GaussianOperator` is made of: pieces of a pyramid, one direction at a time.
///
/// All work on premultiplied encoded values, channel by channel.
/// Thread-safety: values.
enum GaussianKernels {
    /// Which way a kernel reads.
    enum Direction { case across, down }

    /// Weighted sum of the 2 · radius + 1 pixels around: uniforms `w0`, `w1` … with the centre's weight first.
    static func blur(_ direction: Direction, radius: Int) throws(KernelError) -> Kernel {
        var b = builder("gaussian.blur\(radius)", uniforms: (0...radius).map { "w\($0)" })
        var sum = try b.apply(.mul, [b.current(0), b.uniform(0)])
        for away in 1...radius {
            let (dx, dy) = direction == .across ? (away, 0) : (0, away)
            let pair = try b.apply(.add, [b.tap(0, dx: -dx, dy: -dy), b.tap(0, dx: dx, dy: dy)])
            sum = try b.apply(.add, [sum, b.apply(.mul, [pair, b.uniform(away)])])
        }
        return try b.finish(sum)
    }

    /// Half as many pixels: (1 3 3 1) / 8 of the pixels 2i − 1 … 2i + 2, where i counts from uniform `first` and pixels
    /// of the input from uniform `origin`.
    static func shrink(_ direction: Direction) throws(KernelError) -> Kernel {
        var b = builder("gaussian.shrink", uniforms: ["first", "origin"])
        let here = try along(direction, &b)
        let two = b.constant(Float(2))
        let start = try b.apply(.add, [b.apply(.mul, [b.apply(.add, [here, b.uniform(0)]), two]), b.uniform(1)])
        var sum: Value?
        for (offset, weight) in [(-1, 1), (0, 3), (1, 3), (2, 1)] as [(Float, Float)] {
            let at = try b.apply(.add, [start, b.constant(offset)])
            let part = try b.apply(.mul, [read(at, direction, &b), b.constant(weight / 8)])
            sum = try sum.map { (value) throws(KernelError) in try b.apply(.add, [value, part]) } ?? part
        }
        return try b.finish(sum ?? b.current(0))
    }

    /// Twice as many pixels: pixel i, counted from uniform `first`, is ¾ of the pixel ⌊i/2⌋ and ¼ of its other neighbour;
    /// pixels of the input count from uniform `origin`.
    static func grow(_ direction: Direction) throws(KernelError) -> Kernel {
        var b = builder("gaussian.grow", uniforms: ["first", "origin"])
        let half = try b.apply(.mul, [b.apply(.add, [along(direction, &b), b.uniform(0)]), b.constant(Float(0.5))])
        let near = try b.apply(.floor, [half])
        // −1 for an even pixel, 1 for an odd one.
        let side = try b.apply(
            .sub, [b.apply(.mul, [b.apply(.sub, [half, near]), b.constant(Float(4))]), b.constant(Float(1))])
        let at = try b.apply(.add, [near, b.uniform(1)])
        let nearest = try b.apply(.mul, [read(at, direction, &b), b.constant(Float(0.75))])
        let other = try b.apply(
            .mul, [read(b.apply(.add, [at, side]), direction, &b), b.constant(Float(0.25))])
        return try b.finish(b.apply(.add, [nearest, other]))
    }

    /// One row in place of two: (1 3 3 1) / 8 of rows 2i − 1 … 2i + 2, which come in two pictures: row i of `odd` is row
    /// 2i − 1, row i of `even` row 2i. Plain reads, where `shrink` gathers; valid while row i + 1 exists in both.
    static func joinRows() throws(KernelError) -> Kernel {
        var b = KernelBuilder(
            name: "gaussian.joinRows",
            inputs: ["odd", "even"].map { InputDeclaration(name: $0, alpha: .premultiplied) },
            uniforms: [], alpha: .premultiplied)
        let middle = try b.apply(.add, [b.current(1), b.tap(0, dx: 0, dy: 1)])
        let outer = try b.apply(.add, [b.current(0), b.tap(1, dx: 0, dy: 1)])
        return try b.finish(
            b.apply(
                .add,
                [b.apply(.mul, [middle, b.constant(Float(0.375))]), b.apply(.mul, [outer, b.constant(Float(0.125))])]))
    }

    /// Every second row of a picture twice as high, from a row and the one below it, weighed by uniforms `upper`, `lower`.
    static func splitRows() throws(KernelError) -> Kernel {
        var b = builder("gaussian.splitRows", uniforms: ["upper", "lower"])
        let upper = try b.apply(.mul, [b.current(0), b.uniform(0)])
        return try b.finish(b.apply(.add, [upper, b.apply(.mul, [b.tap(0, dx: 0, dy: 1), b.uniform(1)])]))
    }

    private static func builder(_ name: String, uniforms: [String]) -> KernelBuilder {
        KernelBuilder(
            name: name, inputs: [InputDeclaration(name: "image", alpha: .premultiplied)],
            uniforms: uniforms.map { UniformDeclaration(name: $0, type: .float) }, alpha: .premultiplied)
    }

    /// The output pixel's column or row.
    private static func along(_ direction: Direction, _ b: inout KernelBuilder) throws(KernelError) -> Value {
        let position = try b.swizzle(b.builtin(.position), direction == .across ? "x" : "y")
        return try b.apply(.sub, [position, b.constant(Float(0.5))])
    }

    /// The input's pixel at this column (or row) and the output pixel's own row (or column); beyond the edge its last one.
    private static func read(
        _ at: Value, _ direction: Direction, _ b: inout KernelBuilder
    ) throws(KernelError) -> Value {
        let centre = try b.apply(.add, [at, b.constant(Float(0.5))])
        let position = b.builtin(.position)
        let place =
            direction == .across
            ? try b.construct(.vec2, [centre, b.swizzle(position, "y")])
            : try b.construct(.vec2, [b.swizzle(position, "x"), centre])
        return try b.sample(0, at: b.apply(.div, [place, b.builtin(.inputSize(0))]), filter: .nearest)
    }
}
