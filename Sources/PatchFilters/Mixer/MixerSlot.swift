import PatchGraph
import PatchKernel
import PatchMedia

/// What one slot of a mixer is drawn with: machine code and tables for its picture's format and size.
///
/// Thread-safety: as the operator that owns it.
final class MixerSlot {
    let input: VideoFormat
    /// Which input covers the slot.
    let mask: Int?
    /// Laid over what is below by its alpha alone.
    let isPlain: Bool
    let isOpaque: Bool
    /// Of the canvas's layout and colour: samples can be moved as they are.
    let isSame: Bool
    /// Drawn plane by plane, by the passes that all such slots share.
    let isPlaneWise: Bool
    /// nil where passes go plane by plane, or would never be right.
    let copy: CompiledPass?
    let over: CompiledPass?
    let overColor: CompiledPass?
    let layer: CompiledPass?
    /// Of R'G'B' with alpha over Y'CbCr: passes for each plane of the canvas.
    let overPlanes: [CompiledPass]
    let layerPlanes: [CompiledPass]
    /// Of each plane of the picture at its own size.
    let readers: [PlaneReader]
    /// Of the picture at the size of the canvas's chroma, for planes of Y'CbCr.
    let chroma: PlaneReader?

    init(
        _ request: OperatorRequest, index: Int, mask: Int?, blend: String, canvas: MixerCanvas,
        code: RowCode.Resizing
    ) throws {
        let (input, output) = (request.inputs[index], canvas.format)
        self.input = input
        self.mask = mask
        isPlain = blend == "normal" && mask == nil
        isOpaque = request.opaque[index]
        var same = output
        (same.width, same.height) = (input.width, input.height)
        isSame = same == input
        // The formulas of the other blends mean encoded values.
        let light = blend == "normal" ? request.light : .encoded
        isPlaneWise = canvas.isPlanar && isSame && isPlain && light == .encoded
        let isMixed = canvas.isPlanar && input.pixelFormat.hasAlpha && blend == "normal" && light == .encoded
        let masks = mask.map { [request.inputs[$0]] } ?? []
        if isPlaneWise {
            (copy, over, overColor, layer) = (nil, nil, nil, nil)
        } else {
            copy =
                isPlain && isOpaque && !isSame
                ? try request.compile(MixerKernels.copy(), inputs: [input], output: output) : nil
            over =
                isPlain && !isMixed
                ? try request.compile(MixerKernels.over(light), inputs: [output, input], output: output) : nil
            overColor =
                isPlain && !canvas.isPlanar && light == .encoded
                ? try request.compile(MixerKernels.overColor(), inputs: [input], output: output) : nil
            layer =
                isMixed
                ? nil
                : try request.compile(
                    MixerKernels.layer(blend: blend, hasMask: mask != nil, light), inputs: [output, input] + masks,
                    output: output)
        }
        let grey = VideoFormat(.gray8, width: 1, height: 1, color: .srgb)
        let weights = isMixed ? (0..<3).map { canvas.weights(ofPlane: $0) } : []
        overPlanes =
            isPlain
            ? try weights.map { try request.compile(MixerKernels.overPlane($0), inputs: [grey, input], output: grey) }
            : []
        layerPlanes = try weights.map {
            try request.compile(
                MixerKernels.layer(blend: blend, hasMask: mask != nil, plane: $0), inputs: [grey, input] + masks,
                output: grey)
        }
        func reader(_ plane: Int) -> PlaneReader {
            let layout = input.pixelFormat.layout(ofPlane: plane)
            return PlaneReader(
                code: code, width: layout.width(of: input.width), height: layout.height(of: input.height),
                components: layout.bytesPerPixel,
                step: PlaneReader.Step(x: 1 << layout.log2Width, y: 1 << layout.log2Height),
                canvas: (output.width, output.height))
        }
        readers = (0..<input.pixelFormat.planeCount).map { reader($0) }
        chroma = isMixed ? reader(0) : nil
    }

    /// Makes the readers' tables for a part of the canvas; rows and columns of each plane as a picture of that part's size
    /// in the slot's format has them.
    func aim(_ image: ImageReference, _ placed: PlacedSlot, _ part: PixelRect) {
        for plane in readers.indices {
            let layout = input.pixelFormat.layout(ofPlane: plane)
            readers[plane].aim(
                at: image.plane(plane), source: placed.source, picture: placed.picture,
                target: PlaneReader.Target(
                    x: part.x0, y: part.y0,
                    step: PlaneReader.Step(x: 1 << layout.log2Width, y: 1 << layout.log2Height),
                    columns: layout.width(of: part.width), rows: layout.height(of: part.height)))
        }
    }

    /// Makes a reader's tables for samples of one plane of the canvas.
    func aim(
        _ reader: PlaneReader, _ plane: Plane, _ placed: PlacedSlot, samples: PixelRect, step: (x: Int, y: Int)
    ) {
        reader.aim(
            at: plane, source: placed.source, picture: placed.picture,
            target: PlaneReader.Target(
                x: samples.x0 * step.x, y: samples.y0 * step.y, step: PlaneReader.Step(x: step.x, y: step.y),
                columns: samples.width, rows: samples.height))
    }

    /// The aimed picture: as it lies in memory, or as a strip that bands make.
    /// - Parameter image: which picture of the pass it is.
    func picture(image: Int, width: Int, height: Int) -> (view: ImageReference, strip: MixerDraws.Strip?) {
        let planes = readers.count
        let (first, second, third) = (
            readers[0], planes > 1 ? readers[1] : nil, planes > 2 ? readers[2] : nil
        )
        let isInPlace = first.isCopied && second?.isCopied ?? true && third?.isCopied ?? true
        let view = ImageReference(
            planes: (first.view, (second ?? first).view, (third ?? first).view, first.view), width: width,
            height: height)
        if isInPlace { return (view, nil) }
        return (view, MixerDraws.Strip(readers: (first, second, third), image: image, format: input.pixelFormat))
    }
}
