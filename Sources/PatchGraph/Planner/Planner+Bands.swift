import PatchKernel
import PatchMedia

/// Consecutive passes that go over the picture together, band by band: what lies between them is never whole.
public struct PlanBands: Sendable {
    /// All passes; only the last one's picture is read from outside.
    public let steps: Range<Int>
    /// Rows of the last picture in a band.
    public let rows: Int
    /// For each step: how far beyond the band it computes.
    let margins: [BandMargin]
}

/// Rows above and below a band that a pass computes for those after it; of subsampled chroma in its own rows.
struct BandMargin: Sendable, Equatable {
    var up = 0
    var down = 0
    var chromaUp = 0
    var chromaDown = 0
}

extension Planner {
    /// Bytes of pictures between passes from which on bands were measured to pay; the same on every machine, so that a graph
    /// has one plan (docs/decisions/bands.md).
    static let leastBytes = 16 << 20
    /// Bytes that a thread's bands may take.
    static let bandBytes = 4 << 20
    /// Rows that a band has at least and at most.
    static let bandRows = 32...256
    /// The share of rows that may be computed twice.
    static let mostOverlap = 0.15

    /// Finds the groups of passes that pay to be run band by band.
    mutating func formBands() {
        guard bandRule != .never else { return }
        var kept = Set(plan.sinks.compactMap(\.slot))
        for memory in plan.memories { kept.insert(memory.source) }
        var lastReader: [Int: Int] = [:]
        for (index, step) in plan.steps.enumerated() { for slot in step.inputs { lastReader[slot] = index } }
        var end = plan.steps.count
        while end > 1 {
            guard let bands = group(endingAt: end - 1, kept: kept, lastReader: lastReader) else {
                end -= 1
                continue
            }
            plan.bands.append(bands)
            end = bands.steps.lowerBound
        }
        plan.bands.reverse()
    }

    /// The longest group whose last step this is, or nil when it is none or does not pay.
    private func group(endingAt last: Int, kept: Set<Int>, lastReader: [Int: Int]) -> PlanBands? {
        guard case .pass(let result) = plan.steps[last], isPlain(result) else { return nil }
        let size = plan.slots[result.output]
        var margins = [BandMargin()]
        var first = last
        var best: PlanBands?
        while first > 0, case .pass(let pass) = plan.steps[first - 1], isPlain(pass), pass.heldFrames == 0 {
            let format = plan.slots[pass.output]
            guard pass.compiled.rowAlignment == 1, pass.chroma?.rowAlignment ?? 1 == 1,
                !kept.contains(pass.output), let reader = lastReader[pass.output], reader <= last,
                format.width == size.width, format.height == size.height, format.orientation == .identity
            else { break }
            var margin = BandMargin()
            var isBounded = true
            for index in first...reader where isBounded {
                guard case .pass(let consumer) = plan.steps[index], consumer.inputs.contains(pass.output) else {
                    continue
                }
                isBounded = margin.include(consumer, of: pass.output, format, margins[index - first])
            }
            guard isBounded else { break }
            margins.insert(margin, at: 0)
            first -= 1
            if let rows = rows(first...last, margins, size) {
                best = PlanBands(steps: first..<last + 1, rows: rows, margins: margins)
            }
        }
        return best
    }

    private func isPlain(_ pass: PlanPass) -> Bool { !pass.isSeed && pass.ends == nil }

    /// How many rows a band should have, or nil where bands do not pay.
    private func rows(_ steps: ClosedRange<Int>, _ margins: [BandMargin], _ size: VideoFormat) -> Int? {
        var rowBytes = 0
        var work = 0.0
        var extra = 0.0
        var alignment = 2
        for (index, margin) in zip(steps, margins) {
            guard case .pass(let pass) = plan.steps[index] else { return nil }
            let format = plan.slots[pass.output]
            if index != steps.upperBound { rowBytes += (format.bytes + format.height - 1) / format.height }
            let cost = Double(pass.compiled.description.kernel.valueCount)
            work += cost
            extra += cost * Double(margin.up + margin.down)
            alignment = max(alignment, pass.rowAlignment)
        }
        if case .always(let rows) = bandRule { return max(alignment, rows / alignment * alignment) }
        guard rowBytes * size.height > Self.leastBytes else { return nil }
        let fitting = min(Self.bandRows.upperBound, Self.bandBytes / max(1, rowBytes)) / alignment * alignment
        guard fitting >= Self.bandRows.lowerBound, fitting < size.height / 2 else { return nil }
        return extra / (work * Double(fitting)) <= Self.mostOverlap ? fitting : nil
    }
}

/// Whether passes run band by band: by the rule, never, or always with so many rows. For tests and measurements.
package enum BandRule: Hashable, Sendable {
    case measured
    case never
    case always(rows: Int)
}

extension BandMargin {
    /// Widens by what a pass reads of a picture around its own band; false when that is not known.
    fileprivate mutating func include(
        _ consumer: PlanPass, of slot: Int, _ format: VideoFormat, _ reader: BandMargin
    ) -> Bool {
        for (position, input) in consumer.inputs.enumerated() where input == slot {
            let kernel = consumer.compiled.description.kernel
            guard consumer.compiled.description.inputs[position].orientation == .identity,
                let (above, below) = kernel.rowReach(ofInput: position)
            else { return false }
            up = max(up, reader.up + above)
            down = max(down, reader.down + below)
            guard format.pixelFormat.log2ChromaHeight > 0 else {
                chromaUp = max(chromaUp, consumer.chroma == nil ? reader.up + above : reader.chromaUp + above)
                chromaDown = max(chromaDown, consumer.chroma == nil ? reader.down + below : reader.chromaDown + below)
                // Luma and chroma have as many rows: one margin serves both.
                up = max(up, chromaUp)
                down = max(down, chromaDown)
                (chromaUp, chromaDown) = (up, down)
                continue
            }
            if consumer.chroma != nil {
                chromaUp = max(chromaUp, reader.chromaUp + (above + 1) / 2)
                chromaDown = max(chromaDown, reader.chromaDown + (below + 1) / 2)
            } else {
                // Whole pixels read the chroma rows on both sides.
                chromaUp = max(chromaUp, (reader.up + above + 1) / 2 + 1)
                chromaDown = max(chromaDown, (reader.down + below + 1) / 2 + 1)
            }
        }
        return true
    }
}
