import PatchKernel
import PatchMedia
import Testing

/// Kernels whose pixels were worked out by hand.
@Suite struct KernelTests {
    let compiler = KernelCompiler()

    private func pointKernel(
        uniforms: [UniformDeclaration] = [], alpha: Alpha = .straight,
        _ body: (inout KernelBuilder, Value) throws(KernelError) -> Value
    ) throws -> Kernel {
        var b = KernelBuilder(
            name: "point", inputs: [InputDeclaration(name: "image", alpha: alpha)], uniforms: uniforms, alpha: alpha)
        let pixel = b.current(0)
        let result = try body(&b, pixel)
        return try b.finish(result)
    }

    private func pass(_ kernel: Kernel, premultiplied: Bool = false) throws -> CompiledPass {
        try compiler.compile(
            PassDescription(
                kernel: kernel,
                inputs: kernel.inputs.map { _ in PassInput(format: .rgba, premultiplied: premultiplied) },
                output: PassOutput(format: .rgba, premultiplied: premultiplied)))
    }

    private func picture(_ pixels: [[[Int]]]) -> TestPicture {
        let picture = TestPicture(.rgba, pixels[0].count, pixels.count)
        picture.fill { _, x, y in pixels[y][x / 4][x % 4] }
        return picture
    }

    private func pixel(_ picture: TestPicture, _ x: Int, _ y: Int) -> [Int] {
        (0..<4).map { picture[0, 4 * x + $0, y] }
    }

    @Test func invertWithUniform() throws {
        let kernel = try pointKernel(uniforms: [UniformDeclaration(name: "amount", type: .float)]) {
            b, c throws(KernelError) in
            let inverted = try b.apply(.sub, [b.constant(Float(1)), b.swizzle(c, "rgb")])
            let mixed = try b.apply(.mix, [b.swizzle(c, "rgb"), inverted, b.uniform(0)])
            return try b.construct(.vec4, [mixed, b.swizzle(c, "a")])
        }
        let input = picture([[[0, 100, 255, 255], [10, 20, 30, 128]]])
        let output = TestPicture(.rgba, 2, 1)
        run(try pass(kernel), [input], output, uniforms: [1])
        #expect(pixel(output, 0, 0) == [255, 155, 0, 255])
        #expect(pixel(output, 1, 0) == [245, 235, 225, 128])
        run(try pass(kernel), [input], output, uniforms: [0])
        #expect(pixel(output, 1, 0) == [10, 20, 30, 128])
    }

    /// 200·½ + 100·½ over: alpha 128/255 of red over blue.
    @Test func sourceOver() throws {
        let image = picture([[[0, 0, 200, 255], [0, 0, 0, 0]]])
        let overlay = picture([[[100, 0, 0, 128], [50, 60, 70, 255]]])
        let output = TestPicture(.rgba, 2, 1)
        run(try pass(StandardKernels.sourceOver, premultiplied: true), [image, overlay], output)
        // Blue: 200 · (1 − 128/255) = 99.6; alpha: 128 + 127 = 255.
        #expect(pixel(output, 0, 0) == [100, 0, 100, 255])
        #expect(pixel(output, 1, 0) == [50, 60, 70, 255])
    }

