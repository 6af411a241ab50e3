import Glibc
import Patchbay

/// The options that every command with a graph file takes.
struct GraphOptions {
    var graph: String
    /// `input{"name"}` → file, URL or device.
    var bindings: [String: String]
    /// Control → value, as written.
    var settings: [String: String]
    var size: (width: Int, height: Int)?
    var rate: FrameRate?
    var threads: Int?
    /// Cores for the render threads.
    var affinity: [Int]
    /// Text of secrets by name.
    var secrets: [String: String]
    /// Seconds.
    var duration: Double?

    static let graphOperand = CommandSpecification.Operand(name: "GRAPH", summary: "the graph file, in Lua")

    static let shared: [CommandSpecification.Option] = [
        .init(
            name: "bind", value: "NAME=SOURCE",
            summary: "what input{\"NAME\"} means here: a file, a URL, a device such as /dev/video0, or test",
            repeats: true),
        .init(
            name: "set", value: "NAME=VALUE", summary: "start value of a control (param, toggle, choice, …)",
            repeats: true),
        .init(name: "size", value: "WxH", summary: "canvas for nodes without a size of their own"),
        .init(
            name: "secrets", value: "FILE",
            summary: "NAME=value lines, for secret \"NAME\"; else the file that PATCHBAY_SECRETS names"),
        .init(name: "fps", value: "RATE", summary: "frames a second: 30, 29.97 or 30000/1001"),
    ]
    static let running: [CommandSpecification.Option] = [
        .init(name: "duration", value: "TIME", summary: "end after 10, 2.5s, 3m or 1:30 of graph time"),
        .init(name: "threads", value: "N", summary: "render threads, 1…64; else one a core"),
        .init(name: "affinity", value: "CORES", summary: "cores to tie the render threads to, such as 0,1 or 2-5"),
    ]
    static let json = CommandSpecification.Option(
        name: "json", value: nil, summary: "print JSON for programs instead of text for people")

    init(_ arguments: Arguments) throws {
        graph = arguments.operands[0]
        bindings = try arguments.pairs("bind")
        settings = try arguments.pairs("set")
        size = try arguments.size("size")
        rate = try arguments.rate("fps")
        threads = try arguments.integer("threads", in: 1...64)
        affinity = try arguments.cores("affinity")
        duration = try arguments.seconds("duration")
        let file = arguments.value("secrets") ?? getenv("PATCHBAY_SECRETS").map { String(cString: $0) }
        secrets = try file.map { try ScriptOptions.secrets(fromFile: $0) } ?? [:]
    }
}

extension SessionOptions {
    init(_ options: GraphOptions, isOffline: Bool) {
        self.init(graph: options.graph)
        self.isOffline = isOffline
        bindings = options.bindings
        settings = options.settings
        secrets = options.secrets
        size = options.size
        rate = options.rate
        workers = options.threads
        affinity = options.affinity
        duration = options.duration.map { MediaTime(seconds: $0) }
    }
}
