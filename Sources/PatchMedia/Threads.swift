import Glibc
import Synchronization

/// Monotonic nanoseconds since some fixed moment (CLOCK_MONOTONIC).
public func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// A lock with a condition to wait on: what `Mutex` lacks. The one place that wraps pthread's condition variable.
///
/// Thread-safety: all members may be called from any thread. Do not call them from inside their own closures.
public final class Monitor<State>: @unchecked Sendable {
    // Unchecked: `state` is touched only between pthread_mutex_lock and unlock.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    public init(_ initial: sending State) {
        state = initial
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the state locked, without waking anybody.
    public func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Runs `body` with the state locked, then wakes every waiter.
    @discardableResult
    public func notify<R>(_ body: (inout State) throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Waits until `body` gives a value, trying at once and after every `notify`; nil after `deadline` (monotonic
    /// nanoseconds; nil waits for ever).
    public func wait<R>(until deadline: Int64? = nil, _ body: (inout State) -> R?) -> R? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if let deadline {
                guard monotonicNanoseconds() < deadline else { return nil }
                var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
                pthread_cond_timedwait(condition, mutex, &time)
            } else {
                pthread_cond_wait(condition, mutex)
            }
        }
    }
}

/// A thread of our own: codecs, devices, the clock and the workers never run on the cooperative pool.
///
/// Thread-safety: `join` from one thread, once.
public final class PosixThread: @unchecked Sendable {
    // Unchecked: `handle` is written once in init, `joined` is atomic.
    private let handle: pthread_t
    private let joined = Atomic(false)

    private final class Start {
        let name: String
        let niceness: Int32
        let body: @Sendable () -> Void
        init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.niceness = niceness
            self.body = body
        }
    }

    /// Starts at once. `name` shows in debuggers (15 bytes of it).
    /// - Parameter niceness: −20…19 against the other threads of the machine; a negative one needs a privilege
    ///   (CAP_SYS_NICE) and is ignored without it.
    /// - Throws: `PatchError.unavailable` when the system has no thread left.
    public init(
        name: String, stackSize: Int = 2 << 20, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void
    ) throws {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, stackSize)
        defer { pthread_attr_destroy(&attributes) }
        let start = Unmanaged.passRetained(Start(name: name, niceness: niceness, body: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { @Sendable argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                setThreadName(start.name)
                // Linux gives each thread a niceness of its own; 0 is the calling one.
                if start.niceness != 0 { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, start.niceness) }
                start.body()
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            start.release()
            throw PatchError(
                .unavailable, "cannot start thread '\(name)'", remedy: "raise the process's thread limit",
                cause: String(cString: strerror(status)))
        }
        handle = thread
    }

    /// Waits for the thread's end. Later calls return at once.
    public func join() {
        guard !joined.exchange(true, ordering: .relaxed) else { return }
        pthread_join(handle, nil)
    }

    deinit { if !joined.load(ordering: .relaxed) { pthread_detach(handle) } }
}

/// The name shows in debuggers and in `ps -L`. Glibc hides pthread_setname_np from Swift; the kernel's file does the same.
private func setThreadName(_ name: String) {
    guard let file = fopen("/proc/thread-self/comm", "w") else { return }
    fputs(String(name.prefix(15)), file)
    fclose(file)
}
