import Glibc
import PatchGraph
import PatchMedia
import Synchronization
import Testing

/// A guest that does what a test wants.
private final class TestGuest: GuestWorker {
    private let body: @Sendable (Int64, [Float]) throws -> Frame?
    private let cancelled = Atomic(false)
    let told = Mutex<[String]>([])

    init(_ body: @escaping @Sendable (Int64, [Float]) throws -> Frame?) { self.body = body }
    func process(_ inputs: [Frame], parameters: [Float], at tick: Tick) throws -> Frame? {
        try body(tick.index, parameters)
    }
    func tell(_ target: String, _ name: String, _ argument: String) throws {
        told.withLock { $0.append("\(target).\(name)=\(argument)") }
    }
    func cancel() { cancelled.store(true, ordering: .relaxed) }
    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
}

/// Guests run beside the clock.
@Suite struct GuestRunTests {
    private static let format = VideoFormat(.gray8, width: 4, height: 2)

    private static func picture(_ value: UInt8) -> Frame {
        let frame = Frame(allocating: format)
        for y in 0..<2 {
            for x in 0..<4 { frame.plane(0).row(y).storeBytes(of: value, toByteOffset: x, as: UInt8.self) }
        }
        return frame
    }
    private static func value(_ frame: Frame?) -> UInt8? {
        frame?.plane(0).row(1).load(fromByteOffset: 2, as: UInt8.self)
    }

    private final class Problems: Sendable {
        let list = Mutex<[PatchError]>([])
        func add(_ event: NodeEvent) { if case .problem(let error) = event { list.withLock { $0.append(error) } } }
        var messages: [String] { list.withLock { $0.map(\.message) } }
    }

    private func start(
        _ guest: TestGuest, output: VideoFormat = GuestRunTests.format, parameters: Int = 1,
        limits: GuestLimits = GuestLimits(),
        _ problems: Problems
    ) throws -> GuestRun {
        let run = GuestRun(
            guest, what: "test", inputs: [Self.format], output: output, parameterCount: parameters, limits: limits
        ) { problems.add($0) }
        try run.activate()
        return run
    }

    private func tick(
        _ run: GuestRun, _ index: Int64, _ input: Frame?, offline: Bool = false, parameter: Float = 0
    ) -> Frame? {
        let inputs = [input]
        return inputs.withUnsafeBufferPointer {
            run.frame(
                $0, parameters: [parameter],
                at: Tick(index: index, rate: FrameRate(50), hostTime: monotonicNanoseconds(), isOffline: offline))
        }
    }

    @Test func offlineEveryTickGetsItsOwnResult() throws {
        let problems = Problems()
        let run = try start(TestGuest { index, floats in Self.picture(UInt8(index) + UInt8(floats[0])) }, problems)
        for index in 0..<20 as Range<Int64> {
            #expect(Self.value(tick(run, index, Self.picture(99), offline: true, parameter: 100)) == UInt8(index) + 100)
        }
        // A crossfade asks twice at a tick and gets the same; a missing input has no result.
        #expect(Self.value(tick(run, 19, Self.picture(1), offline: true)) == 119)
        #expect(tick(run, 20, nil, offline: true) == nil)
        var statistics = NodeStatistics(id: "x", kind: "native")
        run.fill(&statistics)
        #expect(statistics.frames == 20 && statistics.drops == 0 && statistics.state == "running")
    }

    @Test func liveASlowGuestHoldsItsLastPictureAndIsCounted() throws {
        let problems = Problems()
        let run = try start(
            TestGuest { index, _ in
                usleep(60_000)
                return Self.picture(UInt8(index) + 100)
            }, problems)
        var shown: [UInt8] = []
        var longest: Int64 = 0
        for index in 0..<20 as Range<Int64> {
            let begin = monotonicNanoseconds()
            shown.append(Self.value(tick(run, index, Self.picture(UInt8(index)))) ?? 0)
            longest = max(longest, monotonicNanoseconds() - begin)
            usleep(20_000)
        }
        #expect(longest < 20_000_000, "a tick waited for its guest: \(longest / 1000) us")
        // First the input as it is, then results that only grow, held in between.
        #expect(shown[0] == 0)
        let results = shown.filter { $0 >= 100 }
        #expect(results == results.sorted() && Set(results).count >= 3, "\(shown)")
        #expect(Set(results).count < results.count)
        var statistics = NodeStatistics(id: "x", kind: "native")
        run.fill(&statistics)
        #expect(statistics.drops > 3)
        #expect(run.lateTicks > 3)
        #expect(problems.messages.isEmpty)
    }

