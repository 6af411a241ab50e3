import PatchGraph
import PatchKernel
import PatchMedia

/// A guided filter (He, Sun, Tang 2010) of one plane of half floats by itself, with Gaussian windows of any width.
///
/// Windows wider than a standard deviation of 2.6 pixels are taken on a smaller picture, as by `RowPyramid`: means and means of
/// squares are made by halving and one exact sum; slopes and rises are computed there, blurred there, and doubled while they
/// are applied to the picture itself (as in He and Sun's "Fast Guided Filter", 2015). Halving blurs, and so does doubling,
/// each by a variance of ¾ · 4^k pixels at step k; each sum makes up for one of the two. docs/decisions/blur.md has errors and times.
///
/// Thread-safety: used by its operator alone; all memory is allocated in `init`.
final class GuidedPyramid {
    /// Pictures of one size: values and squares of them, later rises and slopes, and the same with their rows blurred.
    private struct Level {
        let values: SampleRows
        let squares: SampleRows
        let valuesAcross: SampleRows
        let squaresAcross: SampleRows

        init(width: Int, height: Int) {
            func picture() -> SampleRows { SampleRows(width: width, height: height, components: 1) }
            (values, squares, valuesAcross, squaresAcross) = (picture(), picture(), picture(), picture())
        }
    }

    private let width: Int
    private let height: Int
    private let tools: GuidedTools
    /// The first is of the picture's own size, each other one half of it with a margin.
    private var levels: [Level] = []

    /// - Parameter widest: the largest standard deviation that will be asked for, in pixels.
    init(width: Int, height: Int, widest: Float, rows: RowCode.Pyramid, guided: RowCode.Guided) {
        (self.width, self.height) = (width, height)
        levels.append(Level(width: width, height: height))
        let margin = RowPyramid.margin
        var inner = (width, height)
        for _ in 0..<RowPyramid.level(of: widest) {
            inner = ((inner.0 + 1) / 2, (inner.1 + 1) / 2)
            levels.append(Level(width: inner.0 + 2 * margin, height: inner.1 + 2 * margin))
        }
        func scratch() -> BandScratch {
            BandScratch(bytes: SampleRows.bytesOfRow(max(width, inner.0) + 2 * margin, 1))
        }
        let pyramid = PyramidTools(rows: rows, margin: margin, components: 1, scratch: scratch())
        tools = GuidedTools(pyramid: pyramid, guided: guided, more: scratch())
    }

    /// The standard deviation of a sum in a picture that was halved `count` times, for one of `sigma` pixels in all: the rest is
    /// done by halving, or by doubling, alone.
    private static func rest(_ sigma: Float, _ count: Int) -> Float {
        let scale = Float(1 << count)
        let sum = sigma / scale
        return max(0.0025, sum * sum - 0.25 * (1 - 1 / (scale * scale))).squareRoot()
    }

