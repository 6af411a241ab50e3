import PatchGraph
import PatchKernel
import PatchMedia
import Synchronization
import Testing

/// The mean of the first row's red codes, as one grey pixel and as numbers.
private final class RowMean: NativeOperator {
    static let kind = OperatorKind(
        name: "rowMean", summary: "", formats: [.rgba], parameters: [OperatorParameter("gain", default: [1])],
        data: [
            OperatorData.Field("mean"), OperatorData.Field("codes", listOf: 4),
            OperatorData.Field("ends", width: 2, listOf: 1),
        ]
    ) { request in
        guard request.inputs[0].pixelFormat == .rgba else { throw PatchError(.graph, "not rgba") }
        return RowMean(width: request.inputs[0].width)
    }

    let output = VideoFormat(.half4, width: 1, height: 1, color: .srgb)
    private let width: Int
    init(width: Int) { self.width = width }

    func process(_ call: OperatorCall) -> OperatorResult {
        let row = call.inputs[0].planes.0.row(0).assumingMemoryBound(to: UInt8.self)
        var sum: Float = 0
        for x in 0..<width { sum += Float(row[4 * x]) }
        let mean = sum / Float(width) * call.parameters[0]
        call.output.planes.0.base.storeBytes(of: Float16(mean / 255), as: Float16.self)
        call.output.planes.1.base.storeBytes(of: Float16(mean / 255), as: Float16.self)
        call.output.planes.2.base.storeBytes(of: Float16(mean / 255), as: Float16.self)
        call.output.planes.3.base.storeBytes(of: 1, as: Float16.self)
        call.data[0] = mean
        // A list of two numbers, and one pair.
        call.data[1] = 2
        (call.data[2], call.data[3]) = (Float(row[0]), Float(row[4]))
        call.data[6] = 1
        (call.data[7], call.data[8]) = (Float(row[0]), Float(row[4 * (width - 1)]))
        return .filled
    }
}

/// Shows one of its inputs and needs only that one.
private final class Pick: NativeOperator {
    static let kind = OperatorKind(name: "pick", summary: "", inputs: 2...8, formats: [.rgba]) { Pick($0.inputs[0]) }
    let output: VideoFormat
    init(_ format: VideoFormat) { output = format }
    func neededInputs(_ parameters: UnsafePointer<Float>) -> UInt64 { 1 << UInt64(parameters[0]) }
    func process(_ call: OperatorCall) -> OperatorResult { .input(Int(call.parameters[0])) }
}

/// A kernel of any number of inputs, all read at the pixel.
private func pointKernel(
    _ name: String, _ inputs: Int, uniforms: [String] = [],
    _ body: (inout KernelBuilder) throws -> Value
) throws -> Kernel {
    var builder = KernelBuilder(
        name: name, inputs: (0..<inputs).map { InputDeclaration(name: "i\($0)", alpha: .premultiplied) },
        uniforms: uniforms.map { UniformDeclaration(name: $0, type: .float) }, alpha: .premultiplied)
    let result = try body(&builder)
    return try builder.finish(result)
}

private func mixKernel() throws -> Kernel {
    try pointKernel("mix", 2, uniforms: ["progress"]) {
        try $0.apply(.mix, [$0.current(0), $0.current(1), $0.uniform(0)])
    }
}

private let progress = ParameterSchema("progress", default: [0.5], range: 0...1)

@Suite struct OperatorTests {
    /// Renders `frames` frames of a counting source (red = tick) through what `build` adds between "in" and "out".
    private func render(
        frames: Int64, format: VideoFormat = small, sinkFormat: VideoFormat = small,
        _ build: (inout Patch) throws -> Void
    ) throws -> (seen: [Seen], engine: Engine) {
        let sink = CollectingSink(sinkFormat)
        let nodes = registry(
            sources: ["count": counter(format, frames: frames), "flat": flat()], sinks: ["view": sink])
        nodes.register([.delay])
        nodes.register(operators: [RowMean.kind, Pick.kind])
        let engine = try makeEngine(nodes, frames: frames)
        var patch = Patch()
        patch.add("in", "count")
        patch.add("out", "view")
        try build(&patch)
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
        engine.stop()
        return (sink.all, engine)
    }

    private func flat() -> CountingSource {
        CountingSource(small) { frame, _ in fill(frame, (200, 100, 50, 255)) }
    }

