internal import CLLVM

/// The LLVM types that kernels use, in one context.
struct LLVMTypes {
    let context: LLVMContextRef
    let float: LLVMTypeRef
    let half: LLVMTypeRef
    let i1: LLVMTypeRef
    let i8: LLVMTypeRef
    let i16: LLVMTypeRef
    let i32: LLVMTypeRef
    let i64: LLVMTypeRef
    let pointer: LLVMTypeRef
    let void: LLVMTypeRef

    init(_ context: LLVMContextRef) {
        self.context = context
        float = LLVMFloatTypeInContext(context)
        half = LLVMHalfTypeInContext(context)
        i1 = LLVMInt1TypeInContext(context)
        i8 = LLVMInt8TypeInContext(context)
        i16 = LLVMInt16TypeInContext(context)
        i32 = LLVMInt32TypeInContext(context)
        i64 = LLVMInt64TypeInContext(context)
        pointer = LLVMPointerTypeInContext(context, 0)
        void = LLVMVoidTypeInContext(context)
    }

    func vector(_ element: LLVMTypeRef, _ count: Int) -> LLVMTypeRef { LLVMVectorType(element, UInt32(count)) }
    func int(_ value: Int, _ type: LLVMTypeRef) -> LLVMValueRef {
        LLVMConstInt(type, UInt64(bitPattern: Int64(value)), 1)
    }
    func constantVector(_ values: [LLVMValueRef]) -> LLVMValueRef {
        var values = values.map { Optional($0) }
        return LLVMConstVector(&values, UInt32(values.count))
    }
    func splatConstant(_ value: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        constantVector(Array(repeating: value, count: count))
    }
    func intVector(_ values: [Int], _ type: LLVMTypeRef) -> LLVMValueRef {
        constantVector(values.map { int($0, type) })
    }
}

/// An instruction builder at one place. Freed by `dispose`.
struct LLVMAssembler {
    let types: LLVMTypes
    let module: LLVMModuleRef
    let builder: LLVMBuilderRef

    init(_ types: LLVMTypes, _ module: LLVMModuleRef) {
        self.types = types
        self.module = module
        builder = LLVMCreateBuilderInContext(types.context)
    }

    func dispose() { LLVMDisposeBuilder(builder) }
    func move(to block: LLVMBasicBlockRef) { LLVMPositionBuilderAtEnd(builder, block) }

    /// Multiplications may fuse with additions: the one liberty that kernel arithmetic gives LLVM.
    private func contractable(_ value: LLVMValueRef) -> LLVMValueRef {
        if LLVMIsAInstruction(value) != nil {
            LLVMSetFastMathFlags(value, LLVMFastMathFlags(LLVMFastMathAllowContract))
        }
        return value
    }

    func add(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { contractable(LLVMBuildFAdd(builder, a, b, "")) }
    func sub(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { contractable(LLVMBuildFSub(builder, a, b, "")) }
    func mul(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { contractable(LLVMBuildFMul(builder, a, b, "")) }
    func div(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildFDiv(builder, a, b, "") }
    func intAdd(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildAdd(builder, a, b, "") }
    func intMul(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildMul(builder, a, b, "") }
    func and(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildAnd(builder, a, b, "") }
    func or(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildOr(builder, a, b, "") }
    func shiftLeft(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildShl(builder, a, b, "") }
    func shiftRightLogical(_ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef { LLVMBuildLShr(builder, a, b, "") }
    func compare(_ predicate: LLVMRealPredicate, _ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef {
        LLVMBuildFCmp(builder, predicate, a, b, "")
    }
    func compareInt(_ predicate: LLVMIntPredicate, _ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef {
        LLVMBuildICmp(builder, predicate, a, b, "")
    }
    func select(_ c: LLVMValueRef, _ a: LLVMValueRef, _ b: LLVMValueRef) -> LLVMValueRef {
        LLVMBuildSelect(builder, c, a, b, "")
    }

    /// Lanes of `a` followed by those of `b`, by number.
    func shuffle(_ a: LLVMValueRef, _ b: LLVMValueRef? = nil, _ lanes: [Int]) -> LLVMValueRef {
        LLVMBuildShuffleVector(
            builder, a, b ?? LLVMGetUndef(LLVMTypeOf(a)), types.intVector(lanes, types.i32), "")
    }
    /// One vector of all parts, one after another; their number is a power of two.
    func concatenated(_ parts: [LLVMValueRef], lanes: Int) -> LLVMValueRef {
        var parts = parts
        var lanes = lanes
        while parts.count > 1 {
            parts = stride(from: 0, to: parts.count, by: 2).map {
                shuffle(parts[$0], parts[$0 + 1], Array(0..<2 * lanes))
            }
            lanes *= 2
        }
        return parts[0]
    }
    func splat(_ scalar: LLVMValueRef, _ count: Int) -> LLVMValueRef {
        if LLVMIsConstant(scalar) != 0 { return types.splatConstant(scalar, count) }
        let vector = LLVMGetUndef(types.vector(LLVMTypeOf(scalar), count))
        let inserted = LLVMBuildInsertElement(builder, vector, scalar, types.int(0, types.i32), "")!
        return LLVMBuildShuffleVector(
            builder, inserted, LLVMGetUndef(LLVMTypeOf(inserted)),
            types.intVector(Array(repeating: 0, count: count), types.i32),
            "")
    }

    /// Base plus a number of bytes.
    func offset(_ base: LLVMValueRef, _ bytes: LLVMValueRef) -> LLVMValueRef {
        var index: LLVMValueRef? = bytes
        return LLVMBuildGEP2(builder, types.i8, base, &index, 1, "")
    }
    func offset(_ base: LLVMValueRef, _ bytes: Int) -> LLVMValueRef {
        bytes == 0 ? base : offset(base, types.int(bytes, types.i64))
    }
    func load(_ type: LLVMTypeRef, _ pointer: LLVMValueRef, alignment: UInt32 = 1, isInvariant: Bool = false)
        -> LLVMValueRef
    {
        let value = LLVMBuildLoad2(builder, type, pointer, "")!
        LLVMSetAlignment(value, alignment)
        if isInvariant {
            let kind = LLVMGetMDKindIDInContext(types.context, "invariant.load", 14)
            LLVMSetMetadata(
                value, kind, LLVMMetadataAsValue(types.context, LLVMMDNodeInContext2(types.context, nil, 0)))
        }
        return value
    }
    func store(_ value: LLVMValueRef, _ pointer: LLVMValueRef, alignment: UInt32 = 1) {
        LLVMSetAlignment(LLVMBuildStore(builder, value, pointer), alignment)
    }

    /// An intrinsic overloaded on the types given.
    func call(_ intrinsic: String, overloads: [LLVMTypeRef], _ arguments: [LLVMValueRef]) -> LLVMValueRef {
        let id = LLVMLookupIntrinsicID(intrinsic, intrinsic.utf8.count)
        var overloads = overloads.map { Optional($0) }
        let function = LLVMGetIntrinsicDeclaration(module, id, &overloads, overloads.count)!
        var arguments = arguments.map { Optional($0) }
        return LLVMBuildCall2(
            builder, LLVMGlobalGetValueType(function), function, &arguments, UInt32(arguments.count), "")
    }
}
