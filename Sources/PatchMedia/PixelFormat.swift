/// How a picture's samples lie in memory. Names follow FFmpeg's; the half-float formats are Patchbay's own.
///
/// Thread-safety: a value.
public enum PixelFormat: String, Hashable, Sendable, CaseIterable {
    /// 8-bit Y'CbCr, three planes: chroma halved both ways (420), across (422) or not at all (444).
    case yuv420p, yuv422p, yuv444p
    /// 8-bit Y'CbCr 4:2:0, two planes: Y, then interleaved CbCr.
    case nv12
    /// 10-bit Y'CbCr in the low bits of little-endian 16-bit words, three planes.
    case yuv420p10, yuv422p10, yuv444p10
    /// 10-bit Y'CbCr 4:2:0 in the high bits of 16-bit words, two planes (the 10-bit form of nv12).
    case p010
    /// Y'CbCr 4:4:4 in two planes, Y, then interleaved CbCr, in 8 bits and in the high 10 of 16: how the chroma plane of nv12
    /// or p010 looks when it is worked on by itself.
    case nv24, p410
    /// 8-bit interleaved R'G'B' with alpha.
    case rgba, bgra
    /// 8-bit luma or grey, one plane.
    case gray8
    /// Planar half floats (IEEE binary16), one plane a channel, full range, 1.0 = white: Patchbay's intermediates.
    case half1, half2, half3, half4
    /// Planar 32-bit floats, one plane a channel: sound, a channel a plane and a sample a pixel. As with half floats, what is
    /// beyond ±65504 is cut to that and NaN is written as 0.
    case float1, float2, float3, float4
}

/// One plane's share of a format.
public struct PlaneLayout: Hashable, Sendable {
    /// log2 of the horizontal and vertical subsampling (0 or 1).
    public let log2Width: Int
    public let log2Height: Int
    /// Bytes from one sample position to the next in a row (all interleaved components together).
    public let bytesPerPixel: Int

    /// Columns of this plane for a picture `width` pixels wide: odd widths round up.
    public func width(of width: Int) -> Int { (width + (1 << log2Width) - 1) >> log2Width }
    /// Rows of this plane for a picture `height` pixels high: odd heights round up.
    public func height(of height: Int) -> Int { (height + (1 << log2Height) - 1) >> log2Height }
}

extension PixelFormat {
    /// Planes in memory order: Y Cb Cr, Y CbCr, RGBA, grey, or R G B A.
    public var planes: [PlaneLayout] {
        (0..<planeCount).map { layout(ofPlane: $0) }
    }

    public var planeCount: Int {
        switch self {
        case .rgba, .bgra, .gray8, .half1, .float1: 1
        case .nv12, .p010, .nv24, .p410, .half2, .float2: 2
        case .yuv420p, .yuv422p, .yuv444p, .yuv420p10, .yuv422p10, .yuv444p10, .half3, .float3: 3
        case .half4, .float4: 4
        }
    }

    /// - Precondition: `plane` is below `planeCount`.
    public func layout(ofPlane plane: Int) -> PlaneLayout {
        precondition(plane >= 0 && plane < planeCount)
        let chroma = isYCbCr && plane > 0
        let bytes = bytesPerSample * (chroma && planeCount == 2 ? 2 : 1)
        switch self {
        case .rgba, .bgra: return PlaneLayout(log2Width: 0, log2Height: 0, bytesPerPixel: 4)
        default:
            return PlaneLayout(
                log2Width: chroma ? log2ChromaWidth : 0, log2Height: chroma ? log2ChromaHeight : 0,
                bytesPerPixel: bytes)
        }
    }

    /// Y'CbCr, whose codes need a matrix and a range; false for RGB, grey and floats.
    public var isYCbCr: Bool {
        switch self {
        case .yuv420p, .yuv422p, .yuv444p, .nv12, .yuv420p10, .yuv422p10, .yuv444p10, .p010, .nv24, .p410: true
        default: false
        }
    }

    /// Numbers instead of codes: half or 32-bit floats.
    public var isFloat: Bool {
        switch self {
        case .half1, .half2, .half3, .half4, .float1, .float2, .float3, .float4: true
        default: false
        }
    }

    public var isHalf: Bool { isFloat && bytesPerSample == 2 }

    /// Bytes of one sample of one component.
    public var bytesPerSample: Int { bitDepth > 16 ? 4 : bitDepth > 8 ? 2 : 1 }

    /// Significant bits a component: 8, 10, 16 (half float) or 32 (float).
    public var bitDepth: Int {
        switch self {
        case .yuv420p10, .yuv422p10, .yuv444p10, .p010, .p410: 10
        case .half1, .half2, .half3, .half4: 16
        case .float1, .float2, .float3, .float4: 32
        default: 8
        }
    }

    /// Whether the format can carry alpha.
    public var hasAlpha: Bool {
        switch self {
        case .rgba, .bgra, .half4, .float4: true
        default: false
        }
    }

    public var log2ChromaWidth: Int {
        switch self {
        case .yuv420p, .nv12, .yuv422p, .yuv420p10, .p010, .yuv422p10: 1
        default: 0
        }
    }

    public var log2ChromaHeight: Int {
        switch self {
        case .yuv420p, .nv12, .yuv420p10, .p010: 1
        default: 0
        }
    }

    /// Unused low bits below a code in its 16-bit word.
    public var lowBits: Int { self == .p010 || self == .p410 ? 6 : 0 }

    /// The format of a 4:4:4 picture whose planes lie as this one's do, each at its own size; itself where no chroma is
    /// subsampled.
    public var withoutSubsampling: PixelFormat {
        switch self {
        case .yuv420p, .yuv422p: .yuv444p
        case .yuv420p10, .yuv422p10: .yuv444p10
        case .nv12: .nv24
        case .p010: .p410
        default: self
        }
    }

    /// The half-float format with this many channels.
    /// - Precondition: 1 ≤ channels ≤ 4.
    public static func half(channels: Int) -> PixelFormat {
        precondition((1...4).contains(channels))
        return [.half1, .half2, .half3, .half4][channels - 1]
    }

    /// The 32-bit float format with this many channels.
    /// - Precondition: 1 ≤ channels ≤ 4.
    public static func float(channels: Int) -> PixelFormat {
        precondition((1...4).contains(channels))
        return [.float1, .float2, .float3, .float4][channels - 1]
    }
}
