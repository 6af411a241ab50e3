import Synchronization

/// Frames of one format that are used again and again: taking one allocates nothing once the pool has grown to the
/// number in use at a time.
///
/// A frame is free when only the pool refers to it; nobody has to give it back.
/// Thread-safety: all members may be called from any thread.
public final class FramePool: Sendable {
    public let format: VideoFormat
    private let limit: Int
    private let frames: Mutex<[Frame]>

    /// - Parameter limit: the most frames that may exist at a time; `take` returns nil beyond it.
    public init(format: VideoFormat, preallocate: Int = 0, limit: Int = 64) {
        self.format = format
        self.limit = limit
        var initial: [Frame] = []
        initial.reserveCapacity(limit)
        for _ in 0..<min(preallocate, limit) { initial.append(Frame(allocating: format)) }
        frames = Mutex(initial)
    }

    /// A frame that nobody else holds, its pixels undefined; nil when `limit` frames are all in use, which
    /// means that a consumer holds on to too many.
    public func take() -> Frame? {
        frames.withLock { frames in
            for index in frames.indices where isKnownUniquelyReferenced(&frames[index]) {
                // The last holder's reads happen before our writes.
                atomicMemoryFence(ordering: .acquiring)
                return frames[index]
            }
            guard frames.count < limit else { return nil }
            let frame = Frame(allocating: format)
            frames.append(frame)
            return frame
        }
    }

    /// Frames that exist, in use or not.
    public var count: Int { frames.withLock { $0.count } }
}

extension Frame {
    /// A frame with memory of its own: rows start on 64-byte boundaries and are readable 64 bytes past their end.
    public convenience init(allocating format: VideoFormat) {
        let pixelFormat = format.pixelFormat
        var strides = (0, 0, 0, 0)
        var offsets = (0, 0, 0, 0)
        var total = 64
        withUnsafeMutableBytes(of: &strides) { strides in
            let strides = strides.assumingMemoryBound(to: Int.self)
            withUnsafeMutableBytes(of: &offsets) { offsets in
                let offsets = offsets.assumingMemoryBound(to: Int.self)
                for index in 0..<pixelFormat.planeCount {
                    let layout = pixelFormat.layout(ofPlane: index)
                    strides[index] = (layout.width(of: format.width) * layout.bytesPerPixel + 63) / 64 * 64
                    offsets[index] = total
                    total += strides[index] * layout.height(of: format.height) + 64
                }
            }
        }
        let storage = HeapStorage(byteCount: total + 64)
        let memory = storage.bytes
        let planes = (
            Plane(base: memory + offsets.0, stride: strides.0), Plane(base: memory + offsets.1, stride: strides.1),
            Plane(base: memory + offsets.2, stride: strides.2), Plane(base: memory + offsets.3, stride: strides.3)
        )
        self.init(format: format, planes: planes, owner: storage)
    }
}

/// Reusable `Frame` shells around memory that belongs to others, such as a decoder's buffers.
///
/// Thread-safety: `wrap` from one thread at a time; the frames go anywhere.
public final class BorrowedFramePool<Storage: FrameStorage>: @unchecked Sendable {
    // Unchecked: the array is touched only inside `wrap`, which its owner calls from one thread at a time.
    private var shells: [(frame: Frame, storage: Storage)] = []
    private let makeStorage: @Sendable () -> Storage
    private let limit: Int

    /// - Parameter makeStorage: makes an empty storage; called at most `limit` times.
    public init(limit: Int = 64, makeStorage: @escaping @Sendable () -> Storage) {
        self.limit = limit
        self.makeStorage = makeStorage
        shells.reserveCapacity(limit)
    }

    /// Fills a free shell: `fill` moves the foreign buffer into the storage and says where its planes are.
    /// Returns nil when all shells are in use. A shell's previous buffer is released just before it is filled again.
    public func wrap(_ fill: (Storage) throws -> (format: VideoFormat, planes: Frame.Planes)) rethrows -> Frame? {
        for index in shells.indices where isKnownUniquelyReferenced(&shells[index].frame) {
            atomicMemoryFence(ordering: .acquiring)
            shells[index].storage.release()
            let (format, planes) = try fill(shells[index].storage)
            shells[index].frame.format = format
            shells[index].frame.planes = planes
            return shells[index].frame
        }
        guard shells.count < limit else { return nil }
        let storage = makeStorage()
        let (format, planes) = try fill(storage)
        let frame = Frame(format: format, planes: planes, owner: storage)
        shells.append((frame, storage))
        return frame
    }

    /// Gives back the foreign buffers that nobody uses, without waiting for the next `wrap`.
    public func releaseUnused() {
        for index in shells.indices where isKnownUniquelyReferenced(&shells[index].frame) {
            atomicMemoryFence(ordering: .acquiring)
            shells[index].storage.release()
        }
    }
}
