internal import CFFmpeg
import Glibc
import PatchMedia

/// Encodes frames of one format at a constant rate, without copying them.
///
/// Thread-safety: one thread at a time.
final class VideoEncoder {
    private let encoder: EncoderContext
    private let frame: AVFrameHandle
    private let format: VideoFormat
    let parameters: StreamParameters

    /// The codec's header is kept apart from the packets: containers that want it inside (MPEG-TS) put it there themselves, so
    /// that one encoder serves all of them.
    init(_ encoding: VideoEncoding, format: VideoFormat, rate: FrameRate) throws {
        guard let pixelFormat = format.pixelFormat.avFormat else {
            throw PatchError(.media, "cannot encode \(format.pixelFormat.rawValue)")
        }
        self.format = format
        frame = try AVFrameHandle()
        let codec = encoding.codec
        encoder = try EncoderContext(codec.encoders, called: codec.rawValue, isVideo: true) { name, context in
            context.pointee.width = Int32(format.width)
            context.pointee.height = Int32(format.height)
            context.pointee.pix_fmt = pixelFormat
            context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
            context.pointee.framerate = rate.avRational
            context.pointee.time_base = AVRational(num: rate.avRational.den, den: rate.avRational.num)
            context.pointee.color_range = format.color.avRange
            context.pointee.colorspace = format.color.avMatrix(isYCbCr: format.pixelFormat.isYCbCr)
            context.pointee.color_primaries = format.color.avPrimaries
            context.pointee.color_trc = format.color.avTransfer
            context.pointee.chroma_sample_location = format.color.avSiting
            context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
            return VideoEncoder.options(encoding, encoder: name, rate: rate)
        }
        parameters = try StreamParameters(encoder.pointer, isVideo: true)
    }

    /// Encodes `picture` as frame number `index` of the output.
    ///
    /// The encoder keeps the picture as long as it needs it; nothing is copied.
    func encode(_ picture: Frame, index: Int64, forceKeyframe: Bool, _ emit: PacketConsumer) throws {
        guard picture.format.pixelFormat == format.pixelFormat, picture.width == format.width,
            picture.height == format.height
        else { throw PatchError(.media, "the picture is \(picture.format), but the encoder takes \(format)") }
        let target = frame.pointer
        defer { av_frame_unref(target) }
        target.pointee.width = Int32(picture.width)
        target.pointee.height = Int32(picture.height)
        target.pointee.format = (format.pixelFormat.avFormat ?? AV_PIX_FMT_NONE).rawValue
        target.pointee.pts = index
        patch_set_frame_duration(target, 1)
        target.pointee.pict_type = forceKeyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        target.pointee.color_range = encoder.pointer.pointee.color_range
        target.pointee.colorspace = encoder.pointer.pointee.colorspace
        target.pointee.color_primaries = encoder.pointer.pointee.color_primaries
        target.pointee.color_trc = encoder.pointer.pointee.color_trc
        target.pointee.chroma_location = encoder.pointer.pointee.chroma_sample_location
        target.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        let planes = picture.planes
        func bytes(_ plane: Plane) -> UnsafeMutablePointer<UInt8> { plane.base.assumingMemoryBound(to: UInt8.self) }
        target.pointee.data.0 = bytes(planes.0)
        target.pointee.linesize.0 = Int32(planes.0.stride)
        if format.pixelFormat.planeCount > 1 {
            target.pointee.data.1 = bytes(planes.1)
            target.pointee.linesize.1 = Int32(planes.1.stride)
        }
        if format.pixelFormat.planeCount > 2 {
            target.pointee.data.2 = bytes(planes.2)
            target.pointee.linesize.2 = Int32(planes.2.stride)
        }
        // One reference stands for all planes: FFmpeg only counts it, and releases our frame with the last one.
        let owner = Unmanaged.passRetained(picture)
        guard
            let reference = av_buffer_create(
                bytes(planes.0), 1, releaseFrame, owner.toOpaque(), AV_BUFFER_FLAG_READONLY)
        else {
            owner.release()
            throw outOfMemory("a frame")
        }
        target.pointee.buf.0 = reference
        try encoder.encode(target, emit)
    }

    /// Aims at another bitrate from the next frame on, without a new session; libx264 alone can.
    func setBitrate(_ bits: Int) {
        encoder.pointer.pointee.bit_rate = Int64(bits)
        encoder.pointer.pointee.rc_max_rate = Int64(bits)
        encoder.pointer.pointee.rc_buffer_size = Int32(clamping: bits)
    }

    func drain(_ emit: PacketConsumer) throws { try encoder.encode(nil, emit) }

    private static func options(_ encoding: VideoEncoding, encoder: String, rate: FrameRate) -> [(String, String)] {
        var options = [
            ("g", "\(encoding.groupLength(at: rate))"),
            ("threads", encoding.threads == 0 ? "auto" : "\(encoding.threads)"),
        ]
        switch encoding.rateControl {
        case .bitrate(let bits):
            let ceiling = encoding.isLive ? bits : bits * 2
            options += [("b", "\(bits)"), ("maxrate", "\(ceiling)"), ("bufsize", "\(ceiling)")]
        case .quality(let quality): options += [("crf", "\(quality)")]
        }
        if encoding.isLive { options += [("bf", "0")] }
        switch encoder {
        case "libx264":
            options += [("preset", encoding.speed), ("forced-idr", "1"), ("profile", "high")]
            if encoding.isLive { options += [("sc_threshold", "0")] }
            // What stands beside the tuning would win over it.
            if encoding.hasLowLatency {
                options += [("tune", "zerolatency")]
            } else if encoding.isLive {
                options += [("rc-lookahead", "10")]
            }
        case "libx265":
            // x265 prints on stderr by itself unless told not to.
            var live = encoding.isLive ? ":scenecut=0:open-gop=0" : ""
            if encoding.isLive, !encoding.hasLowLatency { live += ":rc-lookahead=10" }
            options += [
                ("preset", encoding.speed), ("forced-idr", "1"), ("x265-params", "log-level=none" + live),
            ]
            if encoding.hasLowLatency { options += [("tune", "zerolatency")] }
        case "libvpx-vp9":
            if case .quality = encoding.rateControl { options += [("b", "0")] }
            options += [("deadline", "realtime"), ("cpu-used", "\(max(4, 8 - encoding.speedIndex))"), ("row-mt", "1")]
        case "libsvtav1":
            // SVT-AV1 1.x prints its settings on stderr and knows only the environment as a switch for that.
            setenv("SVT_LOG", "1", 0)
            options += [("preset", "\(max(2, 12 - encoding.speedIndex))")]
            // It has a bitrate mode, but no ceiling in that mode.
            options.removeAll { $0.0 == "maxrate" || $0.0 == "bufsize" }
        case "libaom-av1":
            options += [("usage", "realtime"), ("cpu-used", "\(max(5, 10 - encoding.speedIndex))"), ("row-mt", "1")]
        case "prores_ks":
            // The profile sets the rate: 422 HQ, the form that editors take as a master.
            options = [("profile", "hq"), ("vendor", "apl0"), ("threads", "auto")]
        default: break
        }
        return options
    }
}

/// An encoder gives back its last reference to one of our frames.
private func releaseFrame(opaque: UnsafeMutableRawPointer?, data: UnsafeMutablePointer<UInt8>?) {
    if let opaque { Unmanaged<Frame>.fromOpaque(opaque).release() }
}
