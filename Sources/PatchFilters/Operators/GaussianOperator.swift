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
    /// For pictures of halves at sigma 0: makes numbers of what is none. nil for codes, which are numbers.
    private let copy: CompiledPass?
    private let pyramid: GaussianPyramid
    /// Of chroma planes; both use it, one after the other.
    private let chroma: GaussianPyramid?

    init(_ request: OperatorRequest) throws {
        guard let format = request.inputs.first else {
            throw PatchError(.kernel, "native 'gaussian' has no input")
        }
        output = format
        let pixelFormat = format.pixelFormat
        copy =
            pixelFormat.isHalf
            ? try request.compile(StandardKernels.copy, inputs: [format], output: format) : nil
        guard pixelFormat.isYCbCr else {
            pyramid = try GaussianPyramid(format, widest: Self.widest, request: request)
            chroma = nil
            return
        }
        func plane(_ index: Int) -> VideoFormat {
            let layout = pixelFormat.layout(ofPlane: index)
            return VideoFormat(
                .gray8, width: layout.width(of: format.width), height: layout.height(of: format.height), color: .srgb)
        }
        pyramid = try GaussianPyramid(plane(0), widest: Self.widest, request: request)
        chroma = try GaussianPyramid(
            plane(1), widest: Self.widest / Float(1 << pixelFormat.log2ChromaWidth), request: request)
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        let asked = call.parameters[0] + call.parameters[1] * Float(output.height)
        let sigma = asked > 0 ? min(asked, Self.widest) : 0
        guard sigma >= Self.narrowest else {
            guard let copy else { return .input(0) }
            call.workers.run(
                copy, inputs: call.inputs, output: call.output, uniforms: call.parameters, context: call.context)
            return .filled
        }
        let input = call.inputs[0]
        guard let chroma else {
            pyramid.run(sigma: sigma, from: input, to: call.output, call)
            return .filled
        }
        let format = output.pixelFormat
        for index in 0..<format.planeCount {
            let layout = format.layout(ofPlane: index)
            let from = input.plane(index, layout)
            let to = call.output.plane(index, layout)
            if index == 0 {
                pyramid.run(sigma: sigma, from: from, to: to, call)
            } else {
                chroma.run(sigma: sigma / Float(1 << layout.log2Width), from: from, to: to, call)
            }
        }
        return .filled
    }
}

extension ImageReference {
    /// One plane as a grey picture.
    func plane(_ index: Int, _ layout: PlaneLayout) -> ImageReference {
        let plane =
            switch index {
            case 0: planes.0
            case 1: planes.1
            case 2: planes.2
            default: planes.3
            }
        return ImageReference(
            planes: (plane, plane, plane, plane), width: layout.width(of: width), height: layout.height(of: height))
    }
}
