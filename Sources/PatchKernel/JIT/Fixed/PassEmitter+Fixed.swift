internal import CLLVM
import PatchMedia

/// A value in 16-bit lanes: one vector with a lane a pixel; or, of packed pixels, two of their 16-bit words: components
/// 0 and 2, then 1 and 3 (one vector where all four are the same).
struct FixedLanes {
    var parts: [LLVMValueRef]
    /// The same for all pixels: computed before the loop.
    var isInvariant: Bool
    func part(_ index: Int) -> LLVMValueRef { parts[parts.count == 1 ? 0 : index] }
}

/// Passes in 16-bit integers.
extension PassEmitter {
    /// - Returns: the last odd column's values, for the next chunk's first chroma sample.
    mutating func emitFixed(_ fixed: FixedRoots, carries: [LLVMValueRef]) -> [LLVMValueRef] {
        if let root = packedRoot {
            emitPacked(root, fixed.program)
            return []
        }
        if laneOrder != nil, fixed.codes.count == 4 {
            storeInterleaved(
                fixed.codes.map { code in
                    fixed.program.constantValue(code) == 255
                        ? nil : planar(fixed.program.withoutByteClamp(code), fixed.program).parts[0]
                })
            return []
        }
        // All of them before the first is stored: the output may be the memory of an input.
        let codes = fixed.codes.map { planar($0, fixed.program).parts[0] }
        if codes.count == 4, [.rgba, .bgra].contains(description.output.format) {
            storePacked(codes)
            return []
        }
        let chroma = fixed.chroma.map { root in root.values.map { planar($0, fixed.program).parts[0] } }
        let format = description.output.format
        let bytes = codes.map { LLVMBuildTrunc(body.builder, $0, types.vector(types.i8, lanes), "")! }
        for plane in description.planes.written(of: format) {
            if plane == 1, format.planeCount == 2, bytes.count == 3 {
                storePairs(bytes[1], bytes[2], bytes: 1)
            } else if plane < bytes.count {
                storeRows(bytes[plane], plane: plane, bytes: 1)
            }
        }
        guard let chroma, let root = fixed.chroma else { return [] }
        return emitFixedChroma(root, chroma, carries: carries)
    }

    func splat16(_ value: Int, _ count: Int) -> LLVMValueRef {
        types.splatConstant(types.int(value, types.i16), count)
    }

    /// Four codes a pixel in lanes of their own, to packed pixels.
    mutating func storePacked(_ codes: [LLVMValueRef]) {
        let low = body.or(codes[0], body.shiftLeft(codes[1], splat16(8, lanes)))
        let high = body.or(codes[2], body.shiftLeft(codes[3], splat16(8, lanes)))
        let pixels = body.shuffle(low, high, (0..<2 * lanes).map { $0 / 2 + ($0 % 2) * lanes })
        storeRows(
            LLVMBuildBitCast(body.builder, pixels, types.vector(types.i32, lanes), ""), plane: 0, bytes: 4)
    }

    // MARK: One lane a pixel

    private mutating func planar(_ index: Int, _ program: FixedProgram) -> FixedLanes {
        if let known = planarValues[index] { return known }
        let node = program.nodes[index]
        let value: FixedLanes
        switch node.operation {
        case .load(let load): value = FixedLanes(parts: [codes16(load)], isInvariant: false)
        case .constant, .frame, .frameFlag:
            value = FixedLanes(parts: [invariant([index], program, lanes)], isInvariant: true)
        case .dot:
            let wide = dot(index, program)
            value = FixedLanes(
                parts: [LLVMBuildTrunc(body.builder, wide, types.vector(types.i16, lanes), "")], isInvariant: false)
        default:
            let arguments = node.arguments.map { planar($0, program) }
            value = operate(node.operation, arguments, lanes)
        }
        planarValues[index] = value
        return value
    }

    /// A weighted sum of packed pixels' components, in 32-bit lanes.
    private mutating func dot(_ index: Int, _ program: FixedProgram) -> LLVMValueRef {
        guard case .dot(let weights, let shift) = program.nodes[index].operation,
            let tuple = packing?.pack(program.nodes[index].arguments + [-1])
        else { preconditionFailure("a dot product of what is not packed") }
        let words = packed(tuple, program)
        let wide = types.vector(types.i32, lanes)
        let outer = LLVMBuildBitCast(body.builder, words.part(0), wide, "")!
        let inner = LLVMBuildBitCast(body.builder, words.part(1), wide, "")!
        let sum = body.intAdd(
            pairProduct(outer, weights[0], weights[2], lanes), pairProduct(inner, weights[1], 0, lanes))
        if shift == 0 { return sum }
        func splat(_ value: Int) -> LLVMValueRef { types.splatConstant(types.int(value, types.i32), lanes) }
        return LLVMBuildAShr(body.builder, body.intAdd(sum, splat(1 << (shift - 1))), splat(shift), "")
    }

