// What the engine itself costs: time a tick beyond its pixels, and heap allocations a tick in steady state.
//
//   swift run -c release EngineBench [nodes] [ticks]
//
// Prints one line of JSON. Pictures are 16×8, so that pixels cost next to nothing; `passes` counts how many passes the
// planner made of the nodes.
import CAllocationCounter
import PatchFilters
import PatchGraph
import PatchKernel
import PatchMedia
import Synchronization

/// Hands out the same frame at every tick.
final class StillSource: MediaSource {
    private let picture: Frame
    init(_ format: VideoFormat) { picture = Frame(allocating: format) }
    func open() throws -> SourceFormat { SourceFormat(video: picture.format, rate: FrameRate(200)) }
    func start() throws {}
    func stop() {}
    func frame(at tick: Tick) -> SourceReading { .frame(picture) }
}

/// Notes the allocation count as frames arrive.
final class MeterSink: MediaSink {
    let format: VideoFormat
    let frames = Atomic<Int64>(0)
    let from: Int64
    /// Before the end: whoever waits for it asks for statistics while the last frames are still on their way.
    let to: Int64
    let first = Atomic<Int64>(0)
    let last = Atomic<Int64>(0)
    init(_ format: VideoFormat, from: Int64, to: Int64) {
        self.format = format
        self.from = from
        self.to = to
    }
    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        SinkRequest(video: format, fill: .stretch)
    }
    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
    func consume(_ delivery: Delivery) throws {
        if delivery.tick == from { first.store(allocation_count(), ordering: .relaxed) }
        if delivery.tick == to { last.store(allocation_count(), ordering: .relaxed) }
        frames.add(1, ordering: .relaxed)
    }
    func finish() {}
}

