import PatchMedia
import Synchronization

/// A node that is open, and what it was made from.
final class Instance: Sendable {
    enum Body: Sendable {
        case source(any MediaSource, SourceFormat)
        case sink(any MediaSink)
        case processor(any VideoProcessor)
        case native(any NativeNode)
        case sound(any SoundProcessor, AudioFormat)
    }

    let id: NodeID
    let kind: String
    let options: NodeOptions
    let location: SourceLocation?
    let body: Body
    /// Options that may change while the node runs.
    private let soundKernel: SoundKernel?
    private let liveNames: Set<String>
    private let life: Mutex<Life>

    private struct Life {
        var isStarted = false
        var runner: SinkRunner?
        var opened: SinkRequest?
        var isUnavailable = false
        /// The format that the stream has now, when it changed since `open`.
        var changedFormat: VideoFormat?
        /// The node's options as the patch last said them, and as they are.
        var declared: NodeOptions
        var present: NodeOptions
    }

    init(_ node: PatchNode, _ body: Body, schema: NodeSchema) {
        id = node.id
        kind = node.kind
        options = node.options
        location = node.location
        self.body = body
        soundKernel = node.soundKernel
        liveNames = Set(schema.options.filter(\.isLive).map(\.name))
        life = Mutex(Life(declared: node.options, present: node.options))
    }

    /// Whether a node of a new patch is this very one, so that it goes on running.
    func isSame(as node: PatchNode) -> Bool {
        node.kind == kind && node.soundKernel == soundKernel && fixed(node.options) == fixed(options)
    }

    private func fixed(_ options: NodeOptions) -> NodeOptions {
        liveNames.isEmpty ? options : NodeOptions(options.values.filter { !liveNames.contains($0.key) })
    }

    // MARK: Options that change while the node runs

    /// The options as they are now.
    var presentOptions: NodeOptions { life.withLock { $0.present } }

    /// Takes over what a patch says: options that it says as before keep their present values.
    func adopt(_ options: NodeOptions) {
        guard !liveNames.isEmpty else { return }
        change { life in
            for name in liveNames where options.values[name] != life.declared.values[name] {
                life.present.values[name] = options.values[name]
            }
            life.declared = options
        }
    }

    /// Sets one option; nil is its default. False when it cannot be changed while the node runs.
    func setOption(_ name: String, _ value: OptionValue?) -> Bool {
        guard liveNames.contains(name) else { return false }
        change { $0.present.values[name] = value }
        return true
    }

    private func change(_ body: (inout Life) -> Void) {
        let changed = life.withLock { life -> NodeOptions? in
            let before = life.present
            body(&life)
            return life.present == before ? nil : life.present
        }
        if let changed { adjustable?.adopt(changed) }
    }

    private var adjustable: (any AdjustableNode)? {
        switch body {
        case .source(let source, _): source as? any AdjustableNode
        case .sink(let sink): sink as? any AdjustableNode
        case .processor(let processor): processor as? any AdjustableNode
        case .native(let node): node as? any AdjustableNode
        case .sound(let processor, _): processor as? any AdjustableNode
        }
    }

    var sourceFormat: SourceFormat? {
        guard case .source(_, var format) = body else { return nil }
        if let changed = life.withLock({ $0.changedFormat }) { format.video = changed }
        return format
    }

    /// What a sound filter works on; nil for all other nodes.
    var soundFormat: AudioFormat? { if case .sound(_, let format) = body { format } else { nil } }

    func changeFormat(to format: VideoFormat) { life.withLock { $0.changedFormat = format } }

    var runner: SinkRunner? {
        get { life.withLock { $0.runner } }
    }
    var openedRequest: SinkRequest? { life.withLock { $0.opened } }
    /// The sink cannot work on this machine (no display): it is left out and the rest goes on.
    var isUnavailable: Bool { life.withLock { $0.isUnavailable } }

    func setOpened(_ request: SinkRequest, runner: SinkRunner) {
        life.withLock {
            $0.opened = request
            $0.runner = runner
        }
    }
    func setUnavailable() { life.withLock { $0.isUnavailable = true } }

