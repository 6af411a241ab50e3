internal import CLLVM
import PatchMedia

extension PassEmitter {
    /// One channel at a whole-pixel offset: int codes (subsampled chroma interpolated) or floats.
    mutating func emitLoad(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        if load.isHalf { return emitHalf(load) }
        switch format {
        case .rgba, .bgra:
            return byte(packedPixels(load), load.channel)
        case .half1, .half2, .half3, .half4:
            let key = ReadSlot(input: load.input, plane: load.channel, dy: load.dy, edge: load.edge, rule: .direct)
            return halfToFloat(rawRows(key, shift: load.dx, element: types.i16, bytes: 2, count: columns))
        case .float1, .float2, .float3, .float4:
            let key = ReadSlot(input: load.input, plane: load.channel, dy: load.dy, edge: load.edge, rule: .direct)
            return rawRows(key, shift: load.dx, element: types.float, bytes: 4, count: columns)
        default: break
        }
        let isChroma = format.isYCbCr && load.channel > 0
        if isChroma, format.log2ChromaWidth > 0 { return emitChroma(load) }
        let isWide = format.bitDepth > 8
        if isChroma, format.planeCount == 2 { return emitInterleaved(load) }
        let key = ReadSlot(input: load.input, plane: load.channel, dy: load.dy, edge: load.edge, rule: .direct)
        var raw = rawRows(
            key, shift: load.dx, element: isWide ? types.i16 : types.i8, bytes: isWide ? 2 : 1, count: columns)
        if format.lowBits > 0 {
            raw = body.shiftRightLogical(raw, types.splatConstant(types.int(format.lowBits, types.i16), lanes))
        }
        return LLVMBuildZExt(body.builder, raw, types.vector(types.i32, lanes), "")
    }

    /// Cb or Cr out of pairs at full size.
    private mutating func emitInterleaved(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        let isWide = format.bitDepth > 8
        let key = ReadSlot(input: load.input, plane: 1, dy: load.dy, edge: load.edge, rule: .direct)
        let pairs = rawRows(
            key, shift: load.dx, element: isWide ? types.i16 : types.i8, bytes: isWide ? 4 : 2, count: 2 * columns)
        let first = description.inputs[load.input].reversesColumns ? 2 - load.channel : load.channel - 1
        var raw = body.shuffle(pairs, nil, (0..<lanes).map { 2 * $0 + first })
        if format.lowBits > 0 {
            raw = body.shiftRightLogical(raw, types.splatConstant(types.int(format.lowBits, types.i16), lanes))
        }
        return LLVMBuildZExt(body.builder, raw, types.vector(types.i32, lanes), "")
    }

    /// Whole 32-bit pixels of rgba or bgra.
    mutating func packedPixels(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let key = ReadSlot(input: load.input, plane: 0, dy: load.dy, edge: load.edge, rule: .direct)
        return rawRows(key, shift: load.dx, element: types.i32, bytes: 4, count: columns)
    }

    /// Byte `index` of packed 32-bit pixels.
    func byte(_ packed: LLVMValueRef, _ index: Int) -> LLVMValueRef {
        var value = packed
        if index > 0 {
            value = body.shiftRightLogical(value, types.splatConstant(types.int(8 * index, types.i32), lanes))
        }
        if index < 3 { value = body.and(value, types.splatConstant(types.int(255, types.i32), lanes)) }
        return value
    }

    /// All rows of a chunk, one after another.
    mutating func rawRows(
        _ key: ReadSlot, shift: Int, element: LLVMTypeRef, bytes: Int, count: Int
    ) -> LLVMValueRef {
        let isReversed = description.inputs[key.input].reversesColumns
        let shift = isReversed ? -shift : shift
        let slot = layout.slot(key, shift: shift)
        let name = "rows \(slot) \(shift)"
        if let value = memo[name] { return value }
        let parts = (0..<rows).map { row -> LLVMValueRef in
            guard layout.isBlocked, key.rule == .direct else {
                return rawRow(slot, row: row, shift: shift, element: element, bytes: bytes, count: count)
            }
            var below = key
            below.dy += row
            return rawRow(
                layout.slot(below, shift: shift), row: 0, shift: shift, element: element, bytes: bytes, count: count)
        }
        var value = body.concatenated(parts, lanes: count)
        if isReversed { value = reversedRows(value, count) }
        memo[name] = value
        return value
    }

