import PatchMedia

/// Somebody else's code behind a node: a libavfilter chain, a frei0r plugin.
///
/// Thread-safety: `process` and `tell` are called on the guest's own thread, one at a time; `cancel` from any thread.
public protocol GuestWorker: AnyObject, Sendable {
    /// Computes a result; nil when it has none yet, and the one before stays. May take its time.
    /// - Throws: `PatchError`; the worker is asked again later, and then starts afresh.
    func process(_ inputs: [Frame], parameters: [Float], at tick: Tick) throws -> Frame?
    /// - Throws: `PatchError` when the guest refuses the command.
    func tell(_ target: String, _ name: String, _ argument: String) throws
    /// Ends a `process` that hangs, when that is possible.
    func cancel()
}

extension GuestWorker {
    public func tell(_ target: String, _ name: String, _ argument: String) throws {}
    public func cancel() {}
}

/// Runs a guest on a thread of its own, so that it can be slow, fail or hang without touching the clock.
///
/// Live, a tick hands its pictures over and takes the newest result there is: the guest is one tick behind, and more when
/// it is slow (pictures that it has not taken yet are replaced and counted). Offline a tick waits for its own result. Where
/// there is no result (at the beginning, after a failure) the first input goes on as it is when it has the result's
/// format, else black. A guest that failed is tried again after 1, 2 and 4 seconds, then left alone.
/// Thread-safety: as `FrameOperator`.
public final class GuestRun: FrameOperator {
    public let inputs: [VideoFormat]
    public let output: VideoFormat
    private let core: GuestCore

    /// - Parameters:
    ///   - what: what the guest is called in messages, such as "ffmpeg" or "frei0r cartoon".
    ///   - parameterCount: floats of all parameters together.
    public init(
        _ worker: any GuestWorker, what: String, inputs: [VideoFormat], output: VideoFormat, parameterCount: Int,
        limits: GuestLimits = GuestLimits(), report: @escaping @Sendable (NodeEvent) -> Void
    ) {
        self.inputs = inputs
        self.output = output
        core = GuestCore(
            worker, what: what, ports: inputs.count, parameterCount: parameterCount, blank: Frame(blank: output),
            limits: limits, report: report)
    }

    public func activate() throws { try core.start() }

    public var delay: Int { 1 }

    public func frame(
        _ inputs: UnsafeBufferPointer<Frame?>, parameters: UnsafePointer<Float>, at tick: Tick
    ) -> Frame? {
        core.exchange(inputs, parameters, tick)
    }

    /// Sends a command to the guest, which gets it before its next picture.
    public func tell(_ target: String, _ name: String, _ argument: String) {
        core.mail.notify { $0.commands.append((target, name, argument)) }
    }

    public func fill(_ statistics: inout NodeStatistics) {
        core.mail.withLock { mail in
            statistics.frames = mail.results
            statistics.drops = mail.skipped
            statistics.late = mail.late
            statistics.queueDepth = mail.hasMail ? 1 : 0
            statistics.state = mail.state.rawValue
            (statistics.p50, statistics.p99) = mail.durations.percentiles
        }
    }

    /// How often a tick came while the guest still worked on an earlier one.
    public var lateTicks: Int64 { core.mail.withLock { $0.late } }

    deinit { core.close() }
}

/// How long a guest may take.
///
/// Thread-safety: a value.
public struct GuestLimits: Sendable {
    /// Seconds without an answer, live, after which the operator is told.
    public var silence: Double = 5
    /// Seconds that an offline tick waits for its result.
    public var offlineWait: Double = 120
    /// Seconds before a guest that failed is tried again, each time; then it is left alone.
    public var retries: [Double] = [1, 2, 4]
    /// Seconds without a failure after which the tries count anew.
    public var forgiveness: Double = 30

    public init() {}
}

/// What the clock, the guest's thread and the run's owner share. The run's last reference ends the thread.
final class GuestCore: Sendable {
    enum State: String { case starting, running, failing, off }

