import PatchGraph
import PatchKernel
import PatchMedia

/// One way in which our kernels do a workload: passes over memory, each from earlier pictures to a new one.
struct OurWay {
    struct Step {
        var filter: Filter
        /// Pictures that it reads: 0 is the workload's input, 1 the first step's output, and so on; -1 the LUT in half floats,
        /// -2 in bytes.
        var inputs: [Int]
        var output: VideoFormat
        /// Of Y'CbCr pictures that it reads or writes, only this plane, as a grey picture.
        var plane: Int?
        /// A picture of an earlier step to write into, in place of a new one.
        var into: Int?
    }
    var name: String
    /// How the input's bytes are to be understood.
    var input: VideoFormat
    var steps: [Step]
}

extension OurWay {
    /// All ways of a workload; the fastest counts.
    static func all(of workload: Workload, width: Int, height: Int) throws -> [OurWay] {
        let rgba = VideoFormat(.rgba, width: width, height: height, color: .srgb, premultiplied: false)
        let video = VideoFormat(.yuv420p, width: width, height: height, color: TestPictures.video)
        func half(_ channels: Int, _ divisor: Int = 1) -> VideoFormat {
            VideoFormat(
                .half(channels: channels), width: width / divisor, height: height / divisor, color: .srgb,
                premultiplied: true)
        }
        // Between nodes alpha is premultiplied, and video knows no other.
        var premultiplied = rgba
        premultiplied.premultiplied = true
        let same = workload.format == .rgba ? rgba : video
        func one(_ name: String, _ filter: Filter, _ output: VideoFormat) -> OurWay {
            OurWay(name: name, input: same, steps: [Step(filter: filter, inputs: [0], output: output)])
        }
        switch workload.name {
        case "W1": return [one("one pass", try Filters.look(), same)]
        case "W1y":
            var full = video
            full.color.range = .full
            var way = one("one pass", try Filters.lookYCbCr(), full)
            way.input = full
            return [way]
        case "W2":
            var format = same
            format.premultiplied = true
            return try gaussian(workload, format, half: { half($0, $1) })
        case "W5":
            return try [("table of halves", -1), ("table of bytes", -2)].map { name, table in
                let step = Step(filter: try Filters.lut(), inputs: [0, table], output: rgba)
                return OurWay(name: name, input: rgba, steps: [step])
            }
        case "W6-sobel":
            return [
                one("one pass", try Filters.sobel(ofLuma: true), rgba),
                OurWay(
                    name: "luma as half", input: rgba,
                    steps: [
                        Step(filter: try Filters.luma601(), inputs: [0], output: half(1)),
                        Step(filter: try Filters.sobel(ofLuma: false), inputs: [1], output: rgba),
                    ]),
            ]
        case "W6-3x3": return [one("one pass", try Filters.convolution3x3(), rgba)]
        case "W10-decode": return [one("one pass", Filters.copy, premultiplied)]
        case "W10-encode":
            var way = one("one pass", Filters.copy, video)
            way.input = premultiplied
            return [way]
        case "W10-both":
            return [
                OurWay(
                    name: "two passes", input: video,
                    steps: [
                        Step(filter: Filters.copy, inputs: [0], output: premultiplied),
                        Step(filter: Filters.copy, inputs: [1], output: video),
                    ])
            ]
        default: throw BenchProblem("no way of \(workload.name)")
        }
    }

    /// Each plane blurred alone, at its own size.
    private static func planesApart(_ format: VideoFormat) throws -> OurWay {
        var steps: [Step] = []
        for plane in 0..<3 {
            let layout = format.pixelFormat.layout(ofPlane: plane)
            let middle = VideoFormat(
                .half1, width: layout.width(of: format.width), height: layout.height(of: format.height), color: .srgb)
            let sigma: Double = plane == 0 ? 4 : 2
            steps.append(
                Step(
                    filter: try Filters.gaussian(sigma: sigma, horizontal: true), inputs: [0], output: middle,
                    plane: plane))
            steps.append(
                Step(
                    filter: try Filters.gaussian(sigma: sigma, horizontal: false), inputs: [steps.count],
                    output: format, plane: plane, into: plane == 0 ? nil : 2))
        }
        return OurWay(name: "planes apart", input: format, steps: steps)
    }

