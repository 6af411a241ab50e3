import Glibc

/// Plain memory for one frame, freed with the frame; zeroed, 64-byte aligned.
///
/// What is large lies on huge pages where the system has them: a 1080p picture is read and written in thousands of
/// small pages otherwise, more than a core's address caches hold (docs/decisions/frame-pools.md).
/// Thread-safety: as the frame's.
final class HeapStorage: FrameStorage, @unchecked Sendable {
    // Unchecked: the address is written once and freed once, in deinit.
    let bytes: UnsafeMutableRawPointer

    private static let hugePage = 2 << 20
    /// Below this, rounding up to whole huge pages would waste more memory than it saves time.
    private static let smallestHuge = 1 << 20

    init(byteCount: Int) {
        let isHuge = byteCount >= Self.smallestHuge
        let alignment = isHuge ? Self.hugePage : 64
        let count = (byteCount + alignment - 1) / alignment * alignment
        bytes = .allocate(byteCount: count, alignment: alignment)
        // A wish: the system may have none to give.
        if isHuge { madvise(bytes, count, MADV_HUGEPAGE) }
        // Padding is read by wide loads (never used), so that it must at least be defined.
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    func release() {}
    deinit { bytes.deallocate() }
}
