import Glibc
import PatchMedia
import PatchTesting
import Testing

/// Three inputs are killed, paused, slow, corrupt and started again, each in turn under each policy: what goes out does not
/// notice, and shows what the policy says.
@Suite(.serialized) struct InputFailureTests {
    private enum Policy: String, CaseIterable, Sendable {
        case hold, freeze, drop, branch

        var options: String {
            let extra =
                switch self {
                case .hold, .drop: ""
                case .freeze: ", slate = card"
                case .branch: ", branch = card"
                }
            return "policy = \"\(rawValue)\"\(extra)"
        }
        /// The mean luma of an input's column while it is lost: bright as it was, the dark grey card, or nothing.
        var shown: ClosedRange<Double> {
            switch self {
            case .hold: 110...255
            case .freeze, .branch: 40...70
            case .drop: 0...25
            }
        }
    }

    private static let ways = InputSender.Way.allCases
    private static let rate = 25.0

    private func script(_ policy: Policy, _ urls: [String]) -> String {
        var lines = [
            "graph { fps = 25, size = \"120x90\" }",
            "local card = image { \"card\", file = \"card.png\" }",
            "local mix = mixer { \"mix\", size = \"120x90\" }",
        ]
        for (index, way) in Self.ways.enumerated() {
            let place = way == .pipe ? "input { \"pipe\"" : "stream { \"\(way)\", url = \"\(urls[index])\", timeout = 2"
            lines += [
                "local \(way) = \(place), freeze = 0.4, \(policy.options) }",
                "mix.slots.\(way) = { source = \(way), position = {\(index * 40), 0}, size = {40, 90}, aspect = \"fill\" }",
                "\(way):onLost(function() log(\"lost \(way)\") end)",
                "\(way):onBack(function() log(\"back \(way)\") end)",
            ]
        }
        lines.append("mix >> recorder { \"tape\", file = \"tape.mkv\" }")
        return lines.joined(separator: "\n")
    }

    /// One graph under one policy; each of its inputs fails in all ways.
    private struct Course {
        let policy: Policy
        let run: GraphRun
        let senders: [InputSender]
        /// The next event that was not looked at.
        var next: Int
        /// Ticks at which an input was lost for some time, with the input's number.
        var lost: [(tick: Int, input: Int)] = []

        mutating func wait(_ what: String, _ why: String, _ matches: (GraphRun.Event) -> Bool) throws -> GraphRun.Event
        {
            let found = try run.wait(for: "\(what) (\(why), \(policy))", from: next, within: 40, matches)
            next = found.next
            return found.event
        }
        mutating func waitForHandler(_ word: String, _ input: Int, _ why: String) throws -> GraphRun.Event {
            try wait("\(word) of \(ways[input])", why) { $0.event == "log" && $0.text == "\(word) \(ways[input])" }
        }
        /// The input was stopped: its handler is called and, a while later, its policy is seen.
        mutating func expectLost(_ input: Int, _ why: String) throws {
            let told = try waitForHandler("lost", input, why)
            let begin = monotonicNanoseconds()
            usleep(1_000_000)
            let now = told.time + Double(monotonicNanoseconds() - begin) / 1e9
            let known = run.events.last { $0.event == "stats" && $0.time <= now }
            lost.append(
                (tick: (known?.statistics?.ticks ?? 0) + Int((now - (known?.time ?? 0)) * rate) - 2, input: input))
        }
        /// Pictures arrive again, though perhaps not well or not often.
        mutating func expectPictures(_ input: Int, _ why: String) throws {
            next = run.events.count
            var first: Int?
            _ = try wait("pictures of \(ways[input])", why) { event in
                guard let node = event.statistics?.nodes.first(where: { $0.node == "\(ways[input])" }) else {
                    return false
                }
                let begin = first ?? node.frames
                first = begin
                return node.frames >= begin + 10
            }
        }

        mutating func fail(_ input: Int) throws {
            let sender = senders[input]
            next = run.events.count
            sender.stop()
            try expectLost(input, "killed")
            for (manner, why) in [(InputSender.Manner.corruptly, "corrupt"), (.slowly, "slow")] {
                try sender.start(manner)
                try expectPictures(input, why)
            }
            next = run.events.count
            sender.stop()
            _ = try waitForHandler("lost", input, "stopped")
            try sender.start(.otherwise)
            _ = try waitForHandler("back", input, "started with another format")
            try expectPictures(input, "another format")
            next = run.events.count
            sender.pause()
            try expectLost(input, "paused")
            sender.resume()
            _ = try waitForHandler("back", input, "resumed")
            usleep(500_000)
        }
    }

