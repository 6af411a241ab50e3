internal import CLua
import PatchFilters
import PatchGraph
import PatchMedia
import Synchronization

/// The filter library, ready to use: each filter's Lua text is run once, when it is first asked for.
///
/// Thread-safety: all members may be called from any thread.
public final class FilterCatalog: Sendable {
    private final class Workshop: @unchecked Sendable {
        // Unchecked: used only under the catalog's lock, one thread at a time.
        let state: LuaState
        let language: KernelLanguage
        var made: KernelFilter?

        init(_ library: FilterLibrary, _ lookups: LookupTables) throws {
            state = try LuaState()
            language = KernelLanguage(state: state, lookups: lookups)
            let call = LuaCall(state: state, pointer: state.pointer)
            call.pushGlobals()
            language.install { [unowned self] filter, call in
                made = filter
                call.push(true)
                return 1
            }
            language.define("require") { language, call in try language.requireLibrary(library, call) }
            call.pop()
        }
    }

    private struct Shelf {
        struct Key: Hashable {
            var name: String
            var options: NodeOptions
            /// How the files among the options were, since a filter may be built for what is in them.
            var files: [FileStamp]
        }
        var filters: [Key: KernelFilter] = [:]
        /// Keys of filters with options, oldest first: a script that makes ever new ones must not pile them up.
        var specialised: [Key] = []
        var workshop: Workshop?
    }

    private let shelf = Mutex(Shelf())

    let library: FilterLibrary
    let lookups: LookupTables

    /// - Parameters:
    ///   - library: the program's own filters, unless another is given.
    ///   - lookups: where filters read their tables.
    public init(library: FilterLibrary = .builtIn, lookups: LookupTables = LookupTables()) {
        self.library = library
        self.lookups = lookups
    }

    /// Names of all filters, such as `brightness` and `blend.normal`, sorted.
    public var names: [String] { library.names }

    /// Filters with options that are kept.
    private static let limit = 256

    /// A filter by name, built for these static options; those that are not given have their defaults.
    /// - Parameter options: values of the forms that the filter's `options` state; others are not looked at.
    /// - Throws: `PatchError.notFound` with the nearest name; `.kernel` when the library's own text is wrong.
    public func filter(_ name: String, options: NodeOptions = NodeOptions()) throws -> KernelFilter {
        try shelf.withLock { shelf in
            let key = Shelf.Key(
                name: name, options: options,
                files: options.values.keys.sorted().compactMap { options.string($0) }.filter { $0.hasPrefix("/") }
                    .map { FileStamp($0) })
            if let known = shelf.filters[key] { return known }
            guard let source = library.source(of: name) else {
                throw PatchError(
                    .notFound, "there is no filter '\(name)'",
                    remedy: Spelling.nearest(to: name, in: names).map { "did you mean '\($0)'?" }
                        ?? "`patchbay filters` lists what there is")
            }
            let workshop: Workshop
            if let open = shelf.workshop {
                workshop = open
            } else {
                workshop = try Workshop(library, lookups)
                shelf.workshop = workshop
            }
            let file = "library/\(name).lua"
            workshop.language.texts[file] = source
            workshop.language.defaultName = { name }
            workshop.made = nil
            workshop.language.givenOptions = options
            defer { workshop.language.givenOptions = NodeOptions() }
            workshop.language.lookupProblem = nil
            do {
                try workshop.state.load(source, name: file)
                try workshop.state.run(seconds: 10)
            } catch { throw workshop.language.lookupProblem ?? error }
            guard let filter = workshop.made else {
                throw PatchError(.kernel, "filter '\(name)' makes no kernel", at: SourceLocation(file: file, line: 0))
            }
            shelf.filters[key] = filter
            if !options.values.isEmpty {
                shelf.specialised.append(key)
                if shelf.specialised.count > Self.limit { shelf.filters[shelf.specialised.removeFirst()] = nil }
            }
            return filter
        }
    }

    /// The Lua text of a filter, for people to read; nil when there is none of that name.
    public func source(_ name: String) -> String? { library.source(of: name) }

    /// The family that a filter is listed under, such as `color`.
    public func category(_ name: String) -> String? { library.category(of: name) }
}
