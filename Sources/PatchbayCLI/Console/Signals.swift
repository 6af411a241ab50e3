import Glibc
import Patchbay

/// Ctrl-C and SIGTERM: the first one asks the run to finish, the second one ends the process at once.
enum Signals {
    /// Keeps SIGINT, SIGTERM and SIGHUP for the thread that waits for them. Call it before any other thread starts,
    /// since threads inherit what is blocked. A reader that goes away is an error of a write, not a signal.
    static func prepare() {
        var set = handled
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // Likewise a file that reaches the limit of its size.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Calls `stop` at the first signal, on a thread of its own.
    /// - Throws: `PatchError.unavailable` when no thread can be started.
    static func onInterrupt(_ stop: @escaping @Sendable () -> Void) throws {
        _ = try PosixThread(name: "signals") {
            var set = handled
            var number: Int32 = 0
            while sigwait(&set, &number) != 0 {}
            // A second signal must work even when `stop` hangs: it runs on another thread.
            do { _ = try PosixThread(name: "stopping") { stop() } } catch { stop() }
            while sigwait(&set, &number) != 0 {}
            _exit(ExitCode.interrupted.rawValue)
        }
    }

    private static var handled: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, number) }
        return set
    }
}
