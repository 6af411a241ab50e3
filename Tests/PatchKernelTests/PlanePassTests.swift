import PatchKernel
import PatchMedia
import Testing

/// Passes over single planes: what a kernel does to 4:2:0 and 4:2:2 pictures without bringing chroma to luma's size.
@Suite struct PlanePassTests {
    let compiler = KernelCompiler()

    // MARK: Kernels

    /// Two pictures in a fixed proportion.
    private func mix(_ weight: Float, space: KernelSpace = .any) throws -> Kernel {
        var b = KernelBuilder(
            name: "mix", inputs: [InputDeclaration(name: "a"), InputDeclaration(name: "b")], space: space)
        let (x, y) = (b.current(0), b.current(1))
        return try b.finish(try b.apply(.mix, [x, y, b.constant(weight)]))
    }

    /// Colour times something that depends on the place: darker to the right and downwards.
    private func shade() throws -> Kernel {
        var b = KernelBuilder(name: "shade", inputs: [InputDeclaration(name: "image")], space: .any)
        let uv = b.builtin(.uv)
        let sum = try b.apply(.add, [b.swizzle(uv, "x"), b.swizzle(uv, "y")])
        let factor = try b.apply(.sub, [b.constant(Float(1)), b.apply(.mul, [sum, b.constant(Float(0.4))])])
        let c = b.current(0)
        let rgb = try b.apply(.mul, [b.swizzle(c, "rgb"), factor])
        return try b.finish(try b.construct(.vec4, [rgb, b.swizzle(c, "a")]))
    }

    /// Weighted sum of pixels around.
    private func blur(_ taps: [(dx: Int, dy: Int, weight: Float)], space: KernelSpace = .any) throws -> Kernel {
        var b = KernelBuilder(name: "blur", inputs: [InputDeclaration(name: "image")], space: space)
        var sum = b.constant(Float(0))
        for tap in taps {
            let pixel = try b.tap(0, dx: tap.dx, dy: tap.dy)
            sum = try b.apply(.add, [sum, b.apply(.mul, [pixel, b.constant(tap.weight)])])
        }
        return try b.finish(sum)
    }

    /// The middle of the picture, about twice as large, no pixel centre midway between two.
    private func zoom(_ filter: SampleFilter = .bilinear, space: KernelSpace = .any) throws -> Kernel {
        var b = KernelBuilder(name: "zoom", inputs: [InputDeclaration(name: "image")], space: space)
        let scaled = try b.apply(.mul, [b.builtin(.uv), b.constant(Float(0.471))])
        let uv = try b.apply(.add, [scaled, b.constant(Float(0.263))])
        return try b.finish(try b.sample(0, at: uv, filter: filter))
    }

    /// Contrast of luma and saturation of chroma, as ffmpeg's eq means them.
    private func levels() throws -> Kernel {
        var b = KernelBuilder(name: "levels", inputs: [InputDeclaration(name: "image")], space: .ycbcr)
        let c = b.current(0)
        let half = b.constant(Float(0.5))
        let y = try b.apply(
            .add, [b.apply(.mul, [b.apply(.sub, [b.swizzle(c, "r"), half]), b.constant(Float(1.2))]), half])
        let chroma = try b.apply(.mul, [b.swizzle(c, "gb"), b.constant(Float(0.7))])
        return try b.finish(try b.construct(.vec4, [y, chroma, b.swizzle(c, "a")]))
    }

    /// Chroma turned by an angle: Cb and Cr depend on each other, luma on neither.
    private func hue() throws -> Kernel {
        var b = KernelBuilder(name: "hue", inputs: [InputDeclaration(name: "image")], space: .ycbcr)
        let c = b.current(0)
        let (cb, cr) = (try b.swizzle(c, "g"), try b.swizzle(c, "b"))
        let (cos, sin) = (b.constant(Float(0.8)), b.constant(Float(0.6)))
        let turnedB = try b.apply(.sub, [b.apply(.mul, [cb, cos]), b.apply(.mul, [cr, sin])])
        let turnedR = try b.apply(.add, [b.apply(.mul, [cb, sin]), b.apply(.mul, [cr, cos])])
        return try b.finish(try b.construct(.vec4, [b.swizzle(c, "r"), turnedB, turnedR, b.swizzle(c, "a")]))
    }

    // MARK: Running

    private func parts(_ description: PassDescription) throws -> [PassDescription] {
        switch description.planePasses() {
        case .apart(let parts): return parts
        case .together(let reason): throw PatchError(.kernel, reason)
        }
    }

