import PatchGraph
import PatchMedia
import Synchronization

/// A file, stream, camera or screen, read and decoded by FFmpeg on a thread of its own.
///
/// Live inputs that break off come back by themselves: tried again after 0.5 s, then twice as long each time, up to 8 s, each
/// times a random 0.5 to 1, so that a hundred receivers do not knock at once. One whose script says what to show meanwhile
/// (`policy`) may be absent when the graph starts; one that is not `required` is not waited for at all.
/// Thread-safety: as `MediaSource`.
final class LibavSource: MediaSource, AdjustableNode, @unchecked Sendable {
    // Unchecked: `queue`, `producer` and `thread` are written by `open` and `start` on one control thread before the
    // source's own thread and the clock use them; from then on `producer` belongs to the source's thread alone.
    private let address: InputAddress
    private let playback: MediaProducer.Playback
    private let environment: NodeEnvironment
    private let options: NodeOptions
    private let deadline = InterruptDeadline()
    private var queue: SourceQueue?
    private var producer: MediaProducer?
    private var thread: PosixThread?
    /// It was not there when the graph was loaded.
    private var isAbsent = false

    init(
        _ address: InputAddress, playback: MediaProducer.Playback, options: NodeOptions, environment: NodeEnvironment
    ) {
        self.address = address
        var playback = playback
        // What is live has no beginning to go back to: FFmpeg would play what is left in its buffer again.
        if address.isLive { playback.loops = false }
        self.playback = playback
        self.options = options
        self.environment = environment
    }

    func open() throws -> SourceFormat {
        if options.bool("required") == false, !environment.isOffline { return try openLater(isLossTold: false) }
        do {
            let format = try openNow()
            if case .stream = address.kind { environment.report(.state(SourceState.live.rawValue)) }
            return format
        } catch {
            let problem = error as? PatchError ?? PatchError(.media, "\(error)")
            if deadline.isCancelled || !mayBeAbsent { throw problem }
            environment.report(.lost(problem))
            return try openLater(isLossTold: true)
        }
    }

    private var mayBeAbsent: Bool {
        address.isLive && !environment.isOffline && options.string("policy") != nil
    }

    /// Nobody is there yet, or is waited for: assumes what the graph has until the first picture tells.
    private func openLater(isLossTold: Bool) throws -> SourceFormat {
        let audio = AudioFormat(sampleRate: 48_000, channels: environment.channels)
        isAbsent = true
        queue = makeQueue(hasPicture: true, audio: audio)
        try run(isLossTold: isLossTold)
        return SourceFormat(
            video: VideoFormat(
                .yuv420p, width: environment.width, height: environment.height, orientation: playback.orientation),
            audio: audio, isLive: true)
    }

    private func makeQueue(hasPicture: Bool, audio: AudioFormat?) -> SourceQueue {
        let queue = SourceQueue(
            policy, hasPicture: hasPicture, audio: audio, latency: latency(hasSound: audio != nil),
            report: environment.report)
        queue.setOffset(milliseconds: options.number("offset") ?? 0)
        return queue
    }

    func adopt(_ options: NodeOptions) { queue?.setOffset(milliseconds: options.number("offset") ?? 0) }

    private func openNow() throws -> SourceFormat {
        let reader = try MediaReader(address, deadline: deadline)
        if let problem = reader.soundProblem { environment.report(.problem(problem)) }
        let channels = reader.sound == nil ? nil : min(environment.channels, reader.storedChannels)
        let audio = channels.map { AudioFormat(sampleRate: 48_000, channels: $0) }
        let queue = makeQueue(hasPicture: reader.video != nil, audio: audio)
        let importer = FrameImporter(shown: address.shown, report: environment.report)
        let producer = MediaProducer(
            reader: reader, queue: queue, playback: playback, importer: importer, channels: channels,
            comesBack: address.isLive && !environment.isOffline, report: environment.report)
        try producer.seekToStart()
        try decodeFirst(of: producer, reader: reader)
        self.queue = queue
        self.producer = producer
        let duration = address.isLive || playback.loops ? nil : reader.duration
        let speed = playback.speed
        let format = SourceFormat(
            video: producer.format,
            rate: reader.rate.map {
                FrameRate($0.numerator * speed.numerator, over: $0.denominator * speed.denominator)
            },
            audio: audio, isLive: address.isLive,
            duration: duration.map { MediaTime(seconds: ($0 - playback.start).seconds / speed.perSecond) })
        // A live source that nobody reads would fill the network's buffers with old frames.
        if address.isLive { try run() }
        return format
    }

    /// Decodes up to the first frame: only it tells the pixel format for certain.
    private func decodeFirst(of producer: MediaProducer, reader: MediaReader) throws {
        guard reader.video != nil else { return }
        let limit = address.timeout.map { monotonicNanoseconds() + $0 }
        while producer.format == nil {
            switch producer.step(.init(picture: true, sound: false)) {
            case .more: break
            case .failed(let error): throw error
            case .ended:
                throw PatchError(
                    .media, "no picture of '\(address.shown)' can be decoded", remedy: "check it with `ffprobe`",
                    cause: address.isSecret ? nil : FFmpegLog.lastLine)
            }
            if let limit, monotonicNanoseconds() > limit {
                throw PatchError(
                    .network, "no picture came from '\(address.shown)'",
                    remedy: "check that the sender sends key frames")
            }
        }
    }

