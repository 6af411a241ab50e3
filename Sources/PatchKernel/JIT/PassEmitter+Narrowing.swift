internal import CLLVM

/// Whole numbers of 32 bits to bytes, by the instructions of x86 that clamp to 0…255 on the way: one cuts two vectors to words,
/// one cuts those to bytes. They work within 128 bits, so that bytes must change places at last.
extension PassEmitter {
    private func packed(_ a: LLVMValueRef, _ b: LLVMValueRef, toBytes: Bool) -> LLVMValueRef {
        let name =
            switch cpu.lanes {
            case 16: toBytes ? "llvm.x86.avx512.packuswb.512" : "llvm.x86.avx512.packssdw.512"
            case 8: toBytes ? "llvm.x86.avx2.packuswb" : "llvm.x86.avx2.packssdw"
            default: toBytes ? "llvm.x86.sse2.packuswb.128" : "llvm.x86.sse2.packssdw.128"
            }
        return body.call(name, overloads: [], [a, b])
    }

    /// Machine vectors of a value of `count` lanes.
    private func machineVectors(_ value: LLVMValueRef, _ count: Int) -> [LLVMValueRef] {
        stride(from: 0, to: count, by: cpu.lanes).map { start in
            count == cpu.lanes
                ? value : body.shuffle(value, nil, (start..<start + cpu.lanes).map { min($0, count - 1) })
        }
    }

    /// Packed pixels of four components.
    func narrowedPixels(_ codes: [LLVMValueRef]) -> LLVMValueRef {
        let width = cpu.lanes
        let components = codes.map { machineVectors($0, lanes) }
        let parts = (0..<lanes / width).map { part -> LLVMValueRef in
            let c = components.map { $0[part] }
            let planar = packed(packed(c[0], c[1], toBytes: false), packed(c[2], c[3], toBytes: false), toBytes: true)
            // Each 128 bits hold four pixels' first components, then their second ones, and so on.
            let pixels = body.shuffle(planar, nil, (0..<4 * width).map { $0 / 16 * 16 + $0 % 4 * 4 + $0 % 16 / 4 })
            return LLVMBuildBitCast(body.builder, pixels, types.vector(types.i32, width), "")
        }
        return body.concatenated(parts, lanes: width)
    }

    /// One byte a lane.
    func narrowed(_ codes: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        // Bytes that were read and are written again.
        let bytes = types.vector(types.i8, count)
        if LLVMIsAZExtInst(codes) != nil, let read = LLVMGetOperand(codes, 0), LLVMTypeOf(read) == bytes { return read }
        let width = cpu.lanes
        var vectors = machineVectors(codes, count)
        // Four machine vectors make one of bytes.
        while vectors.count % 4 != 0 { vectors.append(vectors[vectors.count - 1]) }
        let parts = stride(from: 0, to: vectors.count, by: 4).map { first -> LLVMValueRef in
            let v = vectors[first..<first + 4].map { $0 }
            let mixed = packed(packed(v[0], v[1], toBytes: false), packed(v[2], v[3], toBytes: false), toBytes: true)
            // Lane i of vector n is in the 128 bits i / 4, as byte 4n + i % 4.
            let order = (0..<4 * width).map { byte in
                let (vector, lane) = (byte / width, byte % width)
                return lane / 4 * 16 + vector * 4 + lane % 4
            }
            return body.shuffle(mixed, nil, Array(order[..<min(4 * width, count)]))
        }
        return body.concatenated(parts, lanes: min(4 * width, count))
    }
}