    private func reason(_ description: PassDescription) -> String? {
        if case .together(let reason) = description.planePasses() { reason } else { nil }
    }

    private func references(_ pictures: [TestPicture], _ part: PassDescription) -> [ImageReference] {
        pictures.map { $0.reference.showing(part.planes, of: $0.format) }
    }

    private func runApart(_ description: PassDescription, _ inputs: [TestPicture], _ output: TestPicture) throws {
        for part in try parts(description) {
            let pass = try compiler.compile(part)
            let pictures = references(inputs, part)
            let target = output.reference.showing(part.planes, of: output.format)
            let none: [Float] = [0]
            // Bands of seven rows: a plane pass has bands of its own.
            var row = 0
            while row < target.height {
                let end = min(target.height, row + 7 * pass.rowAlignment)
                pictures.withUnsafeBufferPointer { pictures in
                    none.withUnsafeBufferPointer { none in
                        pass.run(
                            inputs: pictures, output: target, uniforms: none.baseAddress!, context: FrameContext(),
                            rows: row..<end)
                    }
                }
                row = end
            }
        }
    }

    private func interpretApart(_ description: PassDescription, _ inputs: [TestPicture], _ output: TestPicture) throws {
        for part in try parts(description) {
            let target = output.reference.showing(part.planes, of: output.format)
            let none: [Float] = [0]
            references(inputs, part).withUnsafeBufferPointer { pictures in
                none.withUnsafeBufferPointer { none in
                    Interpreter.run(
                        part, inputs: pictures, output: target, uniforms: none.baseAddress!, context: FrameContext(),
                        rows: 0..<target.height)
                }
            }
        }
    }

    private func color(_ siting: ColorSpec.ChromaSiting, _ range: ColorSpec.Range = .limited) -> ColorSpec {
        var color = ColorSpec.bt709
        color.siting = siting
        color.range = range
        return color
    }

    private func description(
        _ kernel: Kernel, _ from: PixelFormat, _ to: PixelFormat, _ siting: ColorSpec.ChromaSiting = .left
    ) -> PassDescription {
        PassDescription(
            kernel: kernel, inputs: kernel.inputs.map { _ in PassInput(format: from, color: color(siting)) },
            output: PassOutput(format: to, color: color(siting)))
    }

    // MARK: Tests

