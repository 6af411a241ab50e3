import Foundation
import PatchTesting
import Testing

/// docs/filters/NAME.jpg: what every filter of the library makes of the same test card. docs/filters.md shows them.
///
/// PATCHBAY_RECORD=1 makes them anew.
@Suite struct FilterPicturesTests {
    /// A filter as `patchbay filters --json` describes it.
    struct Filter: Decodable {
        struct Parameter: Decodable {
            var name: String
            var form: String
            var `default`: [Double]
            var min: Double?
            var max: Double?
            var neutral: [Double]?
        }
        var name: String
        var family: String?
        var ports: [String]
        var parameters: [Parameter]
    }

    /// Filters whose options name files that are not ours to have here.
    static let withoutPicture: Set<String> = ["lut3d", "lookup"]

    private static func filters() throws -> [Filter] {
        let outcome = try Executable.run(["filters", "--json"])
        return try JSONDecoder().decode([Filter].self, from: Data(outcome.output))
    }

    /// What a picture of a filter needs beside its name: where a number would change nothing, one that does.
    static func arguments(_ filter: Filter) -> String {
        if let example = FilterPictureExamples.values[filter.name] { return example }
        var words: [String] = []
        if filter.family == "transition" { words.append("progress = 0.5") }
        let all = filter.parameters
        let allNeutral = all.allSatisfy { $0.neutral == nil || $0.neutral == $0.default }
        for parameter in all where parameter.form == "float" && parameter.name != "progress" && allNeutral {
            guard let neutral = parameter.neutral?.first, neutral == parameter.default.first else { continue }
            let (low, high) = (max(parameter.min ?? -1, neutral - 4), min(parameter.max ?? 1, neutral + 4))
            let value = high > neutral ? neutral + 0.6 * (high - neutral) : neutral + 0.6 * (low - neutral)
            words.append("\(parameter.name) = \(value)")
        }
        return words.joined(separator: ", ")
    }

    /// The lines that make a filter's picture.
    private static func script(of filter: Filter, _ node: String) -> String {
        typealias Examples = FilterPictureExamples
        let word = filter.name.contains(".") ? filter.name : "filter.\(filter.name)"
        var arguments = Self.arguments(filter)
        if let threshold = Examples.corners[filter.name] { arguments = "threshold = \(threshold)" }
        var script = "local \(node) = \(word) { \"\(node)\"\(arguments.isEmpty ? "" : ", " + arguments) }\n"
        for (index, port) in filter.ports.enumerated() where port != "mask" || filter.name == "blend.mask" {
            let source = (index == 0 ? Examples.images[filter.name] : nil) ?? Examples.ports[port] ?? "card"
            script += "\(source):addTarget(\(node), \"\(port)\")\n"
        }
        var shown = node
        if Examples.corners[filter.name] != nil {
            shown = "x" + node
            script += "local \(shown) = filter.crosshairs { \"\(shown)\", arm = 4 }\n"
            script += "card >> \(shown)\n\(node) >> \(shown).marks\n"
        } else if Examples.seeThrough.contains(filter.name) {
            shown = "x" + node
            script += "local \(shown) = blend.normal { \"\(shown)\" }\n"
            script += "landscape >> \(shown)\n\(node) >> \(shown).overlay\n"
        }
        let file = "\"\(filter.name).jpg\""
        return script
            + "\(shown):addTarget(snapshot { \"s\(node)\", file = \(file), size = \"288x162\", at = 0.3 })\n"
    }

    /// Renders all pictures into `folder`.
    private func render(_ filters: [Filter], _ folder: TemporaryDirectory) throws {
        for start in stride(from: 0, to: filters.count, by: 24) {
            var script = FilterPictureExamples.sources
            for (index, filter) in filters[start..<min(start + 24, filters.count)].enumerated() {
                script += Self.script(of: filter, "n\(index)")
            }
            try folder.write("graph.lua", script)
            let outcome = try Executable.run(
                ["render", "graph.lua", "--duration", "0.5"], timeout: 180, directory: folder.path)
            #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        }
    }

    @Test func everyFilterHasItsPicture() throws {
        let filters = try Self.filters().filter { !Self.withoutPicture.contains($0.name) }
        #expect(filters.count > 20)
        let folder = try TemporaryDirectory()
        try render(filters, folder)
        let stored = Fixtures.packageRoot + "/docs/filters"
        let manager = FileManager.default
        if ProcessInfo.processInfo.environment["PATCHBAY_RECORD"] != nil {
            try? manager.removeItem(atPath: stored)
            try manager.createDirectory(atPath: stored, withIntermediateDirectories: true)
            for filter in filters {
                try Program.run(
                    "ffmpeg",
                    [
                        "-v", "error", "-i", folder.file("\(filter.name).jpg"), "-q:v", "5",
                        "\(stored)/\(filter.name).jpg",
                    ])
            }
        }
        for filter in filters {
            let made = folder.file("\(filter.name).jpg"), golden = "\(stored)/\(filter.name).jpg"
            guard manager.fileExists(atPath: golden), manager.fileExists(atPath: made) else {
                Issue.record(
                    "no picture of \(filter.name): PATCHBAY_RECORD=1 scripts/test --filter FilterPicturesTests")
                continue
            }
            // Made smaller, so that the noise of JPEG in fine patterns does not count.
            if let difference = try PictureDifference(made, golden, size: (96, 54)).complaint {
                Issue.record("docs/filters/\(filter.name).jpg is stale: \(difference)")
            }
        }
        let names = Set(filters.map { "\($0.name).jpg" })
        for file in try manager.contentsOfDirectory(atPath: stored) {
            #expect(names.contains(file), "docs/filters/\(file) is of no filter")
        }
        let size = try manager.contentsOfDirectory(atPath: stored).reduce(0) { sum, file in
            sum + ((try manager.attributesOfItem(atPath: "\(stored)/\(file)")[.size] as? Int) ?? 0)
        }
        #expect(size < 4 << 20, "docs/filters has \(size >> 10) KiB")
    }
}
