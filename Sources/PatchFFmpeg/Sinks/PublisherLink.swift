import PatchGraph
import PatchMedia
import Synchronization

/// A publisher's connection on a thread of its own: connects, sends, and connects again when it breaks.
///
/// Its state follows what the peer (or its socket) accepted, never what was merely encoded.
/// Thread-safety: all members may be called from any thread.
final class PublisherLink: Sendable {
    /// The words of `NodeEvent.state`.
    enum State: String, Sendable { case connecting, live, stalled, retrying, failed, ended }

    /// Without an accepted byte for so long while packets wait, the link counts as stalled; nanoseconds.
    static let stallLimit: Int64 = 2_000_000_000
    /// A connection that lasted so long begins the pauses anew when it breaks; nanoseconds.
    static let steadyTime: Int64 = 10_000_000_000
    /// The longest pause between two attempts, in seconds.
    static let longestPause = 30.0

    private struct Progress {
        var state: State?
        /// The first connection's outcome.
        var firstResult: Result<Void, PatchError>?
        var isDone = false
        /// Why there is no connection, as it was said last.
        var reason: String?
    }

    private let target: MuxTarget
    private let retryOptions: [(String, String)]
    private let streams: [StreamParameters]
    private let environment: NodeEnvironment
    private let interruption = InterruptDeadline()
    private let progress = Monitor(Progress())
    private let reconnects = Atomic<Int64>(0)
    private let tap: EncoderTap
    let meter = OutputMeter()

    private var queue: PacketQueue { tap.queue }

    /// - Parameter retryOptions: what a second connection sets beside the target's options.
    init(
        _ target: MuxTarget, retryOptions: [(String, String)], streams: [StreamParameters], tap: EncoderTap,
        environment: NodeEnvironment
    ) {
        self.target = target
        self.retryOptions = retryOptions
        self.streams = streams
        self.tap = tap
        self.environment = environment
    }

    /// Connects for the first time.
    /// - Parameter waits: false returns at once, and a connection that does not come about is tried again and again.
    /// - Throws: `PatchError` when that does not succeed within a second more than a connection may take.
    func start(waits: Bool) throws {
        set(.connecting)
        if !waits { queue.hold() }
        _ = try PosixThread(name: "publish") { withoutWriteSignals { self.run(isPatient: !waits) } }
        guard waits else { return }
        let limit = monotonicNanoseconds() + MediaMuxer.connectLimit + 1_000_000_000
        switch progress.wait(until: limit, { $0.firstResult }) {
        case .success?: return
        case .failure(let error)?:
            set(.failed)
            throw error
        case nil:
            // A name server that does not answer cannot be interrupted; its thread ends by itself.
            interrupt()
            set(.failed)
            throw PatchError(
                .network, "cannot connect to \(target.shown)", remedy: "check the host's name",
                cause: "no answer in time")
        }
    }

    /// Sends what waits, says good-bye and ends, within `limit` nanoseconds (nil: however long it takes).
    func finish(limit: Int64?) {
        queue.finish()
        // Without a connection there is nothing to wait for.
        let hasPeer = progress.withLock { progress in
            if case .success? = progress.firstResult { progress.state != .retrying } else { false }
        }
        let limit = hasPeer ? limit : 500_000_000
        let deadline = limit.map { monotonicNanoseconds() + $0 }
        if progress.wait(until: deadline, { $0.isDone ? true : nil }) == nil {
            let left = queue.counters.packets
            interrupt()
            _ = progress.wait(until: monotonicNanoseconds() + 1_000_000_000) { $0.isDone ? true : nil }
            if left > 0 {
                environment.report(
                    .problem(error(.network, "\(left) packets were not accepted by \(target.shown) before the end")))
            }
        }
        set(.ended)
    }

    func interrupt() {
        interruption.cancel()
        queue.cancel()
    }

