internal import CFFmpeg
import PatchMedia

/// How FFmpeg's pixel formats and colour words map to ours. The only table of its kind.
extension PixelFormat {
    /// The format whose planes lie exactly as FFmpeg's; nil when there is none and the picture must be converted.
    init?(_ format: AVPixelFormat) {
        switch format {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: self = .yuv420p
        case AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P: self = .yuv422p
        case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P: self = .yuv444p
        case AV_PIX_FMT_NV12: self = .nv12
        case AV_PIX_FMT_YUV420P10LE: self = .yuv420p10
        case AV_PIX_FMT_YUV422P10LE: self = .yuv422p10
        case AV_PIX_FMT_YUV444P10LE: self = .yuv444p10
        case AV_PIX_FMT_P010LE: self = .p010
        case AV_PIX_FMT_NV24: self = .nv24
        case AV_PIX_FMT_P410LE: self = .p410
        case AV_PIX_FMT_RGBA: self = .rgba
        case AV_PIX_FMT_BGRA: self = .bgra
        case AV_PIX_FMT_GRAY8: self = .gray8
        default: return nil
        }
    }

    /// FFmpeg's name for this format; nil for the half-float formats, which are ours alone.
    var avFormat: AVPixelFormat? {
        switch self {
        case .yuv420p: AV_PIX_FMT_YUV420P
        case .yuv422p: AV_PIX_FMT_YUV422P
        case .yuv444p: AV_PIX_FMT_YUV444P
        case .nv12: AV_PIX_FMT_NV12
        case .yuv420p10: AV_PIX_FMT_YUV420P10LE
        case .yuv422p10: AV_PIX_FMT_YUV422P10LE
        case .yuv444p10: AV_PIX_FMT_YUV444P10LE
        case .p010: AV_PIX_FMT_P010LE
        case .nv24: AV_PIX_FMT_NV24
        case .p410: AV_PIX_FMT_P410LE
        case .rgba: AV_PIX_FMT_RGBA
        case .bgra: AV_PIX_FMT_BGRA
        case .gray8: AV_PIX_FMT_GRAY8
        case .half1, .half2, .half3, .half4, .float1, .float2, .float3, .float4: nil
        }
    }

    /// The format that loses least when swscale must convert from `format`; nil when swscale cannot read it
    /// (hardware surfaces, Bayer mosaics without a description).
    init?(nearestTo format: AVPixelFormat) {
        guard let description = av_pix_fmt_desc_get(format)?.pointee, sws_isSupportedInput(format) != 0 else {
            return nil
        }
        func has(_ flag: Int32) -> Bool { description.flags & UInt64(flag) != 0 }
        let isColour = description.nb_components >= 3 || has(AV_PIX_FMT_FLAG_PAL)
        if format == AV_PIX_FMT_BGR0 {
            self = .bgra
        } else if has(AV_PIX_FMT_FLAG_ALPHA) || has(AV_PIX_FMT_FLAG_RGB) || has(AV_PIX_FMT_FLAG_PAL)
            || has(AV_PIX_FMT_FLAG_BAYER)
        {
            self = .rgba
        } else if !isColour {
            self = .gray8
        } else {
            let deep = description.comp.0.depth > 8
            switch (description.log2_chroma_w, description.log2_chroma_h) {
            case (0, _): self = deep ? .yuv444p10 : .yuv444p
            case (_, 0): self = deep ? .yuv422p10 : .yuv422p
            default: self = deep ? .yuv420p10 : .yuv420p
            }
        }
    }
}

/// FFmpeg's name of a pixel format, for messages.
func name(of format: AVPixelFormat) -> String {
    av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "pixel format \(format.rawValue)"
}

extension ColorSpec {
    /// What FFmpeg says about a picture; what it does not say stays unspecified.
    init(
        format: AVPixelFormat, matrix: AVColorSpace, range: AVColorRange, primaries: AVColorPrimaries,
        transfer: AVColorTransferCharacteristic, siting: AVChromaLocation
    ) {
        self.init()
        switch matrix {
        case AVCOL_SPC_BT709: self.matrix = .bt709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self.matrix = .bt601
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self.matrix = .bt2020
        default: break
        }
        switch format {
        case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P:
            self.range = .full
        default:
            switch range {
            case AVCOL_RANGE_MPEG: self.range = .limited
            case AVCOL_RANGE_JPEG: self.range = .full
            default: break
            }
        }
        switch primaries {
        case AVCOL_PRI_BT709: self.primaries = .bt709
        case AVCOL_PRI_BT470BG, AVCOL_PRI_SMPTE170M, AVCOL_PRI_SMPTE240M: self.primaries = .bt601
        case AVCOL_PRI_BT2020: self.primaries = .bt2020
        case AVCOL_PRI_SMPTE432: self.primaries = .displayP3
        default: break
        }
        switch transfer {
        case AVCOL_TRC_BT709, AVCOL_TRC_SMPTE170M, AVCOL_TRC_BT2020_10, AVCOL_TRC_BT2020_12: self.transfer = .bt709
        case AVCOL_TRC_IEC61966_2_1: self.transfer = .srgb
        case AVCOL_TRC_LINEAR: self.transfer = .linear
        case AVCOL_TRC_SMPTE2084: self.transfer = .pq
        case AVCOL_TRC_ARIB_STD_B67: self.transfer = .hlg
        default: break
        }
        switch siting {
        case AVCHROMA_LOC_LEFT: self.siting = .left
        case AVCHROMA_LOC_CENTER: self.siting = .center
        case AVCHROMA_LOC_TOPLEFT: self.siting = .topLeft
        default: break
        }
    }

