import Patchbay

/// `patchbay filters`: the library, or one filter of it.
enum FiltersCommand: Command {
    static let specification = CommandSpecification(
        name: "filters", summary: "List the filters, or describe one with its parameters",
        operands: [.init(name: "NAME", summary: "one filter, such as contrast", isRequired: false)],
        options: [
            .init(name: "source", value: nil, summary: "print the filter's Lua text"), GraphOptions.json,
        ],
        examples: ["patchbay filters", "patchbay filters contrast", "patchbay filters contrast --source > mine.lua"])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
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

    /// One table a family, families and filters by name.
    private static func list(_ filters: [KernelFilter], _ catalog: FilterCatalog) -> String {
        let families = Dictionary(grouping: filters) { catalog.category($0.name) ?? "other" }
        return families.keys.sorted().map { family in
            let rows = (families[family] ?? []).map { ($0.name, $0.summary) }
            return "\(family):\n\(CommandSpecification.table(rows))"
        }.joined(separator: "\n")
    }
}
