internal import CLLVM

extension ScalarProgram {
    var loopStructure: LoopStructure {
        LoopStructure(
            count: nodes.count,
            role: { index in
                switch nodes[index].operation {
                case .loopParameter(let loop, _): .parameter(loop)
                case .loop(let loop, _, _): .loop(loop)
                default: .value
                }
            }, arguments: { nodes[$0].arguments.map(\.index) })
    }
}

extension PassEmitter {
    /// A loop over all lanes: lanes whose condition failed keep their values, and the loop ends when none goes on.
    /// The value is the loop's own and means nothing; its results are in `loopValues`.
    mutating func emitLoop(_ index: Int, _ loop: Int, _ limit: Int, _ carried: Int) -> LLVMValueRef {
        let arguments = program.nodes[index].arguments
        let initial = arguments[..<carried].map { vector($0) }
        let before = LLVMGetInsertBlock(body.builder)!
        let function = LLVMGetBasicBlockParent(before)
        let iterate = LLVMAppendBasicBlockInContext(types.context, function, "loop")!
        let after = LLVMAppendBasicBlockInContext(types.context, function, "after")!
        LLVMBuildBr(body.builder, iterate)
        body.move(to: iterate)

        let maskType = types.vector(types.i1, lanes)
        let counter = LLVMBuildPhi(body.builder, types.i32, "")!
        let active = LLVMBuildPhi(body.builder, maskType, "")!
        let phis = initial.map { LLVMBuildPhi(body.builder, LLVMTypeOf($0), "")! }
        for value in loops.bodies[loop] ?? [] {
            if case .loopParameter(_, let parameter) = program.nodes[value].operation, isLive[value] {
                vectors[value] = parameter < 0 ? body.splat(counter, lanes) : phis[parameter]
            }
        }
        for value in loops.bodies[loop] ?? [] where isLive[value] && vectors[value] == nil { emitValue(value) }

        let goesOn = body.and(active, vector(arguments[carried]))
        var results: [LLVMValueRef] = []
        for i in 0..<carried { results.append(body.select(goesOn, vector(arguments[carried + 1 + i]), phis[i])) }
        let next = body.intAdd(counter, types.int(1, types.i32))
        let bits = LLVMBuildBitCast(
            body.builder, goesOn, LLVMIntTypeInContext(types.context, UInt32(lanes)), "")!
        let isAny = body.compareInt(LLVMIntNE, bits, LLVMConstInt(LLVMTypeOf(bits), 0, 0))
        let isWithin = body.compareInt(LLVMIntSLT, next, types.int(limit, types.i32))
        let last = LLVMGetInsertBlock(body.builder)!
        LLVMBuildCondBr(body.builder, body.and(isAny, isWithin), iterate, after)

        let allActive = types.splatConstant(types.int(1, types.i1), lanes)
        addIncoming(counter, [(types.int(0, types.i32), before), (next, last)])
        addIncoming(active, [(allActive, before), (goesOn, last)])
        for i in phis.indices { addIncoming(phis[i], [(initial[i], before), (results[i], last)]) }
        body.move(to: after)
        loopValues[index] = results
        return goesOn
    }

    func loopResult(_ node: ScalarProgram.Node, _ index: Int) -> LLVMValueRef {
        guard let values = loopValues[node.arguments[0].index] else {
            preconditionFailure("a loop's result before its loop")
        }
        return values[index]
    }
}
