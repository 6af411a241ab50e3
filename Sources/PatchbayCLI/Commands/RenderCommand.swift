import Patchbay

/// `patchbay render`: the graph by a virtual clock, every frame exactly once.
enum RenderCommand: Command {
    static let specification = CommandSpecification(
        name: "render", summary: "Run a graph offline: exact, as fast as it goes, no frame lost",
        operands: [GraphOptions.graphOperand],
        options: GraphOptions.shared + GraphOptions.running + RunReports.options,
        discussion: """
            It ends with the graph's sources, or after --duration of graph time. The graph's own
            recorders and raw outputs take the result. A terminal shows a progress bar.
            """,
        examples: [
            "patchbay render graphs/record.lua --bind clip=holiday.mp4",
            "patchbay render graphs/bars.lua --duration 10 --fps 25",
        ])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        try SessionRun(GraphOptions(arguments), isOffline: true, RunReports(arguments), console).run()
    }
}
