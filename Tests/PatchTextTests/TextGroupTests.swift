import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import PatchTesting
import PatchText
import Testing

/// The groups of graphs/looks that show text, run offline by engine and script together.
@Suite struct TextGroupTests {
    /// Runs a graph and gives the frames of its `rawDataOutput{ "raw" }`, 320×180 unless it says otherwise.
    private func run(_ script: String, ticks: Int64, rate: FrameRate = FrameRate(10)) throws -> [GrayPicture] {
        let folder = try TemporaryDirectory()
        try Program.run("cp", ["-r", Fixtures.package("graphs/looks"), folder.path + "/looks"])
        let path = try folder.write("graph.lua", script)
        let frames = Monitor<[GrayPicture]>([])
        let handlers = RawDataHandlers()
        handlers.onFrame(of: "raw") { raw in
            let picture = GrayPicture(raw.frame, channel: 1)
            frames.notify { $0.append(picture) }
        }
        let registry = NodeRegistry(
            TextSource.kinds + PatternSources.kinds + [RawDataOutput.kind(handlers: handlers)])
        var options = ScriptOptions()
        options.usesGraphTime = true
        options.onError = { Issue.record($0) }
        let host = ScriptHost(path: path, registry: registry, options: options)
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.duration = rate.time(ofFrame: ticks)
        configuration.beforeTick = { host.handleFrame(tick: $0.index, time: $0.time.seconds, limit: 30) }
        configuration.onEvent = { event in
            if case .node(_, .problem(let error), _) = event { Issue.record(error) }
        }
        let engine = try Engine(configuration, registry: registry)
        var patch = try host.load()
        patch.settings.rate = rate
        try engine.load(patch)
        host.attach(EngineHost(engine))
        try engine.start()
        _ = engine.waitUntilFinished()
        engine.stop()
        host.stop()
        return frames.withLock { $0 }
    }

    private static let canvas = """
        local base = color{ "base", rgba = "#000000", size = "320x180" }
        local raw = rawDataOutput{ "raw", format = "bgra" }

        """

    @Test func theClockShowsEachSecondOnce() throws {
        let frames = try run(
            Self.canvas + "base >> require 'looks.clock' { 'clock', from = '23:59:58', size = 30 } >> raw", ticks: 40)
        try #require(frames.count == 40)
        // 23:59:58, 23:59:59, 00:00:00, 00:00:01: four pictures, changing at ticks 10, 20 and 30.
        let changes = (1..<40).filter { frames[$0].values != frames[$0 - 1].values }
        #expect(changes == [10, 20, 30])
        #expect(Set(frames.map(\.values)).count == 4)
        // In the upper right corner, and nowhere else.
        let bounds = try #require(frames[0].bounds(above: 40))
        #expect(bounds.left > 100 && bounds.top < 30 && bounds.bottom < 80)
    }

    @Test func theTimerCountsDownAndSaysWhenItIsOver() throws {
        let frames = try run(
            Self.canvas + """
                local over = color{ "over", rgba = "#ffffff", size = "320x180" }
                local timer
                timer = require 'looks.timer' { 'timer', seconds = 2, size = 60, onDone = function()
                  timer:removeAllTargets()
                  over >> raw
                end }
                base >> timer >> raw
                """,
            ticks: 25)
        try #require(frames.count == 25)
        let changes = (1..<25).filter { frames[$0].values != frames[$0 - 1].values }
        #expect(changes == [10, 20], "0:02 until 1 s are over, 0:01 until 2 s are")
        #expect(frames[20].values.allSatisfy { $0 == 255 })
    }

    @Test func theTickerMovesByItsSpeedAndComesRound() throws {
        // 40 px/s at 10 ticks/s: 4 px a tick. The letters are white on a dark band.
        let frames = try run(
            Self.canvas + """
                base >> require 'looks.ticker' {
                  'news', string = 'I', speed = 40, size = 20, accent = '#000000', gap = 400
                } >> raw
                """, ticks: 120)
        try #require(frames.count == 120)
        // One letter in 400 px of tape: it moves 4 px to the left each tick, leaves, and comes in again at the right.
        let places = frames.map { $0.bounds(above: 150).map { $0.left } }
        // Where it goes out at the left, or in at the right, a part of it is seen.
        let pairs = zip(places, places.dropFirst()).compactMap { a, b -> Int? in
            guard let a, let b, b > 30, a < 310 else { return nil }
            return a - b
        }
        #expect(pairs.count > 60 && pairs.allSatisfy { $0 == 4 }, "\(pairs)")
        #expect(places.contains { $0 == nil } && places.contains { $0.map { $0 > 300 } ?? false })
    }

    @Test func theLowerThirdSlidesInAndTakesNewWords() throws {
        let frames = try run(
            Self.canvas + """
                local third = require 'looks.lowerThird' { 'third', title = 'Ada', subtitle = 'Engine', size = 24 }
                base >> third >> raw
                third:ramp("progress", 1, 1, "linear")
                after(2, function() third.title = "Grace Hopper" end)
                """, ticks: 25)
        try #require(frames.count == 25)
        #expect(frames[0].sum == 0, "nothing at progress 0")
        let shown = try #require(frames[15].bounds(above: 150))
        #expect(shown.left >= 16 && shown.top > 90 && shown.bottom < 170)
        #expect(frames[15].values == frames[19].values)
        // The longer name makes a wider plate at once.
        let later = try #require(frames[21].bounds(above: 150))
        #expect(later.right > shown.right + 60 && later.left == shown.left)
    }

    private final class EngineHost: GraphHost {
        let engine: Engine
        init(_ engine: Engine) { self.engine = engine }
        func apply(_ patch: Patch, reload: Bool) throws { try engine.load(patch, isReload: reload) }
        func setParameter(node: NodeID, name: String, value: ParameterValue) {
            engine.setParameter(node: node, name: name, value)
        }
        func setOption(node: NodeID, name: String, value: OptionValue?) {
            do { try engine.setOption(node: node, name: name, value) } catch { Issue.record(error) }
        }
        func options(of node: NodeID) -> NodeOptions? { engine.options(of: node) }
        func controlValue(_ name: String) -> ControlValue? { engine.controlValue(name) }
        func setControl(_ name: String, _ value: ControlValue) { try? engine.setControl(name, value) }
        func parameterFloats(node: NodeID, name: String) -> [Float]? {
            engine.parameterFloats(node: node, name: name)
        }
    }
}
