import PatchGraph
import PatchKernel
import PatchMedia
import Synchronization

/// A source that makes its frames from their index, with no thread: what is due at a tick is exact.
final class CountingSource: MediaSource {
    let format: VideoFormat
    let frames: Int64?
    private let made: Mutex<(last: Int64, frame: Frame?)> = Mutex((-1, nil))
    private let pool: FramePool
    private let paint: @Sendable (Frame, Int64) -> Void
    let opens = Atomic(0)
    let starts = Atomic(0)
    let stops = Atomic(0)

    init(_ format: VideoFormat, frames: Int64? = nil, paint: @escaping @Sendable (Frame, Int64) -> Void) {
        self.format = format
        self.frames = frames
        self.paint = paint
        pool = FramePool(format: format, preallocate: 4)
    }

    func open() throws -> SourceFormat {
        opens.add(1, ordering: .relaxed)
        return SourceFormat(video: format, rate: FrameRate(30))
    }
    func start() throws { starts.add(1, ordering: .relaxed) }
    func stop() { stops.add(1, ordering: .relaxed) }

    func frame(at tick: Tick) -> SourceReading {
        if let frames, tick.index >= frames { return .ended }
        return made.withLock { made in
            if made.last != tick.index, let frame = pool.take() {
                paint(frame, tick.index)
                frame.sequence = tick.index
                made = (tick.index, frame)
            }
            return made.frame.map { .frame($0) } ?? .waiting
        }
    }
}

/// One colour everywhere.
func fill(_ frame: Frame, _ bytes: (UInt8, UInt8, UInt8, UInt8)) {
    let plane = frame.plane(0)
    for y in 0..<frame.height {
        let row = plane.row(y).assumingMemoryBound(to: (UInt8, UInt8, UInt8, UInt8).self)
        for x in 0..<frame.width { row[x] = bytes }
    }
}

/// What a `CollectingSink` keeps of each frame.
struct Seen: Sendable, Equatable {
    var tick: Int64
    var sequence: Int64
    /// First four bytes of the picture's first and last pixel.
    var first: [UInt8]
    var last: [UInt8]
}

final class CollectingSink: MediaSink {
    let request: @Sendable (VideoFormat?) -> SinkRequest
    let seen = Monitor<[Seen]>([])
    let lastFrame = Mutex<Frame?>(nil)
    let opens = Atomic(0)
    let finishes = Atomic(0)
    /// Nanoseconds that `consume` takes.
    let delay = Atomic<Int64>(0)
    let failsAt = Atomic<Int64>(.max)

    init(_ request: @escaping @Sendable (VideoFormat?) -> SinkRequest) { self.request = request }

    /// Takes this format, whatever comes.
    convenience init(_ format: VideoFormat, queue: QueuePolicy = .dropOldest(depth: 8)) {
        self.init { _ in SinkRequest(video: format, fill: .stretch, queue: queue) }
    }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest { request(offered) }
    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
        opens.add(1, ordering: .relaxed)
    }
    func consume(_ delivery: Delivery) throws {
        if delivery.tick >= failsAt.load(ordering: .relaxed) { throw PatchError(.output, "disk full") }
        guard let frame = delivery.frame else { return }
        let wait = delay.load(ordering: .relaxed)
        if wait > 0 { pause(wait) }
        let plane = frame.plane(0)
        let bytes = frame.format.pixelFormat.layout(ofPlane: 0).bytesPerPixel
        func pixel(_ x: Int, _ y: Int) -> [UInt8] {
            let start = plane.row(y) + x * bytes
            return (0..<bytes).map { start.load(fromByteOffset: $0, as: UInt8.self) }
        }
        let seen = Seen(
            tick: delivery.tick, sequence: delivery.sequence, first: pixel(0, 0),
            last: pixel(frame.width - 1, frame.height - 1))
        lastFrame.withLock { $0 = frame }
        self.seen.notify { $0.append(seen) }
    }
    func finish() { finishes.add(1, ordering: .relaxed) }

    /// Waits until `count` frames came; false after 20 s.
    func waitFor(_ count: Int) -> Bool {
        seen.wait(until: monotonicNanoseconds() + 20_000_000_000) { $0.count >= count ? true : nil } ?? false
    }
    var all: [Seen] { seen.withLock { $0 } }
}

