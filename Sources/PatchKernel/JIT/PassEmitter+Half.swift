internal import CLLVM
import PatchMedia

/// Reads of pictures of half the size, at every pixel between the same samples: rows of samples, weighed down, then
/// across for even and for odd columns. Codes are weighed as whole numbers, so that nothing is rounded.
extension PassEmitter {
    /// One channel: int codes times `halfScale`, or floats.
    mutating func emitHalf(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        guard format == .rgba || format == .bgra else {
            let value = halfRows(load)
            return format.isFloat ? value : LLVMBuildZExt(body.builder, value, types.vector(types.i32, lanes), "")
        }
        // Bytes 0 and 2, or 1 and 3, are weighed together, in 16 bits each.
        let name = "half \(load.input) \(load.channel & 1)"
        let words = memo[name] ?? halfRows(load)
        memo[name] = words
        return load.channel < 2
            ? body.and(words, types.splatConstant(types.int(0xffff, types.i32), lanes))
            : body.shiftRightLogical(words, types.splatConstant(types.int(16, types.i32), lanes))
    }

    private mutating func halfRows(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let (even, odd, whole) = description.inputs[load.input].halfWeights(description.planes)
        let half = columns / 2
        let parts = (0..<rows).map { row -> LLVMValueRef in
            let columns = (-1...1).map { shift in
                weighed(
                    halfSamples(load, .halfNear, row, shift), halfSamples(load, .halfFar, row, shift), 1, of: 4)
            }
            var pair = [
                weighed(columns[1], columns[0], even, of: whole), weighed(columns[1], columns[2], odd, of: whole),
            ]
            let format = description.inputs[load.input].format
            if format == .rgba || format == .bgra {
                pair = pair.map { LLVMBuildBitCast(body.builder, $0, types.vector(types.i32, half), "") }
            }
            return body.shuffle(pair[0], pair[1], (0..<2 * half).map { $0 / 2 + $0 % 2 * half })
        }
        return body.concatenated(parts, lanes: columns)
    }

    /// near · (1 − weight / whole) + far · weight / whole; of whole numbers `whole` times that.
    private func weighed(_ near: LLVMValueRef, _ far: LLVMValueRef, _ weight: Int, of whole: Int) -> LLVMValueRef {
        let type = LLVMTypeOf(near)!
        let (element, count) = (LLVMGetElementType(type)!, Int(LLVMGetVectorSize(type)))
        guard element == types.float else {
            func times(_ value: LLVMValueRef, _ factor: Int) -> LLVMValueRef {
                factor == 1 ? value : body.intMul(value, types.splatConstant(types.int(factor, element), count))
            }
            return body.intAdd(times(near, whole - weight), times(far, weight))
        }
        let part = Double(weight) / Double(whole)
        return body.add(
            body.mul(near, body.splatFloat(1 - part, count)), body.mul(far, body.splatFloat(part, count)))
    }

    /// Half a chunk's samples of one row, `shift` to the right: 16-bit codes (32-bit ones of deep formats), or floats; of
    /// packed pixels the two bytes that are weighed together.
    private mutating func halfSamples(
        _ load: ScalarProgram.Load, _ rule: ReadSlot.RowRule, _ row: Int, _ shift: Int
    ) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        let isPacked = format == .rgba || format == .bgra
        let half = columns / 2
        let slot = layout.slot(
            ReadSlot(input: load.input, plane: isPacked ? 0 : load.channel, dy: 0, edge: .clamp, rule: rule),
            shift: shift)
        let bytes = isPacked ? 4 : format.bytesPerSample
        let element = bytes == 1 ? types.i8 : bytes == 2 ? types.i16 : format.isFloat ? types.float : types.i32
        let raw = rawRow(slot, row: row, shift: shift, element: element, bytes: bytes, count: half)
        if isPacked {
            let moved =
                load.channel & 1 == 0
                ? raw : body.shiftRightLogical(raw, types.splatConstant(types.int(8, types.i32), half))
            let pair = body.and(moved, types.splatConstant(types.int(0x00ff_00ff, types.i32), half))
            return LLVMBuildBitCast(body.builder, pair, types.vector(types.i16, 2 * half), "")
        }
        if format.isHalf { return body.halfToFloat(raw, half, cpu) }
        if format.isFloat { return raw }
        if bytes == 1 { return LLVMBuildZExt(body.builder, raw, types.vector(types.i16, half), "") }
        let code =
            format.lowBits > 0
            ? body.shiftRightLogical(raw, types.splatConstant(types.int(format.lowBits, types.i16), half)) : raw
        return LLVMBuildZExt(body.builder, code, types.vector(types.i32, half), "")
    }
}
