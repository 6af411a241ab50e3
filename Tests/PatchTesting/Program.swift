import Foundation
import PatchMedia
import Synchronization

/// What a program left behind when it ended.
///
/// Thread-safety: a value.
public struct ProgramOutcome: Sendable {
    /// Exit code 0…255, or nil when a signal ended it.
    public var exitCode: Int?
    /// The signal that ended it.
    public var signal: Int?
    public var output: [UInt8]
    public var errorOutput: [UInt8]
    /// Seconds from start to end.
    public var seconds: Double

    public var text: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errorOutput, as: UTF8.self) }
}

/// A program outside of the tests: started, watched and always ended.
///
/// It gets a process group of its own, so that ending it ends its children; it is killed when nobody holds it any more.
/// Thread-safety: all members may be called from any thread.
public final class Program: Sendable {
    /// Also the process group's id.
    public let processID: pid_t
    public let commandLine: String

    private struct State {
        var output: [UInt8] = []
        var errorOutput: [UInt8] = []
        var openPipes = 2
        var status: Int32?
        var end: Int64 = 0
    }
    private let state = Monitor(State())
    private let start = monotonicNanoseconds()

    /// Starts `name` (found in PATH, or a path). Its standard input is `input` or empty.
    /// - Throws: `TestProblem` when it cannot be started.
    public init(
        _ name: String, _ arguments: [String], environment added: [String: String?] = [:],
        directory: String? = nil, input: Int32? = nil
    ) throws {
        commandLine = ([name] + arguments).joined(separator: " ")
        let words = (directory.map { ["env", "-C", $0] } ?? []) + [name] + arguments
        let outputPipe: (read: Int32, write: Int32)
        let errorPipe: (read: Int32, write: Int32)
        (outputPipe, errorPipe, processID) = try Self.spawning.withLock { _ in
            let pipes = (try Self.pipe(), try Self.pipe())
            return (pipes.0, pipes.1, try Self.spawn(words, added, input, pipes.0.write, pipes.1.write))
        }
        let state = state
        _ = try PosixThread(name: "test-stdout") { [read = outputPipe.read] in
            Self.drain(read) { bytes in state.notify { $0.output += bytes } }
            state.notify { $0.openPipes -= 1 }
        }
        _ = try PosixThread(name: "test-stderr") { [read = errorPipe.read] in
            Self.drain(read) { bytes in state.notify { $0.errorOutput += bytes } }
            state.notify { $0.openPipes -= 1 }
        }
        _ = try PosixThread(name: "test-wait") { [child = processID] in
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            state.notify {
                $0.status = status
                $0.end = monotonicNanoseconds()
            }
        }
    }

    deinit { kill(-processID, SIGKILL) }

    /// Runs a program to its end.
    /// - Parameter timeout: seconds.
    /// - Throws: `TestProblem` when it cannot be started, does not end in time (it is killed), or, unless
    ///   `mayFail`, ends otherwise than with exit code 0; the text has what it printed.
    @discardableResult
    public static func run(
        _ name: String, _ arguments: [String], timeout: Double = 60, mayFail: Bool = false,
        environment: [String: String?] = [:], directory: String? = nil
    ) throws -> ProgramOutcome {
        let program = try Program(name, arguments, environment: environment, directory: directory)
        let outcome = try program.waitForEnd(within: timeout)
        guard mayFail || outcome.exitCode == 0 else { throw program.problem("failed", outcome) }
        return outcome
    }

    /// Waits until the program has ended and all its output has arrived.
    /// - Throws: `TestProblem` with its output when it has not ended after `timeout` seconds; then it is killed.
    @discardableResult
    public func waitForEnd(within timeout: Double = 60) throws -> ProgramOutcome {
        let ended = state.wait(until: deadline(timeout)) { state -> State? in
            state.status == nil ? nil : state
        }
        guard ended != nil else {
            signal(SIGKILL)
            let rest = state.wait(until: deadline(5)) { $0.status == nil ? nil : $0 }
            throw problem("did not end within \(timeout) s", rest.map(outcome))
        }
        // A grandchild may hold the pipes open for longer; it does not get to hold up the test.
        let final = state.wait(until: deadline(2)) { $0.openPipes > 0 ? nil : $0 } ?? state.withLock { $0 }
        return outcome(final)
    }

