import PatchKernel
import PatchMedia

/// A filter that is being planned, stage by stage.
struct FilterWork {
    let filter: KernelFilter
    let node: PatchNode
    let checked: CheckedPatch
    let size: (width: Int, height: Int)
    /// Where each parameter lies in the store, and how many floats it has.
    let storeIndex: [String: (index: Int, count: Int)]
    /// What the stages so far make.
    var results: [Picture] = []
    /// Which of the plan's memories hold pictures of this filter.
    var memories: [Remembered: Int] = [:]
    /// Pictures that take the place of what is wired to a port: the same in another format.
    var overrides: [Int: Picture] = [:]

    enum Remembered: Hashable { case port(Int), stage(Int) }

    func upstream(_ port: Int) -> NodeID? { checked.inputs[node.id]?[port]?.from }
}

/// Native stages.
extension Planner {
    /// Plans a native stage: its inputs in formats that it reads, then the call.
    mutating func operate(
        _ index: Int, size: (width: Int, height: Int), _ work: inout FilterWork
    ) throws -> StoredPicture {
        let stage = work.filter.stages[index]
        guard case .native(let native) = stage.work else {
            throw PatchError(.kernel, "stage \(index + 1) of '\(work.filter.name)' is no native one")
        }
        let kind = try provider.nativeOperator(native.name)
        guard kind.inputs.contains(stage.inputs.count), stage.inputs.count <= 64 else {
            let (low, high) = (kind.inputs.lowerBound, kind.inputs.upperBound)
            throw PatchError(
                .kernel, "native '\(kind.name)' gets \(stage.inputs.count) inputs",
                remedy: "it takes \(low == high ? "\(low)" : "\(low) to \(high)")")
        }
        let preferred = try preferredFormat(for: work, stage: index, size)
        var stored: [StoredPicture] = []
        var opaque: [Bool] = []
        for source in stage.inputs {
            switch source {
            case .port(let port):
                let picture = try input(port, of: work)
                let uses = work.filter.stages.count { $0.inputs.contains(source) }
                let others = (work.upstream(port).flatMap { readers[$0] } ?? 1) + uses - 2
                let isOpaque = isOpaque(work.upstream(port), work.checked)
                opaque.append(isOpaque)
                stored.append(
                    try acceptable(
                        picture, ofNode: work.upstream(port), isShared: others > 0, kind,
                        like: isOpaque && kind.prefersOutputFormat ? preferred : nil))
            case .stage(let earlier):
                let uses = work.filter.stages.count { $0.inputs.contains(source) }
                if case .expression(let expression) = work.results[earlier], uses > 1 || expression.storage != .half4,
                    kind.formats.isEmpty || kind.formats.contains(expression.storage)
                {
                    work.results[earlier] = .stored(try store(work.results[earlier], ofNode: nil))
                }
                opaque.append(false)
                stored.append(try acceptable(work.results[earlier], ofNode: nil, isShared: false, kind))
            case .pastPort, .pastStage:
                let picture = try past(source, readBy: index, &work)
                opaque.append(false)
                stored.append(try acceptable(.stored(picture), ofNode: nil, isShared: false, kind))
            }
        }
        for index in stored.indices where !stored[index].format.pixelFormat.hasAlpha { opaque[index] = true }
        let parameters = try operatorParameters(native, kind, work)
        let operation = try kind.make(
            OperatorRequest(
                inputs: stored.map(\.format), opaque: opaque, width: size.width, height: size.height,
                options: native.options,
                parameters: parameters.map { ($0.name, $0.source.count) }, rate: plan.rate, preferredOutput: preferred,
                light: work.checked.patch.settings.light, compiler: compiler))
        let offset = plan.uniformCount
        for parameter in parameters {
            bind(parameter.source, at: plan.uniformCount)
            plan.uniformCount += parameter.source.count
        }
        let slot = newSlot(operation.output)
        plan.steps.append(
            .operate(
                PlanOperate(
                    id: work.node.id, name: kind.name, work: operation, inputs: stored.map(\.slot), output: slot,
                    uniformOffset: offset, toleratesMissingInputs: kind.toleratesMissingInputs,
                    data: kind.data.isEmpty ? nil : OperatorData(kind.data), isWatched: work.node.isWatched)))
        return StoredPicture(slot: slot, format: operation.output)
    }

    /// The picture at a port of a filter that is being planned.
    func input(_ port: Int, of work: FilterWork) throws -> Picture {
        if let known = work.overrides[port] { return known }
        if let color = work.filter.portDefaults[port], work.upstream(port) == nil {
            return .expression(try constant(color, work.size))
        }
        return try input(port, of: work.node, work.checked)
    }

    /// Lets a uniform's floats arrive at a place in the plan's uniforms.
    mutating func bind(_ source: UniformSource, at place: Int) {
        switch source {
        case .parameter(let storeIndex, let count):
            plan.uniformTargets.append(UniformTarget(storeIndex: storeIndex, offset: place, count: count))
        case .constant(let floats):
            for (lane, float) in floats.enumerated() { plan.uniformConstants.append((place + lane, float)) }
        }
    }

