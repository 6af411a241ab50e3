import PatchKernel
import PatchMedia

/// What the planner must know about the nodes, running or not.
protocol NodeProvider {
    func ports(of node: PatchNode) throws -> NodePorts
    func sourceFormat(of node: PatchNode) throws -> SourceFormat
    func processor(of node: PatchNode) throws -> any VideoProcessor
    /// nil for a node that is no native node.
    func native(of node: PatchNode) throws -> (any NativeNode)?
    /// The sound filter, ready for blocks of this format.
    func soundProcessor(of node: PatchNode, format: AudioFormat) throws -> any SoundProcessor
    /// nil for a sink that cannot work on this machine and is left out.
    func request(
        of node: PatchNode, offered: VideoFormat?, hasSound: Bool, rate: FrameRate
    ) throws -> SinkRequest?
    func kindSchema(of node: PatchNode) throws -> NodeSchema
    func nativeOperator(_ name: String) throws -> OperatorKind
    /// Whether a source can give its sound sooner than its picture.
    func leadsSound(_ node: PatchNode) -> Bool
    /// Virtual time: nobody is late.
    var isOffline: Bool { get }
}

/// Turns a patch into a plan: checks it, joins kernels into passes, chooses formats, compiles, assigns slots.
///
/// Used once, on a control thread; may take tens of milliseconds when kernels are new.
struct Planner {
    let compiler: KernelCompiler
    let parameters: ParameterStore
    let provider: any NodeProvider
    /// The rate of a running engine, which a new patch cannot change.
    let fixedRate: FrameRate?
    let defaultSize: (width: Int, height: Int)

    /// Instructions up to which a kernel is computed again for each reader instead of stored: about what writing
    /// and reading a half-float intermediate costs.
    static let cheapInstructions = 40
    /// Instructions and inputs beyond which a pass is cut, so that registers and compile time stay bounded.
    static let largestPass = 4000
    static let mostInputs = 8
    /// Pixels that a kernel may read around its own from a picture that must be converted or turned while it is read; beyond
    /// it, one conversion of the picture is cheaper than one for each read.
    static let mostPackedReads = 4

    var bandRule = BandRule.measured
    var plan = Plan()
    var pictures: [NodeID: Picture] = [:]
    var readers: [NodeID: Int] = [:]
    var conversions: [ConversionKey: StoredPicture] = [:]
    /// Sources with sound, by their place in the plan.
    var soundSources: [NodeID: Int] = [:]
    /// Where each sound is in `plan.sounds`.
    var soundIndex: [SoundOrigin: Int] = [:]
    /// What is being planned, so that a loop ends.
    var soundsUnderWay: Set<SoundOrigin> = []
    var requests: [NodeID: SinkRequest] = [:]
    /// What stands at ports that have no picture for now: nobody ever fills its slot.
    var absent: StoredPicture?
    /// Ticks that native nodes are behind.
    var nativeDelays: [NodeID: Int] = [:]
    var checked: CheckedPatch?
    /// Delays in loops, with the memory of each: what feeds them is planned later.
    var loops: [(node: PatchNode, memory: Int)] = []

    struct ConversionKey: Hashable {
        var node: NodeID
        var format: VideoFormat
        var fill: FillMode
    }

    init(
        compiler: KernelCompiler, parameters: ParameterStore, provider: any NodeProvider, fixedRate: FrameRate?,
        defaultSize: (width: Int, height: Int)
    ) {
        self.compiler = compiler
        self.parameters = parameters
        self.provider = provider
        self.fixedRate = fixedRate
        self.defaultSize = defaultSize
    }

    /// - Throws: `PatchError` that names the node, its line and what to do.
    mutating func plan(_ patch: Patch) throws -> Plan {
        let checked = try patch.checked { try provider.ports(of: $0) }
        self.checked = checked
        readers = checked.readers
        plan.notes = checked.notes
        plan.controls = patch.controls
        plan.crossfade = patch.settings.crossfade
        parameters.declare(patch.controls)

        try openSources(checked)
        if checked.order.contains(where: { !$0.absentPorts.isEmpty }) {
            let format = VideoFormat(.rgba, width: 2, height: 2)
            absent = StoredPicture(slot: newSlot(format), format: format)
        }
        for node in checked.order {
            do {
                // Sinks fetch the sound that reaches them.
                let ports = try provider.ports(of: node)
                if ports.isMeter { try addMeter(node, checked) }
                if ports.isSound { continue }
                switch try provider.kindOrKernel(of: node) {
                case .kernels(let filter): try add(filter, node, checked)
                case .delay: try addDelay(node, checked)
                case .role(.source): break
                case .role(.filter):
                    if let native = try provider.native(of: node) {
                        try addNative(native, node, checked)
                    } else {
                        try addProcessor(node, checked)
                    }
                case .role(.sink): try addSink(node, checked)
                }
            } catch {
                throw PatchError.placing(error, node)
            }
        }
        try captureLoops(checked)
        alignSound(checked)
        assignReleases()
        formBands()
        return plan
    }

