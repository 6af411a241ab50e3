import PatchTesting
import Testing

@Suite(.serialized) struct EngineOverheadTests {
    /// The engine bench with 100 trivial nodes, fused into one pass and in a pass each, live and offline. Allocations are
    /// counted by a malloc of our own in that program; times are printed and not judged.
    @Test func steadyStateAllocatesNothing() throws {
        let outcome = try Program.run(try Executable.path(of: "EngineBench"), ["100", "400"], timeout: 120)
        print(outcome.text)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 5)
        for line in lines {
            #expect(try number("ticks", in: line) == 400)
            // A late tick may hold one more frame than ever before, which grows a pool by one; a cost for each tick
            // would show as 1 or more.
            #expect(try number("allocations_per_tick", in: line) < 0.2, "\(line)")
            // The last one is of earlier pictures and a mixer.
            if line.contains("composition") { continue }
            let passes = try number("passes", in: line)
            #expect(passes == (line.contains("\"fused\": true") ? 1 : 100))
        }
    }

    private func number(_ name: String, in line: Substring) throws -> Double {
        let after = try #require(line.split(separator: "\"\(name)\": ").last)
        return try #require(Double(after.prefix { $0 != "," && $0 != "}" }))
    }
}
