import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// Which plans keep luma and chroma apart, and that the picture is right then.
@Suite struct PlannerPlanesTests {
    static let video = VideoFormat(.yuv420p, width: 34, height: 18, color: .bt709)

    // MARK: Nodes

    /// A still video whose chroma differs from sample to sample, so that any resampling of it shows.
    private func source(_ format: VideoFormat = video, frames: Int64? = 2) -> CountingSource {
        CountingSource(format, frames: frames) { frame, _ in
            for index in 0..<frame.format.pixelFormat.planeCount {
                let layout = frame.format.pixelFormat.layout(ofPlane: index)
                for y in 0..<layout.height(of: frame.height) {
                    let row = frame.plane(index).row(y).assumingMemoryBound(to: UInt8.self)
                    for x in 0..<layout.width(of: frame.width) * layout.bytesPerPixel {
                        row[x] = UInt8(Self.code(index, x, y))
                    }
                }
            }
        }
    }

    private static func code(_ plane: Int, _ x: Int, _ y: Int) -> Int {
        plane == 0 ? 60 + (x * 37 + y * 59) % 120 : 100 + (x * 29 + y * 17 + plane * 5) % 56
    }

    /// Mean of the pixels from −radius to radius along one axis.
    private func box(_ radius: Int, isHorizontal: Bool, space: KernelSpace = .any) throws -> Kernel {
        var builder = KernelBuilder(name: "box", inputs: [InputDeclaration(name: "image")], space: space)
        var sum = builder.constant(Float(0))
        for offset in -radius...radius {
            let tap = try builder.tap(0, dx: isHorizontal ? offset : 0, dy: isHorizontal ? 0 : offset)
            sum = try builder.apply(.add, [sum, tap])
        }
        let count = builder.constant(Float(2 * radius + 1))
        return try builder.finish(try builder.apply(.div, [sum, count]))
    }

    private func boxFilter(_ radius: Int, space: KernelSpace = .any) throws -> KernelFilter {
        KernelFilter(
            name: "box", summary: "", ports: ["image"], parameters: [],
            stages: [
                .init(kernel: try box(radius, isHorizontal: true, space: space), inputs: [.port(0)], uniforms: []),
                .init(kernel: try box(radius, isHorizontal: false, space: space), inputs: [.stage(0)], uniforms: []),
            ])
    }

    private func mixFilter(space: KernelSpace = .any) throws -> KernelFilter {
        var builder = KernelBuilder(
            name: "mix", inputs: ["image", "overlay"].map { InputDeclaration(name: $0) },
            uniforms: [UniformDeclaration(name: "amount", type: .float)], space: space)
        let mixed = try builder.apply(.mix, [builder.current(0), builder.current(1), builder.uniform(0)])
        let kernel = try builder.finish(mixed)
        return KernelFilter(
            name: "mix", summary: "", ports: ["image", "overlay"],
            parameters: [ParameterSchema("amount", default: [0.25], range: 0...1)],
            stages: [.init(kernel: kernel, inputs: [.port(0), .port(1)], uniforms: ["amount"])])
    }

    /// Half the picture: a kernel of one input that needs a pass.
    private func halfFilter() throws -> KernelFilter {
        var builder = KernelBuilder(name: "half", inputs: [InputDeclaration(name: "image")], space: .any)
        let half = try builder.apply(.mul, [builder.current(0), builder.constant(Float(0.5))])
        let kernel = try builder.finish(half)
        return KernelFilter(
            name: "half", summary: "", ports: ["image"], parameters: [],
            stages: [.init(kernel: kernel, inputs: [.port(0)], uniforms: [])])
    }

    private func plan(
        _ patch: Patch, sink: VideoFormat = video, source format: VideoFormat = video
    ) throws -> Plan {
        let nodes = registry(sources: ["video": source(format)], sinks: ["view": CollectingSink(sink)])
        return try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(patch)
    }

