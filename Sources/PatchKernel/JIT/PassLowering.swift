import PatchMedia

/// What the emitter must store, as values of a `ScalarProgram`.
enum PassRoots {
    /// Four 8-bit codes in memory order. On x86, codes of 8 bits may leave 0…255: being stored clamps them.
    case packed([S])
    /// A code (or a half-float value) for each plane, all at full size.
    case planes([S])
    /// A luma code, and values that are averaged to chroma positions before Cb and Cr are made of them.
    case subsampled(luma: S, chroma: ChromaRoot)
    /// No scalar program at all: another format of the same picture.
    case conversion(FormatConversion)
    /// The same in 16-bit integers, proven exact enough.
    case fixed(FixedRoots)
}

/// Cb code = Σ cb[i] · value[i] + bias, then rounded; Cr likewise.
struct ChromaRoot {
    var values: [S]
    var cb: [Float]
    var cr: [Float]
    var bias: Float
    /// Codes may leave 0…maximum and must be clamped.
    var needsClamp: Bool
    var maximum: Float
}

/// Turns a pass description into scalar operations: decoding of the inputs, the kernel, encoding of the result.
struct PassLowering {
    let description: PassDescription
    var p = ScalarProgram()
    private(set) var roots = PassRoots.planes([])
    private(set) var arithmetic = Arithmetic.float(reason: "")
    /// Components of each node of the kernel.
    var lowered: [[S]] = []
    private var reads: [NodeKind: [S]] = [:]

    init(_ description: PassDescription, cpu: TargetCPU) throws(KernelError) {
        self.description = description
        let kernel = description.kernel
        guard description.inputs.count == kernel.inputs.count else {
            throw KernelError(
                .unsupported,
                "'\(kernel.name)' has \(kernel.inputs.count) inputs; the pass gives \(description.inputs.count)")
        }
        guard description.planes == .all || description.inputs.allSatisfy({ $0.orientation == .identity }) else {
            throw KernelError(.unsupported, "'\(kernel.name)' reads planes of a turned picture apart")
        }
        p.hasScaling = cpu.hasScaling
        p.hasLookup = cpu.hasLookup
        p.hasRootEstimate = cpu.hasRootEstimate
        p.hasLoops = kernel.nodes.contains { if case .loop = $0.kind { true } else { false } }
        p.isCoarse = description.output.format.bitDepth == 8
        if let conversion {
            roots = .conversion(conversion)
            // See `conversion` for the proof.
            arithmetic = .int16(bound: 0.2)
            return
        }
        lowered.reserveCapacity(kernel.nodes.count)
        p.reserve(8 * kernel.nodes.count)
        for index in kernel.nodes.indices { lowered.append(lower(kernel.nodes[index])) }
        roots = encode(lowered[kernel.result])
        switch FixedLowering.roots(of: roots, &p, description) {
        case .success(let fixed):
            roots = .fixed(fixed)
            arithmetic = .int16(bound: fixed.bound)
        case .failure(let refusal):
            arithmetic = .float(reason: refusal.reason)
            // Between 32-bit floats numbers are computed in the order in which they are written: sound's phase must stay exact
            // for hours.
            let isExact = ([description.output.format] + description.inputs.map(\.format)).allSatisfy {
                $0.isFloat && !$0.isHalf
            }
            if !isExact {
                (p, roots) = AffineFolding.fold(p, roots, narrows: cpu.isX86 && description.output.format.bitDepth == 8)
            }
        }
    }

    // MARK: Kernel values

    private mutating func lower(_ node: Node) -> [S] {
        let kernel = description.kernel
        switch node.kind {
        case .float(let bits): return [p.float(Float(bitPattern: bits))]
        case .int(let value): return [p.int(value)]
        case .bool(let value): return [p.bool(value)]
        case .uniform(let index):
            let offset = kernel.uniformOffset(index)
            let range = kernel.uniforms[index].range
            let floats = (0..<node.type.componentCount).map { component -> S in
                let value = p.make(.uniform(offset + component), .float)
                return range.map { p.clamp(value, $0.lowerBound, $0.upperBound) } ?? value
            }
            if node.type == .int { return [p.toInt(floats[0])] }
            if node.type == .bool { return [p.toBool(floats[0])] }
            return floats
        case .current, .tap:
            if let value = reads[node.kind] { return value }
            let value = lowerRead(node.kind)
            reads[node.kind] = value
            return value
        case .sample(let input, let filter, let edge):
            if filter == .bilinear, edge == .clamp, kernel.nodes[node.arguments[0]].kind == .builtin(.uv),
                description.inputs[input].isReadHalf(description.planes)
            {
                return readHalf(input)
            }
            let uv = lowered[node.arguments[0]]
            return sample(input, u: uv[0], v: uv[1], filter: filter, edge: edge)
        case .builtin(let builtin): return lower(builtin)
        case .operation(let operation): return lower(operation, node)
        case .construct:
            let parts = node.arguments.flatMap { lowered[$0] }
            let count = node.type.componentCount
            return parts.count == count ? parts : Array(repeating: parts[0], count: count)
        case .swizzle(let indices):
            let value = lowered[node.arguments[0]]
            return indices.map { value[Int($0)] }
        case .select:
            let condition = lowered[node.arguments[0]]
            let (a, b) = (lowered[node.arguments[1]], lowered[node.arguments[2]])
            return a.indices.map { i in
                let c = p.toBool(condition.count == 1 ? condition[0] : condition[i])
                return p.select(c, a[i], b[i])
            }
        case .convert(let conversion): return convert(lowered[node.arguments[0]], conversion)
        case .loopParameter(let loop, let index): return lowerLoopParameter(loop, index, node.type)
        case .loop(let loop, let limit): return [lowerLoop(loop, limit, node)]
        case .loopResult(let index): return lowerLoopResult(node, index)
        }
    }

