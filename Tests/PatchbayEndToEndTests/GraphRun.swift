import Foundation
import PatchTesting

/// `patchbay run` or `render` with `--json` on a graph in a folder of its own.
final class GraphRun {
    /// One line of `--json`.
    struct Event: Decodable, Sendable {
        struct Failure: Decodable, Sendable {
            var code: String
            var message: String
            var remedy: String?
            var node: String?
            var file: String?
            var line: Int?
        }
        struct Statistics: Decodable, Sendable {
            struct Node: Decodable, Sendable {
                var node: String
                var kind: String
                var frames: Int
                var drops: Int
                var late: Int
                var state: String?
                var source: Source?
                var output: Output?
                var loudness: Loudness?
            }
            struct Loudness: Decodable, Sendable {
                var momentary: Double?
                var shortTerm: Double?
                var integrated: Double?
                var truePeak: Double?
            }
            struct Source: Decodable, Sendable {
                var latencyMs: Double?
                var avOffsetMs: Double?
                var reconnects: Int
                var corrupt: Int
                var standIn: String?
            }
            struct Output: Decodable, Sendable {
                var bytesSent: Int
                var bitrate: Double
                var targetBitrate: Int
                var reconnects: Int
                var droppedGroups: Int
                var droppedPackets: Int
                var waitingBytes: Int
                var waitingSeconds: Double
                var repeats: Int
                var encoderShares: Int
                var encodeP50ms: Double
                var encodeP99ms: Double
                var sendP50ms: Double
                var sendP99ms: Double
            }
            var ticks: Int
            var late: Int
            var generation: Int
            var nodes: [Node]
        }
        var event: String
        var time: Double
        var generation: Int?
        var tick: Int?
        var node: String?
        var state: String?
        var text: String?
        var error: Failure?
        var statistics: Statistics?
    }

    let directory: TemporaryDirectory
    let program: Program

    /// - Parameters:
    ///   - script: text of graph.lua.
    ///   - arguments: after the graph file.
    init(
        _ script: String, command: String = "run", arguments: [String] = [], environment: [String: String?] = [:],
        directory: TemporaryDirectory? = nil
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        self.directory = directory
        try directory.write("graph.lua", script)
        var environment = environment
        if environment["DISPLAY"] == nil { environment["DISPLAY"] = .some(nil) }
        program = try Executable.start(
            [command, "graph.lua", "--json"] + arguments, environment: environment, directory: directory.path)
    }

    /// What has been decoded of the output, so that a long run is not decoded again and again.
    private var decoded: (events: [Event], bytes: Int) = ([], 0)

    /// Events so far.
    var events: [Event] {
        decode(program.outputSoFar.output)
        return decoded.events
    }

    private func decode(_ output: [UInt8]) {
        guard let end = output[decoded.bytes...].lastIndex(of: 10) else { return }
        decoded.events += Self.events(in: Array(output[decoded.bytes...end]))
        decoded.bytes = end + 1
    }

    static func events(in output: [UInt8]) -> [Event] {
        // The last line may still be on its way.
        let end = output.lastIndex(of: 10) ?? 0
        return output[..<end].split(separator: 10).compactMap { line in
            try? JSONDecoder().decode(Event.self, from: Data(line))
        }
    }

    /// Waits for the first event, from index `start` on, that `matches`; returns it with the index after it.
    func wait(
        for what: String, from start: Int = 0, within timeout: Double = 30, _ matches: (Event) -> Bool
    ) throws -> (event: Event, next: Int) {
        var from = start
        return try program.wait(for: what, within: timeout) { output, _ in
            let known = max(start, from)
            decode(output)
            from = max(known, decoded.events.count)
            guard known < decoded.events.count, let index = decoded.events[known...].firstIndex(where: matches) else {
                return nil
            }
            return (decoded.events[index], index + 1)
        }
    }

    @discardableResult
    func waitUntilOnAir(within timeout: Double = 30) throws -> Int {
        try wait(for: "on air", within: timeout) { $0.event == "onAir" }.next
    }

    /// Waits for the end of a run with `--duration`.
    func waitForEnd(within timeout: Double = 60) throws -> (outcome: ProgramOutcome, statistics: Event.Statistics) {
        let outcome = try program.waitForEnd(within: timeout)
        guard let statistics = Self.events(in: outcome.output).last(where: { $0.event == "end" })?.statistics else {
            throw TestProblem(
                "no statistics at the end:\n\(outcome.text.suffix(3000))\n\(outcome.errorText.suffix(2000))")
        }
        return (outcome, statistics)
    }

    /// Ends it as Ctrl-C does and waits for it.
    func interrupt(within timeout: Double = 30) throws -> (outcome: ProgramOutcome, statistics: Event.Statistics) {
        program.signal(SIGINT)
        return try waitForEnd(within: timeout)
    }
}
