internal import CLLVM

/// Packed pixels with alpha over planes of Y'CbCr, and over one colour.
extension RowEmitter {
    /// How many pixels of a row one sample is made of, and which.
    private enum Reach { case own, pair, triple }

    /// - Returns: the functions' names.
    mutating func emitLaying() -> [String] {
        emitLaid("luma", planes: 1, .own, rows: 1)
        emitLaid("whole", planes: 2, .own, rows: 1)
        var names = ["luma", "whole", "settle", "lay"]
        for rows in 1...3 {
            emitLaid("pairs\(rows)", planes: 2, .pair, rows: rows)
            emitLaid("triples\(rows)", planes: 2, .triple, rows: rows)
            names += ["pairs\(rows)", "triples\(rows)"]
        }
        emitSettle()
        emitKept()
        return names
    }

    private func cast(_ value: LLVMValueRef, _ type: LLVMTypeRef) -> LLVMValueRef {
        LLVMBuildBitCast(asm.builder, value, type, "")
    }

    /// Components 0 and 2, and 1 and 3, in the 16-bit lanes of `count` pixels.
    private func components(
        _ row: LLVMValueRef, _ first: LLVMValueRef, _ count: Int
    ) -> (even: LLVMValueRef, odd: LLVMValueRef) {
        let halves = asm.load(types.vector(types.i16, 2 * count), asm.offset(row, times(first, 4)))
        return (asm.and(halves, splat16(255, 2 * count)), asm.shiftRightLogical(halves, splat16(8, 2 * count)))
    }

    private mutating func emitLaid(_ name: String, planes: Int, _ reach: Reach, rows: Int) {
        let p = begin(name, [types.pointer, types.pointer, types.i64])
        func pointer(_ index: Int) -> LLVMValueRef {
            asm.load(types.pointer, asm.offset(p[0], 8 * index), alignment: 8)
        }
        let targets = (0..<planes).map { pointer($0) }
        let below = (0..<planes).map { pointer(planes + $0) }
        let pixelRows = (0..<rows).map { pointer(2 * planes + $0) }
        // Of components 0 and 2, and 1 and 3, as one word each.
        let weights = (0..<2 * planes).map { asm.load(types.i32, asm.offset(p[1], 4 * $0), alignment: 2) }
        let opacity = asm.load(types.i16, asm.offset(p[1], 8 * planes), alignment: 2)
        let log2Pixels = (reach == .own ? 0 : reach == .pair ? 1 : 2) + rows - 1
        steps(p[2], pixels: reach == .own ? 2 * cpu.lanes : cpu.lanes) { at, count in
            let wide = reach == .own ? count : 2 * count
            let first = reach == .own ? at : times(at, 2)
            var sums = summed(pixelRows, first, wide)
            if reach == .triple {
                // Pixels 2i and 2i + 1, and 2i − 1 and 2i: together 1 2 1.
                let before = summed(pixelRows, plus(first, -1), wide)
                sums = (asm.intAdd(sums.even, before.even), asm.intAdd(sums.odd, before.odd))
            }
            let words = types.vector(types.i32, wide)
            // What is clear and black changes nothing.
            when(hasBits(cast(asm.or(sums.even, sums.odd), words), wide)) {
                func joined(_ values: LLVMValueRef) -> LLVMValueRef {
                    guard reach != .own else { return values }
                    let (even, odd) = parted(values, pixels: wide, components: 1)
                    return asm.intAdd(even, odd)
                }
                let alpha = joined(asm.shiftRightLogical(cast(sums.odd, words), splat32(16, wide)))
                let rest = rest(alpha, opacity, log2Pixels, count)
                for plane in 0..<planes {
                    let color = joined(
                        asm.intAdd(
                            pairProducts(sums.even, asm.splat(weights[2 * plane], wide), wide),
                            pairProducts(sums.odd, asm.splat(weights[2 * plane + 1], wide), wide)))
                    let codes = LLVMBuildZExt(
                        asm.builder, asm.load(types.vector(types.i8, count), asm.offset(below[plane], at)),
                        types.vector(types.i32, count), "")!
                    let sum = asm.intAdd(color, pairProducts(codes, rest, count))
                    asm.store(rounded(sum, count), asm.offset(targets[plane], at))
                }
            }
        }
        finish()
    }

    /// The sum of as many rows, of three the middle one twice.
    private func summed(
        _ rows: [LLVMValueRef], _ first: LLVMValueRef, _ count: Int
    ) -> (even: LLVMValueRef, odd: LLVMValueRef) {
        var sum = components(rows[0], first, count)
        for (index, row) in rows.enumerated().dropFirst() {
            var more = components(row, first, count)
            if rows.count == 3, index == 1 {
                more = (asm.intAdd(more.even, more.even), asm.intAdd(more.odd, more.odd))
            }
            sum = (asm.intAdd(sum.even, more.even), asm.intAdd(sum.odd, more.odd))
        }
        return sum
    }

    /// 1 − alpha · opacity in 32768ths, nearly; alpha is a sum of 2^`log2Pixels` codes.
    private func rest(
        _ alpha: LLVMValueRef, _ opacity: LLVMValueRef, _ log2Pixels: Int, _ count: Int
    ) -> LLVMValueRef {
        // A code times 257 is a 65535th.
        let whole = asm.intAdd(
            asm.shiftLeft(alpha, splat32(8 - log2Pixels, count)),
            asm.shiftRightLogical(alpha, splat32(log2Pixels, count)))
        let halves = types.vector(types.i16, 2 * count)
        let taken = highProduct(cast(whole, halves), asm.splat(opacity, 2 * count), 2 * count)
        let half = asm.shiftRightLogical(cast(taken, types.vector(types.i32, count)), splat32(1, count))
        return LLVMBuildSub(asm.builder, splat32(32767, count), half, "")
    }

