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
    private let reports: RunReports
    private let isInterrupted = Atomic(false)

    init(_ options: GraphOptions, isOffline: Bool, _ reports: RunReports, _ console: Console) {
        self.options = options
        self.isOffline = isOffline
        self.console = console
        self.reports = reports
        reporter = EventReporter(console, json: reports.isJSON)
    }

    /// - Throws: `PatchError` when the graph does not get on air, or the run fails.
    func run() throws -> ExitCode {
        do { return try runToEnd() } catch let error as PatchError {
            reporter.failed(error)
            throw error
        }
    }

    private func runToEnd() throws -> ExitCode {
        let reporter = reporter
        var settings = SessionOptions(options, isOffline: isOffline)
        settings.onEvent = { reporter.report($0) }
        let session = try PatchbaySession(settings)
        let metrics = try reports.metrics.map { address in
            try MetricsServer(address) { [weak session] in StatusText.prometheus(session?.statistics ?? .init()) }
        }
        defer { metrics?.stop() }
        if let metrics { reporter.note("metrics on port \(metrics.port)") }
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
        let printer = try reports.printsStatistics ? StatisticsPrinter(session, reporter) : nil
        let end = session.waitUntilFinished()
        printer?.stop()
        ticker.stop()
        console.endStatus()
        reporter.summary(session.statistics, end)
        if case .failed(let error) = end { throw error }
        if isInterrupted.load(ordering: .relaxed) { return .interrupted }
        return reporter.hasFailedSinks ? .media : .success
    }
}

/// What `run` and `render` tell while they work.
struct RunReports {
    /// Events as lines of JSON instead of text.
    var isJSON: Bool
    /// Running numbers as a line of JSON a second.
    var printsStatistics: Bool
    /// Where Prometheus finds them; nil is nowhere.
    var metrics: String?

    static let options: [CommandSpecification.Option] = [
        GraphOptions.json,
        .init(name: "stats", value: "json", summary: "print running numbers, a line of JSON a second"),
        .init(name: "metrics", value: "PORT", summary: "answer Prometheus on 127.0.0.1:PORT, or on ADDRESS:PORT"),
    ]

    /// - Throws: `PatchError.usage` for a form of numbers that there is not.
    init(_ arguments: Arguments) throws {
        isJSON = arguments.has("json")
        let form = arguments.value("stats")
        guard form == nil || form == "json" else {
            throw PatchError(.usage, "--stats '\(form ?? "")' is no form of numbers", remedy: "write --stats json")
        }
        printsStatistics = form != nil
        metrics = arguments.value("metrics")
    }
}

/// Prints the running numbers once a second.
private final class StatisticsPrinter: Sendable {
    private let isStopped = Monitor(false)
    private let thread: PosixThread

    init(_ session: PatchbaySession, _ reporter: EventReporter) throws {
        let isStopped = isStopped
        thread = try PosixThread(name: "statistics") {
            var due = monotonicNanoseconds()
            while true {
                due += 1_000_000_000
                if isStopped.wait(until: due, { $0 ? true : nil }) != nil { return }
                reporter.numbers(session.statistics)
            }
        }
    }

    func stop() {
        isStopped.notify { $0 = true }
        thread.join()
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
