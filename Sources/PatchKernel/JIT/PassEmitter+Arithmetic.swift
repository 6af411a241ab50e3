internal import CLLVM

extension PassEmitter {
    /// One operation on machine values of `lanes` lanes.
    func arithmetic(
        _ operation: ScalarProgram.Operation, _ a: [LLVMValueRef], _ asm: LLVMAssembler, lanes: Int
    ) -> LLVMValueRef {
        switch operation {
        case .add: return asm.add(a[0], a[1])
        case .sub: return asm.sub(a[0], a[1])
        case .mul: return asm.mul(a[0], a[1])
        case .div: return asm.div(a[0], a[1])
        case .min: return asm.select(asm.compare(LLVMRealOLT, a[0], a[1]), a[0], a[1])
        case .max: return asm.select(asm.compare(LLVMRealOGT, a[0], a[1]), a[0], a[1])
        case .lessThan: return asm.compare(LLVMRealOLT, a[0], a[1])
        case .lessEqual: return asm.compare(LLVMRealOLE, a[0], a[1])
        case .equal: return asm.compare(LLVMRealOEQ, a[0], a[1])
        case .fma:
            if cpu.hasFMA { return asm.call("llvm.fma", overloads: [LLVMTypeOf(a[0])], a) }
            return asm.add(asm.mul(a[0], a[1]), a[2])
        case .scale: return scaled(a[0], a[1], asm, lanes)
        case .sqrt:
            if cpu.hasScaling, lanes % 16 == 0 { return inParts(a, 16, asm, lanes) { squareRoot($0[0], asm) } }
            return asm.call("llvm.sqrt", overloads: [LLVMTypeOf(a[0])], a)
        case .rootEstimate: return rootEstimate(a[0], asm, lanes)
        case .inverseRootEstimate: return inverseRootEstimate(a[0], asm, lanes)
        case .abs: return asm.call("llvm.fabs", overloads: [LLVMTypeOf(a[0])], a)
        case .neg: return LLVMBuildFNeg(asm.builder, a[0], "")
        case .floor: return rounding("llvm.floor", a[0], asm, lanes)
        case .ceil: return rounding("llvm.ceil", a[0], asm, lanes)
        case .trunc: return rounding("llvm.trunc", a[0], asm, lanes)
        case .roundEven: return rounding("llvm.nearbyint", a[0], asm, lanes)
        case .intAdd: return asm.intAdd(a[0], a[1])
        case .intSub: return LLVMBuildSub(asm.builder, a[0], a[1], "")
        case .intMul: return asm.intMul(a[0], a[1])
        case .intDiv: return integerDivision(a[0], a[1], asm, lanes)
        case .intMin: return asm.select(asm.compareInt(LLVMIntSLT, a[0], a[1]), a[0], a[1])
        case .intMax: return asm.select(asm.compareInt(LLVMIntSGT, a[0], a[1]), a[0], a[1])
        case .intLess: return asm.compareInt(LLVMIntSLT, a[0], a[1])
        case .intLessEqual: return asm.compareInt(LLVMIntSLE, a[0], a[1])
        case .intEqual: return asm.compareInt(LLVMIntEQ, a[0], a[1])
        case .intAnd, .and: return asm.and(a[0], a[1])
        case .intOr, .or: return asm.or(a[0], a[1])
        case .intXor: return LLVMBuildXor(asm.builder, a[0], a[1], "")
        case .shiftLeft: return asm.shiftLeft(a[0], a[1])
        case .shiftRight: return LLVMBuildAShr(asm.builder, a[0], a[1], "")
        case .shiftRightLogical: return asm.shiftRightLogical(a[0], a[1])
        case .not: return LLVMBuildNot(asm.builder, a[0], "")
        case .select: return asm.select(a[0], a[1], a[2])
        case .toFloat: return LLVMBuildSIToFP(asm.builder, a[0], type(types.float, lanes), "")
        case .toInt: return LLVMBuildFPToSI(asm.builder, a[0], type(types.i32, lanes), "")
        case .floatBits: return LLVMBuildBitCast(asm.builder, a[0], type(types.i32, lanes), "")
        case .bitsFloat: return LLVMBuildBitCast(asm.builder, a[0], type(types.float, lanes), "")
        case .float, .int, .bool, .uniform, .column, .row, .outputWidth, .outputHeight, .inputWidth, .inputHeight,
            .pictureWidth, .pictureHeight, .time, .frame, .load, .lookup, .dither, .gather, .loopParameter, .loop,
            .loopResult:
            preconditionFailure("not an arithmetic operation")
        }
    }

