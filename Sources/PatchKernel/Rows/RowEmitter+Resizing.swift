internal import CLLVM

/// Halves and resampled rows.
extension RowEmitter {
    /// - Returns: the functions' names.
    mutating func emitResizing() -> [String] {
        for components in [1, 2, 4] { emitHalve(components) }
        emitWeigh()
        emitAcross1()
        for components in [2, 4] { emitAcross(components) }
        return ["halve1", "halve2", "halve4", "weigh", "across1", "across2", "across4"]
    }

    private mutating func emitHalve(_ components: Int) {
        let p = begin("halve\(components)", [types.pointer, types.pointer, types.pointer, types.i64])
        steps(p[3], pixels: step / components) { at, pixels in
            let first = times(at, 2 * components)
            let count = pixels * components
            if components == 4, pixels % 4 == 0 {
                asm.store(halvedPixels(p[1], p[2], first, pixels), asm.offset(p[0], times(at, 4)))
                return
            }
            let sum: LLVMValueRef
            if components == 1 {
                // Neighbours are the two bytes of a word.
                let words = types.vector(types.i16, count)
                let (a, b) = (asm.load(words, asm.offset(p[1], first)), asm.load(words, asm.offset(p[2], first)))
                let (low, eight) = (splat16(255, count), splat16(8, count))
                sum = asm.intAdd(
                    asm.intAdd(asm.and(a, low), asm.and(b, low)),
                    asm.intAdd(asm.shiftRightLogical(a, eight), asm.shiftRightLogical(b, eight)))
            } else {
                let column = asm.intAdd(bytes(p[1], first, 2 * count), bytes(p[2], first, 2 * count))
                let (even, odd) = parted(column, pixels: 2 * pixels, components: components)
                sum = asm.intAdd(even, odd)
            }
            let mean = asm.shiftRightLogical(asm.intAdd(sum, splat16(2, count)), splat16(2, count))
            storeBytes(mean, p[0], times(at, components), count)
        }
        finish()
    }