    private mutating func lower(_ builtin: Builtin) -> [S] {
        switch builtin {
        case .position: return position
        case .size: return outputSize
        case .uv:
            let (position, size) = (position, outputSize)
            return [p.div(position[0], size[0]), p.div(position[1], size[1])]
        case .inputSize(let input):
            let size = pictureSize(input)
            return [p.toFloat(size.width), p.toFloat(size.height)]
        case .time: return [p.make(.time, .float)]
        case .frame: return [p.make(.frame, .int)]
        case .hash:
            let (column, row) = (p.make(.column, .int), p.make(.row, .int))
            let shift = description.planes
            return [
                p.hash([
                    shift.log2Width > 0 ? p.intBinary(.shiftLeft, column, Int32(shift.log2Width)) : column,
                    shift.log2Height > 0 ? p.intBinary(.shiftLeft, row, Int32(shift.log2Height)) : row,
                    p.make(.frame, .int),
                ])
            ]
        }
    }

    private var position: [S] {
        mutating get {
            let (column, row) = (p.toFloat(p.make(.column, .int)), p.toFloat(p.make(.row, .int)))
            let planes = description.planes
            let siting = description.output.color.siting
            func place(_ at: S, _ log2: Int, _ isCosited: Bool, _ p: inout ScalarProgram) -> S {
                if log2 == 0 { return p.add(at, p.float(Float(0.5))) }
                return p.fma(at, p.float(Float(2)), p.float(Float(isCosited ? 0.5 : 1)))
            }
            return [
                place(column, planes.log2Width, siting.isCositedHorizontally, &p),
                place(row, planes.log2Height, siting.isCositedVertically, &p),
            ]
        }
    }

    private var outputSize: [S] {
        mutating get { [p.toFloat(p.make(.outputWidth, .int)), p.toFloat(p.make(.outputHeight, .int))] }
    }

    /// Size of the whole picture behind an input, as the kernel sees it.
    mutating func pictureSize(_ input: Int) -> (width: S, height: S) {
        if description.planes == .all { return orientedSize(input) }
        return (p.make(.pictureWidth(input), .int), p.make(.pictureHeight(input), .int))
    }

    mutating func orientedSize(_ input: Int) -> (width: S, height: S) {
        let (width, height) = (p.make(.inputWidth(input), .int), p.make(.inputHeight(input), .int))
        return description.inputs[input].orientation.swapsAxes ? (height, width) : (width, height)
    }

    // MARK: Loops

    private func loopNode(_ loop: Int) -> Node {
        for node in description.kernel.nodes {
            if case .loop(loop, _) = node.kind { return node }
        }
        preconditionFailure("a loop parameter without its loop")
    }

    private func carriedTypes(_ node: Node) -> [ValueType] {
        node.arguments[..<((node.arguments.count - 1) / 2)].map { description.kernel.nodes[$0].type }
    }

    private mutating func lowerLoopParameter(_ loop: Int, _ index: Int, _ type: ValueType) -> [S] {
        if index < 0 { return [p.make(.loopParameter(loop, -1), .int)] }
        let types = carriedTypes(loopNode(loop))
        let base = types[..<index].reduce(0) { $0 + $1.componentCount }
        let kind = Self.kind(type)
        return (0..<type.componentCount).map { p.make(.loopParameter(loop, base + $0), kind) }
    }

    private mutating func lowerLoop(_ loop: Int, _ limit: Int, _ node: Node) -> S {
        let arguments = node.arguments.flatMap { lowered[$0] }
        return p.make(.loop(loop, limit: limit, carried: (arguments.count - 1) / 2), .bool, arguments)
    }

    private mutating func lowerLoopResult(_ node: Node, _ index: Int) -> [S] {
        let loop = description.kernel.nodes[node.arguments[0]]
        let base = carriedTypes(loop)[..<index].reduce(0) { $0 + $1.componentCount }
        let s = lowered[node.arguments[0]][0]
        let kind = Self.kind(node.type)
        return (0..<node.type.componentCount).map { p.make(.loopResult(base + $0), kind, [s]) }
    }

    private static func kind(_ type: ValueType) -> ScalarProgram.Kind {
        type == .int ? .int : type == .bool ? .bool : .float
    }
}
