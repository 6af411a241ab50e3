import Glibc

/// Which processor cores threads run on (Linux's sched_setaffinity and sched_getaffinity).
///
/// Thread-safety: all members may be called from any thread.
public enum Affinity {
    private typealias Call = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> CInt

    /// As many cores as the kernel's set may name.
    private static let limit = 1024

    /// Glibc hides both calls from Swift.
    private static func call(_ name: String, _ bits: inout [UInt64]) -> CInt {
        guard let symbol = dlsym(nil, name) else { return -1 }
        let function = unsafeBitCast(symbol, to: Call.self)
        return bits.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { function(0, bytes.count, $0) } ?? -1
        }
    }

    /// Numbers of the cores that this process may use, in order; empty when the system does not say.
    public static var cores: [Int] {
        var bits = [UInt64](repeating: 0, count: limit / 64)
        guard call("sched_getaffinity", &bits) >= 0 else { return [] }
        return (0..<limit).filter { bits[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
    }

    /// Ties the calling thread to one core.
    /// - Returns: false when the system refuses; the thread then runs where it ran.
    @discardableResult
    public static func pin(toCore core: Int) -> Bool {
        guard (0..<limit).contains(core) else { return false }
        var bits = [UInt64](repeating: 0, count: limit / 64)
        bits[core / 64] = 1 << UInt64(core % 64)
        return call("sched_setaffinity", &bits) == 0
    }

    /// - Throws: `PatchError.usage` that names what is there, for a core that is not, or that is named twice.
    public static func check(_ wanted: [Int]) throws {
        let cores = cores
        guard !cores.isEmpty else { return }
        let known = cores.map { "\($0)" }.joined(separator: ", ")
        for (index, core) in wanted.enumerated() {
            guard cores.contains(core) else {
                throw PatchError(.usage, "this process has no core \(core)", remedy: "its cores are \(known)")
            }
            guard !wanted[..<index].contains(core) else {
                throw PatchError(.usage, "core \(core) is named twice", remedy: "name each core once, of \(known)")
            }
        }
    }
}
