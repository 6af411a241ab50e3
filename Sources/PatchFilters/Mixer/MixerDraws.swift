import PatchGraph
import PatchKernel
import PatchMedia

/// What a mixer draws in a tick, back to front. It is listed first and then drawn band by band, so that what lies over
/// something finds it in the cache, and so that threads meet once a tick.
///
/// Thread-safety: filled by the operator's thread; bands only read it.
final class MixerDraws: @unchecked Sendable {
    // Unchecked: see above.

    enum Work {
        /// One value all over: of one byte or so many.
        case fill(value: UInt32, bytes: Int)
        /// A plane of the canvas from a reader of the same components.
        case place(PlaneReader)
        /// The same of packed pixels that may be see-through, over one colour.
        case settle(PlaneReader, RowCode.Settled, weights: Int)
        case pass(Pass)
        /// R'G'B' with alpha over planes of Y'CbCr: a reader's pixels, or what a pass makes of them.
        case lay(MixerPlanes, PlaneReader, weights: Int, shape: Pass?)
        /// The same, which is kept for later; its alpha's weights follow its own.
        case keep(MixerPlanes, PlaneReader, weights: Int, shape: Pass?, MixerStill)
        /// What was kept.
        case reuse(MixerPlanes, MixerStill)
    }

    /// Its pictures begin at `images`, of which one may be a strip.
    struct Pass {
        var code: CompiledPass
        var uniforms: Int
        var images: Int
        var count: Int
        var strip: Strip?
    }

    /// A picture that is made row by row: a reader for each plane.
    struct Strip {
        var readers: (PlaneReader, PlaneReader?, PlaneReader?)
        /// Which picture of the pass it is.
        var image: Int
        var format: PixelFormat
    }

    struct Draw {
        var work: Work
        /// What of the canvas, in samples of its plane (of its first, for a pass over all planes).
        var area: PixelRect
        /// Rows that it may change.
        var rows: Range<Int>
        /// log2 of the pixels that a row spans.
        var log2Rows: Int
        /// `fill`, `place`, `settle`: the canvas's plane.
        var plane: Plane
        /// `pass`: the part of the canvas. `lay`: the canvas.
        var output: ImageReference
    }

    private(set) var count = 0
    private(set) var imageCount = 0
    private(set) var uniformCount = 0
    private(set) var weightCount = 0
    let draws: UnsafeMutableBufferPointer<Draw>
    let images: UnsafeMutableBufferPointer<ImageReference>
    let uniforms: UnsafeMutableBufferPointer<Float>
    let weights: UnsafeMutableBufferPointer<Int16>
    private let nothing: Draw

    /// - Parameter slots: of the mixer.
    init(slots: Int, backgroundParts: Int) {
        let blank = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        nothing = Draw(
            work: .fill(value: 0, bytes: 1), area: PixelRect(0, 0, 0, 0), rows: 0..<0, log2Rows: 0,
            plane: blank.plane(0), output: ImageReference(blank))
        // A shadow, what is beside the picture, and the picture: three planes each.
        let passes = 9 * slots
        draws = .allocate(capacity: passes + 3 * backgroundParts)
        draws.initialize(repeating: nothing)
        images = .allocate(capacity: max(1, 3 * passes))
        images.initialize(repeating: ImageReference(blank))
        uniforms = .allocate(capacity: max(1, MixerKernels.mostFloats * passes))
        uniforms.initialize(repeating: 0)
        // A picture that is kept has two sets.
        weights = .allocate(capacity: max(1, 2 * MixerPlanes.weightCount * slots))
        weights.initialize(repeating: 0)
    }

    deinit {
        draws.deinitialize()
        draws.deallocate()
        images.deallocate()
        uniforms.deallocate()
        weights.deallocate()
    }

    func removeAll() { (count, imageCount, uniformCount, weightCount) = (0, 0, 0, 0) }

    func append(_ work: Work, _ area: PixelRect, log2Rows: Int, plane: Plane) {
        add(work, area, rows: area.y0..<area.y1, log2Rows: log2Rows, plane: plane, output: nothing.output)
    }

