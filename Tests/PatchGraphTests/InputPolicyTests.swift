import PatchGraph
import PatchMedia
import Synchronization
import Testing

/// What inputs show while they deliver nothing.
@Suite struct InputPolicyTests {
    /// Pushes frames of one red, 50 a second, until it is told to pause or to end.
    private final class Sender: Sendable {
        let source: PushSource
        private let flags = Monitor((isPaused: false, isOver: false))

        init(red: UInt8) throws {
            let source = PushSource(small, rate: FrameRate(50), isLive: true)
            self.source = source
            let flags = flags
            _ = try PosixThread(name: "sender") {
                var number: Int64 = 0
                let begin = monotonicNanoseconds()
                while true {
                    let due = begin + number * 20_000_000
                    let isOver: Bool? = flags.wait(until: due) { $0.isOver ? true : nil }
                    if isOver == true { return }
                    if !flags.withLock({ $0.isPaused }) {
                        source.push(pts: FrameRate(50).time(ofFrame: number)) { fill($0, (red, 10, 20, 255)) }
                    }
                    number += 1
                }
            }
        }
        deinit { flags.notify { $0.isOver = true } }
        func pause(_ isPaused: Bool) { flags.notify { $0.isPaused = isPaused } }
    }

    private final class Told: Sendable {
        let words = Mutex<[String]>([])
        func add(_ event: EngineEvent) {
            guard case .node(let id, let event, _) = event else { return }
            switch event {
            case .lost: words.withLock { $0.append("\(id) lost") }
            case .back: words.withLock { $0.append("\(id) back") }
            case .problem(let error): words.withLock { $0.append("\(error)") }
            default: break
            }
        }
    }

    private func wait(_ sink: CollectingSink, after count: Int = 0, for red: UInt8) -> Bool {
        sink.seen.wait(until: monotonicNanoseconds() + 10_000_000_000) { seen in
            seen.count > count && seen[count...].contains { $0.first[0] == red } ? true : nil
        } ?? false
    }

