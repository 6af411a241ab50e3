import PatchMedia

/// How a picture that a pass reads lies in memory.
///
/// Thread-safety: a value.
public struct PassInput: Hashable, Sendable {
    public var format: PixelFormat
    /// Resolved: nothing unspecified (what is, counts as `ColorSpec.resolved` for 720 lines says).
    public var color: ColorSpec
    /// The pass turns the stored picture this way while it reads.
    public var orientation: Orientation
    /// Alpha is premultiplied in memory; meaningless without alpha.
    public var premultiplied: Bool
    /// The stored picture has half the columns and half the rows of what is written. Told so, the code reads it without
    /// computing a place for each pixel where the kernel samples it at `uv`, bilinear and clamped. The result is the same.
    public var isHalf = false

    public init(
        format: PixelFormat, color: ColorSpec? = nil, orientation: Orientation = .identity, premultiplied: Bool = true
    ) {
        self.format = format
        self.color = (color ?? ColorSpec()).resolved(format: format, height: 720).spec
        self.orientation = orientation
        self.premultiplied = premultiplied
    }

    /// What a frame of this format looks like to a pass.
    public init(_ format: VideoFormat) {
        self.init(
            format: format.pixelFormat, color: format.color, orientation: format.orientation,
            premultiplied: format.premultiplied)
    }
}

/// How the picture that a pass writes lies in memory.
///
/// Thread-safety: a value.
public struct PassOutput: Hashable, Sendable {
    public var format: PixelFormat
    public var color: ColorSpec
    public var premultiplied: Bool
    /// Ordered (8×8 Bayer) dither before rounding to integer codes.
    public var dither: Bool

    public init(format: PixelFormat, color: ColorSpec? = nil, premultiplied: Bool = true, dither: Bool = false) {
        self.format = format
        self.color = (color ?? ColorSpec()).resolved(format: format, height: 720).spec
        self.premultiplied = premultiplied
        self.dither = dither && !format.isFloat
    }
}

extension PassInput {
    /// Turned at most by half: rows stay rows, read from the other end or from below where this says so.
    var keepsRows: Bool { !orientation.swapsAxes }
    var reversesColumns: Bool { keepsRows && orientation.mirrored != (orientation.quarterTurns == 2) }
    var reversesRows: Bool { orientation.quarterTurns == 2 }
}

extension PassOutput {
    /// Weights of a chroma sample's pixels together: 1 2 1 or 1 1 across, 1 1 down, or one alone.
    var chromaSum: Int {
        let across = format.log2ChromaWidth == 0 ? 1 : color.siting.isCositedHorizontally ? 4 : 2
        return across * (format.log2ChromaHeight == 0 || color.siting.isCositedVertically ? 1 : 2)
    }
}

/// One pass over memory: a kernel, and what it reads and writes.
///
/// Thread-safety: a value.
public struct PassDescription: Hashable, Sendable {
    public var kernel: Kernel
    /// One for each of the kernel's inputs.
    public var inputs: [PassInput]
    public var output: PassOutput
    /// Which planes the pass works on, as pictures of their own (see `planePasses`).
    public internal(set) var planes = PassPlanes.all

    /// A kernel of space `any` works in Y'CbCr where the pass reads and writes nothing else, else in R'G'B'.
    public init(kernel: Kernel, inputs: [PassInput], output: PassOutput) {
        self.kernel = kernel.space == .any ? kernel.inSpace(Self.cheapestSpace(kernel, inputs, output)) : kernel
        self.inputs = inputs
        self.output = output
    }

    private static func cheapestSpace(_ kernel: Kernel, _ inputs: [PassInput], _ output: PassOutput) -> KernelSpace {
        let isEncoded =
            kernel.light == .encoded && kernel.inputs.allSatisfy { $0.light == .encoded }
            && ([output.color] + inputs.map(\.color)).allSatisfy { $0.transfer != .linear }
        let isVideo =
            output.format.isYCbCr
            && inputs.allSatisfy {
                $0.format == .gray8 || $0.format.isYCbCr && $0.color.lumaCoefficients == output.color.lumaCoefficients
            }
        return isEncoded && isVideo ? .ycbcr : .rgb
    }

    /// Rows of one band must begin on a multiple of this: 2 where one row of chroma serves two rows of luma.
    public var rowAlignment: Int { 1 << output.format.log2ChromaHeight }

    /// What "encoded" means in this pass: the curve of the first input that has one, else the output's, else sRGB.
    /// Curves of encoded pictures are not converted into each other.
    var workingTransfer: ColorSpec.Transfer {
        for color in inputs.map(\.color) + [output.color] where color.transfer != .linear {
            return color.transfer == .unspecified ? .srgb : color.transfer
        }
        return .srgb
    }
}

/// A picture in memory: where its planes are, and its stored size in pixels.
///
/// Strides may be negative; nothing beyond the last byte of a row's pixels is read or written.
/// A plane's stride times its rows must be below 2³¹ bytes; 16-bit samples lie on even addresses.
/// Thread-safety: a value that points into its frame; use it only while you hold the frame.
public struct ImageReference: Sendable {
    public var planes: Frame.Planes
    public var width: Int
    public var height: Int
    /// The size of the whole picture, of which this may be the chroma planes only (see `PassPlanes`).
    public internal(set) var pictureWidth: Int
    public internal(set) var pictureHeight: Int

    public init(planes: Frame.Planes, width: Int, height: Int) {
        self.planes = planes
        self.width = width
        self.height = height
        pictureWidth = width
        pictureHeight = height
    }

    public init(_ frame: Frame) {
        self.init(planes: frame.planes, width: frame.width, height: frame.height)
    }

    /// A plane by its number in the format.
    public func plane(_ index: Int) -> Plane {
        switch index {
        case 0: planes.0
        case 1: planes.1
        case 2: planes.2
        default: planes.3
        }
    }
}

/// What changes from frame to frame besides pixels and uniforms.
///
/// Thread-safety: a value.
public struct FrameContext: Hashable, Sendable {
    /// Seconds.
    public var time: Double
    public var frame: Int64

    public init(time: Double = 0, frame: Int64 = 0) {
        self.time = time
        self.frame = frame
    }
}
