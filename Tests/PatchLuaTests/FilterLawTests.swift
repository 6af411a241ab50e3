import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// The laws that every filter of the library keeps: a new file is covered by being there.
@Suite struct FilterLawTests {
    /// A filter with pictures for all of its ports, or only for those that need one.
    struct Subject {
        let filter: KernelFilter
        var size: (width: Int, height: Int)
        var inputs: [FilterPicture]
        /// Words of the node's table: those of the filter's first fixture, where some must be given.
        var options: [(name: String, text: String)] = []

        init(_ name: String, _ width: Int, _ height: Int, isOpaque: Bool = false, fillsOptional: Bool = true) throws {
            var filter = try FakeGraph.catalog.filter(name)
            size = (width, height)
            if filter.options.contains(where: \.isRequired) {
                options = FilterCase.all.first { $0.filter == name }?.options ?? []
                filter = try FilterEngine.filter(name, options: options)
            }
            if filter.sizing == .required { options.append(("size", "\(width)x\(height)")) }
            self.filter = filter
            inputs = filter.ports.indices.prefix { fillsOptional || filter.portDefaultsFrom($0) == nil }.map {
                .noise(width, height, seed: UInt32($0) + 1, isOpaque: isOpaque)
            }
        }

        /// Values at which the filter does something: what is neutral by default moves towards an end of its range.
        var lively: [String: [Float]] {
            var values: [String: [Float]] = [:]
            for schema in filter.parameters where schema.form != .color && schema.form != .bool {
                guard let range = schema.range, schema.defaultValue == schema.neutral else { continue }
                values[schema.name] = schema.defaultValue.enumerated().map { index, value in
                    let end = index % 2 == 0 && value < range.upperBound ? range.upperBound : range.lowerBound
                    return value + (end - value) * 0.3
                }
            }
            return values
        }

        func run(
            _ parameters: [String: [Float]] = [:], backend: FilterRunner.Backend = .jit, bandHeight: Int? = nil
        ) throws -> FilterPicture {
            // Native operators exist in engines only.
            guard filter.isPlain else { return try engine(parameters) }
            return try FilterRunner.run(
                filter, inputs, parameters: parameters, backend: backend, bandHeight: bandHeight)
        }

        /// Through planner and engine, with Lua lines before and after the node.
        func engine(
            _ parameters: [String: [Float]] = [:], before: String = "", after: String = "", threads: Int = 2
        ) throws -> FilterPicture {
            let ports = Array(filter.ports.prefix(inputs.count))
            var text = FilterEngine.graph(
                filter.name, ports: ports, parameters: parameters,
                options: options, forms: filter.forms)
            if !before.isEmpty {
                text.replace(
                    "source_\(ports[0]) { \"\(ports[0])\" }",
                    with: "source_\(ports[0]) { \"\(ports[0])\" } >> \(before)")
            }
            if !after.isEmpty { text.replace("node >> pictures", with: "node >> \(after) >> pictures") }
            let pictures = try FilterEngine.run(text, inputs: zip(ports, inputs).map { ($0, [$1]) }, threads: threads)
            return try #require(pictures.last)
        }
    }

    static let names = FakeGraph.catalog.names

