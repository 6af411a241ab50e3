import Glibc
import PatchGraph
import PatchKernel
import PatchLua
import PatchMedia
import Synchronization
import Testing

/// Compiling beside a running graph: what it takes, and that no tick is late for it.
@Suite struct CompileOnAirTests {
    private final class Still: MediaSource {
        private let picture = Frame(blank: VideoFormat(.yuv420p, width: 1280, height: 720))
        func open() throws -> SourceFormat { SourceFormat(video: picture.format, rate: FrameRate(30), isLive: true) }
        func start() throws {}
        func stop() {}
        func frame(at tick: Tick) -> SourceReading { .frame(picture) }
    }

    private final class Counter: MediaSink {
        let frames = Atomic<Int64>(0)
        func negotiate(offered: VideoFormat?, hasSound: Bool, rate: FrameRate) throws -> SinkRequest {
            SinkRequest(video: VideoFormat(.yuv420p, width: 1280, height: 720), fill: .stretch)
        }
        func open(video: VideoFormat?, audio: AudioFormat?, rate: FrameRate) throws {}
        func consume(_ delivery: Delivery) throws { frames.add(1, ordering: .relaxed) }
        func finish() {}
    }

    /// Ten of the library's point filters.
    private static let filters = [
        "contrast", "brightness", "saturation", "vignette", "gamma", "exposure", "hue", "levels", "vibrance", "rgb",
    ]

    /// The ten in another order each time, so that the code is new each time.
    private func patch(_ turn: Int) throws -> Patch {
        var patch = Patch()
        patch.nodes.append(PatchNode(id: "in", kind: "still"))
        var previous = "in"
        for index in Self.filters.indices {
            let name = Self.filters[(index * (turn % 2 == 0 ? 1 : 3) + turn) % Self.filters.count]
            patch.nodes.append(
                PatchNode(
                    id: "f\(index)", kind: "filter.\(name)", body: .kernels(try FakeGraph.catalog.filter(name))))
            patch.wires.append(Wire(from: previous, to: "f\(index)"))
            previous = "f\(index)"
        }
        patch.nodes.append(PatchNode(id: "out", kind: "counter"))
        patch.wires.append(Wire(from: previous, to: "out"))
        return patch
    }

    private func engine(_ sink: Counter) throws -> Engine {
        let source = Still()
        return try Engine(
            EngineConfiguration(),
            registry: NodeRegistry([
                NodeKind(NodeSchema(kind: "still", role: .source, summary: ""), .source { _, _ in source }),
                NodeKind(NodeSchema(kind: "counter", role: .sink, summary: ""), .sink { _, _ in sink }),
            ]))
    }

    private static func processNanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Ten filters from nothing, off the frame path. The time that counts is the processor's: other programs' share is not
    /// the compiler's. 40 ms is the aim, which docs/performance.md judges; on a machine whose caches others fill it takes twice as
    /// long, and what is above three times is the compiler's own.
    @Test func tenFiltersCompileInTime() throws {
        let engine = try engine(Counter())
        defer { engine.stop() }
        var times: [Double] = []
        for turn in 0..<10 {
            let start = Self.processNanoseconds()
            try engine.load(try patch(turn))
            times.append(Double(Self.processNanoseconds() - start) / 1e6)
            #expect(engine.plan?.passes.count == 1)
        }
        times.sort()
        print("ten filters planned and compiled: \(times[5]) ms of processor time (median), \(times[0]) at best")
        #expect(times[5] < (getenv("PATCHBAY_SANITIZED") == nil ? 120 : 4000))
    }

    /// Threads of the whole machine that run or want to, this moment.
    private static func runnable() -> Int {
        guard let file = fopen("/proc/loadavg", "r") else { return 0 }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        return words.count > 3 ? words[3].split(separator: "/").first.flatMap { Int($0) } ?? 0 : 0
    }

    /// At 720p and 30 ticks a second, ten cold compiles of ten filters make no tick late. Where other programs want more
    /// processors than there are, nobody can promise that: such a run is said to prove nothing, and tried again.
    @Test func noTickIsLateWhileCompiling() throws {
        func late(compiling: Bool) throws -> (late: Int64, ticks: Int64) {
            let engine = try engine(Counter())
            try engine.load(try patch(100))
            try engine.start()
            defer { engine.stop() }
            // The first ticks touch memory for the first time.
            while engine.statistics.ticks < 10 { usleep(10_000) }
            let before = engine.statistics
            for turn in 0..<10 {
                if compiling { try engine.load(try patch(turn)) } else { usleep(60_000) }
                usleep(40_000)
            }
            let after = engine.statistics
            return (after.late - before.late, after.ticks - before.ticks)
        }
        var record: [String] = []
        var wasQuiet = false
        for _ in 0..<4 {
            // What runs besides this thread, before there is an engine.
            let others = (0..<20).map { _ in
                usleep(5000)
                return Self.runnable() - 1
            }.reduce(0, +)
            let busy = try late(compiling: true)
            record.append(
                "\(busy.late) of \(busy.ticks) ticks late while compiling, \(Double(others) / 20) other threads wanted to run"
            )
            if busy.late == 0 {
                print("compiling on air: \(record)")
                return
            }
            let idle = try late(compiling: false)
            record.append("\(idle.late) of \(idle.ticks) late without compiling")
            if others < 20, idle.late == 0 { wasQuiet = true }
        }
        print("compiling on air: \(record)" + (wasQuiet ? "" : "; the machine was too busy to prove anything"))
        if wasQuiet { Issue.record("\(record)") }
    }
}
