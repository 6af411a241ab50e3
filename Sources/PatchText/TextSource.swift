import PatchGraph
import PatchMedia

/// `text{ … }`: a text as a picture, drawn anew only when one of its options changes.
///
/// The picture has premultiplied alpha. Drawing happens on the text thread; until it is done, the picture before stays. In
/// an offline run a tick waits for what was asked for before it.
/// Thread-safety: as `MediaSource` and `AdjustableNode`.
public final class TextSource: MediaSource, AdjustableNode {
    /// The kind `text`.
    public static let kinds = [
        NodeKind(
            NodeSchema(
                kind: "text", role: .source,
                summary: "Text of any script and with emoji; all of its options may be changed on air.",
                options: TextSettings.schemas),
            .source { options, environment in
                do { return try TextSource(options, environment) } catch let error as PatchError {
                    throw error.placed(node: environment.nodeID, at: environment.location)
                }
            })
    ]

    private struct State {
        /// What is wanted and not yet being drawn.
        var next: TextSettings?
        var isDrawing = false
        var frame: Frame?
        var drawn: Int64 = 0
        /// Notices are said once.
        var said: Set<String> = []
        var isStopped = false
    }

    private let first: TextSettings
    private let environment: NodeEnvironment
    private let state = Monitor(State())
    /// How long an offline tick waits for a drawing, in nanoseconds.
    private static let patience: Int64 = 30_000_000_000

    private init(_ options: NodeOptions, _ environment: NodeEnvironment) throws {
        first = try TextSettings(options)
        self.environment = environment
    }

    public func open() throws -> SourceFormat {
        let first = first
        let picture: TextPicture
        do { picture = try TextThread.shared.perform { try $0.draw(first) } } catch let error as PatchError {
            throw error.placed(node: environment.nodeID, at: environment.location)
        }
        show(picture)
        return SourceFormat(video: picture.frame.format)
    }

    public func start() throws {}

    public func adopt(_ options: NodeOptions) {
        do {
            let settings = try TextSettings(options)
            let mustEnqueue = state.withLock { state in
                guard !state.isStopped else { return false }
                state.next = settings
                defer { state.isDrawing = true }
                return !state.isDrawing
            }
            guard mustEnqueue else { return }
            do { try TextThread.shared.enqueue { [self] in drawNext($0) } } catch {
                state.notify { $0.isDrawing = false }
                throw error
            }
        } catch { report(error) }
    }

    /// On the text thread: the newest settings; those in between were never seen.
    private func drawNext(_ renderer: TextRenderer) {
        while true {
            let settings = state.notify { state -> TextSettings? in
                defer { state.next = nil }
                if state.next == nil || state.isStopped { state.isDrawing = false }
                return state.isStopped ? nil : state.next
            }
            guard let settings else { return }
            do { show(try renderer.draw(settings)) } catch { report(error) }
        }
    }

    private func show(_ picture: TextPicture) {
        let fresh = state.notify { state -> [String] in
            picture.frame.sequence = state.drawn
            state.drawn += 1
            state.frame = picture.frame
            return picture.notices.filter { state.said.insert($0).inserted }
        }
        for notice in fresh { environment.report(.notice(notice)) }
    }

    private func report(_ error: any Error) {
        let problem = error as? PatchError ?? PatchError(.media, "\(error)")
        environment.report(.problem(problem.placed(node: environment.nodeID, at: environment.location)))
    }

    public func frame(at tick: Tick) -> SourceReading {
        let frame =
            tick.isOffline
            ? state.wait(until: monotonicNanoseconds() + Self.patience) { $0.isDrawing ? nil : .some($0.frame) } ?? nil
            : state.withLock { $0.frame }
        return frame.map { .frame($0) } ?? .waiting
    }

    public func stop() {
        state.notify {
            $0.isStopped = true
            $0.next = nil
        }
    }

    public var counters: SourceCounters {
        var counters = SourceCounters()
        counters.received = state.withLock { $0.drawn }
        return counters
    }
}
