internal import CLLVM

/// Writes functions over rows of samples as LLVM IR, already in vectors.
///
/// A function works on as many pixels at a time as two machine vectors of 16-bit lanes hold. Where the row ends inside such a
/// step, the last step begins earlier and computes some pixels again, so that nothing is written beyond the row; so source
/// and target must not overlap. Rows shorter than a step go pixel by pixel.
struct RowEmitter {
    let cpu: TargetCPU
    let types: LLVMTypes
    let module: LLVMModuleRef
    let asm: LLVMAssembler
    /// 16-bit samples in a step.
    var step: Int { cpu.lanes * 4 }

    private var function: LLVMValueRef

    init(_ cpu: TargetCPU, _ types: LLVMTypes, _ module: LLVMModuleRef) {
        self.cpu = cpu
        self.types = types
        self.module = module
        asm = LLVMAssembler(types, module)
        function = LLVMGetUndef(types.pointer)
    }

    /// Begins a function of these parameters. Its body ends with `finish`.
    mutating func begin(_ name: String, _ parameters: [LLVMTypeRef]) -> [LLVMValueRef] {
        var kinds = parameters.map { Optional($0) }
        let type = LLVMFunctionType(types.void, &kinds, UInt32(kinds.count), 0)
        function = LLVMAddFunction(module, name, type)!
        cpu.mark(function, types)
        asm.move(to: LLVMAppendBasicBlockInContext(types.context, function, "entry"))
        return parameters.indices.map { LLVMGetParam(function, UInt32($0)) }
    }

    func finish() { LLVMBuildRetVoid(asm.builder) }

    /// Calls `body` with the first pixel and the number of pixels of each step of a row.
    func steps(
        _ count: LLVMValueRef, pixels: Int, _ body: (_ first: LLVMValueRef, _ pixels: Int) -> Void
    ) {
        let zero = types.int(0, types.i64)
        let wide = block(), narrow = block(), isLeft = block(), exit = block()
        let size = types.int(pixels, types.i64)
        let last = LLVMBuildSub(asm.builder, count, size, "")!
        LLVMBuildCondBr(asm.builder, asm.compareInt(LLVMIntSGE, last, zero), wide, isLeft)
        loop(wide, exit, to: count, by: size) { index in
            body(asm.select(asm.compareInt(LLVMIntSLT, index, last), index, last), pixels)
        }
        asm.move(to: isLeft)
        LLVMBuildCondBr(asm.builder, asm.compareInt(LLVMIntSGT, count, zero), narrow, exit)
        loop(narrow, exit, to: count, by: types.int(1, types.i64)) { body($0, 1) }
        asm.move(to: exit)
    }

    /// The same for code that changes a row in place: no pixel is done twice, and those after the last whole step one by one.
    func stepsInPlace(
        _ count: LLVMValueRef, pixels: Int, _ body: (_ first: LLVMValueRef, _ pixels: Int) -> Void
    ) {
        let zero = types.int(0, types.i64)
        let wide = block(), isLeft = block(), narrow = block(), exit = block()
        let before = LLVMGetInsertBlock(asm.builder)!
        let whole = LLVMBuildAnd(asm.builder, count, types.int(-pixels, types.i64), "")!
        LLVMBuildCondBr(asm.builder, asm.compareInt(LLVMIntSGT, whole, zero), wide, isLeft)
        let last = loop(wide, isLeft, to: whole, by: types.int(pixels, types.i64)) { body($0, pixels) }
        asm.move(to: isLeft)
        let done = LLVMBuildPhi(asm.builder, types.i64, "")!
        join(done, [(zero, before), (whole, last)])
        LLVMBuildCondBr(asm.builder, asm.compareInt(LLVMIntSLT, done, count), narrow, exit)
        loop(narrow, exit, from: done, to: count, by: types.int(1, types.i64)) { body($0, 1) }
        asm.move(to: exit)
    }

    /// Does `body` where the condition holds.
    func when(_ condition: LLVMValueRef, _ body: () -> Void) {
        let inside = block(), after = block()
        LLVMBuildCondBr(asm.builder, condition, inside, after)
        asm.move(to: inside)
        body()
        LLVMBuildBr(asm.builder, after)
        asm.move(to: after)
    }

