import Glibc
import PatchGraph
import PatchKernel
import PatchMedia

// The steps of a `RowPyramid`. Row and column j of a halved picture are j − margin of the picture above, halved.
// Thread-safety: values; bands write rows of their own.

/// What all steps of a pyramid share.
///
/// Thread-safety: `setWeights` between steps; everything else by several bands at once.
final class PyramidTools: @unchecked Sendable {
    // Unchecked: the weights are written while no step runs.
    let rows: RowCode.Pyramid
    let margin: Int
    let components: Int
    let scratch: BandScratch
    /// The centre's first.
    let weights: UnsafeMutableRawPointer

    init(rows: RowCode.Pyramid, margin: Int, components: Int, scratch: BandScratch) {
        (self.rows, self.margin, self.components, self.scratch) = (rows, margin, components, scratch)
        weights = .allocate(byteCount: 9 * 4, alignment: 4)
        weights.initializeMemory(as: Float.self, repeating: 0, count: 9)
    }

    deinit { weights.deallocate() }

    /// The Gaussian's weights, which sum to 1 with those of the other side: floats, or 65536ths.
    func setWeights(_ sigma: Float, radius: Int) {
        func weight(_ away: Int) -> Float {
            let distance = Float(away)
            return expf(-distance * distance / (2 * sigma * sigma))
        }
        var total: Float = 1
        for away in 1...radius { total += 2 * weight(away) }
        guard rows.narrow != nil else {
            let floats = weights.assumingMemoryBound(to: Float.self)
            for away in 0...radius { floats[away] = weight(away) / total }
            return
        }
        let parts = weights.assumingMemoryBound(to: UInt16.self)
        var others = 0
        for away in 1...radius {
            let rounded = Int((weight(away) / total * 65536).rounded())
            parts[away] = UInt16(rounded)
            others += 2 * rounded
        }
        parts[0] = UInt16(min(65535, 65536 - others))
    }
}

extension PyramidTools {
    /// Half as many rows and columns of a picture; `shrink` makes one row of four.
    func shrink(
        _ source: PlanePicture, into target: SampleRows, rows range: Range<Int>, band: Int, _ shrink: RowCode.Four
    ) {
        let row = scratch.row(band, components: components)
        func above(_ y: Int) -> UnsafeRawPointer {
            UnsafeRawPointer(source.plane.row(max(0, min(source.height - 1, y))))
        }
        for y in range {
            let first = 2 * (y - margin) - 1
            shrink(row, above(first), above(first + 1), above(first + 2), above(first + 3), source.width * components)
            SampleRows.extend(row, width: source.width, components: components)
            let to = target.row(y)
            rows.shrinkAcross[components](to, row - (2 * margin + 1) * components * 2, target.width)
            SampleRows.extend(to, width: target.width, components: components)
        }
    }

    /// Each row's sum of 9 or 17 pixels of a picture, of which `widen` makes samples.
    func blurAcross(
        _ source: PlanePicture, into target: SampleRows, rows range: Range<Int>, band: Int, isSmall: Bool,
        _ widen: RowCode.One
    ) {
        let row = scratch.row(band, components: components)
        let blur = (isSmall ? rows.blurAcross4 : rows.blurAcross8)[components]
        for y in range {
            widen(row, UnsafeRawPointer(source.plane.row(y)), target.width * components)
            SampleRows.extend(row, width: target.width, components: components)
            blur(target.row(y), row, weights, target.width)
        }
    }

    /// A row of each column's sum of 9 or 17 pixels around row `y`.
    func blurDown(
        _ source: SampleRows, _ y: Int, into target: UnsafeMutableRawPointer, band: Int, isSmall: Bool
    ) {
        let around = scratch.rows(band)
        source.gather(y, radius: isSmall ? 4 : 8, into: around)
        (isSmall ? rows.blurRows4 : rows.blurRows8)(target, around, weights, source.width * source.components)
    }
}

/// A plane of a picture, in pixels.
struct PlanePicture {
    let plane: Plane
    let width: Int
    let height: Int
}

/// Half as many rows and columns of a picture.
struct ShrinkSource: RowsWork {
    let tools: PyramidTools
    let source: PlanePicture
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        tools.shrink(source, into: target, rows: range, band: band, tools.rows.shrinkSource)
    }
}

