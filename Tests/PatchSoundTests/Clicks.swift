import Glibc
import PatchGraph
import PatchMedia

/// A detector of clicks whose limit comes from the sounds themselves.
///
/// A click is a bend: x[n−1] − 2 x[n] + x[n+1] that is sharper than what the sounds bend by. Where y fades to z along a raised
/// cosine w of L samples, the second difference of y + w (z − y) is at most that of the sharper one, plus 2 w′ times the
/// difference of slopes, plus w″ times the difference of values: w′ ≤ π / 2L, w″ ≤ π² / 2L².
struct ClickLimit {
    private(set) var bend: Float = 0
    private(set) var slope: Float = 0
    private(set) var peak: Float = 0

    /// - Parameter steady: what is heard of each state that the sound may be in, while nothing changes, by channel.
    init(_ steady: [[Float]]) {
        for samples in steady {
            bend = max(bend, sharpestBend(samples))
            peak = max(peak, samples.reduce(0) { max($0, abs($1)) })
            for (a, b) in zip(samples, samples.dropFirst()) { slope = max(slope, abs(b - a)) }
        }
    }

    /// The sharpest bend of a gain that moves in straight lines of `length` samples, with corners where two of them meet.
    func moving(over length: Int) -> Float { bend + 2 * (slope + peak) / Float(length) }

    /// The sharpest bend that fades over `length` samples may have.
    /// - Parameter nested: fades that may follow each other on the way, each over all of it.
    func fading(over length: Int, nested: Int = 1) -> Float {
        let (rate, turn) = (Float.pi / (2 * Float(length)), Float.pi * Float.pi / (2 * Float(length * length)))
        // The values and slopes of both sides may be opposite.
        return bend + Float(nested) * (2 * rate * 2 * slope + turn * 2 * peak)
    }
}

/// The sharpest bend of a curve: max |x[n−1] − 2 x[n] + x[n+1]|, which a click makes large.
func sharpestBend(_ samples: [Float]) -> Float {
    var worst: Float = 0
    for index in 1..<max(2, samples.count - 1) where index + 1 < samples.count {
        worst = max(worst, abs(samples[index - 1] - 2 * samples[index] + samples[index + 1]))
    }
    return worst
}

/// Where a curve bends more sharply than `limit`: the sample and by how much, the worst ten.
func clicks(_ samples: [Float], above limit: Float) -> [(sample: Int, bend: Float)] {
    var found: [(sample: Int, bend: Float)] = []
    for index in 1..<max(2, samples.count - 1) where index + 1 < samples.count {
        let bend = abs(samples[index - 1] - 2 * samples[index] + samples[index + 1])
        if bend > limit { found.append((index, bend)) }
    }
    return Array(found.sorted { $0.bend > $1.bend }.prefix(10))
}

extension SoundRun {
    /// What the listener hears when `edit` is asked before each tick for the patch that comes on air at it; nil leaves all as it
    /// is. By the virtual clock, so that each run is the same.
    func heard(ticks: Int64, edit: @escaping @Sendable (Engine, Int64) throws -> Void) throws -> [[Float]] {
        let hook = EditHook(edit)
        let engine = try engine(frames: ticks) { hook.run(at: $0.index) }
        hook.engine = engine
        try engine.load(patch)
        try engine.start()
        guard engine.waitUntilFinished(deadline: monotonicNanoseconds() + 120_000_000_000) else {
            throw PatchError(.graph, "the run did not end")
        }
        engine.stop()
        if let problem = hook.problem { throw problem }
        return listener.samples
    }
}

/// Edits on the clock thread, between ticks.
private final class EditHook: @unchecked Sendable {
    // Unchecked: set before the engine starts, then used by its clock thread alone; read again when it has stopped.
    weak var engine: Engine?
    var problem: (any Error)?
    private let edit: @Sendable (Engine, Int64) throws -> Void

    init(_ edit: @escaping @Sendable (Engine, Int64) throws -> Void) { self.edit = edit }

    func run(at tick: Int64) {
        guard let engine, problem == nil else { return }
        do { try edit(engine, tick) } catch { problem = error }
    }
}
