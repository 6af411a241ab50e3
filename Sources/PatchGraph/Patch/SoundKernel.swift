import PatchKernel
import PatchMedia

/// A kernel for sound: what `audio.kernel{ … }` describes. It keeps nothing from one sample to the next.
///
/// Sound is a picture to it: a sample is a pixel, a channel a row of its own (`sample`) or a colour channel (`frame`).
/// Thread-safety: a value.
public struct SoundKernel: Hashable, Sendable {
    /// What it works on at a time.
    public enum Unit: Hashable, Sendable {
        /// One sample of one channel; any number of channels.
        case sample
        /// All channels of one moment together, 1…4.
        case frame(channels: Int)

        /// Channels of the kernel's picture.
        public var channels: Int { if case .frame(let channels) = self { channels } else { 1 } }
        /// The type of what goes in and comes out.
        public var type: ValueType { [.float, .vec2, .vec3, .vec4][channels - 1] }
    }

    public var summary: String
    public var parameters: [ParameterSchema]
    public var unit: Unit
    public var kernel: Kernel

    public init(summary: String = "", parameters: [ParameterSchema], unit: Unit, kernel: Kernel) {
        self.summary = summary
        self.parameters = parameters
        self.unit = unit
        self.kernel = kernel
    }

    /// The kind of its nodes.
    var kind: NodeKind {
        let kernel = self
        return NodeKind(
            NodeSchema(
                kind: "audio.kernel", role: .filter, summary: summary, parameters: parameters, ports: ["audio"]),
            .sound { _, _ in SoundKernelProcessor(kernel) })
    }

    var pass: PassDescription {
        let format = PixelFormat.float(channels: unit.channels)
        return PassDescription(
            kernel: kernel, inputs: [PassInput(format: format)], output: PassOutput(format: format))
    }
}

extension PatchNode {
    var soundKernel: SoundKernel? { if case .sound(let kernel) = body { kernel } else { nil } }
}

/// Builds the kernel of a `SoundKernel`: a `KernelBuilder` with what is known of a sample.
///
/// Each parameter has two uniforms, its value at the block's beginning and its step from sample to sample. Behind them come
/// the whole seconds since the start in two parts, the place of the block's first sample within its second, and the time
/// from sample to sample.
/// Thread-safety: a value; use it from one thread.
public enum SoundKernelBuilder {
    public static func make(name: String, parameters: [ParameterSchema]) -> KernelBuilder {
        let knobs = parameters.flatMap { schema in
            [
                UniformDeclaration(name: schema.name, type: schema.form.valueType, range: schema.range),
                UniformDeclaration(name: "step_\(schema.name)", type: schema.form.valueType),
            ]
        }
        let clock = ["clock_high", "clock_low", "clock_sample", "clock_period"].map {
            UniformDeclaration(name: $0, type: .float)
        }
        // Premultiplied all along, so that nothing is multiplied by what takes the place of alpha.
        return KernelBuilder(
            name: name, inputs: [InputDeclaration(name: "sound", alpha: .premultiplied)], uniforms: knobs + clock,
            alpha: .premultiplied)
    }

    /// The sound that comes in: float, vec2, vec3 or vec4.
    public static func input(_ unit: SoundKernel.Unit, _ builder: inout KernelBuilder) throws(KernelError) -> Value {
        let pixel = builder.current(0)
        return try builder.swizzle(pixel, ["r", "rg", "rgb", "rgba"][unit.channels - 1])
    }

    /// The kernel whose sound is `result`.
    /// - Throws: `KernelError` of code `type` when it is no sound of that unit.
    public static func finish(
        _ result: Value, _ unit: SoundKernel.Unit, _ builder: inout KernelBuilder
    ) throws(KernelError) -> Kernel {
        guard result.type == unit.type else {
            throw KernelError(
                .type,
                "a kernel for \(unit.channels) channels gives a \(unit.type.rawValue), not a \(result.type.rawValue)")
        }
        let (zero, one) = (builder.constant(Float(0)), builder.constant(Float(1)))
        return switch unit.channels {
        case 2: try builder.finish(try builder.construct(.vec4, [result, zero, one]))
        default: try builder.finish(result)
        }
    }

    /// The present value of a parameter at this sample: on a straight line over the block.
    public static func parameter(
        _ index: Int, _ parameters: [ParameterSchema], _ builder: inout KernelBuilder
    ) throws(KernelError) -> Value {
        let value = builder.uniform(2 * index)
        if parameters[index].form == .bool { return value }
        let (step, half) = (builder.uniform(2 * index + 1), builder.constant(Float(0.5)))
        // The position is the sample's middle; at the block's last sample the parameter has arrived.
        let done = try builder.apply(.add, [try place(&builder), half])
        return try builder.apply(.add, [value, try builder.apply(.mul, [step, done])])
    }

    private static func place(_ builder: inout KernelBuilder) throws(KernelError) -> Value {
        let position = builder.builtin(.position)
        return try builder.swizzle(position, "x")
    }

    private static func clock(
        _ count: Int, _ builder: inout KernelBuilder
    ) throws(KernelError) -> (high: Value, low: Value, fraction: Value) {
        let (high, low) = (builder.uniform(2 * count), builder.uniform(2 * count + 1))
        let (first, period) = (builder.uniform(2 * count + 2), builder.uniform(2 * count + 3))
        let half = builder.constant(Float(-0.5))
        let index = try builder.apply(.add, [try place(&builder), half])
        return (high, low, try builder.apply(.mul, [try builder.apply(.add, [first, index]), period]))
    }

    /// Seconds since the start. A float: after an hour it counts in steps of 0.2 ms, so that it is for slow things; tones are
    /// made of `phase`.
    public static func time(
        _ parameters: [ParameterSchema], _ builder: inout KernelBuilder
    ) throws(KernelError) -> Value {
        let (high, low, fraction) = try clock(parameters.count, &builder)
        return try builder.apply(.add, [try builder.apply(.add, [high, low]), fraction])
    }

    /// How far a tone of so many hertz is in its cycle, 0…1: fract(hertz · time), without losing bits as time goes on.
    ///
    /// Whole hertz times whole seconds are whole cycles; what is left of the frequency is cut in two, and the seconds are, so
    /// that each of the four products has 24 bits at most and is exact.
    public static func phase(
        _ hertz: Value, _ parameters: [ParameterSchema], _ builder: inout KernelBuilder
    ) throws(KernelError) -> Value {
        let (high, low, fraction) = try clock(parameters.count, &builder)
        let parts = builder.constant(Float(4096))
        let rest = try builder.apply(.fract, [hertz])
        let coarse = try builder.apply(
            .div, [try builder.apply(.floor, [try builder.apply(.mul, [rest, parts])]), parts])
        let fine = try builder.apply(.sub, [rest, coarse])
        var sum = try builder.apply(.fract, [try builder.apply(.mul, [hertz, fraction])])
        for (part, seconds) in [(coarse, high), (coarse, low), (fine, high), (fine, low)] {
            let cycles = try builder.apply(.fract, [try builder.apply(.mul, [part, seconds])])
            sum = try builder.apply(.add, [sum, cycles])
        }
        return try builder.apply(.fract, [sum])
    }
}

extension ParameterSchema.Form {
    /// The kernel's type for it.
    public var valueType: ValueType {
        switch self {
        case .float: .float
        case .vec2: .vec2
        case .vec3: .vec3
        case .vec4, .color: .vec4
        case .bool: .bool
        }
    }
}
