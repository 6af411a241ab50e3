import PatchMedia
import Synchronization

/// `replay`: remembers the last seconds of its input and shows any moment of them: a freeze, a delay, an instant replay.
///
/// `back` says how long ago; 0 is the newest picture. While `frozen`, nothing new is remembered, and `back` counts from
/// the moment of freezing; moved from 4 to 0 in 8 s it is a replay at half speed.
/// Thread-safety: as `NativeNode`.
public final class ReplayNode: NativeNode {
    private let seconds: Double

    public static var kind: NodeKind {
        NodeKind(
            NodeSchema(
                kind: "replay", role: .filter,
                summary: "Remembers the last seconds and shows any moment of them: freeze, delay, instant replay.",
                options: [
                    OptionSchema("seconds", .number(0.1...60), "How much is remembered.", unit: "s", default: "5")
                ],
                parameters: [
                    ParameterSchema(
                        "back", default: [0], range: 0...60, neutral: [0], label: "How long ago", unit: "s"),
                    ParameterSchema("frozen", .bool, default: [0], neutral: [0], label: "Stop remembering"),
                ]),
            .native { options, _ in ReplayNode(seconds: options.number("seconds") ?? 5) })
    }

    init(seconds: Double) { self.seconds = seconds }

    public func prepare(inputs: [VideoFormat], rate: FrameRate) throws -> any FrameOperator {
        guard let format = inputs.first else { throw PatchError(.graph, "replay has no input") }
        let frames = max(1, Int((seconds * rate.perSecond).rounded(.up)))
        let size = frames * format.byteCount
        guard size <= Self.largestMemory else {
            throw PatchError(
                .budget,
                "\(seconds) s of \(format.width)x\(format.height) need \(size >> 20) MiB, and a replay may have "
                    + "\(Self.largestMemory >> 20)",
                remedy: "lower seconds =, or put filter.resize before it")
        }
        if let present = run.withLock({ $0.run }), present.output == format, present.frames == frames {
            return present
        }
        let made = ReplayRun(format, frames: frames, rate: rate)
        run.withLock { $0.run = made }
        return made
    }

    /// Bytes that one replay may remember.
    static let largestMemory = 2 << 30
    private struct Weak { weak var run: ReplayRun? }
    private let run = Mutex(Weak())
}

/// The pictures that a `replay` remembers: copies, because a source's own buffers are few.
///
/// Thread-safety: as `FrameOperator`.
final class ReplayRun: FrameOperator, @unchecked Sendable {
    // Unchecked: the `var`s are touched by `frame`, on the clock thread alone.
    let output: VideoFormat
    let frames: Int
    var inputs: [VideoFormat] { [output] }
    private let rate: FrameRate
    private let pool: FramePool
    private var ring: [Frame?]
    /// Pictures remembered so far; the newest is number `count - 1`.
    private var count = 0
    private var lastTick: Int64 = -1

    init(_ format: VideoFormat, frames: Int, rate: FrameRate) {
        output = format
        self.frames = frames
        self.rate = rate
        // Those that are shown at the moment are in use beyond the ring.
        pool = FramePool(format: format, preallocate: frames + 4, limit: frames + 32)
        ring = Array(repeating: nil, count: frames)
    }

    func frame(
        _ inputs: UnsafeBufferPointer<Frame?>, parameters: UnsafePointer<Float>, at tick: Tick
    ) -> Frame? {
        guard let input = inputs.first ?? nil else { return count > 0 ? ring[(count - 1) % frames] : nil }
        let back = Double(parameters[0])
        let isFrozen = parameters[1] >= 0.5
        if tick.index != lastTick {
            lastTick = tick.index
            if !isFrozen || count == 0 { remember(input) }
        }
        guard count > 0 else { return input }
        let steps = min(max(0, Int((back * rate.perSecond).rounded())), min(count, frames) - 1)
        return ring[(count - 1 - steps) % frames] ?? input
    }

    private func remember(_ input: Frame) {
        ring[count % frames] = nil
        guard let copy = pool.take() else { return }
        for plane in 0..<output.pixelFormat.planeCount {
            let layout = output.pixelFormat.layout(ofPlane: plane)
            let bytes = layout.width(of: output.width) * layout.bytesPerPixel
            let (from, to) = (input.plane(plane), copy.plane(plane))
            for y in 0..<layout.height(of: output.height) { to.row(y).copyMemory(from: from.row(y), byteCount: bytes) }
        }
        copy.pts = input.pts
        copy.duration = input.duration
        ring[count % frames] = copy
        count += 1
    }
}

extension VideoFormat {
    /// Bytes of the samples, without padding.
    var byteCount: Int {
        pixelFormat.planes.reduce(0) { $0 + $1.width(of: width) * $1.height(of: height) * $1.bytesPerPixel }
    }
}