    /// 32768ths of codes as bytes.
    private func rounded(_ sum: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let whole = LLVMBuildAShr(asm.builder, asm.intAdd(sum, splat32(1 << 14, count)), splat32(15, count), "")!
        let (zero, most) = (splat32(0, count), splat32(255, count))
        let above = asm.select(asm.compareInt(LLVMIntSGT, whole, zero), whole, zero)
        let code = asm.select(asm.compareInt(LLVMIntSLT, above, most), above, most)
        return LLVMBuildTrunc(asm.builder, code, types.vector(types.i8, count), "")
    }

    private mutating func emitKept() {
        let p = begin("lay", [types.pointer, types.pointer, types.pointer, types.i64])
        stepsInPlace(p[3], pixels: 4 * cpu.lanes) { at, count in
            // Words of two codes each, but for one alone.
            let halves = types.vector(types.i16, max(1, count / 2))
            func codes(_ row: LLVMValueRef) -> LLVMValueRef {
                guard count == 1 else { return asm.load(halves, asm.offset(row, at)) }
                return LLVMBuildZExt(
                    asm.builder, asm.load(types.vector(types.i8, 1), asm.offset(row, at)), halves, "")
            }
            let pairs = max(1, count / 2)
            let alpha = codes(p[2])
            let more = codes(p[1])
            let words = count == 1 ? types.vector(types.i32, 1) : types.vector(types.i32, count / 4)
            let bits = asm.or(alpha, more)
            // What is clear and black changes nothing.
            let some = count == 1 ? LLVMBuildZExt(asm.builder, bits, words, "")! : cast(bits, words)
            when(hasBits(some, max(1, count / 4))) {
                let rest = LLVMBuildXor(asm.builder, alpha, splat16(-1, pairs), "")!
                let below = codes(p[0])
                /// Of codes in 16-bit lanes: x · 257 / 65536 of a product and a half is its rounded 255th.
                func left(_ code: LLVMValueRef, _ rest: LLVMValueRef) -> LLVMValueRef {
                    highProduct(
                        asm.intAdd(asm.intMul(code, rest), splat16(128, pairs)), splat16(257, pairs), pairs)
                }
                let low = splat16(255, pairs), eight = splat16(8, pairs)
                let even = left(asm.and(below, low), asm.and(rest, low))
                guard count > 1 else {
                    let sum = asm.call(
                        "llvm.uadd.sat", overloads: [types.vector(types.i8, 1)],
                        [even, more].map { LLVMBuildTrunc(asm.builder, $0, types.vector(types.i8, 1), "")! })
                    asm.store(sum, asm.offset(p[0], at))
                    return
                }
                let odd = left(asm.shiftRightLogical(below, eight), asm.shiftRightLogical(rest, eight))
                let bytes = types.vector(types.i8, count)
                let sum = asm.call(
                    "llvm.uadd.sat", overloads: [bytes],
                    [cast(asm.or(even, asm.shiftLeft(odd, eight)), bytes), cast(more, bytes)])
                asm.store(sum, asm.offset(p[0], at))
            }
        }
        finish()
    }

    private mutating func emitSettle() {
        let p = begin("settle", [types.pointer, types.pointer, types.i64])
        let colors = [0, 4].map { asm.load(types.i32, asm.offset(p[1], $0), alignment: 2) }
        let opacity = asm.load(types.i16, asm.offset(p[1], 8), alignment: 2)
        let isFaded = asm.compareInt(LLVMIntNE, opacity, types.int(-1, types.i16))
        stepsInPlace(p[2], pixels: 2 * cpu.lanes) { at, count in
            let (words, halves) = (types.vector(types.i32, count), types.vector(types.i16, 2 * count))
            let place = asm.offset(p[0], times(at, 4))
            let pixels = asm.load(words, place)
            let clear = LLVMBuildXor(asm.builder, pixels, splat32(-1, count), "")!
            let isClear = hasBits(asm.and(clear, splat32(0xff00_0000, count)), count)
            when(asm.or(isClear, isFaded)) {
                func scaled(_ codes: LLVMValueRef) -> LLVMValueRef {
                    let full = asm.or(codes, asm.shiftLeft(codes, splat16(8, 2 * count)))
                    return highProduct(full, asm.splat(opacity, 2 * count), 2 * count)
                }
                let parts = cast(pixels, halves)
                let even = scaled(asm.and(parts, splat16(255, 2 * count)))
                let odd = scaled(asm.shiftRightLogical(parts, splat16(8, 2 * count)))
                let alpha = asm.shuffle(odd, nil, (0..<2 * count).map { $0 | 1 })
                let rest = LLVMBuildXor(asm.builder, alpha, splat16(-1, 2 * count), "")!
                func laid(_ source: LLVMValueRef, _ color: LLVMValueRef) -> LLVMValueRef {
                    let under = highProduct(cast(asm.splat(color, count), halves), rest, 2 * count)
                    let sum = asm.call("llvm.uadd.sat", overloads: [halves], [source, under])
                    // 65535ths as codes: less a 256th, rounded.
                    let less = LLVMBuildSub(asm.builder, sum, asm.shiftRightLogical(sum, splat16(8, 2 * count)), "")!
                    return asm.shiftRightLogical(asm.intAdd(less, splat16(128, 2 * count)), splat16(8, 2 * count))
                }
                let codes = asm.or(
                    laid(even, colors[0]), asm.shiftLeft(laid(odd, colors[1]), splat16(8, 2 * count)))
                asm.store(cast(codes, words), place)
            }
        }
        finish()
    }
}
