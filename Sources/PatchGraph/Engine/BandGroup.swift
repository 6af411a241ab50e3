import PatchKernel
import PatchMedia
import Synchronization

/// Passes that run one after another over a band of rows before the next band begins, so that what they hand on stays in the
/// cache: only the last one's picture is ever whole. A band computes what later passes need around it too; neighbouring bands
/// compute those rows again, to the same values.
///
/// Thread-safety: `run(band:)` from the render threads; everything else from the thread that renders.
final class BandGroup: @unchecked Sendable {
    // Unchecked: everything is written in init, but for what a thread has claimed in `free` (its own), and `bound`, which the
    // clock thread fills before the workers begin.

    /// One pass of the group.
    private struct Member {
        var pass: CompiledPass
        var chroma: CompiledPass?
        /// Entries of `pictures`.
        var inputs: Range<Int>
        var output: Int
        var uniformOffset: Int
        var margin: BandMargin
    }
    /// What members read and write: a picture from outside, a band of one that is never whole, or the result.
    private enum Place {
        case outside(Int)
        case scratch(Int)
        case result
    }

    private let members: UnsafeMutableBufferPointer<Member>
    private let pictures: UnsafeMutableBufferPointer<(place: Place, format: PixelFormat)>
    private let margins: UnsafeMutableBufferPointer<BandMargin>
    /// Frames for bands, `scratchCount` for each thread, and image references, `mostInputs` twice for each thread.
    private let frames: UnsafeMutableBufferPointer<Frame>
    private let references: UnsafeMutableBufferPointer<ImageReference>
    private let scratchCount: Int
    private let mostInputs: Int
    private let width: Int
    private let height: Int
    let bandRows: Int
    /// Slots that the group reads.
    let outside: [Int]
    /// A bit for each thread's share that nobody uses.
    private let free: Atomic<UInt64>

    /// Rows below a band that a pass may read (and not use) because it works on several rows at a time.
    private static let slack = 8

    init(_ bands: PlanBands, plan: Plan, workers: Int) {
        bandRows = bands.rows
        let passes = bands.steps.compactMap { index -> PlanPass? in
            if case .pass(let pass) = plan.steps[index] { pass } else { nil }
        }
        let result = passes[passes.count - 1].output
        let inner = passes.dropLast().map(\.output)
        var outside: [Int] = []
        var pictures: [(place: Place, format: PixelFormat)] = []
        func place(_ slot: Int) -> Int {
            let place: Place
            if slot == result {
                place = .result
            } else if let index = inner.firstIndex(of: slot) {
                place = .scratch(index)
            } else {
                if !outside.contains(slot) { outside.append(slot) }
                place = .outside(outside.firstIndex(of: slot) ?? 0)
            }
            pictures.append((place, plan.slots[slot].pixelFormat))
            return pictures.count - 1
        }
        let members = zip(passes, bands.margins).map { pass, margin -> Member in
            let first = pictures.count
            for slot in pass.inputs { _ = place(slot) }
            return Member(
                pass: pass.compiled, chroma: pass.chroma, inputs: first..<first + pass.inputs.count,
                output: place(pass.output), uniformOffset: pass.uniformOffset, margin: margin)
        }
        self.outside = outside
        self.members = .allocate(capacity: members.count)
        _ = self.members.initialize(from: members)
        self.pictures = .allocate(capacity: pictures.count)
        _ = self.pictures.initialize(from: pictures)
        margins = .allocate(capacity: bands.margins.count)
        _ = margins.initialize(from: bands.margins)
        scratchCount = inner.count
        let mostInputs = passes.map(\.inputs.count).max() ?? 0
        self.mostInputs = mostInputs
        (width, height) = (plan.slots[result].width, plan.slots[result].height)
        let threads = max(1, min(64, workers))
        var scratch: [Frame] = []
        for _ in 0..<threads {
            for (index, slot) in inner.enumerated() {
                var format = plan.slots[slot]
                let margin = bands.margins[index]
                let rows = bands.rows + margin.up + margin.down + Self.slack
                let chromaRows = (bands.rows + 1) / 2 + margin.chromaUp + margin.chromaDown + Self.slack
                format.height = format.pixelFormat.log2ChromaHeight > 0 ? max(rows, 2 * chromaRows) : rows
                scratch.append(Frame(allocating: format))
            }
        }
        frames = .allocate(capacity: scratch.count)
        _ = frames.initialize(from: scratch)
        let nothing = ImageReference(scratch[0])
        references = .allocate(capacity: threads * 2 * mostInputs)
        references.initialize(repeating: nothing)
        free = Atomic(threads == 64 ? .max : (1 << UInt64(threads)) - 1)
    }