    @Test func aNativeStageFeedsAKernelAndPublishesNumbers() throws {
        // image + rowMean(image) · gain: red is tick + 2 · tick.
        let add = try pointKernel("add", 2) { try $0.apply(.add, [$0.current(0), $0.current(1)]) }
        let filter = KernelFilter(
            name: "addMean", summary: "", ports: ["image"],
            parameters: [ParameterSchema("gain", default: [2], range: 0...4)],
            stages: [
                .init(native: .init("rowMean", parameters: [.init("gain", .parameter("gain"))]), inputs: [.port(0)]),
                .init(kernel: add, inputs: [.port(0), .stage(0)], uniforms: []),
            ])
        let (seen, engine) = try render(frames: 20) { patch in
            patch.add("m", filter)
            patch.wire("in", "m", "out")
        }
        #expect(seen.count == 20)
        for (tick, frame) in seen.enumerated() {
            #expect(abs(Int(frame.first[0]) - 3 * tick) <= 1, "\(tick): \(frame)")
        }
        let data = try #require(engine.operatorData(node: "m"))
        #expect(data.tick == 19)
        #expect(data.values["mean"] == .number(38))
        #expect(data.values["codes"] == .numbers([19, 19]))
        #expect(data.values["ends"] == .vectors([[19, 19]]))
        #expect(engine.operatorData(node: "m", after: 19) == nil)
        #expect(engine.operatorData(node: "in") == nil)
    }

