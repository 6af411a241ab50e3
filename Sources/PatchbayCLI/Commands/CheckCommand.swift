import Patchbay

/// `patchbay check`: everything that can be known about a graph without running it.
enum CheckCommand: Command {
    static let specification = CommandSpecification(
        name: "check", summary: "Parse, build and plan a graph without running it",
        operands: [GraphOptions.graphOperand], options: GraphOptions.shared + [GraphOptions.json],
        discussion: """
            Prints errors as file:line, else the nodes with their parameters and inputs, the
            controls, the passes and an estimate of their cost. Cameras, screens and networks
            are not touched; files are opened. The exit code is 3 when the graph has an error
            and 4 when a file is missing or broken, which makes it fit for CI.
            """,
        examples: ["patchbay check graphs/beautify.lua", "patchbay check my.lua --json"])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let options = try GraphOptions(arguments)
        let isJSON = arguments.has("json")
        do {
            let session = try PatchbaySession(SessionOptions(options, isOffline: true))
            let report = try session.check()
            console.print(isJSON ? CheckText.json(report).encoded(pretty: true) : CheckText.text(report))
            return .success
        } catch let error as PatchError where isJSON {
            let answer = JSON.object([("ok", .bool(false)), ("errors", .array([.error(error)]))])
            console.print(answer.encoded(pretty: true))
            return ExitCode(error)
        }
    }
}