    private mutating func codes16(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        switch format {
        case .rgba, .bgra:
            return LLVMBuildTrunc(body.builder, emitLoad(load), types.vector(types.i16, lanes), "")
        default:
            if format.isYCbCr, load.channel > 0, format.log2ChromaWidth > 0 || format.planeCount == 2 {
                return chromaCodes(load)
            }
            let key = ReadSlot(input: load.input, plane: load.channel, dy: load.dy, edge: load.edge, rule: .direct)
            let raw = rawRows(key, shift: load.dx, element: types.i8, bytes: 1, count: columns)
            return widened(raw)
        }
    }

    /// Values that are the same for all pixels, repeated over `count` lanes, made before the loop.
    private mutating func invariant(_ indices: [Int], _ program: FixedProgram, _ count: Int) -> LLVMValueRef {
        let scalars = indices.map { index -> LLVMValueRef in
            switch program.nodes[index].operation {
            case .constant(let value): return types.int(value, types.i16)
            case .frame(let s): return LLVMBuildTrunc(entry.builder, scalar(s), types.i16, "")
            case .frameFlag(let s): return scalar(s)
            default: preconditionFailure("not the frame's own")
            }
        }
        if scalars.count == 1 || scalars.allSatisfy({ $0 == scalars[0] }) { return entry.splat(scalars[0], count) }
        var vector = LLVMGetUndef(types.vector(LLVMTypeOf(scalars[0]), scalars.count))!
        for (lane, scalar) in scalars.enumerated() {
            vector = LLVMBuildInsertElement(entry.builder, vector, scalar, types.int(lane, types.i32), "")
        }
        return entry.shuffle(vector, nil, (0..<count).map { $0 % scalars.count })
    }

    // MARK: Packed pixels

    private mutating func emitPacked(_ numbers: (color: Int, alpha: Int?), _ program: FixedProgram) {
        let words = 2 * lanes
        let root = packed(numbers.color, program)
        var odd = root.part(1)
        if let alpha = numbers.alpha {
            let value = packed(alpha, program).part(1)
            let isAlpha = types.constantVector((0..<words).map { types.int($0 % 2, types.i1) })
            odd = body.select(isAlpha, value, odd)
        }
        let pixels = body.or(root.part(0), body.shiftLeft(odd, splat16(8, words)))
        storeRows(
            LLVMBuildBitCast(body.builder, pixels, types.vector(types.i32, lanes), ""), plane: 0, bytes: 4)
    }

    private mutating func packed(_ index: Int, _ program: FixedProgram) -> FixedLanes {
        if let known = packedValues[index] { return known }
        guard let source = packing?.nodes[index].source else { preconditionFailure("no packed pixels here") }
        let value: FixedLanes
        switch source {
        case .pixel(let load, let isExchanged):
            let (even, odd) = words(of: load)
            value = FixedLanes(parts: [isExchanged ? exchanged(even) : even, odd], isInvariant: false)
        case .broadcast(let load): value = FixedLanes(parts: [broadcast(load)], isInvariant: false)
        case .frame(let indices):
            if indices.allSatisfy({ $0 == indices[0] }) {
                value = FixedLanes(parts: [invariant([indices[0]], program, 2 * lanes)], isInvariant: true)
            } else {
                value = FixedLanes(
                    parts: [
                        invariant([indices[0], indices[2]], program, 2 * lanes),
                        invariant([indices[1], indices[3]], program, 2 * lanes),
                    ], isInvariant: true)
            }
        case .operation(let operation, let arguments):
            value = operate(operation, arguments.map { packed($0, program) }, 2 * lanes)
        case .planar(let index):
            let wide = dot(index, program)
            func splat(_ value: Int) -> LLVMValueRef { types.splatConstant(types.int(value, types.i32), lanes) }
            let doubled = body.or(body.and(wide, splat(0xffff)), body.shiftLeft(wide, splat(16)))
            value = FixedLanes(
                parts: [LLVMBuildBitCast(body.builder, doubled, types.vector(types.i16, 2 * lanes), "")],
                isInvariant: false)
        }
        packedValues[index] = value
        return value
    }

    /// Components 0 and 2 of each pixel, and 1 and 3, in 16-bit words.
    private mutating func words(of load: ScalarProgram.Load) -> (LLVMValueRef, LLVMValueRef) {
        let words = LLVMBuildBitCast(
            body.builder, packedPixels(load), types.vector(types.i16, 2 * lanes), "")!
        let name = "words \(load.input) \(load.dx) \(load.dy) \(load.edge)"
        let even = memo[name] ?? body.and(words, splat16(255, 2 * lanes))
        memo[name] = even
        let odd = memo[name + " odd"] ?? body.shiftRightLogical(words, splat16(8, 2 * lanes))
        memo[name + " odd"] = odd
        return (even, odd)
    }

