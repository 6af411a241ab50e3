import PatchKernel
import PatchMedia
import Synchronization

/// Plans a patch without running it: for `check` and `graph`, in CI, on machines without the camera.
///
/// Files, stills and generated sources are opened, so that a missing or broken one is found. Devices and networks are not
/// touched: their format is taken from their options, else the graph's canvas. Sinks are asked what they want, not opened.
/// Thread-safety: a value; use from one thread at a time.
public struct PatchRehearsal {
    /// Kinds whose opening reaches out of the machine, or into a device.
    static let external: Set<String> = ["camera", "screen", "stream", "microphone"]

    private let registry: NodeRegistry
    private let compiler: KernelCompiler
    private let graphDirectory: String
    private let bindings: [String: String]
    private let assumesDevices: Bool

    /// - Parameter assumesDevices: cameras, screens, streams and unbound inputs are not even looked for: a plan can be shown on
    ///   a machine that has none.
    public init(
        registry: NodeRegistry, graphDirectory: String, bindings: [String: String] = [:],
        kernelCacheDirectory: String? = nil, assumesDevices: Bool = false
    ) {
        self.assumesDevices = assumesDevices
        self.registry = registry
        self.graphDirectory = graphDirectory
        self.bindings = bindings
        var options = CompilerOptions()
        options.cacheDirectory = kernelCacheDirectory
        compiler = KernelCompiler(options)
    }

    /// - Throws: `PatchError` exactly as a load on air would.
    public func plan(_ patch: Patch) throws -> Plan {
        let nodes = RehearsedNodes(
            registry: registry, patch: patch, graphDirectory: graphDirectory, bindings: bindings,
            assumesDevices: assumesDevices)
        defer { nodes.close() }
        var planner = Planner(
            compiler: compiler, parameters: ParameterStore(), provider: nodes, fixedRate: nil,
            defaultSize: (patch.settings.width ?? 1280, patch.settings.height ?? 720))
        var plan = try planner.plan(patch)
        plan.notes += nodes.notes + nodes.saidNotes
        return plan
    }
}

private final class RehearsedNodes: NodeProvider {
    private let registry: NodeRegistry
    private let settings: GraphSettings
    private let graphDirectory: String
    private let bindings: [String: String]
    private var sources: [NodeID: (source: (any MediaSource)?, format: SourceFormat)] = [:]
    private var sinks: [NodeID: any MediaSink] = [:]
    private var natives: [any NativeNode] = []
    private(set) var notes: [PatchNote] = []
    /// What nodes said while they were opened.
    private let said = Monitor<[PatchNote]>([])

    private let assumesDevices: Bool

    init(
        registry: NodeRegistry, patch: Patch, graphDirectory: String, bindings: [String: String], assumesDevices: Bool
    ) {
        self.assumesDevices = assumesDevices
        self.registry = registry
        settings = patch.settings
        self.graphDirectory = graphDirectory
        self.bindings = bindings
    }

    func close() {
        for (source, _) in sources.values { source?.stop() }
        for native in natives { native.stop() }
    }

    private func environment(_ node: PatchNode) -> NodeEnvironment {
        NodeEnvironment(
            nodeID: node.id, location: node.location, graphDirectory: graphDirectory, bindings: bindings,
            width: settings.width ?? 1280, height: settings.height ?? 720, channels: settings.channels,
            rate: settings.rate, isOffline: true,
            report: { [said] event in
                let message: String
                switch event {
                case .notice(let text): message = text
                case .problem(let error):
                    message = error.remedy.isEmpty ? error.message : "\(error.message); \(error.remedy)"
                default: return
                }
                said.withLock { $0.append(PatchNote(message: message, node: node.id, location: node.location)) }
            })
    }

    /// What opening the nodes brought up.
    var saidNotes: [PatchNote] { said.withLock { $0 } }

    func kindSchema(of node: PatchNode) throws -> NodeSchema { try registry.kind(of: node).schema }
    func nativeOperator(_ name: String) throws -> OperatorKind { try registry.nativeOperator(name) }
    func ports(of node: PatchNode) throws -> NodePorts { try registry.ports(of: node) }