    /// Each row of `count` lanes from its other end.
    private func reversedRows(_ value: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        body.shuffle(value, nil, (0..<rows * count).map { $0 / count * count + count - 1 - $0 % count })
    }

    /// `count` elements of one row, `shift` samples of `bytes` bytes to the right of the chunk.
    mutating func rawRow(
        _ slot: Int, row: Int, shift: Int, element: LLVMTypeRef, bytes: Int, count: Int
    ) -> LLVMValueRef {
        let name = "row \(slot) \(row) \(shift)"
        if let value = memo[name] { return value }
        let base = memoized("slot \(slot) \(row)") {
            $0.word($0.layout.slotWord(row: row, slot: slot), $0.types.pointer)
        }
        let samples = isSubsampled(slot) ? columns / 2 : columns
        let step = description.inputs[layout.slots[slot].input].reversesColumns ? -samples : samples
        let advance = LLVMBuildMul(body.builder, chunk, types.int(step * bytes, types.i64), "")!
        let pointer = body.offset(body.offset(base, advance), shift * bytes)
        let value = body.load(types.vector(element, count), pointer)
        memo[name] = value
        return value
    }

    private func isSubsampled(_ slot: Int) -> Bool {
        let key = layout.slots[slot]
        if key.rule.isHalf { return true }
        let format = description.inputs[key.input].format
        return format.layout(ofPlane: key.plane).log2Width > 0
    }

    // MARK: Subsampled chroma

    /// Chroma at luma positions, times `PassInput.chromaScale`, in 16-bit integers until the last step: all weights
    /// are small whole numbers, so that nothing is rounded.
    private mutating func emitChroma(_ load: ScalarProgram.Load) -> LLVMValueRef {
        LLVMBuildZExt(body.builder, subsampledChroma(load), types.vector(types.i32, lanes), "")
    }

    /// The same as 16-bit integers, for any 8-bit Y'CbCr format.
    mutating func chromaCodes(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        if format.log2ChromaWidth > 0 { return subsampledChroma(load) }
        if format.planeCount == 2 {
            let codes = LLVMBuildTrunc(body.builder, emitInterleaved(load), types.vector(types.i16, lanes), "")!
            return laneOrder.map { body.shuffle(codes, nil, $0) } ?? codes
        }
        let key = ReadSlot(input: load.input, plane: load.channel, dy: load.dy, edge: load.edge, rule: .direct)
        let raw = rawRows(key, shift: load.dx, element: types.i8, bytes: 1, count: columns)
        return widened(raw)
    }

    private mutating func subsampledChroma(_ load: ScalarProgram.Load) -> LLVMValueRef {
        guard description.inputs[load.input].reversesColumns else { return chromaRows(load) }
        // From its other end, an odd width begins between two chroma samples' columns.
        var (even, odd) = (load, load)
        even.dx = -load.dx
        odd.dx = 1 - load.dx
        let isOdd = memoized("odd \(load.input)") {
            let width = $0.word($0.layout.inputWord(load.input), $0.types.i32)
            return LLVMBuildTrunc($0.entry.builder, width, $0.types.i1, "")
        }
        return reversedRows(body.select(isOdd, chromaRows(odd), chromaRows(even)), columns)
    }

