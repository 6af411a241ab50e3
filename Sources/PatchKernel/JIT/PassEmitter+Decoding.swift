internal import CLLVM
import PatchMedia

/// 8-bit video whose chroma is halved along rows, to packed R'G'B', by the instructions that x86 has for it.
///
/// Even and odd columns are computed apart and put together as pixels at the end, so that chroma is never spread over luma's
/// columns: one multiply-add of bytes weighs a sample's two rows, one addition its two columns. All of it works within groups of
/// 128 bits. A chunk is two blocks: of each 32 columns the first block holds 16 in its group, the second the other 16.
extension PassEmitter {
    static func decodesByColumns(_ description: PassDescription, _ roots: PassRoots, _ cpu: TargetCPU) -> Bool {
        guard case .conversion(.decode) = roots, let stored = description.inputs.first else { return false }
        return cpu.isX86 && cpu.hasRoundedProduct && stored.format.planeCount == 3
            && stored.format.log2ChromaWidth == 1 && !stored.reversesColumns
    }

    /// Columns of a chunk of it: two machine vectors of words for even columns, two for odd ones. (Vectors of 512 bits would
    /// make a chunk longer than the driver's largest.)
    static func columnsDecoded(_ cpu: TargetCPU) -> Int { 8 * min(cpu.lanes, 8) }

    /// Words of a machine vector.
    private var words: Int { columns / 4 }

    mutating func emitDecodingByColumns(_ numbers: DecodeNumbers) {
        let isRGBA = description.output.format == .rgba
        let luma = lumaByColumns(numbers)
        let (cb, cr) = (chromaByColumns(1), chromaByColumns(2))
        var vectors: [LLVMValueRef] = []
        for block in 0..<2 {
            let red = bytes(block, luma, [(cr, numbers.redCr)])
            let green = bytes(block, luma, [(cb, numbers.greenCb), (cr, numbers.greenCr)])
            let blue = bytes(block, luma, [(cb, numbers.blueCb)])
            vectors += pixels(isRGBA ? red : blue, green, isRGBA ? blue : red)
        }
        // Four pixels in each group: those that follow each other, side by side.
        let groups = words / 8
        let ordered = stride(from: 0, to: 8 * groups, by: groups).map { first -> LLVMValueRef in
            let parts = (first..<first + groups).map { (vector: $0 % 8, group: $0 / 8) }
            let all = parts.count == 1 ? nil : vectors[parts[1].vector]
            let lanes = parts.enumerated().flatMap { index, part in
                (0..<4).map { index * 4 * groups + part.group * 4 + $0 }
            }
            return body.shuffle(vectors[parts[0].vector], all, lanes)
        }
        // One by one: put together they become vectors of 512 bits where there are such, whose moves between halves wait for
        // one port, and beside which another one rests.
        let target = outputPointer(row: 0, plane: 0, bytesPerChunk: columns * 4)
        for (index, pixels) in ordered.enumerated() { body.store(pixels, body.offset(target, index * 16 * groups)) }
    }

    // MARK: What is summed, for each block's even and odd columns

    /// Luma times 32, less black, with half a code.
    private mutating func lumaByColumns(_ numbers: DecodeNumbers) -> [[LLVMValueRef]] {
        let row = rawRow(
            layout.slot(ReadSlot(input: 0, plane: 0, dy: 0, edge: .clamp, rule: .direct), shift: 0), row: 0, shift: 0,
            element: types.i8, bytes: 1, count: columns)
        return (0..<2).map { block in
            let ours = body.shuffle(row, nil, (0..<2 * words).map { $0 / 16 * 32 + block * 16 + $0 % 16 })
            let pairs = LLVMBuildBitCast(body.builder, ours, types.vector(types.i16, words), "")!
            // Times 256: the lower byte moved up, and the upper one alone.
            return [body.shiftLeft(pairs, splat16(8, words)), body.and(pairs, splat16(-256, words))].map {
                body.intAdd(
                    machine("pmulhu.w", sse: "sse2.pmulhu.w", [$0, splat16(numbers.lumaFactor, words)]),
                    splat16(numbers.unsignedBias, words))
            }
        }
    }

    /// Chroma less 128, times 128, or times 256 where `isDoubled`.
    private struct Chroma {
        var values: [[LLVMValueRef]]
        var isDoubled: [Bool]
    }