    /// Means of 2×2 packed pixels: components 0 and 2, and 1 and 3, in lanes of 16 bits each, which are never widened. Pixels
    /// are moved within 128 bits, and once at the end into their order.
    private func halvedPixels(
        _ upper: LLVMValueRef, _ lower: LLVMValueRef, _ first: LLVMValueRef, _ pixels: Int
    ) -> LLVMValueRef {
        let (halves, whole) = (types.vector(types.i16, 2 * pixels), types.vector(types.i32, pixels))
        let (low, eight, two) = (splat16(255, 2 * pixels), splat16(8, 2 * pixels), splat16(2, 2 * pixels))
        func cast(_ value: LLVMValueRef, _ type: LLVMTypeRef) -> LLVMValueRef {
            LLVMBuildBitCast(asm.builder, value, type, "")
        }
        let parts = [0, 4 * pixels].map { offset -> (even: LLVMValueRef, odd: LLVMValueRef) in
            let rows = [upper, lower].map { asm.load(halves, asm.offset($0, plus(first, offset))) }
            return (
                cast(asm.intAdd(asm.and(rows[0], low), asm.and(rows[1], low)), whole),
                cast(
                    asm.intAdd(asm.shiftRightLogical(rows[0], eight), asm.shiftRightLogical(rows[1], eight)), whole)
            )
        }
        func mean(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef {
            func every(_ second: Int) -> LLVMValueRef {
                let lanes = stride(from: second, to: pixels, by: 4).flatMap {
                    [$0, $0 + 2, pixels + $0, pixels + $0 + 2]
                }
                return cast(asm.shuffle(a, b, lanes), halves)
            }
            return asm.shiftRightLogical(asm.intAdd(asm.intAdd(every(0), every(1)), two), two)
        }
        let joined = asm.or(
            mean(parts[0].even, parts[1].even), asm.shiftLeft(mean(parts[0].odd, parts[1].odd), eight))
        let order = (0..<pixels).map { pixel in
            let within = pixel % (pixels / 2)
            return within / 2 * 4 + within % 2 + pixel / (pixels / 2) * 2
        }
        return asm.shuffle(cast(joined, whole), nil, order)
    }

    private mutating func emitWeigh() {
        let p = begin("weigh", [types.pointer, types.pointer, types.pointer, types.i64, types.i64])
        steps(p[4], pixels: step) { at, count in
            let sums = sum([splat16(0, count)], p[3]) { index, sums in
                let row = asm.load(types.pointer, asm.offset(p[1], times(index, 8)), alignment: 8)
                let weight = asm.load(types.i16, asm.offset(p[2], doubled(index)), alignment: 2)
                let samples = asm.shiftLeft(bytes(row, at, count), splat16(8, count))
                return [asm.intAdd(sums[0], highProduct(samples, asm.splat(weight, count), count))]
            }
            storeWords(sums[0], p[0], at)
        }
        finish()
    }

    /// Round and cut what `count` sums of weights in 16384ths of 128ths come to.
    private func narrowed(_ sum: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        LLVMBuildTrunc(
            asm.builder, asm.shiftRightLogical(asm.intAdd(sum, splat32(1 << 20, count)), splat32(21, count)),
            types.vector(types.i8, count), "")
    }

    private mutating func emitAcross1() {
        let p = begin(
            "across1", [types.pointer, types.pointer, types.pointer, types.pointer, types.i64, types.i64])
        steps(p[5], pixels: 2 * cpu.lanes) { at, count in
            let wide = types.vector(types.i32, count)
            let first = LLVMBuildSExt(
                asm.builder, asm.load(wide, asm.offset(p[2], times(at, 4)), alignment: 4),
                types.vector(types.i64, count), "")!
            let places = asm.shiftLeft(first, asm.splat(types.int(1, types.i64), count))
            let mask = types.splatConstant(types.int(1, types.i1), count)
            let sums = sum([splat32(0, count)], p[4]) { index, sums in
                let pairs = asm.call(
                    "llvm.masked.gather", overloads: [wide, types.vector(types.pointer, count)],
                    [
                        asm.offset(asm.offset(p[1], times(index, 4)), places), types.int(1, types.i32), mask,
                        LLVMGetUndef(wide),
                    ])
                let place = asm.intAdd(asm.intMul(index, p[5]), at)
                let weights = asm.load(wide, asm.offset(p[3], times(place, 4)), alignment: 4)
                return [asm.intAdd(sums[0], pairProducts(pairs, weights, count))]
            }
            asm.store(narrowed(sums[0], count), asm.offset(p[0], at))
        }
        finish()
    }

    private mutating func emitAcross(_ components: Int) {
        let p = begin(
            "across\(components)", [types.pointer, types.pointer, types.pointer, types.pointer, types.i64, types.i64])
        steps(p[5], pixels: 4) { at, pixels in
            let rows = (0..<pixels).map { pixel -> LLVMValueRef in
                let first = asm.load(types.i32, asm.offset(p[2], times(plus(at, pixel), 4)), alignment: 4)
                return asm.offset(p[1], doubled(LLVMBuildSExt(asm.builder, first, types.i64, "")))
            }
            let sums = sum(rows.map { _ in splat32(0, components) }, p[4]) { index, sums in
                let place = times(asm.intAdd(asm.intMul(index, p[5]), at), 4)
                return rows.indices.map { pixel in
                    let two = words(rows[pixel], times(index, 2 * components), 2 * components)
                    let pairs = asm.shuffle(two, nil, (0..<components).flatMap { [$0, $0 + components] })
                    let weights = asm.load(types.i32, asm.offset(p[3], plus(place, 4 * pixel)), alignment: 4)
                    return asm.intAdd(sums[pixel], pairProducts(pairs, asm.splat(weights, components), components))
                }
            }
            asm.store(
                narrowed(asm.concatenated(sums, lanes: components), components * pixels),
                asm.offset(p[0], times(at, components)))
        }
        finish()
    }
}