    private func begin(_ policy: Policy, rtmp: String) throws -> Course {
        let directory = try TemporaryDirectory()
        guard mkfifo(directory.file("pipe.ts"), 0o600) == 0 else { throw TestProblem("mkfifo") }
        try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "color=0x303030:s=40x90", "-frames:v", "1",
                directory.file("card.png"),
            ])
        let srt = try Ports.freeUDP()
        let senders = [
            InputSender(.srt, to: "srt://127.0.0.1:\(srt)?mode=listener&latency=20"), InputSender(.rtmp, to: rtmp),
            InputSender(.pipe, to: directory.file("pipe.ts")),
        ]
        for sender in senders { try sender.start() }
        let run = try GraphRun(
            script(policy, ["srt://127.0.0.1:\(srt)?latency=20", rtmp, ""]),
            arguments: ["--stats", "json", "--bind", "pipe=\(directory.file("pipe.ts"))"], directory: directory)
        return Course(policy: policy, run: run, senders: senders, next: try run.waitUntilOnAir())
    }

    /// - Returns: what was wrong.
    private func course(_ policy: Policy, rtmp: String) throws -> [String] {
        var course = try begin(policy, rtmp: rtmp)
        // An input that was not there in time is told as lost first: begin with all there.
        for input in Self.ways.indices { try course.expectPictures(input, "at the start") }
        usleep(1_000_000)
        for input in Self.ways.indices { try course.fail(input) }
        usleep(500_000)
        let (outcome, statistics) = try course.run.interrupt()
        var problems: [String] = []
        if outcome.exitCode != 130 { problems.append("\(policy): \(outcome.errorText)") }
        let tape = course.run.directory.file("tape.mkv")
        problems += try problemsOfSession(tape, ticks: statistics.ticks).map { "\(policy): \($0)" }
        let columns = try Self.columns(tape)
        for (tick, input) in course.lost where !policy.shown.contains(columns[min(tick, columns.count - 1)][input]) {
            problems.append(
                "\(policy): \(Self.ways[input]) was lost and shows \(columns[max(0, tick - 6)..<min(columns.count, tick + 6)].map { $0[input] }) around \(tick)"
            )
        }
        if let last = columns.last, last.contains(where: { $0 < 110 }) {
            problems.append("\(policy): ends with \(last)")
        }
        return problems
    }

    /// One session of the encoder: one stream with one header that decodes all pictures, each a frame after the one before.
    private func problemsOfSession(_ tape: String, ticks: Int) throws -> [String] {
        var problems: [String] = []
        let report = try FFprobe.report(tape, counting: true)
        if report.streams.count(where: { $0.codecType == "video" }) != 1 { problems.append("\(report.streams)") }
        if report.video?.nbReadFrames != "\(ticks)" {
            problems.append("\(report.video?.nbReadFrames ?? "no") pictures in \(ticks) ticks")
        }
        let times = try FFprobe.packets(tape).compactMap(\.pts).sorted()
        for (index, time) in times.enumerated() where abs(time - times[0] - Double(index) / Self.rate) > 0.0011 {
            problems.append("picture \(index) is at \(time - times[0]) s")
            break
        }
        let decoded = try Program.run(
            "ffmpeg", ["-v", "error", "-xerror", "-nostdin", "-i", tape, "-f", "null", "-"], mayFail: true)
        if decoded.exitCode != 0 || !decoded.errorText.isEmpty { problems.append(decoded.errorText) }
        // A second session would bring parameter sets of its own.
        let headers = try Program.run(
            "ffprobe", ["-v", "error", "-show_entries", "packet_side_data=side_data_type", "-of", "csv=p=0", tape]
        ).text
        if headers.contains("New Extradata") { problems.append("a new header in the stream") }
        return problems
    }

    /// The mean luma of each input's column in each picture, as ffmpeg decodes it.
    private static func columns(_ tape: String) throws -> [[Double]] {
        let bytes = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", tape, "-vf", "format=gray,scale=\(ways.count):1:flags=area",
                "-fps_mode", "passthrough",
                "-f", "rawvideo", "-pix_fmt", "gray", "-",
            ], timeout: 120
        ).output
        return stride(from: 0, to: bytes.count - ways.count + 1, by: ways.count).map { start in
            bytes[start..<start + ways.count].map { Double($0) }
        }
    }

    @Test func outputsDoNotNotice() throws {
        let server = try MediaServer()
        let results = Monitor<(left: Int, problems: [String])>((Policy.allCases.count, []))
        for policy in Policy.allCases {
            let url = server.url(policy.rawValue)
            _ = try PosixThread(name: "policy") {
                var found: [String]
                do { found = try course(policy, rtmp: url) } catch { found = ["\(policy): \(error)"] }
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
