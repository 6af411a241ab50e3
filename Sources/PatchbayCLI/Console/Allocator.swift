internal import CGlibc

/// How this process takes memory from the system.
enum Allocator {
    /// Blocks of 256 KB and more, such as decoders' pictures, are the system's again as soon as they are freed, and threads that
    /// come and go with inputs share four heaps. Call it before anything large was allocated.
    ///
    /// Left alone, glibc raises the bound to the size of what is freed, so that the pictures of each new connection lie in the heap of
    /// whichever thread decoded them, which seldom shrinks: memory grew by 4 MB with each of the first losses of an input.
    static func prepare() {
        _ = mallopt(M_MMAP_THRESHOLD, 256 * 1024)
        _ = mallopt(M_ARENA_MAX, 4)
    }
}
