import Glibc
import PatchMedia

/// A line that a script wrote with `log(…)`, or something worth knowing about it.
///
/// Thread-safety: a value.
public struct ScriptLogEntry: Sendable {
    public var message: String
    public var location: SourceLocation?

    public init(message: String, location: SourceLocation?) {
        self.message = message
        self.location = location
    }
}

/// What the program around a script gives it.
///
/// Thread-safety: a value; the closures are called on the script's thread.
public struct ScriptOptions: Sendable {
    public var limits = ScriptLimits()
    /// `--set name=value`: what controls begin with.
    public var overrides: [String: String] = [:]
    /// The value of a secret, or nil when it is not set.
    public var secret: @Sendable (String) -> String? = { ScriptOptions.environmentSecret($0) }
    /// `log(…)`.
    public var log: @Sendable (ScriptLogEntry) -> Void = { _ in }
    /// Handlers that raise after the start. Reloads that fail go to `onReload`.
    public var onError: @Sendable (PatchError) -> Void = { _ in }
    /// After each reload, good or bad.
    public var onReload: @Sendable (ReloadReport) -> Void = { _ in }
    /// Absolute folders below which scripts may write, beside the working directory, the graph's folder and the
    /// system's folder for temporary files.
    public var outputDirectories: [String] = []
    /// Timers follow the graph's time (`ScriptEvent.frame`) instead of the clock: for offline rendering.
    public var usesGraphTime = false

    public init() {}

    /// A secret from the environment. Only names that begin with PATCHBAY_ are given to scripts, because a script may
    /// come from a stranger and the environment holds other people's keys.
    public static func environmentSecret(_ name: String) -> String? {
        guard name.hasPrefix("PATCHBAY_"), let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// Reads `NAME=value` lines; empty lines and those that begin with `#` are skipped.
    /// - Throws: `PatchError.notFound` when the file cannot be read, `PatchError.usage` when others than its owner may read it.
    public static func secrets(fromFile path: String) throws -> [String: String] {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & 0o077 != 0 || status.st_uid != geteuid() && geteuid() != 0 {
            throw PatchError(
                .usage, "the secrets file '\(path)' may be read or written by others than you",
                remedy: "chmod 600 it\(status.st_uid == geteuid() ? "" : ", as its owner")")
        }
        var secrets: [String: String] = [:]
        for line in try ScriptFiles.read(path, limit: 1 << 20).split(separator: "\n") where !line.hasPrefix("#") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let name = line[..<equals].filter { !$0.isWhitespace }
            let value = line[line.index(after: equals)...].drop { $0 == " " }
            secrets[name] = String(value.last == "\r" ? value.dropLast() : value)
        }
        return secrets
    }
}