    // MARK: Sources

    mutating func openSources(_ checked: CheckedPatch) throws {
        var liveRate: FrameRate?
        var anyRate: FrameRate?
        for node in checked.order {
            guard case .registered = node.body, try provider.kindSchema(of: node).role == .source else { continue }
            let format = try provider.sourceFormat(of: node)
            if format.isLive, liveRate == nil { liveRate = format.rate }
            if anyRate == nil { anyRate = format.rate }
            let slot = format.video.map { newSlot($0) }
            if let slot, let video = format.video {
                pictures[node.id] = .stored(try upright(StoredPicture(slot: slot, format: video), of: node))
            }
            if format.audio != nil { soundSources[node.id] = plan.sources.count }
            plan.sources.append(
                PlanSource(
                    id: node.id, kind: node.kind, location: node.location, slot: slot, format: format.video,
                    audio: format.audio, isLive: format.isLive,
                    isEndless: !format.isLive && format.duration == nil, duration: format.duration))
        }
        let wanted = checked.patch.settings.rate ?? liveRate ?? anyRate ?? FrameRate(30)
        plan.rate = fixedRate ?? wanted
        if let fixedRate, let asked = checked.patch.settings.rate, asked != fixedRate {
            throw PatchError(
                .graph, "the graph runs at \(fixedRate) fps and cannot change to \(asked) while on air",
                remedy: "keep fps = \(fixedRate), or stop and start again")
        }
    }

    mutating func newSlot(_ format: VideoFormat) -> Int {
        plan.slots.append(format)
        return plan.slots.count - 1
    }

    // MARK: Filters

    mutating func add(_ filter: KernelFilter, _ node: PatchNode, _ checked: CheckedPatch) throws {
        var storeIndex: [String: (index: Int, count: Int)] = [:]
        for schema in filter.parameters {
            let declared = node.parameters[schema.name] ?? .constant(schema.defaultValue)
            let index = parameters.reserve(node: node.id, schema, declared: declared)
            storeIndex[schema.name] = (index, schema.form.count)
            plan.parameters.append(
                PlanParameter(node: node.id, name: schema.name, storeIndex: index, declared: declared))
        }
        let upstream: [NodeID?] = filter.ports.indices.map { checked.inputs[node.id]?[$0]?.from }
        // `filter.resize` has a size of its own; every other filter has its first input's.
        let size =
            try node.options.size("size") ?? (filter.ports.isEmpty ? defaultSize : input(0, of: node, checked).size)
        // Inside the filter a stage's readers are counted as a node's are outside.
        let portReaders = filter.ports.indices.map { port in
            let uses = filter.stages.count { $0.inputs.contains(.port(port)) }
            return (upstream[port].flatMap { readers[$0] } ?? 1) + max(0, uses - 1)
        }
        var work = FilterWork(filter: filter, node: node, checked: checked, size: size, storeIndex: storeIndex)
        let ends = try prepareEnds(&work)
        for (index, stage) in filter.stages.enumerated() {
            let stageSize = stage.size.applied(to: size)
            guard case .kernel(let kernel) = stage.work else {
                work.results.append(.stored(try operate(index, size: stageSize, &work)))
                continue
            }
            let uniforms: [UniformSource] = try stage.uniforms.map { name in
                guard let found = storeIndex[name] else {
                    throw PatchError(.kernel, "the kernel reads a parameter '\(name)' that the filter does not have")
                }
                return .parameter(storeIndex: found.index, count: found.count)
            }
            var expression = PictureExpression(
                kernel: inGraphsLight(kernel, stage.following), inputs: [], uniforms: uniforms, width: stageSize.width,
                height: stageSize.height, storage: stage.storage, nodes: [node.id])
            for source in stage.inputs {
                switch source {
                case .port(let port):
                    let picture = try input(port, of: work)
                    _ = try join(picture, ofNode: upstream[port], readers: portReaders[port], into: &expression)
                case .stage(let earlier):
                    let uses = filter.stages.count { $0.inputs.contains(.stage(earlier)) }
                    let stored = try join(work.results[earlier], ofNode: nil, readers: uses, into: &expression)
                    if let stored { work.results[earlier] = .stored(stored) }
                case .pastPort, .pastStage:
                    let stored = try past(source, readBy: index, &work)
                    _ = try join(.stored(stored), ofNode: nil, readers: 1, into: &expression)
                }
            }
            notePrimaries(node, expression.inputs.map(\.format.color))
            work.results.append(.expression(try mergeInputs(expression)))
        }
        try capturePast(&work)
        guard let last = work.results.last else { throw PatchError(.kernel, "the filter has no stage") }
        pictures[node.id] = try ends.map { try finishEnds(work, $0, last) } ?? last
    }