    func type(_ element: LLVMTypeRef, _ lanes: Int) -> LLVMTypeRef {
        lanes == 1 ? element : types.vector(element, lanes)
    }

    func constant(_ value: Float, _ lanes: Int) -> LLVMValueRef {
        let scalar = LLVMConstReal(types.float, Double(value))!
        return lanes == 1 ? scalar : types.splatConstant(scalar, lanes)
    }

    /// AVX-512's scalef, sixteen lanes at a time.
    private func scaled(_ x: LLVMValueRef, _ power: LLVMValueRef, _ asm: LLVMAssembler, _ lanes: Int) -> LLVMValueRef {
        func scale(_ x: LLVMValueRef, _ power: LLVMValueRef) -> LLVMValueRef {
            asm.call(
                "llvm.x86.avx512.mask.scalef.ps.512", overloads: [],
                [x, power, LLVMConstNull(LLVMTypeOf(x)), types.int(-1, types.i16), types.int(4, types.i32)])
        }
        if lanes == 1 {
            let result = scale(asm.splat(x, 16), asm.splat(power, 16))
            return LLVMBuildExtractElement(asm.builder, result, types.int(0, types.i32), "")
        }
        var parts = stride(from: 0, to: lanes, by: 16).map { start -> LLVMValueRef in
            let indices = Array(start..<start + 16)
            return scale(asm.shuffle(x, nil, indices), asm.shuffle(power, nil, indices))
        }
        var width = 16
        while parts.count > 1 {
            parts = stride(from: 0, to: parts.count, by: 2).map {
                asm.concatenated(Array(parts[$0..<$0 + 2]), lanes: width)
            }
            width *= 2
        }
        return parts[0]
    }

    /// SSE2 has no rounding instruction, and LLVM would call libm, which kernels never do.
    private func rounding(_ name: String, _ x: LLVMValueRef, _ asm: LLVMAssembler, _ lanes: Int) -> LLVMValueRef {
        if cpu.hasRounding { return asm.call(name, overloads: [LLVMTypeOf(x)], [x]) }
        let magnitude = asm.call("llvm.fabs", overloads: [LLVMTypeOf(x)], [x])
        let isSmall = asm.compare(LLVMRealOLT, magnitude, constant(8_388_608, lanes))
        let safe = asm.select(isSmall, x, constant(0, lanes))
        let result: LLVMValueRef
        if name == "llvm.nearbyint" {
            let sign = asm.call("llvm.copysign", overloads: [LLVMTypeOf(x)], [constant(8_388_608, lanes), safe])
            let shifted = LLVMBuildFAdd(asm.builder, safe, sign, "")!
            result = LLVMBuildFSub(asm.builder, shifted, sign, "")
        } else {
            let whole = LLVMBuildFPToSI(asm.builder, safe, type(types.i32, lanes), "")!
            let truncated = LLVMBuildSIToFP(asm.builder, whole, type(types.float, lanes), "")!
            let one = constant(1, lanes)
            switch name {
            case "llvm.floor":
                let isAbove = asm.compare(LLVMRealOGT, truncated, safe)
                result = asm.select(isAbove, LLVMBuildFSub(asm.builder, truncated, one, ""), truncated)
            case "llvm.ceil":
                let isBelow = asm.compare(LLVMRealOLT, truncated, safe)
                result = asm.select(isBelow, LLVMBuildFAdd(asm.builder, truncated, one, ""), truncated)
            default: result = truncated
            }
        }
        return asm.select(isSmall, result, x)
    }

