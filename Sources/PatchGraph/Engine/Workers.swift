import Glibc
import PatchKernel
import PatchMedia
import Synchronization

/// Work that is cut into bands, which the render threads share.
///
/// Thread-safety: `run` is called on several threads at a time, once for each band.
public protocol BandWork {
    /// Does one band; must not allocate, lock or wait.
    func run(band: Int)
}

extension BandWork {
    /// Calls the work behind a pointer whose type the workers have forgotten.
    fileprivate static func run(at pointer: UnsafeRawPointer, band: Int) {
        pointer.assumingMemoryBound(to: Self.self).pointee.run(band: band)
    }
}

/// One pass, ready to run: what the workers share while they work on it.
package struct BandJob: BandWork {
    var pass: CompiledPass
    var inputs: UnsafeBufferPointer<ImageReference>
    var output: ImageReference
    var uniforms: UnsafePointer<Float>
    var context: FrameContext
    /// Rows of the output.
    var rows: Int
    private let bands: RowBands
    /// The chroma planes' share of the same bands, where they are computed apart.
    var chroma: ChromaJob?

    /// - Parameters:
    ///   - alignment: bands begin on a multiple of this row: the pass's, or that of the passes for luma and chroma.
    ///   - threads: which share the bands.
    package init(
        pass: CompiledPass, inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference,
        uniforms: UnsafePointer<Float>, context: FrameContext, alignment: Int, threads: Int
    ) {
        self.pass = pass
        self.inputs = inputs
        self.output = output
        self.uniforms = uniforms
        self.context = context
        rows = output.height
        bands = RowBands(rows: rows, alignment: alignment, threads: threads)
    }

    var bandCount: Int { bands.count }
    package func run(band: Int) { run(rows: bands[band]) }
    /// All of it, on the caller's thread.
    func runWhole() { run(rows: 0..<rows) }

    private func run(rows: Range<Int>) {
        guard !rows.isEmpty else { return }
        pass.run(inputs: inputs, output: output, uniforms: uniforms, context: context, rows: rows)
        chroma?.run(self, rows)
    }
}

/// A pass over chroma planes that goes along with one over luma.
struct ChromaJob {
    var pass: CompiledPass
    var inputs: UnsafeBufferPointer<ImageReference>
    var output: ImageReference

    /// - Parameter rows: the picture's.
    func run(_ job: BandJob, _ rows: Range<Int>) {
        // Every chroma row belongs to the band that has its first row.
        let log2Rows = pass.description.planes.log2Height
        func row(_ at: Int) -> Int { (at + (1 << log2Rows) - 1) >> log2Rows }
        let first = row(rows.lowerBound)
        let last = rows.upperBound == job.rows ? output.height : row(rows.upperBound)
        guard first < last else { return }
        pass.run(inputs: inputs, output: output, uniforms: job.uniforms, context: job.context, rows: first..<last)
    }
}