    private static func gaussian(
        _ workload: Workload, _ format: VideoFormat, half: (_ channels: Int, _ divisor: Int) -> VideoFormat
    ) throws -> [OurWay] {
        let space: KernelSpace = workload.format == .rgba ? .rgb : .ycbcr
        let channels = workload.format == .rgba ? 4 : 3
        func blur(_ sigma: Double, _ horizontal: Bool) throws -> Filter {
            try Filters.gaussian(sigma: sigma, horizontal: horizontal, space: space)
        }
        var small = half(channels, 2)
        var middle = half(channels, 1)
        if space == .ycbcr {
            small.color = format.color
            middle.color = format.color
        }
        let direct = OurWay(
            name: "across, down", input: format,
            steps: [
                Step(filter: try blur(4, true), inputs: [0], output: middle),
                Step(filter: try blur(4, false), inputs: [1], output: format),
            ])
        // The mean of 2×2 pixels and the bilinear way back have variances of their own, in pixels of the small picture.
        if space == .ycbcr { return [direct, try planesApart(format)] }
        guard format.width % 2 == 0, format.height % 2 == 0 else { return [direct] }
        let shrink = Filter(kernel: StandardKernels.reduce(x: 2, y: 2), uniforms: [])
        let grow = Filter(kernel: StandardKernels.resize(), uniforms: [])
        var bytes = format
        (bytes.width, bytes.height) = (format.width / 2, format.height / 2)
        let rest = (4.0 * 4.0 / 4 - 0.25 / 4 - 0.5 / 4).squareRoot()
        return [
            direct,
            OurWay(
                name: "half the size", input: format,
                steps: [
                    Step(filter: shrink, inputs: [0], output: small),
                    Step(filter: try blur(rest, true), inputs: [1], output: small),
                    Step(filter: try blur(rest, false), inputs: [2], output: small),
                    Step(filter: grow, inputs: [3], output: format),
                ]),
            // Pixels that are packed are read by one gather each in place of four.
            OurWay(
                name: "half the size, back from bytes", input: format,
                steps: [
                    Step(filter: shrink, inputs: [0], output: small),
                    Step(filter: try blur(rest, true), inputs: [1], output: small),
                    Step(filter: try blur(rest, false), inputs: [2], output: bytes),
                    Step(filter: grow, inputs: [3], output: format),
                ]),
        ]
    }
}

/// A way of ours with its machine code and pictures, ready to run.
final class OurRun {
    private struct Stage {
        var pass: CompiledPass
        var inputs: UnsafeMutableBufferPointer<ImageReference>
        var output: Frame
        var target: ImageReference
        var uniforms: UnsafeMutablePointer<Float>
    }
    private var stages: [Stage] = []
    private var frames: [Frame] = []
    private let tables: [Frame]
    private var context = FrameContext()
    let workers: Workers
    private let threads: Int

    /// - Parameters:
    ///   - picture: bytes of the way's input.
    ///   - tables: the LUT as pictures, which inputs -1, -2 … name.
    init(
        _ way: OurWay, picture: [UInt8], tables: [Frame], compiler: KernelCompiler, workers: Workers, threads: Int
    ) throws {
        self.workers = workers
        self.threads = threads
        self.tables = tables
        let input = Frame(allocating: way.input)
        try input.fill(from: picture, name: "the input")
        frames = [input] + way.steps.map { Frame(allocating: $0.output) }
        for (index, step) in way.steps.enumerated() {
            let inputs = try step.inputs.map { number -> Frame in
                guard number < 0 else { return frames[number] }
                guard -number <= tables.count else { throw BenchProblem("\(way.name) needs a table") }
                return tables[-number - 1]
            }
            if let into = step.into { frames[index + 1] = frames[into] }
            let output = frames[index + 1]
            let (target, targetFormat) = Self.part(output, step.plane)
            let sources = inputs.map { Self.part($0, step.plane) }
            let pass = try compiler.compile(
                PassDescription(
                    kernel: step.filter.kernel, inputs: sources.map { PassInput($0.1) },
                    output: PassOutput(
                        format: targetFormat.pixelFormat, color: targetFormat.color,
                        premultiplied: targetFormat.premultiplied)))
            let references = UnsafeMutableBufferPointer<ImageReference>.allocate(capacity: inputs.count)
            for (i, source) in sources.enumerated() { references.initializeElement(at: i, to: source.0) }
            let uniforms = UnsafeMutablePointer<Float>.allocate(capacity: max(1, step.filter.uniforms.count))
            for (i, value) in step.filter.uniforms.enumerated() { uniforms[i] = value }
            guard step.filter.uniforms.count == step.filter.kernel.uniformFloatCount else {
                throw BenchProblem("\(step.filter.kernel.name) has other uniforms than values")
            }
            stages.append(
                Stage(pass: pass, inputs: references, output: output, target: target, uniforms: uniforms))
        }
    }

    /// A whole picture, or one plane of a Y'CbCr picture as grey.
    private static func part(_ frame: Frame, _ plane: Int?) -> (ImageReference, VideoFormat) {
        guard let plane, frame.format.pixelFormat.isYCbCr else { return (ImageReference(frame), frame.format) }
        let layout = frame.format.pixelFormat.layout(ofPlane: plane)
        let memory = frame.plane(plane)
        let (width, height) = (layout.width(of: frame.width), layout.height(of: frame.height))
        return (
            ImageReference(planes: (memory, memory, memory, memory), width: width, height: height),
            VideoFormat(.gray8, width: width, height: height, color: .srgb)
        )
    }

    deinit {
        for stage in stages {
            stage.inputs.deallocate()
            stage.uniforms.deallocate()
        }
    }

    var output: Frame { stages[stages.count - 1].output }

    /// One frame.
    func run() {
        for stage in stages {
            let alignment = stage.pass.rowAlignment
            // As the engine cuts them: about four bands a thread.
            let rows = (stage.target.height + threads * 4 - 1) / (threads * 4)
            workers.run(
                BandJob(
                    pass: stage.pass, inputs: UnsafeBufferPointer(stage.inputs), output: stage.target,
                    uniforms: stage.uniforms, context: context, rows: stage.target.height,
                    bandRows: max(alignment, (rows + alignment - 1) / alignment * alignment)))
        }
        context.frame += 1
    }
}
