import PatchKernel
import PatchMedia
import Testing

/// A selection by pixels with a side so dear that chunks in which no pixel takes it jump over it: every pixel must still get what
/// it chose, computed here in double precision.
@Suite struct DearSideTests {
    /// Where the mask is above ½, a mean of 17 neighbours that weighs them by likeness; elsewhere 1 − the pixel.
    private static func kernel() throws -> Kernel {
        var b = KernelBuilder(
            name: "masked", inputs: [InputDeclaration(name: "image"), InputDeclaration(name: "mask")], uniforms: [])
        let one = b.constant(Float(1))
        let centre = try b.swizzle(b.current(0), "rgb")
        var (sum, total) = (centre, one)
        for dx in -8...8 where dx != 0 {
            let tap = try b.swizzle(b.tap(0, dx: dx, dy: 0), "rgb")
            let difference = try b.apply(.sub, [centre, tap])
            let weight = try b.apply(.div, [one, b.apply(.add, [one, b.apply(.dot, [difference, difference])])])
            sum = try b.apply(.add, [sum, b.apply(.mul, [tap, weight])])
            total = try b.apply(.add, [total, weight])
        }
        let mean = try b.apply(.div, [sum, total])
        let isTaken = try b.apply(.gt, [b.swizzle(b.current(1), "r"), b.constant(Float(0.5))])
        let rgb = try b.select(isTaken, mean, b.apply(.sub, [one, centre]))
        return try b.finish(try b.construct(.vec4, [rgb, one]))
    }

    private static func exact(_ row: [[Double]], _ x: Int, _ isTaken: Bool) -> [Double] {
        let centre = row[x]
        guard isTaken else { return centre.map { 1 - $0 } }
        var (sum, total) = (centre, 1.0)
        for dx in -8...8 where dx != 0 {
            let tap = row[max(0, min(row.count - 1, x + dx))]
            let away = zip(centre, tap).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
            let weight = 1 / (1 + away)
            for i in 0..<3 { sum[i] += tap[i] * weight }
            total += weight
        }
        return sum.map { $0 / total }
    }

    private static func number(_ picture: TestPicture, _ plane: Int, _ x: Int, _ y: Int) -> Double {
        picture.format.number(picture[plane, x, y])
    }

    /// Rows of masks: nowhere, everywhere, one pixel, at random, in runs.
    private static func isTaken(_ x: Int, _ y: Int, _ random: inout SeededRandom) -> Bool {
        switch y {
        case 0: false
        case 1: true
        case 2: random.next() % 2 == 0
        case 3: x / 40 % 2 == 1
        default: x == (y - 4) * 7
        }
    }

    @Test(arguments: [PixelFormat.half3, .float3], [1, 8, 37, 259])
    func everyPixelGetsWhatItChose(_ format: PixelFormat, _ width: Int) throws {
        let height = 9
        var random = SeededRandom(11)
        let (image, mask) = (TestPicture(format, width, height), TestPicture(.half1, width, height))
        image.fillRandom(&random)
        mask.fill { _, x, y in Self.isTaken(x, y, &random) ? 0x3c00 : 0 }
        let description = PassDescription(
            kernel: try Self.kernel(), inputs: [PassInput(format: format), PassInput(format: .half1)],
            output: PassOutput(format: format))
        for bits in [128, 256, 512] {
            var options = CompilerOptions()
            options.vectorBits = bits
            let output = TestPicture(format, width, height)
            run(try KernelCompiler(options).compile(description), [image, mask], output)
            var worst = 0.0
            for y in 0..<height {
                let row = (0..<width).map { x in (0..<3).map { Self.number(image, $0, x, y) } }
                for x in 0..<width {
                    let wanted = Self.exact(row, x, Self.number(mask, 0, x, y) > 0.5)
                    for i in 0..<3 { worst = max(worst, abs(Self.number(output, i, x, y) - wanted[i])) }
                }
            }
            // A half is off by 2.4e-4 at most.
            #expect(worst < 0.0005, "\(bits) bits: off by \(worst)")
        }
    }
}
