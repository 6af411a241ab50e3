import PatchKernel
import PatchMedia

/// A patch compiled for execution: ordered steps, machine code, where each value goes. Immutable.
///
/// Thread-safety: immutable; may be read from any thread.
public struct Plan: Sendable {
    /// Sources that steps or sinks read, each with the slot that its frame goes to.
    public internal(set) var sources: [PlanSource] = []
    public internal(set) var steps: [PlanStep] = []
    /// Steps that run together, in order.
    public internal(set) var bands: [PlanBands] = []
    public internal(set) var sinks: [PlanSink] = []
    /// Sources' sound and sound filters that sinks hear, upstream first.
    public internal(set) var sounds: [PlanSound] = []
    /// Those that run though nobody may hear them: meters.
    public internal(set) var meters: [Int] = []
    /// Format of what each slot holds during a tick.
    public internal(set) var slots: [VideoFormat] = []
    /// Pictures that outlive their tick.
    public internal(set) var memories: [PlanMemory] = []
    public internal(set) var parameters: [PlanParameter] = []
    public internal(set) var controls: [Control] = []
    public internal(set) var rate = FrameRate(30)
    /// Samples by which sources give their sound sooner, because filters of it take time.
    public internal(set) var soundLead = 0
    /// Seconds that going on air takes to fade.
    public internal(set) var crossfade: Double = 0
    /// Floats of all passes' uniforms together.
    var uniformCount = 0
    var uniformTargets: [UniformTarget] = []
    var uniformConstants: [(offset: Int, value: Float)] = []
    /// What a person may want to know and no error: nodes that reach no sink, fixed rates.
    public internal(set) var notes: [PatchNote] = []
}

extension Plan {
    /// No source ends by itself.
    public var neverEnds: Bool { sources.allSatisfy { $0.isEndless || $0.isLive } }
    /// The length of the longest source that ends by itself; nil when none does.
    public var longestDuration: MediaTime? { sources.compactMap(\.duration).max() }
}

/// Something worth saying about a patch that does not stop it.
public struct PatchNote: Sendable, CustomStringConvertible {
    public var message: String
    public var node: NodeID?
    public var location: SourceLocation?
    public var description: String { (location.map { "\($0): " } ?? "") + message }
}

/// A source in a plan.
public struct PlanSource: Sendable {
    public let id: NodeID
    public let kind: String
    public let location: SourceLocation?
    /// nil for a source without picture.
    public let slot: Int?
    public let format: VideoFormat?
    public let audio: AudioFormat?
    public let isLive: Bool
    /// Generated or looped: it never ends by itself, and does not keep a run going whose other sources have ended.
    public let isEndless: Bool
    /// nil when it has no known end.
    public let duration: MediaTime?
}

/// One thing that the engine does at a tick.
public enum PlanStep: Sendable {
    case pass(PlanPass)
    case process(PlanProcess)
    case operate(PlanOperate)

    /// Slots read.
    public var inputs: [Int] {
        switch self {
        case .pass(let pass): pass.inputs
        case .process(let process): [process.input]
        case .operate(let operate): operate.inputs
        }
    }

    public var output: Int {
        switch self {
        case .pass(let pass): pass.output
        case .process(let process): process.output
        case .operate(let operate): operate.output
        }
    }

    /// Slots that nobody reads after this step.
    var releases: [Int] {
        get {
            switch self {
            case .pass(let pass): pass.releases
            case .process(let process): process.releases
            case .operate(let operate): operate.releases
            }
        }
        set {
            switch self {
            case .pass(var pass):
                pass.releases = newValue
                self = .pass(pass)
            case .process(var process):
                process.releases = newValue
                self = .process(process)
            case .operate(var operate):
                operate.releases = newValue
                self = .operate(operate)
            }
        }
    }
}

/// One run of machine code over a picture.
public struct PlanPass: Sendable {
    /// The whole picture's machine code, or luma's where `chroma` has code of its own.
    public let compiled: CompiledPass
    /// The code for the chroma planes, where planes are computed apart.
    public var chroma: CompiledPass?
    /// Why planes are not computed apart, though the pass writes subsampled Y'CbCr; empty where they are, or where there are
    /// none.
    public var whyTogether = ""
    /// Slots read, one for each of the kernel's inputs.
    public let inputs: [Int]
    public let output: Int
    /// Where this pass's uniforms begin in the plan's.
    let uniformOffset: Int
    /// The nodes whose work this pass does, upstream first; conversions have none of their own.
    public let nodes: [NodeID]
    /// Why the pass ends where it ends, for `patchbay graph --passes`.
    public let reason: String
    /// Slots that nobody reads afterwards.
    var releases: [Int] = []
    /// Fills the slot only in ticks in which a memory had nothing to put there.
    var isSeed = false
    /// Frames beyond those of one tick that live at a time, because a memory holds them.
    var heldFrames = 0
    /// Where the result is one of the inputs as it is.
    var ends: PassEnds?

