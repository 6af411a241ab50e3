import PatchMedia

/// A sink with the bounded queue and the thread in front of it, so that a slow sink delays nobody else.
///
/// Thread-safety: `offer` from the clock thread; the rest from control threads.
final class SinkRunner: Sendable {
    private struct Queue {
        var ring: [Delivery?]
        var first = 0
        var count = 0
        var policy: QueuePolicy
        var isDraining = false
        var isAborted = false
        var failure: PatchError?
        var isFinished = false
        var taken: Int64 = 0
        var drops: Int64 = 0
        /// Deliveries that were taken after the next tick was due.
        var late: Int64 = 0
        var sequence: Int64 = 0
        var durations = Durations()
        /// Milliseconds from a tick until the sink takes what it made, smoothed.
        var wait: Double?

        mutating func push(_ delivery: Delivery) {
            ring[(first + count) % ring.count] = delivery
            count += 1
        }

        mutating func pop() -> Delivery? {
            guard count > 0 else { return nil }
            defer {
                ring[first] = nil
                first = (first + 1) % ring.count
                count -= 1
            }
            return ring[first]
        }

        mutating func clear() {
            while pop() != nil {}
        }
    }

    let sink: any MediaSink
    let id: NodeID
    private let queue: Monitor<Queue>
    private let thread: PosixThread
    private let lossless: Bool
    private let meter: (any LoudnessMetering)?

    /// The sink must be open. Its thread starts at once.
    /// - Parameter lossless: offline runs wait for the sink, whatever its policy.
    /// - Parameter meter: hears what the sink is given, on the sink's thread.
    /// - Parameter onFailure: called on the sink's thread when `consume` threw; the sink is finished then.
    init(
        _ sink: any MediaSink, id: NodeID, policy: QueuePolicy, lossless: Bool, meter: (any LoudnessMetering)? = nil,
        onFailure: @escaping @Sendable (PatchError) -> Void
    ) throws {
        self.sink = sink
        self.id = id
        self.lossless = lossless
        self.meter = meter
        let depth =
            switch policy {
            case .dropOldest(let depth), .dropNewest(let depth), .block(let depth, _): max(1, depth)
            }
        let queue = Monitor(Queue(ring: Array(repeating: nil, count: depth), policy: policy))
        self.queue = queue
        thread = try PosixThread(name: "sink-\(id)") {
            Self.loop(sink, queue, meter, countsLate: !lossless, onFailure)
        }
    }

    /// Hands over one tick's frame; never blocks unless the policy or an offline run says so.
    func offer(frame: Frame?, sound: AudioBlock?, tick: Tick, tap: Delivery.Tap) {
        func delivery(_ sequence: Int64) -> Delivery {
            Delivery(
                frame: frame, sound: sound, pts: tick.time, duration: tick.duration, tick: tick.index,
                sequence: sequence, hostTime: tick.hostTime, tap: tap)
        }
        enum Outcome { case done, full(limit: Int64?) }
        let outcome: Outcome = queue.notify { queue in
            if queue.failure != nil || queue.isDraining { return .done }
            let sequence = queue.sequence
            if queue.count < queue.ring.count {
                queue.sequence += 1
                queue.push(delivery(sequence))
                return .done
            }
            if lossless { return .full(limit: nil) }
            switch queue.policy {
            case .dropOldest:
                _ = queue.pop()
                queue.push(delivery(sequence))
            case .dropNewest: break
            case .block(_, let limit): return .full(limit: limit)
            }
            queue.sequence += 1
            queue.drops += 1
            return .done
        }
        guard case .full(let limit) = outcome else { return }
        let deadline = limit.map { monotonicNanoseconds() + $0 }
        let placed: Bool? = queue.wait(until: deadline) { queue in
            if queue.failure != nil || queue.isAborted { return true }
            guard queue.count < queue.ring.count else { return nil }
            queue.push(delivery(queue.sequence))
            queue.sequence += 1
            return true
        }
        queue.notify { queue in
            if placed == nil {
                queue.drops += 1
                queue.sequence += 1
            }
        }
    }

    /// No more deliveries: the sink drains and finishes on its own thread. Returns at once; `join` waits.
    func drain() { queue.notify { $0.isDraining = true } }

    /// Drops what waits and asks the sink to give up whatever blocks it.
    func abort() {
        queue.notify {
            $0.isAborted = true
            $0.isDraining = true
            $0.clear()
        }
        sink.interrupt()
    }

    /// Waits until the sink has finished, at most until `deadline` (monotonic ns). False when it has not.
    func join(until deadline: Int64? = nil) -> Bool {
        guard queue.wait(until: deadline, { $0.isFinished ? true : nil }) != nil else { return false }
        thread.join()
        return true
    }

    var failure: PatchError? { queue.withLock { $0.failure } }

    /// Milliseconds from a tick until the sink takes what it made, smoothed; nil before the first.
    var wait: Double? { queue.withLock { $0.wait } }

    func fill(_ statistics: inout NodeStatistics) {
        (sink as? any MeasuredSink)?.fill(&statistics)
        statistics.loudness = meter?.loudness
        queue.withLock { queue in
            statistics.frames = queue.taken
            statistics.drops = queue.drops
            statistics.late = queue.late
            statistics.queueDepth = queue.count
            (statistics.p50, statistics.p99) = queue.durations.percentiles
            if queue.failure != nil { statistics.state = "failed" }
        }
    }

    private static func loop(
        _ sink: any MediaSink, _ queue: Monitor<Queue>, _ meter: (any LoudnessMetering)?, countsLate: Bool,
        _ onFailure: @Sendable (PatchError) -> Void
    ) {
        while true {
            let next: Delivery?? = queue.wait { queue -> Delivery?? in
                if let delivery = queue.pop() { return .some(delivery) }
                return queue.isDraining ? .some(nil) : nil
            }
            guard case .some(.some(let delivery)) = next else { break }
            queue.notify { _ in }
            if let meter, let sound = delivery.sound { meter.hear(sound) }
            let start = monotonicNanoseconds()
            do {
                try sink.consume(delivery)
                queue.notify {
                    let wait = Double(start - delivery.hostTime) / 1e6
                    $0.wait = $0.wait.map { $0 + (wait - $0) / 16 } ?? wait
                    $0.taken += 1
                    if countsLate, start - delivery.hostTime > delivery.duration.nanoseconds { $0.late += 1 }
                    $0.durations.add(monotonicNanoseconds() - start)
                }
            } catch {
                let failure = error as? PatchError ?? PatchError(.output, "\(error)")
                queue.notify {
                    $0.failure = failure
                    $0.clear()
                }
                onFailure(failure)
                break
            }
        }
        sink.finish()
        queue.notify { $0.isFinished = true }
    }
}
