import Patchbay

/// One word after `patchbay`.
protocol Command {
    static var specification: CommandSpecification { get }
    /// - Throws: `PatchError`, which ends the program with the exit code of its kind.
    static func run(_ arguments: Arguments, _ console: Console) throws -> ExitCode
}
