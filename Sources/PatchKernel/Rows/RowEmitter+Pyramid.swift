internal import CLLVM

/// The steps of a Gaussian pyramid.
extension RowEmitter {
    /// - Returns: the functions' names.
    mutating func emitPyramid() -> [String] {
        emitConversions()
        emitShrinkBytes()
        emitShrinkRows()
        emitGrowRows()
        var names = ["widen", "narrow", "shrinkBytes", "shrinkRows", "growRows"]
        for radius in [4, 8] {
            emitBlurRows(radius)
            names.append("blurRowsBy\(radius)")
            for components in [1, 4] {
                emitBlurAcross(radius, components)
                names.append("blurAcrossBy\(radius)of\(components)")
            }
        }
        for components in [1, 4] {
            emitShrinkAcross(components)
            emitGrowAcross(components, toBytes: false)
            emitGrowAcross(components, toBytes: true)
            names += ["shrinkAcross\(components)", "growAcross\(components)", "growAcrossToBytes\(components)"]
        }
        return names
    }

    private mutating func emitConversions() {
        var p = begin("widen", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: step) { at, count in
            storeWords(asm.shiftLeft(bytes(p[1], at, count), splat16(7, count)), p[0], at)
        }
        finish()
        p = begin("narrow", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: step) { at, count in storeBytes(codes(words(p[1], at, count), count), p[0], at, count) }
        finish()
    }

    /// 16-bit samples as codes.
    private func codes(_ samples: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        asm.shiftRightLogical(asm.intAdd(samples, splat16(64, count)), splat16(7, count))
    }

    private mutating func emitShrinkBytes() {
        let p = begin("shrinkBytes", [LLVMTypeRef](repeating: types.pointer, count: 5) + [types.i64])
        steps(p[5], pixels: step) { at, count in
            let outer = asm.intAdd(bytes(p[1], at, count), bytes(p[4], at, count))
            let inner = asm.intAdd(bytes(p[2], at, count), bytes(p[3], at, count))
            let sum = asm.intAdd(asm.intAdd(outer, inner), asm.intAdd(inner, inner))
            storeWords(asm.shiftLeft(sum, splat16(4, count)), p[0], at)
        }
        finish()
    }

    private mutating func emitShrinkRows() {
        let p = begin("shrinkRows", [LLVMTypeRef](repeating: types.pointer, count: 5) + [types.i64])
        steps(p[5], pixels: step) { at, count in
            let outer = average(words(p[1], at, count), words(p[4], at, count), count)
            let inner = average(words(p[2], at, count), words(p[3], at, count), count)
            storeWords(quarter(inner, outer, count), p[0], at)
        }
        finish()
    }

    private mutating func emitShrinkAcross(_ components: Int) {
        let p = begin("shrinkAcross\(components)", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: step / components) { at, pixels in
            let count = pixels * components
            let first = times(at, 2 * components)
            let (left, right) = (words(p[1], first, 2 * count), words(p[1], plus(first, 2 * components), 2 * count))
            let result: LLVMValueRef
            if components == 1 {
                func weights(_ a: Int, _ b: Int) -> LLVMValueRef {
                    types.intVector((0..<2 * count).map { $0 % 2 == 0 ? a : b }, types.i16)
                }
                let sum = asm.intAdd(
                    pairProducts(left, weights(1, 3), count), pairProducts(right, weights(3, 1), count))
                result = LLVMBuildTrunc(
                    asm.builder, asm.shiftRightLogical(asm.intAdd(sum, splat32(4, count)), splat32(3, count)),
                    types.vector(types.i16, count), "")
            } else {
                let (a, b) = parted(left, pixels: 2 * pixels, components: components)
                let (c, d) = parted(right, pixels: 2 * pixels, components: components)
                result = quarter(average(b, c, count), average(a, d, count), count)
            }
            storeWords(result, p[0], times(at, components))
        }
        finish()
    }

    /// Weights of a sum: the centre's first. Loaded once before the loop.
    private func weights(_ pointer: LLVMValueRef, _ radius: Int) -> [LLVMValueRef] {
        (0...radius).map { asm.load(types.i16, asm.offset(pointer, 2 * $0), alignment: 2) }
    }

    /// The weighted sum of pairs, each product rounded down; what that loses on average is added.
    private func blurred(
        _ weights: [LLVMValueRef], _ count: Int, _ read: (_ away: Int) -> LLVMValueRef
    ) -> LLVMValueRef {
        let bias = splat16(weights.count / 2, count)
        var sum = asm.intAdd(bias, highProduct(read(0), asm.splat(weights[0], count), count))
        for away in 1..<weights.count {
            let pair = asm.intAdd(read(-away), read(away))
            sum = asm.intAdd(sum, highProduct(pair, asm.splat(weights[away], count), count))
        }
        return sum
    }

    private mutating func emitBlurAcross(_ radius: Int, _ components: Int) {
        let p = begin(
            "blurAcrossBy\(radius)of\(components)", [types.pointer, types.pointer, types.pointer, types.i64])
        let weights = weights(p[2], radius)
        steps(times(p[3], components), pixels: step) { at, count in
            storeWords(
                blurred(weights, count) { words(p[1], plus(at, $0 * components), count) }, p[0], at)
        }
        finish()
    }

    private mutating func emitBlurRows(_ radius: Int) {
        let p = begin("blurRowsBy\(radius)", [types.pointer, types.pointer, types.pointer, types.i64])
        let weights = weights(p[2], radius)
        let rows = (0...2 * radius).map { asm.load(types.pointer, asm.offset(p[1], 8 * $0), alignment: 8) }
        steps(p[3], pixels: step) { at, count in
            storeWords(blurred(weights, count) { words(rows[radius + $0], at, count) }, p[0], at)
        }
        finish()
    }

    private mutating func emitGrowRows() {
        let p = begin("growRows", [types.pointer, types.pointer, types.pointer, types.i64])
        steps(p[3], pixels: step) { at, count in
            storeWords(quarter(words(p[1], at, count), words(p[2], at, count), count), p[0], at)
        }
        finish()
    }

    private mutating func emitGrowAcross(_ components: Int, toBytes: Bool) {
        let p = begin(
            "growAcross\(toBytes ? "ToBytes" : "")\(components)", [types.pointer, types.pointer, types.i64])
        steps(p[2], pixels: step / components) { at, pixels in
            let count = pixels * components
            let first = times(at, components)
            let near = words(p[1], plus(first, components), count)
            var even = quarter(near, words(p[1], first, count), count)
            var odd = quarter(near, words(p[1], plus(first, 2 * components), count), count)
            let place = times(at, 2 * components)
            if toBytes {
                (even, odd) = (codes(even, count), codes(odd, count))
                if components == 1 {
                    // The two codes of a pair are the bytes of a word.
                    let pairs = asm.or(even, asm.shiftLeft(odd, splat16(8, count)))
                    asm.store(pairs, asm.offset(p[0], place))
                } else {
                    // Whole pixels of bytes take turns, which is cheaper than before they are cut.
                    let bytes = types.vector(types.i8, count)
                    (even, odd) = (
                        LLVMBuildTrunc(asm.builder, even, bytes, ""), LLVMBuildTrunc(asm.builder, odd, bytes, "")
                    )
                    asm.store(
                        interleaved(even, odd, pixels: pixels, components: components), asm.offset(p[0], place))
                }
            } else {
                storeWords(interleaved(even, odd, pixels: pixels, components: components), p[0], place)
            }
        }
        finish()
    }
}
