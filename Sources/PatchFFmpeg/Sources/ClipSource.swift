import Glibc
import PatchGraph
import PatchMedia
import Synchronization

/// `clip`: a video that waits, opened and decoded ahead, until it is told to play, then plays once and waits again.
/// While it waits it is transparent (or black, when the video has no alpha): what a stinger or a bumper needs.
///
/// Thread-safety: as `MediaSource`; `command` may be called from any thread.
final class ClipSource: MediaSource, CommandTaking {
    private let makeSource: @Sendable () throws -> LibavSource
    private let environment: NodeEnvironment

    private struct State {
        /// Opened, started, at its first frame.
        var ready: LibavSource?
        var playing: LibavSource?
        var isAsked = false
        var blank: Frame?
        var format: VideoFormat?
        var isStopped = false
        var played: Int64 = 0
    }
    private let state = Mutex(State())
    /// Jobs of the thread that opens the next round and closes the one before.
    private enum Chore: Sendable {
        case prepare
        case close(LibavSource)
        case end
    }
    private let chores = Monitor<[Chore]>([])
    private let thread = Mutex<PosixThread?>(nil)

    init(environment: NodeEnvironment, _ makeSource: @escaping @Sendable () throws -> LibavSource) {
        self.environment = environment
        self.makeSource = makeSource
    }

    func open() throws -> SourceFormat {
        let source = try makeSource()
        var format: SourceFormat
        do { format = try source.open() } catch {
            source.stop()
            throw error
        }
        let blank = format.video.map { Frame(blank: $0) }
        state.withLock { state in
            state.ready = source
            state.blank = blank
            state.format = format.video
        }
        // It never ends by itself: it waits again.
        format.duration = nil
        format.isLive = false
        return format
    }

    func start() throws {
        try state.withLock { $0.ready }?.start()
        let chores = chores
        let worker = try PosixThread(name: "clip \(environment.nodeID)") { [weak self] in
            while let chore = chores.wait({ $0.isEmpty ? nil : $0.removeFirst() }) {
                switch chore {
                case .end: return
                case .close(let source): source.stop()
                case .prepare: self?.prepareNext()
                }
            }
        }
        thread.withLock { $0 = worker }
    }

    private func prepareNext() {
        do {
            let source = try makeSource()
            _ = try source.open()
            try source.start()
            let isLate = state.withLock { state -> Bool in
                if !state.isStopped { state.ready = source }
                return state.isStopped
            }
            if isLate { source.stop() }
        } catch {
            environment.report(.problem(error as? PatchError ?? PatchError(.media, "\(error)")))
        }
    }

    func command(_ target: String, _ name: String, _ argument: String) throws {
        guard name == "play" else {
            throw PatchError(.usage, "a clip cannot '\(name)'", remedy: "it can play: clip:play()")
        }
        state.withLock { $0.isAsked = true }
    }

    func frame(at tick: Tick) -> SourceReading {
        if tick.isOffline { waitUntilReady() }
        let (playing, blank) = state.withLock { state -> (LibavSource?, Frame?) in
            if state.isAsked, let ready = state.ready {
                state.isAsked = false
                state.ready = nil
                // Played again while it plays: from the beginning.
                if let old = state.playing { chores.notify { $0.append(.close(old)) } }
                state.playing = ready
                state.played += 1
                chores.notify { $0.append(.prepare) }
            }
            return (state.playing, state.blank)
        }
        guard let playing else { return blank.map { .frame($0) } ?? .waiting }
        switch playing.frame(at: tick) {
        case .frame(let frame): return .frame(frame)
        case .waiting: return blank.map { .frame($0) } ?? .waiting
        case .ended:
            state.withLock { $0.playing = nil }
            chores.notify { $0.append(.close(playing)) }
            return blank.map { .frame($0) } ?? .waiting
        }
    }

    /// Offline a clip that is asked to play plays at this very tick, however long opening takes.
    private func waitUntilReady() {
        let deadline = monotonicNanoseconds() + 10_000_000_000
        while state.withLock({ $0.isAsked && $0.ready == nil && !$0.isStopped }), monotonicNanoseconds() < deadline {
            usleep(1000)
        }
    }

    func sound(at tick: Tick, into block: AudioBlock) -> Bool {
        guard let playing = state.withLock({ $0.playing }) else {
            block.silence(count: block.count)
            return false
        }
        return playing.sound(at: tick, into: block)
    }

    func stop() {
        let sources = state.withLock { state -> [LibavSource] in
            state.isStopped = true
            defer { (state.ready, state.playing) = (nil, nil) }
            return [state.ready, state.playing].compactMap { $0 }
        }
        for source in sources { source.stop() }
        chores.notify { $0.append(.end) }
        let worker = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        worker?.join()
    }

    var counters: SourceCounters {
        var counters = SourceCounters()
        counters.received = state.withLock { $0.played }
        return counters
    }
}
