import Glibc
import PatchGraph
import PatchKernel
import PatchMedia

/// A Gaussian of any width on one plane, of bytes or half floats, at a cost that hardly depends on the width.
///
/// Up to a standard deviation of 2.6 pixels it is the exact sum. Beyond, the picture is halved with (1 3 3 1)/8 until 2.6
/// pixels of the small one are enough, blurred there, and doubled again with (¾, ¼); halving and doubling blur as well, which
/// the Gaussian between them makes up for: variances add, and each of the two has ¾ of a pixel of the larger picture.
/// Between the steps samples are codes times 128, or halves. Small pictures have a margin, in which the edge's pixels go on, so
/// that an edge is as if it went on for ever. docs/decisions/blur.md has errors and times.
///
/// Thread-safety: used by its operator alone; all memory is allocated in `init`.
final class RowPyramid {
    /// The widest Gaussian that is computed as a sum; 8 taps on each side are 3.08 of it.
    static let widestSum: Float = 2.6
    /// Sums of small Gaussians need 4.
    static let smallSum: Float = 1.3
    /// Pixels of a halved picture beyond each of its edges.
    static let margin = 4

    private let width: Int
    private let height: Int
    private let components: Int
    private let tools: PyramidTools
    /// The picture with its rows blurred, where nothing is halved.
    private let whole: SampleRows
    private var levels: [(picture: SampleRows, spare: SampleRows)] = []

    /// - Parameters:
    ///   - components: interleaved in a pixel: 1 or 4, of half floats 1.
    ///   - widest: the largest standard deviation that will be asked for, in pixels.
    init(width: Int, height: Int, components: Int, widest: Float, rows: RowCode.Pyramid) {
        (self.width, self.height, self.components) = (width, height, components)
        whole = SampleRows(width: width, height: height, components: components)
        var inner = (width, height)
        for _ in 0..<Self.level(of: widest) {
            inner = ((inner.0 + 1) / 2, (inner.1 + 1) / 2)
            func picture() -> SampleRows {
                SampleRows(
                    width: inner.0 + 2 * Self.margin, height: inner.1 + 2 * Self.margin, components: components)
            }
            levels.append((picture(), picture()))
        }
        tools = PyramidTools(
            rows: rows, margin: Self.margin, components: components,
            scratch: BandScratch(
                bytes: SampleRows.bytesOfRow(max(width, inner.0) + 2 * Self.margin, components)))
    }

    /// How often a picture is halved for a standard deviation.
    static func level(of sigma: Float) -> Int {
        var (level, rest) = (0, sigma)
        while rest > widestSum, level < 12 { (level, rest) = (level + 1, rest / 2) }
        return level
    }

    /// What the sum in a picture that was halved so often must add. Each halving and doubling adds ¾ · 4^k; the sum of 4^k is
    /// (4^count − 1) / 3.
    private static func rest(_ sigma: Float, _ count: Int) -> Float {
        let scale = Float(1 << count)
        let sum = sigma / scale
        return max(0.25, sum * sum - 0.5 * (1 - 1 / (scale * scale))).squareRoot()
    }

    /// Blurs `source` into `target`, which share no memory. `sigma` is cut to what the pyramid was made for.
    func run(sigma: Float, from source: Plane, to target: Plane, _ workers: RenderWorkers) {
        let picture = PlanePicture(plane: source, width: width, height: height)
        let result = PlanePicture(plane: target, width: width, height: height)
        let count = min(Self.level(of: sigma), levels.count)
        if count == 0 {
            let sigma = min(sigma, Self.widestSum)
            let isSmall = sigma <= Self.smallSum
            tools.setWeights(sigma, radius: isSmall ? 4 : 8)
            run(BlurSourceAcross(tools: tools, isSmall: isSmall, source: picture, target: whole), whole, workers)
            run(BlurDownToResult(tools: tools, isSmall: isSmall, source: whole, target: result), whole, workers)
            return
        }
        run(ShrinkSource(tools: tools, source: picture, target: levels[0].picture), levels[0].picture, workers)
        for index in 1..<max(1, count) {
            let (above, picture) = (levels[index - 1].picture, levels[index].picture)
            run(ShrinkSamples(tools: tools, source: above, target: picture), picture, workers)
        }
        let last = levels[count - 1]
        tools.setWeights(Self.rest(sigma, count), radius: 8)
        run(BlurAcross(tools: tools, source: last.picture, target: last.spare), last.spare, workers)
        run(BlurDown(tools: tools, source: last.spare, target: last.picture), last.picture, workers)
        for index in (1..<count).reversed() {
            let (picture, above) = (levels[index].picture, levels[index - 1].picture)
            run(GrowSamples(tools: tools, source: picture, target: above), above, workers)
        }
        run(GrowToResult(tools: tools, source: levels[0].picture, target: result), whole, workers)
    }

    private func run<Step: RowsWork>(_ step: Step, _ size: SampleRows, _ workers: RenderWorkers) {
        let bands = min(BandScratch.bands, workers.count * 4)
        workers.run(
            RowBands(step: step, rows: size.height, bands: bands), bands: bands,
            isSmall: size.width * size.height * components < 32_768)
    }
}
