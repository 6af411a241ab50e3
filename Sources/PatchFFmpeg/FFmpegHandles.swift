internal import CFFmpeg
import PatchMedia

/// Says that FFmpeg could not get memory for a small object; nothing the person did is wrong.
func outOfMemory(_ what: String) -> PatchError {
    PatchError(.unavailable, "no memory for \(what)", remedy: "free memory on this machine")
}

/// An AVPacket (av_packet_alloc, av_packet_free).
struct PacketHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVPacket>

    /// - Throws: `PatchError` when there is no memory.
    init() throws {
        guard let packet = av_packet_alloc() else { throw outOfMemory("a packet") }
        pointer = packet
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&packet)
    }
}

/// An AVFrame (av_frame_alloc, av_frame_free).
struct AVFrameHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVFrame>

    /// - Throws: `PatchError` when there is no memory.
    init() throws {
        guard let frame = av_frame_alloc() else { throw outOfMemory("a frame") }
        pointer = frame
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = pointer
        av_frame_free(&frame)
    }
}

/// An AVCodecContext (avcodec_alloc_context3, avcodec_free_context).
struct CodecHandle: ~Copyable {
    let pointer: UnsafeMutablePointer<AVCodecContext>

    /// - Throws: `PatchError` when there is no memory.
    init(_ codec: UnsafePointer<AVCodec>?) throws {
        guard let context = avcodec_alloc_context3(codec) else { throw outOfMemory("a codec") }
        pointer = context
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = pointer
        avcodec_free_context(&context)
    }
}

/// A SwsContext (sws_getContext, sws_freeContext) for one kind of picture after the other.
///
/// Thread-safety: one thread at a time.
struct Scaler: ~Copyable {
    /// What the context was made for.
    private struct Job: Equatable {
        var format: Int32
        var width: Int32
        var height: Int32
        var color: ColorSpec
        var target: VideoFormat
        var flags: Int32
    }
    private var context: OpaquePointer?
    private var job: Job?

    init() {}

    /// Converts size and format. Y'CbCr matrices and ranges are those of `from` and `to`; a gray picture counts by its
    /// range. Slow set-up when the formats differ from the last call's.
    /// - Returns: false when swscale cannot do it.
    mutating func convert(
        from source: UnsafePointer<AVFrame>, color from: ColorSpec, to target: Frame, flags: Int32 = Scaler.exact
    ) -> Bool {
        guard let targetFormat = target.format.pixelFormat.avFormat else { return false }
        let job = Job(
            format: source.pointee.format, width: source.pointee.width, height: source.pointee.height, color: from,
            target: target.format, flags: flags)
        if job != self.job {
            sws_freeContext(context)
            self.job = nil
            context = sws_getContext(
                job.width, job.height, AVPixelFormat(rawValue: job.format), Int32(target.width), Int32(target.height),
                targetFormat, flags, nil, nil, nil)
            guard context != nil else { return false }
            let to = target.format.color
            sws_setColorspaceDetails(
                context, sws_getCoefficients(from.swsMatrix), from.range == .full ? 1 : 0,
                sws_getCoefficients(to.swsMatrix), to.range == .full ? 1 : 0, 0, 1 << 16, 1 << 16)
            self.job = job
        }
        let planes = target.planes
        var data: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?) =
            (nil, nil, nil)
        let count = target.format.pixelFormat.planeCount
        data.0 = planes.0.base.assumingMemoryBound(to: UInt8.self)
        if count > 1 { data.1 = planes.1.base.assumingMemoryBound(to: UInt8.self) }
        if count > 2 { data.2 = planes.2.base.assumingMemoryBound(to: UInt8.self) }
        let strides = (
            Int32(planes.0.stride), count > 1 ? Int32(planes.1.stride) : 0, count > 2 ? Int32(planes.2.stride) : 0,
            Int32(0)
        )
        let rows = withUnsafeBytes(of: source.pointee.data) { sourceData in
            withUnsafeBytes(of: source.pointee.linesize) { sourceStrides in
                withUnsafePointer(
                    to: (data.0, data.1, data.2, nil as UnsafeMutablePointer<UInt8>?)
                ) { targetData in
                    withUnsafePointer(to: strides) { targetStrides in
                        targetData.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 4) { targetData in
                            targetStrides.withMemoryRebound(to: Int32.self, capacity: 4) { targetStrides in
                                sws_scale(
                                    context,
                                    sourceData.baseAddress?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self),
                                    sourceStrides.baseAddress?.assumingMemoryBound(to: Int32.self), 0,
                                    source.pointee.height, targetData, targetStrides)
                            }
                        }
                    }
                }
            }
        }
        return rows > 0
    }

    /// Bicubic with full chroma and exact rounding: for one-off conversions where quality counts.
    static let exact = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP

    deinit { sws_freeContext(context) }
}

/// A decoder's picture that a `Frame` borrows.
///
/// Thread-safety: as `FrameStorage`: the pool's owner fills it, anybody releases it.
final class AVFrameStorage: FrameStorage, @unchecked Sendable {
    // Unchecked: `frame` is written while the pool holds the sole reference to the shell, and read by nobody else.
    let frame: UnsafeMutablePointer<AVFrame>

    init() {
        // As with Swift's own objects, there is no going on without memory for a few bytes.
        guard let frame = av_frame_alloc() else { preconditionFailure("no memory for a frame") }
        self.frame = frame
    }

    func release() { av_frame_unref(frame) }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }
}

extension BorrowedFramePool where Storage == AVFrameStorage {
    /// Moves the buffers of `source` into a frame without a copy (av_frame_move_ref); `source` is empty afterwards.
    /// nil, and `source` as it was, when all shells are in use or `source` has no picture.
    /// - Parameter format: its pixel format must be that of `source`.
    func wrap(_ source: UnsafeMutablePointer<AVFrame>, as format: VideoFormat) -> Frame? {
        guard let first = source.pointee.data.0 else { return nil }
        let count = format.pixelFormat.planeCount
        let (data, strides) = (source.pointee.data, source.pointee.linesize)
        func plane(_ base: UnsafeMutablePointer<UInt8>?, _ stride: Int32, _ index: Int) -> Plane {
            Plane(base: UnsafeMutableRawPointer(index < count ? base ?? first : first), stride: Int(stride))
        }
        let planes = (
            plane(first, strides.0, 0), plane(data.1, strides.1, 1), plane(data.2, strides.2, 2),
            plane(data.3, strides.3, 3)
        )
        return wrap { storage in
            av_frame_move_ref(storage.frame, source)
            return (format, planes)
        }
    }
}
