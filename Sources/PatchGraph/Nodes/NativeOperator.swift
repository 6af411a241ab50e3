import PatchKernel
import PatchMedia

/// Work of a filter's stage that no kernel can say: reductions, pyramids, lists, composition. Written in Swift, called by
/// filter files as `native = "NAME"`.
///
/// Life: a plan makes one for each stage of each node (`OperatorKind.make`, on a control thread: passes are compiled and
/// buffers allocated there); `process` then runs at each tick. A new plan makes a new one, so what must outlive a reload
/// belongs into an input such as `"previous"`, not into the operator.
/// Thread-safety: `neededInputs` and `process` are called on the engine's clock thread, one call at a time.
public protocol NativeOperator: AnyObject, Sendable {
    /// What `process` fills.
    var output: VideoFormat { get }

    /// The inputs that this tick's result depends on, one bit each, the first input in bit 0. What feeds only the others is
    /// not computed in this tick. Called before `process` with the same parameters; allocates nothing.
    func neededInputs(_ parameters: UnsafePointer<Float>) -> UInt64

    /// Makes one tick's picture. Allocates nothing, takes no lock for long, never waits.
    func process(_ call: OperatorCall) -> OperatorResult
}

extension NativeOperator {
    public func neededInputs(_ parameters: UnsafePointer<Float>) -> UInt64 { .max }
}

/// What `process` did.
///
/// Thread-safety: a value.
public enum OperatorResult: Sendable {
    /// The output is filled.
    case filled
    /// The picture is that of this input as it is, whose format is the output's; the output was not touched.
    case input(Int)
    /// The picture is this frame, whose format is the output's; the output was not touched.
    case frame(Frame)
    /// There is no picture in this tick.
    case nothing
}

/// One tick's work of a native operator.
///
/// Thread-safety: use it only inside `process`, on the calling thread.
public struct OperatorCall {
    /// One for each input, in the formats of `OperatorRequest.inputs`; undefined where `present` says there is none.
    public let inputs: UnsafeBufferPointer<ImageReference>
    /// The inputs that have a picture in this tick, one bit each. All, unless the kind tolerates missing ones.
    public let present: UInt64
    /// One for each input: as long as the number stays the same from call to call, it is the very same picture. 0 where nobody
    /// knows, as for what is computed at each tick.
    public let versions: UnsafeBufferPointer<UInt64>
    /// In the operator's output format, its pixels undefined.
    public let output: ImageReference
    /// The values of the kind's parameters, one after the other.
    public let parameters: UnsafePointer<Float>
    public let tick: Tick
    public let workers: RenderWorkers
    /// Room for what the operator publishes, laid out by the kind's `data`: a field's values, each list after its count.
    /// Empty for a kind without data.
    public let data: UnsafeMutableBufferPointer<Float>

    /// Seconds and number of this tick, for kernels.
    public var context: FrameContext { FrameContext(time: tick.time.seconds, frame: tick.index) }
}

/// The render threads, as an operator sees them.
///
/// Thread-safety: use it only inside `process`, on the calling thread.
public struct RenderWorkers {
    let workers: Workers

    /// Threads that work, the caller's own included.
    public var count: Int { workers.count }

    /// Computes a whole picture, or the part of one that `output` is a view of.
    public func run(
        _ pass: CompiledPass, inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference,
        uniforms: UnsafePointer<Float>, context: FrameContext
    ) {
        workers.run(
            BandJob(
                pass: pass, inputs: inputs, output: output, uniforms: uniforms, context: context,
                alignment: pass.rowAlignment, threads: workers.count))
    }

    /// Does bands 0 ..< `bands` of any work, several at a time. The result must not depend on who does which.
    /// - Parameter isSmall: less than about a tenth of a millisecond in all: the caller does it alone.
    public func run<Work: BandWork>(_ work: Work, bands: Int, isSmall: Bool = false) {
        workers.run(work, bands: bands, isSmall: isSmall)
    }
}

/// A number that a native operator takes each tick.
///
/// Thread-safety: a value.
public struct OperatorParameter: Hashable, Sendable {
    public var name: String
    public var form: ParameterSchema.Form
    /// `form.count` floats, for stages that do not give it.
    public var defaultValue: [Float]

    public init(_ name: String, _ form: ParameterSchema.Form = .float, default defaultValue: [Float]) {
        self.name = name
        self.form = form
        self.defaultValue = defaultValue
    }
}