    struct Mail {
        var inputs: [Frame?]
        var parameters: [Float]
        var tick: Tick?
        var hasMail = false
        var isBusy = false
        var busySince: Int64 = 0
        var hasSaidSilent = false
        /// Tick that was handed over last, and the last that is done, successful or not.
        var pushed: Int64 = -1
        var done: Int64 = -1
        var result: Frame?
        var state = State.starting
        var commands: [(target: String, name: String, argument: String)] = []
        var isStarted = false
        var isClosing = false
        var isOver = false
        var results: Int64 = 0
        var skipped: Int64 = 0
        var late: Int64 = 0
        var durations = Durations()
    }

    let mail: Monitor<Mail>
    private let worker: any GuestWorker
    private let what: String
    private let blank: Frame
    private let limits: GuestLimits
    private let report: @Sendable (NodeEvent) -> Void

    init(
        _ worker: any GuestWorker, what: String, ports: Int, parameterCount: Int, blank: Frame, limits: GuestLimits,
        report: @escaping @Sendable (NodeEvent) -> Void
    ) {
        self.worker = worker
        self.what = what
        self.blank = blank
        self.limits = limits
        self.report = report
        mail = Monitor(
            Mail(
                inputs: Array(repeating: nil, count: ports), parameters: Array(repeating: 0, count: parameterCount)))
    }

    func start() throws {
        let isFirst = mail.withLock { mail in
            defer { mail.isStarted = true }
            return !mail.isStarted
        }
        guard isFirst else { return }
        do {
            _ = try PosixThread(name: "guest-\(what)", niceness: 0) { [self] in work() }
        } catch {
            mail.withLock { $0.isStarted = false }
            throw error
        }
    }

    /// Ends the thread; one that hangs in the guest's code is left to end when that returns.
    func close() {
        let isStarted = mail.notify { mail in
            mail.isClosing = true
            return mail.isStarted
        }
        guard isStarted else { return }
        if mail.wait(until: monotonicNanoseconds() + 500_000_000, { $0.isOver ? true : nil }) != nil { return }
        worker.cancel()
        if mail.wait(until: monotonicNanoseconds() + 1_500_000_000, { $0.isOver ? true : nil }) == nil {
            report(
                .problem(
                    PatchError(
                        .media, "\(what) does not end: its thread is left behind", remedy: "restart patchbay")))
        }
    }

    // MARK: On the clock thread

    /// Hands a tick's pictures over and gives the newest result.
    func exchange(
        _ inputs: UnsafeBufferPointer<Frame?>, _ parameters: UnsafePointer<Float>, _ tick: Tick
    ) -> Frame? {
        guard inputs.allSatisfy({ $0 != nil }) else { return nil }
        let first = inputs.first ?? nil
        let (result, isSilent) = mail.notify { mail -> (Frame?, Bool) in
            var isSilent = false
            if mail.pushed != tick.index, mail.state != .off {
                if mail.hasMail { mail.skipped += 1 }
                if mail.hasMail || mail.isBusy { mail.late += 1 }
                if mail.isBusy, !mail.hasSaidSilent,
                    Double(monotonicNanoseconds() - mail.busySince) / 1e9 > limits.silence
                {
                    mail.hasSaidSilent = true
                    isSilent = true
                }
                for index in inputs.indices { mail.inputs[index] = inputs[index] }
                for index in mail.parameters.indices { mail.parameters[index] = parameters[index] }
                mail.tick = tick
                mail.hasMail = true
                mail.pushed = tick.index
            }
            return (mail.result, isSilent)
        }
        if isSilent {
            report(
                .problem(
                    PatchError(
                        .media, "\(what) has not answered for \(Int(limits.silence)) s; its last picture stays",
                        remedy: "make its work lighter, or take it out")))
        }
        guard tick.isOffline else { return result ?? fallback(first) }
        let deadline = monotonicNanoseconds() + Int64(limits.offlineWait * 1e9)
        let answer = mail.wait(until: deadline) { mail -> Frame?? in
            mail.done >= tick.index || mail.state == .off || mail.isClosing ? .some(mail.result) : nil
        }
        if let answer { return answer ?? fallback(first) }
        mail.withLock { $0.state = .off }
        worker.cancel()
        report(
            .problem(
                PatchError(
                    .media, "\(what) gave no answer within \(Int(limits.offlineWait)) s and is switched off",
                    remedy: "make its work lighter, or take it out")))
        return fallback(first)
    }

