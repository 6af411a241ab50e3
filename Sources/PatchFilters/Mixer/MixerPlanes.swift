import PatchGraph
import PatchKernel
import PatchMedia

/// R'G'B' with alpha laid over the planes of Y'CbCr: each takes a weighted sum of the premultiplied colour, chroma of the pixels
/// that its siting names, as an encoder of the finished picture would: on a column (1 2 1)/4 of three, between two their mean,
/// and the same for rows. Beside the picture is nothing, beyond the canvas its edge goes on.
///
/// Thread-safety: `draw` by several bands at once, each with scratch of its own.
final class MixerPlanes: @unchecked Sendable {
    // Unchecked: `clearRow` is never written after init.

    /// Where a picture lies, in pixels of the canvas, and its rows.
    struct Picture {
        let area: PixelRect
        /// The row of pixels that lies on row `y` of the canvas.
        let base: UnsafeMutableRawPointer
        let stride: Int
        /// Of luma, and of chroma from `chromaWeight` on.
        let weights: UnsafePointer<Int16>

        func row(_ y: Int) -> UnsafeRawPointer { UnsafeRawPointer(base + (y - area.y0) * stride) }
    }

    /// 16-bit numbers that a picture's weights take, and where those of chroma begin.
    static let weightCount = 16
    private static let chromaWeight = 6

    private let code: RowCode.Laying
    private let chroma: RowCode.Laid
    private let width: Int
    private let height: Int
    private let log2Width: Int
    private let log2Height: Int
    /// Chroma sits on every second column or row, else between two.
    private let isOnColumn: Bool
    private let isOnRow: Bool
    /// The weights of the pixels that a sample of chroma is made of, summed.
    private let chromaPixels: Float
    private let planeWeights: [SIMD4<Float>]
    private let clearRow: UnsafeMutableRawPointer

    init(_ canvas: MixerCanvas, _ code: RowCode.Laying) {
        let format = canvas.format
        self.code = code
        (width, height) = (format.width, format.height)
        let layout = format.pixelFormat.layout(ofPlane: 1)
        (log2Width, log2Height) = (layout.log2Width, layout.log2Height)
        isOnColumn = log2Width > 0 && format.color.siting != .center
        isOnRow = log2Height > 0 && format.color.siting == .topLeft
        let log2Rows = log2Height == 0 ? 0 : isOnRow ? 2 : 1
        chromaPixels = log2Width == 0 ? 1 : Float(1 << (log2Rows + (isOnColumn ? 2 : 1)))
        let kind = isOnColumn ? code.triples : code.pairs
        chroma = log2Width == 0 ? code.whole : log2Height == 0 ? kind.one : isOnRow ? kind.three : kind.two
        planeWeights = (0..<3).map { canvas.weights(ofPlane: $0) }
        clearRow = .allocate(byteCount: 4 * width, alignment: 64)
        clearRow.initializeMemory(as: UInt8.self, repeating: 0, count: 4 * width)
    }

    deinit { clearRow.deallocate() }

    /// The canvas's rows that a picture may change.
    func rows(_ area: PixelRect) -> Range<Int> { area.y0..<(isOnRow ? min(height, area.y1 + 1) : area.y1) }

    /// The rows of a picture that these rows of the canvas are made of.
    func sources(_ rows: Range<Int>, _ area: PixelRect) -> Range<Int> {
        let first = max(area.y0, rows.lowerBound - (isOnRow ? 1 : 0))
        // Two rows make one of chroma.
        let end = rows.upperBound + (log2Height > 0 ? rows.upperBound % 2 : 0)
        return first..<max(first, min(area.y1, end))
    }

