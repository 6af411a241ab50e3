internal import CLLVM

extension PassEmitter {
    /// Computes the selections of a branch: the side that counts, and no other.
    mutating func emitBranch(_ branch: ChunkBranches.Branch) {
        for index in branch.outside { _ = vector(S(index: index)) }
        guard branch.isUniform else { return emitDearSide(branch) }
        let condition = scalar(branch.condition)
        let function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(body.builder))
        func block(_ name: String) -> LLVMBasicBlockRef {
            LLVMAppendBasicBlockInContext(types.context, function, name)
        }
        let (sides, after) = ([block("holds"), block("fails")], block("after"))
        LLVMBuildCondBr(body.builder, condition, sides[0], sides[1])
        var edges: [[(LLVMValueRef, LLVMBasicBlockRef)]] = []
        for side in 0..<2 {
            body.move(to: sides[side])
            for index in branch.sides[side] { emitValue(index) }
            let values = branch.selections.map { vector(program.nodes[$0].arguments[1 + side]) }
            let end = LLVMGetInsertBlock(body.builder)!
            edges.append(values.map { ($0, end) })
            LLVMBuildBr(body.builder, after)
        }
        body.move(to: after)
        for (number, index) in branch.selections.enumerated() {
            let value = LLVMBuildPhi(body.builder, LLVMTypeOf(edges[0][number].0), "")!
            addIncoming(value, edges.map { $0[number] })
            vectors[index] = value
        }
    }

    /// Computes the first side where some pixel of the chunk takes it; all others have their second side by then.
    private mutating func emitDearSide(_ branch: ChunkBranches.Branch) {
        let condition = vector(branch.condition)
        let none = types.int(0, LLVMIntTypeInContext(types.context, UInt32(lanes)))
        let bits = LLVMBuildBitCast(body.builder, condition, LLVMTypeOf(none), "")!
        let isTaken = body.compareInt(LLVMIntNE, bits, none)
        let before = LLVMGetInsertBlock(body.builder)!
        let function = LLVMGetBasicBlockParent(before)
        let (taken, after) = (
            LLVMAppendBasicBlockInContext(types.context, function, "taken")!,
            LLVMAppendBasicBlockInContext(types.context, function, "after")!
        )
        let rest = branch.selections.map { vector(program.nodes[$0].arguments[2]) }
        LLVMBuildCondBr(body.builder, isTaken, taken, after)
        body.move(to: taken)
        for index in branch.sides[0] where !isRead(index) { emitValue(index) }
        let chosen = zip(branch.selections, rest).map { index, other in
            body.select(condition, vector(program.nodes[index].arguments[1]), other)
        }
        let end = LLVMGetInsertBlock(body.builder)!
        LLVMBuildBr(body.builder, after)
        body.move(to: after)
        for (number, index) in branch.selections.enumerated() {
            let value = LLVMBuildPhi(body.builder, LLVMTypeOf(chosen[number]), "")!
            addIncoming(value, [(chosen[number], end), (rest[number], before)])
            vectors[index] = value
        }
    }

    /// One of eight values of the frame for each lane.
    mutating func emitLookup(_ node: ScalarProgram.Node) -> LLVMValueRef {
        let entries = node.arguments.dropFirst()
        let name = "lookup \(entries.map(\.index))"
        let table: LLVMValueRef
        if let known = memo[name] {
            table = known
        } else {
            var values = LLVMGetUndef(types.vector(types.float, 8))!
            for (place, entry) in entries.enumerated() {
                values = LLVMBuildInsertElement(
                    self.entry.builder, values, scalar(entry), types.int(place, types.i32), "")
            }
            table = cpu.lanes == 8 ? values : entry.shuffle(values, nil, (0..<16).map { $0 % 8 })
            memo[name] = table
        }
        let index = vector(node.arguments[0])
        let width = cpu.lanes
        let parts = stride(from: 0, to: lanes, by: width).map { start in
            let part = lanes == width ? index : body.shuffle(index, nil, Array(start..<start + width))
            return body.call(
                width == 16 ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx2.permps", overloads: [], [table, part])
        }
        return body.concatenated(parts, lanes: width)
    }
}
