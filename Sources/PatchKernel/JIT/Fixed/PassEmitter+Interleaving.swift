internal import CLLVM
import PatchMedia

/// Four values of 16 bits a pixel, to packed pixels, by the instructions that x86 has for it: one cuts two vectors to
/// bytes and clamps them on the way, two rounds of unpacking put the components side by side. They work within 128 bits,
/// so that pixels come out in order only when the lanes hold them in the right one: `laneOrder`, in which reads put them.
extension PassEmitter {
    /// Which column each lane holds; nil where lanes are in order, or nothing is gained.
    static func laneOrder(
        _ description: PassDescription, _ roots: PassRoots, isPacked: Bool, _ cpu: TargetCPU, columns: Int, rows: Int
    ) -> [Int]? {
        switch roots {
        case .conversion(.decode): break
        case .fixed where !isPacked: break
        default: return nil
        }
        let packed: Set<PixelFormat> = [.rgba, .bgra]
        let vector = 2 * cpu.lanes
        guard cpu.isX86, rows == 1, columns % (2 * vector) == 0, packed.contains(description.output.format),
            description.inputs.allSatisfy({ !packed.contains($0.format) && !$0.reversesColumns })
        else { return nil }
        return (0..<columns).map { lane in
            let (block, at) = (lane / (2 * vector) * 2 * vector, lane % (2 * vector))
            // Eight words of each 128 bits: four pixels of one stored vector, four of the next.
            let (half, group, word) = (at / vector, at % vector / 8, at % 8)
            return block + half * vector + word / 4 * (vector / 2) + 4 * group + word % 4
        }
    }

    /// Bytes in the order of columns to 16-bit lanes in `laneOrder`.
    func widened(_ bytes: LLVMValueRef) -> LLVMValueRef {
        let ordered = laneOrder.map { body.shuffle(bytes, nil, $0) } ?? bytes
        return LLVMBuildZExt(body.builder, ordered, types.vector(types.i16, lanes), "")
    }

    /// Stores values that need not be clamped, in `laneOrder`; nil is 255.
    mutating func storeInterleaved(_ values: [LLVMValueRef?]) {
        let vector = 2 * cpu.lanes
        var parts: [LLVMValueRef] = []
        for block in stride(from: 0, to: lanes, by: 2 * vector) {
            let bytes = values.map { value -> LLVMValueRef in
                guard let value else {
                    return types.splatConstant(types.int(255, types.i8), 2 * vector)
                }
                let low = body.shuffle(value, nil, Array(block..<block + vector))
                let high = body.shuffle(value, nil, Array(block + vector..<block + 2 * vector))
                return saturated(low, high)
            }
            let wordType = types.vector(types.i16, vector)
            let pairs = [false, true].map { isHigh in
                [(0, 1), (2, 3)].map { first, second in
                    LLVMBuildBitCast(
                        body.builder, unpacked(bytes[first], bytes[second], perGroup: 16, isHigh, 2 * vector), wordType,
                        "")!
                }
            }
            for pair in pairs {
                for isHigh in [false, true] {
                    parts.append(
                        LLVMBuildBitCast(
                            body.builder, unpacked(pair[0], pair[1], perGroup: 8, isHigh, vector),
                            types.vector(types.i32, vector / 2), ""))
                }
            }
        }
        storeRows(body.concatenated(parts, lanes: vector / 2), plane: 0, bytes: 4)
    }

    /// Signed words to bytes in 0…255, group by group of 128 bits.
    private func saturated(_ low: LLVMValueRef, _ high: LLVMValueRef) -> LLVMValueRef {
        let name =
            switch cpu.lanes {
            case 16: "llvm.x86.avx512.packuswb.512"
            case 8: "llvm.x86.avx2.packuswb"
            default: "llvm.x86.sse2.packuswb.128"
            }
        return body.call(name, overloads: [], [low, high])
    }

    /// The lower or upper halves of each 128 bits of two vectors, element by element.
    func unpacked(
        _ a: LLVMValueRef, _ b: LLVMValueRef, perGroup: Int, _ isHigh: Bool, _ count: Int
    ) -> LLVMValueRef {
        body.shuffle(
            a, b,
            (0..<count).map { lane in
                let (group, at) = (lane / perGroup * perGroup, lane % perGroup)
                return group + (isHigh ? perGroup / 2 : 0) + at / 2 + (at % 2) * count
            })
    }
}
