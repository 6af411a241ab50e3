import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Senders whose clocks are not ours, over real connections, each for 40 s: no seam in the sound, lips in step.
@Suite struct SourcesFollowTests {
    private struct Case: Sendable {
        var name: String
        /// How fast ffmpeg sends, by our clock.
        var pace = 1.0
        /// By how many parts the samples are further apart than their number says: a sound card that runs slow.
        var slow = 0.0
        /// What the source's drift should be found to be, ppm.
        var drift: ClosedRange<Double>
    }
    private static let cases = [
        Case(name: "a sound card 200 ppm slow", slow: 200e-6, drift: -450...(-50)),
        Case(name: "a sound card 200 ppm fast", slow: -200e-6, drift: 50...450),
        Case(name: "a sender 3000 ppm slow", pace: 0.997, drift: -2500...(-300)),
    ]

    /// Left, a tone without end; right, a beep beside each flash.
    private static func sender(_ test: Case, port: Int) throws -> Program {
        let time = "(t*\(1 + test.slow))"
        return try Program(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-readrate", "\(test.pace)", "-f", "lavfi", "-i",
                "color=black:size=64x48:rate=25", "-readrate", "\(test.pace)", "-f", "lavfi", "-i",
                "aevalsrc='0.5*sin(2*PI*440*t)|if(lt(mod(\(time)\\,1)\\,0.1)\\,0.5*sin(2*PI*1000*t)\\,0)':s=48000",
                "-vf", FlashAndBeep.flash, "-af", "asetpts=PTS*\(1 + test.slow)", "-c:v", "mpeg2video", "-q:v", "5",
                "-bf", "0", "-c:a", "pcm_s16le", "-f", "nut", "-flush_packets", "1",
                "tcp://127.0.0.1:\(port)?listen=1",
            ])
    }

    private static func problems(_ test: Case) throws -> [String] {
        let port = try Ports.freeTCP()
        let sender = try sender(test, port: port)
        defer { sender.signal(SIGKILL) }
        var opened: (any MediaSource, SourceFormat)?
        try eventually("the stream opens", within: 20) {
            let source = try makeSource("stream", ["url": .string("tcp://127.0.0.1:\(port)")], offline: false)
            opened = (try? source.open()).map { (source, $0) }
            return opened != nil
        }
        guard let (source, format) = opened, let audio = format.audio, audio.channels == 2 else {
            throw TestProblem("no stereo sound")
        }
        defer { source.stop() }
        try source.start()
        let block = AudioBlock(format: audio, capacity: 480)
        let right = AudioBlock(format: AudioFormat(sampleRate: 48_000, channels: 1), capacity: 480)
        right.count = 480
        let rate = FrameRate(100)
        let begin = monotonicNanoseconds()
        var heard: [Float] = []
        var seen = FlashAndBeep()
        for index: Int64 in 0..<4000 {
            let due = begin + rate.time(ofFrame: index).nanoseconds
            var pause = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &pause, nil)
            let tick = Tick(index: index, rate: rate, hostTime: due, isOffline: false)
            let reading = source.frame(at: tick)
            block.count = 480
            _ = source.sound(at: tick, into: block)
            // The first seconds may settle.
            guard index >= 400, case .frame(let frame) = reading else { continue }
            heard += UnsafeBufferPointer(start: block.channel(0), count: 480)
            right.channel(0).update(from: block.channel(1), count: 480)
            seen.look(frame, right, at: tick.time.seconds)
        }
        var problems: [String] = []
        // The sine bends by 0.0017; 16 bits add 0.0001; a sample left out, or a soft edge, bends by 0.03.
        let bends = (1..<heard.count - 1).filter { abs(heard[$0 - 1] - 2 * heard[$0] + heard[$0 + 1]) > 0.004 }
        let seams = bends.indices.count { $0 == 0 || bends[$0] - bends[$0 - 1] > 4800 }
        // A machine that stops for a while may make one.
        if seams > 1 { problems.append("\(seams) seams") }
        // The first flash may have been there when looking began.
        let offsets = seen.offsets.dropFirst()
        if offsets.count < 30 || offsets.contains(where: { abs($0) > 0.02 }) { problems.append("offsets \(offsets)") }
        let drift = source.health?.drift ?? 0
        if !test.drift.contains(drift) { problems.append("a drift of \(drift) ppm") }
        return problems.map { "\(test.name): \($0)" }
    }

    @Test func sendersAreFollowedWithoutASeam() throws {
        let results = Monitor<(left: Int, problems: [String])>((Self.cases.count, []))
        for test in Self.cases {
            _ = try PosixThread(name: "case") {
                var found: [String]
                do { found = try Self.problems(test) } catch { found = ["\(test.name): \(error)"] }
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
