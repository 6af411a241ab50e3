internal import CLLVM
import PatchMedia

/// Conversions between 8-bit Y'CbCr and packed R'G'B' in integer lanes.
extension PassEmitter {
    private func splat32(_ value: Int, _ count: Int) -> LLVMValueRef {
        types.splatConstant(types.int(value, types.i32), count)
    }

    /// The high half of signed 16-bit products.
    private func highProduct(_ a: LLVMValueRef, _ factor: Int) -> LLVMValueRef {
        let extended = LLVMBuildSExt(body.builder, a, types.vector(types.i32, lanes), "")!
        let product = body.intMul(extended, splat32(factor, lanes))
        return LLVMBuildTrunc(
            body.builder, body.shiftRightLogical(product, splat32(16, lanes)), types.vector(types.i16, lanes), "")
    }

    // MARK: To R'G'B'

    mutating func emitDecoding(_ numbers: DecodeNumbers) {
        if Self.decodesByColumns(description, roots, cpu) { return emitDecodingByColumns(numbers) }
        let stored = description.inputs[0]
        let key = ReadSlot(input: 0, plane: 0, dy: 0, edge: .clamp, rule: .direct)
        let bytes = rawRows(key, shift: 0, element: types.i8, bytes: 1, count: columns)
        // (code − 128) · 256, by putting each above a byte of zeros; from a shift LLVM would make 32-bit products.
        let zeros = types.splatConstant(types.int(0, types.i8), lanes)
        let signed = LLVMBuildXor(
            body.builder, bytes, types.splatConstant(types.int(-128, types.i8), lanes), "")!
        let raised = LLVMBuildBitCast(
            body.builder,
            body.shuffle(
                zeros, signed, (0..<2 * lanes).map { (laneOrder?[$0 / 2] ?? $0 / 2) + ($0 % 2) * lanes }),
            types.vector(types.i16, lanes), "")!
        let y = body.intAdd(highProduct(raised, numbers.lumaFactor), splat16(numbers.bias, lanes))
        let chroma = (1...2).map { channel -> LLVMValueRef in
            let load = ScalarProgram.Load(input: 0, channel: channel, dx: 0, dy: 0, edge: .clamp, bounds: .unknown)
            // Times 1…16 already: brought to 256 times, around 0.
            let scale = Int(stored.chromaScale(channel: channel))
            let centered = body.intAdd(chromaCodes(load), splat16(-128 * scale, lanes))
            return body.shiftLeft(centered, splat16(8 - scale.trailingZeroBitCount, lanes))
        }
        let (cb, cr) = (chroma[0], chroma[1])
        let red = body.intAdd(y, highProduct(cr, numbers.redCr))
        let green = body.intAdd(
            body.intAdd(y, highProduct(cb, numbers.greenCb)),
            highProduct(cr, numbers.greenCr))
        let blue = body.intAdd(y, highProduct(cb, numbers.blueCb))
        let isRGBA = description.output.format == .rgba
        if laneOrder != nil {
            let codes = [red, green, blue].map { LLVMBuildAShr(body.builder, $0, splat16(5, lanes), "")! }
            storeInterleaved([codes[isRGBA ? 0 : 2], codes[1], codes[isRGBA ? 2 : 0], nil])
            return
        }
        let codes = [red, green, blue].map { value -> LLVMValueRef in
            let code = LLVMBuildAShr(body.builder, value, splat16(5, lanes), "")!
            let low = body.select(body.compareInt(LLVMIntSGT, code, splat16(0, lanes)), code, splat16(0, lanes))
            return body.select(body.compareInt(LLVMIntSLT, low, splat16(255, lanes)), low, splat16(255, lanes))
        }
        let (first, third) = isRGBA ? (codes[0], codes[2]) : (codes[2], codes[0])
        let low = body.or(first, body.shiftLeft(codes[1], splat16(8, lanes)))
        let high = body.or(third, splat16(-256, lanes))
        // Two 16-bit halves make a pixel.
        let pixels = body.shuffle(low, high, (0..<2 * lanes).map { $0 / 2 + ($0 % 2) * lanes })
        storeRows(
            LLVMBuildBitCast(body.builder, pixels, types.vector(types.i32, lanes), ""), plane: 0, bytes: 4)
    }

    // MARK: To Y'CbCr

    /// Pixels as pairs of 16-bit numbers in 32-bit lanes: (first, third) and (second, fourth) component.
    private struct Pairs {
        var outer: LLVMValueRef
        var inner: LLVMValueRef
        func map(_ body: (LLVMValueRef) -> LLVMValueRef) -> Pairs { Pairs(outer: body(outer), inner: body(inner)) }
        func zip(_ other: Pairs, _ body: (LLVMValueRef, LLVMValueRef) -> LLVMValueRef) -> Pairs {
            Pairs(outer: body(outer, other.outer), inner: body(inner, other.inner))
        }
    }

