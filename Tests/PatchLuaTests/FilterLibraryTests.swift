import PatchFilters
import PatchGraph
import PatchKernel
import PatchLua
import PatchMedia
import PatchTesting
import Testing

/// The built-in filters: values worked by hand from the formulas in their files.
@Suite struct FilterLibraryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var filter: String
        var parameters: [String: [Float]] = [:]
        var input: [Float]
        var overlay: [Float]?
        var result: [Float]
        var testDescription: String { "\(filter) \(parameters)" }
    }

    static let cases: [Case] = [
        Case(
            filter: "brightness", parameters: ["brightness": [0.25]], input: [0.5, 0.25, 0, 1],
            result: [0.75, 0.5, 0.25, 1]),
        Case(
            filter: "contrast", parameters: ["contrast": [2]], input: [0.5, 0.25, 0.625, 1], result: [0.5, 0, 0.75, 1]),
        // Y = .2125·1 = .2125; grey + 0.5 · (rgb − grey)
        Case(
            filter: "saturation", parameters: ["saturation": [0.5]], input: [1, 0, 0, 1],
            result: [0.60625, 0.10625, 0.10625, 1]),
        Case(filter: "grayscale", input: [0, 1, 0, 1], result: [0.7154, 0.7154, 0.7154, 1]),
        Case(filter: "luminance", input: [0, 0, 1, 1], result: [0.0721, 0.0721, 0.0721, 1]),
        Case(filter: "invert", input: [0.25, 0.5, 1, 1], result: [0.75, 0.5, 0, 1]),
        Case(filter: "invert", parameters: ["amount": [0.5]], input: [0.25, 0.5, 1, 1], result: [0.5, 0.5, 0.5, 1]),
        Case(
            filter: "opacity", parameters: ["opacity": [0.5]], input: [0.5, 0.25, 1, 1], result: [0.5, 0.25, 1, 0.5]),
        Case(filter: "gamma", parameters: ["gamma": [2]], input: [0.5, 0.25, 1, 1], result: [0.25, 0.0625, 1, 1]),
        Case(
            filter: "exposure", parameters: ["exposure": [-1]], input: [0.5, 0.25, 1, 1], result: [0.25, 0.125, 0.5, 1]),
        Case(filter: "sepia", input: [1, 0, 0, 1], result: [0.3588, 0.2990, 0.2392, 1]),
        Case(
            filter: "rgb", parameters: ["red": [0.5], "green": [2]], input: [0.5, 0.25, 1, 1],
            result: [0.25, 0.5, 1, 1]),
        // (0.5 − 0.25) / 0.5 = 0.5, then 0.5 ^ (1/2) = .7071 of 0…0.5
        Case(
            filter: "levels", parameters: ["blackIn": [0.25], "whiteIn": [0.75], "middle": [2], "whiteOut": [0.5]],
            input: [0.5, 0, 1, 1], result: [0.35355, 0, 0.5, 1]),
        Case(
            filter: "colorMatrix", parameters: ["red": [0, 1, 0, 0], "green": [1, 0, 0, 0]],
            input: [0.25, 0.5, 0.75, 1], result: [0.5, 0.25, 0.75, 1]),
        // Red is (.299, .5957, .2115) in YIQ; turned by −120°, as GPUImage turns, i' = -0.1147, q' = -0.6216.
        Case(filter: "hue", parameters: ["hue": [120]], input: [1, 0, 0, 1], result: [-0.1968, 0.7327, -0.6336, 1]),
        Case(filter: "solarize", input: [0.75, 0.75, 0.5, 1], result: [0.25, 0.25, 0.5, 1]),
        Case(filter: "posterize", parameters: ["levels": [2]], input: [0.2, 0.3, 0.8, 1], result: [0, 0.5, 1, 1]),
        // Grey .2125 < .5: 2 · .2125 · colour
        Case(
            filter: "monochrome", parameters: ["color": [1, 0.5, 0, 1]], input: [1, 0, 0, 1],
            result: [0.425, 0.2125, 0, 1]),
        Case(
            filter: "falseColor", parameters: ["first": [0, 0, 1, 1], "second": [1, 1, 0, 1]],
            input: [0.5, 0.5, 0.5, 1], result: [0.5, 0.5, 0.5, 1]),
        Case(filter: "haze", parameters: ["distance": [0.2]], input: [0.6, 0.2, 1, 1], result: [0.5, 0, 1, 1]),
        Case(
            filter: "luminanceThreshold", parameters: ["threshold": [0.5]], input: [0, 1, 0, 1], result: [1, 1, 1, 1]),
        // mean .5, most 1: 1.5 · (most − mean) · … towards 1 by −(.5 · 3 · .5) = −.75
        Case(
            filter: "vibrance", parameters: ["vibrance": [0.5]], input: [1, 0.5, 0, 1], result: [1, 0.125, -0.75, 1]),
        Case(
            filter: "liftGammaGain", parameters: ["lift": [0.5, 0, 0], "gain": [1, 2, 1]], input: [0.5, 0.25, 1, 1],
            result: [0.75, 0.5, 1, 1]),
        // A single pixel lies at uv (.5, .5), the centre: no shade.
        Case(filter: "vignette", input: [0.5, 0.25, 1, 1], result: [0.5, 0.25, 1, 1]),
        // At 2500 K: 2 · rgb − blended, blended = 2 · .25 · (.93, .54, 0).
        Case(
            filter: "whiteBalance", parameters: ["temperature": [2500]], input: [0.25, 0.25, 0.25, 1],
            result: [0.035, 0.23, 0.5, 1]),
        Case(filter: "highlightShadow", input: [0.25, 0.5, 0.75, 1], result: [0.25, 0.5, 0.75, 1]),
        // Over: .5·overlay + .5·image
        Case(filter: "blend.normal", input: [1, 0, 0, 1], overlay: [0, 0, 1, 0.5], result: [0.5, 0, 0.5, 1]),
        Case(
            filter: "blend.sourceOver", parameters: ["opacity": [0.5]], input: [1, 0, 0, 1], overlay: [0, 0, 1, 1],
            result: [0.5, 0, 0.5, 1]),
        Case(filter: "resize", input: [1, 0.5, 0.25, 0.5], result: [1, 0.5, 0.25, 0.5]),
    ]

    @Test(arguments: cases) func computesItsFormula(test: Case) throws {
        let filter = try FakeGraph.catalog.filter(test.filter)
        let result = try FilterRunner.run(
            filter, [test.input], width: 1, second: test.overlay.map { [$0] }, parameters: test.parameters)
        FilterRunner.expect(result, [test.result], within: 0.002, test.filter)
    }

    /// What Fixtures/filters/names.txt promises is there, under these very words.
    @Test func everyPromisedFilterIsThere() throws {
        let text = try String(decoding: (FilterCase.folder + "/names.txt").contentsOfFile(), as: UTF8.self)
        var count = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map { String($0) }
            for name in words.dropFirst() {
                switch words[0] {
                case "look": #expect(FilterLibrary.builtIn.look(name) != nil, "there is no looks.\(name)")
                case "filter": #expect(FakeGraph.catalog.names.contains(name), "there is no filter.\(name)")
                default: #expect(FakeGraph.catalog.names.contains("\(words[0]).\(name)"), "no \(words[0]).\(name)")
                }
                count += 1
            }
        }
        #expect(count >= 175)
    }

    @Test func catalogExplainsUnknownNames() {
        let error = #expect(throws: PatchError.self) { _ = try FakeGraph.catalog.filter("brigthness") }
        #expect(error?.remedy == "did you mean 'brightness'?")
        #expect(FakeGraph.catalog.category("blend.normal") == "blend")
    }

    /// On a flat grey picture nothing is edge or skin: beautify is only log(1 + 0.2x)/log(1.2) · 1.1.
    @Test func beautifyOnGrey() throws {
        let filter = try FakeGraph.catalog.filter("beautify")
        let grey = [Float](arrayLiteral: 0.5, 0.5, 0.5, 1)
        let result = try FilterRunner.run(filter, [[Float]](repeating: grey, count: 25), width: 5)
        // log(1.1) / log(1.2) · 1.1 = 0.57504
        FilterRunner.expect([result[12]], [[0.57504, 0.57504, 0.57504, 1]], within: 0.002)
    }

    /// Skin, a little noisy and without edges, is smoothed by the share that `smooth` says.
    @Test func beautifySmoothsSkin() throws {
        let filter = try FakeGraph.catalog.filter("beautify")
        let width = 41
        var pixels = [[Float]](repeating: [0.8, 0.6, 0.4, 1], count: width * width)
        let centre = width * (width / 2) + width / 2
        pixels[centre] = [0.82, 0.62, 0.42, 1]
        func tone(_ x: Float, smooth: Float) throws -> Float {
            let result = try FilterRunner.run(
                filter, pixels, width: width, parameters: ["smooth": [smooth], "brightness": [1], "saturation": [1]])
            return result[centre][0]
        }
        // Bilateral, vertical: centre weighs .18, the 8 others .82 · (1 − 4 · .02·√3) = .82 · .86144 = .70638; so the red is
        // (.18 · .82 + .70638 · .8) / .88638 = .80406. Across, the neighbours are .8: distance .00406·√3·4 = .02813, weight
        // .79693, red (.18 · .80406 + .79693 · .8) / .97693 = .80075. With smooth 1: log(1 + .2 · .80075) / log(1.2).
        let smoothed = try tone(0.82, smooth: 1)
        #expect(abs(smoothed - 0.81484) < 0.003, "\(smoothed)")
        let original = try tone(0.82, smooth: 0)
        #expect(abs(original - 0.83267) < 0.003, "\(original)")
    }
}