    /// Filters `source` into `target`, which share no memory. `sigma` is cut to what the pyramid was made for.
    /// - Parameter epsilon: the variance at which a slope is one half, above 0; nil blurs twice instead.
    func run(sigma: Float, epsilon: Float?, from source: Plane, to target: Plane, _ workers: RenderWorkers) {
        let picture = PlanePicture(plane: source, width: width, height: height)
        let result = PlanePicture(plane: target, width: width, height: height)
        let count = min(RowPyramid.level(of: sigma), levels.count - 1)
        let rest = Self.rest(min(sigma, RowPyramid.widestSum * Float(1 << count)), count)
        let isSmall = rest <= RowPyramid.smallSum
        let pyramid = tools.pyramid
        pyramid.setWeights(rest, radius: isSmall ? 4 : 8)
        let level = levels[count]

        func run<Values: RowsWork, Squares: RowsWork>(
            _ values: Values, _ squares: Squares, _ size: SampleRows
        ) {
            if epsilon == nil {
                self.run(values, size, workers)
            } else {
                self.run(BothSteps(first: values, second: squares), size, workers)
            }
        }
        if count == 0 {
            run(
                BlurSourceAcross(tools: pyramid, isSmall: isSmall, source: picture, target: level.valuesAcross),
                BlurSquaresAcross(tools: tools, isSmall: isSmall, source: picture, target: level.squaresAcross),
                level.values)
        } else {
            run(
                ShrinkSource(tools: pyramid, source: picture, target: levels[1].values),
                ShrinkSquares(tools: tools, source: picture, target: levels[1].squares), levels[1].values)
            for index in 1..<count {
                let (above, below) = (levels[index], levels[index + 1])
                run(
                    ShrinkSamples(tools: pyramid, source: above.values, target: below.values),
                    ShrinkSamples(tools: pyramid, source: above.squares, target: below.squares), below.values)
            }
            run(
                BlurAcross(tools: pyramid, isSmall: isSmall, source: level.values, target: level.valuesAcross),
                BlurAcross(tools: pyramid, isSmall: isSmall, source: level.squares, target: level.squaresAcross),
                level.values)
        }
        self.run(
            BlurDownToLines(
                tools: tools, isSmall: isSmall, epsilon: epsilon, margin: count == 0 ? 0 : RowPyramid.margin,
                values: level.valuesAcross, squares: level.squaresAcross, rises: level.values, slopes: level.squares),
            level.values, workers)
        run(
            BlurAcross(tools: pyramid, isSmall: isSmall, source: level.values, target: level.valuesAcross),
            BlurAcross(tools: pyramid, isSmall: isSmall, source: level.squares, target: level.squaresAcross),
            level.values)
        if count == 0 {
            if epsilon != nil {
                self.run(
                    BlurDownAndApply(
                        tools: tools, isSmall: isSmall, slopes: level.squaresAcross, rises: level.valuesAcross,
                        source: picture, target: result), level.values, workers)
            } else {
                self.run(
                    BlurDownToResult(tools: pyramid, isSmall: isSmall, source: level.valuesAcross, target: result),
                    level.values, workers)
            }
            return
        }
        run(
            BlurDown(tools: pyramid, isSmall: isSmall, source: level.valuesAcross, target: level.values),
            BlurDown(tools: pyramid, isSmall: isSmall, source: level.squaresAcross, target: level.squares),
            level.values)
        for index in (1..<count).reversed() {
            let (below, above) = (levels[index + 1], levels[index])
            run(
                GrowSamples(tools: pyramid, source: below.values, target: above.values),
                GrowSamples(tools: pyramid, source: below.squares, target: above.squares), above.values)
        }
        if epsilon != nil {
            self.run(
                GrowAndApply(
                    tools: tools, slopes: levels[1].squares, rises: levels[1].values, source: picture, target: result),
                levels[0].values, workers)
        } else {
            self.run(
                GrowToResult(tools: pyramid, source: levels[1].values, target: result), levels[0].values, workers)
        }
    }

    private func run<Step: RowsWork>(_ step: Step, _ size: SampleRows, _ workers: RenderWorkers) {
        let bands = min(BandScratch.bands, workers.count * 4)
        workers.run(
            RowBands(step: step, rows: size.height, bands: bands), bands: bands,
            isSmall: size.width * size.height < 32_768)
    }
}

/// What all steps of a guided filter share.
///
/// Thread-safety: as `PyramidTools`.
struct GuidedTools {
    let pyramid: PyramidTools
    let guided: RowCode.Guided
    /// A second row for each band.
    let more: BandScratch
}

/// Two steps on the same rows, one after the other.
private struct BothSteps<First: RowsWork, Second: RowsWork>: RowsWork {
    let first: First
    let second: Second

    func run(rows: Range<Int>, band: Int) {
        first.run(rows: rows, band: band)
        second.run(rows: rows, band: band)
    }
}

/// Half as many rows and columns of a picture's squares.
private struct ShrinkSquares: RowsWork {
    let tools: GuidedTools
    let source: PlanePicture
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        tools.pyramid.shrink(source, into: target, rows: range, band: band, tools.guided.shrinkSquares)
    }
}

/// Each row's sum of 9 or 17 squares of a picture.
private struct BlurSquaresAcross: RowsWork {
    let tools: GuidedTools
    let isSmall: Bool
    let source: PlanePicture
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        tools.pyramid.blurAcross(
            source, into: target, rows: range, band: band, isSmall: isSmall, tools.guided.widenSquares)
    }
}

