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
    /// The longest pause between two attempts, in seconds.
    static let longestPause = 30.0

    private struct Progress {
        var state: State?
        /// The first connection's outcome.
        var firstResult: Result<Void, PatchError>?
        var isDone = false
    }

    private let target: MuxTarget
    private let retryOptions: [(String, String)]
    private let streams: [StreamParameters]
    private let environment: NodeEnvironment
    private let interruption = InterruptDeadline()
    private let progress = Monitor(Progress())
    private let wantsKeyframe = Atomic(false)
    private let bytes = Atomic<Int64>(0)
    private let lastAccepted = Atomic<Int64>(0)
    private let reconnects = Atomic<Int64>(0)
    let queue: PacketQueue

    /// - Parameter retryOptions: what a second connection sets beside the target's options.
    init(
        _ target: MuxTarget, retryOptions: [(String, String)], streams: [StreamParameters], queue: PacketQueue,
        environment: NodeEnvironment
    ) {
        self.target = target
        self.retryOptions = retryOptions
        self.streams = streams
        self.queue = queue
        self.environment = environment
    }

    /// Connects for the first time.
    /// - Throws: `PatchError` when that does not succeed within a second more than a connection may take.
    func start() throws {
        set(.connecting)
        _ = try PosixThread(name: "publish") { withoutWriteSignals { self.run() } }
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
        let deadline = limit.map { monotonicNanoseconds() + $0 }
        if progress.wait(until: deadline, { $0.isDone ? true : nil }) == nil {
            let left = queue.counters.packets
            interrupt()
            _ = progress.wait(until: monotonicNanoseconds() + 1_000_000_000) { $0.isDone ? true : nil }
            environment.report(
                .problem(error(.network, "\(left) packets were not accepted by \(target.shown) before the end")))
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
            monotonicNanoseconds() - lastAccepted.load(ordering: .relaxed) > PublisherLink.stallLimit
        else { return }
        let changed = progress.withLock { progress in
            guard progress.state == .live else { return false }
            progress.state = .stalled
            return true
        }
        if changed { environment.report(.state(State.stalled.rawValue)) }
    }

    /// True once after each request for a keyframe.
    func takeKeyframeRequest() -> Bool { wantsKeyframe.exchange(false, ordering: .relaxed) }
    func requestKeyframe() { wantsKeyframe.store(true, ordering: .relaxed) }

    var state: State? { progress.withLock { $0.state } }
    var acceptedBytes: Int64 { bytes.load(ordering: .relaxed) }
    var reconnectCount: Int64 { reconnects.load(ordering: .relaxed) }

    // MARK: The link's thread

    private func run() {
        defer { progress.notify { $0.isDone = true } }
        var muxer: MediaMuxer?
        do {
            muxer = try MediaMuxer(target, streams: streams, interrupt: interruption)
            lastAccepted.store(monotonicNanoseconds(), ordering: .relaxed)
            progress.notify { $0.firstResult = .success(()) }
        } catch {
            progress.notify { $0.firstResult = .failure(placed(error)) }
            return
        }
        while let open = muxer {
            do {
                try send(through: open)
                return
            } catch {
                guard !interruption.isCancelled else { return }
                muxer = nil
                environment.report(.problem(placed(error)))
                muxer = reconnect()
            }
        }
    }

    /// Returns when the stream is over.
    private func send(through muxer: MediaMuxer) throws {
        while true {
            switch queue.pop() {
            case .packet(let packet):
                try muxer.write(packet)
                bytes.add(Int64(packet.byteCount), ordering: .relaxed)
                lastAccepted.store(monotonicNanoseconds(), ordering: .relaxed)
                set(.live)
            case .over:
                try muxer.finish()
                return
            case .cancelled: return
            case .nothing: break
            }
        }
    }

    /// Tries again and again, ever more slowly; nil when the stream ended meanwhile.
    private func reconnect() -> MediaMuxer? {
        queue.hold()
        set(.retrying)
        var again = target
        again.options += retryOptions
        for attempt in 0... {
            let longest = min(PublisherLink.longestPause, 0.5 * Double(1 << min(attempt, 10)))
            // Jitter keeps many publishers from knocking at a restarted server all at once.
            let pause = longest * Double.random(in: 0.5...1)
            if queue.pause(until: monotonicNanoseconds() + Int64(pause * 1e9)) { return nil }
            if let muxer = try? MediaMuxer(again, streams: streams, interrupt: interruption) {
                reconnects.add(1, ordering: .relaxed)
                lastAccepted.store(monotonicNanoseconds(), ordering: .relaxed)
                requestKeyframe()
                queue.release()
                return muxer
            }
        }
        return nil
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