/// Half as many rows and columns of a picture with a margin.
struct ShrinkSamples: RowsWork {
    let tools: PyramidTools
    let source: SampleRows
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        let (rows, components, margin) = (tools.rows, tools.components, tools.margin)
        let row = tools.scratch.row(band, components: components)
        for y in range {
            let first = 2 * (y - margin) - 1 + margin
            rows.shrinkRows(
                row, source.clampedRow(first), source.clampedRow(first + 1), source.clampedRow(first + 2),
                source.clampedRow(first + 3), source.width * components)
            SampleRows.extend(row, width: source.width, components: components)
            let to = target.row(y)
            rows.shrinkAcross[components](to, row - (margin + 1) * components * 2, target.width)
            SampleRows.extend(to, width: target.width, components: components)
        }
    }
}

/// Each row's sum of 9 or 17 pixels.
struct BlurAcross: RowsWork {
    let tools: PyramidTools
    var isSmall = false
    let source: SampleRows
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        let blur = (isSmall ? tools.rows.blurAcross4 : tools.rows.blurAcross8)[tools.components]
        for y in range { blur(target.row(y), UnsafeRawPointer(source.row(y)), tools.weights, target.width) }
    }
}

/// Each column's sum of 9 or 17 pixels.
struct BlurDown: RowsWork {
    let tools: PyramidTools
    var isSmall = false
    let source: SampleRows
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        for y in range { tools.blurDown(source, y, into: target.row(y), band: band, isSmall: isSmall) }
    }
}

/// Twice as many rows and columns, margins included.
struct GrowSamples: RowsWork {
    let tools: PyramidTools
    let source: SampleRows
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        let (rows, components, margin) = (tools.rows, tools.components, tools.margin)
        let row = tools.scratch.row(band, components: components)
        for y in range {
            // Row y is y − margin of the picture itself.
            let near = (y - margin) >> 1 + margin
            let far = near + ((y - margin) & 1 == 0 ? -1 : 1)
            rows.growRows(row, source.clampedRow(near), source.clampedRow(far), source.width * components)
            let first = margin - margin / 2 - 1
            rows.growAcross[components](
                target.row(y), row + first * components * 2, (target.width + 1) / 2)
        }
    }
}

/// Twice as many rows and columns, as a picture without margin.
struct GrowToResult: RowsWork {
    let tools: PyramidTools
    let source: SampleRows
    let target: PlanePicture

    func run(rows range: Range<Int>, band: Int) {
        let (rows, components, margin) = (tools.rows, tools.components, tools.margin)
        let row = tools.scratch.row(band, components: components)
        let last = tools.scratch.rows(band)
        let grow = rows.growAcrossToResult[components]
        let (pixel, width) = (components * rows.sampleBytes, target.width)
        for y in range {
            let near = y >> 1 + margin
            let far = near + (y & 1 == 0 ? -1 : 1)
            rows.growRows(row, source.clampedRow(near), source.clampedRow(far), source.width * components)
            let start = row + (margin - 1) * components * 2
            grow(target.plane.row(y), start, width / 2)
            guard width % 2 == 1 else { continue }
            // Only the first pixel of the last pair is part of the picture.
            grow(UnsafeMutableRawPointer(last), start + width / 2 * components * 2, 1)
            (target.plane.row(y) + (width - 1) * pixel).copyMemory(from: last, byteCount: pixel)
        }
    }
}

/// Each row's sum of 9 or 17 pixels of a picture.
struct BlurSourceAcross: RowsWork {
    let tools: PyramidTools
    let isSmall: Bool
    let source: PlanePicture
    let target: SampleRows

    func run(rows range: Range<Int>, band: Int) {
        tools.blurAcross(source, into: target, rows: range, band: band, isSmall: isSmall, tools.rows.widen)
    }
}

/// Each column's sum of 9 or 17 pixels, as a picture.
struct BlurDownToResult: RowsWork {
    let tools: PyramidTools
    let isSmall: Bool
    let source: SampleRows
    let target: PlanePicture

    func run(rows range: Range<Int>, band: Int) {
        let row = tools.scratch.row(band, components: source.components)
        for y in range {
            let to = target.plane.row(y)
            guard let narrow = tools.rows.narrow else {
                tools.blurDown(source, y, into: to, band: band, isSmall: isSmall)
                continue
            }
            tools.blurDown(source, y, into: row, band: band, isSmall: isSmall)
            narrow(to, row, source.width * source.components)
        }
    }
}
