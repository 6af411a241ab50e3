import PatchGraph
import PatchKernel
import PatchMedia

/// The picture that a mixer fills: its planes, its background, and colours as its codes.
///
/// Thread-safety: as the operator that owns it.
final class MixerCanvas {
    let format: VideoFormat
    /// Y'CbCr in planes of its own, 8 bits: what needs no colour arithmetic is done plane by plane.
    let isPlanar: Bool
    /// Where parts of it that a pass writes may begin.
    let alignX: Int
    let alignY: Int
    let bounds: PixelRect
    /// Parts that no solid slot covers.
    private let parts: UnsafeMutableBufferPointer<PixelRect>
    private var partCount = 0
    static let mostParts = 128

    /// What a canvas may be; a sink that wants something else gets RGBA converted.
    static let formats: Set<PixelFormat> = [.rgba, .bgra, .yuv420p, .yuv422p, .yuv444p, .nv12]

    init(_ format: VideoFormat) {
        self.format = format
        isPlanar = format.pixelFormat.isYCbCr && format.pixelFormat.planeCount == 3
        alignX = 1 << format.pixelFormat.log2ChromaWidth
        alignY = 1 << format.pixelFormat.log2ChromaHeight
        bounds = PixelRect(0, 0, format.width, format.height)
        parts = .allocate(capacity: Self.mostParts)
        parts.initialize(repeating: bounds)
    }

    deinit { parts.deallocate() }

    /// Pixels a sample of a plane spans.
    func step(ofPlane plane: Int) -> (x: Int, y: Int) {
        let layout = format.pixelFormat.layout(ofPlane: plane)
        return (1 << layout.log2Width, 1 << layout.log2Height)
    }

    /// log2 of the pixels that a row of a plane spans.
    func log2Rows(_ plane: Int) -> Int { format.pixelFormat.layout(ofPlane: plane).log2Height }

    /// The rectangle widened until parts of the canvas may begin and end there.
    func aligned(_ rect: PixelRect) -> PixelRect {
        PixelRect(
            rect.x0 / alignX * alignX, rect.y0 / alignY * alignY,
            min(format.width, (rect.x1 + alignX - 1) / alignX * alignX),
            min(format.height, (rect.y1 + alignY - 1) / alignY * alignY))
    }

    func isAligned(_ rect: PixelRect) -> Bool { aligned(rect) == rect }

    /// A part of a picture of the canvas's format, which begins on an aligned pixel.
    func view(_ image: ImageReference, _ rect: PixelRect) -> ImageReference {
        func moved(_ plane: Plane, _ index: Int) -> Plane {
            guard index < format.pixelFormat.planeCount else { return plane }
            let layout = format.pixelFormat.layout(ofPlane: index)
            return Plane(
                base: plane.row(rect.y0 >> layout.log2Height) + (rect.x0 >> layout.log2Width) * layout.bytesPerPixel,
                stride: plane.stride)
        }
        let planes = image.planes
        return ImageReference(
            planes: (moved(planes.0, 0), moved(planes.1, 1), moved(planes.2, 2), moved(planes.3, 3)),
            width: rect.width, height: rect.height)
    }

    /// A part of one plane as a grey picture; the rectangle is in samples of the plane.
    static func plane(_ plane: Plane, _ rect: PixelRect) -> ImageReference {
        let part = Plane(base: plane.row(rect.y0) + rect.x0, stride: plane.stride)
        return ImageReference(planes: (part, part, part, part), width: rect.width, height: rect.height)
    }

    /// Straight R'G'B' as the canvas's codes in 0…255: Y, Cb, Cr, or R, G, B in memory order.
    func codes(_ color: SIMD4<Float>) -> SIMD4<Float> {
        switch format.pixelFormat {
        case .bgra: return SIMD4(color.z, color.y, color.x, color.w) * 255
        case .rgba: return color * 255
        default:
            let (kr, kb) = format.color.lumaCoefficients
            let luma = Float(kr) * color.x + Float(1 - kr - kb) * color.y + Float(kb) * color.z
            let cb = (color.z - luma) / Float(2 * (1 - kb))
            let cr = (color.x - luma) / Float(2 * (1 - kr))
            if format.color.range == .full { return SIMD4(luma * 255, cb * 255 + 128, cr * 255 + 128, 255) }
            return SIMD4(luma * 219 + 16, cb * 224 + 128, cr * 224 + 128, 255)
        }
    }

