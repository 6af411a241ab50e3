internal import CLLVM

/// Half floats, as 16-bit integers, to floats and back.
extension LLVMAssembler {
    func halfToFloat(_ bits: LLVMValueRef, _ count: Int, _ cpu: TargetCPU) -> LLVMValueRef {
        let floats = types.vector(types.float, count)
        if cpu.hasHalf {
            let halves = LLVMBuildBitCast(builder, bits, types.vector(types.half, count), "")!
            return LLVMBuildFPExt(builder, halves, floats, "")
        }
        // Without F16C: shift the exponent into place and rescale; infinities and NaN keep their exponent.
        let words = types.vector(types.i32, count)
        let wide = LLVMBuildZExt(builder, bits, words, "")!
        func splat(_ value: Int) -> LLVMValueRef { types.splatConstant(types.int(value, types.i32), count) }
        let magnitude = shiftLeft(and(wide, splat(0x7fff)), splat(13))
        let sign = shiftLeft(and(wide, splat(0x8000)), splat(16))
        let float = LLVMBuildBitCast(builder, magnitude, floats, "")!
        let scaled = LLVMBuildFMul(builder, float, splatFloat(0x1p112, count), "")!
        let scaledBits = LLVMBuildBitCast(builder, scaled, words, "")!
        let isSpecial = compareInt(LLVMIntUGE, magnitude, splat(0x7c00 << 13))
        let special = or(magnitude, splat(0x7f80_0000))
        let result = or(select(isSpecial, special, scaledBits), sign)
        return LLVMBuildBitCast(builder, result, floats, "")
    }

    /// Finite floats below 65520 to half bits, to nearest even.
    func floatToHalf(_ value: LLVMValueRef, _ count: Int, _ cpu: TargetCPU) -> LLVMValueRef {
        let shorts = types.vector(types.i16, count)
        if cpu.hasHalf {
            let halves = LLVMBuildFPTrunc(builder, value, types.vector(types.half, count), "")!
            return LLVMBuildBitCast(builder, halves, shorts, "")
        }
        let (floats, words) = (types.vector(types.float, count), types.vector(types.i32, count))
        func splat(_ value: Int) -> LLVMValueRef { types.splatConstant(types.int(value, types.i32), count) }
        let bits = LLVMBuildBitCast(builder, value, words, "")!
        let sign = and(shiftRightLogical(bits, splat(16)), splat(0x8000))
        let magnitude = and(bits, splat(0x7fff_ffff))
        // Normal halves: rebias, then round half to even by adding just under half plus the last kept bit.
        let lastBit = and(shiftRightLogical(magnitude, splat(13)), splat(1))
        let rebiased = intAdd(intAdd(magnitude, splat(0xfff - (112 << 23))), lastBit)
        let normal = shiftRightLogical(rebiased, splat(13))
        // Subnormal halves: let the float unit round, by adding a number whose last bit is worth 2^-24.
        let float = LLVMBuildBitCast(builder, magnitude, floats, "")!
        let shifted = LLVMBuildFAdd(builder, float, splatFloat(0.5, count), "")!
        let shiftedBits = LLVMBuildBitCast(builder, shifted, words, "")!
        let subnormal = LLVMBuildSub(builder, shiftedBits, splat(0x3f00_0000), "")!
        let isSubnormal = compareInt(LLVMIntULT, magnitude, splat(113 << 23))
        let result = or(select(isSubnormal, subnormal, normal), sign)
        return LLVMBuildTrunc(builder, result, shorts, "")
    }

    func splatFloat(_ value: Double, _ count: Int) -> LLVMValueRef {
        types.splatConstant(LLVMConstReal(types.float, value), count)
    }
}
