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
            // Native stages need an engine.
            let ports = Array(filter.ports.prefix(inputs.count))
            let text = FilterEngine.graph(
                filter.name, ports: ports, parameters: parameters,
                options: size.map { [("size", "\($0.width)x\($0.height)")] } ?? [], forms: filter.forms)
            return try #require(try FilterEngine.run(text, inputs: zip(ports, inputs).map { ($0, [$1]) }).last)
        }
        let whole = size ?? (inputs[0].width, inputs[0].height)
        let ports = try filter.ports.indices.map { port in
            if port < inputs.count { return try inputs[port].frame() }
            let color = try #require(filter.portDefaults[port], "port \(port) needs a picture")
            return try FilterPicture(filled: color, width: whole.width, height: whole.height).frame()
        }
        var results: [Frame] = []
        for stage in filter.stages {
            var frames = stage.inputs.map { input -> Frame in
                switch input {
                case .port(let port): ports[port]
                case .stage(let stage): results[stage]
                // The first tick: what was before is the present picture, or the first input for a stage's own past.
                case .pastPort(let port, _): ports[port]
                case .pastStage: ports[0]
                }
            }
            let (width, height) = stage.size.applied(to: whole)
            let storage: PixelFormat = stage.keepsFloats ? .float4 : .half4
            let format = VideoFormat(storage, width: width, height: height, color: .srgb)
            let output = try #require(FramePool(format: format).take())
            var uniforms: [Float] = []
            for name in stage.uniforms {
                let schema = try #require(filter.parameters.first { $0.name == name })
                uniforms += parameters[name] ?? schema.defaultValue
            }
            uniforms.append(0)
            // As the planner does: a picture of another size is read at the same place in 0…1, one of more than twice the size
            // as means of whole blocks.
            var kernel = try #require(stage.kernel, "native stages run in an engine")
            for (index, frame) in frames.enumerated() where (frame.width, frame.height) != (width, height) {
                if kernel.footprint(ofInput: index) == .point {
                    frames[index] = try reduced(frame, width, height, backend)
                }
                kernel = kernel.samplingInput(index, filter: .bilinear, edge: .clamp)
            }
            let pass = PassDescription(
                kernel: kernel, inputs: frames.map { PassInput($0.format) },
                output: PassOutput(format: storage, color: .srgb))
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

    private static func reduced(_ frame: Frame, _ width: Int, _ height: Int, _ backend: Backend) throws -> Frame {
        let (x, y) = (max(1, min(16, frame.width / width)), max(1, min(16, frame.height / height)))
        guard x > 1 || y > 1 else { return frame }
        let format = VideoFormat(
            .half4, width: (frame.width + x - 1) / x, height: (frame.height + y - 1) / y, color: .srgb)
        let output = try #require(FramePool(format: format).take())
        let pass = PassDescription(
            kernel: StandardKernels.reduce(x: x, y: y), inputs: [PassInput(frame.format)],
            output: PassOutput(format: .half4, color: .srgb))
        let compiled = backend == .jit ? try compiler.compile(pass) : nil
        [ImageReference(frame)].withUnsafeBufferPointer { images in
            let rows = 0..<format.height
            if let compiled {
                compiled.run(
                    inputs: images, output: ImageReference(output), uniforms: [0], context: FrameContext(), rows: rows)
            } else {
                Interpreter.run(
                    pass, inputs: images, output: ImageReference(output), uniforms: [0], context: FrameContext(),
                    rows: rows)
            }
        }
        return output
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