    private func chain(_ filters: KernelFilter...) -> Patch {
        var patch = Patch()
        patch.add("in", "video")
        var last = "in"
        for (index, filter) in filters.enumerated() {
            patch.add("f\(index)", filter)
            patch.wire(last, "f\(index)")
            last = "f\(index)"
        }
        patch.add("out", "view")
        patch.wire(last, "out")
        return patch
    }

    /// The frame that a sink of this format gets.
    private func render(_ patch: Patch, sink format: VideoFormat = video, workers: Int = 2) throws -> Frame {
        let sink = CollectingSink(format)
        let engine = try makeEngine(
            registry(sources: ["video": source()], sinks: ["view": sink]), workers: workers)
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
        engine.stop()
        return try #require(sink.lastFrame.withLock { $0 })
    }

    private func codes(_ frame: Frame, _ plane: Int) -> [[Int]] {
        let layout = frame.format.pixelFormat.layout(ofPlane: plane)
        return (0..<layout.height(of: frame.height)).map { y in
            (0..<layout.width(of: frame.width) * layout.bytesPerPixel).map { x in
                Int(frame.plane(plane).row(y).load(fromByteOffset: x, as: UInt8.self))
            }
        }
    }

    private func formats(_ plan: Plan) -> [PixelFormat] { plan.passes.map { plan.slots[$0.output].pixelFormat } }
    private func areApart(_ plan: Plan) -> [Bool] { plan.passes.map { $0.chroma != nil } }

    // MARK: Plans

    @Test func aKernelForAnySpaceKeepsVideoInItsPlanes() throws {
        var patch = chain(try mixFilter())
        patch.wires.append(Wire(from: "in", to: "f0", port: 1))
        #expect(areApart(try plan(patch)) == [true])
        // In R'G'B' the same is one pass over whole pixels, and the text says so.
        var rgb = chain(try mixFilter(space: .rgb))
        rgb.wires.append(Wire(from: "in", to: "f0", port: 1))
        let whole = try plan(rgb)
        #expect(areApart(whole) == [false])
        #expect(whole.passesText.contains("'mix' works in rgb"))
    }

    @Test func betweenStagesPlanesStayPlanes() throws {
        let plan = try plan(chain(try boxFilter(4), try boxFilter(2)))
        #expect(formats(plan) == [.yuv420p10, .yuv420p10, .yuv420p10, .yuv420p])
        #expect(areApart(plan) == [true, true, true, true])
    }

    @Test func aWideStencilIsDoneInPlanesEvenForRGB() throws {
        let rgba = VideoFormat(.rgba, width: 34, height: 18)
        let plan = try plan(chain(try boxFilter(4), try scaleFilter()), sink: rgba)
        #expect(formats(plan) == [.yuv420p10, .yuv420p10, .rgba])
        #expect(plan.passes.map(\.nodes) == [["f0"], ["f0"], ["f1"]])
    }

    /// What a stage of exactly half the size made is read back without a gather; anything else is sampled as ever.
    @Test func halfSizeIsKnownToItsReader() throws {
        func filter(_ factor: Double) throws -> KernelFilter {
            KernelFilter(
                name: "soft", summary: "", ports: ["image"], parameters: [ParameterSchema("amount", default: [0.25])],
                stages: [
                    .init(
                        kernel: StandardKernels.copy, inputs: [.port(0)], uniforms: [],
                        size: .scaled(x: factor, y: factor)),
                    .init(
                        kernel: try #require(mixFilter().stages[0].kernel), inputs: [.port(0), .stage(0)],
                        uniforms: ["amount"]),
                ])
        }
        for (width, height, factor, expected) in [
            (36, 20, 0.5, [false, true]), (34, 18, 0.5, [false, true]), (35, 18, 0.5, [false, false]),
            (36, 20, 0.25, [false, false]),
        ] {
            let video = VideoFormat(.yuv420p, width: width, height: height, color: .bt709)
            let plan = try plan(chain(try filter(factor)), sink: video, source: video)
            let last = try #require(plan.passes.last)
            #expect(last.compiled.description.inputs.map(\.isHalf) == expected, "\(width)x\(height), \(factor)")
            #expect(last.chroma?.description.inputs.map(\.isHalf) == expected)
        }
    }

