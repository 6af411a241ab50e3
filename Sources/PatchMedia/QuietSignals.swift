import Glibc

/// Runs `body` with write errors as errors only: a closed pipe (SIGPIPE) or a file at its size limit (SIGXFSZ) raises no
/// signal on this thread, whatever the program does about signals; write(2) fails with EPIPE or EFBIG.
///
/// Thread-safety: any thread; other threads are not affected.
public func withoutWriteSignals<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    var (blocked, previous, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGPIPE)
    sigaddset(&blocked, SIGXFSZ)
    pthread_sigmask(SIG_BLOCK, &blocked, &previous)
    defer {
        // What was raised meanwhile must not strike when the mask is taken off. What others raised for the whole
        // process (kill -PIPE) is as unwanted as ours.
        sigpending(&pending)
        if sigismember(&pending, SIGPIPE) == 1 || sigismember(&pending, SIGXFSZ) == 1 {
            var now = timespec()
            while sigtimedwait(&blocked, nil, &now) > 0 {}
        }
        pthread_sigmask(SIG_SETMASK, &previous, nil)
    }
    return try body()
}
