import Glibc
import Patchbay

/// The program `patchbay`: finds the command, runs it, and ends with its exit code.
@main
struct Program {
    static var commands: [any Command.Type] {
        [
            RunCommand.self, RenderCommand.self, StillCommand.self, CheckCommand.self, DevicesCommand.self,
            FiltersCommand.self,
            GraphCommand.self,
        ]
    }
    static let version = "0.1.0"

    static func main() {
        Allocator.prepare()
        Signals.prepare()
        let console = Console()
        exit(run(Array(CommandLine.arguments.dropFirst()), console).rawValue)
    }

    private static func run(_ words: [String], _ console: Console) -> ExitCode {
        guard let first = words.first else {
            console.note(help)
            return .usage
        }
        let wantsHelp = words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        switch first {
        case "--version", "version":
            console.print("patchbay \(version)")
            return .success
        case "help" where words.count > 1:
            return run([words[1], "--help"], console)
        case "help", "--help", "-h":
            console.print(help)
            return .success
        default: break
        }
        guard let command = commands.first(where: { $0.specification.name == first }) else {
            console.fail("unknown command '\(first)'; \(hint(for: first))")
            return .usage
        }
        if wantsHelp {
            console.print(String(command.specification.help.dropLast()))
            return .success
        }
        do {
            return try command.run(Arguments(words.dropFirst(), for: command.specification), console)
        } catch let error as PatchError {
            console.endStatus()
            console.fail(error)
            return ExitCode(error)
        } catch {
            console.endStatus()
            console.fail("\(error)")
            return .failure
        }
    }

    private static func hint(for word: String) -> String {
        if word.hasSuffix(".lua") { return "did you mean 'patchbay run \(word)'?" }
        if let near = Spelling.nearest(to: word, in: commands.map { $0.specification.name } + ["help"]) {
            return "did you mean 'patchbay \(near)'?"
        }
        return "see 'patchbay --help'"
    }

    private static var help: String {
        """
        Patchbay runs video graphs that Lua scripts describe: cameras, files and streams through
        filters to windows, files and services. Saving the script changes the picture on air.

        Usage: patchbay COMMAND [arguments]

        Commands:
        \(CommandSpecification.table(commands.map { ($0.specification.name, $0.specification.summary) }))
        'patchbay COMMAND --help' tells more about one.

        Exit codes:
        \(CommandSpecification.table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }))
        Environment:
        \(CommandSpecification.table([("NO_COLOR", "no colours in messages"),
            ("DISPLAY", "the X screen for windows and screen capture")]))
        Secrets such as stream keys are read by the names that the script gives: from the file of
        --secrets or PATCHBAY_SECRETS, which only its owner may read, or from the environment.
        """
    }
}
