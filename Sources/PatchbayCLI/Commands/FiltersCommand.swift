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
        let catalog = FilterCatalog()
        guard let name = arguments.operands.first else {
            if arguments.has("source") { throw Arguments.usage("--source needs the NAME of a filter", specification) }
            let all = try catalog.names.map { try catalog.filter($0) }
            if arguments.has("json") {
                console.print(JSON.array(all.map(FilterText.json)).encoded(pretty: true))
            } else {
                let table = CommandSpecification.table(all.map { ($0.name, $0.summary) })
                console.print(String(table.dropLast()))
            }
            return .success
        }
        if arguments.has("source") {
            console.print(try catalog.source(name))
            return .success
        }
        let filter = try catalog.filter(name)
        console.print(arguments.has("json") ? FilterText.json(filter).encoded(pretty: true) : FilterText.text(filter))
        return .success
    }
}
