import Glibc
import PatchGraph
import PatchKernel
import PatchMedia
import PatchSound
import Testing

/// Kernels for sound: machine code over blocks, against formulas in double precision.
@Suite struct SoundKernelTests {
    private typealias Body = (inout KernelBuilder, Value, [Value]) throws(KernelError) -> Value

    private func kernel(
        _ unit: SoundKernel.Unit, _ parameters: [ParameterSchema] = [], _ body: Body
    ) throws -> SoundKernel {
        var builder = SoundKernelBuilder.make(name: "sound", parameters: parameters)
        let input = try SoundKernelBuilder.input(unit, &builder)
        var values: [Value] = []
        for index in parameters.indices {
            values.append(try SoundKernelBuilder.parameter(index, parameters, &builder))
        }
        let result = try body(&builder, input, values)
        return SoundKernel(
            parameters: parameters, unit: unit, kernel: try SoundKernelBuilder.finish(result, unit, &builder))
    }

    private func run(
        _ kernel: SoundKernel, channels: Int = 2, parameters: [String: ParameterValue] = [:],
        rate: FrameRate? = nil, _ wave: @escaping @Sendable (Int64, Int) -> Float
    ) -> SoundRun {
        var run = SoundRun(["tone": ToneSource(channels: channels, wave)], channels: channels)
        run.patch.settings.rate = rate
        run.patch.nodes.append(PatchNode(id: "k", kind: "audio.kernel", body: .sound(kernel), parameters: parameters))
        run.patch.wire("tone", "k", "out")
        return run
    }

    /// x / (1 + |x|), each channel by itself.
    @Test(arguments: [1, 2, 6])
    func aSampleKernelSeesEachChannel(_ channels: Int) throws {
        let soft = try kernel(.sample) { builder, s, _ throws(KernelError) in
            let one = builder.constant(Float(1))
            let size = try builder.apply(.add, [one, try builder.apply(.abs, [s])])
            return try builder.apply(.div, [s, size])
        }
        let wave: @Sendable (Int64, Int) -> Float = { 3 * sinf(Float($0) * Float($1 + 1) * 0.01) }
        let heard = try run(soft, channels: channels, wave).heard(ticks: 7)
        for channel in 0..<channels {
            for (index, sample) in heard[channel].enumerated() {
                let x = Double(wave(Int64(index), channel))
                #expect(abs(Double(sample) - x / (1 + abs(x))) < 1e-6)
            }
        }
    }

