import PatchGraph
import PatchKernel
import PatchMedia

/// `native = "gaussian"`: a Gaussian blur; Y'CbCr plane by plane, chroma at its own size.
///
/// Parameters: `sigma`, the standard deviation in pixels, and `heights`, in heights of the picture; they add up and are cut
/// to 0…200 pixels. 0 hands the picture on as it is.
/// Thread-safety: as `NativeOperator`.
final class GaussianOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: the pyramids' memory is used in `process` alone, which runs once at a time.

    static let kind = OperatorKind(
        name: "gaussian", summary: "A Gaussian blur of any width.",
        formats: [.half4, .half3, .half2, .half1, .rgba, .bgra, .gray8, .yuv420p, .yuv444p],
        parameters: [OperatorParameter("sigma", default: [0]), OperatorParameter("heights", default: [0])]
    ) { try GaussianOperator($0) }

    static let widest: Float = 200
    private static let narrowest: Float = 0.05

    let output: VideoFormat
    private let work: Work

    private enum Work {
        /// Of half floats. At sigma 0 `copy` makes numbers of what is none.
        case halves(GaussianPyramid, copy: CompiledPass)
        /// Of bytes: the first plane, and chroma planes of another size, one after the other.
        case bytes(BytePyramid, chroma: BytePyramid?)
    }

    init(_ request: OperatorRequest) throws {
        guard let format = request.inputs.first else {
            throw PatchError(.kernel, "native 'gaussian' has no input")
        }
        output = format
        let pixelFormat = format.pixelFormat
        if pixelFormat.isHalf {
            work = .halves(
                try GaussianPyramid(format, widest: Self.widest, request: request),
                copy: try request.compile(StandardKernels.copy, inputs: [format], output: format))
            return
        }
        func pyramid(_ plane: Int) throws -> BytePyramid {
            let layout = pixelFormat.layout(ofPlane: plane)
            return try BytePyramid(
                width: layout.width(of: format.width), height: layout.height(of: format.height),
                components: layout.bytesPerPixel, widest: Self.widest / Float(1 << layout.log2Width), request: request)
        }
        work = .bytes(try pyramid(0), chroma: pixelFormat.isYCbCr ? try pyramid(1) : nil)
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        let asked = call.parameters[0] + call.parameters[1] * Float(output.height)
        let sigma = asked > 0 ? min(asked, Self.widest) : 0
        let input = call.inputs[0]
        switch work {
        case .halves(let pyramid, let copy):
            if sigma < Self.narrowest {
                call.workers.run(
                    copy, inputs: call.inputs, output: call.output, uniforms: call.parameters, context: call.context)
            } else {
                pyramid.run(sigma: sigma, from: input, to: call.output, call)
            }
        case .bytes(let first, let chroma):
            // Codes are numbers always.
            if sigma < Self.narrowest { return .input(0) }
            for index in 0..<output.pixelFormat.planeCount {
                let scale = Float(1 << output.pixelFormat.layout(ofPlane: index).log2Width)
                let pyramid = index == 0 ? first : chroma ?? first
                pyramid.run(
                    sigma: sigma / scale, from: input.plane(index), to: call.output.plane(index), call.workers)
            }
        }
        return .filled
    }
}