    func start() throws {
        try run()
        if !isAbsent { queue?.waitForFirst(limit: 2_000_000_000) }
    }

    /// - Parameter isLossTold: that it is not there was told already; false for a source without a producer tells it.
    private func run(isLossTold: Bool = false) throws {
        guard thread == nil, let queue, producer != nil || isAbsent else { return }
        if producer == nil { queue.setTrouble(.connecting) }
        let worker = Worker(
            address: address, playback: playback, environment: environment, deadline: deadline, queue: queue,
            producer: producer, isLossTold: isLossTold)
        self.producer = nil
        thread = try PosixThread(name: "source \(environment.nodeID)") { worker.run() }
    }

    func frame(at tick: Tick) -> SourceReading { queue?.frame(at: tick) ?? .waiting }

    func sound(at tick: Tick, into block: AudioBlock) -> Bool {
        guard let queue else {
            block.silence(count: block.count)
            return false
        }
        return queue.sound(at: tick, into: block)
    }

    var counters: SourceCounters { queue?.counters ?? SourceCounters() }
    var health: SourceHealth? { queue?.health }
    func leadSound(by samples: Int) { queue?.setSoundLead(samples) }
    var leadsSound: Bool { queue?.audio != nil }

    func stop() {
        deadline.cancel()
        queue?.close()
        thread?.join()
        thread = nil
    }

    deinit { stop() }

    private var policy: SourcePolicy {
        guard address.isLive, !environment.isOffline else { return .everyFrame(depth: 8) }
        // MPEG-TS sends sound up to 0.7 s after its picture; the queue must bridge that at 60 frames a second.
        return address.kind == .stream ? .newest(depth: 64) : .newest(depth: 4)
    }

    /// A network delivers in bursts; devices do not, but sound must be there before it is due.
    private func latency(hasSound: Bool) -> MediaTime {
        MediaTime(value: address.kind == .stream ? 150 : hasSound ? 40 : 0, timescale: 1000)
    }
}

/// The source's thread.
private final class Worker: @unchecked Sendable {
    // Unchecked: created by `LibavSource.run` and then used by the one thread it starts; the queue and the deadline are
    // safe by themselves.
    private let address: InputAddress
    private let playback: MediaProducer.Playback
    private let environment: NodeEnvironment
    private let deadline: InterruptDeadline
    private let queue: SourceQueue
    private var producer: MediaProducer?
    private let isLossTold: Bool

    init(
        address: InputAddress, playback: MediaProducer.Playback, environment: NodeEnvironment,
        deadline: InterruptDeadline, queue: SourceQueue, producer: MediaProducer?, isLossTold: Bool
    ) {
        self.isLossTold = isLossTold
        self.address = address
        self.playback = playback
        self.environment = environment
        self.deadline = deadline
        self.queue = queue
        self.producer = producer
    }

    func run() {
        if address.isLive { runLive() } else { runFile() }
        queue.end()
        producer = nil
    }

    private func runFile() {
        var hasFailed = false
        while let producer, let demand = queue.waitForDemand() {
            switch producer.step(demand) {
            case .more: break
            // What was read before is played to its end.
            case .failed(let error):
                environment.report(.problem(error))
                hasFailed = true
            case .ended:
                if hasFailed { queue.setTrouble(.failed) }
                return
            }
        }
    }

    private func runLive() {
        if producer == nil, !isLossTold { connectFirst() }
        while !queue.isClosed {
            if producer != nil {
                guard let error = deliver() else { return }
                producer = nil
                // Virtual time cannot wait for somebody to come back.
                if environment.isOffline { return }
                queue.setTrouble(.retrying)
                environment.report(.lost(error))
            }
            guard reconnect() else { return }
            environment.report(.back)
        }
    }

    /// - Returns: why it broke off; nil when told to stop.
    private func deliver() -> PatchError? {
        while let producer, !queue.isClosed {
            let demand: SourceQueue.Demand
            if environment.isOffline {
                guard let wanted = queue.waitForDemand() else { return nil }
                demand = wanted
            } else {
                demand = .init(picture: true, sound: true)
            }
            switch producer.step(demand) {
            case .more: break
            case .failed(let error): return queue.isClosed ? nil : error
            case .ended:
                return PatchError(
                    .network, "'\(address.shown)' ended", remedy: "start the sender again; it is tried until it is back"
                )
            }
        }
        return nil
    }

    /// Connects for the first time, and tells how that went.
    private func connectFirst() {
        do {
            producer = try connect()
            environment.report(.state(SourceState.live.rawValue))
        } catch {
            guard !queue.isClosed else { return }
            queue.setTrouble(.retrying)
            environment.report(.lost(error as? PatchError ?? PatchError(.network, "\(error)")))
        }
    }

    private func reconnect() -> Bool {
        var pause: Int64 = 500_000_000
        while queue.sleep(nanoseconds: Int64(Double(pause) * Double.random(in: 0.5...1))) {
            pause = min(2 * pause, 8_000_000_000)
            guard let producer = try? connect() else { continue }
            queue.countReconnect()
            self.producer = producer
            return true
        }
        return false
    }

    private func connect() throws -> MediaProducer {
        MediaProducer(
            reader: try MediaReader(address, deadline: deadline), queue: queue, playback: playback,
            importer: FrameImporter(shown: address.shown, report: environment.report),
            channels: queue.audio?.channels, comesBack: true, report: environment.report)
    }
}
