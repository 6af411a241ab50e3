import PatchKernel
import PatchMedia
import Synchronization

/// A plan with its working memory: what the clock thread runs at a tick. Made and warmed on a control thread.
///
/// `render` allocates nothing: frames come from pools, everything else was allocated by `init`.
/// Thread-safety: one thread at a time; the hand-over from the control thread to the clock thread goes through a lock.
final class PlanExecutor: @unchecked Sendable {
    // Unchecked: see Thread-safety; the engine's swap lock orders the hand-over.
    let plan: Plan
    let generation: Int
    /// The open node behind each of the plan's sources and sinks.
    let sources: [Instance]
    let sinks: [Instance]

    private let pools: [FramePool?]
    private var slots: [Frame?]
    private let uniforms: UnsafeMutablePointer<Float>
    private let images: UnsafeMutablePointer<ImageReference>
    /// Where each step's image references begin.
    private let imageOffsets: [Int]
    private let bandRows: [Int]
    /// The frame that each source showed last, in the planned format.
    private var held: [Frame?]
    /// Stand-ins for sources that have not delivered yet.
    private var blanks: [Frame?]
    /// What this tick gives each sink; nil where nothing has come yet or a processor dropped the frame.
    private var results: [Frame?]
    /// The frame that each sink got last, for ticks that come too late to be rendered.
    private var delivered: [Frame?]
    /// How long each step took; the clock thread writes after a step, statistics read.
    struct Meter {
        var frames: Int64 = 0
        /// Times that no buffer was free, or a processor returned a frame of the wrong format.
        var starved: Int64 = 0
        var durations = Durations()
    }
    let meters: Mutex<[Meter]>
    private var ended: [Bool]
    private var reported: [VideoFormat?]

    init(
        plan: Plan, generation: Int, sources: [Instance], sinks: [Instance], pools store: PoolStore, workers: Int
    ) {
        self.plan = plan
        self.generation = generation
        self.sources = sources
        self.sinks = sinks
        var outputs = Set<Int>()
        var offsets: [Int] = []
        var rows: [Int] = []
        var imageCount = 0
        for step in plan.steps {
            offsets.append(imageCount)
            switch step {
            case .pass(let pass):
                outputs.insert(pass.output)
                imageCount += pass.inputs.count
                rows.append(Self.bandRows(pass, height: plan.slots[pass.output].height, workers: workers))
            case .process: rows.append(1)
            }
        }
        pools = plan.slots.indices.map { outputs.contains($0) ? store.pool(for: plan.slots[$0]) : nil }
        imageOffsets = offsets
        bandRows = rows
        slots = Array(repeating: nil, count: plan.slots.count)
        uniforms = .allocate(capacity: max(1, plan.uniformCount))
        uniforms.initialize(repeating: 0, count: max(1, plan.uniformCount))
        for constant in plan.uniformConstants { uniforms[constant.offset] = constant.value }
        images = .allocate(capacity: max(1, imageCount))
        let nothing = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        images.initialize(repeating: ImageReference(nothing), count: max(1, imageCount))
        held = Array(repeating: nil, count: plan.sources.count)
        blanks = plan.sources.map { source in source.format.map { Frame(blank: $0) } }
        results = Array(repeating: nil, count: plan.sinks.count)
        delivered = Array(repeating: nil, count: plan.sinks.count)
        meters = Mutex(Array(repeating: Meter(), count: plan.steps.count))
        ended = Array(repeating: false, count: plan.sources.count)
        reported = Array(repeating: nil, count: plan.sources.count)
    }

    deinit {
        uniforms.deallocate()
        images.deallocate()
    }

    /// About four bands a thread: fine enough to even out, coarse enough to keep whole cache lines of rows together.
    private static func bandRows(_ pass: PlanPass, height: Int, workers: Int) -> Int {
        let alignment = pass.compiled.rowAlignment
        let rows = (height + workers * 4 - 1) / (workers * 4)
        return max(alignment, (rows + alignment - 1) / alignment * alignment)
    }

    /// What became of a tick.
    struct Outcome {
        /// Every source that can end is over, and there was one.
        var allEnded = false
        /// Index of a source whose frames no longer have the planned format.
        var changedSource: Int?
    }

    /// Takes over what the plan before held, so that nothing flickers: the last frame of each source that goes on.
    func inherit(from other: PlanExecutor) {
        for (index, source) in plan.sources.enumerated() {
            for otherIndex in other.sources.indices where sources[index] === other.sources[otherIndex] {
                if let frame = other.held[otherIndex], frame.format == source.format { held[index] = frame }
                ended[index] = other.ended[otherIndex]
            }
        }
        for (index, sink) in sinks.enumerated() {
            for (otherIndex, otherSink) in other.sinks.enumerated() where sink === otherSink {
                if let frame = other.delivered[otherIndex], frame.format == plan.sinks[index].video {
                    delivered[index] = frame
                }
            }
        }
    }

    /// Asks every source for its frame at this tick.
    /// - Parameter lead: during a crossfade, the newer plan; what it took from a shared source is shown here too.
    func takeFrames(at tick: Tick, following lead: PlanExecutor? = nil) -> Outcome {
        var outcome = Outcome()
        var isOver = true
        var anyEnded = false
        for index in plan.sources.indices {
            if let lead, let shared = lead.sources.firstIndex(where: { $0 === sources[index] }) {
                if let frame = lead.held[shared], frame.format == plan.sources[index].format { held[index] = frame }
                continue
            }
            guard let format = plan.sources[index].format, case .source(let source, _) = sources[index].body else {
                continue
            }
            switch source.frame(at: tick) {
            case .frame(let frame):
                if frame.format == format {
                    held[index] = frame
                } else if reported[index] != frame.format {
                    reported[index] = frame.format
                    outcome.changedSource = index
                }
            case .waiting: break
            case .ended:
                ended[index] = true
            }
            if ended[index] { anyEnded = true } else if !plan.sources[index].isEndless { isOver = false }
        }
        outcome.allEnded = isOver && anyEnded
        return outcome
    }

