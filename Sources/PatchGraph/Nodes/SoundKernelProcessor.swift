import PatchKernel
import PatchMedia

/// A node made of a `SoundKernel`: machine code over the block, in place.
///
/// Thread-safety: as `SoundProcessor` states.
public final class SoundKernelProcessor: SoundProcessor, @unchecked Sendable {
    // Unchecked: written by `prepare` before the node runs, then by one thread.
    /// Equal kernels are one piece of code.
    private static let compiler = KernelCompiler()

    private let kernel: SoundKernel
    private var pass: CompiledPass?
    private let uniforms: UnsafeMutableBufferPointer<Float>

    public init(_ kernel: SoundKernel) {
        self.kernel = kernel
        uniforms = .allocate(capacity: kernel.kernel.uniformFloatCount)
        uniforms.initialize(repeating: 0)
    }

    deinit { uniforms.deallocate() }

    public func prepare(_ format: AudioFormat, longestBlock: Int) throws {
        if case .frame(let channels) = kernel.unit, channels != format.channels {
            throw PatchError(
                .graph, "a kernel for \(channels) channels gets \(format.channels)",
                remedy: "say channels = \(format.channels) (4 at most), or write sample = function(s, p) …")
        }
        do { pass = try Self.compiler.compile(kernel.pass) } catch {
            throw PatchError(error.code == .budget ? .budget : .kernel, error.message, remedy: error.remedy)
        }
    }

    public func process(_ block: AudioBlock, _ parameters: SoundParameters) {
        guard let pass, block.count > 0, let values = uniforms.baseAddress else { return }
        let first = SoundKernel.set(kernel.parameters, parameters, of: block, to: uniforms)
        withUnsafePointer(to: kernel.unit.picture(of: block)) { picture in
            pass.run(
                inputs: UnsafeBufferPointer(start: picture, count: 1), output: picture.pointee, uniforms: values,
                context: FrameContext(time: block.pts.seconds, frame: first), rows: 0..<picture.pointee.height)
        }
    }
}

extension SoundKernel {
    /// Writes what a kernel's uniforms are for a block.
    /// - Returns: the number of the block's first sample, since the start.
    static func set(
        _ schemas: [ParameterSchema], _ parameters: SoundParameters, of block: AudioBlock,
        to uniforms: UnsafeMutableBufferPointer<Float>
    ) -> Int64 {
        var (place, source) = (0, 0)
        for schema in schemas {
            let count = schema.form.count
            for component in 0..<count {
                let (begin, end) = parameters[source + component]
                uniforms[place + component] = schema.form == .bool ? end : begin
                uniforms[place + count + component] = (end - begin) / Float(block.count)
            }
            place += 2 * count
            source += count
        }
        let rate = Int64(block.format.sampleRate)
        let time = block.pts
        let seconds = time.value / time.timescale
        let sample = (time.value % time.timescale) * rate / time.timescale
        uniforms[place] = Float(seconds / 512 * 512)
        uniforms[place + 1] = Float(seconds % 512)
        uniforms[place + 2] = Float(sample)
        uniforms[place + 3] = 1 / Float(rate)
        return seconds * rate + sample
    }
}

extension SoundKernel.Unit {
    /// A block as the picture that a kernel of this unit reads and writes.
    func picture(of block: AudioBlock) -> ImageReference {
        let stride = block.capacity * MemoryLayout<Float>.stride
        func plane(_ channel: Int) -> Plane {
            let index = min(channel, block.format.channels - 1)
            return Plane(base: UnsafeMutableRawPointer(block.channel(index)), stride: stride)
        }
        switch self {
        case .sample:
            let plane = plane(0)
            return ImageReference(
                planes: (plane, plane, plane, plane), width: block.count, height: block.format.channels)
        case .frame:
            return ImageReference(
                planes: (plane(0), plane(1), plane(2), plane(3)), width: block.count, height: 1)
        }
    }
}
