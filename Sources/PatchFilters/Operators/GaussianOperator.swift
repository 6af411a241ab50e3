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
    private let pyramid: RowPyramid
    /// For chroma planes of another size.
    private let chroma: RowPyramid?
    /// Of half floats: at sigma 0 it makes numbers of what is none.
    private let copy: CompiledPass?

    init(_ request: OperatorRequest) throws {
        guard let format = request.inputs.first else {
            throw PatchError(.kernel, "native 'gaussian' has no input")
        }
        output = format
        let pixelFormat = format.pixelFormat
        let isHalf = pixelFormat.isHalf
        let rows = try isHalf ? request.halfPyramidRows() : request.pyramidRows()
        func pyramid(_ plane: Int) -> RowPyramid {
            let layout = pixelFormat.layout(ofPlane: plane)
            return RowPyramid(
                width: layout.width(of: format.width), height: layout.height(of: format.height),
                components: layout.bytesPerPixel / rows.sampleBytes,
                widest: Self.widest / Float(1 << layout.log2Width), rows: rows)
        }
        self.pyramid = pyramid(0)
        chroma = pixelFormat.isYCbCr ? pyramid(1) : nil
        copy = isHalf ? try request.compile(StandardKernels.copy, inputs: [format], output: format) : nil
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        let asked = call.parameters[0] + call.parameters[1] * Float(output.height)
        let sigma = asked > 0 ? min(asked, Self.widest) : 0
        if sigma < Self.narrowest {
            // Codes are numbers always.
            guard let copy else { return .input(0) }
            call.workers.run(
                copy, inputs: call.inputs, output: call.output, uniforms: call.parameters, context: call.context)
            return .filled
        }
        for index in 0..<output.pixelFormat.planeCount {
            let scale = Float(1 << output.pixelFormat.layout(ofPlane: index).log2Width)
            (index == 0 ? pyramid : chroma ?? pyramid).run(
                sigma: sigma / scale, from: call.inputs[0].plane(index), to: call.output.plane(index), call.workers)
        }
        return .filled
    }
}
