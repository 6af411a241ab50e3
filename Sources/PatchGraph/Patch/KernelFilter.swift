import PatchKernel
import PatchMedia

/// A filter made of stages, most of them kernels: what a look file describes.
///
/// Thread-safety: a value.
public struct KernelFilter: Hashable, Sendable {
    public var name: String
    public var summary: String
    /// Names of the input ports; the first one gives the filter its size.
    public var ports: [String]
    /// What a port that needs no wire shows without one: straight R'G'B'A, by the port's index. Never the first port.
    public var portDefaults: [Int: [Float]] = [:]
    public var sizing = Sizing.input
    /// The result has the first input's alpha, pixel by pixel.
    public var keepsAlpha = true
    public var parameters: [ParameterSchema]
    /// What is fixed when the filter is made, because the stages were built for it.
    public var options: [OptionSchema]
    /// In order; the last one's result is the filter's.
    public var stages: [Stage]
    /// Where the result is one of the first two inputs as it is; nil when it always has to be computed.
    public var ends: Ends?
    /// Its result has the sound of all ports that have parameters NAME.gain, NAME.pan, NAME.mute and NAME.visible, added,
    /// instead of the first port's.
    public var mixesSound = false

    public init(
        name: String, summary: String, ports: [String], parameters: [ParameterSchema], options: [OptionSchema] = [],
        stages: [Stage], ends: Ends? = nil
    ) {
        self.name = name
        self.summary = summary
        self.ports = ports
        self.parameters = parameters
        self.options = options
        self.stages = stages
        self.ends = ends
    }

    /// Whether a node of the filter says how large its result is.
    public enum Sizing: String, Hashable, Sendable, CaseIterable {
        /// As large as the first input.
        case input
        /// `size = "WxH"`, else as large as the first input.
        case optional
        /// `size = "WxH"` must be there.
        case required
    }

    /// A promise of a transition: at 0 or less of this float parameter the result is exactly the first input, at 1 or more
    /// the second, so that nothing is computed there, and nothing that feeds only the other one.
    public struct Ends: Hashable, Sendable {
        public var parameter: String
        public init(parameter: String) { self.parameter = parameter }
    }
}

extension KernelFilter {
    /// One stage of a filter and where its inputs come from.
    public struct Stage: Hashable, Sendable {
        public enum Input: Hashable, Sendable {
            /// The filter's own input port.
            case port(Int)
            /// The result of an earlier stage.
            case stage(Int)
            /// What an input port showed so many ticks ago (1…120).
            case pastPort(Int, ticks: Int)
            /// What any stage, this one or a later one too, made so many ticks ago (1…120).
            case pastStage(Int, ticks: Int)
        }

        public enum Work: Hashable, Sendable {
            case kernel(Kernel)
            case native(NativeStage)
        }

        public var work: Work
        /// One for each of the kernel's inputs.
        public var inputs: [Input]
        /// For each uniform of the kernel: the filter's parameter that feeds it.
        public var uniforms: [String]
        public var size: StageSize
        /// How many channels the stage's result keeps where it is stored, 1 to 4. The kernel gives the others the values that
        /// reading fewer planes back gives: r, r, r, 1 for one; r, g, 0, 1 for two; r, g, b, 1 for three.
        public var channels = 4
        /// Whether the stage's result, where it is stored, keeps 32-bit floats in place of halves, whose 11 bits are too few to
        /// compare neighbours by.
        public var keepsFloats = false
        /// Whether the kernel works in the light that the graph asks for.
        public var following = Following()

        /// How a stage's kernel follows the graph's light. One of space `any` does by itself.
        public struct Following: Hashable, Sendable {
            public var isAsked = false
            /// Inputs whose numbers weigh and are no colours: they keep their codes.
            public var weights: Set<Int> = []

            public init() {}
        }

        public init(
            kernel: Kernel, inputs: [Input], uniforms: [String], size: StageSize = .filter, channels: Int = 4
        ) {
            self.work = .kernel(kernel)
            self.inputs = inputs
            self.uniforms = uniforms
            self.size = size
            self.channels = channels
        }

        public init(native: NativeStage, inputs: [Input], size: StageSize = .filter) {
            work = .native(native)
            self.inputs = inputs
            uniforms = []
            self.size = size
        }

        /// How the result lies in memory where it is stored.
        var storage: PixelFormat { keepsFloats ? .float(channels: channels) : .half(channels: channels) }

        /// nil for a native stage.
        public var kernel: Kernel? { if case .kernel(let kernel) = work { kernel } else { nil } }
    }

    /// How large a stage's result is.
    public enum StageSize: Hashable, Sendable {
        /// As large as the filter.
        case filter
        /// The filter's size times these factors, rounded up, at least one pixel.
        case scaled(x: Double, y: Double)
        case pixels(width: Int, height: Int)

        /// The size of a stage's result in a filter of this size.
        public func applied(to size: (width: Int, height: Int)) -> (width: Int, height: Int) {
            func side(_ side: Int, _ factor: Double) -> Int {
                // 3 · (1/3) is a hair above 1 in floating point.
                max(1, min(VideoFormat.maximumSide, Int((Double(side) * factor - 1e-6).rounded(.up))))
            }
            return switch self {
            case .filter: size
            case .scaled(let x, let y): (side(size.width, x), side(size.height, y))
            case .pixels(let width, let height): (width, height)
            }
        }
    }

    /// A call of a native operator as one stage.
    public struct NativeStage: Hashable, Sendable {
        public enum Value: Hashable, Sendable {
            /// The filter's parameter of this name.
            case parameter(String)
            case constant([Float])
        }
        public struct Parameter: Hashable, Sendable {
            public var name: String
            public var value: Value
            public init(_ name: String, _ value: Value) {
                self.name = name
                self.value = value
            }
        }

        /// The operator's name in the registry.
        public var name: String
        public var parameters: [Parameter]
        public var options: NodeOptions

        public init(_ name: String, parameters: [Parameter] = [], options: NodeOptions = NodeOptions()) {
            self.name = name
            self.parameters = parameters
            self.options = options
        }
    }
}
