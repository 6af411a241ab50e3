import Glibc
import Patchbay
import Synchronization

/// One run of a session with its reporting: what `run` and `render` share.
///
/// Thread-safety: events arrive on any thread; `run` is called once.
final class SessionRun: Sendable {
    private let options: GraphOptions
    private let isOffline: Bool
    private let reporter: EventReporter
    private let console: Console
    private let isInterrupted = Atomic(false)

    init(_ options: GraphOptions, isOffline: Bool, json: Bool, _ console: Console) {
        self.options = options
        self.isOffline = isOffline
        self.console = console
        reporter = EventReporter(console, json: json)
    }

    /// - Throws: `PatchError` when the graph does not get on air.
    func run() throws -> ExitCode {
        let reporter = reporter
        var settings = SessionOptions(options, isOffline: isOffline)
        settings.onEvent = { reporter.report($0) }
        let session = try PatchbaySession(settings)
        try Signals.onInterrupt { [self] in
            isInterrupted.store(true, ordering: .relaxed)
            reporter.note("finishing; Ctrl-C again ends at once")
            session.stop()
        }
        try session.start()
        if session.engine?.plan?.sinks.isEmpty ?? false {
            session.stop()
            throw PatchError(
                .graph, "the graph has no output",
                remedy: "wire something to a display, recorder, publisher or rawDataOutput",
                at: SourceLocation(file: options.graph, line: 0))
        }
        reporter.started()
        let ticker = try StatusTicker(session, console, isOffline: isOffline, duration: options.duration)
        let end = session.waitUntilFinished()
        ticker.stop()
        console.endStatus()
        reporter.summary(session.statistics, end)
        if case .failed(let error) = end { throw error }
        if isInterrupted.load(ordering: .relaxed) { return .interrupted }
        return reporter.hasFailedSinks ? .media : .success
    }
}

/// Redraws the status line four times a second, where somebody looks.
private final class StatusTicker: Sendable {
    private let isStopped = Monitor(false)
    private let thread: PosixThread?

    init(_ session: PatchbaySession, _ console: Console, isOffline: Bool, duration: Double?) throws {
        guard console.isInteractive else {
            thread = nil
            return
        }
        let isStopped = isStopped
        thread = try PosixThread(name: "status") {
            var bar: ProgressBar?
            let start = monotonicNanoseconds()
            var last = (ticks: Int64(0), time: start)
            while true {
                let deadline = monotonicNanoseconds() + 250_000_000
                if isStopped.wait(until: deadline, { $0 ? true : nil }) != nil { return }
                let statistics = session.statistics
                let now = monotonicNanoseconds()
                if isOffline {
                    if bar == nil { bar = ProgressBar(total: session.expectedTicks) }
                    console.status(bar?.text(done: statistics.ticks, now: now) ?? "")
                } else {
                    let fps = Double(statistics.ticks - last.ticks) * 1e9 / Double(now - last.time)
                    console.status(StatusText.live(statistics, fps: fps, seconds: Double(now - start) / 1e9))
                }
                last = (statistics.ticks, now)
            }
        }
    }

    func stop() {
        isStopped.notify { $0 = true }
        thread?.join()
    }
}
