import Glibc
import PatchGraph
import PatchMedia
import Synchronization
import Testing

@Suite(.serialized) struct ReloadTests {
    private func patch(scale: Float, filters: Int = 1) throws -> Patch {
        var patch = Patch()
        patch.settings.rate = FrameRate(60)
        patch.add("in", "flat")
        var chain: [NodeID] = ["in"]
        for index in 0..<filters {
            patch.add("f\(index)", try scaleFilter(), ["scale": .constant([index == 0 ? scale : 1])])
            chain.append("f\(index)")
        }
        patch.add("out", "view")
        for (from, to) in zip(chain + ["out"], chain.dropFirst() + ["out"]) where from != to {
            patch.wires.append(Wire(from: from, to: to))
        }
        return patch
    }

    private func flat(_ width: Int = 64, _ height: Int = 48) -> CountingSource {
        CountingSource(VideoFormat(.rgba, width: width, height: height)) { frame, _ in
            fill(frame, (200, 100, 50, 255))
        }
    }

    /// 200 reloads, good and bad in turn: no tick is missing, each frame is wholly one look, bad ones change nothing.
    @Test func reloadsSwapAtAFrameBoundary() throws {
        let source = flat()
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(registry(sources: ["flat": source], sinks: ["view": sink]), live: true)
        try engine.load(try patch(scale: 1))
        try engine.start()
        #expect(sink.waitFor(3))
        var good = 0
        for round in 0..<200 {
            if round % 2 == 0 {
                // The number of filters changes too, so that every plan is another one.
                try engine.load(try patch(scale: round % 4 == 0 ? 0.5 : 1, filters: 1 + round % 3))
                good += 1
            } else {
                var bad = try patch(scale: 0)
                bad.wires.append(Wire(from: "out", to: "f0"))
                #expect(throws: PatchError.self) { try engine.load(bad) }
            }
        }
        let count = sink.all.count
        #expect(sink.waitFor(count + 5))
        engine.stop()
        let seen = sink.all
        #expect(seen.map(\.tick) == Array(0..<Int64(seen.count)))
        let looks: Set<[UInt8]> = [[200, 100, 50, 255], [100, 50, 25, 255]]
        for frame in seen {
            #expect(frame.first == frame.last)
            #expect(looks.contains(frame.first), "\(frame)")
        }
        #expect(Set(seen.map(\.first)) == looks)
        #expect(source.opens.load(ordering: .relaxed) == 1 && source.stops.load(ordering: .relaxed) == 1)
        #expect(sink.opens.load(ordering: .relaxed) == 1 && sink.finishes.load(ordering: .relaxed) == 1)
    }

    /// The demo's switch, a thousand times: nothing grows.
    @Test func aThousandRewiresLeaveNothingBehind() throws {
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(registry(sources: ["flat": flat()], sinks: ["view": sink]), live: true)
        let on = try patch(scale: 0.5, filters: 4)
        var off = Patch()
        off.settings.rate = FrameRate(60)
        off.add("in", "flat")
        off.add("out", "view")
        off.wire("in", "out")
        try engine.load(off)
        try engine.start()
        let before = engine.census
        var memory: [Int] = []
        for round in 0..<1000 {
            try engine.load(round % 2 == 0 ? on : off)
            if round % 50 == 49 { memory.append(residentBytes()) }
        }
        let after = engine.census
        engine.stop()
        #expect(after.instances == before.instances)
        #expect(after.parameters == before.parameters)
        #expect(after.pools == before.pools)
        // The sink keeps a record of each frame, some tens of bytes; a leaked plan would be megabytes over 500 rounds.
        let growth = memory[memory.count - 1] - memory[memory.count / 2]
        #expect(growth < 4 << 20, "grew by \(growth) bytes: \(memory)")
    }

    /// A number that was set after a handler's edit stays when a source changes its format and the graph is planned anew.
    @Test func aNumberSetOnAirStaysWhenASourceChangesItsFormat() throws {
        let source = ShrinkingSource()
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(registry(sources: ["flat": source], sinks: ["view": sink]), live: true)
        try engine.load(try patch(scale: 1))
        try engine.start()
        #expect(sink.waitFor(2))
        // The edit knows 0.25; what is set afterwards, the engine alone.
        try engine.load(try patch(scale: 0.25, filters: 2), isReload: false)
        #expect(engine.setParameter(node: "f0", name: "scale", .constant([0.5])))
        #expect(engine.setParameter(node: "f1", name: "offset", .constant([0.2])))
        let generation = engine.statistics.generation
        source.isSmall.store(true, ordering: .relaxed)
        let deadline = monotonicNanoseconds() + 20_000_000_000
        while engine.statistics.generation == generation, monotonicNanoseconds() < deadline { pause(2_000_000) }
        #expect(engine.statistics.generation == generation + 1)
        let count = sink.all.count
        #expect(sink.waitFor(count + 3))
        engine.stop()
        // 0.5 · 200 + 0.2 · 255 and so on.
        #expect(sink.all.last?.first == [151, 101, 76, 255], "\(sink.all.suffix(3))")
    }