/// A kind of native operator and how to make one.
///
/// Thread-safety: a value; `make` may be called from any thread.
public struct OperatorKind: Sendable {
    /// As in `native = "NAME"`.
    public var name: String
    public var summary: String
    public var inputs: ClosedRange<Int>
    /// Stored formats that `process` reads. A stored picture in one of them comes as it is (the right way up, alpha
    /// premultiplied); anything else is converted to the first. Empty takes every stored picture as it is, turned ones too, and computed ones as `half4`.
    public var formats: [PixelFormat]
    /// In the order of `OperatorCall.parameters`. Empty takes those that the stage gives, in the stage's order.
    public var parameters: [OperatorParameter]
    /// What the operator publishes each tick.
    public var data: [OperatorData.Field]
    /// `process` is called although inputs are missing, and says what to do then.
    public var toleratesMissingInputs: Bool
    /// Computed pictures that have no transparent pixel come in the format that the result's reader likes best
    /// (`OperatorRequest.preferredOutput`), when `formats` has it.
    public var prefersOutputFormat: Bool
    /// - Throws: `PatchError` that says what is wrong; the planner adds node and line.
    public var make: @Sendable (OperatorRequest) throws -> any NativeOperator

    public init(
        name: String, summary: String, inputs: ClosedRange<Int> = 1...1, formats: [PixelFormat],
        parameters: [OperatorParameter] = [], data: [OperatorData.Field] = [], toleratesMissingInputs: Bool = false,
        prefersOutputFormat: Bool = false,
        make: @escaping @Sendable (OperatorRequest) throws -> any NativeOperator
    ) {
        self.name = name
        self.summary = summary
        self.inputs = inputs
        self.formats = formats
        self.parameters = parameters
        self.data = data
        self.toleratesMissingInputs = toleratesMissingInputs
        self.prefersOutputFormat = prefersOutputFormat
        self.make = make
    }
}

/// What an operator is made for.
///
/// Thread-safety: a value.
public struct OperatorRequest: Sendable {
    /// Formats of the pictures that come in; alpha is premultiplied.
    public var inputs: [VideoFormat]
    /// For each input, whether it is known to have no transparent pixel.
    public var opaque: [Bool]
    /// Size of the stage: the filter's, unless the stage says another. An operator whose result is a table ignores it.
    public var width: Int
    public var height: Int
    public var options: NodeOptions
    /// Names of the parameters, in the order of `OperatorCall.parameters`, and how many floats each has.
    public var parameters: [(name: String, count: Int)]
    public var rate: FrameRate
    /// What the only reader of the result would like best, when that is known; following it saves a conversion.
    public var preferredOutput: VideoFormat?
    /// What the graph wants compositing done in.
    public var light: Light
    let compiler: KernelCompiler

    /// The machine code of a kernel that reads and writes pictures of these formats.
    /// - Throws: `PatchError.kernel`.
    public func compile(_ kernel: Kernel, inputs: [VideoFormat], output: VideoFormat) throws -> CompiledPass {
        let description = PassDescription(
            kernel: kernel, inputs: inputs.map { PassInput($0) },
            output: PassOutput(
                format: output.pixelFormat, color: output.color, premultiplied: output.premultiplied))
        do { return try compiler.compile(description) } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    /// Code that reduces and resamples rows.
    /// - Throws: `PatchError.kernel`.
    public func resizingRows() throws -> RowCode.Resizing {
        do { return try compiler.resizingRows() } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    /// Code that lays pictures over planes.
    /// - Throws: `PatchError.kernel`.
    public func layingRows() throws -> RowCode.Laying {
        do { return try compiler.layingRows() } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    /// Code for Gaussian pyramids of 8-bit pictures.
    /// - Throws: `PatchError.kernel`.
    public func pyramidRows() throws -> RowCode.Pyramid {
        do { return try compiler.pyramidRows() } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    /// Code for Gaussian pyramids of half floats.
    /// - Throws: `PatchError.kernel`.
    public func halfPyramidRows() throws -> RowCode.Pyramid {
        do { return try compiler.halfPyramidRows() } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    /// Code for guided filters of half floats.
    /// - Throws: `PatchError.kernel`.
    public func guidedRows() throws -> RowCode.Guided {
        do { return try compiler.guidedRows() } catch {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }
}