@main struct EngineBench {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let nodes = arguments.first ?? 100
        let ticks = Int64(arguments.dropFirst().first ?? 600)
        // Unfused: stencils, each of which needs a pass of its own. Fused: point filters.
        // Live ticks start from a sleep, with cold caches; offline ones follow each other.
        for (isFused, isLive) in [(true, true), (true, false), (false, true), (false, false)] {
            try measure(nodes: nodes, ticks: ticks, isFused: isFused, isLive: isLive)
        }
        // Earlier pictures, a loop through a delay, and a mixer whose slots move.
        try measureComposition(ticks: ticks)
    }

    static func measureComposition(ticks: Int64) throws {
        let format = VideoFormat(.rgba, width: 64, height: 32)
        let source = StillSource(format)
        let sink = MeterSink(format, from: ticks / 2, to: ticks * 9 / 10)
        let registry = NodeRegistry(
            [
                NodeKind(NodeSchema(kind: "still", role: .source, summary: ""), .source { _, _ in source }),
                NodeKind(NodeSchema(kind: "meter", role: .sink, summary: ""), .sink { _, _ in sink }), .delay,
            ], operators: NativeOperators.all)
        var echo = try filter(true)
        echo.ports = ["image", "other"]
        var builder = KernelBuilder(
            name: "mean", inputs: ["a", "b", "c"].map { InputDeclaration(name: $0, alpha: .premultiplied) },
            uniforms: [],
            alpha: .premultiplied)
        let sum = try builder.apply(
            .add, [builder.apply(.add, [builder.current(0), builder.current(1)]), builder.current(2)])
        let mean = try builder.apply(.mul, [sum, builder.constant(Float(1) / 3)])
        echo.stages = [
            .init(
                kernel: try builder.finish(mean), inputs: [.port(0), .port(1), .pastStage(0, ticks: 3)], uniforms: [])
        ]
        echo.parameters = []
        let slots = (0..<8).map { MixerSchema.Slot("s\($0)") }
        var patch = Patch()
        patch.settings.rate = FrameRate(200)
        patch.nodes = [
            PatchNode(id: "in", kind: "still"), PatchNode(id: "out", kind: "meter"),
            PatchNode(id: "echo", kind: "kernel", body: .kernels(echo)),
            PatchNode(id: "back", kind: "delay", options: NodeOptions(["frames": .number(5)])),
            PatchNode(id: "mix", kind: "mixer", body: .kernels(MixerSchema.filter(slots, width: 64, height: 32))),
        ]
        patch.wires = [
            Wire(from: "in", to: "echo"), Wire(from: "back", to: "echo", port: 1), Wire(from: "echo", to: "back"),
            Wire(from: "mix", to: "out"),
        ]
        for (index, slot) in slots.enumerated() {
            patch.wires.append(Wire(from: index % 2 == 0 ? "echo" : "in", to: "mix", port: index))
            patch.nodes[4].parameters["\(slot.name).size"] = .constant([Float(8 + 4 * index), 12])
            patch.nodes[4].parameters["\(slot.name).position"] = .ramp(to: [60, 30], seconds: 10, easing: .linear)
            patch.nodes[4].parameters["\(slot.name).transparency"] = .constant([index % 3 == 0 ? 0.5 : 0])
        }
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.duration = FrameRate(200).time(ofFrame: ticks)
        let engine = try Engine(configuration, registry: registry)
        try engine.load(patch)
        try engine.start()
        _ = engine.waitUntilFinished()
        let statistics = engine.statistics
        engine.stop()
        let span = Double(ticks * 9 / 10 - ticks / 2)
        let allocations = Double(sink.last.load(ordering: .relaxed) - sink.first.load(ordering: .relaxed)) / span
        print(
            "{\"composition\": true, \"ticks\": \(statistics.ticks), \"tick_us_p50\": \(statistics.p50), "
                + "\"allocations_per_tick\": \(allocations)}")
    }

    static func measure(nodes: Int, ticks: Int64, isFused: Bool, isLive: Bool) throws {
        let format = VideoFormat(.rgba, width: 16, height: 8)
        let source = StillSource(format)
        let sink = MeterSink(format, from: ticks / 2, to: ticks * 9 / 10)
        let registry = NodeRegistry([
            NodeKind(NodeSchema(kind: "still", role: .source, summary: ""), .source { _, _ in source }),
            NodeKind(NodeSchema(kind: "meter", role: .sink, summary: ""), .sink { _, _ in sink }),
        ])
        var patch = Patch()
        patch.settings.rate = FrameRate(200)
        patch.nodes.append(PatchNode(id: "in", kind: "still"))
        var previous = "in"
        for index in 0..<nodes {
            let id = "n\(index)"
            patch.nodes.append(PatchNode(id: id, kind: "kernel", body: .kernels(try filter(isFused))))
            patch.wires.append(Wire(from: previous, to: id))
            previous = id
        }
        patch.nodes.append(PatchNode(id: "out", kind: "meter"))
        patch.wires.append(Wire(from: previous, to: "out"))

        var configuration = EngineConfiguration()
        configuration.clock = isLive ? .live : .offline
        configuration.duration = FrameRate(200).time(ofFrame: ticks)
        let engine = try Engine(configuration, registry: registry)
        try engine.load(patch)
        let passes = engine.plan?.passes.count ?? 0
        let alone = try pixels(engine.plan, format)
        try engine.start()
        _ = engine.waitUntilFinished()
        let statistics = engine.statistics
        engine.stop()
        let span = Double(ticks * 9 / 10 - ticks / 2)
        let allocations = Double(sink.last.load(ordering: .relaxed) - sink.first.load(ordering: .relaxed)) / span
        print(
            "{\"nodes\": \(nodes), \"fused\": \(isFused), \"live\": \(isLive), \"passes\": \(passes), \"ticks\": \(statistics.ticks), "
                + "\"late\": \(statistics.late), \"tick_us_p50\": \(statistics.p50), \"tick_us_p99\": \(statistics.p99), "
                + "\"pixels_us\": \(alone), \"overhead_us\": \(statistics.p50 - alone), "
                + "\"allocations_per_tick\": \(allocations)}")
    }

    /// Microseconds that the plan's machine code alone takes for one frame: the median of 200 runs.
    static func pixels(_ plan: Plan?, _ format: VideoFormat) throws -> Double {
        guard let plan else { return 0 }
        var frames: [Int: Frame] = [:]
        for (slot, format) in plan.slots.enumerated() { frames[slot] = Frame(allocating: format) }
        let uniforms = [Float](repeating: 1, count: 4096)
        let jobs = plan.passes.compactMap { pass -> (CompiledPass, [ImageReference], ImageReference, Int)? in
            guard let output = frames[pass.output] else { return nil }
            return (
                pass.compiled, pass.inputs.compactMap { frames[$0] }.map { ImageReference($0) },
                ImageReference(output), output.height
            )
        }
        var times: [Int64] = []
        for _ in 0..<200 {
            let start = monotonicNanoseconds()
            for (pass, inputs, output, rows) in jobs {
                inputs.withUnsafeBufferPointer { inputs in
                    uniforms.withUnsafeBufferPointer { uniforms in
                        pass.run(
                            inputs: inputs, output: output, uniforms: uniforms.baseAddress!,
                            context: FrameContext(time: 0, frame: 0), rows: 0..<rows)
                    }
                }
            }
            times.append(monotonicNanoseconds() - start)
        }
        return Double(times.sorted()[times.count / 2]) / 1000
    }

    static func filter(_ isPoint: Bool) throws -> KernelFilter {
        var builder = KernelBuilder(
            name: "trivial", inputs: [InputDeclaration(name: "image")],
            uniforms: [UniformDeclaration(name: "gain", type: .float)])
        let pixel = isPoint ? builder.current(0) : try builder.tap(0, dx: 1, dy: 0)
        let scaled = try builder.apply(.mul, [pixel, builder.uniform(0)])
        let kernel = try builder.finish(scaled)
        return KernelFilter(
            name: "trivial", summary: "", ports: ["image"], parameters: [ParameterSchema("gain", default: [1])],
            stages: [.init(kernel: kernel, inputs: [.port(0)], uniforms: ["gain"])])
    }
}
