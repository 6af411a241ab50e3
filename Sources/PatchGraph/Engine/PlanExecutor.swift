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
    let origin: PatchOrigin
    /// The open node behind each of the plan's sources and sinks.
    let sources: [Instance]
    let sinks: [Instance]
    /// The open node behind each of the plan's sounds.
    let sounds: [Instance]

    /// A step flattened for the frame path: indices into the tables below instead of arrays, so that a tick copies no
    /// array and touches no reference count but its frames'.
    struct Work {
        /// One of these three.
        var pass: CompiledPass?
        /// For the chroma planes, where they are computed apart.
        var chroma: CompiledPass?
        var processor: (any VideoProcessor)?
        var operation: (any NativeOperator)?
        /// The same operator, when it takes and gives frames.
        var frameOperation: (any FrameOperator)?
        var pool: FramePool?
        var inputs: Range<Int>
        var output: Int
        var releases: Range<Int>
        var uniformOffset = 0
        var rowAlignment = 1
        var isSeed = false
        var toleratesMissingInputs = false
        var ends: PassEnds?
        var data: OperatorData?
        /// The passes that run band by band, at the last one's place.
        var group: BandGroup?
        /// Runs in a group, at the place of its last step.
        var isGrouped = false
        /// Runs though nobody may need its picture, because its numbers are read.
        var isWatched = false
    }
    let work: UnsafeMutableBufferPointer<Work>
    /// Slot numbers that `Work.inputs` and `Work.releases` point into.
    let slotTable: UnsafeMutableBufferPointer<Int>
    let slots: UnsafeMutableBufferPointer<Frame?>
    /// Which picture of its source a slot holds; 0 where it is computed.
    let versions: UnsafeMutableBufferPointer<UInt64>
    let images: UnsafeMutableBufferPointer<ImageReference>
    /// Their slots' versions.
    let inputVersions: UnsafeMutableBufferPointer<UInt64>
    /// What a frame operator reads at a tick.
    let gathered: UnsafeMutableBufferPointer<Frame?>
    /// The chroma planes of the same.
    let chromaImages: UnsafeMutableBufferPointer<ImageReference>
    let uniforms: UnsafeMutableBufferPointer<Float>
    /// Uniforms as they were at the tick before, for sound, which goes from one value to the next within a block.
    let formerUniforms: UnsafeMutableBufferPointer<Float>
    /// Whether this tick's results depend on each slot.
    let needed: UnsafeMutableBufferPointer<Bool>
    /// What may be needed changes from tick to tick.
    let hasDemand: Bool
    let memories: FrameMemories
    /// Pools that the steps take frames from.
    let poolKeys: Set<PoolStore.Key>
    /// Stands in for an input that has no picture.
    let nothing: ImageReference
    private let nothingFrame: Frame
    /// No step lets a tick go without a picture, so that the one before need not be kept while the next is made.
    private let isSteady: Bool
    /// Nanoseconds that each step took in this tick; −1 for one that did not run.
    let durations: UnsafeMutableBufferPointer<Int64>
    let sourceSlots: [Int?]
    let sinkSlots: [Int?]
    /// The frame that each source showed last, in the planned format.
    private var held: [Frame?]
    /// Counts the pictures that each source has shown, from 1.
    private var heldVersions: [UInt64]
    /// Stand-ins for sources that have not delivered yet.
    let blanks: [Frame?]
    /// What this tick gives each sink; nil where nothing has come yet or a processor dropped the frame.
    private var results: [Frame?]
    /// The frame that each sink got last, for ticks that come too late to be rendered.
    private var delivered: [Frame?]
    private var ended: [Bool]
    private var reported: [VideoFormat?]

    /// How long each step took; the clock thread writes once a tick, statistics read.
    struct Meter {
        var frames: Int64 = 0
        var late: Int64 = 0
        var durations = Durations()
    }
    let meters: Mutex<[Meter]>
    /// Times that no buffer was free, or a processor returned a frame of the wrong format.
    let starved = Atomic<Int64>(0)

    init(
        plan: Plan, generation: Int, origin: PatchOrigin, sources: [Instance], sinks: [Instance],
        sounds: [Instance], pools store: PoolStore,
        workers: Int
    ) {
        self.plan = plan
        self.generation = generation
        self.origin = origin
        self.sources = sources
        self.sinks = sinks
        self.sounds = sounds
        var table: [Int] = []
        func place(_ slots: [Int]) -> Range<Int> {
            table += slots
            return table.count - slots.count..<table.count
        }
        var keys: Set<PoolStore.Key> = []
        func pool(_ slot: Int, owner: String? = nil, held: Int = 0) -> FramePool {
            // A frame or two more fit into the pool that all share.
            let isOwn = held > 8
            let key = PoolStore.Key(format: plan.slots[slot], owner: isOwn ? owner : nil, held: isOwn ? held : 0)
            keys.insert(key)
            return store.pool(key)
        }
        let all = plan.steps.map { step -> Work in
            var work = Work(inputs: place(step.inputs), output: step.output, releases: place(step.releases))
            switch step {
            case .pass(let pass):
                work.pass = pass.compiled
                work.chroma = pass.chroma
                work.pool = pool(pass.output, owner: pass.nodes.joined(separator: "+"), held: pass.heldFrames)
                work.uniformOffset = pass.uniformOffset
                work.rowAlignment = pass.rowAlignment
                work.isSeed = pass.isSeed
                work.ends = pass.ends
            case .process(let process): work.processor = process.processor
            case .operate(let operate):
                work.operation = operate.work
                work.frameOperation = operate.work as? any FrameOperator
                if work.frameOperation == nil { work.pool = pool(operate.output) }
                work.uniformOffset = operate.uniformOffset
                work.toleratesMissingInputs = operate.toleratesMissingInputs
                work.data = operate.data
                work.isWatched = operate.isWatched
            }
            return work
        }
        var steps = all
        for bands in plan.bands {
            let group = BandGroup(bands, plan: plan, workers: workers)
            for index in bands.steps.dropLast() { steps[index].isGrouped = true }
            let last = bands.steps.upperBound - 1
            steps[last].group = group
            steps[last].inputs = place(group.outside)
            // What members no longer need is needed until the group has run.
            steps[last].releases = place(bands.steps.flatMap { plan.steps[$0].releases })
            for index in bands.steps.dropLast() { steps[index].releases = 0..<0 }
        }
        poolKeys = keys
        isSteady = steps.allSatisfy { $0.processor == nil && $0.frameOperation == nil }
        hasDemand = steps.contains { $0.operation != nil || $0.ends != nil }
        let nothing = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        nothingFrame = nothing
        self.nothing = ImageReference(nothing)
        needed = .allocate(capacity: plan.slots.count)
        needed.initialize(repeating: true)
        memories = FrameMemories(plan.memories)
        work = .allocate(capacity: steps.count)
        _ = work.initialize(from: steps)
        slotTable = .allocate(capacity: table.count)
        _ = slotTable.initialize(from: table)
        slots = .allocate(capacity: plan.slots.count)
        slots.initialize(repeating: nil)
        versions = .allocate(capacity: plan.slots.count)
        versions.initialize(repeating: 0)
        images = .allocate(capacity: steps.map(\.inputs.count).max() ?? 0)
        images.initialize(repeating: ImageReference(nothing))
        inputVersions = .allocate(capacity: images.count)
        inputVersions.initialize(repeating: 0)
        gathered = .allocate(capacity: images.count)
        gathered.initialize(repeating: nil)
        chromaImages = .allocate(capacity: images.count)
        chromaImages.initialize(repeating: ImageReference(nothing))
        uniforms = .allocate(capacity: max(1, plan.uniformCount))
        uniforms.initialize(repeating: 0)
        for constant in plan.uniformConstants { uniforms[constant.offset] = constant.value }
        formerUniforms = .allocate(capacity: uniforms.count)
        formerUniforms.initialize(repeating: .nan)
        durations = .allocate(capacity: steps.count)
        durations.initialize(repeating: 0)
        sourceSlots = plan.sources.map(\.slot)
        sinkSlots = plan.sinks.map(\.slot)
        held = Array(repeating: nil, count: plan.sources.count)
        heldVersions = Array(repeating: 0, count: plan.sources.count)
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
        versions.deallocate()
        images.deallocate()
        inputVersions.deallocate()
        gathered.deinitialize().deallocate()
        chromaImages.deallocate()
        uniforms.deallocate()
        formerUniforms.deallocate()
        durations.deallocate()
        needed.deallocate()
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
        memories.inherit(from: other.memories)
        for (index, source) in plan.sources.enumerated() {
            for otherIndex in other.sources.indices where sources[index] === other.sources[otherIndex] {
                if let frame = other.held[otherIndex], frame.format == source.format { hold(frame, index) }
                ended[index] = other.ended[otherIndex]
            }
        }
        inheritSound(from: other)
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
                if let frame = lead.held[shared], frame.format == plan.sources[index].format { hold(frame, index) }
                continue
            }
            guard case .source(let source, _) = sources[index].body else { continue }
            switch source.frame(at: tick) {
            case .frame(let frame):
                if frame.format == plan.sources[index].format {
                    hold(frame, index)
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

    /// The frame that is held is not used again for another picture, so that the same object is the same picture.
    private func hold(_ frame: Frame, _ index: Int) {
        guard held[index] !== frame else { return }
        held[index] = frame
        heldVersions[index] += 1
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
        // A sink that is done with its last frame lets the next one have the memory, which is still in the cache.
        if isSteady, anyHeld { forgetResults() }
        for (index, slot) in sourceSlots.enumerated() {
            guard let slot else { continue }
            // A source that has not begun is blank where others are mixed with it, and absent where it is alone.
            slots[slot] = held[index] ?? (anyHeld ? blanks[index] : nil)
            versions[slot] = heldVersions[index]
        }
        memories.recall(into: slots)
        if hasDemand { findNeeded() }
        let context = FrameContext(time: tick.time.seconds, frame: tick.index)
        var start = monotonicNanoseconds()
        for index in work.indices {
            if needed[work[index].output], !work[index].isGrouped, run(index, tick, context, workers) {
                let end = monotonicNanoseconds()
                durations[index] = end - start
                start = end
            } else {
                durations[index] = -1
            }
            for release in work[index].releases { slots[slotTable[release]] = nil }
        }
        let limit = tick.isOffline ? .max : tick.duration.nanoseconds
        meters.withLock { meters in
            for index in durations.indices where durations[index] >= 0 {
                meters[index].frames += 1
                if durations[index] > limit { meters[index].late += 1 }
                meters[index].durations.add(durations[index])
            }
        }
        for (index, slot) in sinkSlots.enumerated() {
            guard let slot else { continue }
            results[index] = slots[slot]
            if let frame = slots[slot] { delivered[index] = frame }
        }
        memories.capture(from: slots)
        for slot in slots.indices { slots[slot] = nil }
    }

    private func forgetResults() {
        for (index, slot) in sinkSlots.enumerated() where slot != nil {
            results[index] = nil
            delivered[index] = nil
        }
    }

    func frame(forSink index: Int) -> Frame? { results[index] }
    func lastFrame(forSink index: Int) -> Frame? { delivered[index] }
    func replaceFrame(forSink index: Int, with frame: Frame) {
        results[index] = frame
        delivered[index] = frame
    }
}
