import PatchMedia

/// Which planes of its pictures a pass works on.
///
/// A pass over luma or chroma alone sees 4:4:4 pictures: those planes, at their own size. Components of other planes are 0
/// and never read. `pos`, `uv` and `size` are those of the whole picture, at the place where a chroma sample sits; whole-pixel
/// offsets count the picture's pixels, so that a chroma plane of half the size is read between two of its samples at odd ones.
/// Thread-safety: a value.
public enum PassPlanes: Hashable, Sendable {
    case all
    case luma
    /// Both chroma planes (or the one interleaved), smaller than the picture by these powers of two.
    case chroma(log2Width: Int, log2Height: Int)

    /// Samples of a plane whose mean is the value at an offset that counts the picture's pixels.
    func samples(at offset: Int, log2: Int) -> [Int] {
        if log2 == 0 { return [offset] }
        return offset & 1 == 0 ? [offset >> 1] : [offset >> 1, (offset >> 1) + 1]
    }

    /// Of Y'CbCr pictures.
    func includes(channel: Int) -> Bool {
        switch self {
        case .all: true
        case .luma: channel == 0
        case .chroma: channel == 1 || channel == 2
        }
    }

    /// Planes of an output that are written.
    func written(of format: PixelFormat) -> Range<Int> {
        switch self {
        case .all: 0..<format.planeCount
        case .luma: 0..<1
        case .chroma: 1..<format.planeCount
        }
    }

    /// Powers of two between the picture's pixels and this pass's.
    public var log2Width: Int { if case .chroma(let width, _) = self { width } else { 0 } }
    public var log2Height: Int { if case .chroma(_, let height) = self { height } else { 0 } }
}

/// A pass cut by planes, or why it cannot be.
///
/// Thread-safety: a value.
public enum PlanePasses: Hashable, Sendable {
    /// Luma, then chroma.
    case apart([PassDescription])
    case together(reason: String)
}

extension PassDescription {
    /// The same work plane by plane: each plane of a Y'CbCr picture at its own size, with no chroma brought to another size
    /// and back. That must be the same picture: proven of the kernel, whose luma may depend on luma alone and whose chroma on
    /// chroma alone, and of the formats, which must agree in all but depth, range and order of planes.
    ///
    /// The passes take the images that the whole pass takes, each through `ImageReference.showing`.
    public func planePasses() -> PlanePasses {
        let format = output.format
        let (log2Width, log2Height) = (format.log2ChromaWidth, format.log2ChromaHeight)
        guard planes == .all, log2Width + log2Height > 0 else {
            return .together(reason: "no chroma of \(format.rawValue) is subsampled")
        }
        guard kernel.space == .ycbcr else {
            return .together(reason: "'\(kernel.name)' works in \(kernel.space.rawValue) here")
        }
        for (declared, stored) in zip(kernel.inputs, inputs) {
            let isLike =
                stored.format == .gray8
                || stored.format.isYCbCr && stored.format.log2ChromaWidth == log2Width
                    && stored.format.log2ChromaHeight == log2Height && stored.color.siting == output.color.siting
                    && stored.color.lumaCoefficients == output.color.lumaCoefficients
            guard isLike else {
                return .together(
                    reason: "'\(declared.name)' is \(stored.format.rawValue), whose planes are not like those of "
                        + "\(format.rawValue)")
            }
            guard stored.orientation == .identity else {
                return .together(reason: "'\(declared.name)' is turned or mirrored while it is read")
            }
        }
        if let obstacle = kernel.obstacleToPlanes(isOpaque: { !inputs[$0].format.hasAlpha }) {
            return .together(reason: obstacle)
        }
        let groups: [PassPlanes] = [.luma, .chroma(log2Width: log2Width, log2Height: log2Height)]
        return .apart(
            groups.map { planes in
                var part = self
                part.planes = planes
                part.output.format = format.withoutSubsampling
                for index in part.inputs.indices {
                    part.inputs[index].format = part.inputs[index].format.withoutSubsampling
                }
                return part
            })
    }
}

extension ImageReference {
    /// What a pass over some planes sees of a picture of this (its own, not the pass's) format.
    public func showing(_ planes: PassPlanes, of format: PixelFormat) -> ImageReference {
        guard case .chroma = planes, format.isYCbCr else { return self }
        let chroma = format.layout(ofPlane: 1)
        var result = self
        result.width = chroma.width(of: width)
        result.height = chroma.height(of: height)
        // Luma is larger than this picture says, and not read.
        result.planes.0 = self.planes.1
        return result
    }
}
