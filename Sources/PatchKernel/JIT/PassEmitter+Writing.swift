internal import CLLVM
import PatchMedia

extension PassEmitter {
    /// Stores the roots; returns the values that the next chunk needs of this one.
    mutating func emitRoots(firstColumn: LLVMValueRef, carries: [LLVMValueRef]) -> [LLVMValueRef] {
        let format = description.output.format
        switch roots {
        case .packed(let codes):
            if let copied = copiedBytes(codes) {
                storeRows(copied, plane: 0, bytes: 4)
                return []
            }
            let values = codes.map { vector($0) }
            storeRows(cpu.isX86 ? narrowedPixels(values) : merged(values), plane: 0, bytes: 4)
            return []
        case .planes(let values):
            // All of them before the first is stored: the output may be the memory of an input.
            for value in values { _ = vector(value) }
            if format.isYCbCr, format.planeCount == 2 {
                storeSemiplanar(values)
                return []
            }
            for (plane, value) in values.enumerated() where description.planes.written(of: format).contains(plane) {
                if format.isFloat {
                    let numbers = vector(value)
                    storeRows(
                        format.isHalf ? floatToHalf(numbers) : numbers, plane: plane, bytes: format.bytesPerSample)
                } else {
                    storeCodes(vector(value), plane: plane)
                }
            }
            return []
        case .subsampled(let luma, let chroma):
            for value in chroma.values { _ = vector(value) }
            storeCodes(vector(luma), plane: 0)
            return emitChroma(chroma, firstColumn: firstColumn, carries: carries)
        case .fixed(let fixed):
            return emitFixed(fixed, carries: carries)
        case .conversion(.decode(let numbers)):
            emitDecoding(numbers)
            return []
        case .conversion(.encode(let numbers)): return emitEncoding(numbers, carries: carries)
        }
    }

    /// Four codes that are the bytes of one packed pixel, in any order: moved as bytes.
    private mutating func copiedBytes(_ codes: [S]) -> LLVMValueRef? {
        var order: [Int] = []
        var first: ScalarProgram.Load?
        for code in codes {
            guard case .load(var load) = program.operation(code) else { return nil }
            order.append(load.channel)
            load.channel = 0
            guard [.rgba, .bgra].contains(description.inputs[load.input].format), first == nil || first == load else {
                return nil
            }
            first = load
        }
        guard let first else { return nil }
        let packed = packedPixels(first)
        if order == [0, 1, 2, 3] { return packed }
        let bytes = LLVMBuildBitCast(body.builder, packed, types.vector(types.i8, 4 * lanes), "")!
        let moved = body.shuffle(bytes, nil, (0..<4 * lanes).map { $0 / 4 * 4 + order[$0 % 4] })
        return LLVMBuildBitCast(body.builder, moved, types.vector(types.i32, lanes), "")
    }

    /// Packed pixels of four codes in 0…255.
    private func merged(_ codes: [LLVMValueRef]) -> LLVMValueRef {
        codes.enumerated().dropFirst().reduce(codes[0]) { packed, code in
            let shift = types.splatConstant(types.int(8 * code.offset, types.i32), lanes)
            return body.or(packed, body.shiftLeft(code.element, shift))
        }
    }

    private func narrow(_ codes: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        let format = description.output.format
        if format.bitDepth == 8, cpu.isX86 { return narrowed(codes, count) }
        var codes = codes
        if format.lowBits > 0 {
            codes = body.shiftLeft(codes, types.splatConstant(types.int(format.lowBits, types.i32), count))
        }
        let element = format.bitDepth > 8 ? types.i16 : types.i8
        return LLVMBuildTrunc(body.builder, codes, types.vector(element, count), "")
    }

    private mutating func storeCodes(_ codes: LLVMValueRef, plane: Int) {
        storeRows(narrow(codes, lanes), plane: plane, bytes: description.output.format.bitDepth > 8 ? 2 : 1)
    }

    /// Luma, and Cb and Cr side by side, all at full size.
    private mutating func storeSemiplanar(_ codes: [S]) {
        let bytes = description.output.format.bitDepth > 8 ? 2 : 1
        let written = description.planes.written(of: description.output.format)
        if written.contains(0) { storeCodes(vector(codes[0]), plane: 0) }
        guard written.contains(1) else { return }
        storePairs(narrow(vector(codes[1]), lanes), narrow(vector(codes[2]), lanes), bytes: bytes)
    }

    /// Cb and Cr side by side, at full size.
    mutating func storePairs(_ cb: LLVMValueRef, _ cr: LLVMValueRef, bytes: Int) {
        let pairs = body.shuffle(cb, cr, (0..<2 * lanes).map { $0 / 2 + ($0 % 2) * lanes })
        for row in (0..<rows).reversed() {
            let part =
                rows == 1
                ? pairs : body.shuffle(pairs, nil, Array(row * 2 * columns..<(row + 1) * 2 * columns))
            body.store(part, outputPointer(row: row, plane: 1, bytesPerChunk: 2 * columns * bytes))
        }
    }