    /// What a decoded picture says about its colour.
    init(_ frame: UnsafePointer<AVFrame>) {
        self.init(
            format: AVPixelFormat(rawValue: frame.pointee.format), matrix: frame.pointee.colorspace,
            range: frame.pointee.color_range, primaries: frame.pointee.color_primaries,
            transfer: frame.pointee.color_trc, siting: frame.pointee.chroma_location)
    }

    /// FFmpeg's words, for encoders and muxers. `isYCbCr` false gives the RGB matrix.
    func avMatrix(isYCbCr: Bool) -> AVColorSpace {
        guard isYCbCr else { return AVCOL_SPC_RGB }
        return switch matrix {
        case .unspecified: AVCOL_SPC_UNSPECIFIED
        case .bt601: AVCOL_SPC_SMPTE170M
        case .bt709: AVCOL_SPC_BT709
        case .bt2020: AVCOL_SPC_BT2020_NCL
        }
    }
    var avRange: AVColorRange {
        switch range {
        case .unspecified: AVCOL_RANGE_UNSPECIFIED
        case .limited: AVCOL_RANGE_MPEG
        case .full: AVCOL_RANGE_JPEG
        }
    }
    var avPrimaries: AVColorPrimaries {
        switch primaries {
        case .unspecified: AVCOL_PRI_UNSPECIFIED
        case .bt601: AVCOL_PRI_SMPTE170M
        case .bt709: AVCOL_PRI_BT709
        case .bt2020: AVCOL_PRI_BT2020
        case .displayP3: AVCOL_PRI_SMPTE432
        }
    }
    var avTransfer: AVColorTransferCharacteristic {
        switch transfer {
        case .unspecified: AVCOL_TRC_UNSPECIFIED
        case .bt709: AVCOL_TRC_BT709
        case .srgb: AVCOL_TRC_IEC61966_2_1
        case .linear: AVCOL_TRC_LINEAR
        case .pq: AVCOL_TRC_SMPTE2084
        case .hlg: AVCOL_TRC_ARIB_STD_B67
        }
    }
    var avSiting: AVChromaLocation {
        switch siting {
        case .unspecified: AVCHROMA_LOC_UNSPECIFIED
        case .left: AVCHROMA_LOC_LEFT
        case .center: AVCHROMA_LOC_CENTER
        case .topLeft: AVCHROMA_LOC_TOPLEFT
        }
    }
    /// swscale's index of the matrix (SWS_CS_…), for `sws_getCoefficients`.
    var swsMatrix: Int32 {
        switch matrix {
        case .bt601: SWS_CS_ITU601
        case .bt709, .unspecified: SWS_CS_ITU709
        case .bt2020: SWS_CS_BT2020
        }
    }
}

extension Orientation {
    /// From a display matrix (libavutil/display.h): nine numbers, of which the first two columns turn the picture.
    /// Angles that are no quarter turns go to the nearest one.
    init(displayMatrix m: UnsafePointer<Int32>) {
        // x' = a·x + c·y, y' = b·x + d·y. Undoing the mirror, which is applied last, negates what makes x'.
        var (a, c) = (Int64(m[0]), Int64(m[3]))
        let (b, d) = (Int64(m[1]), Int64(m[4]))
        // The numbers are 16.16 fixed point: halved so that the products fit.
        let mirrored = (a >> 1) * (d >> 1) - (b >> 1) * (c >> 1) < 0
        if mirrored { (a, c) = (-a, -c) }
        let turns = abs(a) >= abs(b) ? (a >= 0 ? 0 : 2) : (b > 0 ? 1 : 3)
        self.init(quarterTurns: turns, mirrored: mirrored)
    }
}

extension MediaTime {
    /// A count of FFmpeg's time base; nil for AV_NOPTS_VALUE, broken time bases, and times beyond 126 years, which no clock
    /// gives and whose sums would overflow.
    init?(_ value: Int64, base: AVRational) {
        guard value != patch_nopts(), base.num > 0, base.den > 0 else { return nil }
        let (product, overflow) = value.multipliedReportingOverflow(by: Int64(base.num))
        guard !overflow, abs(Double(product) / Double(base.den)) < 4e9 else { return nil }
        self.init(value: product, timescale: Int64(base.den))
    }
}

extension FrameRate {
    /// nil for 0/0 and for rates beyond 1000 a second, which are time bases taken for rates.
    init?(_ rate: AVRational) {
        guard rate.num > 0, rate.den > 0, Double(rate.num) / Double(rate.den) <= 1000 else { return nil }
        self.init(Int64(rate.num), over: Int64(rate.den))
    }
    var avRational: AVRational {
        AVRational(num: Int32(clamping: numerator), den: Int32(clamping: denominator))
    }
}