    private func fallback(_ input: Frame?) -> Frame {
        if let input, input.format == blank.format { return input }
        return blank
    }

    // MARK: On the guest's thread

    private struct Job {
        var inputs: [Frame]
        var parameters: [Float]
        var tick: Tick
        var commands: [(target: String, name: String, argument: String)]
    }

    private func work() {
        var failures = 0
        var lastFailure: Int64 = 0
        var notBefore: Int64 = 0
        while let job = nextJob() {
            tell(job.commands)
            // Offline nobody waits by the clock: tries follow each other at once.
            if !job.tick.isOffline, monotonicNanoseconds() < notBefore {
                finish(job, .none)
                continue
            }
            let begin = monotonicNanoseconds()
            do {
                let result = try worker.process(job.inputs, parameters: job.parameters, at: job.tick)
                finish(job, .some(result), took: monotonicNanoseconds() - begin)
            } catch {
                let now = monotonicNanoseconds()
                if Double(now - lastFailure) / 1e9 > limits.forgiveness { failures = 0 }
                lastFailure = now
                let isLast = failures >= limits.retries.count
                if !isLast { notBefore = now + Int64(limits.retries[failures] * 1e9) }
                failures += 1
                fail(error, job, isLast: isLast)
                if isLast { break }
            }
        }
        mail.notify { mail in
            mail.isOver = true
            for index in mail.inputs.indices { mail.inputs[index] = nil }
        }
    }

    private func nextJob() -> Job? {
        mail.wait { mail -> Job?? in
            if mail.isClosing { return .some(nil) }
            guard mail.hasMail, let tick = mail.tick else { return nil }
            let job = Job(
                inputs: mail.inputs.compactMap { $0 },
                // A copy of its own: the clock must not pay for one at its next write.
                parameters: mail.parameters.withUnsafeBufferPointer { Array($0) }, tick: tick,
                commands: mail.commands)
            for index in mail.inputs.indices { mail.inputs[index] = nil }
            mail.hasMail = false
            mail.commands.removeAll()
            mail.isBusy = true
            mail.busySince = monotonicNanoseconds()
            return job
        } ?? nil
    }

    private func tell(_ commands: [(target: String, name: String, argument: String)]) {
        for command in commands {
            do { try worker.tell(command.target, command.name, command.argument) } catch {
                report(.problem(error as? PatchError ?? PatchError(.media, "\(error)")))
            }
        }
    }

    private func finish(_ job: Job, _ result: Frame??, took nanoseconds: Int64 = 0) {
        mail.notify { mail in
            mail.isBusy = false
            mail.hasSaidSilent = false
            mail.done = job.tick.index
            guard let result, mail.state != .off else { return }
            mail.state = .running
            mail.durations.add(nanoseconds)
            guard let result else { return }
            mail.result = result
            mail.results += 1
        }
    }

    private func fail(_ error: any Error, _ job: Job, isLast: Bool) {
        // Said before the tick that waits for it goes on, so that nobody sees the result of a failure without its reason.
        if mail.withLock({ !$0.isClosing && $0.state != .off }) {
            var placed = error as? PatchError ?? PatchError(.media, "\(error)")
            if isLast { placed.message += "; it failed \(limits.retries.count + 1) times and is switched off" }
            report(.problem(placed))
        }
        mail.notify { mail in
            mail.state = isLast ? .off : .failing
            mail.isBusy = false
            mail.done = job.tick.index
            mail.result = nil
        }
    }
}
