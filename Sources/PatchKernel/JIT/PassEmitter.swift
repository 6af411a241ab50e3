internal import CLLVM
import PatchMedia

/// Writes one pass as LLVM IR: `patchbay_prepare(context)` computes what is the same for all pixels of a frame,
/// `patchbay_span(context)` computes a run of chunks of one row (two for 4:2:0 output). They are modules of their own, made
/// on two threads.
///
/// A chunk is `columns` × `rows` pixels, one lane a pixel, row by row. The code reads and writes whole chunks through
/// the pointers in the context; the driver sees to it that they may be (see `PassDriver`).
struct PassEmitter {
    let description: PassDescription
    let cpu: TargetCPU
    let types: LLVMTypes
    let module: LLVMModuleRef
    var layout: PassLayout
    let program: ScalarProgram
    let roots: PassRoots
    /// Values computed by `prepare` that `span` reads: where in the table each is.
    var hoisted: [Int: Int] = [:]

    let columns: Int
    let rows: Int
    var lanes: Int { columns * rows }

    // The function being written.
    var entry: LLVMAssembler
    var body: LLVMAssembler
    private var function: LLVMValueRef
    var context: LLVMValueRef
    /// Machine values of scalar values: one for all lanes, or one a lane.
    var scalars: [Int: LLVMValueRef] = [:]
    var vectors: [Int: LLVMValueRef] = [:]
    var chunk: LLVMValueRef
    var column: LLVMValueRef
    var memo: [String: LLVMValueRef] = [:]
    var loopValues: [Int: [LLVMValueRef]] = [:]
    let loops: LoopStructure
    /// How four components are computed as one, in a pass of integers.
    var packing: FixedPacking?
    let packedRoot: (color: Int, alpha: Int?)?
    /// Which column each lane holds, where they are not in order (see `storeInterleaved`).
    let laneOrder: [Int]?
    var planarValues: [Int: FixedLanes] = [:]
    var packedValues: [Int: FixedLanes] = [:]
    private(set) var isLive: [Bool] = []
    private var branches: ChunkBranches?

    init(
        _ description: PassDescription, lowering: PassLowering, cpu: TargetCPU, types: LLVMTypes, module: LLVMModuleRef
    ) {
        self.description = description
        self.cpu = cpu
        self.types = types
        self.module = module
        program = lowering.p
        roots = lowering.roots
        loops = lowering.p.loopStructure
        if case .fixed(let fixed) = lowering.roots {
            var packing = FixedPacking(fixed.program, description)
            packedRoot = packing.root(fixed.codes)
            self.packing = packing
            // Two rows share what lies between them.
            let isBlocked =
                description.rowAlignment == 1 && fixed.chroma == nil && TapSharing.stackedReads(fixed.program) >= 2
            rows = isBlocked ? 2 : description.rowAlignment
            let isPacked = ([description.output.format] + description.inputs.map(\.format)).contains {
                $0 == .rgba || $0 == .bgra
            }
            columns = min(64, max(fixed.chroma == nil ? 8 : 16, cpu.lanes * (isPacked ? 2 : 4) / rows))
        } else {
            packing = nil
            packedRoot = nil
            (columns, rows) =
                Self.decodesByColumns(description, lowering.roots, cpu)
                ? (Self.columnsDecoded(cpu), 1) : Self.chunk(description, lowering, TapSharing(lowering.p), cpu)
        }
        laneOrder = Self.laneOrder(
            description, lowering.roots, isPacked: packedRoot != nil, cpu, columns: columns, rows: rows)
        layout = PassLayout(description: description, columns: columns, rows: rows)
        entry = LLVMAssembler(types, module)
        body = LLVMAssembler(types, module)
        context = LLVMGetUndef(types.pointer)
        function = context
        chunk = LLVMGetUndef(types.i64)
        column = LLVMGetUndef(types.i32)
    }

    private static func chunk(
        _ description: PassDescription, _ lowering: PassLowering, _ sharing: TapSharing, _ cpu: TargetCPU
    ) -> (columns: Int, rows: Int) {
        if sharing.isTall, description.rowAlignment == 1, description.output.format.log2ChromaWidth == 0 {
            // As many rows as there are registers for their sums.
            return (max(8, cpu.lanes), cpu.lanes >= 16 ? 4 : 2)
        }
        let rows = description.rowAlignment
        let interleave = cpu.interleave ?? interleave(description, lowering, cpu)
        return (min(64, max(8, cpu.lanes * interleave / rows)), rows)
    }