    @Test func operatorsSettingsAndRampsSurviveAReload() throws {
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(registry(sources: ["flat": flat()], sinks: ["view": sink]), live: true)
        func patch(filters: Int) throws -> Patch {
            var patch = try self.patch(scale: 1, filters: filters)
            patch.controls = [Control("level", .number(range: 0...2, step: nil, unit: ""), default: .number(1))]
            patch.nodes[1].parameters["scale"] = .control("level")
            return patch
        }
        try engine.load(try patch(filters: 1))
        try engine.start()
        #expect(sink.waitFor(2))
        try engine.setControl("level", .number(0.25))
        #expect(throws: PatchError.self) { try engine.setControl("level", .number(3)) }
        #expect(throws: PatchError.self) { try engine.setControl("levle", .number(1)) }
        try engine.load(try patch(filters: 2))
        let count = sink.all.count
        #expect(sink.waitFor(count + 3))
        engine.stop()
        #expect(sink.all.last?.first == [50, 25, 13, 255] || sink.all.last?.first == [50, 25, 12, 255])
        #expect(engine.controlValue("level") == .number(0.25))
    }

    /// What a handler set stays across a reload that says the same as before, and across its own edits.
    @Test func assignedValuesStayUntilTheFileSaysOtherwise() throws {
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(registry(sources: ["flat": flat()], sinks: ["view": sink]), live: true)
        func lastRed(after load: () throws -> Void) throws -> UInt8? {
            try load()
            let count = sink.all.count
            #expect(sink.waitFor(count + 3))
            return sink.all.last?.first[0]
        }
        try engine.load(try patch(scale: 1))
        try engine.start()
        #expect(try lastRed { engine.setParameter(node: "f0", name: "scale", .constant([0.5])) } == 100)
        // The file is saved with another filter behind: the value stays.
        #expect(try lastRed { try engine.load(try patch(scale: 1, filters: 2)) } == 100)
        // A handler rewires; its patch has the present value.
        #expect(try lastRed { try engine.load(try patch(scale: 0.5), isReload: false) } == 100)
        // The file says something else.
        #expect(try lastRed { try engine.load(try patch(scale: 0.25)) } == 50)
        engine.stop()
    }

    @Test func aCrossfadePassesThroughTheMiddle() throws {
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(registry(sources: ["flat": flat()], sinks: ["view": sink]), live: true)
        try engine.load(try patch(scale: 1))
        try engine.start()
        #expect(sink.waitFor(2))
        var next = try patch(scale: 0, filters: 2)
        next.settings.crossfade = 0.2
        try engine.load(next)
        #expect(
            sink.seen.wait(until: monotonicNanoseconds() + 20_000_000_000) { $0.last?.first[0] == 0 ? true : nil }
                == true)
        engine.stop()
        let reds = sink.all.map { $0.first[0] }
        // 12 steps of 1/13 each between full and black, in order; on a busy machine a tick may repeat a step.
        #expect(reds == reds.sorted(by: >))
        let between = Set(reds).filter { $0 > 0 && $0 < 200 }.sorted(by: >)
        #expect(between.count == 12, "\(reds)")
        for (step, red) in between.enumerated() {
            #expect(abs(Double(red) - 200 * (1 - Double(step + 1) / 13)) <= 1)
        }
        #expect(sink.all.map(\.tick) == Array(0..<Int64(sink.all.count)))
    }

    @Test func aNewSinkThatCannotOpenChangesNothing() throws {
        final class Closed: MediaSink {
            func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
                SinkRequest(video: offered)
            }
            func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {
                throw PatchError(.output, "cannot write x.mp4", remedy: "choose another path")
            }
            func consume(_ delivery: Delivery) throws {}
            func finish() {}
        }
        let sink = CollectingSink(VideoFormat(.rgba, width: 64, height: 48))
        let engine = try makeEngine(
            registry(sources: ["flat": flat()], sinks: ["view": sink, "closed": Closed()]), live: true)
        try engine.load(try patch(scale: 1))
        try engine.start()
        var worse = try patch(scale: 0.5)
        worse.add("rec", "closed", line: 8)
        worse.wire("f0", "rec")
        do {
            try engine.load(worse)
            Issue.record("the load succeeded")
        } catch {
            #expect("\(error)" == "test.lua:8: node 'rec': cannot write x.mp4; choose another path")
        }
        let count = sink.all.count
        #expect(sink.waitFor(count + 5))
        engine.stop()
        #expect(sink.all.allSatisfy { $0.first == [200, 100, 50, 255] })
        #expect(engine.statistics.generation == 0 || engine.statistics.generation == 1)
    }
}

/// Resident memory of this process.
func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    guard fgets(&text, 255, file) != nil else { return 0 }
    let fields = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
        separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
}

/// One colour in 64×48, and in 32×24 once `isSmall`.
private final class ShrinkingSource: MediaSource {
    let isSmall = Atomic(false)
    private let frames = [(64, 48), (32, 24)].map { width, height in
        let frame = Frame(allocating: VideoFormat(.rgba, width: width, height: height))
        fill(frame, (200, 100, 50, 255))
        return frame
    }

    func open() throws -> SourceFormat { SourceFormat(video: frames[0].format, rate: FrameRate(30)) }
    func start() throws {}
    func frame(at tick: Tick) -> SourceReading { .frame(frames[isSmall.load(ordering: .relaxed) ? 1 : 0]) }
    func stop() {}
}