    @Test func afterRGBThereAreNoPlanesToKeep() throws {
        let plan = try plan(chain(try scaleFilter(), try boxFilter(4)))
        #expect(formats(plan) == [.half4, .half4, .yuv420p])
        #expect(areApart(plan) == [false, false, false])
    }

    @Test func anotherMatrixOrATurnedPictureGoesThroughRGB() throws {
        var other = Self.video
        other.color.matrix = .bt601
        #expect(areApart(try plan(chain(try halfFilter()), source: other)) == [false])
        var turned = Self.video
        turned.orientation = .mirror
        turned.pixelFormat = .yuv420p10
        #expect(areApart(try plan(chain(try halfFilter()), source: turned)) == [false])
        // 8-bit samples are moved first.
        turned.pixelFormat = .yuv420p
        let moved = try plan(chain(try halfFilter()), source: turned)
        #expect(areApart(moved) == [true])
        #expect(moved.passesText.contains("native upright of in"))
        // Other range, other order of planes: the same planes.
        var full = Self.video
        full.color.range = .full
        full.pixelFormat = .nv12
        #expect(areApart(try plan(chain(try halfFilter()), source: full)) == [true])
    }

    @Test func scalingForASinkStaysInPlanes() throws {
        var target = Self.video
        (target.width, target.height) = (10, 6)
        let plan = try plan(chain(), sink: target)
        // Blocks of three are averaged, then placed.
        #expect(formats(plan) == [.yuv420p10, .yuv420p])
        #expect(areApart(plan) == [true, true])
    }

    @Test func rgbAndYCbCrKernelsMeetInAPicture() throws {
        var builder = KernelBuilder(name: "levels", inputs: [InputDeclaration(name: "image")], space: .ycbcr)
        let pixel = builder.current(0)
        let y = try builder.apply(.mul, [builder.swizzle(pixel, "r"), builder.constant(Float(0.9))])
        let levels = try builder.construct(.vec4, [y, builder.swizzle(pixel, "gb"), builder.swizzle(pixel, "a")])
        let kernel = try builder.finish(levels)
        let filter = KernelFilter(
            name: "levels", summary: "", ports: ["image"], parameters: [],
            stages: [.init(kernel: kernel, inputs: [.port(0)], uniforms: [])])
        #expect(try plan(chain(filter, try scaleFilter())).passes.map(\.nodes) == [["f0"], ["f1"]])
    }

    // MARK: Light

    /// With light = "linear" a blur reads light that was stored as such, once.
    @Test func blursWeighLightWhereTheGraphAsksForIt() throws {
        var patch = chain(try boxFilter(4))
        patch.settings.light = .linear
        let plan = try plan(patch)
        #expect(plan.passes.map { plan.slots[$0.output].color.transfer } == [.linear, .linear, .bt709])
        #expect(formats(plan) == [.half4, .half4, .yuv420p])
    }

    /// Black and white, side by side, shrunk to one grey: half the light is code 188 of 255 in sRGB, half the codes is 128.
    @Test func shrinkingMixesLightOrCodes() throws {
        let stripes = VideoFormat(.rgba, width: 16, height: 8)
        let target = VideoFormat(.rgba, width: 8, height: 4)
        for (light, expected) in [(Light.linear, 188), (.encoded, 128)] {
            let source = CountingSource(stripes, frames: 1) { frame, _ in
                for y in 0..<frame.height {
                    let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
                    for x in 0..<frame.width * 4 { row[x] = x % 4 == 3 || x / 4 % 2 == 0 ? 255 : 0 }
                }
            }
            let sink = CollectingSink(target)
            let engine = try makeEngine(registry(sources: ["video": source], sinks: ["view": sink]))
            var patch = Patch()
            patch.add("in", "video")
            patch.add("out", "view")
            patch.wire("in", "out")
            patch.settings.light = light
            try engine.load(patch)
            try engine.start()
            #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
            engine.stop()
            let frame = try #require(sink.lastFrame.withLock { $0 })
            for code in codes(frame, 0).flatMap({ row in row.indices.filter { $0 % 4 < 3 }.map { row[$0] } }) {
                #expect(abs(code - expected) <= 1, "\(light)")
            }
        }
    }

