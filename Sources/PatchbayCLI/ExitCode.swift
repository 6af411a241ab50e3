import Patchbay

/// What the program tells the shell. `patchbay --help` lists them.
enum ExitCode: Int32, CaseIterable {
    case success = 0
    case failure = 1
    case usage = 2
    case script = 3
    case media = 4
    case interrupted = 130

    var meaning: String {
        switch self {
        case .success: "all went well"
        case .failure: "something else failed"
        case .usage: "the command line was wrong"
        case .script: "the script or the graph has an error"
        case .media: "an input or output failed: a file, device, address or display"
        case .interrupted: "ended by Ctrl-C or SIGTERM, with all files finished"
        }
    }

    /// The code for an error that ended a command.
    init(_ error: PatchError) {
        switch error.code {
        // A node that was given nonsense is the script's mistake; without a place it is the command line's.
        case .usage: self = error.location == nil ? .usage : .script
        case .script, .budget, .graph, .kernel: self = .script
        case .notFound, .media, .network, .output, .unavailable: self = .media
        default: self = .failure
        }
    }
}
