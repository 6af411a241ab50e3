import Patchbay

/// `patchbay graph`: the graph as a drawing or as the passes that it becomes.
enum GraphCommand: Command {
    static let specification = CommandSpecification(
        name: "graph", summary: "Print a graph as Graphviz text, or the passes it is compiled to",
        operands: [GraphOptions.graphOperand],
        options: [
            .init(name: "dot", value: nil, summary: "nodes and wires in Graphviz's language (the default)"),
            .init(name: "passes", value: nil, summary: "what each pass reads, does and writes, and why it ends"),
        ] + GraphOptions.shared,
        examples: ["patchbay graph graphs/beautify.lua --dot | dot -Tsvg > graph.svg"])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        if arguments.has("dot"), arguments.has("passes") {
            throw Arguments.usage("--dot and --passes exclude each other", specification)
        }
        let session = try PatchbaySession(SessionOptions(GraphOptions(arguments), isOffline: true))
        let report = try session.check(assumingDevices: true)
        console.print(arguments.has("passes") ? report.plan.passesText : report.patch.dot(registry: report.registry))
        return .success
    }
}
