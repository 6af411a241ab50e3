import PatchGraph
import PatchKernel
import PatchMedia

/// Draws what is listed, a band of the canvas at a time.
struct MixerBands: BandWork {
    /// Rows of a band: few enough that they stay in a core's cache while one picture is laid over another.
    static let rows = 32

    let draws: MixerDraws
    let height: Int
    let scratch: MixerScratch
    let context: FrameContext

    /// Bytes of the rows of a picture of any format, for a canvas so wide.
    static func stripBytes(width: Int) -> Int { (rows + 6) * (4 * width + 256) }

    func run(band: Int) {
        let slot = scratch.take()
        defer { scratch.give(slot) }
        let begin = band * Self.rows
        let isLast = begin + Self.rows >= height
        for index in 0..<draws.count {
            let area = draws.draws[index].area
            let log2 = draws.draws[index].log2Rows
            let rows = draws.draws[index].rows
            let first = max(rows.lowerBound, begin >> log2)
            let last = isLast ? rows.upperBound : min(rows.upperBound, (begin + Self.rows) >> log2)
            if first < last { draw(index, first - area.y0..<last - area.y0, slot) }
        }
    }

    private func draw(_ index: Int, _ rows: Range<Int>, _ slot: MixerScratch.Slot) {
        let draw = draws.draws[index]
        let area = draw.area
        switch draw.work {
        case .fill(let value, let bytes):
            for y in rows { fill(draw.plane.row(area.y0 + y) + area.x0 * bytes, value, bytes, area.width) }
        case .place(let reader):
            for y in rows {
                reader.read(y, into: draw.plane.row(area.y0 + y) + area.x0 * reader.components, slot)
            }
        case .settle(let reader, let settle, let weights):
            guard let numbers = draws.weights.baseAddress else { return }
            for y in rows {
                let row = draw.plane.row(area.y0 + y) + area.x0 * reader.components
                reader.read(y, into: row, slot)
                settle(row, UnsafeRawPointer(numbers + weights).assumingMemoryBound(to: UInt16.self), area.width)
            }
        case .pass(let pass): run(pass, rows, onto: draw.output, slot)
        case .lay(let planes, let reader, let weights, let shape):
            let rows = onCanvas(rows, area)
            if let picture = picture(area, planes.sources(rows, area), reader, weights, shape, slot) {
                planes.draw(picture, rows, onto: draw.output, slot)
            }
        case .keep(let planes, let reader, let weights, let shape, let still):
            let rows = onCanvas(rows, area)
            if let picture = picture(area, planes.sources(rows, area), reader, weights, shape, slot) {
                planes.keep(
                    picture, rows, still, alphaWeights: picture.weights + MixerPlanes.weightCount, slot)
                planes.draw(still, area, rows, onto: draw.output)
            }
        case .reuse(let planes, let still): planes.draw(still, area, onCanvas(rows, area), onto: draw.output)
        }
    }

    private func onCanvas(_ rows: Range<Int>, _ area: PixelRect) -> Range<Int> {
        rows.lowerBound + area.y0..<rows.upperBound + area.y0
    }

    private func picture(
        _ area: PixelRect, _ rows: Range<Int>, _ reader: PlaneReader, _ weights: Int, _ shape: MixerDraws.Pass?,
        _ slot: MixerScratch.Slot
    ) -> MixerPlanes.Picture? {
        guard let numbers = draws.weights.baseAddress else { return nil }
        let pixels = pixels(of: area, rows, reader, shape, slot)
        return MixerPlanes.Picture(
            area: area, base: pixels.base, stride: pixels.stride, weights: numbers + weights)
    }

    private func run(
        _ pass: MixerDraws.Pass, _ rows: Range<Int>, onto output: ImageReference, _ slot: MixerScratch.Slot
    ) {
        guard let floats = draws.uniforms.baseAddress, let known = draws.images.baseAddress else { return }
        withUnsafeTemporaryAllocation(of: ImageReference.self, capacity: 3) { pictures in
            for place in 0..<pass.count { pictures.initializeElement(at: place, to: known[pass.images + place]) }
            if let strip = pass.strip { pictures[strip.image] = made(strip, rows, output, slot) }
            pass.code.run(
                inputs: UnsafeBufferPointer(rebasing: pictures[..<pass.count]), output: output,
                uniforms: UnsafePointer(floats + pass.uniforms), context: context, rows: rows)
        }
    }

    /// Where row 0 of a picture's pixels lies, of which these rows (the canvas's) are made if need be.
    private func pixels(
        of area: PixelRect, _ rows: Range<Int>, _ reader: PlaneReader, _ shape: MixerDraws.Pass?,
        _ slot: MixerScratch.Slot
    ) -> Plane {
        if shape == nil, reader.isCopied { return reader.view }
        let stride = (4 * area.width + 63) / 64 * 64
        let own = rows.lowerBound - area.y0..<rows.upperBound - area.y0
        if let shape {
            let plane = Plane(base: slot.layer - own.lowerBound * stride, stride: stride)
            run(
                shape, own,
                onto: ImageReference(
                    planes: (plane, plane, plane, plane), width: area.width, height: area.height), slot)
            return plane
        }
        let plane = Plane(base: slot.strip - own.lowerBound * stride, stride: stride)
        for y in own { reader.read(y, into: plane.row(y), slot) }
        return plane
    }

    private func fill(_ row: UnsafeMutableRawPointer, _ value: UInt32, _ bytes: Int, _ count: Int) {
        switch bytes {
        case 4: row.initializeMemory(as: UInt32.self, repeating: value, count: count)
        case 2: row.initializeMemory(as: UInt16.self, repeating: UInt16(truncatingIfNeeded: value), count: count)
        default: row.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: value), count: count)
        }
    }

    /// A strip's rows for these of the output, and of halved chroma one more on both sides, which it is interpolated from.
    private func made(
        _ strip: MixerDraws.Strip, _ rows: Range<Int>, _ output: ImageReference, _ slot: MixerScratch.Slot
    ) -> ImageReference {
        var start = slot.strip
        func plane(_ reader: PlaneReader, _ number: Int) -> Plane {
            let log2 = strip.format.layout(ofPlane: number).log2Height
            let first = max(0, rows.lowerBound >> log2 - log2)
            let last = min(reader.target.rows, (rows.upperBound - 1) >> log2 + 1 + log2)
            let stride = (reader.target.columns * reader.components + 63) / 64 * 64
            for y in first..<max(first, last) { reader.read(y, into: start + (y - first) * stride, slot) }
            let plane = Plane(base: start - first * stride, stride: stride)
            start += (last - first) * stride
            return plane
        }
        let luma = plane(strip.readers.0, 0)
        let second = strip.readers.1.map { plane($0, 1) } ?? luma
        let third = strip.readers.2.map { plane($0, 2) } ?? luma
        return ImageReference(planes: (luma, second, third, luma), width: output.width, height: output.height)
    }
}