    /// - Parameter isBlue: the pixels begin with blue.
    func setWeights(_ weights: UnsafeMutablePointer<Int16>, opacity: Float, isBlue: Bool) {
        var place = 0
        for plane in 0..<3 {
            let share = plane == 0 ? 1 : chromaPixels
            let own: SIMD4<Float> = planeWeights[plane] * (32768 * opacity / share)
            let (first, second) = isBlue ? (own.z, own.x) : (own.x, own.z)
            let ordered = SIMD4<Float>(first, second, own.y, own.w)
            for component in 0..<4 {
                let rounded: Float = ordered[component].rounded()
                weights[place] = Int16(max(Float(-32768), min(Float(32767), rounded)))
                place += 1
            }
            guard plane != 1 else { continue }
            weights[place] = MixerDraws.part(opacity)
            place = Self.chromaWeight
        }
    }

    /// Weights with which a picture's alpha, in codes, is laid over nothing.
    func setAlphaWeights(_ weights: UnsafeMutablePointer<Int16>, opacity: Float) {
        for place in 0..<Self.weightCount { weights[place] = 0 }
        // The last component of luma, and of both planes of chroma.
        weights[3] = Int16(min(32767, (32768 * opacity).rounded()))
        for plane in 0..<2 {
            weights[Self.chromaWeight + 4 * plane + 3] = Int16(
                min(32767, (32768 * opacity / chromaPixels).rounded()))
        }
    }

    /// Keeps these rows of a picture as what they add to the canvas, and their alpha.
    func keep(
        _ picture: Picture, _ rows: Range<Int>, _ still: MixerStill, alphaWeights: UnsafePointer<Int16>,
        _ slot: MixerScratch.Slot
    ) {
        let (color, alpha) = (ImageReference(still.color), ImageReference(still.alpha))
        let (area, columns) = (picture.area, chromaColumns(picture.area))
        for y in lumaRows(rows, area) {
            for kept in [color, alpha] { clear(kept.plane(0).row(y) + area.x0, area.width) }
        }
        for y in chromaRows(rows, area) {
            for kept in [color, alpha] {
                for plane in 1...2 { clear(kept.plane(plane).row(y) + columns.lowerBound, columns.count) }
            }
        }
        draw(picture, rows, onto: color, slot)
        let shades = Picture(area: area, base: picture.base, stride: picture.stride, weights: alphaWeights)
        draw(shades, rows, onto: alpha, slot)
    }

    private func clear(_ row: UnsafeMutableRawPointer, _ bytes: Int) {
        row.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    }

    /// Lays the rows of a band of what was kept over the canvas.
    func draw(_ still: MixerStill, _ area: PixelRect, _ rows: Range<Int>, onto canvas: ImageReference) {
        let (color, alpha) = (ImageReference(still.color), ImageReference(still.alpha))
        for y in lumaRows(rows, area) {
            code.lay(
                canvas.plane(0).row(y) + area.x0, color.plane(0).row(y) + area.x0, alpha.plane(0).row(y) + area.x0,
                area.width)
        }
        let columns = chromaColumns(area)
        let first = columns.lowerBound
        for y in chromaRows(rows, area) {
            for plane in 1...2 {
                code.lay(
                    canvas.plane(plane).row(y) + first, color.plane(plane).row(y) + first,
                    alpha.plane(1).row(y) + first, columns.count)
            }
        }
    }

    private func lumaRows(_ rows: Range<Int>, _ area: PixelRect) -> Range<Int> {
        let first = max(area.y0, rows.lowerBound)
        return first..<max(first, min(area.y1, rows.upperBound))
    }

    /// The rows of chroma that belong to these rows and that a picture changes.
    private func chromaRows(_ rows: Range<Int>, _ area: PixelRect) -> Range<Int> {
        let first = (max(area.y0, rows.lowerBound) + (1 << log2Height) - 1) >> log2Height
        let end = (min(self.rows(area).upperBound, rows.upperBound) + (1 << log2Height) - 1) >> log2Height
        return first..<max(first, end)
    }

    /// The columns of chroma that a picture changes.
    private func chromaColumns(_ area: PixelRect) -> Range<Int> {
        let step = 1 << log2Width
        let first = area.x0 / step
        let end = min((width + step - 1) / step, isOnColumn ? area.x1 / step + 1 : (area.x1 + step - 1) / step)
        return first..<max(first, end)
    }

