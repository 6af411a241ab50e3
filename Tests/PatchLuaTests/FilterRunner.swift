import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// Runs a filter on a few pixels with the kernel interpreter.
enum FilterRunner {
    /// - Parameters:
    ///   - pixels: straight R'G'B'A, row by row.
    ///   - second: the picture of a second port.
    static func run(
        _ filter: KernelFilter, _ pixels: [[Float]], width: Int, second: [[Float]]? = nil,
        parameters: [String: [Float]] = [:]
    ) throws -> [[Float]] {
        let height = pixels.count / width
        let format = VideoFormat(.half4, width: width, height: height, color: .srgb)
        func frame() throws -> Frame { try #require(FramePool(format: format).take()) }
        func load(_ pixels: [[Float]]) throws -> Frame {
            let frame = try frame()
            for (index, pixel) in pixels.enumerated() {
                for channel in 0..<4 {
                    let row = frame.plane(channel).row(index / width).assumingMemoryBound(to: Float16.self)
                    row[index % width] = Float16(channel < 3 ? pixel[channel] * pixel[3] : pixel[3])
                }
            }
            return frame
        }
        var ports = [try load(pixels)]
        if let second { ports.append(try load(second)) }
        var results: [Frame] = []
        for stage in filter.stages {
            let inputs = stage.inputs.map { input -> Frame in
                switch input {
                case .port(let port): ports[port]
                case .stage(let stage): results[stage]
                // The first tick: what was before is the first input.
                case .pastPort, .pastStage: ports[0]
                }
            }
            let kernel = try #require(stage.kernel, "native stages run in an engine")
            let output = try frame()
            var uniforms: [Float] = []
            for name in stage.uniforms {
                let schema = try #require(filter.parameters.first { $0.name == name })
                uniforms += parameters[name] ?? schema.defaultValue
            }
            uniforms.append(0)
            let pass = PassDescription(
                kernel: kernel, inputs: inputs.map { PassInput($0.format) },
                output: PassOutput(format: .half4, color: .srgb))
            inputs.map { ImageReference($0) }.withUnsafeBufferPointer { images in
                Interpreter.run(
                    pass, inputs: images, output: ImageReference(output), uniforms: uniforms, context: FrameContext(),
                    rows: 0..<height)
            }
            results.append(output)
        }
        let last = try #require(results.last)
        return pixels.indices.map { index in
            let raw = (0..<4).map { channel in
                Float(last.plane(channel).row(index / width).assumingMemoryBound(to: Float16.self)[index % width])
            }
            return raw[3] == 0 ? raw : [raw[0] / raw[3], raw[1] / raw[3], raw[2] / raw[3], raw[3]]
        }
    }

    /// Half floats hold 11 bits: values up to 1 agree to 1/1000.
    static func expect(
        _ result: [[Float]], _ expected: [[Float]], within limit: Float = 0.0015, _ comment: String = "",
        at location: Testing.SourceLocation = #_sourceLocation
    ) {
        let difference = zip(result.joined(), expected.joined()).map { abs($0 - $1) }.max() ?? .infinity
        #expect(
            result.count == expected.count && difference <= limit, "\(comment) \(result) is not \(expected)",
            sourceLocation: location)
    }
}