    @Test(arguments: [PixelFormat.yuv420p, .nv12, .yuv422p, .yuv420p10, .yuv422p10, .p010])
    func machineCodeAgreesWithInterpreter(_ format: PixelFormat) throws {
        var random = SeededRandom(11)
        let wide = (-9...9).map { (dx: $0, dy: 0, weight: Float(1) / 19) }
        let tall = (-3...3).map { (dx: 0, dy: $0, weight: Float(1) / 7) }
        let square = (-1...1).flatMap { dy in (-2...1).map { (dx: $0, dy: dy, weight: Float(1) / 12) } }
        let kernels = [
            try mix(0.3), try shade(), try blur(wide), try blur(tall), try blur(square), try zoom(), try zoom(.bicubic),
            try zoom(.nearest), try levels(), try hue(),
        ]
        for siting in [ColorSpec.ChromaSiting.left, .center, .topLeft] {
            for kernel in kernels {
                for (width, height) in [(37, 11), (70, 8), (1, 1), (3, 2)] {
                    let inputs = kernel.inputs.map { _ in TestPicture(format, width, height) }
                    for input in inputs { input.fillRandom(&random) }
                    let output: PixelFormat = siting == .center && format == .yuv420p ? .nv12 : format
                    let description = description(kernel, format, output, siting)
                    let (machine, oracle) = (TestPicture(output, width, height), TestPicture(output, width, height))
                    try runApart(description, inputs, machine)
                    try interpretApart(description, inputs, oracle)
                    let worst = difference(machine, oracle)
                    #expect(
                        worst.codes <= 1, "\(kernel.name) \(width)x\(height) \(siting) \(worst.codes) at \(worst.place)"
                    )
                }
            }
        }
    }

    /// A mix leaves chroma where it is: each sample is the mean of two samples, by hand.
    @Test func mixesAreExactSampleBySample() throws {
        let (a, b, out) = (TestPicture(.yuv420p, 9, 5), TestPicture(.yuv420p, 9, 5), TestPicture(.yuv420p, 9, 5))
        a.fill { plane, x, y in 40 + 20 * plane + (x * 7 + y * 13) % 50 }
        b.fill { plane, x, y in 200 - 10 * plane - (x * 11 + y * 3) % 40 }
        try runApart(description(try mix(0.25), .yuv420p, .yuv420p), [a, b], out)
        for plane in 0..<3 {
            for y in 0..<out.rows(inPlane: plane) {
                for x in 0..<out.samples(inPlane: plane) {
                    let expected = 0.75 * Double(a[plane, x, y]) + 0.25 * Double(b[plane, x, y])
                    #expect(abs(Double(out[plane, x, y]) - expected) <= 0.501)
                }
            }
        }
    }

    /// A chroma sample sits at luma column 2i (left) or between 2i and 2i + 1 (centre), and between two rows.
    @Test func positionsAreThoseOfChromaSamples() throws {
        for (siting, offset) in [(ColorSpec.ChromaSiting.left, 0.5), (.center, 1.0)] {
            let (input, out) = (TestPicture(.yuv420p, 40, 20), TestPicture(.yuv420p, 40, 20))
            input.fill { plane, _, _ in plane == 0 ? 235 : 240 }
            try runApart(description(try shade(), .yuv420p, .yuv420p, siting), [input], out)
            for y in 0..<10 {
                for x in 0..<20 {
                    let u = (2 * Double(x) + offset) / 40
                    let v = (2 * Double(y) + 1) / 20
                    let expected = 128 + 112 * (1 - 0.4 * (u + v))
                    #expect(abs(Double(out[1, x, y]) - expected) <= 0.51, "\(siting) \(x) \(y)")
                }
            }
        }
    }

    /// Taps count the picture's pixels: on chroma of half the width three of them are (1/2, 1, 1/2) / 3 … by hand: taps at
    /// −1, 0, 1 read the means with the left and right neighbour and the sample itself.
    @Test func tapsOnChromaReadBetweenSamples() throws {
        let (input, out) = (TestPicture(.yuv422p, 16, 1), TestPicture(.yuv422p, 16, 1))
        let row = [100, 100, 160, 100, 100, 40, 40, 200]
        input.fill { plane, x, _ in plane == 0 ? 100 : row[x] }
        let taps = [-1, 0, 1].map { (dx: $0, dy: 0, weight: Float(1) / 3) }
        try runApart(description(try blur(taps), .yuv422p, .yuv422p), [input], out)
        for x in 0..<8 {
            let (left, right) = (Double(row[max(0, x - 1)]), Double(row[min(7, x + 1)]))
            let expected = ((left + Double(row[x])) / 2 + Double(row[x]) + (right + Double(row[x])) / 2) / 3
            #expect(abs(Double(out[1, x, 0]) - expected) <= 0.51)
        }
    }

    /// The law of `any`: in R'G'B' at full size and on the planes themselves, a smooth picture comes out alike.
    @Test func anyGivesTheSamePictureInRGB() throws {
        let taps = (-2...2).flatMap { dy in (-2...2).map { (dx: $0, dy: dy, weight: Float(1) / 25) } }
        let kernels: [(KernelSpace) throws -> Kernel] = [
            { try self.mix(0.3, space: $0) }, { try self.blur(taps, space: $0) },
            { try self.zoom(space: $0) }, { try self.zoom(.bicubic, space: $0) },
        ]
        for siting in [ColorSpec.ChromaSiting.left, .center, .topLeft] {
            for kernel in kernels {
                let (rgb, any) = (try kernel(.rgb), try kernel(.any))
                let inputs = any.inputs.indices.map { index -> TestPicture in
                    let picture = TestPicture(.yuv420p, 64, 48)
                    // Colours inside R'G'B', changing by at most a code from sample to sample.
                    picture.fill { plane, x, y in
                        plane == 0 ? 90 + (x + y + 20 * index) / 2 : 118 + (plane == 1 ? x : y) / 2 + index
                    }
                    return picture
                }
                let (apart, whole) = (TestPicture(.yuv420p, 64, 48), TestPicture(.yuv420p, 64, 48))
                try runApart(description(any, .yuv420p, .yuv420p, siting), inputs, apart)
                run(try compiler.compile(description(rgb, .yuv420p, .yuv420p, siting)), inputs, whole)
                let worst = difference(apart, whole)
                #expect(worst.codes <= 1, "\(any.name) \(siting): \(worst.codes) at \(worst.place)")
            }
        }
    }

    @Test func rangesDepthsAndGreyMayDiffer() throws {
        let (a, b, out) = (TestPicture(.yuv420p, 6, 4), TestPicture(.gray8, 6, 4), TestPicture(.p010, 6, 4))
        a.fill { plane, _, _ in plane == 0 ? 16 : 240 }
        b.fill { _, _, _ in 255 }
        let kernel = try mix(0.5)
        let description = PassDescription(
            kernel: kernel,
            inputs: [PassInput(format: .yuv420p, color: .bt709), PassInput(format: .gray8, color: .srgb)],
            output: PassOutput(format: .p010, color: color(.left, .full)))
        try runApart(description, [a, b], out)
        // Half black, half white; half the most chroma, half none. Full range at 10 bits.
        #expect(abs(out[0, 3, 2] - 512) <= 1)
        #expect(abs(out[1, 2, 1] - (512 + 256)) <= 1)
    }

    @Test func whatCannotBeProvenStaysTogether() throws {
        var b = KernelBuilder(name: "grey", inputs: [InputDeclaration(name: "image")], space: .any)
        let c = b.current(0)
        let weights = try b.construct(.vec3, [b.constant(Float(0.3))])
        let grey = try b.apply(.dot, [b.swizzle(c, "rgb"), weights])
        let dots = try b.finish(try b.construct(.vec4, [grey, grey, grey, b.swizzle(c, "a")]))
        #expect(reason(description(dots, .yuv420p, .yuv420p)) == "'grey' makes luma of other components too")
        #expect(reason(description(try mix(0.5), .yuv444p, .yuv444p)) == "no chroma of yuv444p is subsampled")
        #expect(reason(description(try mix(0.5, space: .rgb), .yuv420p, .yuv420p)) == "'mix' works in rgb here")
        #expect(reason(description(try mix(0.5), .yuv422p, .yuv420p))?.contains("yuv422p") == true)
        #expect(reason(description(try mix(0.5), .rgba, .yuv420p)) == "'mix' works in rgb here")
        var turned = description(try mix(0.5), .yuv420p, .yuv420p)
        turned.inputs[1].orientation = .mirror
        #expect(reason(turned) == "'b' is turned or mirrored while it is read")
        #expect(reason(description(try hue(), .yuv420p, .yuv420p)) == nil)
    }

    /// A value that a loop carries keeps its components apart; one that its condition looks at does not.
    @Test func loopsAreFollowed() throws {
        func looping(_ watches: Bool) throws -> Kernel {
            var b = KernelBuilder(name: "loop", inputs: [InputDeclaration(name: "image")], space: .any)
            let c = b.current(0)
            let zero = b.constant(Float(0))
            let start = try b.construct(.vec4, [zero])
            let one = b.constant(Float(1))
            let results = try b.loop(limit: 4, initial: [start]) { b, _, carried throws(KernelError) in
                var go = b.constant(true)
                if watches {
                    let red = try b.swizzle(carried[0], "r")
                    go = try b.apply(.lt, [red, one])
                }
                let next = try b.apply(.add, [carried[0], c])
                return (go, [next])
            }
            return try b.finish(results[0])
        }
        #expect(reason(description(try looping(false), .yuv420p, .yuv420p)) == nil)
        #expect(reason(description(try looping(true), .yuv420p, .yuv420p)) != nil)
    }

    /// A colour that is not the picture's: given in R'G'B', written in Y'CbCr.
    @Test func coloursAreBroughtIntoTheKernelsSpace() throws {
        var b = KernelBuilder(name: "tint", inputs: [InputDeclaration(name: "image")], space: .any)
        let (zero, one) = (b.constant(Float(0)), b.constant(Float(1)))
        let red = try b.color(b.construct(.vec4, [one, zero, zero, one]))
        let kernel = try b.finish(try b.apply(.mix, [b.current(0), red, one]))
        let (input, out) = (TestPicture(.yuv420p, 8, 4), TestPicture(.yuv420p, 8, 4))
        input.fill { _, _, _ in 77 }
        try runApart(description(kernel, .yuv420p, .yuv420p), [input], out)
        // BT.709: Y = 0.2126, Cb = −0.2126 / 1.8556, Cr = 0.5.
        #expect(out[0, 4, 2] == Int((16 + 219 * 0.2126).rounded()))
        #expect(out[1, 2, 1] == Int((128 - 224 * 0.2126 / 1.8556).rounded()))
        #expect(out[2, 2, 1] == 240)
    }
}
