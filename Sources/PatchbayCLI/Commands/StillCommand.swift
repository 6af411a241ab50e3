import Patchbay

/// `patchbay still`: one picture of a graph, without its outputs.
enum StillCommand: Command {
    static let specification = CommandSpecification(
        name: "still", summary: "Write one picture of a graph as PNG or JPEG, leaving its outputs alone",
        operands: [
            GraphOptions.graphOperand, .init(name: "FILE", summary: "the picture: .png, .jpg or .jpeg"),
        ],
        options: GraphOptions.shared + [
            .init(name: "at", value: "TIME", summary: "graph time of the picture, such as 1.5 or 0:20; else the first"),
            .init(name: "scale", value: "WxH", summary: "size of the picture; else what the graph makes"),
        ],
        discussion: """
            The graph runs offline until that time. What its first window would show is written;
            nothing is recorded, published or shown.
            """,
        examples: [
            "patchbay still graphs/sketch.lua sketch.png",
            "patchbay still graphs/beautify.lua me.jpg --bind cam=portrait.png --at 1",
        ])

    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode {
        let options = try GraphOptions(arguments)
        let time = MediaTime(seconds: try arguments.seconds("at") ?? 0)
        var settings = SessionOptions(options, isOffline: true)
        settings.still = StillRequest(file: arguments.operands[1], time: time, size: try arguments.size("scale"))
        // One second more than the slowest rate takes from frame to frame.
        settings.duration = time + MediaTime(value: 1, timescale: 1)
        let reporter = EventReporter(console, json: false)
        settings.onEvent = { reporter.report($0) }
        let session = try PatchbaySession(settings)
        try session.start()
        let end = session.waitUntilFinished()
        if case .failed(let error) = end { throw error }
        return reporter.hasFailedSinks ? .media : .success
    }
}