    /// Four vectors in passes of moderate size, and where chroma is halved, so that chroma still fills whole vectors;
    /// two in large ones, whose compile time it would double, and in all but the lightest where there are only sixteen
    /// registers.
    private static func interleave(_ description: PassDescription, _ lowering: PassLowering, _ cpu: TargetCPU) -> Int {
        let isSubsampled =
            description.output.format.log2ChromaWidth > 0
            || description.inputs.contains { $0.format.log2ChromaWidth > 0 }
        let hasManyRegisters = cpu.lanes >= 16
        // Taps that are needed again (for a difference and for a sum) fill sixteen registers at one vector each.
        if !hasManyRegisters, lowering.p.heldReads > 12 { return 1 }
        let limit = isSubsampled ? 500 : hasManyRegisters ? 240 : 100
        // What a frame computes once counts for nothing. Gathers fill the registers and the pipes by themselves.
        return lowering.p.rates.count { $0 != .frame } < limit && !lowering.p.gathers ? 4 : 2
    }

    func dispose() {
        entry.dispose()
        body.dispose()
    }

    // MARK: Which values are needed

    /// Values that the roots depend on, in order.
    private mutating func liveValues() -> [Int] {
        isLive = [Bool](repeating: false, count: program.nodes.count)
        for root in roots.values { isLive[root.index] = true }
        for index in program.nodes.indices.reversed() where isLive[index] {
            for argument in program.nodes[index].arguments { isLive[argument.index] = true }
        }
        return program.nodes.indices.filter { isLive[$0] }
    }

    private func isConstant(_ index: Int) -> Bool {
        switch program.nodes[index].operation {
        case .float, .int, .bool: true
        default: false
        }
    }

    /// Read directly from the context, cheaper than from the table.
    private func isContextLeaf(_ index: Int) -> Bool {
        switch program.nodes[index].operation {
        case .outputWidth, .outputHeight, .inputWidth, .inputHeight, .pictureWidth, .pictureHeight, .time, .frame:
            true
        default: false
        }
    }

    /// One of a pass's two functions, each of which is made by an emitter of its own.
    enum Part: String { case span, prepare }

    mutating func emit(_ part: Part, symbol: String) {
        let live = liveValues()
        let floatInputs = description.inputs.indices.filter { rows == 1 && description.inputs[$0].format.isFloat }
        let branches = ChunkBranches(program, live: live, roots: roots.values, floatInputs: Set(floatInputs))
        self.branches = branches
        // What pixels need of the frame's values.
        var isNeeded: Set<Int> = []
        for index in live where program.rates[index] != .frame {
            for argument in program.nodes[index].arguments where program.rates[argument.index] == .frame {
                isNeeded.insert(argument.index)
            }
        }
        for root in roots.values where program.rates[root.index] == .frame { isNeeded.insert(root.index) }
        for index in isNeeded.sorted() where !isConstant(index) && !isContextLeaf(index) {
            hoisted[index] = hoisted.count
        }
        beginFunction(symbol)
        switch part {
        case .prepare: emitPrepare(live.filter { program.rates[$0] == .frame })
        case .span: emitSpan(live.filter { program.rates[$0] != .frame && !branches.isInside.contains($0) })
        }
    }

    private mutating func beginFunction(_ name: String) {
        var parameters: [LLVMTypeRef?] = [types.pointer]
        let type = LLVMFunctionType(types.void, &parameters, 1, 0)
        function = LLVMAddFunction(module, name, type)!
        cpu.mark(function, types)
        context = LLVMGetParam(function, 0)
    }

    func word(_ index: Int, _ type: LLVMTypeRef, isInvariant: Bool = true) -> LLVMValueRef {
        entry.load(type, entry.offset(context, index * 8), alignment: 8, isInvariant: isInvariant)
    }

    private mutating func emitPrepare(_ values: [Int]) {
        entry.move(to: LLVMAppendBasicBlockInContext(types.context, function, "entry"))
        let table = word(PassLayout.Word.hoisted, types.pointer)
        for index in values { scalars[index] = scalarValue(index) }
        for (index, slot) in hoisted.sorted(by: { $0.value < $1.value }) {
            var value = scalars[index]!
            if program.nodes[index].kind == .bool { value = LLVMBuildZExt(entry.builder, value, types.i32, "") }
            entry.store(value, entry.offset(table, slot * 4), alignment: 4)
        }
        LLVMBuildRetVoid(entry.builder)
    }

