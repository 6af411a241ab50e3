/// What the command line asks for.
struct Options {
    var only: [String] = []
    var threads: [Int] = [1, 2]
    var rounds = 9
    var width = 1920
    var height = 1080
    /// Folder of peer programs; nil runs ours alone.
    var peers: String?
    /// Raw RGBA file of the size, or nil for a generated motif.
    var picture: String?
    var scratch = "/tmp"
    var json: String?
    var markdown: String?
    /// Where the table of all filters goes.
    var filterDocument: String?
    /// Text that the document begins with: the machine and the versions.
    var about: String?
    /// Feeds our kernels another picture than the reference, to show that the check notices.
    var wrongPicture = false
    /// LLVM's name of another processor to compile ours for, such as x86-64-v3; nil is this machine's.
    var processor: String?
    /// Runs one workload of ours for this many seconds and prints nothing else: for a profiler.
    var loop: Double?

    static let usage = """
        usage: PatchBench [--only W1,W6] [--threads 1|2] [--rounds N] [--size WxH] [--picture FILE] [--peers DIR]
                          [--scratch DIR] [--json FILE] [--markdown FILE] [--about FILE]
                          [--filter-document FILE] [--wrong-picture]
                          [--processor NAME] [--loop SECONDS]
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(_ name: String) throws -> String {
            guard let value = rest.popFirst() else { throw BenchProblem("\(name) needs a value\n\(Self.usage)") }
            return value
        }
        func number(_ name: String) throws -> Int {
            let text = try value(name)
            guard let number = Int(text), number > 0 else {
                throw BenchProblem("\(name): '\(text)' is no number above 0")
            }
            return number
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--only": only += try value(argument).split(separator: ",").map(String.init)
            case "--threads":
                let count = try number(argument)
                guard count <= 64 else { throw BenchProblem("--threads: at most 64") }
                threads = [count]
            case "--rounds": rounds = try number(argument)
            case "--size":
                let text = try value(argument)
                let sides = text.split(separator: "x").compactMap { Int($0) }
                guard sides.count == 2, sides.allSatisfy({ (16...16384).contains($0) }) else {
                    throw BenchProblem("--size: '\(text)' is not like 1920x1080")
                }
                (width, height) = (sides[0], sides[1])
            case "--picture": picture = try value(argument)
            case "--peers": peers = try value(argument)
            case "--scratch": scratch = try value(argument)
            case "--json": json = try value(argument)
            case "--markdown": markdown = try value(argument)
            case "--filter-document": filterDocument = try value(argument)
            case "--about": about = try value(argument)
            case "--wrong-picture": wrongPicture = true
            case "--processor": processor = try value(argument)
            case "--loop":
                let text = try value(argument)
                guard let seconds = Double(text) else { throw BenchProblem("--loop: '\(text)' is no number") }
                loop = seconds
            default: throw BenchProblem("unknown argument '\(argument)'\n\(Self.usage)")
            }
        }
        for name in only where !Self.names.contains(where: { $0 == name || $0.hasPrefix(name + "-") }) {
            throw BenchProblem("--only: no row is called '\(name)'; there are \(Self.names.joined(separator: ", "))")
        }
    }

    static var names: [String] {
        var names: [String] = []
        for workload in Workload.all where !names.contains(workload.name) {
            names.append(workload.name)
        }
        return names + ["beautify", "chain", "compile", "scaling", "light", "aspect", "median", "filters"]
    }

    /// Whether rows of that kind are asked for: all but `filters`, which has a document of its own, unless some are named.
    func wants(_ name: String) -> Bool { only.isEmpty ? name != "filters" : only.contains(name) }
}
