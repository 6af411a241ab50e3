internal import CLLVM

/// The steps of a Gaussian pyramid on planes of half floats, computed in floats.
extension RowEmitter {
    /// - Returns: the functions' names.
    mutating func emitHalfPyramid() -> [String] {
        emitShrinkHalves("shrinkSource", areFinite: false)
        emitShrinkHalves("shrinkRows", areFinite: true)
        emitShrinkHalvesAcross()
        emitWidenHalves()
        emitGrowHalves()
        emitGrowHalvesAcross()
        for radius in [4, 8] {
            emitBlurHalves(radius)
            emitBlurHalvesAcross(radius)
        }
        return [
            "shrinkSource", "shrinkRows", "shrinkAcross", "widen", "growRows", "growAcross", "blurRowsBy4",
            "blurAcrossBy4", "blurRowsBy8", "blurAcrossBy8",
        ]
    }

    /// Halves in a step: floats of two machine vectors.
    var halfStep: Int { cpu.lanes * 2 }

    func numbers(_ row: LLVMValueRef, _ at: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        asm.halfToFloat(words(row, at, count), count, cpu)
    }

    func storeHalves(_ values: LLVMValueRef, _ row: LLVMValueRef, _ at: LLVMValueRef, _ count: Int) {
        storeWords(asm.floatToHalf(values, count, cpu), row, at)
    }

    /// 0 for what is no number, and what a half holds for what is beyond it.
    func finite(_ values: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let (most, least) = (asm.splatFloat(65504, count), asm.splatFloat(-65504, count))
        let isNumber = asm.compare(LLVMRealORD, values, values)
        let number = asm.select(isNumber, values, asm.splatFloat(0, count))
        let below = asm.select(asm.compare(LLVMRealOLT, number, most), number, most)
        return asm.select(asm.compare(LLVMRealOGT, below, least), below, least)
    }

    private mutating func emitWidenHalves() {
        let p = begin("widen", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: halfStep) { at, count in
            storeHalves(finite(numbers(p[1], at, count), count), p[0], at, count)
        }
        finish()
    }

    /// (1 3 3 1) / 8 of four rows.
    func shrunken(_ rows: [LLVMValueRef], _ count: Int) -> LLVMValueRef {
        let (outer, inner) = (asm.add(rows[0], rows[3]), asm.add(rows[1], rows[2]))
        return asm.add(asm.mul(outer, asm.splatFloat(0.125, count)), asm.mul(inner, asm.splatFloat(0.375, count)))
    }

    /// - Parameter areFinite: no half can be infinite or no number. Otherwise the sums are looked at, which are finite where all are,
    ///   and made again of finite numbers where one is not.
    private mutating func emitShrinkHalves(_ name: String, areFinite: Bool) {
        let p = begin(name, [LLVMTypeRef](repeating: types.pointer, count: 5) + [types.i64])
        steps(p[5], pixels: halfStep) { at, count in
            let rows = (1...4).map { numbers(p[$0], at, count) }
            let result = shrunken(rows, count)
            storeHalves(result, p[0], at, count)
            guard !areFinite else { return }
            when(isSomeBeyond(0x7f7f_ffff, result, count)) {
                storeHalves(shrunken(rows.map { finite($0, count) }, count), p[0], at, count)
            }
        }
        finish()
    }

    /// Whether the magnitude of one of them is beyond that of these bits of a float, or it is no number.
    func isSomeBeyond(_ most: Int, _ values: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let bits = LLVMBuildBitCast(asm.builder, values, types.vector(types.i32, count), "")!
        let magnitude = asm.and(bits, splat32(0x7fff_ffff, count))
        let flags = asm.compareInt(LLVMIntSGT, magnitude, splat32(most, count))
        let none = types.int(0, LLVMIntTypeInContext(types.context, UInt32(count)))
        return asm.compareInt(LLVMIntNE, LLVMBuildBitCast(asm.builder, flags, LLVMTypeOf(none), ""), none)
    }

    private mutating func emitShrinkHalvesAcross() {
        let p = begin("shrinkAcross", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: halfStep) { at, count in
            let first = times(at, 2)
            func weighed(_ more: Int, _ even: Double, _ odd: Double) -> LLVMValueRef {
                let weights = types.constantVector(
                    (0..<2 * count).map { LLVMConstReal(types.float, $0 % 2 == 0 ? even : odd)! })
                return asm.mul(numbers(p[1], plus(first, more), 2 * count), weights)
            }
            // Pixels 2i and 2i + 1 side by side, then 2i + 2 and 2i + 3.
            let (even, odd) = parted(
                asm.add(weighed(0, 0.125, 0.375), weighed(2, 0.375, 0.125)), pixels: 2 * count, components: 1)
            storeHalves(asm.add(even, odd), p[0], at, count)
        }
        finish()
    }

    /// Weights of a sum: the centre's first. Loaded once before the loop.
    private func factors(_ pointer: LLVMValueRef, _ radius: Int) -> [LLVMValueRef] {
        (0...radius).map { asm.load(types.float, asm.offset(pointer, 4 * $0), alignment: 4) }
    }

    private func blurred(
        _ factors: [LLVMValueRef], _ count: Int, _ read: (_ away: Int) -> LLVMValueRef
    ) -> LLVMValueRef {
        var sum = asm.mul(read(0), asm.splat(factors[0], count))
        for away in 1..<factors.count {
            sum = asm.add(sum, asm.mul(asm.add(read(-away), read(away)), asm.splat(factors[away], count)))
        }
        return sum
    }

    private mutating func emitBlurHalves(_ radius: Int) {
        let p = begin("blurRowsBy\(radius)", [types.pointer, types.pointer, types.pointer, types.i64])
        let factors = factors(p[2], radius)
        let rows = (0...2 * radius).map { asm.load(types.pointer, asm.offset(p[1], 8 * $0), alignment: 8) }
        steps(p[3], pixels: halfStep) { at, count in
            storeHalves(blurred(factors, count) { numbers(rows[radius + $0], at, count) }, p[0], at, count)
        }
        finish()
    }

    private mutating func emitBlurHalvesAcross(_ radius: Int) {
        let p = begin("blurAcrossBy\(radius)", [types.pointer, types.pointer, types.pointer, types.i64])
        let factors = factors(p[2], radius)
        steps(p[3], pixels: halfStep) { at, count in
            storeHalves(blurred(factors, count) { numbers(p[1], plus(at, $0), count) }, p[0], at, count)
        }
        finish()
    }

    func grown(_ near: LLVMValueRef, _ far: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        asm.add(asm.mul(near, asm.splatFloat(0.75, count)), asm.mul(far, asm.splatFloat(0.25, count)))
    }

    private mutating func emitGrowHalves() {
        let p = begin("growRows", [types.pointer, types.pointer, types.pointer, types.i64])
        steps(p[3], pixels: halfStep) { at, count in
            storeHalves(grown(numbers(p[1], at, count), numbers(p[2], at, count), count), p[0], at, count)
        }
        finish()
    }

    private mutating func emitGrowHalvesAcross() {
        let p = begin("growAcross", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: halfStep) { at, count in
            let near = numbers(p[1], plus(at, 1), count)
            let halves = [0, 2].map {
                asm.floatToHalf(grown(near, numbers(p[1], plus(at, $0), count), count), count, cpu)
            }
            storeWords(interleaved(halves[0], halves[1], pixels: count, components: 1), p[0], times(at, 2))
        }
        finish()
    }
}
