internal import CFFmpeg
import PatchMedia
import Synchronization

/// Memory for the pictures that go into a chain (AVBufferPool). Filters may write into them and keep them, so they are
/// copies of the graph's frames; a chain that keeps more and more of them is stopped before memory is full.
///
/// Not thread-safe: one thread at a time.
final class PicturePool {
    /// Counts what the pool allocated; it only grows when every buffer is in use.
    private final class Count: Sendable {
        let buffers = Atomic<Int>(0)
        let limit: Int
        init(limit: Int) { self.limit = limit }
    }
    private let format: VideoFormat
    private let avFormat: AVPixelFormat
    private let count: Count
    private var pool: OpaquePointer?
    private static let alignment: Int32 = 64
    /// Bytes that vector code may read or write past the end.
    private static let padding = 256
    private static let largestMemory = 1 << 30

    /// - Throws: `PatchError` for a format that FFmpeg does not have.
    init(_ format: VideoFormat) throws {
        guard let avFormat = format.pixelFormat.avFormat else {
            throw PatchError(.graph, "ffmpeg cannot read \(format.pixelFormat.rawValue)")
        }
        self.format = format
        self.avFormat = avFormat
        let size = Int(
            av_image_get_buffer_size(avFormat, Int32(format.width), Int32(format.height), Self.alignment))
        count = Count(limit: max(8, min(600, Self.largestMemory / max(1, size))))
        pool = av_buffer_pool_init2(
            size + Self.padding, Unmanaged.passRetained(count).toOpaque(),
            { opaque, size in
                guard let opaque else { return nil }
                let count = Unmanaged<Count>.fromOpaque(opaque).takeUnretainedValue()
                guard count.buffers.add(1, ordering: .relaxed).newValue <= count.limit else { return nil }
                return av_buffer_allocz(size)
            },
            { opaque in
                // Called when the pool and its last buffer are gone.
                if let opaque { Unmanaged<Count>.fromOpaque(opaque).release() }
            })
        guard pool != nil else { throw outOfMemory("an ffmpeg chain") }
    }

    deinit { av_buffer_pool_uninit(&pool) }

    /// Fills `picture`, which must be empty.
    /// - Throws: `PatchError` when the chain keeps too many pictures.
    func copy(_ frame: Frame, to picture: UnsafeMutablePointer<AVFrame>, _ chain: String) throws {
        guard let buffer = av_buffer_pool_get(pool) else {
            throw PatchError(
                .budget, "the ffmpeg chain \"\(chain.prefix(200))\" keeps more than \(count.limit) pictures",
                remedy: "take the filter out that waits for so many")
        }
        picture.pointee.buf.0 = buffer
        picture.pointee.format = avFormat.rawValue
        picture.pointee.width = Int32(format.width)
        picture.pointee.height = Int32(format.height)
        picture.pointee.color_range = format.color.avRange
        picture.pointee.colorspace = format.color.avMatrix(isYCbCr: format.pixelFormat.isYCbCr)
        picture.pointee.color_primaries = format.color.avPrimaries
        picture.pointee.color_trc = format.color.avTransfer
        picture.pointee.chroma_location = format.color.avSiting
        picture.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        patch_fill_arrays(picture, buffer.pointee.data, Self.alignment)
        let data = [picture.pointee.data.0, picture.pointee.data.1, picture.pointee.data.2]
        let strides = [picture.pointee.linesize.0, picture.pointee.linesize.1, picture.pointee.linesize.2]
        for index in 0..<format.pixelFormat.planeCount {
            guard let target = data[index] else { continue }
            let layout = format.pixelFormat.layout(ofPlane: index)
            let bytes = layout.width(of: format.width) * layout.bytesPerPixel
            let plane = frame.plane(index)
            for y in 0..<layout.height(of: format.height) {
                UnsafeMutableRawPointer(target + y * Int(strides[index])).copyMemory(
                    from: plane.row(y), byteCount: bytes)
            }
        }
    }
}
