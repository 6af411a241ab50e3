import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// What `space = "any"` promises, of every filter that says it: the same picture in R'G'B' and in Y'CbCr.
@Suite struct AnySpaceLawTests {
    private static func isAny(_ name: String) -> Bool {
        guard let filter = try? FakeGraph.catalog.filter(name) else { return false }
        // One that reads earlier pictures shows them through the same kernels; here there are none.
        return filter.stages.allSatisfy { stage in
            stage.kernel?.space == .any
                && stage.inputs.allSatisfy { input in
                    switch input {
                    case .port, .stage: true
                    case .pastPort, .pastStage: false
                    }
                }
        }
    }

    static let names = FakeGraph.catalog.names.filter(isAny)

    private static let compiler = KernelCompiler()
    private static let width = 48
    private static let height = 36

    private static func run(
        _ kernel: Kernel, _ inputs: [Frame], to format: VideoFormat, uniforms: [Float] = []
    ) throws -> Frame {
        let output = Frame(allocating: format)
        let description = PassDescription(
            kernel: kernel, inputs: inputs.map { PassInput($0.format) },
            output: PassOutput(format: format.pixelFormat, color: format.color))
        let pass = try compiler.compile(description)
        let images = inputs.map { ImageReference($0) }
        let floats = uniforms + [0]
        images.withUnsafeBufferPointer { images in
            floats.withUnsafeBufferPointer { floats in
                guard let base = floats.baseAddress else { return }
                pass.run(
                    inputs: images, output: ImageReference(output), uniforms: base, context: FrameContext(time: 0.5),
                    rows: 0..<output.height)
            }
        }
        return output
    }

    /// The filter's last picture as 10-bit Y'CbCr, with its pictures between stages in this format.
    private func result(
        _ filter: KernelFilter, _ ports: [Frame], between: PixelFormat, _ parameters: [String: [Float]]
    ) throws -> Frame {
        let video = VideoFormat(.yuv444p10, width: Self.width, height: Self.height, color: .bt709)
        let format =
            between.isFloat ? VideoFormat(between, width: Self.width, height: Self.height, color: .srgb) : video
        var results: [Frame] = []
        for stage in filter.stages {
            let inputs = try stage.inputs.map { input -> Frame in
                switch input {
                case .port(let port): ports[port]
                case .stage(let stage): results[stage]
                default: throw PatchError(.kernel, "'\(filter.name)' reads earlier pictures")
                }
            }
            let kernel = try #require(stage.kernel)
            let uniforms = stage.uniforms.flatMap { parameters[$0] ?? [0] }
            results.append(try Self.run(kernel, inputs, to: format, uniforms: uniforms))
        }
        let last = try #require(results.last)
        return between.isFloat ? try Self.run(StandardKernels.copy, [last], to: video) : last
    }

    @Test(arguments: names) func isTheSameInRGBAndYCbCr(name: String) throws {
        let filter = try FakeGraph.catalog.filter(name)
        let video = VideoFormat(.yuv444p10, width: Self.width, height: Self.height, color: .bt709)
        let ports = try filter.ports.indices.map { port in
            let picture = FilterPicture.noise(Self.width, Self.height, seed: UInt32(port) + 5)
            return try Self.run(StandardKernels.copy, [try picture.frame()], to: video)
        }
        for share in [nil, Float(0.4)] {
            var parameters: [String: [Float]] = [:]
            for schema in filter.parameters {
                parameters[schema.name] = schema.defaultValue
                if let share, let range = schema.range, schema.form == .float {
                    parameters[schema.name] = [range.lowerBound + share * (range.upperBound - range.lowerBound)]
                }
                if schema.form == .color { parameters[schema.name] = [0.9, 0.3, 0.1, 1] }
            }
            let rgb = try result(filter, ports, between: .half4, parameters)
            let ycc = try result(filter, ports, between: .yuv444p10, parameters)
            var worst = 0
            for plane in 0..<3 {
                for y in 0..<Self.height {
                    let a = rgb.plane(plane).row(y).assumingMemoryBound(to: UInt16.self)
                    let b = ycc.plane(plane).row(y).assumingMemoryBound(to: UInt16.self)
                    for x in 0..<Self.width { worst = max(worst, abs(Int(a[x]) - Int(b[x]))) }
                }
            }
            // A code of 8 bits is four of these; each stage rounds once on either side.
            #expect(worst <= 2 + 2 * filter.stages.count, "\(name) \(parameters): \(worst)")
        }
    }

    /// The law can fail: brightness is not for any space.
    @Test func aFormulaThatAddsIsFound() throws {
        #expect(!Self.names.contains("brightness"))
        #expect(Self.names.contains("resize") && Self.names.contains("transition.fade"))
    }
}
