import Foundation
import PatchTesting
import Testing

/// The benchmark as a program, on a small generated picture and without peers, which scripts/test does not install.
@Suite struct BenchTests {
    private static func run(_ arguments: [String], timeout: Double = 240) throws -> (
        outcome: ProgramOutcome, json: Any?
    ) {
        let folder = try TemporaryDirectory()
        let file = folder.path + "/rows.json"
        let outcome = try Program.run(
            Self.program(),
            ["--size", "64x36", "--rounds", "2", "--scratch", folder.path, "--json", file] + arguments,
            timeout: timeout, mayFail: true)
        let data = FileManager.default.contents(atPath: file)
        return (outcome, try data.map { try JSONSerialization.jsonObject(with: $0) })
    }

    /// The built program: beside the test runner.
    private static func program() throws -> String {
        let runner = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: runner).deletingLastPathComponent().path + "/PatchBench"
        for candidate in [path, Fixtures.packageRoot + "/.build/release/PatchBench"]
        where FileManager.default.isExecutableFile(atPath: candidate) {
            return candidate
        }
        throw TestProblem("PatchBench is not built: swift build -c release --product PatchBench")
    }

    @Test func jsonHasTheStatedShape() throws {
        let (outcome, json) = try Self.run(["--only", "W10-decode,W1", "--threads", "2"])
        #expect(outcome.exitCode == 0, "\(outcome.errorText)\(outcome.text)")
        let rows = try #require((json as? [String: Any])?["rows"] as? [[String: Any]])
        #expect(rows.map { $0["workload"] as? String } == ["W1", "W1", "W10-decode"])
        #expect(rows.map { $0["format"] as? String } == ["rgba", "yuv420p", "yuv420p"])
        for row in rows {
            #expect(row["threads"] as? Int == 2)
            #expect(try #require(row["ours_ms"] as? Double) > 0)
            #expect(row["limit_ms"] is NSNull, "memcpy is a peer, and none was given")
            #expect((row["peers"] as? [String: Double])?.isEmpty == true)
        }
    }

    @Test func everyWorkloadIsEqualToItsReference() throws {
        let (outcome, json) = try Self.run(["--only", "W1,W1y,W2,W3,W4,W5,W6,W7,W8,W9,W10", "--threads", "1"])
        #expect(outcome.exitCode == 0, "\(outcome.errorText)\(outcome.text)")
        // A row that the library cannot do would be left out, and said so.
        #expect(!outcome.errorText.contains("is left out"), "\(outcome.errorText)")
        let rows = try #require((json as? [String: Any])?["rows"] as? [[String: Any]])
        #expect(rows.count == 24)
        for row in rows { #expect(row["ours_ms"] is Double, "\(row) \(outcome.text)") }
    }

    /// Every filter of the library runs in a graph of its own, at both sizes.
    @Test func everyFilterIsMeasured() throws {
        let folder = try TemporaryDirectory()
        let document = folder.path + "/filters.md"
        let (outcome, json) = try Self.run(
            ["--only", "filters", "--threads", "2", "--filter-document", document], timeout: 600)
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        #expect(!outcome.text.contains("could not run"), "\(outcome.text)")
        let rows = try #require((json as? [String: Any])?["rows"] as? [[String: Any]])
        let names = Set(rows.compactMap { $0["workload"] as? String })
        #expect(names.contains("filter-brightness") && names.count > 25)
        #expect(rows.count == 2 * names.count)
        #expect(try String(contentsOfFile: document, encoding: .utf8).contains("| `brightness` |"))
    }

    @Test func aWrongPictureFailsTheCheck() throws {
        let (outcome, json) = try Self.run(["--only", "W10-decode,W6-3x3", "--threads", "1", "--wrong-picture"])
        #expect(outcome.exitCode == 1)
        #expect(outcome.text.contains("LEFT OUT: off by up to"))
        let rows = try #require((json as? [String: Any])?["rows"] as? [[String: Any]])
        #expect(rows.count == 2)
        for row in rows { #expect(row["ours_ms"] is NSNull, "a picture that is not equal was timed all the same") }
    }

    @Test func wrongArgumentsAreRefused() throws {
        for arguments in [["--only", "W99"], ["--size", "0x7"], ["--threads", "none"], ["--json"], ["--bogus"]] {
            let (outcome, json) = try Self.run(arguments)
            #expect(outcome.exitCode == 2, "\(arguments)")
            #expect(outcome.errorText.hasPrefix("bench: error: "), "\(arguments): \(outcome.errorText)")
            #expect(json == nil)
        }
    }
}