    @Test func unlikePrimariesAreMentioned() throws {
        var wide = Self.video
        wide.color.primaries = .bt2020
        let nodes = registry(
            sources: ["video": source(), "wide": source(wide)], sinks: ["view": CollectingSink(Self.video)])
        var patch = chain(try mixFilter())
        patch.add("in2", "wide")
        patch.wires.append(Wire(from: "in2", to: "f0", port: 1))
        let notes = try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(patch).notes.map(\.message)
        #expect(notes.contains { $0.contains("'f0' brings together bt2020 and bt709 primaries") }, "\(notes)")
        #expect(try plan(chain(try halfFilter())).notes.isEmpty)
    }

    // MARK: Pictures

    /// Mixed with itself, video stays exactly itself: no sample of chroma is touched.
    @Test func mixingAVideoWithItselfChangesNothing() throws {
        var patch = chain(try mixFilter())
        patch.wires.append(Wire(from: "in", to: "f0", port: 1))
        let frame = try render(patch)
        for plane in 0..<3 {
            for (y, row) in codes(frame, plane).enumerated() {
                #expect(row == row.indices.map { Self.code(plane, $0, y) })
            }
        }
    }

    /// Nine taps across and down, by hand on luma; on chroma of half the size the taps −4…4 are the samples −2…2 with
    /// weights 3/2, 2, 2, 2, 3/2 of 9: what falls between two samples counts half for each.
    @Test func aBlurInPlanesIsTheBlurOfEachPlane() throws {
        let frame = try render(chain(try boxFilter(4)))
        func expected(_ plane: Int, _ weights: [Double], _ width: Int, _ height: Int) -> [[Double]] {
            let reach = weights.count / 2
            func clamp(_ value: Int, _ end: Int) -> Int { min(max(value, 0), end - 1) }
            let across = (0..<height).map { y in
                (0..<width).map { x in
                    weights.indices.reduce(0.0) {
                        $0 + weights[$1] * Double(Self.code(plane, clamp(x + $1 - reach, width), y))
                    }
                }
            }
            return (0..<height).map { y in
                (0..<width).map { x in
                    weights.indices.reduce(0.0) { $0 + weights[$1] * across[clamp(y + $1 - reach, height)][x] }
                }
            }
        }
        let chroma = [1.5, 2, 2, 2, 1.5].map { $0 / 9 }
        for (plane, weights) in [(0, Array(repeating: 1.0 / 9, count: 9)), (1, chroma), (2, chroma)] {
            let (width, height) = plane == 0 ? (34, 18) : (17, 9)
            let want = expected(plane, weights, width, height)
            for (y, row) in codes(frame, plane).enumerated() {
                for (x, code) in row.enumerated() {
                    #expect(abs(Double(code) - want[y][x]) <= 0.76, "plane \(plane) (\(x), \(y))")
                }
            }
        }
    }

    @Test func threadsAndBandsDoNotShow() throws {
        var patch = chain(try boxFilter(4), try mixFilter())
        patch.wires.append(Wire(from: "in", to: "f1", port: 1))
        let pictures = try [1, 2, 3].map { workers in
            let frame = try render(patch, workers: workers)
            return (0..<3).map { codes(frame, $0) }
        }
        #expect(pictures[0] == pictures[1] && pictures[0] == pictures[2])
    }

    /// Joined with an R'G'B' filter, a kernel for any space is one for R'G'B'.
    @Test func joinedWithRGBItWorksInRGB() throws {
        let rgba = VideoFormat(.rgba, width: 34, height: 18)
        let frames = try [KernelSpace.any, .rgb].map { space in
            var patch = chain(try mixFilter(space: space), try scaleFilter())
            patch.wires.append(Wire(from: "in", to: "f0", port: 1))
            return try render(patch, sink: rgba)
        }
        #expect(codes(frames[0], 0) == codes(frames[1], 0))
    }
}
