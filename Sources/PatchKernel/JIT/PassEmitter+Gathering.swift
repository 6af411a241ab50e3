internal import CLLVM
import PatchMedia

/// Samples of one plane at computed positions.
///
/// Offsets are computed in vectors and go through the stack to one plain load a lane, which is faster than the machine's own
/// gathers on every processor with AVX2 that was measured, and reads no byte beside the sample. Positions that differ by what
/// is the same for all pixels (the four neighbours of a bilinear read) share their offsets: the difference moves the base.
/// docs/decisions/gathers.md has instructions and times.
extension PassEmitter {
    /// Where a gather reads: a position of each lane, moved by so many columns and rows that all lanes have in common.
    private struct Place: Hashable {
        var column: S
        var row: S
        var moveColumns: S?
        var moveRows: S?
    }

    /// Bytes of a plane that one gather reads for each pixel.
    private struct Sample: Hashable {
        var input: Int
        var plane: Int
        /// Bytes from the pixel's begin, and how many are read.
        var within: Int
        var bytes: Int
    }

    /// One channel at computed positions, which lie inside the plane: int codes or floats.
    mutating func emitGather(_ input: Int, _ channel: Int, _ arguments: [S]) -> LLVMValueRef {
        let format = description.inputs[input].format
        let sample = sample(input, channel)
        let place = place(arguments)
        let raw: LLVMValueRef
        if let known = memo[Self.name(sample, place)] {
            raw = known
        } else {
            gatherAll(sample, around: place)
            raw = memo[Self.name(sample, place)]!
        }
        if sample.bytes == 4 {
            return format.isFloat
                ? LLVMBuildBitCast(body.builder, raw, types.vector(types.float, lanes), "") : byte(raw, channel)
        }
        if format.isHalf { return halfToFloat(raw) }
        let code = LLVMBuildZExt(body.builder, raw, types.vector(types.i32, lanes), "")!
        guard format.lowBits > 0 else { return code }
        return body.shiftRightLogical(code, types.splatConstant(types.int(format.lowBits, types.i32), lanes))
    }

    /// The same of a position that all pixels of a row share: one machine scalar.
    mutating func scalarGather(_ input: Int, _ channel: Int, _ arguments: [S]) -> LLVMValueRef {
        let format = description.inputs[input].format
        let sample = sample(input, channel)
        let (column, row) = (scalar(arguments[0]), scalar(arguments[1]))
        let (base, stride) = (planeBase(sample), planeStride(sample))
        let bytesPerPixel = format.layout(ofPlane: sample.plane).bytesPerPixel
        let offset = entry.intAdd(
            entry.intMul(row, stride), entry.intMul(column, types.int(bytesPerPixel, types.i32)))
        let wide = LLVMBuildSExt(entry.builder, offset, types.i64, "")!
        var bits = entry.load(element(sample), entry.offset(base, wide))
        if sample.bytes == 4, format.isFloat { return LLVMBuildBitCast(entry.builder, bits, types.float, "") }
        if sample.bytes == 4 {
            bits = entry.shiftRightLogical(bits, types.int(8 * channel, types.i32))
            return entry.and(bits, types.int(255, types.i32))
        }
        if format.isHalf {
            // The conversion is written for whole vectors.
            let wide = halfToFloat(entry.splat(bits, lanes), entry)
            return LLVMBuildExtractElement(entry.builder, wide, types.int(0, types.i32), "")
        }
        let code = LLVMBuildZExt(entry.builder, bits, types.i32, "")!
        return format.lowBits > 0 ? entry.shiftRightLogical(code, types.int(format.lowBits, types.i32)) : code
    }

    // MARK: Where

    private func sample(_ input: Int, _ channel: Int) -> Sample {
        let format = description.inputs[input].format
        if format == .rgba || format == .bgra { return Sample(input: input, plane: 0, within: 0, bytes: 4) }
        let bytes = format.bytesPerSample
        let isInterleaved = format.planeCount == 2 && format.isYCbCr && channel > 0
        return Sample(
            input: input, plane: min(channel, format.planeCount - 1), within: isInterleaved ? (channel - 1) * bytes : 0,
            bytes: bytes)
    }

    private func place(_ arguments: [S]) -> Place {
        let (column, moveColumns) = parted(arguments[0])
        let (row, moveRows) = parted(arguments[1])
        return Place(column: column, row: row, moveColumns: moveColumns, moveRows: moveRows)
    }