    private func isExternal(_ node: PatchNode) -> Bool {
        if PatchRehearsal.external.contains(node.kind) { return true }
        if node.kind == "video" { return node.options.values["url"] != nil }
        guard node.kind == "input" else { return false }
        let bound = bindings[node.options.string("input") ?? node.id]
        return bound.map { $0.contains("://") || $0.hasPrefix("/dev/") } ?? true
    }

    func sourceFormat(of node: PatchNode) throws -> SourceFormat {
        if let known = sources[node.id] { return known.format }
        guard case .source(let make) = try registry.kind(of: node).factory else {
            throw PatchError(.graph, "\(node.kind) is no source", node: node.id, at: node.location)
        }
        do {
            let made = isExternal(node) && assumesDevices ? nil : try make(node.options, environment(node))
            guard let source = made, !isExternal(node) else {
                let size = node.options.size("size") ?? (settings.width ?? 1280, settings.height ?? 720)
                var orientation = Orientation.identity
                if let named = node.options.string("orientation") {
                    orientation = Orientation(named: named) ?? .identity
                }
                if node.options.bool("mirror") == true { orientation = orientation.then(.mirror) }
                if try !registry.kind(of: node).schema.hasPicture {
                    let format = SourceFormat(
                        video: nil, audio: AudioFormat(channels: node.options.integer("channels") ?? 1), isLive: true)
                    notes.append(
                        PatchNote(
                            message: "'\(node.id)' (\(node.kind)) was not opened", node: node.id,
                            location: node.location))
                    sources[node.id] = (made, format)
                    return format
                }
                let format = SourceFormat(
                    video: VideoFormat(.yuv420p, width: size.0, height: size.1, orientation: orientation),
                    rate: node.options.number("fps").flatMap { FrameRate(approximating: $0) }, isLive: true)
                notes.append(
                    PatchNote(
                        message: "'\(node.id)' (\(node.kind)) was not opened; assumed \(size.0)x\(size.1)",
                        node: node.id, location: node.location))
                sources[node.id] = (made, format)
                return format
            }
            do {
                let format = try source.open()
                sources[node.id] = (source, format)
                return format
            } catch {
                source.stop()
                throw error
            }
        } catch {
            throw PatchError.placing(error, node)
        }
    }

    func processor(of node: PatchNode) throws -> any VideoProcessor {
        guard case .processor(let make) = try registry.kind(of: node).factory else {
            throw PatchError(.graph, "\(node.kind) is no filter", node: node.id, at: node.location)
        }
        return try make(node.options, environment(node))
    }

    func native(of node: PatchNode) throws -> (any NativeNode)? {
        guard case .native(let make) = try registry.kind(of: node).factory else { return nil }
        let native = try make(node.options, environment(node))
        natives.append(native)
        return native
    }

    func leadsSound(_ node: PatchNode) -> Bool { sources[node.id]?.source?.leadsSound ?? false }
    var isOffline: Bool { true }

    func soundProcessor(of node: PatchNode, format: AudioFormat) throws -> any SoundProcessor {
        guard case .sound(let make) = try registry.kind(of: node).factory else {
            throw PatchError(.graph, "\(node.kind) is no sound filter", node: node.id, at: node.location)
        }
        let processor = try make(node.options, environment(node))
        try processor.prepare(format, longestBlock: SoundRenderer.longestBlock)
        return processor
    }

    func request(
        of node: PatchNode, offered: VideoFormat?, hasSound: Bool, rate: FrameRate
    ) throws -> SinkRequest? {
        let sink: any MediaSink
        if let known = sinks[node.id] {
            sink = known
        } else {
            guard case .sink(let make) = try registry.kind(of: node).factory else {
                throw PatchError(.graph, "\(node.kind) is no sink", node: node.id, at: node.location)
            }
            sink = try make(node.options, environment(node))
            sinks[node.id] = sink
        }
        return try sink.negotiate(offered: offered, hasSound: hasSound, rate: rate)
    }
}