    private mutating func emitSpan(_ values: [Int]) {
        let first = LLVMAppendBasicBlockInContext(types.context, function, "entry")!
        let loop = LLVMAppendBasicBlockInContext(types.context, function, "chunk")!
        let exit = LLVMAppendBasicBlockInContext(types.context, function, "exit")!
        entry.move(to: first)
        body.move(to: loop)

        let table = word(PassLayout.Word.hoisted, types.pointer)
        for (index, slot) in hoisted.sorted(by: { $0.value < $1.value }) {
            let kind = program.nodes[index].kind
            var value = entry.load(
                kind == .float ? types.float : types.i32, entry.offset(table, slot * 4), alignment: 4, isInvariant: true
            )
            if kind == .bool { value = entry.compareInt(LLVMIntNE, value, types.int(0, types.i32)) }
            scalars[index] = value
        }
        let count = word(PassLayout.Word.chunkCount, types.i64)
        let firstColumn = word(PassLayout.Word.column, types.i32)

        chunk = LLVMBuildPhi(body.builder, types.i64, "")
        let carries = beginCarries()
        let chunk32 = LLVMBuildTrunc(body.builder, chunk, types.i32, "")!
        let advance = body.intMul(chunk32, types.int(columns, types.i32))
        column = body.intAdd(firstColumn, advance)

        for index in values where loops.owner[index] == nil && !isRead(index) { emitValue(index) }
        let carriesOut = emitRoots(firstColumn: firstColumn, carries: carries)

        let next = body.intAdd(chunk, types.int(1, types.i64))
        let isMore = body.compareInt(LLVMIntULT, next, count)
        let last = LLVMGetInsertBlock(body.builder)!
        LLVMBuildCondBr(body.builder, isMore, loop, exit)
        addIncoming(chunk, [(types.int(0, types.i64), first), (next, last)])
        let carryBase = carries.isEmpty ? nil : word(PassLayout.Word.carry, types.pointer)
        for i in carries.indices {
            let initial = entry.load(LLVMTypeOf(carries[i]), entry.offset(carryBase!, i * 4), alignment: 4)
            addIncoming(carries[i], [(initial, first), (carriesOut[i], last)])
        }
        LLVMBuildBr(entry.builder, loop)

        body.move(to: exit)
        for i in carries.indices {
            body.store(carriesOut[i], body.offset(carryBase!, i * 4), alignment: 4)
        }
        LLVMBuildRetVoid(body.builder)
    }

    func addIncoming(_ phi: LLVMValueRef, _ edges: [(LLVMValueRef, LLVMBasicBlockRef)]) {
        var values = edges.map { Optional($0.0) }
        var blocks = edges.map { Optional($0.1) }
        LLVMAddIncoming(phi, &values, &blocks, UInt32(edges.count))
    }

    /// The last column's values of the previous chunk, for chroma that is filtered across chunks.
    private func beginCarries() -> [LLVMValueRef] {
        guard description.output.color.siting.isCositedHorizontally else { return [] }
        switch roots {
        case .subsampled(_, let chroma): return chroma.values.map { _ in LLVMBuildPhi(body.builder, types.float, "") }
        case .fixed(let fixed):
            return (fixed.chroma?.values ?? []).map { _ in LLVMBuildPhi(body.builder, types.i16, "") }
        case .conversion(.encode) where description.output.format.log2ChromaWidth > 0:
            return (0..<2).map { _ in LLVMBuildPhi(body.builder, types.i32, "") }
        default: return []
        }
    }

    // MARK: Values

    /// Reads are emitted where they are first used, because LLVM keeps the order: made all at the beginning, the taps of
    /// a large stencil would fill the registers and go through the stack. (Not with loops: a first use inside one would
    /// not serve a later one outside.)
    func isRead(_ index: Int) -> Bool {
        guard loops.owner.isEmpty else { return false }
        switch program.nodes[index].operation {
        case .load: return true
        case .toFloat:
            if case .load = program.operation(program.nodes[index].arguments[0]) { return true }
            return false
        default: return false
        }
    }

    /// Whether one machine scalar serves all lanes.
    func isScalar(_ index: Int) -> Bool {
        program.rates[index] == .frame || (program.rates[index] == .row && rows == 1)
    }

    mutating func emitValue(_ index: Int) {
        if isScalar(index) {
            if scalars[index] == nil { scalars[index] = scalarValue(index) }
        } else if vectors[index] == nil {
            vectors[index] = vectorValue(index)
        }
    }

    /// The machine scalar of a value that is the same for all lanes.
    mutating func scalar(_ s: S) -> LLVMValueRef {
        if let value = scalars[s.index] { return value }
        let value = scalarValue(s.index)
        scalars[s.index] = value
        return value
    }

    /// One lane a pixel.
    mutating func vector(_ s: S) -> LLVMValueRef {
        if let value = vectors[s.index] { return value }
        guard isScalar(s.index) else {
            let value = vectorValue(s.index)
            vectors[s.index] = value
            return value
        }
        let value = entry.splat(scalar(s), lanes)
        vectors[s.index] = value
        return value
    }

