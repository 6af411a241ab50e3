import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// Runs the kernels of a filter one after the other, each in a pass of its own: what the planner makes of them must agree.
enum FilterRunner {
    enum Backend: String, CaseIterable, Sendable { case interpreter, jit }

    static let compiler = KernelCompiler()

    /// - Parameters:
    ///   - inputs: one picture for each port; optional ports at the end may have none.
    ///   - size: of the result; nil is the first input's.
    ///   - bandHeight: rows that are computed in one go; nil is all.
    /// - Returns: premultiplied.
    static func run(
        _ filter: KernelFilter, _ inputs: [FilterPicture], size: (width: Int, height: Int)? = nil,
        parameters: [String: [Float]] = [:], context: FrameContext = FrameContext(), backend: Backend = .interpreter,
        bandHeight: Int? = nil
    ) throws -> FilterPicture {
        guard filter.isPlain else {
            // Native stages, stages of other sizes and earlier pictures need an engine.
            let ports = Array(filter.ports.prefix(inputs.count))
            let text = FilterEngine.graph(
                filter.name, ports: ports, parameters: parameters,
                options: size.map { [("size", "\($0.width)x\($0.height)")] } ?? [], forms: filter.forms)
            return try #require(try FilterEngine.run(text, inputs: zip(ports, inputs).map { ($0, [$1]) }).last)
        }
        let (width, height) = size ?? (inputs[0].width, inputs[0].height)
        let format = VideoFormat(.half4, width: width, height: height, color: .srgb)
        let ports = try filter.ports.indices.map { port in
            if port < inputs.count { return try inputs[port].frame() }
            let color = try #require(filter.portDefaults[port], "port \(port) needs a picture")
            return try FilterPicture(filled: color, width: width, height: height).frame()
        }
        var results: [Frame] = []
        for stage in filter.stages {
            let frames = stage.inputs.map { input -> Frame in
                switch input {
                case .port(let port): ports[port]
                case .stage(let stage): results[stage]
                // Not in plain filters.
                case .pastPort, .pastStage: ports[0]
                }
            }
            let output = try #require(FramePool(format: format).take())
            var uniforms: [Float] = []
            for name in stage.uniforms {
                let schema = try #require(filter.parameters.first { $0.name == name })
                uniforms += parameters[name] ?? schema.defaultValue
            }
            uniforms.append(0)
            // As the planner does: a picture of another size is read at the same place in 0…1.
            var kernel = try #require(stage.kernel, "native stages run in an engine")
            for (index, frame) in frames.enumerated() where (frame.width, frame.height) != (width, height) {
                kernel = kernel.samplingInput(index, filter: .bilinear, edge: .clamp)
            }
            let pass = PassDescription(
                kernel: kernel, inputs: frames.map { PassInput($0.format) },
                output: PassOutput(format: .half4, color: .srgb))
            let compiled = backend == .jit ? try compiler.compile(pass) : nil
            frames.map { ImageReference($0) }.withUnsafeBufferPointer { images in
                var row = 0
                while row < height {
                    let rows = row..<min(height, row + (bandHeight ?? height))
                    if let compiled {
                        compiled.run(
                            inputs: images, output: ImageReference(output), uniforms: uniforms, context: context,
                            rows: rows)
                    } else {
                        Interpreter.run(
                            pass, inputs: images, output: ImageReference(output), uniforms: uniforms, context: context,
                            rows: rows)
                    }
                    row = rows.upperBound
                }
            }
            results.append(output)
        }
        return FilterPicture(premultiplied: try #require(results.last))
    }

    /// - Parameters:
    ///   - pixels: straight R'G'B'A, row by row.
    ///   - second: the picture of a second port.
    /// - Returns: straight.
    static func run(
        _ filter: KernelFilter, _ pixels: [[Float]], width: Int, second: [[Float]]? = nil,
        parameters: [String: [Float]] = [:]
    ) throws -> [[Float]] {
        let inputs = [pixels, second].compactMap { $0 }.map { FilterPicture($0, width: width) }
        return try run(filter, inputs, parameters: parameters).straight.pixels
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

extension KernelFilter {
    /// Only kernels of the filter's own size, over pictures of one tick.
    var isPlain: Bool {
        stages.allSatisfy { stage in
            stage.kernel != nil && stage.size == .filter
                && stage.inputs.allSatisfy {
                    switch $0 {
                    case .port, .stage: true
                    case .pastPort, .pastStage: false
                    }
                }
        }
    }
}
