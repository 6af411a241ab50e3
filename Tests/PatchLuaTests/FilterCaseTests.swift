import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// The fixtures under Fixtures/filters: expected pixels come from the scripts beside them, which share no code with the
/// filters. Each case runs through the interpreter, the machine code and the engine.
@Suite struct FilterCaseTests {
    @Test(arguments: FilterCase.all) func givesTheExpectedPixels(test: FilterCase) throws {
        let filter = try FilterEngine.filter(test.filter, options: test.options)
        for name in test.parameters.keys {
            #expect(filter.parameters.contains { $0.name == name }, "there is no parameter '\(name)'")
        }
        #expect(test.inputs.map(\.port).allSatisfy(filter.ports.contains), "ports: \(filter.ports)")
        let expected = test.output.premultiplied
        let limit = test.limit / 255
        func check(_ result: FilterPicture, _ how: String) {
            let difference = result.difference(from: expected)
            #expect(
                difference <= limit,
                "\(how): off by \(difference * 255)/255, \(result.worst(against: expected)) (premultiplied)")
        }
        let pictures = try FilterEngine.run(
            FilterEngine.graph(
                test.filter, ports: test.inputs.map(\.port), parameters: test.parameters, options: test.options,
                forms: filter.forms),
            inputs: test.inputs, ticks: test.ticks)
        #expect(pictures.count == test.ticks)
        if let last = pictures.last { check(last, "engine") }

        // Kernels alone, without earlier pictures, also run apart from the engine.
        guard filter.isPlain, test.inputs.allSatisfy({ $0.pictures.count == 1 }), !filter.looksBack || test.ticks == 1
        else { return }
        let (width, height) = (test.output.width, test.output.height)
        let inputs = filter.ports.indices.map { port in
            test.inputs.first { $0.port == filter.ports[port] }?.pictures[0]
                ?? FilterPicture(filled: filter.portDefaults[port] ?? [0, 0, 0, 0], width: width, height: height)
        }
        let tick = Int64(test.tick ?? 0)
        let context = FrameContext(time: Double(tick) / 30, frame: tick)
        for backend in FilterRunner.Backend.allCases {
            let result = try FilterRunner.run(
                filter, inputs, size: (width, height), parameters: test.parameters,
                context: context, backend: backend)
            check(result, backend.rawValue)
        }
    }

    @Test func everyFixtureIsRead() {
        #expect(FilterCase.read.problems == [])
        #expect(FilterCase.all.count >= 300)
    }

    @Test func malformedFixturesAreErrors() {
        for text in [
            "set opacity 1", "filter a\ninput image 2x1\n1", "filter a\ninput image 1x1\n1 1", "filter a\nfoo",
            "filter a\ninput image 1x1\n1\noutput 1x1 within 3\n1", "filter a\ninput image 0x1\n",
        ] {
            #expect(throws: FilterCase.Malformed.self, "\(text)") { _ = try FilterCase.parse(text, file: "text") }
        }
    }
}