    /// What differs from pixel to pixel, and what is added to it everywhere.
    private func parted(_ s: S) -> (S, S?) {
        let node = program.nodes[s.index]
        guard node.operation == .intAdd, program.rate(s) != .frame else { return (s, nil) }
        for (varying, common) in [(0, 1), (1, 0)] where program.rate(node.arguments[common]) == .frame {
            return (node.arguments[varying], node.arguments[common])
        }
        return (s, nil)
    }

    private static func name(_ sample: Sample, _ place: Place) -> String { "gather \(sample) \(place)" }

    private func element(_ sample: Sample) -> LLVMTypeRef {
        sample.bytes == 4 ? types.i32 : sample.bytes == 2 ? types.i16 : types.i8
    }

    private mutating func planeBase(_ sample: Sample) -> LLVMValueRef {
        let word = layout.inputWord(sample.input) + 2 + 2 * sample.plane
        return memoized("base \(sample.input) \(sample.plane) \(sample.within)") {
            $0.entry.offset($0.word(word, $0.types.pointer), sample.within)
        }
    }

    private func planeStride(_ sample: Sample) -> LLVMValueRef {
        word(layout.inputWord(sample.input) + 3 + 2 * sample.plane, types.i32)
    }

    // MARK: Loads

    /// All live gathers whose offsets are those of `place`: a lane's offset serves them one after the other.
    private mutating func gatherAll(_ sample: Sample, around place: Place) {
        var members: [(sample: Sample, place: Place)] = []
        for index in program.nodes.indices where isLive[index] {
            let node = program.nodes[index]
            guard case .gather(sample.input, let channel) = node.operation else { continue }
            let member = (sample: self.sample(sample.input, channel), place: self.place(node.arguments))
            guard member.sample.plane == sample.plane, member.place.column == place.column,
                member.place.row == place.row, !members.contains(where: { $0 == member })
            else { continue }
            members.append(member)
        }
        let offsets = storedOffsets(sample, place)
        let bases = members.map { base($0.sample, $0.place) }
        let element = element(sample)
        let width = min(lanes, 16 / sample.bytes)
        var parts = [[LLVMValueRef]](repeating: [], count: members.count)
        for lane in 0..<lanes {
            let offset = body.load(types.i32, body.offset(offsets, 4 * lane), alignment: 4)
            let wide = LLVMBuildSExt(body.builder, offset, types.i64, "")!
            for (member, base) in bases.enumerated() {
                let value = body.load(element, body.offset(base, wide))
                if lane % width == 0 { parts[member].append(LLVMGetUndef(types.vector(element, width))) }
                let part = parts[member].count - 1
                parts[member][part] = LLVMBuildInsertElement(
                    body.builder, parts[member][part], value, types.int(lane % width, types.i32), "")
            }
        }
        for (member, parts) in zip(members, parts) {
            memo[Self.name(member.sample, member.place)] = body.concatenated(parts, lanes: width)
        }
    }

    /// Bytes from the plane's begin, one number a lane, on the stack.
    private mutating func storedOffsets(_ sample: Sample, _ place: Place) -> LLVMValueRef {
        let bytesPerPixel = description.inputs[sample.input].format.layout(ofPlane: sample.plane).bytesPerPixel
        let stride = memoized("stride \(sample.input) \(sample.plane)") {
            $0.entry.splat($0.planeStride(sample), $0.lanes)
        }
        let across = body.intMul(
            vector(place.column), types.splatConstant(types.int(bytesPerPixel, types.i32), lanes))
        let offsets = body.intAdd(body.intMul(vector(place.row), stride), across)
        let slot = LLVMBuildAlloca(entry.builder, LLVMTypeOf(offsets), "")!
        LLVMSetAlignment(slot, 64)
        body.store(offsets, slot, alignment: 64)
        return slot
    }

    /// The address that a lane's offset is added to.
    private mutating func base(_ sample: Sample, _ place: Place) -> LLVMValueRef {
        var base = planeBase(sample)
        func wide(_ value: LLVMValueRef) -> LLVMValueRef { LLVMBuildSExt(entry.builder, value, types.i64, "") }
        if let columns = place.moveColumns {
            let layout = description.inputs[sample.input].format.layout(ofPlane: sample.plane)
            let bytes = types.int(layout.bytesPerPixel, types.i64)
            base = entry.offset(base, entry.intMul(wide(scalar(columns)), bytes))
        }
        if let rows = place.moveRows {
            base = entry.offset(base, entry.intMul(wide(scalar(rows)), wide(planeStride(sample))))
        }
        return base
    }
}