    private mutating func scalarValue(_ index: Int) -> LLVMValueRef {
        let node = program.nodes[index]
        if let leaf = constant(node) { return leaf }
        switch node.operation {
        case .uniform(let slot):
            let base = memoized("uniforms") { $0.word(PassLayout.Word.uniforms, $0.types.pointer) }
            return entry.load(types.float, entry.offset(base, slot * 4), alignment: 4)
        case .row: return memoized("row") { $0.word(PassLayout.Word.row, $0.types.i32) }
        case .outputWidth: return memoized("width") { $0.word(PassLayout.Word.pictureWidth, $0.types.i32) }
        case .outputHeight: return memoized("height") { $0.word(PassLayout.Word.pictureHeight, $0.types.i32) }
        case .inputWidth(let i): return word(layout.inputWord(i), types.i32)
        case .inputHeight(let i): return word(layout.inputWord(i) + 1, types.i32)
        case .pictureWidth(let i): return word(layout.inputWord(i) + PassLayout.pictureWord, types.i32)
        case .pictureHeight(let i): return word(layout.inputWord(i) + PassLayout.pictureWord + 1, types.i32)
        case .time: return word(PassLayout.Word.time, types.float)
        case .frame: return word(PassLayout.Word.frame, types.i32)
        case .gather(let input, let channel): return scalarGather(input, channel, node.arguments)
        default:
            let arguments = node.arguments.map { scalar($0) }
            return arithmetic(node.operation, arguments, entry, lanes: 1)
        }
    }

    private mutating func vectorValue(_ index: Int) -> LLVMValueRef {
        let node = program.nodes[index]
        switch node.operation {
        case .column:
            let lanesIndex = types.intVector((0..<lanes).map { $0 % columns }, types.i32)
            return body.intAdd(body.splat(column, lanes), lanesIndex)
        case .row:
            let first = entry.splat(word(PassLayout.Word.row, types.i32), lanes)
            let rowIndex = types.intVector((0..<lanes).map { $0 / columns }, types.i32)
            let last = entry.intAdd(word(PassLayout.Word.height, types.i32), types.int(-1, types.i32))
            let lastRow = entry.splat(last, lanes)
            let row = entry.intAdd(first, rowIndex)
            return entry.select(entry.compareInt(LLVMIntSLT, row, lastRow), row, lastRow)
        case .load(let load): return emitLoad(load)
        case .gather(let input, let channel):
            return emitGather(input, channel, node.arguments)
        case .dither:
            let parts = (0..<rows).map { r in
                let row = body.intAdd(word(PassLayout.Word.row, types.i32), types.int(r, types.i32))
                return ditherRow(row, column, columns)
            }
            return body.concatenated(parts, lanes: columns)
        case .lookup: return emitLookup(node)
        case .loop(let loop, let limit, let carried): return emitLoop(index, loop, limit, carried)
        case .loopResult(let i): return loopResult(node, i)
        default:
            if let number = branches?.branch[index], let branch = branches?.branches[number] {
                emitBranch(branch)
                return vectors[index]!
            }
            let arguments = node.arguments.map { vector($0) }
            // What only rows differ in is computed once a run of chunks.
            let asm = program.rates[index] == .row ? entry : body
            return arithmetic(node.operation, arguments, asm, lanes: lanes)
        }
    }

    mutating func ditherRow(_ row: LLVMValueRef, _ column: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let table = memoized("dither") { $0.word(PassLayout.Word.ditherTable, $0.types.pointer) }
        let seven = types.int(7, types.i32)
        let offset = body.intAdd(
            body.intMul(body.and(row, seven), types.int(PassLayout.ditherStride, types.i32)), body.and(column, seven))
        let bytes = LLVMBuildZExt(body.builder, body.shiftLeft(offset, types.int(2, types.i32)), types.i64, "")!
        return body.load(types.vector(types.float, count), body.offset(table, bytes), alignment: 4)
    }

    mutating func memoized(_ key: String, _ make: (PassEmitter) -> LLVMValueRef) -> LLVMValueRef {
        if let value = memo[key] { return value }
        let value = make(self)
        memo[key] = value
        return value
    }

    private func constant(_ node: ScalarProgram.Node) -> LLVMValueRef? {
        switch node.operation {
        case .float(let bits):
            LLVMConstBitCast(LLVMConstInt(types.i32, UInt64(bits), 0), types.float)
        case .int(let value): types.int(Int(value), types.i32)
        case .bool(let value): types.int(value ? 1 : 0, types.i1)
        default: nil
        }
    }
}