    private mutating func chromaByColumns(_ channel: Int) -> Chroma {
        let isCosited = description.inputs[0].color.siting.isCositedHorizontally
        let unit = isCosited ? 32 : 8
        let here = chromaSums(channel, shift: 0, unit: unit)
        let right = chromaSums(channel, shift: 1, unit: unit)
        if isCosited {
            return Chroma(values: zip(here, right).map { [$0, body.intAdd($0, $1)] }, isDoubled: [false, true])
        }
        let left = chromaSums(channel, shift: -1, unit: unit)
        let values = here.indices.map { block in
            let three = body.intAdd(body.intAdd(here[block], here[block]), here[block])
            return [body.intAdd(three, left[block]), body.intAdd(three, right[block])]
        }
        return Chroma(values: values, isDoubled: [false, false])
    }

    /// Four units times chroma less 128, interpolated between rows, for both blocks.
    private mutating func chromaSums(_ channel: Int, shift: Int, unit: Int) -> [LLVMValueRef] {
        let stored = description.inputs[0]
        let isDirect = stored.format.log2ChromaHeight == 0
        func samples(_ rule: ReadSlot.RowRule) -> LLVMValueRef {
            let slot = layout.slot(
                ReadSlot(input: 0, plane: channel, dy: 0, edge: .clamp, rule: isDirect ? .direct : rule), shift: shift)
            let codes = rawRow(slot, row: 0, shift: shift, element: types.i8, bytes: 1, count: columns / 2)
            return LLVMBuildXor(
                body.builder, codes, types.splatConstant(types.int(-128, types.i8), columns / 2), "")
        }
        let (near, far) = (samples(.chromaNear), samples(.chromaFar))
        let isEven = isDirect || stored.color.siting.isCositedVertically
        let weights = types.intVector(
            (0..<2 * words).map { isEven ? 2 * unit : $0 % 2 == 0 ? 3 * unit : unit }, types.i8)
        return [false, true].map { isHigh in
            machine(
                "pmadd.ub.sw", sse: "ssse3.pmadd.ub.sw.128",
                [weights, unpacked(near, far, perGroup: 16, isHigh, 2 * words)])
        }
    }

    /// One colour of a block, clamped to bytes: in each group eight even columns, then eight odd ones.
    private func bytes(_ block: Int, _ luma: [[LLVMValueRef]], _ parts: [(chroma: Chroma, factor: Int)]) -> LLVMValueRef
    {
        let codes = (0..<2).map { parity in
            let sum = parts.reduce(luma[block][parity]) { sum, part in
                let factor = part.chroma.isDoubled[parity] ? Int((Double(part.factor) / 2).rounded()) : part.factor
                let product = machine(
                    "pmul.hr.sw", sse: "ssse3.pmul.hr.sw.128",
                    [part.chroma.values[block][parity], splat16(factor, words)])
                return body.intAdd(sum, product)
            }
            return LLVMBuildAShr(body.builder, sum, splat16(5, words), "")!
        }
        return machine("packuswb", sse: "sse2.packuswb.128", codes)
    }

    /// A block's opaque pixels: four vectors, each of four pixels in each group.
    private func pixels(_ first: LLVMValueRef, _ second: LLVMValueRef, _ third: LLVMValueRef) -> [LLVMValueRef] {
        let opaque = types.splatConstant(types.int(255, types.i8), 2 * words)
        /// Lower and upper halves put together element by element, as elements of twice the size.
        func joined(_ a: LLVMValueRef, _ b: LLVMValueRef, perGroup: Int, as type: LLVMTypeRef) -> [LLVMValueRef] {
            let count = perGroup * words / 8
            return [false, true].map {
                LLVMBuildBitCast(
                    body.builder, unpacked(a, b, perGroup: perGroup, $0, count), types.vector(type, count / 2), "")
            }
        }
        let lower = joined(first, second, perGroup: 16, as: types.i16)
        let upper = joined(third, opaque, perGroup: 16, as: types.i16)
        let even = joined(lower[0], upper[0], perGroup: 8, as: types.i32)
        let odd = joined(lower[1], upper[1], perGroup: 8, as: types.i32)
        let count = words / 2
        return (0..<2).flatMap { half in
            [false, true].map { unpacked(even[half], odd[half], perGroup: 4, $0, count) }
        }
    }

    /// An instruction of AVX2, or of what came before it, by its name.
    private func machine(_ name: String, sse: String, _ arguments: [LLVMValueRef]) -> LLVMValueRef {
        body.call("llvm.x86." + (words == 16 ? "avx2." + name : sse), overloads: [], arguments)
    }
}
