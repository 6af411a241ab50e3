internal import CFFmpeg
import PatchGraph
import PatchMedia

/// Turns decoded pictures into frames: without a copy where a kernel can read the decoder's planes, through one swscale
/// pass or one copy where not.
///
/// Not thread-safe: it belongs to the source's thread.
final class FrameImporter {
    private let report: @Sendable (NodeEvent) -> Void
    /// How people know the source.
    private let shown: String
    private let borrowed = BorrowedFramePool<AVFrameStorage>(limit: 512) { AVFrameStorage() }
    /// Pixels: half a gigabyte as RGBA.
    private static let largestPicture = 1 << 27
    private var own: FramePool?
    private var scaler = Scaler()
    private var said: Set<String> = []
    /// Why `frame` gave nil the last time.
    private(set) var problem: PatchError?

    init(shown: String, report: @escaping @Sendable (NodeEvent) -> Void) {
        self.shown = shown
        self.report = report
    }

    /// Takes the picture out of `picture`; nil when it cannot be used, which is reported once for each cause.
    /// - Parameters:
    ///   - orientation: how the stored picture must be turned to stand upright.
    ///   - isPremultiplied: the decoder multiplied by alpha already, as FFmpeg's SVG decoder does.
    func frame(
        from picture: UnsafeMutablePointer<AVFrame>, orientation: Orientation, isPremultiplied: Bool = false
    ) -> Frame? {
        defer { borrowed.releaseUnused() }
        let (width, height) = (Int(picture.pointee.width), Int(picture.pointee.height))
        guard width > 0, height > 0, max(width, height) <= VideoFormat.maximumSide,
            width * height <= Self.largestPicture
        else {
            reject(
                "'\(shown)' has a picture of \(width)x\(height) pixels, more than this program handles",
                remedy: "scale it to at most \(VideoFormat.maximumSide) pixels a side and 128 megapixels")
            return nil
        }
        let source = AVPixelFormat(rawValue: picture.pointee.format)
        var color = ColorSpec(picture)
        guard let pixelFormat = PixelFormat(source) ?? PixelFormat(nearestTo: source) else {
            reject(
                "'\(shown)' has pixels of kind \(name(of: source)), which cannot be read",
                remedy: "convert it, for example to yuv420p")
            return nil
        }
        if pixelFormat.isYCbCr, color.matrix == .unspecified || color.range == .unspecified {
            let assumed = color.resolved(format: pixelFormat, height: height).spec
            notice(
                "'\(shown)' does not declare its colours: assuming \(assumed.matrix.rawValue), "
                    + "\(assumed.range.rawValue) range")
        }
        if !pixelFormat.isYCbCr { color.matrix = .unspecified }
        let format = VideoFormat(
            pixelFormat, width: width, height: height, color: color, orientation: orientation)
        // Alpha must be premultiplied, so that such pictures are copied too.
        guard PixelFormat(source) != nil, !pixelFormat.hasAlpha else {
            return convert(picture, to: format, isPremultiplied: isPremultiplied)
        }
        guard let frame = borrowed.wrap(picture, as: format) else {
            reject("more than 512 frames of '\(shown)' are held back by the graph", remedy: "shorten its delays")
            return nil
        }
        return frame
    }

    /// Through swscale or a copy, with premultiplied alpha. For still images and what no kernel reads.
    private func convert(_ picture: UnsafeMutablePointer<AVFrame>, to format: VideoFormat, isPremultiplied: Bool)
        -> Frame?
    {
        let source = AVPixelFormat(rawValue: picture.pointee.format)
        if PixelFormat(source) == nil {
            notice(
                "'\(shown)' has pixels of kind \(name(of: source)): converting each frame to "
                    + format.pixelFormat.rawValue)
        }
        if own?.format != format { own = FramePool(format: format, limit: 512) }
        guard let frame = own?.take() else {
            reject("more than 512 frames of '\(shown)' are held back by the graph", remedy: "shorten its delays")
            return nil
        }
        if source == AV_PIX_FMT_BGR0 || source == AV_PIX_FMT_RGB0 {
            frame.copyOpaque(from: picture)
            return frame
        }
        // Only Y'CbCr with alpha changes its kind of colour, to RGB; everything else keeps matrix and range.
        let changesColour = !format.pixelFormat.isYCbCr && !isRGB(source) && format.pixelFormat != .gray8
        let from =
            changesColour ? ColorSpec(picture).resolved(format: .yuv444p, height: format.height).spec : format.color
        guard scaler.convert(from: picture, color: from, to: frame) else {
            reject(
                "'\(shown)' has pixels of kind \(name(of: source)), which cannot be converted",
                remedy: "convert it, for example to yuv420p")
            return nil
        }
        if format.pixelFormat.hasAlpha, hasAlpha(source), !isPremultiplied { frame.premultiply() }
        return frame
    }

    private func hasAlpha(_ format: AVPixelFormat) -> Bool { flags(format) & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0 }
    private func isRGB(_ format: AVPixelFormat) -> Bool {
        flags(format) & UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
    }
    private func flags(_ format: AVPixelFormat) -> UInt64 { av_pix_fmt_desc_get(format)?.pointee.flags ?? 0 }

    private func notice(_ text: String) {
        if said.insert(text).inserted { report(.notice(text)) }
    }

    private func reject(_ text: String, remedy: String) {
        let error = PatchError(.media, text, remedy: remedy)
        problem = error
        if said.insert(text).inserted { report(.problem(error)) }
    }
}

extension Frame {
    /// Copies a picture of 4 bytes a pixel whose fourth byte means nothing: screens have such. It becomes opaque.
    func copyOpaque(from picture: UnsafeMutablePointer<AVFrame>) {
        guard let base = picture.pointee.data.0 else { return }
        let stride = Int(picture.pointee.linesize.0)
        let plane = plane(0)
        let opaque = UInt32(0xFF00_0000).littleEndian
        for y in 0..<height {
            let source = UnsafeRawPointer(base + y * stride).assumingMemoryBound(to: UInt32.self)
            let target = plane.row(y).assumingMemoryBound(to: UInt32.self)
            for x in 0..<width { target[x] = source[x] | opaque }
        }
    }

    /// Multiplies colour by alpha, rounded to nearest, in an 8-bit RGBA or BGRA frame that was not published yet.
    func premultiply() {
        let plane = plane(0)
        for y in 0..<height {
            let row = plane.row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<width {
                let alpha = UInt32(row[4 * x + 3])
                guard alpha != 255 else { continue }
                for channel in 0..<3 {
                    // (v + v/256 + 128)/256 divides by 255 exactly for products of two bytes.
                    let product = UInt32(row[4 * x + channel]) * alpha + 128
                    row[4 * x + channel] = UInt8((product + product >> 8) >> 8)
                }
            }
        }
    }
}
