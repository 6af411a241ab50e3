import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Live streams whose time stamps wrap, jump or pause: sound and picture stay together, and one goes on without the other.
@Suite struct SourcesTimeLiveTests {
    /// Bytes a second of every stream: one after the other, they are the stream's clock.
    private static let bytesPerSecond = 50_000
    /// Seconds until a busy machine's first stumbles are made up for.
    private static let settled = 3.0
    private static let steady = ["-muxrate", "\(bytesPerSecond * 8)"]

    /// What a stream does, and what is seen of it.
    private struct Case: Sendable {
        var name: String
        var file: String
        /// Flashes that are to be seen at least, of one a second.
        var flashes: Int
        /// Flashes for which there is no beep.
        var silent = 0
    }

    private func cases(_ folder: TemporaryDirectory) throws -> [Case] {
        func jumping(_ name: String, by jump: Double) throws -> Case {
            let first = try FlashAndBeep.make(folder, "a.ts", seconds: 6, offset: 100, after: Self.steady)
            let second = try FlashAndBeep.make(folder, "b.ts", seconds: 6, offset: 106 + jump, after: Self.steady)
            return Case(name: name, file: try FlashAndBeep.joined(folder, "\(name).ts", [first, second]), flashes: 7)
        }
        let wrapping = try FlashAndBeep.make(folder, "wrap.ts", seconds: 12, offset: 95_438, after: Self.steady)
        let mute = try FlashAndBeep.make(
            folder, "mute.ts", seconds: 12, offset: 10,
            after: ["-af", "aselect='not(between(t,4.5,7.5))'"] + Self.steady)
        let blind = try FlashAndBeep.make(
            folder, "blind.ts", seconds: 12, offset: 10,
            after: ["-vf", "\(FlashAndBeep.flash),select='not(between(t,4.5,7.5))'", "-fps_mode", "passthrough"]
                + Self.steady)
        let late = try FlashAndBeep.make(
            folder, "late.ts", seconds: 12, offset: 10, sound: ["-itsoffset", "4"], after: Self.steady)
        return [
            Case(name: "wraps", file: wrapping, flashes: 7), try jumping("jumps back", by: -50),
            try jumping("jumps ahead", by: 3600), Case(name: "sound stops", file: mute, flashes: 7, silent: 3),
            Case(name: "picture stops", file: blind, flashes: 4),
            Case(name: "sound is late", file: late, flashes: 7, silent: 3),
        ]
    }

    /// Writes a file into a pipe by the clock.
    private static func send(_ file: String, to pipe: String) throws {
        let bytes = try file.contentsOfFile()
        // The reader may be gone before everything is written.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let target = open(pipe, O_WRONLY)
        guard target >= 0 else { throw TestProblem("the pipe cannot be opened") }
        defer { close(target) }
        let begin = monotonicNanoseconds()
        var sent = 0
        while sent < bytes.count {
            let due = Int(Double(monotonicNanoseconds() - begin) / 1e9 * Double(bytesPerSecond))
            let count = min(bytes.count, due) - sent
            if count > 0 {
                let written = bytes.withUnsafeBytes { write(target, $0.baseAddress.map { $0 + sent }, count) }
                guard written > 0 else { return }
                sent += written
            }
            usleep(5000)
        }
    }

    /// Ticks a hundred times a second, so that pictures are shown within 10 ms of their time.
    private static func watch(_ pipe: String, seconds: Double) throws -> FlashAndBeep {
        let source = try makeSource("input", bindings: ["guest": pipe], offline: false)
        let format = try source.open()
        defer { source.stop() }
        try source.start()
        guard let audio = format.audio else { throw TestProblem("no sound") }
        let block = AudioBlock(format: audio, capacity: 480)
        let rate = FrameRate(100)
        let begin = monotonicNanoseconds()
        var seen = FlashAndBeep()
        for index in 0..<Int64(seconds * 100) {
            let due = begin + rate.time(ofFrame: index).nanoseconds
            var pause = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &pause, nil)
            let tick = Tick(index: index, rate: rate, hostTime: due, isOffline: false)
            let reading = source.frame(at: tick)
            block.count = 480
            _ = source.sound(at: tick, into: block)
            if case .frame(let frame) = reading { seen.look(frame, block, at: tick.time.seconds) }
        }
        return seen
    }

    private static func problems(_ test: Case, pipe: String) throws -> [String] {
        guard mkfifo(pipe, 0o600) == 0 else { throw TestProblem("mkfifo") }
        let sender = try PosixThread(name: "sender") { try? send(test.file, to: pipe) }
        let seen = try watch(pipe, seconds: 11.5)
        sender.join()
        // The first seconds may settle.
        let pairs = zip(seen.flashes, seen.offsets).filter { $0.0 > settled }
        let far = pairs.count { abs($0.1) > 0.02 }
        var problems: [String] = []
        if pairs.count < test.flashes { problems.append("\(pairs.count) flashes") }
        if far > test.silent { problems.append("\(far) flashes without a beep") }
        // Nothing is heard or seen twice.
        for times in [seen.flashes, seen.beeps] {
            for (one, other) in zip(times, times.dropFirst()) where one > settled && other - one < 0.9 {
                problems.append("\(other - one) s after the one at \(one) s")
            }
        }
        return problems.map { "\(test.name): \($0); \(seen.flashes) \(seen.offsets)" }
    }

    @Test func streamsStayInStep() throws {
        let folder = try TemporaryDirectory()
        let cases = try cases(folder)
        let results = Monitor<(left: Int, problems: [String])>((cases.count, []))
        for (index, test) in cases.enumerated() {
            let pipe = folder.file("pipe\(index)")
            _ = try PosixThread(name: "case") {
                var found: [String]
                do { found = try Self.problems(test, pipe: pipe) } catch { found = ["\(test.name): \(error)"] }
                results.notify { state in
                    state.left -= 1
                    state.problems += found
                }
            }
        }
        let problems = results.wait { $0.left == 0 ? $0.problems : nil }
        #expect(problems?.isEmpty == true, "\(problems?.joined(separator: "\n") ?? "")")
    }
}