    /// Mid and side: the width of stereo goes from 1 to 0 over half a second.
    @Test func aFrameKernelSeesAllChannelsAndParametersMoveInSamples() throws {
        let width = try kernel(.frame(channels: 2), [ParameterSchema("width", default: [1], range: 0...2)]) {
            builder, f, p throws(KernelError) in
            let half = builder.constant(Float(0.5))
            let (left, right) = (try builder.swizzle(f, "x"), try builder.swizzle(f, "y"))
            let mid = try builder.apply(.mul, [try builder.apply(.add, [left, right]), half])
            let side = try builder.apply(
                .mul, [try builder.apply(.mul, [try builder.apply(.sub, [left, right]), half]), p[0]])
            return try builder.construct(
                .vec2, [try builder.apply(.add, [mid, side]), try builder.apply(.sub, [mid, side])])
        }
        let heard = try run(
            width, parameters: ["width": .ramp(to: [0], seconds: 0.5, easing: .linear)]
        ) { _, channel in channel == 0 ? 0.8 : -0.2 }.heard(ticks: 30)
        #expect(abs(heard[0].last! - 0.3) < 1e-6 && abs(heard[1].last! - 0.3) < 1e-6)
        #expect(abs(heard[0][0] - 0.8) < 0.01)
        // No stairs: a straight line over half a second has steps of 0.5 / 24000.
        for (a, b) in zip(heard[0], heard[0].dropFirst()) { #expect(abs(a - b) < 1e-4) }
    }

    /// A tone of 440.1 Hz stays a tone of 440.1 Hz, at rates whose ticks have uneven numbers of samples, for hours.
    @Test(arguments: [FrameRate(30), FrameRate(30_000, over: 1001)])
    func phaseIsExactForHours(_ rate: FrameRate) throws {
        let parameters = [ParameterSchema("hz", default: [440.1], range: 1...20_000)]
        let ring = try kernel(.sample, parameters) { builder, s, p throws(KernelError) in
            try SoundKernelBuilder.phase(p[0], parameters, &builder)
        }
        let heard = try run(ring, channels: 1, rate: rate) { _, _ in 1 }.heard(ticks: 30)[0]
        #expect(worstPhase(heard, first: 0) < 1e-4)

        // The same, twenty hours later.
        let processor = SoundKernelProcessor(ring)
        try processor.prepare(AudioFormat(channels: 1), longestBlock: 4000)
        let tick = Int64(20 * 3600 * 30 + 11)
        let block = AudioBlock(format: AudioFormat(channels: 1), capacity: 4000)
        block.count = 1600
        block.pts = rate.time(ofFrame: tick)
        let value: [Float] = [440.1]
        value.withUnsafeBufferPointer { value in
            processor.process(block, SoundParameters(from: value.baseAddress!, to: value.baseAddress!))
        }
        let samples = Array(UnsafeBufferPointer(start: block.channel(0), count: block.count))
        let first = Int64((block.pts.seconds * 48_000 + 1e-6).rounded(.down))
        #expect(worstPhase(samples, first: first) < 1e-4)
    }

    /// How far off a phase is, in cycles.
    private func worstPhase(_ heard: [Float], first: Int64) -> Double {
        let hertz = Double(Float(440.1))
        return heard.enumerated().reduce(0) { worst, entry in
            let sample = first + Int64(entry.offset)
            // Whole seconds and the rest apart, so that the reference is exact too.
            let expected =
                (hertz * Double(sample / 48_000)).truncatingRemainder(dividingBy: 1)
                + hertz * Double(sample % 48_000) / 48_000
            let gap = Double(entry.element) - expected
            return max(worst, abs(gap - gap.rounded()))
        }
    }

    /// Machine code and interpreter, over lengths around those of vectors.
    @Test func machineCodeAgreesWithTheInterpreter() throws {
        let parameters = [ParameterSchema("hz", default: [313.7]), ParameterSchema("drive", default: [2])]
        let crush = try kernel(.frame(channels: 2), parameters) { builder, f, p throws(KernelError) in
            let turn = builder.constant(2 * Float.pi)
            let phase = try SoundKernelBuilder.phase(p[0], parameters, &builder)
            let tone = try builder.apply(.sin, [try builder.apply(.mul, [phase, turn])])
            let loud = try builder.apply(.mul, [try builder.apply(.mul, [f, p[1]]), tone])
            let (low, high) = (builder.constant(Float(-0.7)), builder.constant(Float(0.7)))
            return try builder.apply(.clamp, [loud, low, high])
        }
        let format = PixelFormat.float(channels: 2)
        let description = PassDescription(
            kernel: crush.kernel, inputs: [PassInput(format: format)], output: PassOutput(format: format))
        let pass = try KernelCompiler().compile(description)
        let uniforms: [Float] = [313.7, 0.001, 2, -0.0003, 1024, 77, 4711, 1.0 / 48_000]
        #expect(uniforms.count == crush.kernel.uniformFloatCount)
        for count in [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 1600, 1601] {
            func rows() -> [Float] { (0..<2 * count).map { SoundChainTests.noise(Int64($0), 0) } }
            func run(_ rows: inout [Float], _ body: (UnsafeBufferPointer<ImageReference>, ImageReference) -> Void) {
                rows.withUnsafeMutableBufferPointer { rows in
                    func plane(_ index: Int) -> Plane {
                        Plane(base: UnsafeMutableRawPointer(rows.baseAddress! + index * count), stride: 4 * count)
                    }
                    let picture = ImageReference(
                        planes: (plane(0), plane(1), plane(1), plane(1)), width: count, height: 1)
                    withUnsafePointer(to: picture) { body(UnsafeBufferPointer(start: $0, count: 1), picture) }
                }
            }
            var (fast, slow) = (rows(), rows())
            uniforms.withUnsafeBufferPointer { uniforms in
                let base = uniforms.baseAddress!
                run(&fast) {
                    pass.run(inputs: $0, output: $1, uniforms: base, context: FrameContext(), rows: 0..<1)
                }
                run(&slow) {
                    Interpreter.run(
                        description, inputs: $0, output: $1, uniforms: base, context: FrameContext(), rows: 0..<1)
                }
            }
            for (a, b) in zip(fast, slow) { #expect(abs(a - b) <= 4e-6, "\(count) samples: \(a), \(b)") }
        }
    }

    @Test func channelsThatDoNotFitAreAnError() throws {
        let both = try kernel(.frame(channels: 2)) { _, f, _ throws(KernelError) in f }
        let engine = try run(both, channels: 6) { _, _ in 0 }.engine(frames: 1)
        let error = #expect(throws: PatchError.self) { try engine.load(run(both, channels: 6) { _, _ in 0 }.patch) }
        #expect(error?.message.contains("2 channels gets 6") == true && error?.node == "k")
    }
}
