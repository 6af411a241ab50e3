import PatchGraph
import PatchKernel
import PatchMedia

/// Rows of one plane of a slot's picture, at the size that they have on the canvas: as they lie there, halved, or resampled.
///
/// Vertically first, in 16-bit samples, then along the row by tables that are made when the slot moves.
/// Thread-safety: `aim` before the bands of a tick; `read` by several threads at once, each with scratch of its own.
final class PlaneReader: @unchecked Sendable {
    // Unchecked: see above.

    /// Of the plane, in pixels of the picture a sample.
    struct Step {
        var x: Int
        var y: Int
    }
    /// Where samples are wanted: `columns` × `rows` of them, each `step` pixels of the canvas, from pixel (x, y) on.
    struct Target {
        var x: Int
        var y: Int
        var step: Step
        var columns: Int
        var rows: Int
    }
    private enum Way { case copied, halved, resampled }

    private let code: RowCode.Resizing
    private let width: Int
    private let height: Int
    let components: Int
    private let step: Step
    private let columns: AxisTable
    private let rows: AxisTable
    /// The columns' weights as `RowCode` reads them.
    private let pairs: UnsafeMutablePointer<Int16>
    private let firsts: UnsafeMutablePointer<Int32>
    private let rowWeights: UnsafeMutablePointer<UInt16>
    private let pairCapacity: Int
    private let rowCapacity: Int

    private var plane = Plane(base: UnsafeMutableRawPointer(bitPattern: 64)!, stride: 0)
    private var way = Way.copied
    /// Where the first sample lies, unless it is resampled.
    private(set) var origin = (x: 0, y: 0)
    private(set) var target = Target(x: 0, y: 0, step: Step(x: 1, y: 1), columns: 0, rows: 0)
    /// The samples lie in the plane as they are wanted.
    var isCopied: Bool { way == .copied }

    /// - Parameters:
    ///   - width, height: of the plane, in samples.
    ///   - canvas: the most samples that will be wanted.
    init(
        code: RowCode.Resizing, width: Int, height: Int, components: Int, step: Step,
        canvas: (width: Int, height: Int)
    ) {
        (self.code, self.width, self.height) = (code, width, height)
        (self.components, self.step) = (components, step)
        columns = AxisTable(positions: canvas.width, samples: width, total: 16384)
        rows = AxisTable(positions: canvas.height, samples: height, total: 32768)
        pairCapacity = 2 * width + 8 * canvas.width + 16
        pairs = .allocate(capacity: pairCapacity)
        pairs.initialize(repeating: 0, count: pairCapacity)
        firsts = .allocate(capacity: max(1, canvas.width))
        firsts.initialize(repeating: 0, count: max(1, canvas.width))
        rowCapacity = 2 * height + 8 * canvas.height + 16
        rowWeights = .allocate(capacity: rowCapacity)
        rowWeights.initialize(repeating: 0, count: rowCapacity)
    }

    deinit {
        pairs.deallocate()
        firsts.deallocate()
        rowWeights.deallocate()
    }

    /// The first sample, where they are copied.
    var view: Plane {
        Plane(base: plane.row(origin.y) + origin.x * components, stride: plane.stride)
    }

    /// Bytes of scratch that `read` needs for a row, and pointers to rows.
    var scratchBytes: Int { (2 * width + 16) * components * 2 }
    var scratchRows: Int { height + 8 }

    /// - Parameters:
    ///   - source: what of the picture is shown, in its pixels, and `picture` where on the canvas.
    func aim(at plane: Plane, source: MixerRect, picture: MixerRect, target: Target) {
        self.plane = plane
        self.target = target
        func axis(
            _ low: Float, _ high: Float, _ left: Float, _ right: Float, _ from: Int, _ canvasStep: Int, _ step: Int,
            _ count: Int, _ limit: Int
        ) -> AxisTable.Request {
            let scale = Double(high - low) / Double(right - left) / Double(step)
            let (begin, span) = (Double(low) / Double(step), Double(canvasStep) * scale)
            return AxisTable.Request(
                origin: begin + (Double(from) - Double(left)) * scale + span / 2, step: span, count: count, low: begin,
                high: Double(high) / Double(step), limit: limit)
        }
        let x = axis(
            source.x0, source.x1, picture.x0, picture.x1, target.x, target.step.x, step.x, target.columns, width)
        let y = axis(source.y0, source.y1, picture.y0, picture.y1, target.y, target.step.y, step.y, target.rows, height)
        for (factor, way) in [(1, Way.copied), (2, Way.halved)] {
            if let first = whole(x, factor), let top = whole(y, factor) {
                self.way = way
                origin = (first, top)
                return
            }
        }
        way = .resampled
        origin = (0, 0)
        if columns.update(x) { pairColumns() }
        if rows.update(y) {
            for index in 0..<min(rowCapacity, rows.count * rows.taps) {
                rowWeights[index] = UInt16(rows.weights[index])
            }
        }
    }

    /// The first sample, when each position is `factor` whole samples.
    private func whole(_ axis: AxisTable.Request, _ factor: Int) -> Int? {
        let first = axis.origin - Double(factor) / 2
        guard axis.step == Double(factor), first == first.rounded(), first >= axis.low.rounded(.down),
            first >= 0, Int(first) + axis.count * factor <= axis.limit,
            first + Double(axis.count * factor) <= axis.high.rounded(.up)
        else { return nil }
        return Int(first)
    }

    private func pairColumns() {
        let (count, taps, begin) = (columns.count, columns.taps, columns.span.lowerBound)
        for x in 0..<count {
            firsts[x] = Int32((Int(columns.first[x]) - begin) * components)
            for tap in 0..<taps where 2 * (tap / 2 * count + x) + tap % 2 < pairCapacity {
                pairs[2 * (tap / 2 * count + x) + tap % 2] = Int16(columns.weights[x * taps + tap])
            }
        }
    }

    /// Writes row `y` of what is wanted.
    func read(_ y: Int, into to: UnsafeMutableRawPointer, _ scratch: MixerScratch.Slot) {
        switch way {
        case .copied:
            to.copyMemory(
                from: plane.row(origin.y + y) + origin.x * components, byteCount: target.columns * components)
        case .halved:
            let upper = plane.row(origin.y + 2 * y) + origin.x * components
            let halve = components == 2 ? code.halvePairs : code.halve[components]
            halve(to, UnsafeRawPointer(upper), UnsafeRawPointer(upper + plane.stride), target.columns)
        case .resampled:
            let first = Int(rows.first[y])
            let weights = rowWeights + y * rows.taps
            let left = columns.span.lowerBound
            // Rows and columns beyond the edge have no weight.
            let right = min(columns.span.upperBound, width)
            var count = 0
            for tap in 0..<rows.taps where tap == 0 || weights[tap] > 0 {
                scratch.rows[count] = UnsafeRawPointer(
                    plane.row(min(first + tap, height - 1)) + left * components)
                scratch.weights[count] = weights[tap]
                count += 1
            }
            code.weigh(scratch.samples, scratch.rows, scratch.weights, count, (right - left) * components)
            let across = components == 2 ? code.acrossPairs : code.across[components]
            across(to, UnsafeRawPointer(scratch.samples), firsts, pairs, columns.taps / 2, target.columns)
        }
    }
}
