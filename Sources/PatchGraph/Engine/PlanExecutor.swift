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
    /// The plan is of a graph file read anew, not of an edit by its handlers.
    let isReload: Bool
    /// The open node behind each of the plan's sources and sinks.
    let sources: [Instance]
    let sinks: [Instance]

    /// A step flattened for the frame path: indices into the tables below instead of arrays, so that a tick copies no
    /// array and touches no reference count but its frames'.
    private struct Work {
        /// nil for a native filter.
        var pass: CompiledPass?
        var processor: (any VideoProcessor)?
        var native: (any NativeRun)?
        var pool: FramePool?
        var inputs: Range<Int>
        var output: Int
        var releases: Range<Int>
        var uniformOffset: Int
        /// Floats of a native node's parameters.
        var uniformCount = 0
        var bandRows: Int
    }
    private let work: UnsafeMutableBufferPointer<Work>
    /// Slot numbers that `Work.inputs` and `Work.releases` point into.
    private let slotTable: UnsafeMutableBufferPointer<Int>
    private let slots: UnsafeMutableBufferPointer<Frame?>
    private let images: UnsafeMutableBufferPointer<ImageReference>
    /// What a native node reads at a tick.
    private let gathered: UnsafeMutableBufferPointer<Frame?>
    private let uniforms: UnsafeMutableBufferPointer<Float>
    /// Nanoseconds that each step took in this tick.
    private let durations: UnsafeMutableBufferPointer<Int64>
    private let sourceSlots: [Int?]
    private let sinkSlots: [Int?]
    /// The frame that each source showed last, in the planned format.
    private var held: [Frame?]
    /// Stand-ins for sources that have not delivered yet.
    private let blanks: [Frame?]
    /// What this tick gives each sink; nil where nothing has come yet or a processor dropped the frame.
    private var results: [Frame?]
    /// The frame that each sink got last, for ticks that come too late to be rendered.
    private var delivered: [Frame?]
    private var ended: [Bool]
    private var reported: [VideoFormat?]

    /// How long each step took; the clock thread writes once a tick, statistics read.
    struct Meter {
        var frames: Int64 = 0
        var durations = Durations()
    }
    let meters: Mutex<[Meter]>
    /// Times that no buffer was free, or a processor returned a frame of the wrong format.
    let starved = Atomic<Int64>(0)

    init(
        plan: Plan, generation: Int, isReload: Bool, sources: [Instance], sinks: [Instance], pools store: PoolStore,
        workers: Int
    ) {
        self.plan = plan
        self.generation = generation
        self.isReload = isReload
        self.sources = sources
        self.sinks = sinks
        var table: [Int] = []
        func place(_ slots: [Int]) -> Range<Int> {
            table += slots
            return table.count - slots.count..<table.count
        }
        let steps = plan.steps.map { step -> Work in
            switch step {
            case .pass(let pass):
                Work(
                    pass: pass.compiled, processor: nil, pool: store.pool(for: plan.slots[pass.output]),
                    inputs: place(pass.inputs), output: pass.output, releases: place(pass.releases),
                    uniformOffset: pass.uniformOffset,
                    bandRows: Self.bandRows(
                        alignment: pass.compiled.rowAlignment, height: plan.slots[pass.output].height,
                        workers: workers))
            case .process(let process):
                Work(
                    pass: nil, processor: process.processor, pool: nil, inputs: place([process.input]),
                    output: process.output, releases: place(process.releases), uniformOffset: 0, bandRows: 1)
            case .native(let native):
                Work(
                    pass: nil, processor: nil, native: native.run, pool: nil, inputs: place(native.inputs),
                    output: native.output, releases: place(native.releases), uniformOffset: native.uniformOffset,
                    uniformCount: native.uniformCount, bandRows: 1)
            }
        }
        let nothing = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        work = .allocate(capacity: steps.count)
        _ = work.initialize(from: steps)
        slotTable = .allocate(capacity: table.count)
        _ = slotTable.initialize(from: table)
        slots = .allocate(capacity: plan.slots.count)
        slots.initialize(repeating: nil)
        images = .allocate(capacity: steps.map(\.inputs.count).max() ?? 0)
        images.initialize(repeating: ImageReference(nothing))
        gathered = .allocate(capacity: images.count)
        gathered.initialize(repeating: nil)
        uniforms = .allocate(capacity: max(1, plan.uniformCount))
        uniforms.initialize(repeating: 0)
        for constant in plan.uniformConstants { uniforms[constant.offset] = constant.value }
        durations = .allocate(capacity: steps.count)
        durations.initialize(repeating: 0)
        sourceSlots = plan.sources.map(\.slot)
        sinkSlots = plan.sinks.map(\.slot)
        held = Array(repeating: nil, count: plan.sources.count)
        blanks = plan.sources.map { source in source.format.map { Frame(blank: $0) } }
        results = Array(repeating: nil, count: plan.sinks.count)
        delivered = Array(repeating: nil, count: plan.sinks.count)
        ended = Array(repeating: false, count: plan.sources.count)
        reported = Array(repeating: nil, count: plan.sources.count)
        meters = Mutex(Array(repeating: Meter(), count: steps.count))
    }

    deinit {
        work.deinitialize().deallocate()
        slotTable.deallocate()
        slots.deinitialize().deallocate()
        images.deallocate()
        gathered.deinitialize().deallocate()
        uniforms.deallocate()
        durations.deallocate()
    }

    /// About four bands a thread: fine enough to even out, coarse enough to keep whole cache lines of rows together.
    private static func bandRows(alignment: Int, height: Int, workers: Int) -> Int {
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
        if let base = uniforms.baseAddress {
            parameters?.snapshot(at: tick.time.seconds, plan.uniformTargets, into: base)
        }
        let anyHeld = held.contains { $0 != nil }
        for (index, slot) in sourceSlots.enumerated() {
            guard let slot else { continue }
            // A source that has not begun is blank where others are mixed with it, and absent where it is alone.
            slots[slot] = held[index] ?? (anyHeld ? blanks[index] : nil)
        }
        let context = FrameContext(time: tick.time.seconds, frame: tick.index)
        var start = monotonicNanoseconds()
        for index in work.indices {
            run(index, tick, context, workers)
            for release in work[index].releases { slots[slotTable[release]] = nil }
            let end = monotonicNanoseconds()
            durations[index] = end - start
            start = end
        }
        meters.withLock { meters in
            for index in durations.indices {
                meters[index].frames += 1
                meters[index].durations.add(durations[index])
            }
        }
        for (index, slot) in sinkSlots.enumerated() {
            guard let slot else { continue }
            results[index] = slots[slot]
            if let frame = slots[slot] { delivered[index] = frame }
        }
        for slot in slots.indices { slots[slot] = nil }
    }

    private func run(_ index: Int, _ tick: Tick, _ context: FrameContext, _ workers: Workers) {
        let output = work[index].output
        if let native = work[index].native {
            runNative(native, index, tick)
            return
        }
        guard let pass = work[index].pass else {
            let made = slots[slotTable[work[index].inputs.lowerBound]].flatMap {
                work[index].processor?.process($0, at: tick.time)
            }
            slots[output] = made
            if let made, made.format != plan.slots[output] {
                slots[output] = nil
                starved.add(1, ordering: .relaxed)
            }
            return
        }
        guard bindInputs(of: index) else {
            slots[output] = nil
            return
        }
        guard let frame = work[index].pool?.take() else {
            // Consumers hold every buffer: the sink's counters show the gap.
            starved.add(1, ordering: .relaxed)
            slots[output] = nil
            return
        }
        slots[output] = frame
        guard let uniformBase = uniforms.baseAddress else { return }
        workers.run(
            BandJob(
                pass: pass,
                inputs: UnsafeBufferPointer(start: images.baseAddress, count: work[index].inputs.count),
                output: ImageReference(frame), uniforms: UnsafePointer(uniformBase + work[index].uniformOffset),
                context: context, rows: frame.height, bandRows: work[index].bandRows))
    }

    private func runNative(_ native: any NativeRun, _ index: Int, _ tick: Tick) {
        let count = work[index].inputs.count
        for (position, entry) in work[index].inputs.enumerated() { gathered[position] = slots[slotTable[entry]] }
        let offset = work[index].uniformOffset
        let made = native.frame(
            UnsafeBufferPointer(rebasing: gathered[0..<count]),
            parameters: UnsafeBufferPointer(rebasing: uniforms[offset..<offset + work[index].uniformCount]), at: tick)
        for position in 0..<count { gathered[position] = nil }
        let output = work[index].output
        slots[output] = made
        if let made, made.format != plan.slots[output] {
            slots[output] = nil
            starved.add(1, ordering: .relaxed)
        }
    }

    /// Points the image references at what the step reads. False when one of them has no frame.
    private func bindInputs(of index: Int) -> Bool {
        for (position, entry) in work[index].inputs.enumerated() {
            guard let frame = slots[slotTable[entry]] else { return false }
            images[position] = ImageReference(frame)
        }
        return true
    }

    func frame(forSink index: Int) -> Frame? { results[index] }
    func lastFrame(forSink index: Int) -> Frame? { delivered[index] }
    func replaceFrame(forSink index: Int, with frame: Frame) {
        results[index] = frame
        delivered[index] = frame
    }

    /// Computes a band of every pass off air, so that the first frame on air finds code, buffers and uniforms in place.
    func warm() {
        for (index, slot) in sourceSlots.enumerated() { if let slot { slots[slot] = blanks[index] } }
        for index in work.indices {
            guard let pass = work[index].pass, let frame = work[index].pool?.take(), bindInputs(of: index),
                let uniformBase = uniforms.baseAddress
            else { continue }
            slots[work[index].output] = frame
            pass.run(
                inputs: UnsafeBufferPointer(start: images.baseAddress, count: work[index].inputs.count),
                output: ImageReference(frame), uniforms: UnsafePointer(uniformBase + work[index].uniformOffset),
                context: FrameContext(time: 0, frame: 0), rows: 0..<min(frame.height, work[index].bandRows))
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
