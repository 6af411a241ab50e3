import PatchGraph
import PatchKernel
import PatchMedia
import Synchronization
import Testing

/// An engine that runs offline or live over given nodes.
func makeEngine(
    _ registry: NodeRegistry, live: Bool = false, frames: Int64? = nil, workers: Int = 2,
    onEvent: @escaping @Sendable (EngineEvent) -> Void = { _ in }
) throws -> Engine {
    var configuration = EngineConfiguration()
    configuration.clock = live ? .live : .offline
    configuration.workers = workers
    configuration.duration = frames.map { FrameRate(30).time(ofFrame: $0) }
    configuration.onEvent = onEvent
    return try Engine(configuration, registry: registry)
}

@Suite struct EngineTests {
    @Test func offlineRunShowsEveryFrameOnceInOrder() throws {
        let (source, sink) = (counter(frames: 100), CollectingSink(small))
        let engine = try makeEngine(registry(sources: ["count": source], sinks: ["view": sink]))
        var patch = Patch()
        patch.add("in", "count")
        patch.add("half", try scaleFilter(), ["scale": .constant([0.5])])
        patch.add("out", "view")
        patch.wire("in", "half", "out")
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
        engine.stop()
        let seen = sink.all
        #expect(seen.map(\.tick) == Array(0..<100))
        #expect(seen.map(\.sequence) == Array(0..<100))
        for (index, frame) in seen.enumerated() {
            // Half of each code, to the nearest.
            #expect(abs(Int(frame.first[0]) * 2 - index) <= 1)
            #expect(frame.first[1] == 50 && frame.last[2] == 25 && frame.last[3] == 255)
        }
        #expect(sink.finishes.load(ordering: .relaxed) == 1)
        #expect(source.stops.load(ordering: .relaxed) == 1)
    }

    @Test func coresThatAreNotThereAreNamed() throws {
        var configuration = EngineConfiguration()
        configuration.affinity = [1023]
        let error = #expect(throws: PatchError.self) { _ = try Engine(configuration, registry: registry()) }
        #expect(error?.message == "this process has no core 1023")
        let first = try #require(Affinity.cores.first)
        #expect(error?.remedy.contains("\(first)") == true)
        configuration.affinity = [first, first]
        #expect(throws: PatchError.self) { _ = try Engine(configuration, registry: registry()) }
    }

    /// The kernel's own word on where the clock thread may run.
    @Test func renderThreadsStayOnTheirCores() throws {
        let core = try #require(Affinity.cores.last)
        var configuration = EngineConfiguration()
        configuration.affinity = [core]
        configuration.clock = .offline
        let seen = Monitor<[Int]>([])
        configuration.beforeTick = { _ in
            let now = Affinity.cores
            seen.notify { $0 = now }
        }
        let engine = try Engine(
            configuration,
            registry: registry(sources: ["count": counter(frames: 2)], sinks: ["view": CollectingSink(small)]))
        var patch = Patch()
        patch.add("in", "count")
        patch.add("out", "view")
        patch.wire("in", "out")
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
        engine.stop()
        #expect(seen.withLock { $0 } == [core])
    }

