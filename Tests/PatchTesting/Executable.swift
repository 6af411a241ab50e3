import Glibc

/// The command line under test.
public enum Executable {
    /// Absolute path of the built `patchbay`: beside the test runner, or what PATCHBAY_EXECUTABLE names.
    /// - Throws: `TestProblem` when it was not built.
    public static func path() throws -> String {
        if let named = getenv("PATCHBAY_EXECUTABLE") { return String(cString: named) }
        return try path(of: "patchbay")
    }

    /// Absolute path of another program of this package, beside the test runner.
    /// - Throws: `TestProblem` when it was not built.
    public static func path(of program: String) throws -> String {
        let resolved = realpath("/proc/self/exe", nil)
        defer { free(resolved) }
        let runner = resolved.map { String(cString: $0) } ?? ""
        let beside = runner.prefix(upTo: runner.lastIndex(of: "/") ?? runner.startIndex) + "/\(program)"
        for candidate in [String(beside), Fixtures.packageRoot + "/.build/release/\(program)"]
        where access(candidate, X_OK) == 0 {
            return candidate
        }
        throw TestProblem("the program \(program) is not built: swift build -c release --product \(program)")
    }

    /// Runs `patchbay` to its end.
    @discardableResult
    public static func run(
        _ arguments: [String], timeout: Double = 60, environment: [String: String?] = [:], directory: String? = nil
    ) throws -> ProgramOutcome {
        try Program.run(
            path(), arguments, timeout: timeout, mayFail: true, environment: environment, directory: directory)
    }

    /// Starts `patchbay` and leaves it running.
    public static func start(
        _ arguments: [String], environment: [String: String?] = [:], directory: String? = nil
    ) throws -> Program {
        try Program(path(), arguments, environment: environment, directory: directory)
    }
}
