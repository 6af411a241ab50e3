import Glibc
import PatchMedia

/// Makes the folders that an output file needs, below the working directory only: elsewhere a missing folder is more
/// likely a slip or a disk that is not mounted, and writing to the system's disk instead would be worse than an error.
///
/// - Throws: `PatchError.output` when a folder cannot be made.
package func makeFolder(forOutput path: String) throws {
    var relative = Substring(path)
    if path.hasPrefix("/") {
        guard let working = getcwd(nil, 0) else { return }
        defer { free(working) }
        let base = String(cString: working) + "/"
        guard path.hasPrefix(base) else { return }
        relative = path.dropFirst(base.count)
    }
    var folder = String(path.dropLast(relative.count))
    for part in relative.split(separator: "/").dropLast() {
        folder += part + "/"
        guard mkdir(folder, 0o755) != 0, errno != EEXIST else { continue }
        throw PatchError(
            .output, "cannot make the folder \(folder)", remedy: "choose a place that may be written",
            cause: String(cString: strerror(errno)))
    }
}
