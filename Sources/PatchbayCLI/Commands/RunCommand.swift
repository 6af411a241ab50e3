import Patchbay

/// `patchbay run`: the graph, live, until it is stopped.
enum RunCommand: Command {
    static let specification = CommandSpecification(
        name: "run", summary: "Run a graph live and put every save of its file on air",
        operands: [GraphOptions.graphOperand],
        options: GraphOptions.shared + GraphOptions.running + RunReports.options,
        discussion: """
            It runs until Ctrl-C, SIGTERM, the end of --duration, or the end of all sources.
            The first Ctrl-C finishes files and connections properly; a second one ends at once.
            Saving the graph, a look or an asset puts the new one on air between two frames; a
            save with an error changes nothing and is reported as file:line.
            With --json each event is one line of JSON on standard output.
            """,
        examples: [
            "patchbay run graphs/beautify.lua", "patchbay run graphs/beautify.lua --bind cam=clip.mp4 --duration 10",
            "patchbay run graphs/beautify.lua --set smooth=0.8 --set beautify=false",
        ])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        try SessionRun(GraphOptions(arguments), isOffline: false, RunReports(arguments), console).run()
    }
}