    @Test(arguments: names) func explainsItself(name: String) throws {
        let filter = try FakeGraph.catalog.filter(name)
        let source = try #require(FakeGraph.catalog.source(name))
        #expect(filter.name == name)
        #expect(!filter.summary.isEmpty && filter.summary.hasSuffix("."), "a summary is a sentence")
        let comment = source.split(separator: "\n").prefix { $0.hasPrefix("--") }.joined(separator: "\n")
        #expect(!comment.isEmpty, "a filter file begins with its formula")
        let lower = comment.lowercased()
        #expect(
            ["encoded", "linear", "any light"].contains { lower.contains($0) }, "the comment says the working light")
        #expect(lower.contains("alpha"), "the comment says what becomes of alpha")
        for schema in filter.parameters {
            #expect(!schema.label.isEmpty, "\(schema.name) has no label")
            #expect(comment.contains(schema.name), "the comment says nothing of \(schema.name)")
            #expect(schema.range != nil || schema.form == .bool, "\(schema.name) has no range")
        }
    }

    @Test(arguments: names) func hasAFixture(name: String) {
        #expect(
            FilterCase.all.contains { $0.filter == name },
            "add a case to the script of its family under Fixtures/filters")
    }

    @Test(arguments: names) func neutralValuesChangeNothing(name: String) throws {
        let subject = try Subject(name, 5, 3, fillsOptional: false)
        let neutral = subject.filter.parameters.filter { $0.neutral != nil }
        guard !neutral.isEmpty else { return }
        let parameters = Dictionary(uniqueKeysWithValues: neutral.map { ($0.name, $0.neutral ?? []) })
        let result = try subject.run(parameters)
        let before = subject.inputs[0].premultiplied
        #expect(result.difference(from: before) <= 1 / 255, "\(result.worst(against: before))")
    }

    @Test(arguments: names) func alphaStaysUnlessItIsTheFiltersBusiness(name: String) throws {
        let subject = try Subject(name, 5, 3)
        let result = try subject.run(subject.lively)
        let differs = zip(result.pixels, subject.inputs[0].pixels).contains { abs($0[3] - $1[3]) > 1 / 1024 }
        #expect(!(subject.filter.keepsAlpha && differs), "write keepsAlpha = false, and why into the comment")
    }

    @Test(arguments: names) func aBandIsThatBandOfTheWhole(name: String) throws {
        let subject = try Subject(name, 17, 13)
        let whole = try subject.run(subject.lively)
        for height in [1, 4, 7] {
            let banded = try subject.run(subject.lively, bandHeight: height)
            #expect(banded.difference(from: whole) == 0, "bands of \(height): \(banded.worst(against: whole))")
        }
    }

    @Test(arguments: names) func threadsDoNotMatter(name: String) throws {
        let subject = try Subject(name, 33, 70)
        let one = try subject.engine(subject.lively, threads: 1)
        let many = try subject.engine(subject.lively, threads: 3)
        #expect(many.difference(from: one) == 0, "\(many.worst(against: one))")
    }

    /// Halving a channel is exact in half floats, so that only the joining of kernels can make a difference.
    @Test(arguments: names) func fusedIsUnfused(name: String) throws {
        let subject = try Subject(name, 9, 6)
        let fused = try subject.engine(
            subject.lively, before: "filter.rgb { red = 0.5 }", after: "filter.rgb { green = 0.5 }")
        let half = try FakeGraph.catalog.filter("rgb")
        var apart = subject
        apart.inputs[0] = try FilterRunner.run(half, [subject.inputs[0]], parameters: ["red": [0.5]], backend: .jit)
            .straight
        let unfused = try FilterRunner.run(
            half, [try apart.run(subject.lively).straight], parameters: ["green": [0.5]], backend: .jit)
        #expect(fused.difference(from: unfused) <= 1 / 255, "\(fused.worst(against: unfused))")
    }

    /// `space = "any"`: computed in Y'CbCr and turned back, the result is the same.
    @Test(arguments: names) func whatWorksInAnySpaceDoes(name: String) throws {
        let subject = try Subject(name, 9, 7, isOpaque: true)
        let kernels = subject.filter.stages.map(\.kernel)
        guard kernels.allSatisfy({ $0?.space == .any }) else { return }
        // BT.601, in numbers of its own.
        func toVideo(_ p: [Float]) -> [Float] {
            let y = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]
            return [y, (p[2] - y) / 1.772, (p[0] - y) / 1.402, p[3]]
        }
        func fromVideo(_ p: [Float]) -> [Float] {
            let (r, b) = (p[0] + 1.402 * p[2], p[0] + 1.772 * p[1])
            return [r, (p[0] - 0.299 * r - 0.114 * b) / 0.587, b, p[3]]
        }
        var video = subject
        for port in video.inputs.indices { video.inputs[port].pixels = video.inputs[port].pixels.map(toVideo) }
        // Colours among the parameters reach such a kernel in its own space.
        var parameters = subject.lively
        for schema in subject.filter.parameters where schema.form == .color {
            parameters[schema.name] = toVideo(schema.defaultValue)
        }
        let inRGB = try subject.run(subject.lively)
        var inVideo = try video.run(parameters)
        inVideo.pixels = inVideo.pixels.map(fromVideo)
        #expect(inVideo.difference(from: inRGB) <= 2 / 255, "\(inVideo.worst(against: inRGB))")
    }

    @Test(arguments: names) func anySizeWorks(name: String) throws {
        for (width, height) in [(1, 1), (1, 7), (7, 1), (2, 2), (5, 3)] {
            let subject = try Subject(name, width, height)
            func compare(_ parameters: [String: [Float]]) throws -> (difference: Float, words: String) {
                let machine = try subject.run(parameters)
                let oracle = try subject.run(parameters, backend: .interpreter)
                return (machine.difference(from: oracle), machine.worst(against: oracle))
            }
            let lively = subject.lively
            var (difference, words) = try compare(lively)
            if difference > 1 / 255 {
                // A step that falls exactly on a pixel may go either way; a hair beside it both agree.
                var moved: [String: [Float]] = [:]
                for schema in subject.filter.parameters where schema.form == .float || schema.form == .vec2 {
                    guard let range = schema.range else { continue }
                    let hair = (range.upperBound - range.lowerBound) * 0.0013
                    moved[schema.name] = (lively[schema.name] ?? schema.defaultValue).map {
                        $0 + hair <= range.upperBound ? $0 + hair : $0 - hair
                    }
                }
                (difference, words) = try compare(moved)
            }
            #expect(difference <= 1 / 255, "\(width)x\(height): \(words)")
        }
    }

    @Test(arguments: names) func wildPixelsAndValuesGiveNumbers(name: String) throws {
        var subject = try Subject(name, 6, 5)
        for port in subject.inputs.indices {
            let wild: [[Float]] = [
                [.nan, 0.5, 0.5, 1], [.infinity, 0, 0, 1], [-.infinity, 0, 0, 1], [0.5, 0.5, 0.5, .nan],
                [60000, -60000, 0, 1], [-1, 2, 0.5, 1], [4, -0.5, 0, 1], [0.5, 0.5, 0.5, -1], [1, 1, 1, 6e-8],
            ]
            for (index, pixel) in wild.enumerated() { subject.inputs[port].pixels[3 * index] = pixel }
        }
        #expect(try subject.run().isFinite)
        for schema in subject.filter.parameters {
            let ends: [Float] =
                schema.form == .bool
                ? [0, 1] : [schema.range?.lowerBound, schema.range?.upperBound].compactMap { $0 }
            for end in ends {
                let parameters = [schema.name: [Float](repeating: end, count: schema.form.count)]
                #expect(try subject.run(parameters).isFinite, "\(schema.name) = \(end)")
            }
        }
    }

    /// Pixels within 0…1 stay near it at both ends of every parameter: nothing blows up.
    @Test(arguments: names) func tamePixelsStayTame(name: String) throws {
        let subject = try Subject(name, 6, 5)
        for schema in subject.filter.parameters {
            for end in [schema.range?.lowerBound, schema.range?.upperBound].compactMap({ $0 }) {
                let parameters = [schema.name: [Float](repeating: end, count: schema.form.count)]
                let result = try subject.run(parameters)
                let largest = result.pixels.joined().map(abs).max() ?? 0
                #expect(largest < 2000, "\(schema.name) = \(end) gives \(largest)")
            }
        }
    }

    @Test(arguments: names.filter { $0.hasPrefix("transition.") }) func transitionsEndWithTheOtherPicture(
        name: String
    ) throws {
        let subject = try Subject(name, 7, 5)
        let ends: [(progress: Float, port: Int)] = [(0, 0), (1, 1)]
        for (progress, port) in ends {
            let expected = subject.inputs[port].premultiplied
            var variants: [[String: [Float]]] = [[:]]
            for schema in subject.filter.parameters where schema.name != "progress" {
                let low = schema.form == .bool ? 0 : schema.range?.lowerBound
                let high = schema.form == .bool ? 1 : schema.range?.upperBound
                for end in [low, high].compactMap({ $0 }) {
                    variants.append([schema.name: [Float](repeating: end, count: schema.form.count)])
                }
            }
            for var parameters in variants {
                parameters["progress"] = [progress]
                let result = try subject.run(parameters)
                #expect(
                    result.difference(from: expected) <= 1 / 1024,
                    "progress \(progress), \(parameters): \(result.worst(against: expected))")
            }
        }
    }
}

extension KernelFilter {
    var forms: [String: ParameterSchema.Form] {
        Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0.form) })
    }

    /// Only kernels: runs apart from an engine.
    var isPlain: Bool { stages.allSatisfy { $0.kernel != nil } }

    /// Reads pictures of earlier ticks.
    var looksBack: Bool {
        stages.contains { stage in
            stage.inputs.contains { input in
                switch input {
                case .pastPort, .pastStage: true
                case .port, .stage: false
                }
            }
        }
    }

    /// nil for a port that must be wired, or has one behind it that must.
    func portDefaultsFrom(_ port: Int) -> [Float]? {
        (port..<ports.count).allSatisfy { portDefaults[$0] != nil } ? portDefaults[port] : nil
    }
}