    /// Division by 0 gives 0, by −1 the wrapped negation: LLVM leaves both undefined.
    private func integerDivision(_ x: LLVMValueRef, _ y: LLVMValueRef, _ asm: LLVMAssembler, _ lanes: Int)
        -> LLVMValueRef
    {
        func constant(_ value: Int) -> LLVMValueRef {
            let scalar = types.int(value, types.i32)
            return lanes == 1 ? scalar : types.splatConstant(scalar, lanes)
        }
        let isZero = asm.compareInt(LLVMIntEQ, y, constant(0))
        let isMinusOne = asm.compareInt(LLVMIntEQ, y, constant(-1))
        let safe = asm.select(asm.or(isZero, isMinusOne), constant(1), y)
        let quotient = LLVMBuildSDiv(asm.builder, x, safe, "")!
        let negated = LLVMBuildSub(asm.builder, constant(0), x, "")!
        return asm.select(isZero, constant(0), asm.select(isMinusOne, negated, quotient))
    }

    // MARK: Machine instructions by name

    /// Applies `body` to `part` lanes at a time.
    private func inParts(
        _ arguments: [LLVMValueRef], _ part: Int, _ asm: LLVMAssembler, _ lanes: Int,
        _ body: ([LLVMValueRef]) -> LLVMValueRef
    ) -> LLVMValueRef {
        let parts = stride(from: 0, to: lanes, by: part).map { first in
            body(lanes == part ? arguments : arguments.map { asm.shuffle($0, nil, Array(first..<first + part)) })
        }
        return asm.concatenated(parts, lanes: part)
    }

    private func all16(_ asm: LLVMAssembler) -> LLVMValueRef {
        types.int(-1, LLVMInt16TypeInContext(types.context))
    }

    private func fma(_ a: LLVMValueRef, _ b: LLVMValueRef, _ c: LLVMValueRef, _ asm: LLVMAssembler) -> LLVMValueRef {
        asm.call("llvm.fma", overloads: [LLVMTypeOf(a)], [a, b, c])
    }

    /// The 14-bit estimate of 1/√x and one Newton step, within 2 ulp; the machine's own square root takes four times
    /// as long. Where the estimate is 0 or infinite (of infinity, of 0 and what is below 2^−126) nothing comes out; such
    /// a number counts as its own root.
    private func squareRoot(_ x: LLVMValueRef, _ asm: LLVMAssembler) -> LLVMValueRef {
        let estimate = asm.call("llvm.x86.avx512.rsqrt14.ps.512", overloads: [], [x, constant(0, 16), all16(asm)])
        let root = LLVMBuildFMul(asm.builder, x, estimate, "")!
        let rest = fma(LLVMBuildFNeg(asm.builder, root, ""), root, x, asm)
        let half = LLVMBuildFMul(asm.builder, estimate, constant(0.5, 16), "")!
        let better = fma(rest, half, root, asm)
        return asm.select(asm.compare(LLVMRealUNO, better, better), x, better)
    }

    /// x / √x, by the machine's estimate of 1/√x.
    private func rootEstimate(_ x: LLVMValueRef, _ asm: LLVMAssembler, _ lanes: Int) -> LLVMValueRef {
        guard cpu.isX86, lanes % cpu.lanes == 0 else {
            return asm.call("llvm.sqrt", overloads: [LLVMTypeOf(x)], [x])
        }
        return asm.mul(x, inverseRootEstimate(x, asm, lanes))
    }

    /// The machine's estimate of 1/√x (12 bits; 14 with AVX-512), in whole vectors.
    private func inverseRootEstimate(_ x: LLVMValueRef, _ asm: LLVMAssembler, _ lanes: Int) -> LLVMValueRef {
        inParts([x], cpu.lanes, asm, lanes) { part in
            switch cpu.lanes {
            case 16:
                asm.call(
                    "llvm.x86.avx512.rsqrt14.ps.512", overloads: [], [part[0], constant(0, 16), all16(asm)])
            case 8: asm.call("llvm.x86.avx.rsqrt.ps.256", overloads: [], part)
            default: asm.call("llvm.x86.sse.rsqrt.ps", overloads: [], part)
            }
        }
    }
}