    /// A 3×2 picture numbered 1…6, turned every way: places worked out on paper.
    @Test(arguments: [
        (0, false, [[1, 2, 3], [4, 5, 6]]), (1, false, [[4, 1], [5, 2], [6, 3]]),
        (2, false, [[6, 5, 4], [3, 2, 1]]), (3, false, [[3, 6], [2, 5], [1, 4]]),
        (0, true, [[3, 2, 1], [6, 5, 4]]), (1, true, [[1, 4], [2, 5], [3, 6]]),
    ])
    func orientation(_ turns: Int, _ mirrored: Bool, _ expected: [[Int]]) throws {
        let input = picture([
            [[1, 0, 0, 255], [2, 0, 0, 255], [3, 0, 0, 255]], [[4, 0, 0, 255], [5, 0, 0, 255], [6, 0, 0, 255]],
        ])
        let description = PassDescription(
            kernel: StandardKernels.copy,
            inputs: [PassInput(format: .rgba, orientation: Orientation(quarterTurns: turns, mirrored: mirrored))],
            output: PassOutput(format: .bgra))
        let output = TestPicture(.bgra, expected[0].count, expected.count)
        run(try compiler.compile(description), [input], output)
        for (y, row) in expected.enumerated() {
            for (x, value) in row.enumerated() { #expect(output[0, 4 * x + 2, y] == value, "(\(x), \(y))") }
        }
    }

    /// The issue's own case: a mirrored portrait camera into 480×640 BGRA.
    @Test func mirroredPortraitCamera() throws {
        let input = TestPicture(.rgba, 640, 480)
        input.fill { _, x, y in
            let column = x / 4
            return [column & 255, y & 255, (column >> 8) | (y >> 8) << 4, 255][x % 4]
        }
        let orientation = Orientation(quarterTurns: 1, mirrored: true)
        let description = PassDescription(
            kernel: StandardKernels.copy, inputs: [PassInput(format: .rgba, orientation: orientation)],
            output: PassOutput(format: .bgra))
        let output = TestPicture(.bgra, 480, 640)
        run(try compiler.compile(description), [input], output, bands: 4)
        var wrong = 0
        for y in 0..<640 {
            for x in 0..<480 {
                // A clockwise quarter turn puts (x, y) at (479 − y, x); the mirror makes that (y, x).
                let (sx, sy) = (y, x)
                let pixel = (0..<3).map { output[0, 4 * x + 2 - $0, y] }
                if pixel != [sx & 255, sy & 255, (sx >> 8) | (sy >> 8) << 4] { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test(arguments: EdgeMode.allCases)
    func tapsAtEdges(_ edge: EdgeMode) throws {
        var b = KernelBuilder(
            name: "shift", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)], alpha: .premultiplied)
        let shifted = try b.tap(0, dx: -2, dy: 0, edge: edge)
        let kernel = try b.finish(shifted)
        let row = (1...5).map { [$0 * 10, 0, 0, 255] }
        let output = TestPicture(.rgba, 5, 1)
        run(try pass(kernel, premultiplied: true), [picture([row])], output)
        let reds = (0..<5).map { output[0, 4 * $0, 0] }
        let expected: [EdgeMode: [Int]] = [
            .clamp: [10, 10, 10, 20, 30], .mirror: [20, 10, 10, 20, 30], .wrap: [40, 50, 10, 20, 30],
            .transparent: [0, 0, 10, 20, 30],
        ]
        #expect(reds == expected[edge])
        #expect(output[0, 3, 0] == (edge == .transparent ? 0 : 255))
    }

    /// Bilinear at the border between two pixels is their mean; doubling a two-pixel row gives quarters.
    @Test func bilinearDoubling() throws {
        let description = PassDescription(
            kernel: StandardKernels.resize(), inputs: [PassInput(format: .rgba)], output: PassOutput(format: .rgba))
        let output = TestPicture(.rgba, 4, 1)
        run(try compiler.compile(description), [picture([[[0, 0, 0, 255], [100, 40, 200, 255]]])], output)
        #expect((0..<4).map { output[0, 4 * $0, 0] } == [0, 25, 75, 100])
        #expect((0..<4).map { output[0, 4 * $0 + 1, 0] } == [0, 10, 30, 40])
    }

    @Test func reduceIsTheMean() throws {
        let description = PassDescription(
            kernel: StandardKernels.reduce(x: 2, y: 2), inputs: [PassInput(format: .rgba)],
            output: PassOutput(format: .rgba))
        let input = picture([
            [[10, 0, 0, 255], [20, 0, 0, 255], [100, 0, 0, 255], [100, 0, 0, 255]],
            [[30, 0, 0, 255], [40, 0, 0, 255], [200, 0, 0, 255], [200, 0, 0, 255]],
        ])
        let output = TestPicture(.rgba, 2, 1)
        run(try compiler.compile(description), [input], output)
        #expect([output[0, 0, 0], output[0, 4, 0]] == [25, 150])
    }

    @Test func placeFillsAround() throws {
        let description = PassDescription(
            kernel: StandardKernels.place(filter: .nearest), inputs: [PassInput(format: .rgba)],
            output: PassOutput(format: .rgba))
        let output = TestPicture(.rgba, 4, 2)
        run(
            try compiler.compile(description),
            [picture([[[10, 20, 30, 255], [40, 50, 60, 255]]])], output,
            uniforms: [0.5, 0, 0.5, 1] + [1, 0, 0, 1] + [0, 0, 1, 1])
        #expect(pixel(output, 0, 0) == [255, 0, 0, 255])
        #expect(pixel(output, 1, 1) == [255, 0, 0, 255])
        #expect(pixel(output, 2, 0) == [10, 20, 30, 255])
        #expect(pixel(output, 3, 1) == [40, 50, 60, 255])
    }

    /// Counts how often 1 can be doubled before it passes x · 255: a loop that ends at another time for each pixel.
    @Test func loopPerPixel() throws {
        let kernel = try pointKernel { b, c throws(KernelError) in
            let bound = try b.apply(.mul, [b.swizzle(c, "r"), b.constant(Float(255))])
            let results = try b.loop(limit: 20, initial: [b.constant(Float(1)), b.constant(Int32(0))]) {
                b, _, carried throws(KernelError) in
                let next = try b.apply(.mul, [carried[0], b.constant(Float(2))])
                let count = try b.apply(.add, [carried[1], b.constant(Int32(1))])
                return (try b.apply(.le, [next, bound]), [next, count])
            }
            let grey = try b.apply(.div, [try b.apply(.toFloat, [results[1]]), b.constant(Float(255))])
            return try b.construct(.vec4, [b.construct(.vec3, [grey]), b.constant(Float(1))])
        }
        let values = [0, 1, 2, 3, 4, 7, 8, 100, 128, 255]
        let output = TestPicture(.rgba, values.count, 1)
        run(try pass(kernel), [picture([values.map { [$0, 0, 0, 255] }])], output)
        // floor(log2 x), 0 below 2.
        #expect(values.indices.map { output[0, 4 * $0, 0] } == [0, 0, 1, 1, 2, 2, 3, 6, 7, 7])
    }

    @Test func notANumberIsFinite() throws {
        for target in [PixelFormat.rgba, .yuv420p, .half4] {
            var b = KernelBuilder(name: "nan", inputs: [], alpha: .premultiplied)
            let zero = b.constant(Float(0))
            let time = b.builtin(.time)
            let nan = try b.apply(.div, [time, time])
            let infinite = try b.apply(.div, [b.constant(Float(1)), time])
            let vector = try b.construct(.vec4, [nan, infinite, b.apply(.neg, [infinite]), zero])
            let kernel = try b.finish(vector)
            let pass = try compiler.compile(
                PassDescription(kernel: kernel, inputs: [], output: PassOutput(format: target)))
            let output = TestPicture(target, 17, 3)
            run(pass, [], output)
            if target == .rgba { #expect(pixel(output, 16, 2) == [0, 255, 0, 0]) }
            if target == .half4 {
                #expect(half(output[0, 3, 1]) == 0)
                #expect(half(output[1, 3, 1]) == 65504)
                #expect(half(output[2, 3, 1]) == -65504)
            }
        }
    }

    @Test func equalDescriptionsShareCode() throws {
        let before = KernelCompiler.loadedCodeCount
        do {
            let compiler = KernelCompiler(CompilerOptions(memoryCacheLimit: 0))
            let description = PassDescription(
                kernel: StandardKernels.copy.named("shared"), inputs: [PassInput(format: .rgba)],
                output: PassOutput(format: .gray8))
            let first = try compiler.compile(description)
            #expect(try compiler.compile(description) === first)
        }
        // Dropped with its last user (other tests may load and unload at the same time).
        #expect(KernelCompiler.loadedCodeCount <= before + 100)
    }

    /// A hundred kernels, each dropped: code leaves memory.
    @Test func droppedCodeIsFreed() throws {
        let compiler = KernelCompiler(CompilerOptions(memoryCacheLimit: 0))
        var names: [ObjectIdentifier] = []
        for index in 0..<100 {
            weak var weakPass: CompiledPass?
            do {
                let kernel = try pointKernel { b, c throws(KernelError) in
                    try b.apply(.mul, [c, b.constant(Float(index) / 100)])
                }
                let pass = try self.compiler(compiler, kernel)
                weakPass = pass
                names.append(ObjectIdentifier(pass))
            }
            #expect(weakPass == nil)
        }
        #expect(names.count == 100)
    }

    private func compiler(_ compiler: KernelCompiler, _ kernel: Kernel) throws -> CompiledPass {
        try compiler.compile(
            PassDescription(
                kernel: kernel, inputs: [PassInput(format: .gray8)], output: PassOutput(format: .gray8)))
    }
}
