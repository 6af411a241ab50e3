import Glibc
import PatchMedia

/// The Lua texts of filters, one file a filter under `CATEGORY/NAME.lua`, and under `shared/NAME.lua` the formulas that
/// several of them use: `require "library.NAME"`. With them come the looks of graphs/looks, `require "looks.NAME"`, for graphs
/// in whose own folder there is none of that name.
///
/// Thread-safety: a value.
public struct FilterLibrary: Sendable {
    struct Entry: Sendable {
        /// What scripts call it after `filter.`, or the whole word for `blend.NAME` and `transition.NAME`.
        var name: String
        var category: String
        var source: String
    }

    /// The filters that are part of the program.
    public static let builtIn = FilterLibrary(entries)

    private let byName: [String: Entry]
    private let modules: [String: String]
    private let looks: [String: String]
    /// All names, sorted.
    public let names: [String]

    private init(_ entries: [Entry]) {
        func texts(_ category: String) -> [String: String] {
            Dictionary(
                entries.filter { $0.category == category }.map { ($0.name, $0.source) },
                uniquingKeysWith: { first, _ in first })
        }
        (modules, looks) = (texts("shared"), texts("looks"))
        let filters = entries.filter { $0.category != "shared" && $0.category != "looks" }
        byName = Dictionary(filters.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        names = byName.keys.sorted()
    }

    /// Reads a library from a folder, as `Sources/PatchFilters/Library` is one: for trying a filter without a build. Looks are
    /// the program's own.
    /// - Throws: `PatchError.notFound` when a folder or file cannot be read.
    public init(folder: String) throws {
        var entries = Self.entries.filter { $0.category == "looks" }
        for category in try Self.list(folder) {
            for file in try Self.list("\(folder)/\(category)") where file.hasSuffix(".lua") {
                let name = String(file.dropLast(4))
                entries.append(
                    Entry(
                        name: Self.word(name, category: category), category: category,
                        source: try Self.text(of: "\(folder)/\(category)/\(file)")))
            }
        }
        self.init(entries)
    }

    /// The Lua text of a filter; nil when there is none of that name.
    public func source(of name: String) -> String? { byName[name]?.source }

    /// The Lua text of what `require "library.NAME"` loads; nil when there is none of that name.
    public func module(_ name: String) -> String? { modules[name] }

    /// Names of all shared modules, sorted.
    public var moduleNames: [String] { modules.keys.sorted() }

    /// The Lua text of what `require "looks.NAME"` loads where the graph's folder has no such file.
    public func look(_ name: String) -> String? { looks[name] }

    /// Names of all looks, sorted.
    public var lookNames: [String] { looks.keys.sorted() }

    /// The folder that a filter is in, such as `color` or `blend`; nil when there is none of that name.
    public func category(of name: String) -> String? { byName[name]?.category }

    /// Two families have words of their own in scripts: `blend.NAME` and `transition.NAME`.
    private static func word(_ name: String, category: String) -> String {
        ["blend", "transition"].contains(category) ? "\(category).\(name)" : name
    }

    private static func list(_ folder: String) throws -> [String] {
        guard let directory = opendir(folder) else { throw problem("list", folder) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func text(of path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw problem("read", path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func problem(_ verb: String, _ path: String) -> PatchError {
        PatchError(.notFound, "cannot \(verb) '\(path)': \(String(cString: strerror(errno)))")
    }
}