    /// Pixels over one colour.
    /// - Parameter color: premultiplied, in the pixels' order, 0…1.
    func append(
        _ reader: PlaneReader, _ settle: @escaping RowCode.Settled, _ area: PixelRect, plane: Plane,
        color: SIMD4<Float>, opacity: Float
    ) {
        guard let first = takeWeights() else { return }
        let order = SIMD4(0, 2, 1, 3)
        for place in 0..<4 { weights[first + place] = Self.part(color[order[place]]) }
        weights[first + 4] = Self.part(opacity)
        append(.settle(reader, settle, weights: first), area, log2Rows: 0, plane: plane)
    }

    /// Pixels over planes of Y'CbCr.
    /// - Parameter still: where to keep what they become.
    func append(
        _ planes: MixerPlanes, _ reader: PlaneReader, _ area: PixelRect, canvas: ImageReference, opacity: Float,
        isBlue: Bool, shape: Pass?, keepingIn still: MixerStill?
    ) {
        guard let first = takeWeights(), let base = weights.baseAddress else { return }
        planes.setWeights(base + first, opacity: opacity, isBlue: isBlue)
        var work = Work.lay(planes, reader, weights: first, shape: shape)
        if let still, let second = takeWeights() {
            planes.setAlphaWeights(base + second, opacity: opacity)
            work = .keep(planes, reader, weights: first, shape: shape, still)
        }
        append(work, planes, area, canvas)
    }

    /// What was kept, over planes of Y'CbCr.
    func append(_ planes: MixerPlanes, _ still: MixerStill, _ area: PixelRect, canvas: ImageReference) {
        append(.reuse(planes, still), planes, area, canvas)
    }

    private func append(_ work: Work, _ planes: MixerPlanes, _ area: PixelRect, _ canvas: ImageReference) {
        add(work, area, rows: planes.rows(area), log2Rows: 0, plane: canvas.plane(0), output: canvas)
    }

    /// A pass over a part of the canvas.
    /// - Parameters:
    ///   - output: the part; `area` says where it is.
    ///   - values: the pass's uniforms.
    func append(
        _ code: CompiledPass, _ output: ImageReference, _ area: PixelRect, log2Rows: Int, canvas: Bool,
        source: ImageReference? = nil, mask: ImageReference? = nil, strip: Strip? = nil, values: SIMD16<Float>
    ) {
        guard
            let pass = pass(code, canvas ? output : nil, source, mask, strip: strip, values: values)
        else { return }
        add(
            .pass(pass), area, rows: area.y0..<area.y1, log2Rows: log2Rows, plane: output.plane(0), output: output)
    }

    /// Lists a pass's pictures and uniforms.
    func pass(
        _ code: CompiledPass, _ canvas: ImageReference?, _ source: ImageReference?, _ mask: ImageReference?,
        strip: Strip?, values: SIMD16<Float>
    ) -> Pass? {
        guard uniformCount + MixerKernels.mostFloats <= uniforms.count, imageCount + 3 <= images.count else {
            return nil
        }
        let (first, firstUniform) = (imageCount, uniformCount)
        func add(_ picture: ImageReference?) {
            guard let picture else { return }
            images[imageCount] = picture
            imageCount += 1
        }
        add(canvas)
        add(source)
        add(mask)
        for place in 0..<MixerKernels.mostFloats { uniforms[firstUniform + place] = values[place] }
        uniformCount += MixerKernels.mostFloats
        return Pass(code: code, uniforms: firstUniform, images: first, count: imageCount - first, strip: strip)
    }

    private func add(
        _ work: Work, _ area: PixelRect, rows: Range<Int>, log2Rows: Int, plane: Plane, output: ImageReference
    ) {
        guard count < draws.count, !area.isEmpty else { return }
        draws[count] = Draw(work: work, area: area, rows: rows, log2Rows: log2Rows, plane: plane, output: output)
        count += 1
    }

    private func takeWeights() -> Int? {
        let first = weightCount
        guard first + MixerPlanes.weightCount <= weights.count else { return nil }
        weightCount += MixerPlanes.weightCount
        return first
    }

    /// 0…1 in 65535ths.
    static func part(_ value: Float) -> Int16 {
        let scaled: Float = (value * 65535).rounded()
        let limited: Float = max(0, min(65535, scaled))
        return Int16(bitPattern: UInt16(limited))
    }
}
