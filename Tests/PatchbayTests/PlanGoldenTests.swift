import Foundation
import PatchTesting
import Patchbay
import Testing

/// What each graph in graphs/ is compiled to, as `patchbay graph --passes` says it, as recorded in Fixtures/plans.
/// `PATCHBAY_RECORD=1` records it again: look at the difference before it is committed.
///
/// Cameras, screens and streams are not opened: they count as yuv420p of the size that the graph asks for.
@Suite struct PlanGoldenTests {
    static func graphs() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: try Fixtures.package("graphs"))
            .filter { $0.hasSuffix(".lua") }.map { String($0.dropLast(4)) }.sorted()
    }

    private static let folder = String(#filePath.dropLast("PlanGoldenTests.swift".count)) + "Fixtures/plans"

    /// What depends on the machine (how a pass calculates) is left out.
    private func text(_ graph: String) throws -> String {
        var options = SessionOptions(graph: try Fixtures.package("graphs/\(graph).lua"))
        options.isOffline = true
        options.secrets = ["PATCHBAY_URL": "rtmp://127.0.0.1/live/key"]
        options.kernelCacheDirectory = nil
        let passes = try PatchbaySession(options).check(assumingDevices: true).plan.passesText
        let lines = passes.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.hasPrefix("  computes in") }.joined(separator: "\n") + "\n"
    }

    @Test(arguments: try PlanGoldenTests.graphs()) func planIsAsRecorded(graph: String) throws {
        let text = try text(graph)
        let file = URL(fileURLWithPath: Self.folder).appendingPathComponent("\(graph).txt")
        if ProcessInfo.processInfo.environment["PATCHBAY_RECORD"] != nil {
            try FileManager.default.createDirectory(atPath: Self.folder, withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let recorded = try #require(
            try? String(contentsOf: file, encoding: .utf8), "no plan of \(graph): run once with PATCHBAY_RECORD=1")
        let (old, new) = (recorded.components(separatedBy: "\n"), text.components(separatedBy: "\n"))
        for (line, (a, b)) in zip(old, new).enumerated() where a != b {
            Issue.record(
                """
                graphs/\(graph).lua, line \(line + 1) of its plan:
                  was '\(a)'
                  is  '\(b)'
                record with PATCHBAY_RECORD=1 swift test --filter PlanGoldenTests if that is meant
                """)
            return
        }
        #expect(old.count == new.count, "the plan of \(graph) has \(new.count) lines, not \(old.count)")
    }

    @Test func noPlanIsLeftOfAGraphThatIsGone() throws {
        let recorded = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        let graphs = try Self.graphs()
        for file in recorded { #expect(graphs.contains { "\($0).txt" == file }, "\(file) has no graph") }
    }
}