    /// - Returns: the last odd column's pairs, for the next chunk's first chroma sample.
    mutating func emitEncoding(_ numbers: EncodeNumbers, carries: [LLVMValueRef]) -> [LLVMValueRef] {
        let output = description.output
        let key = ReadSlot(input: 0, plane: 0, dy: 0, edge: .clamp, rule: .direct)
        let packed = rawRows(key, shift: 0, element: types.i32, bytes: 4, count: columns)
        let mask = splat32(0x00ff_00ff, lanes)
        let pixels = Pairs(
            outer: body.and(packed, mask), inner: body.and(body.shiftRightLogical(packed, splat32(8, lanes)), mask))
        storeRows(bytes(code(numbers.luma, pixels, lanes), lanes), plane: 0, bytes: 1)
        guard output.format.log2ChromaWidth > 0 else {
            for (plane, numbers) in [(1, numbers.cb), (2, numbers.cr)] {
                storeRows(bytes(code(numbers, pixels, lanes), lanes), plane: plane, bytes: 1)
            }
            return []
        }
        let siting = output.color.siting
        let half = columns / 2
        var rowSum = pixels
        if rows == 2 {
            let top = pixels.map { body.shuffle($0, nil, Array(0..<columns)) }
            rowSum =
                siting.isCositedVertically
                ? top : top.zip(pixels.map { body.shuffle($0, nil, Array(columns..<2 * columns)) }, body.intAdd)
        }
        let even = rowSum.map { body.shuffle($0, nil, (0..<half).map { 2 * $0 }) }
        // The pixel after the last column of an odd width does not exist: the last one counts twice.
        let width = word(PassLayout.Word.width, types.i32)
        let oddColumns = body.intAdd(
            body.splat(column, half), types.intVector((0..<half).map { 2 * $0 + 1 }, types.i32))
        let isBeyond = body.compareInt(LLVMIntEQ, oddColumns, entry.splat(width, half))
        let odd = rowSum.map { body.shuffle($0, nil, (0..<half).map { 2 * $0 + 1 }) }
            .zip(even) { body.select(isBeyond, $1, $0) }
        var sum = even.zip(odd, body.intAdd)
        var carriesOut: [LLVMValueRef] = []
        if siting.isCositedHorizontally {
            let zero = types.int(0, types.i32)
            let isFirst = body.compareInt(LLVMIntEQ, column, zero)
            func extract(_ value: LLVMValueRef, _ lane: Int) -> LLVMValueRef {
                LLVMBuildExtractElement(body.builder, value, types.int(lane, types.i32), "")
            }
            func previous(_ odd: LLVMValueRef, _ even: LLVMValueRef, _ carry: LLVMValueRef) -> LLVMValueRef {
                let before = body.select(isFirst, extract(even, 0), carry)
                let vector = LLVMBuildInsertElement(
                    body.builder, LLVMGetUndef(types.vector(types.i32, half)), before, zero, "")!
                return body.shuffle(odd, vector, [half] + (0..<half - 1))
            }
            let left = Pairs(
                outer: previous(odd.outer, even.outer, carries[0]), inner: previous(odd.inner, even.inner, carries[1]))
            carriesOut = [extract(odd.outer, half - 1), extract(odd.inner, half - 1)]
            sum = sum.zip(left.zip(even, body.intAdd), body.intAdd)
        }
        let codes = [numbers.cb, numbers.cr].map { bytes(code($0, sum, half), half) }
        if output.format.planeCount == 2 {
            let pairs = body.shuffle(codes[0], codes[1], (0..<columns).map { $0 / 2 + ($0 % 2) * half })
            body.store(pairs, outputPointer(row: 0, plane: 1, bytesPerChunk: columns))
        } else {
            for plane in 1...2 {
                body.store(codes[plane - 1], outputPointer(row: 0, plane: plane, bytesPerChunk: half))
            }
        }
        return carriesOut
    }

    private func code(_ numbers: EncodeNumbers.Code, _ pixels: Pairs, _ count: Int) -> LLVMValueRef {
        let isRGBA = description.inputs[0].format == .rgba
        let (first, third) =
            isRGBA ? (numbers.weights[0], numbers.weights[2]) : (numbers.weights[2], numbers.weights[0])
        let sum = body.intAdd(
            pairProduct(pixels.outer, first, third, count), pairProduct(pixels.inner, numbers.weights[1], 0, count))
        let biased = body.intAdd(sum, splat32(numbers.bias, count))
        // Full-range chroma may come to 256.
        let code = LLVMBuildAShr(body.builder, biased, splat32(numbers.shift, count), "")!
        guard description.output.color.range == .full else { return code }
        return body.select(body.compareInt(LLVMIntSLT, code, splat32(255, count)), code, splat32(255, count))
    }

    private func bytes(_ codes: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        LLVMBuildTrunc(body.builder, codes, types.vector(types.i8, count), "")
    }

    /// Low half · first + high half · second of each 32-bit lane.
    func pairProduct(_ pairs: LLVMValueRef, _ first: Int, _ second: Int, _ count: Int) -> LLVMValueRef {
        if cpu.isX86, let width = [16, 8, 4].first(where: { $0 <= cpu.lanes && count % $0 == 0 }) {
            let name = [16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"]
            let weights = types.intVector((0..<2 * width).map { $0 % 2 == 0 ? first : second }, types.i16)
            var parts = stride(from: 0, to: count, by: width).map { start -> LLVMValueRef in
                let part = width == count ? pairs : body.shuffle(pairs, nil, Array(start..<start + width))
                let halves = LLVMBuildBitCast(body.builder, part, types.vector(types.i16, 2 * width), "")!
                return body.call(name[width]!, overloads: [], [halves, weights])
            }
            var lanes = width
            while parts.count > 1 {
                parts = stride(from: 0, to: parts.count, by: 2).map {
                    body.concatenated([parts[$0], parts[$0 + 1]], lanes: lanes)
                }
                lanes *= 2
            }
            return parts[0]
        }
        let low = body.intMul(body.and(pairs, splat32(0xffff, count)), splat32(first, count))
        if second == 0 { return low }
        return body.intAdd(
            low, body.intMul(body.shiftRightLogical(pairs, splat32(16, count)), splat32(second, count)))
    }
}
