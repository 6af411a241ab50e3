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
    /// With edges, border and so on; by itself where it is `isMixed`.
    let layer: CompiledPass?
    /// R'G'B' with alpha over planes of Y'CbCr.
    let isMixed: Bool
    /// What such a picture adds to the planes, as long as it stays as it is.
    let still: MixerStill?
    /// Packed pixels of the canvas's format: over nothing but the background they are moved and looked through.
    let isSettled: Bool
    /// Of each plane of the picture at its own size.
    let readers: [PlaneReader]

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
        isMixed = canvas.isPlanar && input.pixelFormat.hasAlpha && blend == "normal" && light == .encoded
        still = isMixed ? MixerStill(output) : nil
        isSettled = output.pixelFormat.planeCount == 1 && isSame && isPlain && light == .encoded
        let masks = mask.map { [request.inputs[$0]] } ?? []
        if isPlaneWise {
            (copy, over, layer) = (nil, nil, nil)
        } else {
            copy =
                isPlain && isOpaque && !isSame
                ? try request.compile(MixerKernels.copy(), inputs: [input], output: output) : nil
            over =
                isPlain && !isMixed
                ? try request.compile(MixerKernels.over(light), inputs: [output, input], output: output) : nil
            let kernel = try MixerKernels.layer(blend: blend, hasMask: mask != nil, isAlone: isMixed, light)
            layer = try request.compile(
                kernel, inputs: (isMixed ? [] : [output]) + [input] + masks, output: isMixed ? input : output)
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
