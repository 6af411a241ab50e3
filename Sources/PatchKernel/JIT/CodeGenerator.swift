internal import CLLVM
import PatchMedia

/// Everything the driver needs to run a pass's machine code, besides the code.
struct PassCode {
    var layout: PassLayout
    var hoistedCount: Int
    var arithmetic: Arithmetic
    var object: [UInt8]
}

/// Makes machine code of pass descriptions.
enum CodeGenerator {
    /// - Throws: `KernelError` of code `unsupported`, `budget` or `compiler`.
    static func generate(
        _ description: PassDescription, name: String, cpu: TargetCPU, budget: Int, pipeline: String
    ) throws(KernelError) -> PassCode {
        let lowering = try PassLowering(description, cpu: cpu)
        guard lowering.p.nodes.count <= budget else {
            throw KernelError(
                .budget,
                "'\(description.kernel.name)' comes to \(lowering.p.nodes.count) operations; \(budget) are the limit",
                remedy: "shorten the Lua loops that unroll, or split the filter into passes")
        }
        var emitted: (layout: PassLayout, hoistedCount: Int)?
        let object = try object(of: "'\(description.kernel.name)'", cpu: cpu, pipeline: pipeline) { types, module in
            var emitter = PassEmitter(description, lowering: lowering, cpu: cpu, types: types, module: module)
            defer { emitter.dispose() }
            emitter.emit()
            for function in ["prepare", "span"] {
                if let value = LLVMGetNamedFunction(module, "patchbay_\(function)") {
                    let symbol = "patchbay_\(function)_\(name)"
                    LLVMSetValueName2(value, symbol, symbol.utf8.count)
                }
            }
            emitted = (emitter.layout, emitter.hoisted.count)
        }
        guard let emitted else { throw KernelError(.compiler, "LLVM: out of memory") }
        return PassCode(
            layout: emitted.layout, hoistedCount: emitted.hoistedCount, arithmetic: lowering.arithmetic, object: object)
    }

    /// The object file of a module that `emit` fills.
    /// - Parameter subject: what is compiled, for messages.
    /// - Throws: `KernelError` of code `compiler`.
    static func object(
        of subject: String, cpu: TargetCPU, pipeline: String, _ emit: (LLVMTypes, LLVMModuleRef) -> Void
    ) throws(KernelError) -> [UInt8] {
        LLVMHost.initialize()
        guard let context = LLVMContextCreate() else { throw KernelError(.compiler, "LLVM: out of memory") }
        defer { LLVMContextDispose(context) }
        let problems = DiagnosticSink()
        // The handler runs only inside calls below, while `problems` is alive.
        LLVMContextSetDiagnosticHandler(
            context,
            { @Sendable info, sink in
                guard let info, let sink, LLVMGetDiagInfoSeverity(info) == LLVMDSError else { return }
                let text = LLVMGetDiagInfoDescription(info)
                let message = text.map { String(cString: $0) } ?? "unknown error"
                Unmanaged<DiagnosticSink>.fromOpaque(sink).takeUnretainedValue().first = message
                LLVMDisposeMessage(text)
            }, Unmanaged.passUnretained(problems).toOpaque())
        guard let module = LLVMModuleCreateWithNameInContext("pass", context) else {
            throw KernelError(.compiler, "LLVM: out of memory")
        }
        defer { LLVMDisposeModule(module) }
        let machine = try targetMachine(cpu)
        defer { LLVMDisposeTargetMachine(machine) }
        let triple = LLVMGetTargetMachineTriple(machine)
        defer { LLVMDisposeMessage(triple) }
        LLVMSetTarget(module, triple)
        let dataLayout = LLVMCreateTargetDataLayout(machine)
        LLVMSetModuleDataLayout(module, dataLayout)
        LLVMDisposeTargetData(dataLayout)

        emit(LLVMTypes(context), module)
        var message: UnsafeMutablePointer<CChar>?
        if LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0 {
            let text = message.map { String(cString: $0) } ?? ""
            LLVMDisposeMessage(message)
            throw KernelError(.compiler, "\(subject) gave invalid code: \(text)")
        }
        LLVMDisposeMessage(message)
        if !pipeline.isEmpty {
            let options = LLVMCreatePassBuilderOptions()
            defer { LLVMDisposePassBuilderOptions(options) }
            try JITLinker.check(LLVMRunPasses(module, pipeline, machine, options), "LLVM's passes failed")
        }
        var buffer: LLVMMemoryBufferRef?
        var error: UnsafeMutablePointer<CChar>?
        if LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &error, &buffer) != 0 {
            let text = error.map { String(cString: $0) } ?? ""
            LLVMDisposeMessage(error)
            throw KernelError(.compiler, "LLVM cannot make code of \(subject): \(text)")
        }
        guard let buffer else { throw KernelError(.compiler, "LLVM made no code") }
        defer { LLVMDisposeMemoryBuffer(buffer) }
        if let problem = problems.first { throw KernelError(.compiler, "LLVM: \(problem)") }
        let bytes = UnsafeRawBufferPointer(start: LLVMGetBufferStart(buffer), count: LLVMGetBufferSize(buffer))
        return [UInt8](bytes)
    }

    private static func targetMachine(_ cpu: TargetCPU) throws(KernelError) -> LLVMTargetMachineRef {
        if cpu.triple != nil { LLVMHost.initializeAllTargets() }
        let native = LLVMGetDefaultTargetTriple()
        defer { LLVMDisposeMessage(native) }
        let triple = cpu.triple ?? native.map { String(cString: $0) } ?? ""
        var target: LLVMTargetRef?
        var error: UnsafeMutablePointer<CChar>?
        if LLVMGetTargetFromTriple(triple, &target, &error) != 0 {
            let text = error.map { String(cString: $0) } ?? ""
            LLVMDisposeMessage(error)
            throw KernelError(.compiler, "LLVM has no target for this processor: \(text)")
        }
        guard
            let machine = LLVMCreateTargetMachine(
                target, triple, cpu.name, cpu.features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall)
        else { throw KernelError(.compiler, "LLVM cannot target '\(cpu.name)'") }
        return machine
    }

    private final class DiagnosticSink {
        var first: String?
    }
}