    /// Four inputs under four policies break off together and come back: each sink shows what its policy says, no tick is
    /// missing, and the events come once.
    @Test func eachPolicyShowsWhatItSays() throws {
        let names = ["held", "frozen", "dropped", "branched"]
        let senders = try names.indices.map { try Sender(red: UInt8(100 + $0)) }
        let sinks = names.map { _ in CollectingSink(small) }
        let base = CountingSource(small) { frame, _ in fill(frame, (200, 0, 0, 255)) }
        let spare = CountingSource(small) { frame, _ in fill(frame, (220, 0, 0, 255)) }
        let registry = NodeRegistry(
            [PushSource.kind(Dictionary(uniqueKeysWithValues: zip(names, senders.map(\.source))))])
        registry.register(
            [("base", base), ("spare", spare)].map { name, source in
                NodeKind(NodeSchema(kind: name, role: .source, summary: ""), .source { _, _ in source })
            }
                + zip(names, sinks).map { name, sink in
                    NodeKind(NodeSchema(kind: "see \(name)", role: .sink, summary: ""), .sink { _, _ in sink })
                })
        var patch = Patch()
        patch.settings.rate = FrameRate(50)
        let policies: [[String: OptionValue]] = [
            ["policy": .string("hold")],
            ["policy": .string("freeze"), "slate": .vector([240 / 255, 0, 0, 1])],
            ["policy": .string("drop")],
            ["policy": .string("branch"), "branch": .string("spare")],
        ]
        for (name, policy) in zip(names, policies) {
            patch.add(name, "push", options: policy.merging(["freeze": .number(0.3)]) { $1 })
        }
        patch.add("base", "base")
        patch.add("spare", "spare")
        patch.add("over", overFilter())
        for name in names { patch.add("see \(name)", "see \(name)") }
        patch.wire("held", "see held")
        patch.wire("frozen", "see frozen")
        patch.wire("base", "over", "see dropped")
        patch.wires.append(Wire(from: "dropped", to: "over", port: 1))
        patch.wire("branched", "see branched")

        let told = Told()
        var configuration = EngineConfiguration()
        configuration.workers = 1
        configuration.onEvent = { told.add($0) }
        let engine = try Engine(configuration, registry: registry)
        try engine.load(patch)
        try engine.start()
        let own: [UInt8] = [100, 101, 102, 103]
        let standIn: [UInt8] = [100, 240, 200, 220]
        for (sink, red) in zip(sinks, own) { #expect(wait(sink, for: red)) }
        for sender in senders { sender.pause(true) }
        let before = sinks.map(\.all.count)
        for (index, sink) in sinks.enumerated() { #expect(wait(sink, after: before[index], for: standIn[index])) }
        // The policies hold for as long as nothing comes; a while after the last one took effect is enough to see that.
        pause(300_000_000)
        for (index, sink) in sinks.enumerated() { #expect(sink.all.last?.first[0] == standIn[index]) }
        let states = engine.statistics.nodes.filter { $0.kind == "push" }
        #expect(states.count == 4)
        for name in names {
            let source = try #require(states.first { $0.id == name }?.source)
            #expect(source.standIn?.rawValue == [nil, "freeze", "drop", "branch"][names.firstIndex(of: name) ?? 0])
        }
        for sender in senders { sender.pause(false) }
        let during = sinks.map(\.all.count)
        for (index, sink) in sinks.enumerated() { #expect(wait(sink, after: during[index], for: own[index])) }
        pause(200_000_000)
        let live = engine.statistics.nodes.filter { $0.kind == "push" }
        for node in live {
            #expect(node.source?.state == .live && node.source?.standIn == nil, "\(node)")
            let latency = try #require(node.source?.latency)
            #expect(latency >= 0 && latency < 500, "\(node)")
        }
        engine.stop()
        // A sender ends with its last use.
        withExtendedLifetime(senders) {}
        for (index, sink) in sinks.enumerated() {
            let seen = sink.all
            #expect(seen.map(\.tick) == Array(seen[0].tick..<seen[0].tick + Int64(seen.count)))
            #expect(sink.opens.load(ordering: .relaxed) == 1)
            // The last picture stays for the 0.3 s, less what a busy machine lost before.
            if index > 0 {
                let frozen = seen[before[index]...].prefix { $0.first[0] != standIn[index] }.count
                #expect(frozen >= 10, "\(names[index]): \(frozen) ticks of the last picture")
            }
        }
        let words = told.words.withLock { $0 }
        for name in names {
            #expect(words.filter { $0.hasPrefix(name) } == ["\(name) lost", "\(name) back"], "\(words)")
        }
        #expect(words.count == 8, "\(words)")
    }

    @Test func aStandInMustNotNeedItsInput() throws {
        let sink = CollectingSink(small)
        let sender = try Sender(red: 1)
        let nodes = registry(sinks: ["view": sink])
        nodes.register([PushSource.kind(["cam": sender.source])])
        func load(_ policy: [String: OptionValue]) throws {
            var patch = Patch()
            patch.add("cam", "push", options: policy, line: 7)
            patch.add("look", try scaleFilter())
            patch.add("out", "view")
            patch.wire("cam", "look", "out")
            let engine = try Engine(EngineConfiguration(), registry: nodes)
            try engine.load(patch)
            engine.stop()
        }
        let itself = #expect(throws: PatchError.self) {
            try load(["policy": .string("branch"), "branch": .string("look")])
        }
        #expect(
            itself?.message.contains("shows 'cam' itself") == true && itself?.location?.line == 7, "\(itself as Any)")
        let missing = #expect(throws: PatchError.self) {
            try load(["policy": .string("freeze"), "slate": .string("nowhere")])
        }
        #expect(missing?.message.contains("no node") == true)
        let none = #expect(throws: PatchError.self) { try load(["policy": .string("branch")]) }
        #expect(none?.remedy.contains("branch = node") == true)
    }
}
