import Patchbay
import Synchronization

/// Turns a session's events into lines for people or, with `--json`, lines of JSON on standard output.
///
/// Thread-safety: all members may be called from any thread.
final class EventReporter: Sendable {
    private let console: Console
    private let isJSON: Bool
    private let start = monotonicNanoseconds()
    private let failedSinks = Mutex<Set<String>>([])
    private let isOnAir = Atomic(false)

    init(_ console: Console, json: Bool) {
        self.console = console
        isJSON = json
    }

    var hasFailedSinks: Bool { failedSinks.withLock { !$0.isEmpty } }

    func note(_ text: String) {
        if isJSON { emit("note", [("text", .string(text))]) } else { console.note(text) }
    }

    /// The first graph is on air: said once, whether or not the engine says it too.
    func started() {
        if !isOnAir.load(ordering: .relaxed) { report(.onAir(generation: 1, tick: 0)) }
    }

    /// Why the run ends; text is the program's own last word.
    func failed(_ error: PatchError) { if isJSON { emit("error", error) } }

    func report(_ event: SessionEvent) {
        switch event {
        case .onAir(let generation, let tick):
            if isOnAir.exchange(true, ordering: .relaxed), generation <= 1 { return }
            if isJSON {
                emit("onAir", [("generation", .integer(generation)), ("tick", .integer(Int(tick)))])
            } else {
                console.note(generation <= 1 ? "on air" : "on air: edit \(generation - 1), from frame \(tick)")
            }
        case .reloaded(let seconds):
            let milliseconds = seconds * 1000
            if isJSON {
                emit("reloaded", [("milliseconds", .number(milliseconds))])
            } else {
                console.note("saved file on air after \(StatusText.fixed(milliseconds, 0)) ms")
            }
        case .rejected(let error):
            if isJSON { emit("rejected", error) } else { console.fail(Self.rejection(error)) }
        case .scriptError(let error):
            if isJSON { emit("scriptError", error) } else { console.fail(error) }
        case .log(let text, let location):
            if isJSON {
                emit("log", [("text", .string(text))] + Self.place(nil, location))
            } else {
                console.note((location.map { "\($0): " } ?? "") + text)
            }
        case .node(let id, let event, let location): report(id, event, location)
        }
    }

    private func report(_ id: String, _ event: NodeEvent, _ location: SourceLocation?) {
        let place = Self.place(id, location)
        switch event {
        case .lost(let error):
            if isJSON { emit("lost", error.placed(node: id, at: location)) } else { console.fail(error) }
        case .problem(let error):
            if isJSON { emit("problem", error.placed(node: id, at: location)) } else { console.fail(error) }
        case .back: say("back", "'\(id)' is back", place)
        case .ended: say("ended", "'\(id)' is over", place)
        case .closed: say("closed", "the window '\(id)' was closed", place)
        case .notice(let text): say("notice", "'\(id)': \(text)", place + [("text", .string(text))])
        case .state(let state):
            if state == "failed" { _ = failedSinks.withLock { $0.insert(id) } }
            say("state", "'\(id)' is \(state)", place + [("state", .string(state))])
        case .key(let key): if isJSON { emit("key", place + [("key", .string(key))]) }
        }
    }

    /// Running numbers, as JSON whatever the form of events is.
    func numbers(_ statistics: EngineStatistics) { emit("stats", [("statistics", StatusText.json(statistics))]) }

    /// The last words of a run.
    func summary(_ statistics: EngineStatistics, _ end: SessionEnd) {
        if isJSON {
            emit("end", [("statistics", StatusText.json(statistics))])
            return
        }
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        let drops = statistics.nodes.reduce(0) { $0 + $1.drops }
        console.note(
            "\(statistics.ticks) frames in \(StatusText.fixed(seconds, 1)) s, \(statistics.late) late, \(drops) dropped"
        )
        for node in statistics.nodes where node.drops > 0 {
            console.note("  '\(node.id)' (\(node.kind)): \(node.drops) of \(node.frames + node.drops) dropped")
        }
    }

    private static func rejection(_ error: PatchError) -> PatchError {
        var error = error
        error.remedy += (error.remedy.isEmpty ? "" : "; ") + "the picture stays as it was"
        return error
    }

    private static func place(_ node: String?, _ location: SourceLocation?) -> [(String, JSON)] {
        (node.map { [("node", JSON.string($0))] } ?? [])
            + (location.map { [("file", JSON.string($0.file)), ("line", .integer($0.line))] } ?? [])
    }

    private func say(_ name: String, _ text: String, _ members: [(String, JSON)]) {
        if isJSON { emit(name, members) } else { console.note(text) }
    }

    private func emit(_ name: String, _ error: PatchError) { emit(name, [("error", .error(error))]) }

    private func emit(_ name: String, _ members: [(String, JSON)]) {
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        console.print(JSON.object([("event", .string(name)), ("time", .number(seconds))] + members).encoded())
    }
}