    /// Rows of the picture that bands begin on a multiple of.
    var rowAlignment: Int {
        guard let chroma else { return compiled.rowAlignment }
        return max(compiled.rowAlignment, chroma.rowAlignment << chroma.description.planes.log2Height)
    }
}

/// A pass whose result is its input `first` while a uniform is 0 or less, and its input `second` while it is 1 or more.
struct PassEnds: Sendable {
    /// Of the plan's uniforms.
    var uniform: Int
    /// Slots, whose format is the output's.
    var first: Int
    var second: Int
}

/// One call of a native operator.
public struct PlanOperate: Sendable {
    public let id: NodeID
    /// The operator's name.
    public let name: String
    let work: any NativeOperator
    public let inputs: [Int]
    public let output: Int
    let uniformOffset: Int
    let toleratesMissingInputs: Bool
    /// Where its numbers are published; nil when it publishes none.
    public let data: OperatorData?
    /// Somebody reads them, so that it runs though nobody may need its picture.
    let isWatched: Bool
    var releases: [Int] = []
}

/// A picture that is kept after its tick, to be read in later ones.
public struct PlanMemory: Sendable {
    /// Whose memory it is: a plan that has an equal one goes on with what it holds.
    struct Key: Hashable, Sendable {
        var node: NodeID
        /// Which of the node's pictures.
        var picture: String
        var format: VideoFormat
        /// Changes with what is computed.
        var fingerprint: Int
    }
    let key: Key
    /// Slot that is captured when the tick's steps are done.
    var source: Int
    /// Ticks that it reaches back.
    var depth: Int
    /// Slots that it fills before the first step, and with the picture of how many ticks ago.
    var outputs: [(slot: Int, ticks: Int)]
    /// What the outputs show while there is no picture: nothing (a seed pass fills them), or black.
    var beginsBlank: Bool

    public var node: NodeID { key.node }
    /// Bytes of the frames that it holds.
    public var bytes: Int { key.format.bytes * depth }
}

/// One call of a native filter.
public struct PlanProcess: Sendable {
    public let id: NodeID
    let processor: any VideoProcessor
    public let input: Int
    public let output: Int
    var releases: [Int] = []
}

/// A source's sound, or a sound filter.
public struct PlanSound: Sendable {
    public enum Body: Sendable {
        /// Index into `Plan.sources`.
        case source(Int)
        case filter(any SoundProcessor)
    }
    public let id: NodeID
    public let location: SourceLocation?
    public let body: Body
    /// Indices into `Plan.sounds`; they are added.
    public let inputs: [Int]
    public let format: AudioFormat
    /// Where a filter's parameters are in the plan's uniforms.
    let uniformOffset: Int
    let uniformCount: Int

    /// nil for what measures no loudness.
    var meter: (any LoudnessMetering)? {
        if case .filter(let processor) = body { processor as? any LoudnessMetering } else { nil }
    }

    /// For people: a port's strip inside a mixer is "mix.guest".
    public var title: String { id.split(separator: "\t").joined(separator: ".") }
}

/// A sink in a plan: which picture and whose sound it gets.
public struct PlanSink: Sendable {
    public let id: NodeID
    public let kind: String
    public let location: SourceLocation?
    /// nil for a sink that gets only sound.
    public let slot: Int?
    public let video: VideoFormat?
    /// Indices into `Plan.sounds`; they are added.
    public let sounds: [Int]
    public let audio: AudioFormat?
    public let queue: QueuePolicy
    /// The place of the first sink that is given the same pictures and the same sound: this one's own, if none is.
    public let tap: Int
    /// For each of `sounds`, samples that it waits for the picture.
    public internal(set) var soundDelays: [Int] = []
    /// Ticks from each source (index into `Plan.sources`) that is in the picture to this sink.
    public internal(set) var pictureDelays: [Int: Int] = [:]
    /// A sink that shows nothing on this machine (a display without a screen) and is left out.
    public let isLeftOut: Bool
}

/// A parameter that the plan's passes read.
public struct PlanParameter: Sendable {
    public let node: NodeID
    public let name: String
    let storeIndex: Int
    let declared: ParameterValue
}

/// Copies a parameter's floats to where a pass expects them.
struct UniformTarget: Sendable {
    let storeIndex: Int
    let offset: Int
    let count: Int
}
