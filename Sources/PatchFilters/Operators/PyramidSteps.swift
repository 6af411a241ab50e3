import PatchGraph
import PatchKernel
import PatchMedia

// The steps of a `BytePyramid`. Row and column j of a halved picture is j − margin of the picture above, halved.
// Thread-safety: values; bands write rows of their own.

/// Half as many rows and columns of 8-bit pixels.
struct ShrinkCodes: RowsWork {
    let rows: RowCode.Pyramid
    let source: Plane
    let width: Int
    let height: Int
    let target: SampleRows
    let margin: Int
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let components = target.components
        let row = scratch.row(band, components: components)
        func above(_ y: Int) -> UnsafeRawPointer { UnsafeRawPointer(source.row(max(0, min(height - 1, y)))) }
        for y in range {
            let first = 2 * (y - margin) - 1
            rows.shrinkBytes(
                row, above(first), above(first + 1), above(first + 2), above(first + 3), width * components)
            SampleRows.extend(row, width: width, components: components)
            let to = target.row(y)
            rows.shrinkAcross[components](to, row - (2 * margin + 1) * components * 2, target.width)
            SampleRows.extend(to, width: target.width, components: components)
        }
    }
}

/// Half as many rows and columns of a picture with a margin.
struct ShrinkSamples: RowsWork {
    let rows: RowCode.Pyramid
    let source: SampleRows
    let target: SampleRows
    let margin: Int
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let components = target.components
        let row = scratch.row(band, components: components)
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

/// Each row's sum of 17 pixels.
struct BlurAcross: RowsWork {
    let rows: RowCode.Pyramid
    let source: SampleRows
    let target: SampleRows
    let weights: UnsafeMutablePointer<UInt16>

    func run(rows range: Range<Int>, band: Int) {
        for y in range {
            rows.blurAcross8[target.components](target.row(y), UnsafeRawPointer(source.row(y)), weights, target.width)
        }
    }
}

/// Each column's sum of 17 pixels.
struct BlurDown: RowsWork {
    let rows: RowCode.Pyramid
    let source: SampleRows
    let target: SampleRows
    let weights: UnsafeMutablePointer<UInt16>
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let around = scratch.rows(band)
        for y in range {
            for away in -8...8 { around[away + 8] = source.clampedRow(y + away) }
            rows.blurRows8(target.row(y), around, weights, target.width * target.components)
        }
    }
}

/// Twice as many rows and columns, margins included.
struct GrowSamples: RowsWork {
    let rows: RowCode.Pyramid
    let source: SampleRows
    let target: SampleRows
    let margin: Int
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let components = target.components
        let row = scratch.row(band, components: components)
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

/// Twice as many rows and columns, as 8-bit pixels without margin.
struct GrowToCodes: RowsWork {
    let rows: RowCode.Pyramid
    let source: SampleRows
    let target: Plane
    let width: Int
    let height: Int
    let margin: Int
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let components = source.components
        let row = scratch.row(band, components: components)
        let last = scratch.rows(band)
        for y in range {
            let near = y >> 1 + margin
            let far = near + (y & 1 == 0 ? -1 : 1)
            rows.growRows(row, source.clampedRow(near), source.clampedRow(far), source.width * components)
            let start = row + (margin - 1) * components * 2
            rows.growAcrossToBytes[components](target.row(y), start, width / 2)
            guard width % 2 == 1 else { continue }
            // Only the first pixel of the last pair is part of the picture.
            rows.growAcrossToBytes[components](UnsafeMutableRawPointer(last), start + width / 2 * components * 2, 1)
            (target.row(y) + (width - 1) * components).copyMemory(from: last, byteCount: components)
        }
    }
}

/// Each row's sum of 9 or 17 8-bit pixels.
struct BlurCodesAcross: RowsWork {
    let rows: RowCode.Pyramid
    let isSmall: Bool
    let source: Plane
    let target: SampleRows
    let weights: UnsafeMutablePointer<UInt16>
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let components = target.components
        let row = scratch.row(band, components: components)
        let blur = (isSmall ? rows.blurAcross4 : rows.blurAcross8)[components]
        for y in range {
            rows.widen(row, UnsafeRawPointer(source.row(y)), target.width * components)
            SampleRows.extend(row, width: target.width, components: components)
            blur(target.row(y), row, weights, target.width)
        }
    }
}

/// Each column's sum of 9 or 17 pixels, as 8-bit pixels.
struct BlurRowsToCodes: RowsWork {
    let rows: RowCode.Pyramid
    let isSmall: Bool
    let source: SampleRows
    let target: Plane
    let weights: UnsafeMutablePointer<UInt16>
    let scratch: BandScratch

    func run(rows range: Range<Int>, band: Int) {
        let count = source.width * source.components
        let (around, row) = (scratch.rows(band), scratch.row(band, components: source.components))
        let radius = isSmall ? 4 : 8
        let blur = isSmall ? rows.blurRows4 : rows.blurRows8
        for y in range {
            for away in -radius...radius { around[away + radius] = source.clampedRow(y + away) }
            blur(row, around, weights, count)
            rows.narrow(target.row(y), row, count)
        }
    }
}