    /// Whether any bit of a vector of 32-bit lanes is set.
    func hasBits(_ vector: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        var (vector, count) = (vector, count)
        while count > cpu.lanes {
            count /= 2
            vector = asm.or(
                asm.shuffle(vector, nil, Array(0..<count)), asm.shuffle(vector, nil, Array(count..<2 * count)))
        }
        let bits = LLVMIntTypeInContext(types.context, UInt32(32 * count))!
        return asm.compareInt(
            LLVMIntNE, LLVMBuildBitCast(asm.builder, vector, bits, ""), LLVMConstInt(bits, 0, 0))
    }

    /// A sum over `count` ≥ 1 terms, of which each is added by `body`.
    func sum(
        _ start: [LLVMValueRef], _ count: LLVMValueRef,
        _ body: (_ index: LLVMValueRef, _ sums: [LLVMValueRef]) -> [LLVMValueRef]
    ) -> [LLVMValueRef] {
        let inner = block(), exit = block()
        let before = LLVMGetInsertBlock(asm.builder)!
        LLVMBuildBr(asm.builder, inner)
        asm.move(to: inner)
        let index = LLVMBuildPhi(asm.builder, types.i64, "")!
        let sums = start.map { LLVMBuildPhi(asm.builder, LLVMTypeOf($0), "")! }
        let added = body(index, sums)
        let next = asm.intAdd(index, types.int(1, types.i64))
        let end = LLVMGetInsertBlock(asm.builder)!
        LLVMBuildCondBr(asm.builder, asm.compareInt(LLVMIntSLT, next, count), inner, exit)
        join(index, [(types.int(0, types.i64), before), (next, end)])
        for (place, phi) in sums.enumerated() { join(phi, [(start[place], before), (added[place], end)]) }
        asm.move(to: exit)
        return added
    }

    private func block() -> LLVMBasicBlockRef { LLVMAppendBasicBlockInContext(types.context, function, "")! }

    /// - Returns: the loop's last block.
    @discardableResult
    private func loop(
        _ block: LLVMBasicBlockRef, _ exit: LLVMBasicBlockRef, from start: LLVMValueRef? = nil, to end: LLVMValueRef,
        by step: LLVMValueRef, _ body: (LLVMValueRef) -> Void
    ) -> LLVMBasicBlockRef {
        let before = LLVMGetInsertBlock(asm.builder)!
        asm.move(to: block)
        let index = LLVMBuildPhi(asm.builder, types.i64, "")!
        body(index)
        let next = asm.intAdd(index, step)
        let last = LLVMGetInsertBlock(asm.builder)!
        LLVMBuildCondBr(asm.builder, asm.compareInt(LLVMIntSLT, next, end), block, exit)
        join(index, [(start ?? types.int(0, types.i64), before), (next, last)])
        return last
    }

    private func join(_ phi: LLVMValueRef, _ incoming: [(LLVMValueRef, LLVMBasicBlockRef)]) {
        var values = incoming.map { Optional($0.0) }
        var blocks = incoming.map { Optional($0.1) }
        LLVMAddIncoming(phi, &values, &blocks, UInt32(incoming.count))
    }

    // MARK: Samples

    /// Samples of 8 bits at a number of samples beyond `row`, as 16 bits.
    func bytes(_ row: LLVMValueRef, _ at: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        widened(asm.load(types.vector(types.i8, count), asm.offset(row, at)), count)
    }

    /// Samples of 16 bits at a number of samples beyond `row`.
    func words(_ row: LLVMValueRef, _ at: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        asm.load(types.vector(types.i16, count), asm.offset(row, doubled(at)))
    }

    func storeWords(_ values: LLVMValueRef, _ row: LLVMValueRef, _ at: LLVMValueRef) {
        asm.store(values, asm.offset(row, doubled(at)))
    }

    func storeBytes(_ values: LLVMValueRef, _ row: LLVMValueRef, _ at: LLVMValueRef, _ count: Int) {
        asm.store(LLVMBuildTrunc(asm.builder, values, types.vector(types.i8, count), ""), asm.offset(row, at))
    }

    func widened(_ bytes: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        LLVMBuildZExt(asm.builder, bytes, types.vector(types.i16, count), "")
    }

