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
    /// Rows of the output, and rows a band (a multiple of the pass's row alignment).
    var rows: Int
    var bandRows: Int
    /// The chroma planes' share of the same bands, where they are computed apart.
    var chroma: ChromaJob?

    package init(
        pass: CompiledPass, inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference,
        uniforms: UnsafePointer<Float>, context: FrameContext, rows: Int, bandRows: Int
    ) {
        self.pass = pass
        self.inputs = inputs
        self.output = output
        self.uniforms = uniforms
        self.context = context
        self.rows = rows
        self.bandRows = bandRows
    }

    package func run(band: Int) {
        let first = band * bandRows
        pass.run(
            inputs: inputs, output: output, uniforms: uniforms, context: context,
            rows: first..<min(rows, first + bandRows))
        chroma?.run(self, first..<min(rows, first + bandRows))
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
/// Bands are claimed by an atomic counter, so that a thread that is slow takes fewer. The result does not depend on the
/// number of threads, because each row is computed alone.
/// Thread-safety: `run` from one thread at a time.
package final class Workers: @unchecked Sendable {
    // Unchecked: `job` is written by the caller of `run` while no worker is inside `work` (active == 0 and the
    // generation not yet raised), and read by workers after they saw the new generation; so is what it points to.
    private struct Gate {
        var generation = 0
        var stopping = false
    }

    private let gate = Monitor(Gate())
    private let done = Monitor(0)
    private let nextBand = Atomic(0)
    private let bandCount = Atomic(0)
    private let active = Atomic(0)
    /// Lives on the stack of the caller of `run`, which returns when nobody needs it any more.
    private var job: UnsafeRawPointer?
    private var jobType: any BandWork.Type = BandJob.self
    private var threads: [PosixThread] = []

    /// Render threads including the caller's own.
    let count: Int

    /// Below this many output pixels a pass runs on the caller alone: waking a thread costs more.
    static let smallestShared = 64 * 1024

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
        let bands = (job.rows + job.bandRows - 1) / job.bandRows
        run(job, bands: bands, isSmall: job.rows * job.output.width < Self.smallestShared)
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
            active.store(count, ordering: .releasing)
            gate.notify { $0.generation &+= 1 }
            doBands(UnsafeRawPointer(pointer), Work.self)
            finishOne()
            // The others are inside their last band: a short spin beats a sleep, a long one would steal their core.
            var spins = 0
            while active.load(ordering: .acquiring) > 0 {
                spins += 1
                if spins > 2000 {
                    _ = done.wait { [self] _ in active.load(ordering: .acquiring) == 0 ? true : nil }
                    break
                }
            }
            job = nil
        }
    }

    private func doBands(_ job: UnsafeRawPointer, _ type: any BandWork.Type) {
        let bands = bandCount.load(ordering: .relaxed)
        while true {
            let band = nextBand.add(1, ordering: .relaxed).oldValue
            guard band < bands else { return }
            type.run(at: job, band: band)
        }
    }

    private func finishOne() {
        if active.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.notify { $0 &+= 1 } }
    }

    private func loop() {
        var seen = 0
        while true {
            let stopping = gate.wait { gate -> Bool? in
                if gate.stopping { return true }
                guard gate.generation != seen else { return nil }
                seen = gate.generation
                return false
            }
            if stopping ?? true { return }
            if let job { doBands(job, jobType) }
            finishOne()
        }
    }

    /// Ends the threads. `run` must not be called afterwards.
    package func stop() {
        gate.notify { $0.stopping = true }
        for thread in threads { thread.join() }
    }
}