    /// Starts a source once.
    func startIfNeeded() throws {
        guard case .source(let source, _) = body else { return }
        let first = life.withLock { life in
            defer { life.isStarted = true }
            return !life.isStarted
        }
        if first { try source.start() }
    }

    /// Ends the node: a source at once, a sink after draining (at most until `deadline`).
    func close(until deadline: Int64? = nil) {
        switch body {
        case .source(let source, _): source.stop()
        case .sink(let sink):
            if let runner {
                runner.drain()
                if !runner.join(until: deadline) {
                    runner.abort()
                    _ = runner.join(until: monotonicNanoseconds() + 2_000_000_000)
                }
            } else if !isUnavailable {
                sink.finish()
            }
        case .processor, .sound: break
        case .native(let node): node.stop()
        }
    }
}

/// The open nodes by id. A node of a new patch whose kind and options are unchanged is the one that already runs.
///
/// Thread-safety: all members may be called from any thread.
final class InstanceStore: Sendable {
    private let instances = Mutex<[NodeID: Instance]>([:])
    private let registry: NodeRegistry

    init(registry: NodeRegistry) { self.registry = registry }

    subscript(id: NodeID) -> Instance? { instances.withLock { $0[id] } }

    var all: [Instance] { instances.withLock { Array($0.values) } }

    /// The running instance for the node, or a new one: made, and opened when it is a source.
    /// - Parameter isRenewed: a new one in any case.
    /// - Throws: `PatchError` that names the node and its line.
    func instance(
        for node: PatchNode, environment: NodeEnvironment, sound: AudioFormat? = nil, isRenewed: Bool = false
    ) throws -> (Instance, isNew: Bool) {
        if !isRenewed, let known = self[node.id], known.isSame(as: node), known.soundFormat == sound {
            return (known, false)
        }
        let kind = try registry.kind(of: node)
        do {
            switch kind.factory {
            case .source(let make):
                let source = try make(node.options, environment)
                do {
                    return (Instance(node, .source(source, try source.open()), schema: kind.schema), true)
                } catch {
                    source.stop()
                    throw error
                }
            case .sink(let make):
                return (Instance(node, .sink(try make(node.options, environment)), schema: kind.schema), true)
            case .processor(let make):
                return (
                    Instance(node, .processor(try make(node.options, environment)), schema: kind.schema), true
                )
            case .native(let make):
                return (Instance(node, .native(try make(node.options, environment)), schema: kind.schema), true)
            case .sound(let make):
                let format = sound ?? AudioFormat()
                let processor = try make(node.options, environment)
                try processor.prepare(format, longestBlock: SoundRenderer.longestBlock)
                return (Instance(node, .sound(processor, format), schema: kind.schema), true)
            case .builtIn: throw PatchError(.graph, "\(node.kind) is not opened")
            }
        } catch {
            throw PatchError.placing(error, node)
        }
    }

    /// Makes `current` the running set and returns those that are no longer in it.
    func replace(with current: [Instance]) -> [Instance] {
        instances.withLock { instances in
            let kept = Set(current.map { ObjectIdentifier($0) })
            let retired = instances.values.filter { !kept.contains(ObjectIdentifier($0)) }
            instances = Dictionary(current.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
            return retired
        }
    }
}

extension NodeRegistry {
    /// - Throws: `PatchError.graph` with the nearest known kind.
    func kind(of node: PatchNode) throws -> NodeKind {
        if let kernel = node.soundKernel { return kernel.kind }
        if let kind = self[node.kind] ?? SoundStrips.kinds[node.kind] { return kind }
        let near = Spelling.nearest(to: node.kind, in: schemas.map(\.kind))
        throw PatchError(
            .graph, "there is no node '\(node.kind)'", remedy: near.map { "did you mean '\($0)'?" } ?? "",
            node: node.id, at: node.location)
    }
}

extension PatchError {
    /// Any error as one that names the node and its line.
    static func placing(_ error: any Error, _ node: PatchNode) -> PatchError {
        (error as? PatchError ?? PatchError(.graph, "\(error)")).placed(node: node.id, at: node.location)
    }
}
