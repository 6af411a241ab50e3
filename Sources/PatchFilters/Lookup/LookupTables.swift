import Glibc
import PatchMedia
import Synchronization

/// Reads tables from files and keeps those that were read last, so that a graph that is checked, planned and planned again
/// reads each once. A file that was written since is read again.
///
/// Thread-safety: all members may be called from any thread; reading blocks other readers.
public final class LookupTables: Sendable {
    private struct Known {
        var path: String
        var layout: ColorTable.PictureLayout
        var stamp: FileStamp
        var table: ColorTable
    }

    private let readPicture: (@Sendable (String) throws -> Frame)?
    private let known = Mutex<[Known]>([])
    private static let kept = 8
    private static let sizeLimit = 512 << 20

    /// - Parameter readPicture: decodes a still picture by its path; nil for programs without decoders.
    public init(readPicture: (@Sendable (String) throws -> Frame)? = nil) { self.readPicture = readPicture }

    /// The table in a file: .cube, .3dl, or a picture.
    /// - Throws: `PatchError.notFound` or `.media`, with the line where a text is wrong.
    public func table(_ path: String, layout: ColorTable.PictureLayout = .hald) throws -> ColorTable {
        let stamp = FileStamp(path)
        return try known.withLock { known in
            if let index = known.firstIndex(where: { $0.path == path && $0.layout == layout && $0.stamp == stamp }) {
                let found = known.remove(at: index)
                known.append(found)
                return found.table
            }
            let table = try read(path, layout)
            known.removeAll { $0.path == path && $0.layout == layout }
            known.append(Known(path: path, layout: layout, stamp: stamp, table: table))
            if known.count > Self.kept { known.removeFirst() }
            return table
        }
    }

    private func read(_ path: String, _ layout: ColorTable.PictureLayout) throws -> ColorTable {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        switch name.lowercased().split(separator: ".").last {
        case "cube": return try ColorTable(cube: try Self.bytes(of: path, name), name: name)
        case "3dl": return try ColorTable(threeDL: try Self.bytes(of: path, name), name: name)
        default:
            guard let readPicture else {
                throw PatchError(
                    .unavailable, "'\(name)' is a picture, and this program reads none as a table",
                    remedy: "use a .cube or .3dl file")
            }
            return try ColorTable(try readPicture(path), layout: layout, name: name)
        }
    }

    private static func bytes(of path: String, _ name: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else {
            throw PatchError(
                .notFound, "cannot read the table '\(name)'", remedy: "check its name and permission",
                cause: String(cString: strerror(errno)))
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
            bytes += chunk[..<count]
            guard bytes.count <= sizeLimit else {
                throw PatchError(
                    .media, "'\(name)' has more than \(sizeLimit >> 20) MiB", remedy: "no table is as large")
            }
        }
        return bytes
    }
}

/// What tells whether a file was written since: its identity, size and time.
public struct FileStamp: Hashable, Sendable {
    private var numbers: [Int]

    /// That of no file, when there is none.
    public init(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            numbers = []
            return
        }
        numbers = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
        ]
    }
}
