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

    /// Values that show a filter better than the rule below.
    static let examples: [String: String] = [
        "brightness": "brightness = 0.2", "contrast": "contrast = 1.7", "exposure": "exposure = 0.9",
        "gamma": "gamma = 1.8", "hue": "hue = 120", "levels": "blackIn = 0.2, whiteIn = 0.8, middle = 1.2",
        "rgb": "red = 1.4, blue = 0.7", "saturation": "saturation = 1.9", "opacity": "opacity = 0.4",
        "colorMatrix": "red = {0, 1, 0, 0}, green = {0, 0, 1, 0}, blue = {1, 0, 0, 0}", "posterize": "levels = 4",
        "liftGammaGain": "lift = {0, 0.03, 0.08}, gain = {1.15, 1.02, 0.9}", "whiteBalance": "temperature = 8000",
        "highlightShadow": "shadows = 0.8, highlights = 0.6", "vibrance": "vibrance = 1.1", "haze": "distance = 0.25",
        "resize": "size = \"144x81\"", "rotate": "angle = 18", "zoom": "factor = 2, center = {0.3, 0.45}",
        "perlinNoise": "", "solidColor": "", "hsb": "hue = 60, saturation = 1.3",
        "fill": "size = \"240x240\"", "fit": "size = \"240x240\"", "temperature": "temperature = 0.6",
        "skinTone": "amount = 0.8",
    ]
    /// What is wired to a port of this name; the card to any other. A mask stays away.
    static let sources = [
        "overlay": "other", "background": "other", "to": "other", "foreground": "cloth", "plate": "other",
        "map": "ramp", "mask": "ramp",
    ]
    /// Filters whose options name files that are not ours to have here.
    static let withoutPicture: Set<String> = ["lut3d", "lookup"]

    private static func filters() throws -> [Filter] {
        let outcome = try Executable.run(["filters", "--json"])
        return try JSONDecoder().decode([Filter].self, from: Data(outcome.output))
    }

    /// What a picture of a filter needs beside its name: where a number would change nothing, one that does.
    static func arguments(_ filter: Filter) -> String {
        if let example = examples[filter.name] { return example }
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

    /// Renders all pictures into `folder`.
    private func render(_ filters: [Filter], _ folder: TemporaryDirectory) throws {
        for start in stride(from: 0, to: filters.count, by: 24) {
            var script = """
                graph { size = "576x324", fps = 30 }
                local card = testPattern { "card", kind = "card", size = "576x324" }
                local other = testPattern { "other", kind = "landscape", size = "576x324" }
                local cloth = testPattern { "cloth", kind = "greenscreen", size = "576x324" }
                local ramp = testPattern { "ramp", kind = "zonePlate", size = "576x324" }

                """
            for (index, filter) in filters[start..<min(start + 24, filters.count)].enumerated() {
                let word = filter.name.contains(".") ? filter.name : "filter.\(filter.name)"
                let arguments = Self.arguments(filter)
                script += "local n\(index) = \(word) { \"n\(index)\"\(arguments.isEmpty ? "" : ", " + arguments) }\n"
                for port in filter.ports where port != "mask" || filter.name == "blend.mask" {
                    script += "\(Self.sources[port] ?? "card"):addTarget(n\(index), \"\(port)\")\n"
                }
                script +=
                    "n\(index):addTarget(snapshot { \"s\(index)\", file = \"\(filter.name).jpg\", size = \"288x162\", at = 0.3 })\n"
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
            if let difference = try PictureDifference(made, golden, size: (288, 162)).complaint {
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
