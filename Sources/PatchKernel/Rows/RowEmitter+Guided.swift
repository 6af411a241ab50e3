internal import CLLVM

/// What a guided filter does on planes of half floats besides blurring them, computed in floats.
extension RowEmitter {
    /// - Returns: the functions' names.
    mutating func emitGuided() -> [String] {
        emitWidenSquares()
        emitShrinkSquares()
        emitLines()
        emitApply()
        emitGrowAndApply()
        return ["widenSquares", "shrinkSquares", "lines", "apply", "growAndApply"]
    }

    /// At most what a half holds.
    private func cut(_ values: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let most = asm.splatFloat(65504, count)
        return asm.select(asm.compare(LLVMRealOLT, values, most), values, most)
    }

    private func square(_ value: LLVMValueRef) -> LLVMValueRef { asm.mul(value, value) }

    private mutating func emitWidenSquares() {
        let p = begin("widenSquares", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: halfStep) { at, count in
            storeHalves(cut(square(finite(numbers(p[1], at, count), count)), count), p[0], at, count)
        }
        finish()
    }

    private mutating func emitShrinkSquares() {
        let p = begin("shrinkSquares", [LLVMTypeRef](repeating: types.pointer, count: 5) + [types.i64])
        steps(p[5], pixels: halfStep) { at, count in
            let rows = (1...4).map { numbers(p[$0], at, count) }
            let result = shrunken(rows.map { square($0) }, count)
            storeHalves(result, p[0], at, count)
            when(isSomeBeyond(0x477f_e000, result, count)) {
                storeHalves(cut(shrunken(rows.map { square(finite($0, count)) }, count), count), p[0], at, count)
            }
        }
        finish()
    }

    /// Slopes and rises from means and means of squares: a = variance / (variance + epsilon), b = mean · (1 − a).
    private mutating func emitLines() {
        let p = begin("lines", [LLVMTypeRef](repeating: types.pointer, count: 4) + [types.float, types.i64])
        steps(p[5], pixels: halfStep) { at, count in
            let (mean, power) = (numbers(p[2], at, count), numbers(p[3], at, count))
            let (zero, one) = (asm.splatFloat(0, count), asm.splatFloat(1, count))
            let difference = asm.sub(power, asm.mul(mean, mean))
            let variance = asm.select(asm.compare(LLVMRealOGT, difference, zero), difference, zero)
            let slope = asm.div(variance, asm.add(variance, asm.splat(p[4], count)))
            storeHalves(slope, p[0], at, count)
            storeHalves(asm.mul(mean, asm.sub(one, slope)), p[1], at, count)
        }
        finish()
    }

    private mutating func emitApply() {
        let p = begin("apply", [LLVMTypeRef](repeating: types.pointer, count: 4) + [types.i64])
        steps(p[4], pixels: halfStep) { at, count in
            let line = asm.mul(numbers(p[1], at, count), numbers(p[3], at, count))
            storeHalves(asm.add(line, numbers(p[2], at, count)), p[0], at, count)
        }
        finish()
    }

    private mutating func emitGrowAndApply() {
        let p = begin("growAndApply", [LLVMTypeRef](repeating: types.pointer, count: 4) + [types.i64])
        steps(p[4], pixels: halfStep) { at, count in
            func doubledRow(_ row: LLVMValueRef) -> LLVMValueRef {
                let near = numbers(row, plus(at, 1), count)
                let both = [0, 2].map { grown(near, numbers(row, plus(at, $0), count), count) }
                return interleaved(both[0], both[1], pixels: count, components: 1)
            }
            let first = times(at, 2)
            let line = asm.mul(doubledRow(p[1]), numbers(p[3], first, 2 * count))
            storeHalves(asm.add(line, doubledRow(p[2])), p[0], first, 2 * count)
        }
        finish()
    }
}