    private mutating func chromaRows(_ load: ScalarProgram.Load) -> LLVMValueRef {
        let siting = description.inputs[load.input].color.siting
        let half = columns / 2
        // Arithmetic shift: chroma column of the chunk's first luma column.
        let base = load.dx >> 1
        let isOddStart = load.dx & 1 == 1
        let parts = (0..<rows).map { row -> LLVMValueRef in
            let evenBase = isOddStart ? base + 1 : base
            let even: LLVMValueRef
            let odd: LLVMValueRef
            let evenNear = chromaRow(load, row: row, shift: evenBase)
            let oddNear = chromaRow(load, row: row, shift: base)
            let oddFar = chromaRow(load, row: row, shift: base + 1)
            if siting.isCositedHorizontally {
                even = body.intAdd(evenNear, evenNear)
                odd = body.intAdd(oddNear, oddFar)
            } else {
                let evenFar = chromaRow(load, row: row, shift: evenBase - 1)
                even = body.intAdd(times3(evenNear, half), evenFar)
                odd = body.intAdd(times3(oddNear, half), oddFar)
            }
            let (first, second) = isOddStart ? (odd, even) : (even, odd)
            return body.shuffle(
                first, second, (laneOrder ?? Array(0..<columns)).map { $0 / 2 + ($0 % 2) * half })
        }
        return body.concatenated(parts, lanes: columns)
    }

    private func times3(_ value: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        body.intMul(value, types.splatConstant(types.int(3, types.i16), count))
    }

    /// Chroma of half a chunk's columns, interpolated between chroma rows.
    private mutating func chromaRow(_ load: ScalarProgram.Load, row: Int, shift: Int) -> LLVMValueRef {
        let name = "chroma \(load.input) \(load.channel) \(load.dy) \(load.edge) \(row) \(shift)"
        if let value = memo[name] { return value }
        let stored = description.inputs[load.input]
        let value: LLVMValueRef
        if stored.format.log2ChromaHeight == 0 {
            value = chromaSamples(load, .direct, row, shift)
        } else {
            let near = chromaSamples(load, .chromaNear, row, shift)
            let far = chromaSamples(load, .chromaFar, row, shift)
            value =
                stored.color.siting.isCositedVertically
                ? body.intAdd(near, far) : body.intAdd(times3(near, columns / 2), far)
        }
        memo[name] = value
        return value
    }

    private mutating func chromaSamples(
        _ load: ScalarProgram.Load, _ rule: ReadSlot.RowRule, _ row: Int, _ shift: Int
    ) -> LLVMValueRef {
        let format = description.inputs[load.input].format
        let isWide = format.bitDepth > 8
        let isInterleaved = format.planeCount == 2
        let half = columns / 2
        var key = ReadSlot(
            input: load.input, plane: isInterleaved ? 1 : load.channel, dy: load.dy, edge: load.edge, rule: rule)
        // Lower rows of a block are rows further down, as in `rawRows`.
        var row = row
        if layout.isBlocked, rule == .direct {
            key.dy += row
            row = 0
        }
        let slot = layout.slot(key, shift: shift)
        let sampleBytes = (isWide ? 2 : 1) * (isInterleaved ? 2 : 1)
        var raw = rawRow(
            slot, row: row, shift: shift, element: isWide ? types.i16 : types.i8, bytes: sampleBytes,
            count: isInterleaved ? columns : half)
        if isInterleaved { raw = body.shuffle(raw, nil, (0..<half).map { 2 * $0 + load.channel - 1 }) }
        if !isWide { raw = LLVMBuildZExt(body.builder, raw, types.vector(types.i16, half), "") }
        if format.lowBits > 0 {
            raw = body.shiftRightLogical(raw, types.splatConstant(types.int(format.lowBits, types.i16), half))
        }
        return raw
    }

    // MARK: Half floats

    func halfToFloat(_ bits: LLVMValueRef) -> LLVMValueRef { halfToFloat(bits, body) }

    func halfToFloat(_ bits: LLVMValueRef, _ body: LLVMAssembler) -> LLVMValueRef {
        body.halfToFloat(bits, lanes, cpu)
    }

    func floatToHalf(_ value: LLVMValueRef) -> LLVMValueRef { body.floatToHalf(value, lanes, cpu) }
}