    private func operatorParameters(
        _ native: KernelFilter.NativeStage, _ kind: OperatorKind, _ work: FilterWork
    ) throws -> [(name: String, source: UniformSource)] {
        func source(_ parameter: KernelFilter.NativeStage.Parameter) throws -> UniformSource {
            switch parameter.value {
            case .constant(let floats): return .constant(floats)
            case .parameter(let name):
                guard let found = work.storeIndex[name] else {
                    throw PatchError(
                        .kernel,
                        "'\(parameter.name)' of native '\(kind.name)' is fed by '\(name)', which is no parameter of "
                            + "'\(work.filter.name)'",
                        remedy: Spelling.nearest(to: name, in: work.filter.parameters.map(\.name)).map {
                            "did you mean '\($0)'?"
                        } ?? "")
                }
                return .parameter(storeIndex: found.index, count: found.count)
            }
        }
        if kind.parameters.isEmpty { return try native.parameters.map { ($0.name, try source($0)) } }
        for given in native.parameters where !kind.parameters.contains(where: { $0.name == given.name }) {
            let names = kind.parameters.map(\.name)
            throw PatchError(
                .kernel, "native '\(kind.name)' has no parameter '\(given.name)'",
                remedy: Spelling.nearest(to: given.name, in: names).map { "did you mean '\($0)'?" }
                    ?? "it takes \(names.joined(separator: ", "))")
        }
        return try kind.parameters.map { wanted in
            guard let given = native.parameters.first(where: { $0.name == wanted.name }) else {
                return (wanted.name, .constant(wanted.defaultValue))
            }
            let found = try source(given)
            guard found.count == wanted.form.count else {
                throw PatchError(
                    .kernel, "'\(wanted.name)' of native '\(kind.name)' gets \(found.count) numbers",
                    remedy: "it takes \(wanted.form.count)")
            }
            return (wanted.name, found)
        }
    }

    /// A picture in a form that the operator reads: as it lies there, or converted to the operator's first format.
    private mutating func acceptable(
        _ picture: Picture, ofNode upstream: NodeID?, isShared: Bool, _ kind: OperatorKind,
        like preferred: VideoFormat? = nil
    ) throws -> StoredPicture {
        if case .stored(let stored) = picture {
            let isRead =
                kind.formats.contains(stored.format.pixelFormat) && stored.format.orientation == .identity
                && (stored.format.premultiplied || !stored.format.pixelFormat.hasAlpha)
            if kind.formats.isEmpty || isRead { return stored }
        }
        guard let first = kind.formats.first else { return try store(picture, ofNode: upstream) }
        // A computed picture that others read as an intermediate is computed once for all.
        if case .expression(let expression) = picture, isShared,
            kind.formats.contains(expression.storage)
        {
            return try store(picture, ofNode: upstream)
        }
        let size = picture.size
        var format = VideoFormat(first, width: size.width, height: size.height, color: first.isFloat ? .srgb : nil)
        if let preferred, kind.formats.contains(preferred.pixelFormat), preferred.premultiplied {
            format = VideoFormat(
                preferred.pixelFormat, width: size.width, height: size.height, color: preferred.color)
        } else if let video = videoFormat(picture, among: kind.formats) {
            format = video
        }
        let key = upstream.map { ConversionKey(node: $0, format: format, fill: .stretch) }
        if let key, let known = conversions[key] { return known }
        let stored = try compute(
            try asExpression(picture), as: format, reason: "native '\(kind.name)' reads \(format.pixelFormat.rawValue)")
        if let key { conversions[key] = stored }
        return stored
    }

    /// What the readers of a filter's last stage want, when they are sinks that agree; nil otherwise.
    func preferredFormat(
        for work: FilterWork, stage: Int, _ size: (width: Int, height: Int)
    ) throws -> VideoFormat? {
        guard stage == work.filter.stages.count - 1 else { return nil }
        var wanted: VideoFormat?
        for wire in work.checked.patch.wires where wire.from == work.node.id && wire.media != .audio {
            guard let reader = work.checked.order.first(where: { $0.id == wire.to }),
                case .role(.sink) = try provider.kindOrKernel(of: reader)
            else { return nil }
            let offered = VideoFormat(.half4, width: size.width, height: size.height)
            let request = try provider.request(of: reader, offered: offered, hasSound: false, rate: plan.rate)
            guard let video = request?.video, video.displaySize == size else { return nil }
            if let wanted, wanted != video { return nil }
            wanted = video
        }
        return wanted
    }

    /// Whether a node's picture is known to have no transparent pixel.
    func isOpaque(_ id: NodeID?, _ checked: CheckedPatch) -> Bool {
        var current = id
        for _ in 0...checked.order.count {
            guard let id = current, let node = checked.order.first(where: { $0.id == id }) else { return false }
            if let source = plan.sources.first(where: { $0.id == id }) {
                return source.format.map { !$0.pixelFormat.hasAlpha } ?? false
            }
            // A filter that keeps its first input's alpha is as opaque as that input.
            guard case .kernels(let filter) = node.body, filter.keepsAlpha, !filter.ports.isEmpty else { return false }
            current = checked.inputs[id]?[0]?.from
        }
        return false
    }
}