    /// Feeds the first input of the expression's kernel that has no picture yet: inlines the picture's own kernel, or stores
    /// it and reads it back. Returns the stored picture in that case.
    ///
    /// `expression.inputs` holds the stored pictures of ports already joined, in the kernel's present order.
    mutating func join(
        _ picture: Picture, ofNode upstream: NodeID?, readers: Int, into expression: inout PictureExpression
    ) throws -> StoredPicture? {
        // Ports already joined may have become several inputs, so this one is where those end.
        let index = expression.inputs.count
        let sameSize = picture.size == (expression.width, expression.height)
        let space = expression.kernel.space
        let reads = expression.kernel.footprint(ofInput: index)
        if case .expression(let producer) = picture, sameSize, reads == .point, mayShare(space, producer) {
            if obstacle(to: producer, in: expression, readers) == nil {
                let consumer = expression.kernel
                expression.kernel = try wrap { () throws(KernelError) in
                    try consumer.inlining(producer.kernel, asInput: index)
                }
                expression.inputs += producer.inputs
                expression.uniforms += producer.uniforms
                expression.nodes = producer.nodes.filter { !expression.nodes.contains($0) } + expression.nodes
                return nil
            }
        }
        let readsLight = needsStoredLight(expression.kernel, input: index, sameSize: sameSize)
        let reason = reasonToStore(picture, for: expression, sameSize: sameSize, reads, readers)
        var stored = try store(
            picture, ofNode: upstream, readIn: space, asLight: readsLight && readers <= 1, because: reason)
        if readsLight { stored = try asLight(stored, ofNode: upstream) }
        if sameSize, reads.reads > Self.mostPackedReads, !readsInPlanes(expression, stored) {
            stored = try unpacked(stored, ofNode: upstream)
        }
        var read = stored
        if !sameSize {
            if reads == .point { read = try reduced(stored, to: (expression.width, expression.height)) }
            expression.kernel = expression.kernel.samplingInput(index, filter: .bilinear, edge: .clamp)
        }
        expression.inputs.append(read)
        return stored
    }

    /// Why a reader's pass should not compute what it reads at the pixel itself; nil when it should.
    private func obstacle(
        to producer: PictureExpression, in reader: PictureExpression, _ readers: Int
    ) -> String? {
        if readers > 1, !isCheap(producer) { return "several read it, and it is too dear to compute for each" }
        if producer.kernel.valueCount + reader.kernel.valueCount > Self.largestPass
            || producer.inputs.count + reader.kernel.inputs.count > Self.mostInputs
        {
            return "the pass would be too large with its reader"
        }
        // A stencil inside a stencil would need the registers of both at once: beautify's last pass took four times as long.
        return producer.kernel.isPoint || reader.kernel.isPoint ? nil : "both it and its reader look at pixels around"
    }

    /// Why a picture is stored in place of being computed by its reader, for `graph --passes`.
    private func reasonToStore(
        _ picture: Picture, for reader: PictureExpression, sameSize: Bool, _ reads: Footprint, _ readers: Int
    ) -> String {
        guard case .expression(let producer) = picture else { return "" }
        let name = "'\(reader.nodes.last ?? reader.kernel.name)'"
        if !sameSize { return "\(name) is \(reader.width)x\(reader.height)" }
        switch reads {
        case .gather: return "\(name) looks at computed places"
        case .stencil(let left, let right, let up, let down):
            return "\(name) looks at pixels up to \(max(left, right, up, down)) away"
        case .unused, .point: break
        }
        if !mayShare(reader.kernel.space, producer) {
            return producer.kernel.space == .any
                ? "it is cheaper plane by plane, and \(name) works in rgb"
                : "it works in \(producer.kernel.space.rawValue), \(name) in \(reader.kernel.space.rawValue)"
        }
        return obstacle(to: producer, in: reader, readers) ?? "\(name) reads it"
    }