    @Test func aFailingGuestIsTriedAgainAndThenLeftAlone() throws {
        let problems = Problems()
        let run = try start(
            TestGuest { index, _ in
                if index == 1 || index > 4 { throw PatchError(.media, "no \(index)") }
                return Self.picture(200)
            }, problems)
        var shown: [UInt8?] = []
        for index in 0..<10 as Range<Int64> {
            shown.append(Self.value(tick(run, index, Self.picture(UInt8(index)), offline: true)))
        }
        #expect(shown == [200, 1, 200, 200, 200, 5, 6, 7, 8, 9])
        #expect(problems.messages.prefix(3) == ["no 1", "no 5", "no 6"])
        #expect(problems.messages.count == 4)
        #expect(problems.messages.last?.contains("switched off") == true)
    }

    /// A result of another size cannot be replaced by the input: black shows.
    @Test func withoutAResultOfTheRightSizeItIsBlack() throws {
        let large = VideoFormat(.gray8, width: 8, height: 8)
        let run = try start(TestGuest { _, _ in nil }, output: large, Problems())
        let frame = try #require(tick(run, 0, Self.picture(77), offline: true))
        #expect(frame.format == large)
        #expect(Self.value(frame) == 0)
    }

    @Test func aGuestThatHangsIsReportedOnceAndLetGo() throws {
        let problems = Problems()
        let guest = TestGuest { _, _ in
            usleep(3_000_000)
            return nil
        }
        var limits = GuestLimits()
        limits.silence = 0.2
        var hanging: GuestRun? = try start(guest, limits: limits, problems)
        for index in 0..<30 as Range<Int64> {
            if let hanging { _ = tick(hanging, index, Self.picture(3)) }
            usleep(20_000)
        }
        #expect(problems.messages.count == 1)
        #expect(problems.messages.first?.contains("has not answered") == true)
        let begin = monotonicNanoseconds()
        hanging = nil
        #expect(guest.isCancelled)
        #expect(monotonicNanoseconds() - begin < 4_000_000_000)
    }

    @Test func commandsComeBeforeTheNextPicture() throws {
        let guest = TestGuest { _, _ in Self.picture(1) }
        let run = try start(guest, Problems())
        run.tell("a", "b", "c")
        _ = tick(run, 0, Self.picture(0), offline: true)
        #expect(guest.told.withLock { $0 } == ["a.b=c"])
    }

    // MARK: Replay

    @Test func aReplayShowsAnyMomentThatItRemembers() throws {
        guard case .native(let make) = ReplayNode.kind.factory else {
            Issue.record("replay is no native node")
            return
        }
        let node = try make(NodeOptions(["seconds": .number(0.1)]), NodeEnvironment(nodeID: "memory"))
        let run = try node.prepare(inputs: [Self.format], rate: FrameRate(50))
        #expect(try node.prepare(inputs: [Self.format], rate: FrameRate(50)) === run)
        func at(_ index: Int64, back: Float = 0, frozen: Bool = false) -> UInt8? {
            let inputs: [Frame?] = [Self.picture(UInt8(index))]
            return inputs.withUnsafeBufferPointer {
                Self.value(
                    run.frame(
                        $0, parameters: [back, frozen ? 1 : 0],
                        at: Tick(index: index, rate: FrameRate(50), hostTime: 0, isOffline: true)))
            }
        }
        #expect((0..<8).map { at($0) } == [0, 1, 2, 3, 4, 5, 6, 7])
        // 40 ms are two frames; five frames are remembered, and beyond them the oldest shows.
        #expect(at(8, back: 0.04) == 6)
        #expect(at(9, back: 5) == 5)
        // Frozen at 9: a second later it is still 9, and 60 ms before it 6.
        #expect((10..<20).map { at($0, frozen: true) } == Array(repeating: 9, count: 10))
        #expect(at(20, back: 0.06, frozen: true) == 6)
        #expect(at(21) == 21)
        // Too long for the memory is said before it is taken.
        let large = VideoFormat(.rgba, width: 3840, height: 2160)
        let long = try make(NodeOptions(["seconds": .number(60)]), NodeEnvironment(nodeID: "memory"))
        #expect(throws: PatchError.self) { try long.prepare(inputs: [large], rate: FrameRate(60)) }
    }
}