/// The render threads. The clock thread calls `run`, works along, and returns when every band is done.
///
/// Bands are claimed by an atomic counter, so that a thread that is slow takes fewer, and nobody waits for a thread that
/// has not come: a job is closed when its bands are given out, and who wakes too late finds it closed. The result does
/// not depend on the number of threads, because each row is computed alone.
/// Thread-safety: `run` from one thread at a time.
package final class Workers: @unchecked Sendable {
    // Unchecked: `job` is written by the caller of `run` while the door is closed and nobody is inside, and read by
    // workers after they came in through the open door; so is what it points to.

    /// The door to the job at hand: the number of the job, whether it takes workers in, and how many are inside.
    private struct Door {
        static let open = 1 << 16
        static let nextJob = 1 << 17
        var word: Int
        var isOpen: Bool { word & Self.open != 0 }
        var inside: Int { word & (Self.open - 1) }
        var job: Int { word & ~(Self.nextJob - 1) }
    }

    private let door = Atomic(0)
    private let nextBand = Atomic(0)
    private let bandCount = Atomic(0)
    /// Workers that wait for `bell`, or are about to.
    private let sleeping = Atomic(0)
    /// Holds whether the workers are to stop.
    private let bell = Monitor(false)
    private let left = Monitor(())
    /// Lives on the stack of the caller of `run`, which returns when nobody needs it any more.
    private var job: UnsafeRawPointer?
    private var jobType: any BandWork.Type = BandJob.self
    private var threads: [PosixThread] = []

    /// Render threads including the caller's own.
    let count: Int

    /// Below this many output pixels a pass runs on the caller alone: waking a thread costs more.
    static let smallestShared = 64 * 1024

    /// Looks at the door before a worker goes to sleep, about 20 µs: the next pass of a tick mostly comes sooner, and
    /// waking a thread takes as long as a small pass.
    private static let looksBeforeSleep = 20_000
    /// Looks before the caller sleeps: the others are inside their last band; a long spin would steal their core.
    private static let looksForLast = 2000

    /// - Parameter cores: one for each thread, the caller's own (who ties himself) first; empty lets the system choose.
    package init(count: Int, cores: [Int] = []) throws {
        self.count = max(1, min(64, count))
        for index in 1..<max(1, self.count) {
            let core = cores.isEmpty ? nil : cores[index % cores.count]
            threads.append(
                try PosixThread(name: "patch-render-\(index)", niceness: -5) { [unowned self] in
                    if let core { Affinity.pin(toCore: core) }
                    self.loop()
                })
        }
    }

    /// Computes all rows of the job's output.
    package func run(_ job: BandJob) {
        if count == 1 || job.rows * job.output.width < Self.smallestShared { return job.runWhole() }
        run(job, bands: job.bandCount, isSmall: false)
    }

    /// Does all bands of the work.
    /// - Parameter isSmall: the caller does it alone, because waking a thread costs more.
    func run<Work: BandWork>(_ work: Work, bands: Int, isSmall: Bool) {
        if count == 1 || bands <= 1 || isSmall {
            for band in 0..<max(0, bands) { work.run(band: band) }
            return
        }
        withUnsafePointer(to: work) { pointer in
            job = UnsafeRawPointer(pointer)
            jobType = Work.self
            nextBand.store(0, ordering: .relaxed)
            bandCount.store(bands, ordering: .relaxed)
            let number = Door(word: door.load(ordering: .relaxed)).job &+ Door.nextJob
            // In one order with `sleeping`: a worker either sees the open door, or is seen to sleep.
            door.store(number | Door.open, ordering: .sequentiallyConsistent)
            if sleeping.load(ordering: .sequentiallyConsistent) > 0 { bell.notify { _ in } }
            doBands(UnsafeRawPointer(pointer), Work.self)
            close()
            job = nil
        }
    }

    /// Lets nobody in any more, and waits for those inside.
    private func close() {
        door.bitwiseAnd(~Door.open, ordering: .acquiringAndReleasing)
        for _ in 0..<Self.looksForLast where Door(word: door.load(ordering: .acquiring)).inside == 0 { return }
        _ = left.wait { [self] _ in Door(word: door.load(ordering: .acquiring)).inside == 0 ? true : nil }
    }

    private func doBands(_ job: UnsafeRawPointer, _ type: any BandWork.Type) {
        let bands = bandCount.load(ordering: .relaxed)
        while true {
            let band = nextBand.add(1, ordering: .relaxed).oldValue
            guard band < bands else { return }
            type.run(at: job, band: band)
        }
    }

    /// Works on the job behind the door if it is still open.
    private func enter() {
        var seen = Door(word: door.load(ordering: .relaxed))
        while seen.isOpen {
            let (exchanged, found) = door.weakCompareExchange(
                expected: seen.word, desired: seen.word + 1, ordering: .acquiringAndReleasing)
            guard exchanged else {
                seen = Door(word: found)
                continue
            }
            if let job { doBands(job, jobType) }
            let now = Door(word: door.subtract(1, ordering: .acquiringAndReleasing).newValue)
            if !now.isOpen, now.inside == 0 { left.notify { _ in } }
            return
        }
    }

    private func loop() {
        var last = 0
        while wait(after: last) {
            last = Door(word: door.load(ordering: .relaxed)).job
            enter()
        }
    }

    /// Waits for a job other than the last. Returns false when there will be none.
    private func wait(after last: Int) -> Bool {
        for _ in 0..<Self.looksBeforeSleep
        where Door(word: door.load(ordering: .relaxed)).job != last { return true }
        sleeping.add(1, ordering: .sequentiallyConsistent)
        defer { sleeping.subtract(1, ordering: .relaxed) }
        return bell.wait { [self] isStopping -> Bool? in
            if isStopping { return false }
            return Door(word: door.load(ordering: .sequentiallyConsistent)).job != last ? true : nil
        } ?? false
    }

    /// Ends the threads. `run` must not be called afterwards.
    package func stop() {
        bell.notify { $0 = true }
        for thread in threads { thread.join() }
    }
}
