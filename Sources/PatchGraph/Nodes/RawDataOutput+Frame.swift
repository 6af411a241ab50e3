import PatchMedia
import Synchronization

/// A frame as `rawDataOutput` hands it out: bytes in the format that the node asked for, with all that describes them.
///
/// The pixels are valid while the closure runs; keep `frame` to keep them longer (and the pool one frame shorter).
/// Thread-safety: a value; the pixels are immutable.
public struct RawFrame: Sendable {
    /// The picture itself.
    public let frame: Frame
    /// Graph time at which the picture is shown.
    public let pts: MediaTime
    /// One tick.
    public let duration: MediaTime
    /// Counts what the output was offered, from 0; a gap means that frames were dropped before it.
    public let sequence: Int64

    public init(frame: Frame, pts: MediaTime, duration: MediaTime, sequence: Int64) {
        self.frame = frame
        self.pts = pts
        self.duration = duration
        self.sequence = sequence
    }

    public var format: PixelFormat { frame.format.pixelFormat }
    /// In pixels.
    public var width: Int { frame.width }
    /// In pixels.
    public var height: Int { frame.height }
    public var color: ColorSpec { frame.format.color }
    public var planeCount: Int { format.planeCount }

    /// Bytes from one row of a plane to the next; negative for a bottom-up picture.
    /// - Precondition: `plane` is below `planeCount`.
    public func stride(ofPlane plane: Int) -> Int { frame.plane(plane).stride }

    /// Rows of a plane (chroma planes may have fewer than `height`).
    public func rows(ofPlane plane: Int) -> Int { format.layout(ofPlane: plane).height(of: height) }

    /// Bytes of a row that carry pixels; `stride` may be larger.
    public func rowBytes(ofPlane plane: Int) -> Int {
        let layout = format.layout(ofPlane: plane)
        return layout.width(of: width) * layout.bytesPerPixel
    }

    /// The pixels of one row, without padding.
    /// - Precondition: `plane` and `y` exist.
    public func row(_ y: Int, ofPlane plane: Int = 0) -> UnsafeRawBufferPointer {
        precondition(y >= 0 && y < rows(ofPlane: plane))
        return UnsafeRawBufferPointer(start: frame.plane(plane).row(y), count: rowBytes(ofPlane: plane))
    }

    /// All rows of a plane in memory order, `stride` bytes apart, padding included; nil for a bottom-up picture.
    public func bytes(ofPlane plane: Int = 0) -> UnsafeRawBufferPointer? {
        let (view, rows) = (frame.plane(plane), rows(ofPlane: plane))
        guard view.stride >= 0, rows > 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: view.base, count: view.stride * (rows - 1) + rowBytes(ofPlane: plane))
    }
}

/// The host program's closures for `rawDataOutput` nodes, by node name. They outlive reloads of the graph.
///
/// Thread-safety: all members may be called from any thread; a closure runs on its output's own thread.
public final class RawDataHandlers: Sendable {
    public typealias Handler = @Sendable (RawFrame) -> Void
    private let handlers = Mutex<[NodeID: Handler]>([:])

    public init() {}

    /// Sets, replaces or (nil) removes the closure for the output named `node`; the next frame goes to it.
    public func onFrame(of node: NodeID, _ handler: Handler?) { handlers.withLock { $0[node] = handler } }

    /// The closure for `node`, if one is set.
    public subscript(node: NodeID) -> Handler? { handlers.withLock { $0[node] } }
}
