import PatchMedia
import Synchronization

/// One frame pool for each format, shared by all plans, so that a reload finds its buffers warm. A step whose frames a memory
/// holds has a pool of its own.
///
/// Thread-safety: all members may be called from any thread.
final class PoolStore: Sendable {
    struct Key: Hashable {
        var format: VideoFormat
        /// nil for the pool that all share.
        var owner: String?
        var held = 0
    }

    private let pools = Mutex<[Key: FramePool]>([:])

    func pool(for format: VideoFormat) -> FramePool { pool(Key(format: format)) }

    func pool(_ key: Key) -> FramePool {
        pools.withLock { pools in
            if let pool = pools[key] { return pool }
            let pool = FramePool(
                format: key.format, preallocate: key.held == 0 ? 0 : key.held + 2, limit: 64 + key.held)
            pools[key] = pool
            return pool
        }
    }

    /// Forgets all other pools; their frames go when their last holder does.
    func keep(_ keys: Set<Key>) {
        pools.withLock { pools in pools = pools.filter { keys.contains($0.key) } }
    }

    var count: Int { pools.withLock { $0.count } }
}
