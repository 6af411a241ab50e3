import Foundation

/// A folder of its own for one test, removed with everything in it when nobody holds it any more.
///
/// Thread-safety: all members may be called from any thread.
public final class TemporaryDirectory: Sendable {
    /// Absolute, without a slash at its end.
    public let path: String

    /// - Throws: when no folder can be made.
    public init() throws {
        // Short: sockets below it have paths of at most 107 bytes.
        let name = "patchbay-test-" + String(UInt64.random(in: .min ... .max), radix: 36)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        // Fails where there is one already.
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Absolute path of `name` in the folder; nothing is made.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file, with the folders above it, and returns its absolute path.
    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try write(name, bytes: Array(text.utf8))
    }

    /// Writes a file, with the folders above it, and returns its absolute path.
    @discardableResult
    public func write(_ name: String, bytes: [UInt8]) throws -> String {
        let url = URL(fileURLWithPath: file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return url.path
    }

    /// Replaces a file in one step, as editors that rename do: a reader sees the old text or the new, never half.
    public func replace(_ name: String, with text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)), options: .atomic)
    }
}

extension String {
    /// The bytes of the file that this path names.
    /// - Throws: when it cannot be read.
    public func contentsOfFile() throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: self))) }
}
