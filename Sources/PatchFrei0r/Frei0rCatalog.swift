internal import CFrei0r
import Glibc
import PatchMedia
import Synchronization

/// The installed plugins. What one is and takes is asked in a process of its own, once.
///
/// Thread-safety: all members may be called from any thread.
final class Frei0rCatalog: Sendable {
    private let described = Mutex<[String: Frei0rPlugin]>([:])
    /// Seconds that a plugin may take to describe itself.
    private static let patience: Double = 5

    /// Folders that are searched, the first one first: FREI0R_PATH (as in other hosts), else the standard's and Debian's.
    static var folders: [String] {
        if let path = getenv("FREI0R_PATH") {
            return String(cString: path).split(separator: ":").map(String.init)
        }
        let home = getenv("HOME").map { [String(cString: $0) + "/.frei0r-1/lib"] } ?? []
        return home + [
            "/usr/local/lib/frei0r-1", "/usr/lib/frei0r-1", "/usr/lib/x86_64-linux-gnu/frei0r-1",
            "/usr/lib/aarch64-linux-gnu/frei0r-1",
        ]
    }

    /// Names of the plugins, without looking into them.
    func names() -> [String] {
        var found: Set<String> = []
        for folder in Self.folders {
            guard let directory = opendir(folder) else { continue }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let file = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if file.hasSuffix(".so"), !file.hasPrefix(".") { found.insert(String(file.dropLast(3))) }
            }
        }
        return found.sorted()
    }

    /// - Throws: `PatchError` with the nearest name when there is no such plugin, or why it cannot be used.
    func plugin(_ name: String) throws -> Frei0rPlugin {
        if let known = described.withLock({ $0[name] }) { return known }
        guard !name.isEmpty, !name.contains("/"), !name.hasPrefix("."), name.utf8.count <= 64, !name.utf8.contains(0)
        else {
            throw PatchError(
                .script, "\"\(name.prefix(64))\" is no name of a frei0r plugin",
                remedy: "`patchbay filters --frei0r` lists them")
        }
        let candidates = Self.folders.map { "\($0)/\(name).so" }
        guard let file = candidates.first(where: { access($0, R_OK) == 0 }) else {
            let names = names()
            throw PatchError(
                .notFound, "no frei0r plugin '\(name)' is installed",
                remedy: names.isEmpty
                    ? "install some: apt-get install frei0r-plugins"
                    : Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                        ?? "`patchbay filters --frei0r` lists what there is")
        }
        let plugin = try Self.describe(file, name)
        described.withLock { $0[name] = plugin }
        return plugin
    }

    private static func describe(_ file: String, _ name: String) throws -> Frei0rPlugin {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else {
            throw PatchError(.unavailable, "no pipe for a plugin", cause: String(cString: strerror(errno)))
        }
        defer { close(ends[0]) }
        let child: pid_t
        do {
            defer { close(ends[1]) }
            child = try HelperProgram.start(["describe", file], third: ends[1], fourth: nil)
        }
        let deadline = monotonicNanoseconds() + Int64(patience * 1e9)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < 1 << 20 {
            let left = (deadline - monotonicNanoseconds()) / 1_000_000
            guard left > 0 else { break }
            var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, Int32(left))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { break }
            let count = read(ends[0], &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        let isLate = monotonicNanoseconds() >= deadline
        let status = HelperProgram.reap(child, until: isLate ? 0 : monotonicNanoseconds() + 200_000_000)
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        if let plugin = Frei0rPlugin(lines: lines, file: file, name: name) { return plugin }
        let reason: String =
            if isLate {
                "it did not describe itself within \(Int(patience)) s"
            } else if text.hasPrefix("E") {
                String(text.dropFirst())
            } else if status != 0 {
                HelperProgram.describe(status)
            } else {
                "it does not describe itself as frei0r 1 asks for"
            }
        throw PatchError(
            .media, "the frei0r plugin '\(name)' cannot be used", remedy: "take another plugin", cause: reason)
    }
}
