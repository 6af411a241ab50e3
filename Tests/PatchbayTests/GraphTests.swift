import PatchTesting
import Patchbay
import Synchronization
import Testing

@Suite struct GraphTests {
    /// The example in Sources/PatchbayExample, as a reader would run it.
    @Test func theExampleRuns() throws {
        let outcome = try Program.run(try Executable.path(of: "PatchbayExample"), [], timeout: 60)
        #expect(
            outcome.text == """
                first frame: 320x180 bgra, stride 1280
                top is black: true, middle is grey: true
                frames: 54 of 60, every tenth dropped by the filter

                """, "\(outcome.text) \(outcome.errorText)")
    }

    private func run(_ graph: Graph, ticks: Int64) throws {
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.duration = FrameRate(30).time(ofFrame: ticks)
        try graph.start(configuration)
        graph.waitUntilFinished()
        graph.stop()
    }

    @Test func aFilterByNameChangesThePicture() throws {
        let graph = Graph(size: (32, 16), rate: FrameRate(30))
        let colour = graph.node("color", "red", options: ["rgba": .vector([1, 0, 0, 1])])
        let invert = try graph.filter("invert")
        let seen = Mutex<[UInt8]>([])
        let raw = graph.rawDataOutput("raw", format: .rgba) { frame in
            seen.withLock { $0 = Array(frame.row(7)[0..<4]) }
        }
        colour --> invert --> raw
        try run(graph, ticks: 3)
        #expect(seen.withLock { $0 } == [0, 255, 255, 255])
    }

    @Test func mistakesAreNamed() throws {
        let graph = Graph()
        #expect {
            _ = try graph.filter("britness")
        } throws: { error in
            "\(error)".contains("brightness")
        }
        #expect {
            _ = try graph.filter("brightness", "b", ["amuont": 1])
        } throws: { error in
            "\(error)".contains("no parameter 'amuont'")
        }
        let bars = graph.testPattern("bars")
        let view = graph.rawDataOutput("raw") { _ in }
        bars --> view
        #expect {
            try bars.addTarget(view)
        } throws: { error in
            "\(error)" == "node 'raw': has no free input; remove a wire first"
        }
        // A second wire by the operator is refused when the graph starts.
        bars --> view
        #expect(throws: PatchError.self) { try graph.start() }
    }

    @Test func wiringWhileItRunsIsOneEdit() throws {
        let graph = Graph(size: (32, 16), rate: FrameRate(60))
        let red = graph.node("color", "red", options: ["rgba": .vector([1, 0, 0, 1])])
        let blue = graph.node("color", "blue", options: ["rgba": .vector([0, 0, 1, 1])])
        let seen = Monitor<[[UInt8]]>([])
        let raw = graph.rawDataOutput("raw", format: .rgba) { frame in
            let pixel = Array(frame.row(0)[0..<4])
            seen.notify { if $0.last != pixel { $0.append(pixel) } }
        }
        red --> raw
        try graph.start()
        func wait(_ pixel: [UInt8]) -> Bool {
            seen.wait(until: monotonicNanoseconds() + 10_000_000_000) { $0.last == pixel ? true : nil } ?? false
        }
        #expect(wait([255, 0, 0, 255]))
        try graph.edit {
            try red.removeAllTargets()
            try blue.addTarget(raw)
        }
        #expect(wait([0, 0, 255, 255]))
        // A change that cannot run is undone.
        #expect(throws: PatchError.self) {
            try graph.edit {
                try blue.removeAllTargets()
                try graph.filter("invert", "alone").addTarget(raw)
            }
        }
        #expect(blue.targets.map(\.id) == ["raw"])
        graph.stop()
        #expect(seen.withLock { $0 } == [[255, 0, 0, 255], [0, 0, 255, 255]])
    }
}
