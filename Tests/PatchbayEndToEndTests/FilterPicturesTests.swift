import Foundation
import PatchTesting
import Testing

/// docs/filters holds a picture of every filter on the same scene. `PATCHBAY_RECORD=1 scripts/test --filter
/// FilterPicturesTests` makes those that are missing; delete one to have it made anew.
@Suite struct FilterPicturesTests {
    private struct Filter: Decodable {
        struct Parameter: Decodable {
            var name: String
            var form: String
            var `default`: [Double]
            var min: Double?
            var max: Double?
            var neutral: [Double]?
        }
        struct Option: Decodable {
            var name: String
            var summary: String
        }
        var name: String
        var family: String
        var ports: [String]
        var optionalPorts: [String]
        var parameters: [Parameter]
        var options: [Option]

        var file: String { "\(name).jpg" }
        /// A file that must be given: there is none to show.
        var needsFile: Bool { options.contains { $0.name != "size" && $0.summary.hasPrefix("must be given") } }

        /// The graph that shows it, with what is neutral by default moved by 0.4 of its range.
        func graph(picture: String) -> String {
            var fields = ["\"node\""]
            if options.contains(where: { $0.name == "size" && $0.summary.contains("must") }) {
                fields.append("size = \"192x108\"")
            }
            for parameter in parameters where parameter.default == parameter.neutral && parameter.form != "color" {
                guard let low = parameter.min, let high = parameter.max, parameter.form != "bool" else { continue }
                let values = parameter.default.enumerated().map { index, value in
                    value + ((index % 2 == 0 && value < high ? high : low) - value) * 0.4
                }
                let text = values.map { "\($0)" }.joined(separator: ", ")
                fields.append("\(parameter.name) = \(values.count == 1 ? text : "{ \(text) }")")
            }
            let word = name.contains(".") ? name : "filter." + name
            var lines = ["local node = \(word) { \(fields.joined(separator: ", ")) }"]
            for (index, port) in ports.enumerated() where index == 0 || !optionalPorts.contains(port) {
                let still = index == 0 ? "scene" : family == "blend" ? "overlay" : "other"
                lines.append("image { \"in\(index)\", file = \"\(still).png\" } >> node.\(port)")
            }
            lines.append("local view = snapshot { \"view\", file = \"\(picture)\", size = \"192x108\", at = 0.2 }")
            // What is see-through shows a plain grey.
            lines.append("local ground = color { \"ground\", rgba = \"#404040\", size = \"192x108\" }")
            lines.append("local over = blend.normal { \"over\" }")
            lines.append("ground >> over; node >> over.overlay; over >> view")
            return lines.joined(separator: "\n")
        }
    }

    private static func filters() throws -> [Filter] {
        let outcome = try Executable.run(["filters", "--json"])
        return try JSONDecoder().decode([Filter].self, from: Data(outcome.text.utf8))
    }

    @Test func everyFilterHasItsPicture() throws {
        let folder = try Fixtures.package("docs/filters")
        let manager = FileManager.default
        let filters = try Self.filters().filter { !$0.needsFile }
        if ProcessInfo.processInfo.environment["PATCHBAY_RECORD"] != nil {
            for filter in filters where !manager.fileExists(atPath: "\(folder)/\(filter.file)") {
                let problem = try Self.render(filter, to: "\(folder)/\(filter.file)")
                #expect(problem == nil, "\(filter.name): \(problem ?? "")")
            }
        }
        let there = Set(try manager.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jpg") })
        let wanted = Set(filters.map(\.file))
        let remedy = "PATCHBAY_RECORD=1 scripts/test --filter FilterPicturesTests"
        #expect(wanted.subtracting(there).sorted() == [], "pictures are missing: \(remedy)")
        #expect(there.subtracting(wanted).sorted() == [], "pictures of filters that are gone: delete them")
    }

    private static func render(_ filter: Filter, to picture: String) throws -> String? {
        let folder = try Fixtures.package("docs/filters")
        let directory = try TemporaryDirectory()
        for still in ["scene", "overlay", "other"] {
            try FileManager.default.copyItem(atPath: "\(folder)/\(still).png", toPath: directory.file("\(still).png"))
        }
        let graph = directory.file("graph.lua")
        try filter.graph(picture: "picture.jpg").write(toFile: graph, atomically: true, encoding: .utf8)
        let outcome = try Executable.run(["render", graph, "--duration", "0.4"], directory: directory.path)
        guard outcome.exitCode == 0 else { return outcome.errorText }
        try FileManager.default.moveItem(atPath: directory.file("picture.jpg"), toPath: picture)
        return nil
    }
}
