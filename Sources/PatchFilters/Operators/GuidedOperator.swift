import PatchGraph
import PatchKernel
import PatchMedia

/// `native = "guided"`: a guided filter (He, Sun, Tang 2010) of each plane by itself: surfaces become smooth, edges stay.
///
/// In Gaussian windows a sample v is taken for a line a · v + b, with a = variance / (variance + epsilon) and b = mean · (1 − a);
/// a and b are averaged over the windows again and applied to v. Planes should hold values around 0: half floats are finest there.
///
/// Parameters: `sigma`, the windows' standard deviation in pixels, and `heights`, in heights of the picture, which add up and are cut
/// to 0.05…200 pixels; `epsilon` and `contrast`, whose square is added to it; less than 1e-6 in all counts as that.
/// Option: `plain`, how many of the last planes are only averaged, twice, in the same windows.
/// Thread-safety: as `NativeOperator`.
final class GuidedOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: the pyramid's memory is used in `process` alone, which runs once at a time.

    static let kind = OperatorKind(
        name: "guided", summary: "A guided filter of any width.", formats: [.half3, .half4, .half2, .half1],
        parameters: [
            OperatorParameter("sigma", default: [0]), OperatorParameter("heights", default: [0]),
            OperatorParameter("epsilon", default: [0]), OperatorParameter("contrast", default: [0]),
        ]
    ) { try GuidedOperator($0) }

    private static let sigmas = 0.05...GaussianOperator.widest
    private static let leastEpsilon: Float = 1e-6

    let output: VideoFormat
    private let plain: Int
    private let pyramid: GuidedPyramid

    private init(_ request: OperatorRequest) throws {
        guard let format = request.inputs.first else { throw PatchError(.kernel, "native 'guided' has no input") }
        output = format
        let planes = format.pixelFormat.planeCount
        plain = request.options.integer("plain") ?? 0
        guard (0...planes).contains(plain) else {
            throw PatchError(
                .graph, "native 'guided' has \(planes) planes and cannot leave \(plain) plain",
                remedy: "give plain a number of 0 to \(planes), or leave it out")
        }
        pyramid = GuidedPyramid(
            width: format.width, height: format.height, widest: Self.sigmas.upperBound,
            rows: try request.halfPyramidRows(), guided: try request.guidedRows())
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        let asked = call.parameters[0] + call.parameters[1] * Float(output.height)
        // What is no number counts as the least.
        let sigma = asked > Self.sigmas.lowerBound ? min(asked, Self.sigmas.upperBound) : Self.sigmas.lowerBound
        let sum = call.parameters[2] + call.parameters[3] * call.parameters[3]
        let epsilon = sum > Self.leastEpsilon ? sum : Self.leastEpsilon
        let planes = output.pixelFormat.planeCount
        for index in 0..<planes {
            pyramid.run(
                sigma: sigma, epsilon: index < planes - plain ? epsilon : nil, from: call.inputs[0].plane(index),
                to: call.output.plane(index), call.workers)
        }
        return .filled
    }
}
