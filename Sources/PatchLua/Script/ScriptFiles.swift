import Glibc
import PatchMedia

/// The files that a script may touch.
enum ScriptFiles {
    /// The text of a file of at most `limit` bytes.
    /// - Throws: `PatchError.notFound` or `.budget`.
    static func read(_ path: String, limit: Int) throws -> String {
        guard let file = fopen(path, "r") else {
            throw PatchError(
                .notFound, "cannot read '\(path)'", remedy: "check its name and permission",
                cause: String(cString: strerror(errno)))
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw PatchError(
                    .budget, "'\(path)' has more than \(limit) bytes", remedy: "split it into modules")
            }
        }
        guard ferror(file) == 0 else {
            throw PatchError(.notFound, "cannot read '\(path)'", remedy: "it may be a folder")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The path without links, `.` and `..`; nil when nothing is there.
    static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// What tells whether a file was written since: its identity, size and time.
    struct Stamp: Equatable {
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int
    }

    /// nil when nothing is there.
    static func stamp(_ path: String) -> Stamp? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Stamp(
            device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
            seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    static func isBelow(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    static func absolute(_ path: String) -> String {
        normalized(path.hasPrefix("/") ? path : workingDirectory + "/" + path)
    }

    /// Takes `.` and `..` out of an absolute path, by its text alone.
    static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// The path with the longest part of it that exists resolved, so that a link in it cannot lead elsewhere.
    static func resolvedForWriting(_ path: String) -> String {
        var existing = normalized(path)
        var rest = ""
        while existing != "/" {
            if let real = real(existing) { return normalized(real + "/" + rest) }
            rest = name(of: existing) + (rest.isEmpty ? "" : "/" + rest)
            existing = folder(of: existing)
        }
        return normalized("/" + rest)
    }

    /// Names in a folder that end in `suffix`, without it.
    static func names(in folder: String, suffix: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(suffix) { names.append(String(name.dropLast(suffix.count))) }
        }
        return names
    }
}
