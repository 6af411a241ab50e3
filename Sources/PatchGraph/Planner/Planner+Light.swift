import PatchKernel
import PatchMedia

/// Light: what works on linear values, and where pictures are stored as such.
extension Planner {
    /// A kernel as the graph wants it: with `light = "linear"` all that only weighs colours (mixes, blurs, resampling) weighs
    /// light. A kernel that names its light keeps it.
    /// - Parameter follows: how a stage means it, when the kernel's space does not say so.
    func inGraphsLight(_ kernel: Kernel, _ follows: KernelFilter.Stage.Following = .init()) -> Kernel {
        guard checked?.patch.settings.light == .linear, follows.isAsked || kernel.space == .any,
            kernel.light == .encoded, kernel.inputs.allSatisfy({ $0.light == .encoded })
        else { return kernel }
        return kernel.inLinearLight(except: follows.weights)
    }

    /// Whether a reader must find light in memory: it reads between pixels, where encoded values would be mixed before they
    /// become light, or reads so many pixels that each should become light once.
    func needsStoredLight(_ kernel: Kernel, input: Int, sameSize: Bool) -> Bool {
        guard kernel.inputs[input].light == .linear else { return false }
        let footprint = kernel.footprint(ofInput: input)
        return !sameSize || footprint == .gather || footprint.reads > Self.mostPackedReads
    }

    /// The picture as linear half floats the right way up, converted once for all who need it.
    mutating func asLight(_ stored: StoredPicture, ofNode upstream: NodeID?) throws -> StoredPicture {
        guard stored.format.color.transfer != .linear else { return stored }
        let expression = try asExpression(.stored(stored))
        let format = linear(intermediate(expression))
        let key = upstream.map { ConversionKey(node: $0, format: format, fill: .stretch) }
        if let key, let known = conversions[key] { return known }
        let result = try compute(expression, as: format, reason: "its reader mixes light, not codes")
        if let key { conversions[key] = result }
        return result
    }

    /// The picture in the light that a kernel which reads between its pixels works in.
    mutating func inLight(_ stored: StoredPicture, of kernel: Kernel, ofNode upstream: NodeID?) throws -> StoredPicture
    {
        kernel.light == .linear ? try asLight(stored, ofNode: upstream) : stored
    }

    /// Half floats of light, of a picture that would be stored like this.
    func linear(_ format: VideoFormat) -> VideoFormat {
        var color = ColorSpec.srgb
        color.primaries = format.color.primaries
        color.transfer = .linear
        return VideoFormat(
            format.pixelFormat.isFloat ? format.pixelFormat : .half4, width: format.width, height: format.height,
            color: color)
    }

    /// Says once of a node that it brings together colours of unlike primaries: their numbers are weighed as they are
    /// (docs/decisions/light.md).
    mutating func notePrimaries(_ node: PatchNode, _ colors: [ColorSpec]) {
        var names: [String] = []
        for color in colors where !names.contains(color.primaries.rawValue) { names.append(color.primaries.rawValue) }
        guard names.count > 1 else { return }
        let message =
            "'\(node.id)' brings together \(names.sorted().joined(separator: " and ")) primaries, which are not converted into "
            + "each other: colours shift a little"
        guard !plan.notes.contains(where: { $0.message == message }) else { return }
        plan.notes.append(PatchNote(message: message, node: node.id, location: node.location))
    }

    /// The colours of what a picture is made of.
    func colors(of picture: Picture) -> [ColorSpec] {
        switch picture {
        case .stored(let stored): [stored.format.color]
        case .expression(let expression): expression.inputs.map(\.format.color)
        }
    }

    /// R'G'B' as the expression's pictures encode it: an intermediate keeps the curve of what it was made of, so that
    /// storing it changes nothing.
    func encodedColor(_ expression: PictureExpression) -> ColorSpec {
        var color = ColorSpec.srgb
        if let first = expression.inputs.first(where: { $0.format.color.transfer != .linear })?.format.color {
            color.transfer = first.transfer == .unspecified ? .srgb : first.transfer
            color.primaries = first.primaries
        }
        return color
    }
}
