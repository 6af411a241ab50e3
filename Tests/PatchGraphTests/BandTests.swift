import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// Passes that run band by band give what they give over whole pictures, bit by bit.
@Suite struct BandTests {
    /// A picture without pattern, so that a row at the wrong place shows.
    static func noise(_ format: VideoFormat) -> CountingSource {
        CountingSource(format, frames: 2) { frame, index in
            for plane in 0..<frame.format.pixelFormat.planeCount {
                let layout = frame.format.pixelFormat.layout(ofPlane: plane)
                for y in 0..<layout.height(of: frame.height) {
                    let row = frame.plane(plane).row(y).assumingMemoryBound(to: UInt8.self)
                    var state = UInt32(truncatingIfNeeded: y * 7919 + plane * 104_729 + Int(index) * 31 + 1)
                    for x in 0..<layout.width(of: frame.width) * layout.bytesPerPixel {
                        state = state &* 1_664_525 &+ 1_013_904_223
                        row[x] = UInt8(state >> 24)
                    }
                }
            }
        }
    }

    /// Weighted sum of pixels along one axis.
    static func blur(
        _ weights: [Float], isHorizontal: Bool, space: KernelSpace, edge: EdgeMode = .clamp
    ) throws -> Kernel {
        var builder = KernelBuilder(name: "blur", inputs: [InputDeclaration(name: "image")], space: space)
        var sum = builder.constant(Float(0))
        let reach = weights.count / 2
        for (index, weight) in weights.enumerated() {
            let offset = index - reach
            let tap = try builder.tap(
                0, dx: isHorizontal ? offset : 0, dy: isHorizontal ? 0 : offset, edge: edge)
            sum = try builder.apply(.add, [sum, builder.apply(.mul, [tap, builder.constant(weight)])])
        }
        return try builder.finish(sum)
    }

    /// Blurred down, across and down again, then mixed with the original: four passes, one of them over three pictures back.
    static func filter(_ space: KernelSpace, taps: Int = 5, edge: EdgeMode = .clamp) throws -> KernelFilter {
        let weights = [Float](repeating: 1 / Float(taps), count: taps)
        let down = try blur(weights, isHorizontal: false, space: space, edge: edge)
        let across = try blur(weights, isHorizontal: true, space: space, edge: edge)
        var builder = KernelBuilder(
            name: "mix", inputs: ["image", "blurred"].map { InputDeclaration(name: $0) }, space: space)
        let around = try builder.tap(1, dx: 1, dy: -2, edge: edge)
        let mean = try builder.apply(.mix, [builder.current(0), around, builder.constant(Float(0.75))])
        return KernelFilter(
            name: "soft", summary: "", ports: ["image"], parameters: [],
            stages: [
                .init(kernel: down, inputs: [.port(0)], uniforms: []),
                .init(kernel: across, inputs: [.stage(0)], uniforms: []),
                .init(kernel: down, inputs: [.stage(1)], uniforms: []),
                .init(kernel: try builder.finish(mean), inputs: [.stage(0), .stage(2)], uniforms: []),
            ])
    }

    static func patch(_ filter: KernelFilter) -> Patch {
        var patch = Patch()
        patch.add("in", "video")
        patch.add("soft", filter)
        patch.add("out", "view")
        patch.wire("in", "soft", "out")
        return patch
    }

    private func render(
        _ filter: KernelFilter, _ format: VideoFormat, rule: BandRule, workers: Int
    ) throws -> [[UInt8]] {
        let sink = CollectingSink(format)
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.workers = workers
        configuration.bandRule = rule
        let engine = try Engine(
            configuration, registry: registry(sources: ["video": Self.noise(format)], sinks: ["view": sink]))
        try engine.load(Self.patch(filter))
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000))
        engine.stop()
        let frame = try #require(sink.lastFrame.withLock { $0 })
        return (0..<format.pixelFormat.planeCount).map { plane in
            let layout = format.pixelFormat.layout(ofPlane: plane)
            let bytes = layout.width(of: format.width) * layout.bytesPerPixel
            return (0..<layout.height(of: format.height)).flatMap { y in
                Array(UnsafeRawBufferPointer(start: frame.plane(plane).row(y), count: bytes))
            }
        }
    }

    @Test(arguments: [
        (PixelFormat.rgba, KernelSpace.rgb, EdgeMode.clamp), (.yuv420p, .any, .clamp), (.yuv422p, .any, .mirror),
        (.nv12, .any, .clamp), (.rgba, .rgb, .mirror), (.yuv420p, .rgb, .clamp),
    ])
    func bandsGiveTheWholePicture(pixelFormat: PixelFormat, space: KernelSpace, edge: EdgeMode) throws {
        let format = VideoFormat(pixelFormat, width: 398, height: 203)
        let filter = try Self.filter(space, edge: edge)
        let whole = try render(filter, format, rule: .never, workers: 1)
        for (rows, workers) in [(16, 1), (22, 2), (64, 3), (2, 2)] {
            let bands = try render(filter, format, rule: .always(rows: rows), workers: workers)
            #expect(bands == whole, "\(pixelFormat) \(space) \(rows) rows, \(workers) threads")
        }
    }

    @Test func theRuleGroupsAChainThatReachesAFewRows() throws {
        func plan(_ width: Int, _ height: Int) throws -> Plan {
            let format = VideoFormat(.rgba, width: width, height: height)
            let nodes = registry(sources: ["video": Self.noise(format)], sinks: ["view": CollectingSink(format)])
            return try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(Self.patch(try Self.filter(.rgb)))
        }
        let large = try plan(3840, 2160)
        #expect(large.passes.count == 4)
        // Three pictures of 8 bytes a pixel lie between the passes: 4 MB are 45 rows of them.
        #expect(large.bands.map(\.steps) == [0..<4])
        #expect(large.bands.map(\.rows) == [44])
        #expect(large.passesText.contains("passes 1 to 4 run together over bands of 44 rows"))
        #expect(try plan(1280, 720).bands.map(\.rows) == [136])
        // Little is not cut.
        #expect(try plan(640, 360).bands.isEmpty)
    }

    @Test func picturesThatOthersReadStayWhole() throws {
        let format = VideoFormat(.rgba, width: 64, height: 64)
        let taps = [Float](repeating: 0.2, count: 5)
        let blur = KernelFilter(
            name: "blur", summary: "", ports: ["image"], parameters: [],
            stages: [
                .init(
                    kernel: try Self.blur(taps, isHorizontal: false, space: .rgb), inputs: [.port(0)], uniforms: [])
            ])
        var patch = Patch()
        patch.add("in", "video")
        patch.add("a", blur)
        patch.add("b", blur)
        patch.add("out", "view")
        patch.add("out2", "view2")
        patch.wire("in", "a", "b", "out")
        patch.wire("a", "out2")
        let sink = CollectingSink(VideoFormat(.half4, width: 64, height: 64, color: .srgb))
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.bandRule = .always(rows: 16)
        let second = CollectingSink(format)
        let engine = try Engine(
            configuration,
            registry: registry(sources: ["video": Self.noise(format)], sinks: ["view": second, "view2": sink]))
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000))
        engine.stop()
        #expect(sink.all.count == 2 && second.all.count == 2)
    }
}