    @Test func theResultDoesNotDependOnTheNumberOfThreads() throws {
        let large = VideoFormat(.rgba, width: 640, height: 361)
        func render(_ workers: Int) throws -> [UInt8] {
            let source = CountingSource(large, frames: 3) { frame, index in
                for y in 0..<frame.height {
                    let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
                    for x in 0..<frame.width * 4 { row[x] = UInt8(truncatingIfNeeded: x * 7 + y * 13 + Int(index)) }
                }
            }
            let sink = CollectingSink(large)
            let engine = try makeEngine(
                registry(sources: ["count": source], sinks: ["view": sink]), workers: workers)
            var patch = Patch()
            patch.add("in", "count")
            patch.add("s", try smearFilter())
            patch.add("a", try scaleFilter(), ["scale": .constant([0.7])])
            patch.add("out", "view")
            patch.wire("in", "s", "a", "out")
            try engine.load(patch)
            try engine.start()
            _ = engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000)
            engine.stop()
            let frame = try #require(sink.lastFrame.withLock { $0 })
            return (0..<frame.height).flatMap { y in
                Array(UnsafeRawBufferPointer(start: frame.plane(0).row(y), count: frame.width * 4))
            }
        }
        let one = try render(1)
        #expect(try render(2) == one)
        #expect(try render(4) == one)
    }

    @Test func aSlowSinkDelaysNobodyAndItsDropsAreCounted() throws {
        let (fast, slow) = (CollectingSink(small), CollectingSink(small, queue: .dropOldest(depth: 2)))
        slow.delay.store(200_000_000, ordering: .relaxed)
        let engine = try makeEngine(
            registry(sources: ["count": counter()], sinks: ["fast": fast, "slow": slow]), live: true, frames: 30)
        var patch = Patch()
        patch.settings.rate = FrameRate(30)
        patch.add("in", "count")
        patch.add("fast", "fast")
        patch.add("slow", "slow")
        patch.wire("in", "fast")
        patch.wire("in", "slow")
        try engine.load(patch)
        try engine.start()
        #expect(fast.waitFor(30))
        let drops = engine.statistics.nodes.first { $0.id == "slow" }?.drops ?? 0
        engine.stop()
        #expect(fast.all.map(\.tick) == Array(0..<30))
        #expect(drops > 15)
        #expect(slow.all.map(\.tick) == slow.all.map(\.tick).sorted())
        // Sequence numbers count what was offered, so that the gap shows.
        #expect(slow.all.last.map { $0.sequence == $0.tick } == true)
    }

    @Test func aSinkThatFailsOnAirIsReportedOnceAndTheRestGoesOn() throws {
        let (good, bad) = (CollectingSink(small), CollectingSink(small))
        bad.failsAt.store(5, ordering: .relaxed)
        let problems = Mutex<[String]>([])
        let engine = try makeEngine(
            registry(sources: ["count": counter()], sinks: ["good": good, "bad": bad]), live: true, frames: 10
        ) { event in
            if case .node(_, .problem(let error), _) = event { problems.withLock { $0.append("\(error)") } }
        }
        var patch = Patch()
        patch.settings.rate = FrameRate(60)
        patch.add("in", "count")
        patch.add("good", "good")
        patch.add("bad", "bad", line: 12)
        patch.wire("in", "good")
        patch.wire("in", "bad")
        try engine.load(patch)
        try engine.start()
        #expect(good.waitFor(20))
        engine.stop()
        #expect(good.all.map(\.tick) == Array(0..<20))
        #expect(bad.all.count == 5)
        #expect(bad.finishes.load(ordering: .relaxed) == 1)
        #expect(problems.withLock { $0 } == ["test.lua:12: node 'bad': disk full"])
    }

    @Test func aPortraitMirroredSourceTurnsEveryPixel() throws {
        let stored = VideoFormat(
            .rgba, width: 640, height: 480, orientation: Orientation(quarterTurns: 1).then(.mirror))
        let source = CountingSource(stored, frames: 1) { frame, _ in
            for y in 0..<frame.height {
                let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
                for x in 0..<frame.width {
                    row[x * 4] = UInt8(truncatingIfNeeded: x)
                    row[x * 4 + 1] = UInt8(truncatingIfNeeded: y)
                    row[x * 4 + 2] = UInt8((x >> 8) << 4 | y >> 8)
                    row[x * 4 + 3] = 255
                }
            }
        }
        let sink = CollectingSink(VideoFormat(.bgra, width: 480, height: 640))
        let engine = try makeEngine(registry(sources: ["cam": source], sinks: ["raw": sink]))
        var patch = Patch()
        patch.add("cam", "cam")
        patch.add("raw", "raw")
        patch.wire("cam", "raw")
        try engine.load(patch)
        try engine.start()
        _ = engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000)
        engine.stop()
        let frame = try #require(sink.lastFrame.withLock { $0 })
        #expect(frame.width == 480 && frame.height == 640)
        // Turned clockwise, stored (x, y) stands at column 479 − y of row x; mirrored, at column y.
        var wrong = 0
        for row in 0..<640 {
            let bytes = frame.plane(0).row(row).assumingMemoryBound(to: UInt8.self)
            for column in 0..<480 {
                let (x, y) = (row, column)
                let expected = [
                    UInt8((x >> 8) << 4 | y >> 8), UInt8(truncatingIfNeeded: y), UInt8(truncatingIfNeeded: x), 255,
                ]
                if (0..<4).map({ bytes[column * 4 + $0] }) != expected { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test func aProcessorWorksInPlaceAndMayDropFrames() throws {
        final class Inverter: VideoProcessor {
            var pixelFormat: PixelFormat? { .rgba }
            func process(_ frame: Frame, at time: MediaTime) -> Frame? {
                if FrameRate(30).frame(at: time) % 3 == 2 { return nil }
                for y in 0..<frame.height {
                    let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
                    for x in 0..<frame.width { row[x * 4] = 255 - row[x * 4] }
                }
                return frame
            }
        }
        let (source, sink) = (counter(frames: 9), CollectingSink(small))
        let nodes = registry(sources: ["count": source], sinks: ["view": sink])
        nodes.register([
            NodeKind(
                NodeSchema(kind: "inverter", role: .filter, summary: ""), .processor { _, _ in Inverter() })
        ])
        let engine = try makeEngine(nodes)
        var patch = Patch()
        patch.add("in", "count")
        patch.add("inv", "inverter")
        patch.add("out", "view")
        patch.wire("in", "inv", "out")
        try engine.load(patch)
        try engine.start()
        _ = engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000)
        engine.stop()
        #expect(sink.all.map(\.tick) == [0, 1, 3, 4, 6, 7])
        #expect(sink.all.map { $0.first[0] } == [255, 254, 252, 251, 249, 248])
    }
}