    private func exchanged(_ words: LLVMValueRef) -> LLVMValueRef {
        body.shuffle(words, nil, (0..<2 * lanes).map { $0 ^ 1 })
    }

    private mutating func broadcast(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        if format == .rgba || format == .bgra {
            var plain = load
            plain.channel = 0
            let (even, odd) = words(of: plain)
            return body.shuffle(
                load.channel % 2 == 0 ? even : odd, nil, (0..<2 * lanes).map { $0 / 2 * 2 + load.channel / 2 })
        }
        let key = ReadSlot(input: load.input, plane: 0, dy: load.dy, edge: load.edge, rule: .direct)
        let raw = rawRows(key, shift: load.dx, element: types.i8, bytes: 1, count: columns)
        let wide = LLVMBuildZExt(body.builder, raw, types.vector(types.i16, lanes), "")!
        return body.shuffle(wide, nil, (0..<2 * lanes).map { $0 / 2 })
    }

    // MARK: Operations

    private func operate(_ operation: FixedProgram.Operation, _ arguments: [FixedLanes], _ count: Int) -> FixedLanes {
        let isInvariant = arguments.allSatisfy(\.isInvariant)
        let asm = isInvariant ? entry : body
        let parts = (0..<(arguments.map(\.parts.count).max() ?? 1)).map { part in
            operate(operation, arguments.map { $0.part(part) }, asm, count)
        }
        return FixedLanes(parts: parts, isInvariant: isInvariant)
    }

    private func operate(
        _ operation: FixedProgram.Operation, _ a: [LLVMValueRef], _ asm: LLVMAssembler, _ count: Int
    ) -> LLVMValueRef {
        switch operation {
        case .add: return asm.intAdd(a[0], a[1])
        case .sub: return LLVMBuildSub(asm.builder, a[0], a[1], "")
        case .mulLow: return asm.intMul(a[0], a[1])
        case .mulRound: return roundedProduct(a[0], a[1], asm, count)
        case .unit: return asm.shiftRightLogical(asm.intMul(a[0], splat16(257, count)), splat16(1, count))
        case .shiftLeft(let bits): return asm.shiftLeft(a[0], splat16(bits, count))
        case .shiftRight(let bits): return LLVMBuildAShr(asm.builder, a[0], splat16(bits, count), "")
        case .min: return asm.select(asm.compareInt(LLVMIntSLT, a[0], a[1]), a[0], a[1])
        case .max: return asm.select(asm.compareInt(LLVMIntSGT, a[0], a[1]), a[0], a[1])
        case .abs:
            return asm.call("llvm.abs", overloads: [LLVMTypeOf(a[0])], [a[0], types.int(0, types.i1)])
        case .less: return asm.compareInt(LLVMIntSLT, a[0], a[1])
        case .equal: return asm.compareInt(LLVMIntEQ, a[0], a[1])
        case .and: return asm.and(a[0], a[1])
        case .or: return asm.or(a[0], a[1])
        case .not: return LLVMBuildNot(asm.builder, a[0], "")
        case .select: return asm.select(a[0], a[1], a[2])
        case .load, .constant, .frame, .frameFlag, .dot: preconditionFailure("not an operation")
        }
    }

    /// (a · b + 2^14) >> 15.
    func roundedProduct(
        _ a: LLVMValueRef, _ b: LLVMValueRef, _ asm: LLVMAssembler, _ count: Int
    ) -> LLVMValueRef {
        if cpu.hasRoundedProduct, let width = [32, 16, 8].first(where: { $0 <= 2 * cpu.lanes && count % $0 == 0 }) {
            let name = [
                32: "llvm.x86.avx512.pmul.hr.sw.512", 16: "llvm.x86.avx2.pmul.hr.sw",
                8: "llvm.x86.ssse3.pmul.hr.sw.128",
            ]
            var parts = stride(from: 0, to: count, by: width).map { start -> LLVMValueRef in
                let lanes = Array(start..<start + width)
                let factors = width == count ? [a, b] : [asm.shuffle(a, nil, lanes), asm.shuffle(b, nil, lanes)]
                return asm.call(name[width]!, overloads: [], factors)
            }
            var lanes = width
            while parts.count > 1 {
                parts = stride(from: 0, to: parts.count, by: 2).map {
                    asm.shuffle(parts[$0], parts[$0 + 1], Array(0..<2 * lanes))
                }
                lanes *= 2
            }
            return parts[0]
        }
        let wide = types.vector(types.i32, count)
        func splat(_ value: Int) -> LLVMValueRef { types.splatConstant(types.int(value, types.i32), count) }
        let product = asm.intMul(
            LLVMBuildSExt(asm.builder, a, wide, ""), LLVMBuildSExt(asm.builder, b, wide, ""))
        return LLVMBuildTrunc(
            asm.builder, asm.shiftRightLogical(asm.intAdd(product, splat(16384)), splat(15)),
            types.vector(types.i16, count), "")
    }
}
