import Patchbay

/// `patchbay filters`: the library, or one filter of it.
enum FiltersCommand: Command {
    static let specification = CommandSpecification(
        name: "filters", summary: "List the filters, or describe one with its parameters",
        operands: [.init(name: "NAME", summary: "one filter, such as contrast", isRequired: false)],
        options: [
            .init(name: "source", value: nil, summary: "print the filter's Lua text"),
            .init(
                name: "ffmpeg", value: nil,
                summary: "FFmpeg's filters instead, for ffmpeg{ \"NAME\" } and audio.ffmpeg{ \"NAME\" }"),
            .init(name: "frei0r", value: nil, summary: "installed frei0r plugins instead, for frei0r{ \"NAME\" }"),
            GraphOptions.json,
        ],
        examples: [
            "patchbay filters", "patchbay filters contrast", "patchbay filters contrast --source > mine.lua",
            "patchbay filters --frei0r cartoon",
        ])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if arguments.has("ffmpeg") || arguments.has("frei0r") { return try listGuests(arguments, console) }
        let catalog = FilterCatalog.standard
        guard let name = arguments.operands.first else {
            if arguments.has("source") { throw Arguments.usage("--source needs the NAME of a filter", specification) }
            let all = try catalog.names.map { try catalog.filter($0) }
            let text = arguments.has("json") ? FilterText.json(all, catalog).encoded(pretty: true) : list(all, catalog)
            console.print(text)
            return .success
        }
        let filter: KernelFilter
        do { filter = try catalog.filter(name) } catch var error as PatchError where error.code == .notFound {
            error.code = .usage
            throw error
        }
        if arguments.has("source") {
            console.print(catalog.source(name) ?? "")
            return .success
        }
        console.print(
            arguments.has("json")
                ? FilterText.json(filter, catalog).encoded(pretty: true)
                : FilterText.text(filter, source: catalog.source(name)))
        return .success
    }

    private static func listGuests(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let isFrei0r = arguments.has("frei0r")
        let name = arguments.operands.first
        if arguments.has("source") { throw Arguments.usage("--source is for Patchbay's own filters", specification) }
        let all: [GuestDescription]
        if isFrei0r, let name {
            do { all = [try Frei0rGuests.plugin(name)] } catch var error as PatchError where error.code == .notFound {
                error.code = .usage
                throw error
            }
        } else {
            all = isFrei0r ? Frei0rGuests.plugins() : FFmpegGuests.filters() + FFmpegSound.filters()
        }
        let guests = name.map { name in all.filter { $0.name == name } } ?? all
        guard let first = guests.first else {
            let near = name.flatMap { Spelling.nearest(to: $0, in: all.map(\.name)) }
            throw PatchError(
                .usage, name.map { "there is no filter '\($0)' in FFmpeg" } ?? "no frei0r plugin is installed",
                remedy: near.map { "did you mean '\($0)'?" }
                    ?? (isFrei0r ? "apt-get install frei0r-plugins" : "`patchbay filters --ffmpeg` lists them"))
        }
        if arguments.has("json") {
            console.print(GuestText.json(guests).encoded(pretty: true))
        } else if name == nil {
            let pictures = guests.filter { !$0.isSound }
            console.print(GuestText.list(pictures, word: isFrei0r ? "frei0r{ \"NAME\", … }" : "ffmpeg{ \"NAME=…\" }"))
            if !isFrei0r {
                console.print("\n" + GuestText.list(guests.filter(\.isSound), word: "audio.ffmpeg{ \"NAME=…\" }"))
            }
        } else {
            let example = isFrei0r ? GuestText.frei0rExample(first) : GuestText.ffmpegExample(first)
            console.print(GuestText.text(first, example: example))
        }
        return .success
    }

    /// One table a family, families and filters by name.
    private static func list(_ filters: [KernelFilter], _ catalog: FilterCatalog) -> String {
        let families = Dictionary(grouping: filters) { catalog.category($0.name) ?? "other" }
        return families.keys.sorted().map { family in
            let rows = (families[family] ?? []).map { ($0.name, $0.summary) }
            return "\(family):\n\(CommandSpecification.table(rows))"
        }.joined(separator: "\n")
    }
}
