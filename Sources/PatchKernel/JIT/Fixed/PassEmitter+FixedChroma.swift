internal import CLLVM
import PatchMedia

extension PassEmitter {
    /// Sums the values over each chroma sample's pixels, makes Cb and Cr, stores them.
    mutating func emitFixedChroma(
        _ root: FixedChroma, _ values: [LLVMValueRef], carries: [LLVMValueRef]
    ) -> [LLVMValueRef] {
        let siting = description.output.color.siting
        let half = columns / 2
        // The pixel after the last column of an odd width does not exist: the last one counts twice.
        let width = word(PassLayout.Word.width, types.i32)
        let oddColumns = body.intAdd(
            body.splat(column, half), types.intVector((0..<half).map { 2 * $0 + 1 }, types.i32))
        let isBeyond = body.compareInt(LLVMIntEQ, oddColumns, entry.splat(width, half))
        let zero = types.int(0, types.i32)
        let isFirst = body.compareInt(LLVMIntEQ, column, zero)
        var carriesOut: [LLVMValueRef] = []
        var sums: [LLVMValueRef] = []
        for (index, value) in values.enumerated() {
            var all = value
            if rows == 2 {
                let top = body.shuffle(all, nil, Array(0..<columns))
                all =
                    siting.isCositedVertically
                    ? top : body.intAdd(top, body.shuffle(all, nil, Array(columns..<2 * columns)))
            }
            let even = body.shuffle(all, nil, (0..<half).map { 2 * $0 })
            let odd = body.select(isBeyond, even, body.shuffle(all, nil, (0..<half).map { 2 * $0 + 1 }))
            guard siting.isCositedHorizontally else {
                sums.append(body.intAdd(even, odd))
                continue
            }
            let firstEven = LLVMBuildExtractElement(body.builder, even, zero, "")!
            let before = body.select(isFirst, firstEven, carries[index])
            let beforeVector = LLVMBuildInsertElement(
                body.builder, LLVMGetUndef(types.vector(types.i16, half)), before, zero, "")!
            let previous = body.shuffle(odd, beforeVector, [half] + (0..<half - 1))
            carriesOut.append(LLVMBuildExtractElement(body.builder, odd, types.int(half - 1, types.i32), ""))
            sums.append(body.intAdd(body.intAdd(previous, odd), body.intAdd(even, even)))
        }
        let bytes = [root.cb, root.cr].map { factors -> LLVMValueRef in
            var code = splat16(root.bias, half)
            for (factor, sum) in zip(factors, sums) where factor != 0 {
                code = body.intAdd(code, roundedProduct(sum, splat16(factor, half), body, half))
            }
            code = LLVMBuildAShr(body.builder, code, splat16(root.bits, half), "")
            if root.needsClamp {
                let low = splat16(0, half)
                let high = splat16(255, half)
                code = body.select(body.compareInt(LLVMIntSGT, code, low), code, low)
                code = body.select(body.compareInt(LLVMIntSLT, code, high), code, high)
            }
            return LLVMBuildTrunc(body.builder, code, types.vector(types.i8, half), "")
        }
        if description.output.format.planeCount == 2 {
            let pairs = body.shuffle(bytes[0], bytes[1], (0..<columns).map { $0 / 2 + ($0 % 2) * half })
            body.store(pairs, outputPointer(row: 0, plane: 1, bytesPerChunk: columns))
        } else {
            for plane in 1...2 {
                body.store(bytes[plane - 1], outputPointer(row: 0, plane: plane, bytesPerChunk: half))
            }
        }
        return carriesOut
    }
}
