internal import CLLVM
import Glibc
import PatchMedia
import Synchronization

/// Runs the code generator on a thread of its own: with a stack that deep expressions cannot overflow, and so that a
/// fatal error inside LLVM ends in an error value.
///
/// LLVM's fatal errors cannot return to the caller: the thread they happen on is parked for ever, and from then on
/// this process compiles nothing more, because LLVM may have been left holding a lock.
enum CompileThread {
    private static let hasFailed = Atomic(false)
    static let stackSize = 64 << 20
    /// Below whoever renders: an operator waits a moment longer for a new look, the audience never.
    private static let niceness: Int32 = 5

    /// Where LLVM's last words arrive.
    private final class Job: Sendable {
        let fail: @Sendable (KernelError) -> Void

        init(_ fail: @escaping @Sendable (KernelError) -> Void) { self.fail = fail }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        LLVMInstallFatalErrorHandler { @Sendable reason in
            let text = reason.map { String(cString: $0) } ?? "unknown"
            CompileThread.fail(text)
        }
        return key
    }()

    private static func fail(_ reason: String) {
        hasFailed.store(true, ordering: .releasing)
        guard let pointer = pthread_getspecific(key) else { return }
        let job = Unmanaged<Job>.fromOpaque(pointer).takeUnretainedValue()
        job.fail(KernelError(.compiler, "the code generator failed: \(reason)"))
        while true { pause() }
    }

    /// Work on a thread of its own.
    struct Running<Made: Sendable>: Sendable {
        fileprivate let arrived: Monitor<Result<Made, KernelError>?>

        /// Waits for the end.
        func get() throws(KernelError) -> Made {
            guard let result = arrived.wait({ $0 }) else {
                throw KernelError(.compiler, "the code generator gave no result")
            }
            return try result.get()
        }
    }

    static func run<Made: Sendable>(
        _ body: @escaping @Sendable () -> Result<Made, KernelError>
    ) throws(KernelError) -> Made {
        try start(body).get()
    }

    static func start<Made: Sendable>(
        _ body: @escaping @Sendable () -> Result<Made, KernelError>
    ) throws(KernelError) -> Running<Made> {
        let key = self.key
        guard !hasFailed.load(ordering: .acquiring) else {
            throw KernelError(
                .compiler, "the code generator failed earlier and is switched off", remedy: "restart the program")
        }
        let arrived = Monitor<Result<Made, KernelError>?>(nil)
        let job = Job { error in arrived.notify { $0 = .failure(error) } }
        do {
            _ = try PosixThread(name: "compile", stackSize: stackSize, niceness: niceness) {
                pthread_setspecific(key, Unmanaged.passUnretained(job).toOpaque())
                let result = body()
                arrived.notify { $0 = result }
            }
        } catch {
            throw KernelError(.compiler, "cannot start a thread to compile on", remedy: "raise the thread limit")
        }
        return Running(arrived: arrived)
    }
}
