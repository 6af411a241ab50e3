import PatchMedia
import PatchTesting
import Patchbay
import Testing

/// The demo's words in Swift, against a real server.
@Suite(.serialized) struct StreamSessionTests {
    private final class Log: Sendable {
        private let lines = Monitor<[String]>([])
        func add(_ event: StreamSession.Event) {
            lines.notify { lines in
                switch event {
                case .state(let word, let stream): lines.append("\(stream) \(word)")
                case .problem(_, let stream): lines.append("\(stream) problem")
                }
            }
        }
        /// Waits for a line after the first `count` ones; gives the index behind it.
        func wait(_ line: String, after count: Int = 0) throws -> Int {
            let found = lines.wait(until: monotonicNanoseconds() + 20_000_000_000) { lines -> Int? in
                lines.dropFirst(count).firstIndex(of: line).map { $0 + 1 }
            }
            guard let found else { throw TestProblem("never '\(line)': \(lines.withLock { $0 })") }
            return found
        }
    }

    @Test func publishesPlaysStopsAndComesBack() throws {
        let server = try MediaServer()
        let graph = Graph(size: (320, 180), rate: FrameRate(30))
        let bars = graph.testPattern("bars")
        let frames = Monitor(0)
        let out = graph.rawDataOutput("raw", size: (160, 90)) { _ in frames.notify { $0 += 1 } }
        bars --> out
        let session = StreamSession(graph, "studio", url: "rtmp://127.0.0.1:\(server.port)/live")
        let log = Log()
        session.onEvent { log.add($0) }
        try session.publish("mine", from: bars, options: ["speed": .string("ultrafast"), "keyframe": .number(0.5)])
        try graph.start()
        defer { graph.stop() }
        #expect(graph.patch.node("studio/publish/mine") == nil)
        try session.connect()
        var next = try log.wait("mine live")
        #expect(try FFprobe.report(server.url("mine"), timeout: 20).video?.width == 320)
        // What is published comes back as a source.
        let seen = Monitor(0)
        let back = graph.rawDataOutput("back", size: (160, 90)) { _ in seen.notify { $0 += 1 } }
        let played = try session.play("mine")
        try played.addTarget(back)
        next = try log.wait("mine live", after: next)
        // What the server does not have is told, and nothing else.
        let absent = try session.play("nobody")
        try absent.addTarget(graph.rawDataOutput("none", size: (160, 90)) { _ in })
        next = try log.wait("nobody problem", after: next)
        try session.stop("nobody")
        #expect(seen.wait(until: monotonicNanoseconds() + 20_000_000_000) { $0 > 30 ? true : nil } == true)
        try session.stop("mine")
        next = try log.wait("mine ended", after: next)
        #expect(graph.patch.wires.count == 1)
        try session.disconnect()
        try session.connect()
        // It was stopped, so that connecting does not bring it back; publishing does, with its wire.
        #expect(graph.patch.node("studio/publish/mine") == nil)
        try session.publish("mine", from: bars, options: ["speed": .string("ultrafast")])
        _ = try log.wait("mine live", after: next)
        let unknown = #expect(throws: PatchError.self) { try session.stop("theirs") }
        #expect(unknown?.message == "session 'studio' has no stream 'theirs'")
        #expect(frames.withLock { $0 } > 60)
    }
}