/// Blocks the calling thread.
func pause(_ nanoseconds: Int64) {
    let never = Monitor(())
    _ = never.wait(until: monotonicNanoseconds() + nanoseconds) { _ in nil as Bool? }
}

/// A registry whose kinds hand out the given nodes.
func registry(sources: [String: any MediaSource] = [:], sinks: [String: any MediaSink] = [:]) -> NodeRegistry {
    NodeRegistry(
        sources.map { kind, source in
            NodeKind(NodeSchema(kind: kind, role: .source, summary: ""), .source { _, _ in source })
        }
            + sinks.map { kind, sink in
                NodeKind(NodeSchema(kind: kind, role: .sink, summary: ""), .sink { _, _ in sink })
            })
}

/// color · scale + offset on r, g, b: a point filter with two knobs.
func scaleFilter() throws -> KernelFilter {
    var builder = KernelBuilder(
        name: "scale", inputs: [InputDeclaration(name: "image")],
        uniforms: [UniformDeclaration(name: "scale", type: .float), UniformDeclaration(name: "offset", type: .float)])
    let color = builder.current(0)
    let rgb = try builder.swizzle(color, "rgb")
    let scaled = try builder.apply(.mul, [rgb, builder.uniform(0)])
    let moved = try builder.apply(.add, [scaled, builder.uniform(1)])
    let result = try builder.construct(.vec4, [moved, try builder.swizzle(color, "a")])
    let kernel = try builder.finish(result)
    return KernelFilter(
        name: "scale", summary: "", ports: ["image"],
        parameters: [
            ParameterSchema("scale", default: [1], range: 0...4, neutral: [1]),
            ParameterSchema("offset", default: [0], range: -1...1, neutral: [0]),
        ], stages: [.init(kernel: kernel, inputs: [.port(0)], uniforms: ["scale", "offset"])])
}

/// Mean of the pixel and its right neighbour: a stencil.
func smearFilter() throws -> KernelFilter {
    var builder = KernelBuilder(name: "smear", inputs: [InputDeclaration(name: "image")], uniforms: [])
    let a = builder.current(0)
    let b = try builder.tap(0, dx: 1, dy: 0)
    let sum = try builder.apply(.add, [a, b])
    let mean = try builder.apply(.mul, [sum, builder.constant(Float(0.5))])
    let kernel = try builder.finish(mean)
    return KernelFilter(
        name: "smear", summary: "", ports: ["image"], parameters: [],
        stages: [.init(kernel: kernel, inputs: [.port(0)], uniforms: [])])
}

/// The overlay over the image.
func overFilter() -> KernelFilter {
    KernelFilter(
        name: "over", summary: "", ports: ["image", "overlay"], parameters: [],
        stages: [.init(kernel: StandardKernels.sourceOver, inputs: [.port(0), .port(1)], uniforms: [])])
}

extension Patch {
    @discardableResult
    mutating func add(
        _ id: NodeID, _ kind: String, body: PatchNode.Body = .registered, options: [String: OptionValue] = [:],
        _ parameters: [String: ParameterValue] = [:], line: Int = 0
    ) -> NodeID {
        nodes.append(
            PatchNode(
                id: id, kind: kind, body: body, options: NodeOptions(options), parameters: parameters,
                at: line > 0 ? SourceLocation(file: "test.lua", line: line) : nil))
        return id
    }

    mutating func add(_ id: NodeID, _ filter: KernelFilter, _ parameters: [String: ParameterValue] = [:]) {
        add(id, "filter.\(filter.name)", body: .kernels(filter), parameters)
    }

    mutating func wire(_ chain: NodeID...) {
        for (from, to) in zip(chain, chain.dropFirst()) { wires.append(Wire(from: from, to: to)) }
    }
}

let small = VideoFormat(.rgba, width: 16, height: 8)

/// A grey whose red is the tick's index.
func counter(_ format: VideoFormat = small, frames: Int64? = nil) -> CountingSource {
    CountingSource(format, frames: frames) { frame, index in
        fill(frame, (UInt8(truncatingIfNeeded: index), 100, 50, 255))
    }
}
