import Glibc
import PatchFilters
import PatchGraph
import PatchMedia
import PatchSound
import Synchronization
import Testing

/// Sound by the sample's number, without a picture.
final class ToneSource: MediaSource {
    private let channels: Int
    private let samples: Int?
    private let wave: @Sendable (_ sample: Int64, _ channel: Int) -> Float
    private let next = Mutex<Int64>(0)

    init(channels: Int = 2, samples: Int? = nil, _ wave: @escaping @Sendable (Int64, Int) -> Float) {
        self.channels = channels
        self.samples = samples
        self.wave = wave
    }

    func open() throws -> SourceFormat {
        SourceFormat(
            video: VideoFormat(.rgba, width: 2, height: 2), rate: FrameRate(30),
            audio: AudioFormat(channels: channels),
            duration: samples.map { MediaTime(value: Int64($0), timescale: 48_000) })
    }
    func start() throws {}
    func stop() {}
    func frame(at tick: Tick) -> SourceReading {
        if let samples, tick.time >= MediaTime(value: Int64(samples), timescale: 48_000) { return .ended }
        return .waiting
    }
    func sound(at tick: Tick, into block: AudioBlock) -> Bool {
        next.withLock { next in
            for channel in 0..<block.format.channels {
                for index in 0..<block.count { block.channel(channel)[index] = wave(next + Int64(index), channel) }
            }
            next += Int64(block.count)
        }
        return true
    }
}

/// Keeps all it hears.
final class Listener: MediaSink {
    private let channels: Int
    private let heard: Mutex<[[Float]]>

    init(channels: Int = 2) {
        self.channels = channels
        heard = Mutex(Array(repeating: [], count: channels))
    }

    func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
        SinkRequest(video: nil, audio: AudioFormat(channels: channels), queue: .block(depth: 4, limit: 10_000_000_000))
    }
    func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
    func consume(_ delivery: Delivery) throws {
        guard let sound = delivery.sound else { return }
        let start = Int(delivery.pts.floored(to: 48_000))
        heard.withLock { heard in
            for channel in 0..<channels {
                // Ticks on which nothing is wired bring nothing.
                heard[channel] += Array(repeating: 0, count: max(0, start - heard[channel].count))
                heard[channel] += UnsafeBufferPointer(start: sound.channel(channel), count: sound.count)
            }
        }
    }
    func finish() {}
    var samples: [[Float]] { heard.withLock { $0 } }
}

/// A patch of sources, sound filters and one listener, run offline.
struct SoundRun {
    var sources: [String: any MediaSource]
    let listener: Listener
    var kinds: [NodeKind] = []
    var patch = Patch()

    init(_ sources: [String: any MediaSource], channels: Int = 2, kinds: [NodeKind] = []) {
        self.sources = sources
        listener = Listener(channels: channels)
        self.kinds = kinds
        for name in sources.keys.sorted() { patch.nodes.append(PatchNode(id: name, kind: name)) }
        patch.nodes.append(PatchNode(id: "out", kind: "listener"))
    }

    func engine(frames: Int64?, beforeTick: (@Sendable (Tick) -> Void)? = nil) throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.beforeTick = beforeTick
        configuration.clock = .offline
        configuration.workers = 1
        configuration.duration = frames.map { FrameRate(30).time(ofFrame: $0) }
        let listener = listener
        let registry = NodeRegistry(
            sources.map { kind, source in
                NodeKind(NodeSchema(kind: kind, role: .source, summary: ""), .source { _, _ in source })
            } + SoundNodes.kinds + kinds + [
                NodeKind(NodeSchema(kind: "listener", role: .sink, summary: ""), .sink { _, _ in listener })
            ], operators: NativeOperators.all(lookups: LookupTables()))
        return try Engine(configuration, registry: registry)
    }

    /// What the listener heard in so many ticks, by channel.
    func heard(ticks: Int64) throws -> [[Float]] {
        let engine = try engine(frames: ticks)
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 60_000_000_000))
        engine.stop()
        return listener.samples
    }
}

extension Patch {
    mutating func add(
        _ id: String, _ kind: String, _ parameters: [String: ParameterValue] = [:],
        _ options: [String: OptionValue] = [:]
    ) {
        nodes.append(PatchNode(id: id, kind: kind, options: NodeOptions(options), parameters: parameters))
    }
    mutating func wire(_ chain: String...) {
        for (from, to) in zip(chain, chain.dropFirst()) { wires.append(Wire(from: from, to: to, media: .audio)) }
    }
}

/// A sine: its second difference is at most amplitude · (2π · frequency / rate)².
func sine(_ frequency: Double, _ amplitude: Double = 0.5) -> @Sendable (Int64, Int) -> Float {
    { sample, _ in Float(amplitude * sin(2 * Double.pi * frequency * Double(sample) / 48_000)) }
}