    deinit {
        members.deinitialize().deallocate()
        pictures.deinitialize().deallocate()
        margins.deallocate()
        frames.deinitialize().deallocate()
        references.deallocate()
    }

    var bandCount: Int { (height + bandRows - 1) / bandRows }

    // MARK: A band

    private func claim() -> Int {
        while true {
            let now = free.load(ordering: .relaxed)
            // As many shares as threads: one is always free.
            guard now != 0 else { continue }
            let share = now.trailingZeroBitCount
            if free.compareExchange(
                expected: now, desired: now & ~(1 << UInt64(share)), ordering: .acquiring
            ).exchanged {
                return share
            }
        }
    }

    fileprivate func run(band: Int, _ job: BandGroupJob) {
        let share = claim()
        defer { _ = free.bitwiseOr(1 << UInt64(share), ordering: .releasing) }
        let rows = band * bandRows..<min(height, (band + 1) * bandRows)
        for index in members.indices { run(index, rows, share, job) }
    }

    private func run(_ index: Int, _ rows: Range<Int>, _ share: Int, _ job: BandGroupJob) {
        let margin = members[index].margin
        let inputs = members[index].inputs
        let first = share * 2 * mostInputs
        for (position, picture) in inputs.enumerated() {
            references[first + position] = reference(picture, rows, share, job)
        }
        let output = reference(members[index].output, rows, share, job)
        let uniforms = job.uniforms + members[index].uniformOffset
        members[index].pass.run(
            inputs: UnsafeBufferPointer(rebasing: references[first..<first + inputs.count]), output: output,
            uniforms: uniforms, context: job.context,
            rows: max(0, rows.lowerBound - margin.up)..<min(height, rows.upperBound + margin.down))
        guard let chroma = members[index].chroma else { return }
        let planes = chroma.description.planes
        let chromaFirst = first + mostInputs
        for (position, picture) in inputs.enumerated() {
            references[chromaFirst + position] = references[first + position].showing(
                planes, of: pictures[picture].format)
        }
        let target = output.showing(planes, of: pictures[members[index].output].format)
        // Every chroma row belongs to the band that has its first row.
        func row(_ at: Int) -> Int { (at + (1 << planes.log2Height) - 1) >> planes.log2Height }
        let end = rows.upperBound == height ? target.height : row(rows.upperBound)
        let from = max(0, row(rows.lowerBound) - margin.chromaUp)
        let to = min(target.height, end + margin.chromaDown)
        guard from < to else { return }
        chroma.run(
            inputs: UnsafeBufferPointer(rebasing: references[chromaFirst..<chromaFirst + inputs.count]), output: target,
            uniforms: uniforms, context: job.context, rows: from..<to)
    }

    /// A picture as the passes see it: a band of scratch memory stands where its rows would be in a whole picture.
    private func reference(_ picture: Int, _ rows: Range<Int>, _ share: Int, _ job: BandGroupJob) -> ImageReference {
        switch pictures[picture].place {
        case .outside(let index): return job.outside[index]
        case .result: return job.output
        case .scratch(let index):
            let frame = frames[share * scratchCount + index]
            let format = pictures[picture].format
            let margin = margins[index]
            var planes = frame.planes
            let first = rows.lowerBound - margin.up
            let firstChroma = rows.lowerBound >> format.log2ChromaHeight - margin.chromaUp
            planes.0.base -= first * planes.0.stride
            let others = format.log2ChromaHeight > 0 ? firstChroma : first
            planes.1.base -= others * planes.1.stride
            planes.2.base -= others * planes.2.stride
            planes.3.base -= first * planes.3.stride
            return ImageReference(planes: planes, width: width, height: height)
        }
    }
}

/// A group's work at one tick.
struct BandGroupJob: BandWork {
    let group: BandGroup
    /// One for each slot that the group reads.
    let outside: UnsafeBufferPointer<ImageReference>
    let output: ImageReference
    /// Of the whole plan.
    let uniforms: UnsafePointer<Float>
    let context: FrameContext

    func run(band: Int) { group.run(band: band, self) }
}
