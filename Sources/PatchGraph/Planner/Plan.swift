import PatchKernel
import PatchMedia

/// A patch compiled for execution: ordered steps, machine code, where each value goes. Immutable.
///
/// Thread-safety: immutable; may be read from any thread.
public struct Plan: Sendable {
    /// Sources that steps or sinks read, each with the slot that its frame goes to.
    public internal(set) var sources: [PlanSource] = []
    public internal(set) var steps: [PlanStep] = []
    public internal(set) var sinks: [PlanSink] = []
    /// Format of what each slot holds during a tick.
    public internal(set) var slots: [VideoFormat] = []
    public internal(set) var parameters: [PlanParameter] = []
    public internal(set) var controls: [Control] = []
    public internal(set) var rate = FrameRate(30)
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
    case native(PlanNative)
}

/// One run of machine code over a picture.
public struct PlanPass: Sendable {
    public let compiled: CompiledPass
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
}

/// One call of a native filter.
public struct PlanProcess: Sendable {
    public let id: NodeID
    let processor: any VideoProcessor
    public let input: Int
    public let output: Int
    var releases: [Int] = []
}

/// One exchange with a native node.
public struct PlanNative: Sendable {
    public let id: NodeID
    let run: any NativeRun
    public let inputs: [Int]
    public let output: Int
    /// Where its parameters lie among the plan's uniforms.
    let uniformOffset: Int
    let uniformCount: Int
    var releases: [Int] = []
}

/// A sink in a plan: which picture and whose sound it gets.
public struct PlanSink: Sendable {
    public let id: NodeID
    public let kind: String
    public let location: SourceLocation?
    /// nil for a sink that gets only sound.
    public let slot: Int?
    public let video: VideoFormat?
    /// Index into `Plan.sources`.
    public let soundSource: Int?
    public let audio: AudioFormat?
    public let queue: QueuePolicy
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