    /// Whether a reader's kernel and what it reads may be one: both can work in one space, and neither loses by it.
    func mayShare(_ space: KernelSpace, _ producer: PictureExpression) -> Bool {
        let other = producer.kernel.space
        if space == .rgb, other == .any, prefersPlanes(producer), planarFormat(producer) != nil { return false }
        return space == other || space == .any || other == .any || producer.inputs.isEmpty && space == .rgb
    }

    /// Inputs that read the same slot become one. Where one wants straight and the other premultiplied colour (or another
    /// light), both are brought to encoded premultiplied first, as pictures are stored.
    func mergeInputs(_ expression: PictureExpression) throws -> PictureExpression {
        var result = expression
        for index in expression.inputs.indices {
            let twins = expression.inputs.indices.filter { expression.inputs[$0] == expression.inputs[index] }
            let declarations = Set(
                twins.map { [result.kernel.inputs[$0].light == .linear, result.kernel.inputs[$0].alpha == .straight] })
            guard declarations.count > 1, result.kernel.footprint(ofInput: index) == .point else { continue }
            let kernel = result.kernel
            result.kernel = try wrap { () throws(KernelError) in
                try kernel.inlining(StandardKernels.copy, asInput: index)
            }
        }
        var unique: [(picture: StoredPicture, light: Light, alpha: Alpha)] = []
        let mapping = expression.inputs.indices.map { index -> Int in
            let (picture, declared) = (expression.inputs[index], result.kernel.inputs[index])
            let known = unique.firstIndex {
                $0.picture == picture && $0.light == declared.light && $0.alpha == declared.alpha
            }
            if let known { return known }
            unique.append((picture, declared.light, declared.alpha))
            return unique.count - 1
        }
        if unique.count < expression.inputs.count {
            let kernel = result.kernel
            result.kernel = try wrap { () throws(KernelError) in try kernel.mergingInputs(mapping) }
            result.inputs = unique.map(\.picture)
        }
        return result
    }

    /// One colour everywhere, known to the compiler: what a port shows that has no wire.
    func constant(_ color: [Float], _ size: (width: Int, height: Int)) throws -> PictureExpression {
        let kernel = try wrap { () throws(KernelError) in
            var builder = KernelBuilder(name: "constant", inputs: [], uniforms: [], alpha: .straight)
            let parts = color.map { builder.constant($0) }
            let result = try builder.construct(.vec4, parts)
            return try builder.finish(result)
        }
        return PictureExpression(
            kernel: kernel, inputs: [], uniforms: [], width: size.width, height: size.height, nodes: [])
    }

    mutating func addProcessor(_ node: PatchNode, _ checked: CheckedPatch) throws {
        let processor = try provider.processor(of: node)
        let picture = try input(0, of: node, checked)
        let size = picture.size
        var format: VideoFormat
        switch (processor.pixelFormat, picture) {
        case (let wanted?, _): format = VideoFormat(wanted, width: size.width, height: size.height)
        case (nil, .stored(let stored)):
            format = stored.format
            (format.width, format.height) = size
            format.orientation = .identity
        case (nil, .expression): format = VideoFormat(.rgba, width: size.width, height: size.height)
        }
        // Always a pass of its own: the processor may write into the frame.
        let input = try compute(try asExpression(picture), as: format, reason: "'\(node.id)' is a native filter")
        let output = newSlot(format)
        plan.steps.append(
            .process(PlanProcess(id: node.id, processor: processor, input: input.slot, output: output)))
        pictures[node.id] = .stored(StoredPicture(slot: output, format: format))
    }

    /// The picture that is wired to a port.
    func input(_ port: Int, of node: PatchNode, _ checked: CheckedPatch) throws -> Picture {
        if let absent, node.absentPorts.contains(port) { return .stored(absent) }
        guard let wire = checked.inputs[node.id]?[port] else {
            throw PatchError(.graph, "input \(port + 1) has no source")
        }
        guard let picture = pictures[wire.from] else {
            throw PatchError(
                .graph, "'\(wire.from)' has no picture", remedy: "wire its sound with .audio, or wire another source",
                node: node.id, at: wire.location ?? node.location)
        }
        return picture
    }
}

enum NodeMatter {
    case kernels(KernelFilter)
    case delay
    case role(NodeSchema.Role)
}

extension NodeProvider {
    func kindOrKernel(of node: PatchNode) throws -> NodeMatter {
        switch node.body {
        case .kernels(let filter): .kernels(filter)
        case .sound: .role(.filter)
        case .registered: try matter(try kindSchema(of: node))
        }
    }

    private func matter(_ schema: NodeSchema) throws -> NodeMatter { schema.isDelay ? .delay : .role(schema.role) }
}
