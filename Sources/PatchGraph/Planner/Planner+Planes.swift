import PatchKernel
import PatchMedia

/// Planes apart: which pictures are computed luma and chroma by themselves, each at its own size.
extension Planner {
    /// The format in which an intermediate keeps planes apart: its inputs' layout at 10 bits, so that what is rounded between
    /// passes is a quarter of an 8-bit code; nil where the kernel or its inputs do not allow it.
    func planarFormat(_ expression: PictureExpression) -> VideoFormat? {
        guard expression.kernel.space != .rgb, expression.storage == .half4,
            let first = expression.inputs.first(where: { $0.format.pixelFormat.isYCbCr })?.format,
            let deep = first.pixelFormat.deepPlanes
        else { return nil }
        let format = VideoFormat(deep, width: expression.width, height: expression.height, color: first.color)
        guard case .apart = description(of: expression, as: format).planePasses() else { return nil }
        return format
    }

    /// The format of a video whose planes an expression can work on: what to offer a sink, so that the picture stays as it is.
    func videoFormat(_ expression: PictureExpression) -> VideoFormat? {
        guard planarFormat(expression) != nil,
            var format = expression.inputs.first(where: { $0.format.pixelFormat.isYCbCr })?.format
        else { return nil }
        (format.width, format.height) = (expression.width, expression.height)
        format.orientation = .identity
        return format
    }

    /// The same for one of these formats: video whose planes another order of planes holds as well.
    func videoFormat(_ picture: Picture, among formats: [PixelFormat]) -> VideoFormat? {
        let found: VideoFormat?
        switch picture {
        case .expression(let expression): found = videoFormat(expression)
        case .stored(let stored):
            found = stored.format.pixelFormat.isYCbCr && stored.format.orientation == .identity ? stored.format : nil
        }
        guard var format = found, let deep = format.pixelFormat.deepPlanes else { return nil }
        if formats.contains(format.pixelFormat) { return format }
        guard format.pixelFormat.bitDepth == 8,
            let other = formats.first(where: { $0.bitDepth == 8 && $0.deepPlanes == deep })
        else { return nil }
        format.pixelFormat = other
        return format
    }

    /// A source's picture as it stands: turned by itself where its samples can be moved as they are. Read through its
    /// orientation, every pixel costs a gather for each sample; planes that are moved first are read as any others.
    mutating func upright(_ stored: StoredPicture, of node: PatchNode) throws -> StoredPicture {
        guard UprightOperator.supports(stored.format) else { return stored }
        let turning = try UprightOperator(stored.format, compiler: compiler)
        let slot = newSlot(turning.output)
        plan.steps.append(
            .operate(
                PlanOperate(
                    id: node.id, name: "upright", work: turning, inputs: [stored.slot], output: slot,
                    uniformOffset: plan.uniformCount, toleratesMissingInputs: false, data: nil, isWatched: false)))
        return StoredPicture(slot: slot, format: turning.output)
    }

    /// Whether an expression reads so much around each pixel that its planes should be computed apart even for an R'G'B'
    /// reader: half the samples of R'G'B' at full size, and one conversion for all reads.
    func prefersPlanes(_ expression: PictureExpression) -> Bool {
        expression.inputs.indices.contains { index in
            expression.inputs[index].format.pixelFormat.log2ChromaWidth > 0
                && expression.kernel.footprint(ofInput: index).reads > Self.mostPackedReads
        }
    }

    /// The expression, or a copy of its result stored in planes, where it should be computed in planes and `format` has none.
    mutating func inPlanes(_ expression: PictureExpression, before format: VideoFormat) throws -> PictureExpression {
        guard prefersPlanes(expression), let planar = planarFormat(expression) else { return expression }
        if case .apart = description(of: expression, as: format).planePasses() { return expression }
        let stored = try compute(
            expression, as: planar, reason: "\(format.pixelFormat.rawValue) is made of its planes afterwards")
        return try asExpression(.stored(stored))
    }

    /// Whether a stencil will read this picture plane by plane, as it lies.
    func readsInPlanes(_ reader: PictureExpression, _ stored: StoredPicture) -> Bool {
        var trial = reader
        // Inputs that come later are taken to be like this one.
        trial.inputs += Array(repeating: stored, count: max(0, reader.kernel.inputs.count - reader.inputs.count))
        return planarFormat(trial) != nil
    }

    func description(of expression: PictureExpression, as format: VideoFormat) -> PassDescription {
        PassDescription(
            kernel: expression.kernel,
            inputs: expression.inputs.map { stored in
                var input = stored.passInput
                let (width, height) = stored.size
                input.isHalf = (2 * width, 2 * height) == (expression.width, expression.height)
                return input
            },
            output: PassOutput(format: format.pixelFormat, color: format.color, premultiplied: format.premultiplied))
    }

    /// Machine code for the whole picture, or for luma and chroma.
    func compile(
        _ expression: PictureExpression, as format: VideoFormat
    ) throws -> (first: CompiledPass, chroma: CompiledPass?, whyTogether: String) {
        let whole = description(of: expression, as: format)
        func compiled(_ description: PassDescription) throws -> CompiledPass {
            try wrap { () throws(KernelError) in try compiler.compile(description) }
        }
        switch whole.planePasses() {
        case .apart(let parts): return (try compiled(parts[0]), try compiled(parts[1]), "")
        case .together(let reason):
            let isSubsampled = format.pixelFormat.log2ChromaWidth > 0
            return (try compiled(whole), nil, isSubsampled ? reason : "")
        }
    }
}

extension PixelFormat {
    /// The three-plane format with the same chroma and 10 bits; nil where no chroma is subsampled.
    var deepPlanes: PixelFormat? {
        switch self {
        case .yuv420p, .nv12, .yuv420p10, .p010: .yuv420p10
        case .yuv422p, .yuv422p10: .yuv422p10
        default: nil
        }
    }
}