    mutating func storeRows(_ value: LLVMValueRef, plane: Int, bytes: Int) {
        // The first row last: below an odd height both rows are the same memory.
        for row in (0..<rows).reversed() {
            let part =
                rows == 1 ? value : body.shuffle(value, nil, Array(row * columns..<(row + 1) * columns))
            body.store(part, outputPointer(row: row, plane: plane, bytesPerChunk: columns * bytes))
        }
    }

    mutating func outputPointer(row: Int, plane: Int, bytesPerChunk: Int) -> LLVMValueRef {
        let base = memoized("out \(row) \(plane)") {
            $0.word($0.layout.outputWord(row: row, plane: plane), $0.types.pointer)
        }
        return body.offset(base, LLVMBuildMul(body.builder, chunk, types.int(bytesPerChunk, types.i64), ""))
    }

    /// Averages to chroma positions, makes Cb and Cr, stores them.
    private mutating func emitChroma(
        _ chroma: ChromaRoot, firstColumn: LLVMValueRef, carries: [LLVMValueRef]
    ) -> [LLVMValueRef] {
        let output = description.output
        let siting = output.color.siting
        let half = columns / 2
        var scale: Float = 1
        var carriesOut: [LLVMValueRef] = []
        // The pixel after the last column of an odd width does not exist: the last one counts twice.
        let width = word(PassLayout.Word.width, types.i32)
        let oddColumns = body.intAdd(
            body.splat(column, half), types.intVector((0..<half).map { 2 * $0 + 1 }, types.i32))
        let isBeyond = body.compareInt(LLVMIntEQ, oddColumns, entry.splat(width, half))
        let isFirst = body.compareInt(LLVMIntEQ, column, types.int(0, types.i32))
        var averages: [LLVMValueRef] = []
        for (index, value) in chroma.values.enumerated() {
            var all = vector(value)
            scale = 1
            if rows == 2 {
                let top = body.shuffle(all, nil, Array(0..<columns))
                if siting.isCositedVertically {
                    all = top
                } else {
                    all = body.add(top, body.shuffle(all, nil, Array(columns..<2 * columns)))
                    scale *= 0.5
                }
            }
            let even = body.shuffle(all, nil, (0..<half).map { 2 * $0 })
            var odd = body.shuffle(all, nil, (0..<half).map { 2 * $0 + 1 })
            odd = body.select(isBeyond, even, odd)
            if siting.isCositedHorizontally {
                let firstEven = LLVMBuildExtractElement(body.builder, even, types.int(0, types.i32), "")!
                let before = body.select(isFirst, firstEven, carries[index])
                let beforeVector = LLVMBuildInsertElement(
                    body.builder, LLVMGetUndef(types.vector(types.float, half)), before,
                    types.int(0, types.i32), "")!
                let previous = body.shuffle(odd, beforeVector, [half] + (0..<half - 1))
                carriesOut.append(
                    LLVMBuildExtractElement(body.builder, odd, types.int(half - 1, types.i32), ""))
                averages.append(body.add(body.add(previous, odd), body.add(even, even)))
                scale *= 0.25
            } else {
                averages.append(body.add(even, odd))
                scale *= 0.5
            }
        }
        let rounding: LLVMValueRef
        if output.dither {
            let one = types.int(1, types.i32)
            let row = word(PassLayout.Word.row, types.i32)
            let chromaRow = rows == 2 ? body.shiftRightLogical(row, one) : row
            rounding = body.add(
                ditherRow(chromaRow, body.shiftRightLogical(column, one), half), constant(chroma.bias, half))
        } else {
            rounding = constant(chroma.bias + 0.5, half)
        }
        let codes = [chroma.cb, chroma.cr].map { weights -> LLVMValueRef in
            var code = rounding
            for (weight, average) in zip(weights, averages) where weight != 0 {
                code = arithmetic(.fma, [average, constant(weight * scale, half), code], body, lanes: half)
            }
            if chroma.needsClamp {
                code = arithmetic(.max, [code, constant(0, half)], body, lanes: half)
                code = arithmetic(.min, [code, constant(chroma.maximum, half)], body, lanes: half)
            }
            let whole = LLVMBuildFPToSI(body.builder, code, types.vector(types.i32, half), "")!
            return narrow(whole, half)
        }
        let bytes = output.format.bitDepth > 8 ? 2 : 1
        if output.format.planeCount == 2 {
            let pairs = body.shuffle(codes[0], codes[1], (0..<columns).map { $0 / 2 + ($0 % 2) * half })
            body.store(pairs, outputPointer(row: 0, plane: 1, bytesPerChunk: columns * bytes))
        } else {
            for plane in 1...2 {
                body.store(codes[plane - 1], outputPointer(row: 0, plane: plane, bytesPerChunk: half * bytes))
            }
        }
        return carriesOut
    }
}