    /// How much of R, G, B and of alpha, premultiplied, is in a plane's code, both in 0…1.
    func weights(ofPlane plane: Int) -> SIMD4<Float> {
        let (kr, kb) = format.color.lumaCoefficients
        let isFull = format.color.range == .full
        let luma = SIMD4<Double>(kr, 1 - kr - kb, kb, 0)
        var weights = luma * (isFull ? 1 : 219.0 / 255)
        if plane > 0 {
            let own = plane == 1 ? SIMD4<Double>(0, 0, 1, 0) : SIMD4<Double>(1, 0, 0, 0)
            weights = (own - luma) * ((isFull ? 1 : 224.0 / 255) / (2 * (1 - (plane == 1 ? kb : kr))))
        }
        weights.w = plane > 0 ? 128.0 / 255 : isFull ? 0 : 16.0 / 255
        return SIMD4<Float>(weights)
    }

    /// Begins a picture: all of it is to be painted with the background, but for what `cover` says.
    func uncover() {
        parts[0] = bounds
        partCount = 1
    }

    /// What needs no background.
    func cover(_ rect: PixelRect) {
        // Only whole samples of every plane count as covered.
        let hole = PixelRect(
            (rect.x0 + alignX - 1) / alignX * alignX, (rect.y0 + alignY - 1) / alignY * alignY,
            rect.x1 == format.width ? rect.x1 : rect.x1 / alignX * alignX,
            rect.y1 == format.height ? rect.y1 : rect.y1 / alignY * alignY)
        if !hole.isEmpty { partCount = cut(hole.intersection(bounds), partCount) }
    }

    /// Paints what is not covered.
    /// - Parameter color: straight.
    func paintBackground(_ color: SIMD4<Float>, _ output: ImageReference, _ draws: MixerDraws) {
        let premultiplied = SIMD4(color.x * color.w, color.y * color.w, color.z * color.w, color.w)
        let codes = codes(premultiplied)
        let whole = codes.rounded(.toNearestOrAwayFromZero).clamped(
            lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: 255))
        let (a, b, c, d) = (UInt32(whole.x), UInt32(whole.y), UInt32(whole.z), UInt32(whole.w))
        for part in 0..<partCount where !parts[part].isEmpty {
            for plane in 0..<format.pixelFormat.planeCount {
                let layout = format.pixelFormat.layout(ofPlane: plane)
                let value: UInt32 =
                    switch (layout.bytesPerPixel, plane) {
                    case (4, _): a | b << 8 | c << 16 | d << 24
                    case (2, _): b | c << 8
                    case (_, 0): a
                    case (_, 1): b
                    default: c
                    }
                draws.append(
                    .fill(value: value, bytes: layout.bytesPerPixel), samples(parts[part], plane),
                    log2Rows: layout.log2Height, plane: output.plane(plane))
            }
        }
    }

    /// A rectangle of whole pixels as samples of a plane.
    func samples(_ rect: PixelRect, _ plane: Int) -> PixelRect {
        let step = step(ofPlane: plane)
        return PixelRect(
            rect.x0 / step.x, rect.y0 / step.y, (rect.x1 + step.x - 1) / step.x, (rect.y1 + step.y - 1) / step.y)
    }

    /// Takes a hole out of the first `count` parts. What does not fit into the list stays: painting more is not wrong.
    private func cut(_ hole: PixelRect, _ count: Int) -> Int {
        var total = count
        for index in 0..<count {
            let part = parts[index]
            let common = part.intersection(hole)
            guard !common.isEmpty, total + 4 <= Self.mostParts else { continue }
            parts[index] = PixelRect(part.x0, part.y0, part.x1, common.y0)
            parts[total] = PixelRect(part.x0, common.y1, part.x1, part.y1)
            parts[total + 1] = PixelRect(part.x0, common.y0, common.x0, common.y1)
            parts[total + 2] = PixelRect(common.x1, common.y0, part.x1, common.y1)
            total += 3
        }
        return total
    }
}
