import PatchMedia
import PatchTesting
import Testing

/// `graph { light = "linear" }`: what weighs colours weighs light. Expected pixels are those of Fixtures/light/light.py; the
/// mixer's are in its own fixtures.
@Suite struct LightTests {
    static let cases: [FilterCase] = {
        let path = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Fixtures/light/light.txt"
        do {
            return try FilterCase.parse(String(decoding: path.contentsOfFile(), as: UTF8.self), file: "light.txt")
        } catch {
            Issue.record(error, "light.txt")
            return []
        }
    }()

    @Test func thereAreCases() { #expect(Self.cases.count == 12) }

    @Test(arguments: cases) func weighsLight(test: FilterCase) throws {
        let filter = try FilterEngine.filter(test.filter, options: test.options)
        let graph = FilterEngine.graph(
            test.filter, ports: test.inputs.map(\.port), parameters: test.parameters, forms: filter.forms)
        let pictures = try FilterEngine.run("graph { light = \"linear\" }\n" + graph, inputs: test.inputs)
        let (result, expected) = (try #require(pictures.last), test.output.premultiplied)
        #expect(result.difference(from: expected) <= test.limit / 255, "\(result.worst(against: expected))")
    }

    /// A kernel of one's own follows the graph by saying so; a colour among its parameters would be no light.
    @Test func aKernelFollowsTheGraph() throws {
        let image = FilterPicture(filled: [0.5, 0.25, 1, 1], width: 2, height: 1)
        func half(_ setting: String, _ light: String) throws -> [Float] {
            let text = """
                \(setting)
                local half = kernel { "half", light = "\(light)", pixel = function(c) return vec4(c.rgb / 2, c.a) end }
                source_image { "image" } >> half >> pictures { "out" }
                """
            return try #require(try FilterEngine.run(text, inputs: [("image", [image])]).last).pixels[0]
        }
        // sRGB: 0.5 is .21404 of the light, whose half is .36078; 0.25 is .05088, .17349; 1 is .73536.
        let weighed: [Float] = [0.36078, 0.17349, 0.73536, 1]
        let linear = "graph { light = \"linear\" }"
        for (setting, light, expected) in [
            (linear, "graph", weighed), (linear, "encoded", [0.25, 0.125, 0.5, 1]),
            ("", "graph", [0.25, 0.125, 0.5, 1]),
            ("", "linear", weighed),
        ] {
            let result = try half(setting, light)
            for (made, wanted) in zip(result, expected) { #expect(abs(made - wanted) < 0.002, "\(setting) \(light)") }
        }
        let error = Workspace().errorText(
            "kernel { light = 'graph', params = { tint = '#f80' }, pixel = function(c, p) return c * p.tint end }")
        #expect(error.contains("works in the graph's light and has the colour 'tint'"), "\(error)")
        let unknown = Workspace().errorText("kernel { weights = { 'imag' }, pixel = function(c) return c end }")
        #expect(unknown.contains("weights names 'imag', which is no input; did you mean 'image'?"), "\(unknown)")
    }
}
