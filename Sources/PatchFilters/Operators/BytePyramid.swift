import Glibc
import PatchGraph
import PatchKernel
import PatchMedia

/// A Gaussian of any width on 8-bit pictures, in integers of 16 bits.
///
/// Up to a standard deviation of 2.6 pixels it is the exact sum. Beyond, the picture is halved with (1 3 3 1)/8 until 2.6
/// pixels of the small one are enough, blurred there, and doubled again with (¾, ¼), as `GaussianPyramid` does with half
/// floats. Between the steps samples are codes times 128. Small pictures have a margin, in which the edge's pixels go on, so
/// that an edge is as if it went on for ever. docs/decisions/blur.md has errors and times.
///
/// Thread-safety: used by its operator alone; all memory is allocated in `init`.
final class BytePyramid {
    private let width: Int
    private let height: Int
    private let components: Int
    private let rows: RowCode.Pyramid
    /// The picture with its rows blurred, where nothing is halved.
    private let whole: SampleRows
    private var levels: [(picture: SampleRows, spare: SampleRows)] = []
    private let weights: UnsafeMutablePointer<UInt16>
    private let scratch: BandScratch
    private static let margin = 4

    /// - Parameters:
    ///   - components: 1 or 4 interleaved in a pixel.
    ///   - widest: the largest standard deviation that will be asked for, in pixels.
    /// - Throws: `PatchError.kernel`.
    init(width: Int, height: Int, components: Int, widest: Float, request: OperatorRequest) throws {
        (self.width, self.height, self.components) = (width, height, components)
        rows = try request.pyramidRows()
        whole = SampleRows(width: width, height: height, components: components)
        var inner = (width, height)
        for _ in 0..<GaussianPyramid.level(of: widest) {
            inner = ((inner.0 + 1) / 2, (inner.1 + 1) / 2)
            func picture() -> SampleRows {
                SampleRows(
                    width: inner.0 + 2 * Self.margin, height: inner.1 + 2 * Self.margin, components: components)
            }
            levels.append((picture(), picture()))
        }
        weights = .allocate(capacity: 9)
        weights.initialize(repeating: 0, count: 9)
        scratch = BandScratch(
            bytes: SampleRows.bytesOfRow(max(width, inner.0) + 2 * Self.margin, components))
    }

    deinit { weights.deallocate() }

    /// Blurs `source` into `target`, which share no memory. `sigma` is cut to what the pyramid was made for.
    func run(sigma: Float, from source: Plane, to target: Plane, _ workers: RenderWorkers) {
        let count = min(GaussianPyramid.level(of: sigma), levels.count)
        if count == 0 {
            let sigma = min(sigma, GaussianPyramid.widestSum)
            let isSmall = sigma <= GaussianPyramid.smallSum
            setWeights(sigma, isSmall ? 4 : 8)
            run(
                BlurCodesAcross(
                    rows: rows, isSmall: isSmall, source: source, target: whole, weights: weights, scratch: scratch),
                whole, workers)
            run(
                BlurRowsToCodes(
                    rows: rows, isSmall: isSmall, source: whole, target: target, weights: weights, scratch: scratch),
                whole, workers)
            return
        }
        for index in 0..<count {
            let (picture, margin) = (levels[index].picture, Self.margin)
            if index == 0 {
                run(
                    ShrinkCodes(
                        rows: rows, source: source, width: width, height: height, target: picture, margin: margin,
                        scratch: scratch), picture, workers)
            } else {
                run(
                    ShrinkSamples(
                        rows: rows, source: levels[index - 1].picture, target: picture, margin: margin,
                        scratch: scratch), picture, workers)
            }
        }
        let last = levels[count - 1]
        setWeights(GaussianPyramid.rest(sigma, count), 8)
        run(
            BlurAcross(rows: rows, source: last.picture, target: last.spare, weights: weights), last.spare, workers)
        run(
            BlurDown(rows: rows, source: last.spare, target: last.picture, weights: weights, scratch: scratch),
            last.picture, workers)
        for index in (1..<count).reversed() {
            let above = levels[index - 1].picture
            run(
                GrowSamples(
                    rows: rows, source: levels[index].picture, target: above, margin: Self.margin, scratch: scratch),
                above, workers)
        }
        run(
            GrowToCodes(
                rows: rows, source: levels[0].picture, target: target, width: width, height: height,
                margin: Self.margin, scratch: scratch), whole, workers)
    }

    private func run<Step: RowsWork>(_ step: Step, _ size: SampleRows, _ workers: RenderWorkers) {
        let bands = min(BandScratch.bands, workers.count * 4)
        workers.run(
            RowBands(step: step, rows: size.height, bands: bands), bands: bands,
            isSmall: size.width * size.height * components < 32_768)
    }

    /// The Gaussian's weights as 65536ths, which sum to 1 with those of the other side.
    private func setWeights(_ sigma: Float, _ radius: Int) {
        var total: Float = 0
        func weight(_ away: Int) -> Float {
            let distance = Float(away)
            return expf(-distance * distance / (2 * sigma * sigma))
        }
        for away in 0...radius { total += away == 0 ? 1 : 2 * weight(away) }
        var others = 0
        for away in 1...radius {
            let rounded = Int((weight(away) / total * 65536).rounded())
            weights[away] = UInt16(rounded)
            others += 2 * rounded
        }
        weights[0] = UInt16(min(65535, 65536 - others))
    }
}
