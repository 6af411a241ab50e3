import Glibc
import PatchTesting
import Testing

/// The demo's switch, a thousand times.
@Suite struct SwitchTests {
    @Test func aThousandSwitchesUnderLoadLeaveNothingBehind() throws {
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.bikes), directory.file("clip.mp4")])
        let run = try GraphRun(
            """
            graph { fps = 30 }
            local clip = video { "clip", file = "clip.mp4", loop = true }
            local raw = rawDataOutput { "raw" }
            local beauty = filter.beautify { "beauty", smooth = 0.5 }
            local on, count = true, 0
            local function wire()
              clip:removeAllTargets()
              beauty:removeAllTargets()
              if on then clip:addTarget(beauty); beauty:addTarget(raw) else clip:addTarget(raw) end
            end
            wire()
            every(0.02, function()
              on = not on
              wire()
              count = count + 1
              if count % 20 == 0 then log("switches " .. count) end
            end)
            """, directory: directory)
        var next = try run.waitUntilOnAir()
        var resident: [Double] = []
        for count in stride(from: 20, through: 1000, by: 20) {
            next = try run.wait(for: "\(count) switches", from: next, within: 60) {
                $0.event == "log" && $0.text == "switches \(count)"
            }.next
            resident.append(try Self.residentMegabytes(run.program.processID))
        }
        let (outcome, statistics) = try run.interrupt()
        #expect(outcome.exitCode == 130)
        // The second half's slope by least squares, in MB a hundred switches; one leaked frame a switch would be 26.
        let half = Array(resident.suffix(25))
        let mean = half.reduce(0, +) / 25
        let slope = half.enumerated().reduce(0) { $0 + (Double($1.offset) - 12) * ($1.element - mean) } / 1300 * 5
        print("resident memory over 1,000 switches: \(Int(mean)) MB, slope \(slope) MB a hundred switches")
        // A sanitizer makes everything slow and keeps freed memory: then only its own findings count.
        let isSanitized = getenv("PATCHBAY_SANITIZED") != nil
        // Frames come and go with each switch, so that resident memory wobbles by a few MB: slopes of −0.5 to 1.3 were seen.
        #expect(isSanitized || abs(slope) < 4, "\(resident)")
        let raw = try #require(statistics.nodes.first { $0.node == "raw" })
        #expect(isSanitized || raw.frames == statistics.ticks && raw.drops == 0, "\(raw) in \(statistics.ticks) ticks")
        let problems = run.events.filter { $0.event == "problem" || $0.event == "scriptError" }
        #expect(problems.isEmpty, "\(problems)")
    }

    /// VmRSS of a process, from /proc.
    static func residentMegabytes(_ process: pid_t) throws -> Double {
        let status = String(decoding: try "/proc/\(process)/status".contentsOfFile(), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count >= 2, let kilobytes = Double(words[1]) else { throw TestProblem("no VmRSS in \(status)") }
        return kilobytes / 1024
    }
}