/// Slopes and rises from each column's sums of values and squares; without epsilon the sums of values, as rises.
///
/// A margin gets those of the picture's edge.
private struct BlurDownToLines: RowsWork {
    let tools: GuidedTools
    let isSmall: Bool
    let epsilon: Float?
    let margin: Int
    let values: SampleRows
    let squares: SampleRows
    let rises: SampleRows
    let slopes: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        let (width, first) = (rises.width - 2 * margin, 2 * margin)
        for y in range {
            let inside = max(margin, min(rises.height - 1 - margin, y))
            let (slope, rise) = (slopes.row(y) + first, rises.row(y) + first)
            if let epsilon {
                let (mean, power) = tools.sums(values, squares, inside, band: band, isSmall: isSmall)
                tools.guided.lines(slope, rise, mean + first, power + first, epsilon, width)
                SampleRows.extend(slope, width: width, components: 1)
            } else {
                tools.pyramid.blurDown(values, inside, into: rises.row(y), band: band, isSmall: isSmall)
            }
            SampleRows.extend(rise, width: width, components: 1)
        }
    }
}

/// Applies each column's sums of slopes and rises to a picture.
private struct BlurDownAndApply: RowsWork {
    let tools: GuidedTools
    let isSmall: Bool
    let slopes: SampleRows
    let rises: SampleRows
    let source: PlanePicture
    let target: PlanePicture

    func run(rows range: Range<Int>, band: Int) {
        for y in range {
            let (slope, rise) = tools.sums(slopes, rises, y, band: band, isSmall: isSmall)
            tools.guided.apply(target.plane.row(y), slope, rise, source.plane.row(y), target.width)
        }
    }
}

/// Twice as many rows and columns of slopes and rises, applied to a picture.
private struct GrowAndApply: RowsWork {
    let tools: GuidedTools
    let slopes: SampleRows
    let rises: SampleRows
    let source: PlanePicture
    let target: PlanePicture

    func run(rows range: Range<Int>, band: Int) {
        let (pyramid, guided) = (tools.pyramid, tools.guided)
        let margin = pyramid.margin
        let (slope, rise) = (pyramid.scratch.row(band, components: 1), tools.more.row(band, components: 1))
        let last = UnsafeMutableRawPointer(pyramid.scratch.rows(band))
        let width = target.width
        for y in range {
            let near = y >> 1 + margin
            let far = near + (y & 1 == 0 ? -1 : 1)
            pyramid.rows.growRows(slope, slopes.clampedRow(near), slopes.clampedRow(far), slopes.width)
            pyramid.rows.growRows(rise, rises.clampedRow(near), rises.clampedRow(far), rises.width)
            let first = 2 * (margin - 1)
            let (from, to) = (source.plane.row(y), target.plane.row(y))
            guided.growAndApply(to, slope + first, rise + first, from, width / 2)
            guard width % 2 == 1 else { continue }
            // Only the first sample of the last pair is part of the picture.
            let end = 2 * (width - 1)
            last.copyMemory(from: from + end, byteCount: 2)
            guided.growAndApply(last + 8, slope + first + end / 2, rise + first + end / 2, last, 1)
            (to + end).copyMemory(from: last + 8, byteCount: 2)
        }
    }
}

extension GuidedTools {
    /// Rows of each column's sum of 9 or 17 samples of two pictures, in the band's own rows.
    fileprivate func sums(
        _ one: SampleRows, _ other: SampleRows, _ y: Int, band: Int, isSmall: Bool
    ) -> (UnsafeRawPointer, UnsafeRawPointer) {
        let targets = (pyramid.scratch.row(band, components: 1), more.row(band, components: 1))
        pyramid.blurDown(one, y, into: targets.0, band: band, isSmall: isSmall)
        pyramid.blurDown(other, y, into: targets.1, band: band, isSmall: isSmall)
        return (UnsafeRawPointer(targets.0), UnsafeRawPointer(targets.1))
    }
}