    /// Called once a tick: notices when nothing is accepted any more.
    func check() {
        guard queue.counters.packets > 0,
            monotonicNanoseconds() - meter.lastAccepted > PublisherLink.stallLimit
        else { return }
        let changed = progress.withLock { progress in
            guard progress.state == .live else { return false }
            progress.state = .stalled
            return true
        }
        if changed { environment.report(.state(State.stalled.rawValue)) }
    }

    var isConnected: Bool { state == .live || state == .stalled }
    var state: State? { progress.withLock { $0.state } }
    var reconnectCount: Int64 { reconnects.load(ordering: .relaxed) }

    // MARK: The link's thread

    private func run(isPatient: Bool) {
        defer { progress.notify { $0.isDone = true } }
        var muxer: MediaMuxer?
        // Attempts since the last connection that lasted.
        var attempt = 0
        do {
            muxer = try MediaMuxer(target, streams: streams, interrupt: interruption)
            meter.begin()
            if isPatient { resume() }
            progress.notify { $0.firstResult = .success(()) }
        } catch {
            progress.notify { $0.firstResult = .failure(placed(error)) }
            guard isPatient, !interruption.isCancelled else { return }
            say(error)
            muxer = reconnect(&attempt)
        }
        while let open = muxer {
            let begin = monotonicNanoseconds()
            do {
                try send(through: open)
                return
            } catch {
                guard !interruption.isCancelled else { return }
                muxer = nil
                // A server that accepts and soon hangs up is not knocked at twice a second.
                if monotonicNanoseconds() - begin > PublisherLink.steadyTime { attempt = 0 }
                say(error)
                muxer = reconnect(&attempt)
            }
        }
    }

    /// Returns when the stream is over.
    private func send(through muxer: MediaMuxer) throws {
        while true {
            switch queue.pop() {
            case .packet(let packet):
                try muxer.write(packet)
                meter.accepted(packet)
                setLive()
            case .over:
                try muxer.finish()
                return
            case .cancelled: return
            case .nothing: break
            }
        }
    }

    /// Tries again and again, ever more slowly, and says each new reason; nil when the stream ended meanwhile.
    private func reconnect(_ attempt: inout Int) -> MediaMuxer? {
        queue.hold()
        set(target.isListener ? .connecting : .retrying)
        var again = target
        again.options += retryOptions
        while !interruption.isCancelled {
            let longest = min(PublisherLink.longestPause, 0.5 * Double(1 << min(attempt, 10)))
            attempt += 1
            // Jitter keeps many publishers from knocking at a restarted server all at once.
            let pause = longest * Double.random(in: 0.5...1)
            if queue.pause(until: monotonicNanoseconds() + Int64(pause * 1e9)) { return nil }
            do {
                let muxer = try MediaMuxer(again, streams: streams, interrupt: interruption)
                reconnects.add(1, ordering: .relaxed)
                meter.begin()
                resume()
                return muxer
            } catch { say(error) }
        }
        return nil
    }

    /// Packets flow again, from a keyframe made for it.
    private func resume() {
        tap.requestKeyframe()
        queue.release()
    }

    /// Reports why there is no connection, once for each reason.
    private func say(_ error: any Error) {
        let error = placed(error)
        let reason = error.message + (error.cause ?? "")
        let isNew = progress.withLock { progress in
            defer { progress.reason = reason }
            return progress.reason != reason
        }
        if isNew, !interruption.isCancelled { environment.report(.problem(error)) }
    }

    private func setLive() {
        if state == .live { return }
        progress.withLock { $0.reason = nil }
        set(.live)
    }

    private func set(_ state: State) {
        let changed = progress.withLock { progress in
            defer { progress.state = state }
            return progress.state != state
        }
        if changed { environment.report(.state(state.rawValue)) }
    }

    private func error(_ code: PatchError.Code, _ message: String) -> PatchError {
        PatchError(code, message, node: environment.nodeID, at: environment.location)
    }

    private func placed(_ error: any Error) -> PatchError {
        let known = error as? PatchError ?? PatchError(.network, "the connection failed", cause: "\(error)")
        return known.placed(node: environment.nodeID, at: environment.location)
    }
}
