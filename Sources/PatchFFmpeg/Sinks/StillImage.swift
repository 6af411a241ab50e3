internal import CFFmpeg
import Glibc
import PatchMedia

/// Writes one picture as a PNG file. rgba, bgra and gray8 are written as they are, other formats are converted.
///
/// Blocking; not for the frame path.
/// - Throws: `PatchError.output` when the file cannot be written, `.media` for half-float pictures.
public func writePNG(_ frame: Frame, to path: String) throws {
    let format = frame.format.pixelFormat
    guard let source = format.avFormat else {
        throw PatchError(.media, "cannot write \(format.rawValue) as PNG", remedy: "convert it to rgba first")
    }
    if format == .rgba || format == .gray8 {
        try StillImage.write(StillImage.straight(frame), encoder: "png", to: path)
        return
    }
    let picture = try AVFrameHandle()
    StillImage.point(picture.pointer, at: frame, format: source)
    let target = Frame(
        allocating: VideoFormat(
            .rgba, width: frame.width, height: frame.height, premultiplied: frame.format.premultiplied))
    var scaler = Scaler()
    guard scaler.convert(from: picture.pointer, color: frame.format.color, to: target) else {
        throw PatchError(.media, "cannot convert \(format.rawValue) for PNG")
    }
    try StillImage.write(StillImage.straight(target), encoder: "png", to: path)
}

/// One picture as a file, through libavcodec.
enum StillImage {
    /// Encodes and writes; the file appears whole or not at all.
    /// - Parameter encoder: `png` (rgba, gray8) or `mjpeg` (yuv444p, full range).
    static func write(_ frame: Frame, encoder name: String, to path: String) throws {
        guard let format = frame.format.pixelFormat.avFormat else {
            throw PatchError(.media, "cannot write \(frame.format.pixelFormat.rawValue) as a still")
        }
        let context = try EncoderContext([name], called: name, isVideo: true) { _, context in
            context.pointee.width = Int32(frame.width)
            context.pointee.height = Int32(frame.height)
            context.pointee.pix_fmt = format
            context.pointee.time_base = AVRational(num: 1, den: 1)
            context.pointee.color_range = AVCOL_RANGE_JPEG
            // JPEG's own scale, 2 (best) to 31.
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = 2 * FF_QP2LAMBDA
            return [("threads", "1")]
        }
        let picture = try AVFrameHandle()
        point(picture.pointer, at: frame, format: format)
        picture.pointer.pointee.quality = 2 * FF_QP2LAMBDA
        picture.pointer.pointee.color_range = AVCOL_RANGE_JPEG
        var file: [UInt8] = []
        let keep: PacketConsumer = { packet in
            file += UnsafeBufferPointer(start: packet.pointer.pointee.data, count: packet.byteCount)
        }
        try context.encode(picture.pointer, keep)
        try context.encode(nil, keep)
        try write(file, to: path)
    }

    /// Lets an AVFrame look at a frame's planes; the frame must outlive it.
    static func point(_ picture: UnsafeMutablePointer<AVFrame>, at frame: Frame, format: AVPixelFormat) {
        picture.pointee.width = Int32(frame.width)
        picture.pointee.height = Int32(frame.height)
        picture.pointee.format = format.rawValue
        let planes = frame.planes
        func bytes(_ plane: Plane) -> UnsafeMutablePointer<UInt8> { plane.base.assumingMemoryBound(to: UInt8.self) }
        picture.pointee.data.0 = bytes(planes.0)
        picture.pointee.linesize.0 = Int32(planes.0.stride)
        if frame.format.pixelFormat.planeCount > 1 {
            picture.pointee.data.1 = bytes(planes.1)
            picture.pointee.linesize.1 = Int32(planes.1.stride)
        }
        if frame.format.pixelFormat.planeCount > 2 {
            picture.pointee.data.2 = bytes(planes.2)
            picture.pointee.linesize.2 = Int32(planes.2.stride)
        }
    }

    /// PNG keeps colour straight: divides premultiplied rgba by its alpha, rounding to nearest.
    static func straight(_ frame: Frame) -> Frame {
        guard frame.format.pixelFormat == .rgba, frame.format.premultiplied else { return frame }
        var format = frame.format
        format.premultiplied = false
        let result = Frame(allocating: format)
        for y in 0..<frame.height {
            let source = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            let target = result.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<frame.width {
                let alpha = Int(source[4 * x + 3])
                for channel in 0..<3 {
                    let value = Int(source[4 * x + channel])
                    target[4 * x + channel] = alpha == 0 ? 0 : UInt8(min(255, (value * 255 + alpha / 2) / alpha))
                }
                target[4 * x + 3] = source[4 * x + 3]
            }
        }
        return result
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let temporary = path + ".part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(path, errno) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                close(descriptor)
                unlink(temporary)
                throw failure(path, code)
            }
            done += count
        }
        guard close(descriptor) == 0, rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw failure(path, code)
        }
    }

    private static func failure(_ path: String, _ code: Int32) -> PatchError {
        PatchError(
            .output, "cannot write \(path)", remedy: code == ENOENT ? "make the folder first" : "",
            cause: String(cString: strerror(code)))
    }
}