    /// Lays the rows of a band over the canvas.
    func draw(_ picture: Picture, _ rows: Range<Int>, onto canvas: ImageReference, _ slot: MixerScratch.Slot) {
        let area = picture.area
        for y in lumaRows(rows, area) {
            let target = canvas.plane(0).row(y) + area.x0
            slot.below.copyMemory(from: target, byteCount: area.width)
            slot.rows[0] = UnsafeRawPointer(target)
            slot.rows[1] = UnsafeRawPointer(slot.below)
            slot.rows[2] = picture.row(y)
            code.luma(slot.rows, picture.weights, area.width)
        }
        for y in chromaRows(rows, area) { drawChroma(y, picture, canvas, slot) }
    }

    private func drawChroma(_ y: Int, _ picture: Picture, _ canvas: ImageReference, _ slot: MixerScratch.Slot) {
        let area = picture.area
        let rows = slot.rows + 4
        var count = 1
        if log2Height == 0 {
            rows[0] = row(y, picture)
        } else if isOnRow {
            for index in 0..<3 { rows[index] = row(2 * y - 1 + index, picture) }
            count = 3
        } else {
            for index in 0..<2 { rows[index] = row(2 * y + index, picture) }
            count = 2
        }
        let step = 1 << log2Width
        let columns = chromaColumns(area)
        let (first, end) = (columns.lowerBound, columns.upperBound)
        guard first < end else { return }
        // The samples all of whose pixels lie in the picture.
        let inner = (isOnColumn ? first + 1 : first)..<max(isOnColumn ? first + 1 : first, area.x1 / step)
        let chromaRoom = (end - first + 63) / 64 * 64
        for plane in 0..<2 {
            let target = canvas.plane(plane + 1).row(y) + first
            (slot.below + plane * chromaRoom).copyMemory(from: target, byteCount: end - first)
        }
        func run(_ x: Int, _ samples: Int) {
            for plane in 0..<2 {
                slot.rows[plane] = UnsafeRawPointer(canvas.plane(plane + 1).row(y) + x)
                slot.rows[2 + plane] = UnsafeRawPointer(slot.below + plane * chromaRoom + x - first)
            }
            chroma(slot.rows, picture.weights + Self.chromaWeight, samples)
        }
        func runEdge(_ x: Int) {
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 12) { pixels in
                guard let base = pixels.baseAddress else { return }
                for index in 0..<count {
                    for away in -1...2 {
                        base[4 * index + away + 1] = pixel(step * x + away, rows[index], area)
                    }
                }
                for index in 0..<count { rows[index] = UnsafeRawPointer(base + 4 * index + 1) }
                run(x, 1)
            }
        }
        let whole = (rows[0], rows[1], rows[2])
        if !inner.isEmpty {
            for index in 0..<count { rows[index] += (inner.lowerBound * step - area.x0) * 4 }
            run(inner.lowerBound, inner.count)
        }
        if !inner.contains(first) {
            (rows[0], rows[1], rows[2]) = whole
            runEdge(first)
        }
        if end - 1 > first, !inner.contains(end - 1) {
            (rows[0], rows[1], rows[2]) = whole
            runEdge(end - 1)
        }
    }

    /// The picture's row there; beyond the canvas the nearest, beside the picture a clear one.
    private func row(_ y: Int, _ picture: Picture) -> UnsafeRawPointer {
        let inside = max(0, min(height - 1, y))
        guard inside >= picture.area.y0, inside < picture.area.y1 else { return UnsafeRawPointer(clearRow) }
        return picture.row(inside)
    }

    private func pixel(_ x: Int, _ row: UnsafeRawPointer, _ area: PixelRect) -> UInt32 {
        let inside = max(0, min(width - 1, x))
        guard inside >= area.x0, inside < area.x1 else { return 0 }
        return row.loadUnaligned(fromByteOffset: 4 * (inside - area.x0), as: UInt32.self)
    }
}
