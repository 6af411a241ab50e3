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

    /// A mixer in Swift: slots by name, moved, arranged and taken away while it runs.
    @Test func aMixerPutsPicturesWhereItIsTold() throws {
        let graph = Graph(size: (32, 16), rate: FrameRate(60))
        func colour(_ name: String, _ rgba: [Double]) -> GraphNode {
            graph.node("color", name, options: ["rgba": .vector(rgba)])
        }
        let (red, blue) = (colour("red", [1, 0, 0, 1]), colour("blue", [0, 0, 1, 1]))
        let mix = try graph.mixer("mix", size: (32, 16), fill: [0, 1, 0, 1])
        try mix.set("left", MixerSlot(red, size: [8, 16]))
        try mix.set("right", MixerSlot(blue, position: [24, 4], size: [8, 8], z: 1))
        #expect(mix.slotNames == ["left", "right"] && mix["right"]?.z == 1)
        /// The row through the middle, a letter a pixel.
        let rows = Monitor<[String]>([])
        let raw = graph.rawDataOutput("raw", format: .rgba) { frame in
            let row = frame.row(8)
            let letters = (0..<32).map { x -> Character in
                switch (row[4 * x], row[4 * x + 1], row[4 * x + 2]) {
                case (255, 0, 0): "r"
                case (0, 255, 0): "g"
                case (0, 0, 255): "b"
                default: "?"
                }
            }
            rows.notify { if $0.last != String(letters) { $0.append(String(letters)) } }
        }
        mix.node --> raw
        try graph.start()
        defer { graph.stop() }
        func waits(for row: String) -> Bool {
            rows.wait(until: monotonicNanoseconds() + 20_000_000_000) { $0.last == row ? true : nil } ?? false
        }
        func row(_ parts: (Character, Int)...) -> String { parts.map { String(repeating: $0.0, count: $0.1) }.joined() }
        #expect(waits(for: row(("r", 8), ("g", 16), ("b", 8))), "\(rows.withLock { $0 })")
        try mix.transition("right", seconds: 0.3) { $0.position = [8, 4] }
        #expect(waits(for: row(("r", 8), ("b", 8), ("g", 16))), "\(rows.withLock { $0 })")
        // It went there by way of places in between.
        #expect(rows.withLock { $0.count } > 3)
        try mix.layout(.sideBySide, slots: ["right", "left"])
        #expect(waits(for: row(("b", 16), ("r", 16))), "\(rows.withLock { $0 })")
        try mix.change("left") {
            $0.source = blue; $0.isVisible = false
        }
        #expect(waits(for: row(("b", 16), ("g", 16))), "\(rows.withLock { $0 })")
        try mix.remove("right")
        try mix.change("left") { $0.isVisible = true }
        #expect(waits(for: row(("g", 16), ("b", 16))), "\(rows.withLock { $0 })")

        func message(_ body: () throws -> Void) -> String {
            do { try body() } catch { return "\(error)" }
            return "no error"
        }
        #expect(
            message { try mix.change("lefd") { $0.z = 1 } }
                == "node 'mix': there is no slot 'lefd'; did you mean 'left'?")
        #expect(
            message { try mix.change("left") { $0.transparency = 2 } }.contains(
                "transparency of slot 'left' is 2.0; it goes"))
        #expect(
            message {
                try mix.set(
                    "top",
                    {
                        var s = MixerSlot(red); s.blend = "multipli"; return s
                    }())
            }.contains("multiply"))
        #expect(mix.slotNames == ["left"])
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