    func doubled(_ value: LLVMValueRef) -> LLVMValueRef { asm.shiftLeft(value, types.int(1, types.i64)) }
    func times(_ value: LLVMValueRef, _ factor: Int) -> LLVMValueRef {
        factor == 1 ? value : asm.intMul(value, types.int(factor, types.i64))
    }
    func plus(_ value: LLVMValueRef, _ more: Int) -> LLVMValueRef {
        more == 0 ? value : asm.intAdd(value, types.int(more, types.i64))
    }

    func splat16(_ value: Int, _ count: Int) -> LLVMValueRef {
        types.splatConstant(types.int(value, types.i16), count)
    }
    func splat32(_ value: Int, _ count: Int) -> LLVMValueRef {
        types.splatConstant(types.int(value, types.i32), count)
    }

    /// Pixels 0, 2, 4 … and 1, 3, 5 … of vectors of `pixels` pixels.
    func parted(_ vector: LLVMValueRef, pixels: Int, components: Int) -> (even: LLVMValueRef, odd: LLVMValueRef) {
        func lanes(_ first: Int) -> [Int] {
            stride(from: first, to: pixels, by: 2).flatMap { pixel in
                (0..<components).map { pixel * components + $0 }
            }
        }
        return (asm.shuffle(vector, nil, lanes(0)), asm.shuffle(vector, nil, lanes(1)))
    }

    /// Pixels of two vectors in turns.
    func interleaved(_ even: LLVMValueRef, _ odd: LLVMValueRef, pixels: Int, components: Int) -> LLVMValueRef {
        asm.shuffle(
            even, odd,
            (0..<2 * pixels).flatMap { pixel in
                (0..<components).map { (pixel % 2 * pixels + pixel / 2) * components + $0 }
            })
    }

    // MARK: Arithmetic on 16 bits

    /// ⌊a · b / 65536⌋, unsigned.
    func highProduct(_ a: LLVMValueRef, _ b: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let wide = types.vector(types.i32, count)
        let product = asm.intMul(LLVMBuildZExt(asm.builder, a, wide, ""), LLVMBuildZExt(asm.builder, b, wide, ""))
        return LLVMBuildTrunc(
            asm.builder, asm.shiftRightLogical(product, splat32(16, count)), types.vector(types.i16, count), "")
    }

    /// (a + b + 1) / 2, unsigned.
    func average(_ a: LLVMValueRef, _ b: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let wide = types.vector(types.i32, count)
        let sum = asm.intAdd(LLVMBuildZExt(asm.builder, a, wide, ""), LLVMBuildZExt(asm.builder, b, wide, ""))
        return LLVMBuildTrunc(
            asm.builder, asm.shiftRightLogical(asm.intAdd(sum, splat32(1, count)), splat32(1, count)),
            types.vector(types.i16, count), "")
    }

    /// a + (b − a) / 4 rounded down, of numbers below 32768.
    func quarter(_ a: LLVMValueRef, _ b: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let difference = LLVMBuildSub(asm.builder, b, a, "")!
        return asm.intAdd(a, LLVMBuildAShr(asm.builder, difference, splat16(2, count), ""))
    }

    /// The sums of pairs of neighbouring products, signed, 32 bits each: for `count` pairs, as vectors of 32 bits.
    func pairProducts(_ a: LLVMValueRef, _ b: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let names = [16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"]
        let halves = types.vector(types.i16, 2 * count)
        let (a, b) = (LLVMBuildBitCast(asm.builder, a, halves, "")!, LLVMBuildBitCast(asm.builder, b, halves, "")!)
        if cpu.isX86, let width = [16, 8, 4].first(where: { $0 <= cpu.lanes && count % $0 == 0 }),
            let name = names[width]
        {
            let parts = stride(from: 0, to: count, by: width).map { start -> LLVMValueRef in
                let lanes = Array(2 * start..<2 * (start + width))
                let factors = width == count ? [a, b] : [asm.shuffle(a, nil, lanes), asm.shuffle(b, nil, lanes)]
                return asm.call(name, overloads: [], factors)
            }
            return asm.concatenated(parts, lanes: width)
        }
        let wide = types.vector(types.i32, 2 * count)
        let products = asm.intMul(LLVMBuildSExt(asm.builder, a, wide, ""), LLVMBuildSExt(asm.builder, b, wide, ""))
        let (even, odd) = parted(products, pixels: 2 * count, components: 1)
        return asm.intAdd(even, odd)
    }
}