    /// The format that a source's frames have now, after `takeFrames` reported a change.
    func changedFormat(ofSource index: Int) -> VideoFormat? { reported[index] }

    /// Runs every step; afterwards `frame(forSink:)` gives the results.
    /// - Parameter parameters: nil keeps the values of the tick before: a plan that fades out keeps its look, although
    ///   nodes of the same name have new values by now.
    func render(at tick: Tick, parameters: ParameterStore?, workers: Workers) {
        parameters?.snapshot(at: tick.time.seconds, plan.uniformTargets, into: uniforms)
        let anyHeld = held.contains { $0 != nil } || plan.sources.isEmpty
        for index in plan.sources.indices {
            guard let slot = plan.sources[index].slot else { continue }
            // A source that has not begun is blank where others are mixed with it, and absent where it is alone.
            slots[slot] = held[index] ?? (anyHeld && plan.sources.count > 1 ? blanks[index] : nil)
        }
        let context = FrameContext(time: tick.time.seconds, frame: tick.index)
        for index in plan.steps.indices {
            let start = monotonicNanoseconds()
            switch plan.steps[index] {
            case .pass(let pass): run(pass, index, context, workers)
            case .process(let process):
                slots[process.output] = slots[process.input].flatMap {
                    process.processor.process($0, at: tick.time)
                }
                if let made = slots[process.output], made.format != plan.slots[process.output] {
                    slots[process.output] = nil
                    meters.withLock { $0[index].starved += 1 }
                }
                for slot in process.releases { slots[slot] = nil }
            }
            let duration = monotonicNanoseconds() - start
            meters.withLock {
                $0[index].frames += 1
                $0[index].durations.add(duration)
            }
        }
        for index in plan.sinks.indices {
            guard let slot = plan.sinks[index].slot else { continue }
            results[index] = slots[slot]
            if let frame = slots[slot] { delivered[index] = frame }
        }
        for slot in slots.indices { slots[slot] = nil }
    }

    private func run(_ pass: PlanPass, _ index: Int, _ context: FrameContext, _ workers: Workers) {
        defer { for slot in pass.releases { slots[slot] = nil } }
        let first = images + imageOffsets[index]
        for (position, slot) in pass.inputs.enumerated() {
            guard let frame = slots[slot] else {
                slots[pass.output] = nil
                return
            }
            first[position] = ImageReference(frame)
        }
        guard let output = pools[pass.output]?.take() else {
            // Consumers hold every buffer: the sink's counters show the gap.
            meters.withLock { $0[index].starved += 1 }
            slots[pass.output] = nil
            return
        }
        slots[pass.output] = output
        workers.run(
            BandJob(
                pass: pass.compiled, inputs: UnsafeBufferPointer(start: first, count: pass.inputs.count),
                output: ImageReference(output), uniforms: UnsafePointer(uniforms + pass.uniformOffset),
                context: context, rows: output.height, bandRows: bandRows[index]))
    }

    func frame(forSink index: Int) -> Frame? { results[index] }
    func lastFrame(forSink index: Int) -> Frame? { delivered[index] }
    func replaceFrame(forSink index: Int, with frame: Frame) {
        results[index] = frame
        delivered[index] = frame
    }

    /// Computes one frame off air, so that the first one on air finds code, buffers and uniforms in place.
    func warm(parameters: ParameterStore) {
        for index in plan.sources.indices { if let slot = plan.sources[index].slot { slots[slot] = blanks[index] } }
        for (index, step) in plan.steps.enumerated() {
            guard case .pass(let pass) = step, let output = pools[pass.output]?.take() else { continue }
            let first = images + imageOffsets[index]
            var complete = true
            for (position, slot) in pass.inputs.enumerated() {
                if let frame = slots[slot] { first[position] = ImageReference(frame) } else { complete = false }
            }
            guard complete else { continue }
            slots[pass.output] = output
            let rows = min(output.height, bandRows[index])
            pass.compiled.run(
                inputs: UnsafeBufferPointer(start: first, count: pass.inputs.count), output: ImageReference(output),
                uniforms: UnsafePointer(uniforms + pass.uniformOffset),
                context: FrameContext(time: 0, frame: 0), rows: 0..<rows)
        }
        for slot in slots.indices { slots[slot] = nil }
    }
}

extension Frame {
    /// Black where the format is opaque, transparent where it has alpha.
    public convenience init(blank format: VideoFormat) {
        self.init(allocating: format)
        guard format.pixelFormat.isYCbCr else { return }
        let pixelFormat = format.pixelFormat
        let shift = pixelFormat.bitDepth - 8
        let high = pixelFormat == .p010 ? 6 : 0
        let black = (format.color.range == .full ? 0 : 16) << (shift + high)
        let neutral = 128 << (shift + high)
        for index in 0..<pixelFormat.planeCount {
            let layout = pixelFormat.layout(ofPlane: index)
            let value = index == 0 ? black : neutral
            for y in 0..<layout.height(of: format.height) {
                let bytes = layout.width(of: format.width) * layout.bytesPerPixel
                let row = plane(index).row(y)
                if pixelFormat.bitDepth == 8 {
                    row.initializeMemory(as: UInt8.self, repeating: UInt8(value), count: bytes)
                } else {
                    row.initializeMemory(as: UInt16.self, repeating: UInt16(value).littleEndian, count: bytes / 2)
                }
            }
        }
    }
}
