import PatchMedia
import Synchronization

/// One frame pool for each format, shared by all plans, so that a reload finds its buffers warm.
///
/// Thread-safety: all members may be called from any thread.
final class PoolStore: Sendable {
    private let pools = Mutex<[VideoFormat: FramePool]>([:])

    func pool(for format: VideoFormat) -> FramePool {
        pools.withLock { pools in
            if let pool = pools[format] { return pool }
            let pool = FramePool(format: format, limit: 64)
            pools[format] = pool
            return pool
        }
    }

    /// Forgets pools that none of these formats needs; their frames go when their last holder does.
    func keep(_ formats: Set<VideoFormat>) {
        pools.withLock { pools in pools = pools.filter { formats.contains($0.key) } }
    }

    var count: Int { pools.withLock { $0.count } }
}
