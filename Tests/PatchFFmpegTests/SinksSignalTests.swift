import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

@Suite("signals")
struct SinksSignalTests {
    @Test("a closed pipe and a file at its limit are errors, not signals")
    func quiet() throws {
        // The default action of both signals ends the process: this test would not come to its end.
        signal(SIGPIPE, SIG_DFL)
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        let code = withoutWriteSignals { write(ends[1], "x", 1) < 0 ? errno : 0 }
        #expect(code == EPIPE)
        close(ends[1])
        // Nothing is left to strike later, and the mask is as it was.
        var (mask, pending) = (sigset_t(), sigset_t())
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        sigpending(&pending)
        #expect(sigismember(&mask, SIGPIPE) == 0 && sigismember(&pending, SIGPIPE) == 0)
    }
}
