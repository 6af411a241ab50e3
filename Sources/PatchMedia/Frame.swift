/// One plane of a picture in memory.
///
/// Thread-safety: a value that points into its frame; use it only while you hold the frame.
public struct Plane: @unchecked Sendable {
    // Unchecked: the pointer is only an address. Who may write is the frame's rule (see `Frame`).
    public var base: UnsafeMutableRawPointer
    /// Bytes from one row to the next; may be negative (bottom-up pictures) or larger than a row.
    public var stride: Int

    public init(base: UnsafeMutableRawPointer, stride: Int) {
        self.base = base
        self.stride = stride
    }

    public func row(_ y: Int) -> UnsafeMutableRawPointer { base + y * stride }
}

/// A picture: planes of samples, what they mean, and when they are shown.
///
/// A frame is written by exactly one owner, then published; from then on nobody writes it. Frames come from a
/// `FramePool`, which takes a frame back by itself once nobody else holds it, so passing one on costs a retain.
///
/// Thread-safety: published frames are immutable and may be read from any thread.
public final class Frame: @unchecked Sendable {
    // Unchecked: the `var`s are written only by the owner that took the frame from its pool, before publishing it
    // through a lock or queue; a pool reuses a frame only when it holds the sole reference.

    /// At most four planes, so that a frame needs no array.
    public typealias Planes = (Plane, Plane, Plane, Plane)

    public internal(set) var format: VideoFormat
    public internal(set) var planes: Planes
    /// Presentation time. In a source: on the media's own time line. After the scheduler: on the graph's.
    public var pts: MediaTime = .zero
    /// How long the picture stays; zero when unknown.
    public var duration: MediaTime = .zero
    /// Counts the frames of one source or output, from 0; a gap means frames were dropped.
    public var sequence: Int64 = 0
    /// When the picture was captured or arrived, monotonic nanoseconds; 0 when unknown.
    public var captureTime: Int64 = 0
    /// Keeps foreign memory (a decoder's buffer, a host program's array) alive while the frame uses it.
    public internal(set) var owner: (any FrameStorage)?

    init(format: VideoFormat, planes: Planes, owner: (any FrameStorage)?) {
        self.format = format
        self.planes = planes
        self.owner = owner
    }

    public var width: Int { format.width }
    public var height: Int { format.height }

    /// - Precondition: `index` is below the format's plane count.
    public func plane(_ index: Int) -> Plane {
        precondition(index >= 0 && index < format.pixelFormat.planeCount)
        switch index {
        case 0: return planes.0
        case 1: return planes.1
        case 2: return planes.2
        default: return planes.3
        }
    }

    deinit { owner?.release() }
}

/// Memory that frames borrow: a decoder's buffer, an array of the host program.
///
/// Thread-safety: `release` may be called on any thread, once for each time the storage was filled.
public protocol FrameStorage: AnyObject, Sendable {
    /// The frame no longer uses the memory; the storage may be filled again.
    func release()
}
