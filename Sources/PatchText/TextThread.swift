import PatchMedia

/// The one thread of the process that uses Pango and cairo, so that fonts are loaded once and need no locks. It starts
/// with the first text and then stays: the next graph finds its fonts loaded.
///
/// Thread-safety: all members may be called from any thread; `perform` not from the text thread itself.
final class TextThread: Sendable {
    static let shared = TextThread()

    private struct State {
        var jobs: [@Sendable (TextRenderer) -> Void] = []
        var thread: PosixThread?
    }
    private let state = Monitor(State())

    /// Fontconfig reads its files with large frames.
    private static let stackSize = 4 << 20

    /// Does a job some time later, in order.
    /// - Throws: `PatchError.unavailable` when the system has no thread left.
    func enqueue(_ job: @escaping @Sendable (TextRenderer) -> Void) throws {
        try state.notify { state in
            if state.thread == nil {
                state.thread = try PosixThread(name: "patch-text", stackSize: Self.stackSize) { [self] in run() }
            }
            state.jobs.append(job)
        }
    }

    /// Does a job and waits for it.
    /// - Throws: what the job throws.
    func perform<R: Sendable>(_ body: @escaping @Sendable (TextRenderer) throws -> R) throws -> R {
        let result = Monitor<Result<R, any Error>?>(nil)
        try enqueue { renderer in
            let done = Result { try body(renderer) }
            result.notify { $0 = done }
        }
        guard let answer = result.wait({ $0 }) else { throw PatchError(.unavailable, "the text thread has ended") }
        return try answer.get()
    }

    private func run() {
        let renderer = TextRenderer()
        while let job = state.wait({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job(renderer) }
    }
}