    @Test func aNativeStagesMistakesNameWhatThereIs() throws {
        func message(_ stage: KernelFilter.Stage) -> String {
            let filter = KernelFilter(name: "f", summary: "", ports: ["image"], parameters: [], stages: [stage])
            let nodes = registry(sources: ["count": counter()], sinks: ["view": CollectingSink(small)])
            nodes.register(operators: [RowMean.kind])
            var patch = Patch()
            patch.add("in", "count")
            patch.add("f", "filter.f", body: .kernels(filter), line: 4)
            patch.add("out", "view")
            patch.wire("in", "f", "out")
            do {
                _ = try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(patch)
                return "no error"
            } catch { return "\(error)" }
        }
        #expect(
            message(.init(native: .init("rowMeen"), inputs: [.port(0)]))
                == "test.lua:4: node 'f': there is no native operator 'rowMeen'; did you mean 'rowMean'?")
        #expect(
            message(.init(native: .init("rowMean", parameters: [.init("gian", .constant([1]))]), inputs: [.port(0)]))
                == "test.lua:4: node 'f': native 'rowMean' has no parameter 'gian'; did you mean 'gain'?")
        #expect(
            message(
                .init(native: .init("rowMean", parameters: [.init("gain", .constant([1, 2]))]), inputs: [.port(0)]))
                == "test.lua:4: node 'f': 'gain' of native 'rowMean' gets 2 numbers; it takes 1")
        #expect(
            message(.init(native: .init("rowMean"), inputs: [.port(0), .port(0)]))
                == "test.lua:4: node 'f': native 'rowMean' gets 2 inputs; it takes 1")
    }

    @Test func aStageMayBeSmallerThanTheFilter() throws {
        let copy = StandardKernels.copy
        let filter = KernelFilter(
            name: "small", summary: "", ports: ["image"], parameters: [],
            stages: [
                .init(kernel: copy, inputs: [.port(0)], uniforms: [], size: .scaled(x: 0.5, y: 1.0 / 3)),
                .init(kernel: copy, inputs: [.stage(0)], uniforms: [], size: .pixels(width: 5, height: 1)),
                .init(kernel: copy, inputs: [.stage(1)], uniforms: []),
            ])
        let nodes = registry(sources: ["count": counter()], sinks: ["view": CollectingSink(small)])
        var patch = Patch()
        patch.add("in", "count")
        patch.add("s", filter)
        patch.add("out", "view")
        patch.wire("in", "s", "out")
        let plan = try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(patch)
        // Passes without nodes average a picture before it is read at less than half its size.
        let sizes = plan.passes.filter { !$0.nodes.isEmpty }.map {
            [plan.slots[$0.output].width, plan.slots[$0.output].height]
        }
        // 16x8: half of 16, a third of 8 rounded up.
        #expect(sizes == [[8, 3], [5, 1], [16, 8]])
    }

    @Test func aStageReadsItsOwnResultOfTheTickBefore() throws {
        // y = (x + y before) / 2, beginning with x itself.
        let kernel = try mixKernel()
        let filter = KernelFilter(
            name: "low", summary: "", ports: ["image"], parameters: [progress],
            stages: [.init(kernel: kernel, inputs: [.port(0), .pastStage(0, ticks: 1)], uniforms: ["progress"])])
        let (seen, _) = try render(frames: 40) { patch in
            patch.add("low", filter)
            patch.wire("in", "low", "out")
        }
        var expected = 0.0
        for (tick, frame) in seen.enumerated() {
            expected = (Double(tick) + expected) / 2
            #expect(abs(Double(frame.first[0]) - expected) <= 1, "\(tick): \(frame) is not \(expected)")
            #expect(frame.first[1] == 100 && frame.last[3] == 255)
        }
        #expect(seen.count == 40)
    }

    @Test func aPortIsReadSeveralTicksAgo() throws {
        for ticks in [1, 2, 3, 9] {
            let filter = KernelFilter(
                name: "ago", summary: "", ports: ["image"], parameters: [],
                stages: [.init(kernel: StandardKernels.copy, inputs: [.pastPort(0, ticks: ticks)], uniforms: [])])
            let (seen, _) = try render(frames: 15) { patch in
                patch.add("ago", filter)
                patch.wire("in", "ago", "out")
            }
            #expect(seen.map { Int($0.first[0]) } == (0..<15).map { max(0, $0 - ticks) }, "\(ticks) ticks")
        }
    }

    @Test func delayShowsEarlierFramesAndClosesLoops() throws {
        let (plain, _) = try render(frames: 12) { patch in
            patch.add("d", "delay", options: ["frames": .number(4)])
            patch.wire("in", "d", "out")
        }
        #expect(plain.map { Int($0.first[0]) } == (0..<12).map { max(0, $0 - 4) })

        // y(t) = (x(t) + y(t − 2)) / 2, transparent black before the first frame.
        let kernel = try pointKernel("mean", 2) {
            try $0.apply(.mul, [try $0.apply(.add, [$0.current(0), $0.current(1)]), $0.constant(Float(0.5))])
        }
        let mean = KernelFilter(
            name: "mean", summary: "", ports: ["image", "other"], parameters: [],
            stages: [.init(kernel: kernel, inputs: [.port(0), .port(1)], uniforms: [])])
        let (seen, engine) = try render(frames: 30) { patch in
            patch.add("d", "delay", options: ["frames": .number(2)])
            patch.add("mean", mean)
            patch.wire("in", "mean", "d")
            patch.wires.append(Wire(from: "d", to: "mean", port: 1))
            patch.wire("mean", "out")
        }
        var past = [0.0, 0.0]
        for (tick, frame) in seen.enumerated() {
            let expected = (Double(tick) + past[0]) / 2
            past = [past[1], expected]
            #expect(abs(Double(frame.first[0]) - expected) <= 1, "\(tick): \(frame) is not \(expected)")
        }
        #expect(seen.count == 30)
        #expect(engine.plan?.notes.contains { $0.node == "d" && $0.message.contains("2 frames") } == true)
    }

    @Test func aLoopWithoutADelayIsRefusedAndTheRemedySaysDelay() throws {
        let nodes = registry(sources: ["count": counter()], sinks: ["view": CollectingSink(small)])
        var patch = Patch()
        patch.add("in", "count")
        patch.add("a", overFilter())
        patch.add("b", try scaleFilter())
        patch.add("out", "view")
        patch.wire("in", "a", "b", "out")
        patch.wires.append(Wire(from: "b", to: "a", port: 1))
        let error = #expect(throws: PatchError.self) {
            _ = try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(patch)
        }
        #expect(error?.remedy.contains("delay{ frames = 1 }") == true)
    }

    @Test func earlierPicturesSurviveAReload() throws {
        let sink = CollectingSink(small)
        let nodes = registry(sources: ["count": counter()], sinks: ["view": sink])
        nodes.register([.delay])
        let engine = try makeEngine(nodes, live: true)
        func patch(_ frames: Double, extra: Bool) throws -> Patch {
            var patch = Patch()
            patch.settings.rate = FrameRate(60)
            patch.add("in", "count")
            patch.add("d", "delay", options: ["frames": .number(frames)])
            patch.add("out", "view")
            if extra { patch.add("s", try scaleFilter()) }
            patch.wire("in", "d")
            if extra { patch.wire("d", "s", "out") } else { patch.wire("d", "out") }
            return patch
        }
        try engine.load(patch(5, extra: false))
        try engine.start()
        #expect(sink.waitFor(12))
        try engine.load(patch(5, extra: true))
        let count = sink.all.count
        #expect(sink.waitFor(count + 8))
        engine.stop()
        let seen = sink.all
        // Never starts over: each tick from the fifth on shows the frame of five ticks before.
        for frame in seen where frame.tick >= 5 {
            #expect(abs(Int(frame.first[0]) - Int((frame.tick - 5) % 256)) <= 1, "\(frame)")
        }
    }

    @Test func whatAnOperatorDoesNotNeedIsNotComputed() throws {
        let filter = KernelFilter(
            name: "pick", summary: "", ports: ["a", "b"],
            parameters: [ParameterSchema("which", default: [1], range: 0...1)],
            stages: [
                .init(
                    native: .init("pick", parameters: [.init("which", .parameter("which"))]),
                    inputs: [.port(0), .port(1)])
            ])
        let (seen, engine) = try render(frames: 10) { patch in
            patch.add("flat", "flat")
            patch.add("a", try scaleFilter(), ["scale": .constant([0.25])])
            patch.add("b", try scaleFilter(), ["scale": .constant([0.5])])
            patch.add("p", filter)
            patch.wire("in", "a", "p")
            patch.wire("flat", "b")
            patch.wires.append(Wire(from: "b", to: "p", port: 1))
            patch.wire("p", "out")
        }
        #expect(seen.allSatisfy { $0.first == [100, 50, 25, 255] })
        #expect(seen.count == 10)
        let frames = Dictionary(
            engine.statistics.nodes.map { ($0.id, $0.frames) }, uniquingKeysWith: { first, _ in first })
        #expect(frames["a"] == 0)
        #expect(frames["b"] == 10)
    }

    @Test func aTransitionCostsNothingAtItsEnds() throws {
        let kernel = try mixKernel()
        let fade = KernelFilter(
            name: "fade", summary: "", ports: ["from", "to"], parameters: [progress],
            stages: [.init(kernel: kernel, inputs: [.port(0), .port(1)], uniforms: ["progress"])],
            ends: .init(parameter: "progress"))
        for (value, expected, ran) in [(Float(0), 50, ["a"]), (1, 100, ["b"]), (0.5, 75, ["a", "b", "t"])] {
            let (seen, engine) = try render(frames: 6) { patch in
                patch.add("flat", "flat")
                patch.add("a", try scaleFilter(), ["scale": .constant([0.25])])
                patch.add("b", try scaleFilter(), ["scale": .constant([0.5])])
                patch.add("t", fade, ["progress": .constant([value])])
                patch.wire("flat", "a", "t")
                patch.wire("flat", "b")
                patch.wires.append(Wire(from: "b", to: "t", port: 1))
                patch.wire("in")
                patch.wire("t", "out")
            }
            #expect(seen.allSatisfy { abs(Int($0.first[0]) - expected) <= 1 }, "\(value): \(seen.first!)")
            let ranNodes = engine.statistics.nodes.filter { $0.kind == "pass" && $0.frames > 0 }.map(\.id)
            #expect(ranNodes == ran, "\(value)")
        }
    }

    @Test func workersDoBandsOfAnyKind() throws {
        struct Squares: BandWork {
            let results: UnsafeMutableBufferPointer<Int>
            func run(band: Int) { results[band] = band * band }
        }
        final class Squarer: NativeOperator, @unchecked Sendable {
            // Unchecked: the engine calls `process` on one thread.
            let output = small
            let results = UnsafeMutableBufferPointer<Int>.allocate(capacity: 1000)
            deinit { results.deallocate() }
            func process(_ call: OperatorCall) -> OperatorResult {
                results.update(repeating: -1)
                call.workers.run(Squares(results: results), bands: 1000)
                let right = results.enumerated().allSatisfy { $0.element == $0.offset * $0.offset }
                return right ? .input(0) : .nothing
            }
        }
        let kind = OperatorKind(name: "squares", summary: "", formats: [.rgba]) { _ in Squarer() }
        let filter = KernelFilter(
            name: "squares", summary: "", ports: ["image"], parameters: [],
            stages: [.init(native: .init("squares"), inputs: [.port(0)])])
        let sink = CollectingSink(small)
        let nodes = registry(sources: ["count": counter(frames: 200)], sinks: ["view": sink])
        nodes.register(operators: [kind])
        let engine = try makeEngine(nodes, workers: 4)
        var patch = Patch()
        patch.add("in", "count")
        patch.add("s", filter)
        patch.add("out", "view")
        patch.wire("in", "s", "out")
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
        engine.stop()
        #expect(sink.all.map { Int($0.first[0]) } == Array(0..<200))
    }
}