    /// Waits until standard output or standard error contains `text`, from the start on.
    /// - Throws: `TestProblem` with the output so far, after `timeout` seconds or when the program ended without it.
    public func waitForOutput(_ text: String, within timeout: Double = 20) throws {
        enum Answer { case found, ended }
        let answer = state.wait(until: deadline(timeout)) { state -> Answer? in
            for bytes in [state.output, state.errorOutput] where String(decoding: bytes, as: UTF8.self).contains(text) {
                return .found
            }
            return state.status != nil && state.openPipes == 0 ? .ended : nil
        }
        guard answer == .found else {
            let soFar = state.withLock { $0 }
            throw problem("never printed '\(text)'", outcome(soFar))
        }
    }

    /// Tries `find` on what was printed (output, errors) after every new piece, until it gives a value.
    /// - Throws: `TestProblem` with `what` and the output, after `timeout` seconds or when the program ended without it.
    public func wait<T>(
        for what: String, within timeout: Double = 20, _ find: ([UInt8], [UInt8]) throws -> T?
    ) throws -> T {
        let answer = state.wait(until: deadline(timeout)) { state -> Result<T?, any Error>? in
            do {
                if let value = try find(state.output, state.errorOutput) { return .success(value) }
            } catch { return .failure(error) }
            return state.status != nil && state.openPipes == 0 ? .success(nil) : nil
        }
        if let value = try answer?.get() { return value }
        let soFar = state.withLock { $0 }
        throw problem("never came: \(what)", outcome(soFar))
    }

    /// Everything printed so far.
    public var outputSoFar: (output: [UInt8], errors: [UInt8]) { state.withLock { ($0.output, $0.errorOutput) } }
    public var isRunning: Bool { state.withLock { $0.status == nil } }

    /// Sends a signal to the program and its children; nothing when it has ended.
    public func signal(_ number: Int32) {
        state.withLock { if $0.status == nil { kill(-processID, number) } }
    }

    private func deadline(_ seconds: Double) -> Int64 { monotonicNanoseconds() + Int64(seconds * 1e9) }

    private func outcome(_ state: State) -> ProgramOutcome {
        let status = state.status ?? 0
        let signal = status & 0x7f
        return ProgramOutcome(
            exitCode: state.status == nil || signal != 0 ? nil : Int((status >> 8) & 0xff),
            signal: signal == 0 ? nil : Int(signal), output: state.output, errorOutput: state.errorOutput,
            seconds: Double(max(0, state.end - start)) / 1e9)
    }

    private func problem(_ what: String, _ outcome: ProgramOutcome?) -> TestProblem {
        var text = "\(commandLine)\n\(what)"
        if let outcome {
            if let code = outcome.exitCode { text += ", exit code \(code)" }
            if let signal = outcome.signal { text += ", signal \(signal)" }
            text += "\n--- output\n\(outcome.text.suffix(4000))\n--- errors\n\(outcome.errorText.suffix(4000))"
        }
        return TestProblem(text)
    }

    /// Held while a child is made, so that no child inherits the pipes of another one that is made meanwhile.
    private static let spawning = Mutex(())

    /// posix_spawnp(3). Closes the two pipe ends that the child writes to.
    private static func spawn(
        _ words: [String], _ added: [String: String?], _ input: Int32?, _ output: Int32, _ errors: Int32
    ) throws -> pid_t {
        defer {
            close(output)
            close(errors)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals that the test runner ignores or blocks would stay so in the child.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var child = pid_t()
        let argv = words.map { strdup($0) } + [nil]
        let envp = environment(adding: added).map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        let status = posix_spawnp(&child, words[0], &actions, &attributes, argv, envp)
        guard status == 0 else {
            throw TestProblem("cannot start \(words[0]): \(String(cString: strerror(status))); run scripts/setup")
        }
        return child
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { throw TestProblem("pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func drain(_ descriptor: Int32, _ take: ([UInt8]) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            take(Array(buffer[..<count]))
        }
        close(descriptor)
    }

    /// This process's environment with `added` in it; nil removes a variable.
    private static func environment(adding added: [String: String?]) -> [String] {
        var result: [String] = []
        for (name, value) in ProcessInfo.processInfo.environment where added[name] == nil {
            result.append("\(name)=\(value)")
        }
        for (name, value) in added { if let value { result.append("\(name)=\(value)") } }
        return result
    }
}
