internal import CLLVM
import PatchMedia

/// Everything the driver needs to run a pass's machine code, besides the code.
struct PassCode {
    var layout: PassLayout
    var hoistedCount: Int
    var arithmetic: Arithmetic
    /// Object files: of what runs for every chunk, and of what runs once a band.
    var objects: [[UInt8]]
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
        // What runs once a band takes an eighth of the time where there are powers: another thread makes it meanwhile.
        let preparing = try CompileThread.start {
            part(.prepare, of: description, lowering, name: name, cpu: cpu, pipeline: pipeline)
        }
        let span = try part(.span, of: description, lowering, name: name, cpu: cpu, pipeline: pipeline).get()
        let prepare = try preparing.get()
        return PassCode(
            layout: span.layout, hoistedCount: span.hoistedCount, arithmetic: lowering.arithmetic,
            objects: [span.object, prepare.object])
    }

    private struct Part {
        var object: [UInt8]
        var layout: PassLayout
        var hoistedCount: Int
    }

    private static func part(
        _ part: PassEmitter.Part, of description: PassDescription, _ lowering: PassLowering, name: String,
        cpu: TargetCPU, pipeline: String
    ) -> Result<Part, KernelError> {
        var emitted: (layout: PassLayout, hoistedCount: Int)?
        // What runs once a band is long where there are powers, and quick whatever code is made of it.
        let effort = part == .prepare && cpu.isX86 ? Effort.none : .thorough
        do throws(KernelError) {
            let object = try object(
                of: "'\(description.kernel.name)'", cpu: cpu, pipeline: pipeline, effort
            ) { types, module in
                var emitter = PassEmitter(description, lowering: lowering, cpu: cpu, types: types, module: module)
                defer { emitter.dispose() }
                emitter.emit(part, symbol: "patchbay_\(part.rawValue)_\(name)")
                emitted = (emitter.layout, emitter.hoisted.count)
            }
            guard let emitted else { throw KernelError(.compiler, "LLVM: out of memory") }
            return .success(Part(object: object, layout: emitted.layout, hoistedCount: emitted.hoistedCount))
        } catch {
            return .failure(error)
        }
    }

    /// How much LLVM does for good code.
    enum Effort {
        /// Instruction by instruction, no value in a register for longer than its block.
        case none
        /// Its level 1: what level 2 adds, another schedule after registers are given out, changes nothing on processors that
        /// look ahead, for a fifth of the time.
        case thorough
    }

    /// The object file of a module that `emit` fills.
    /// - Parameter subject: what is compiled, for messages.
    /// - Throws: `KernelError` of code `compiler`.
    static func object(
        of subject: String, cpu: TargetCPU, pipeline: String, _ effort: Effort = .thorough,
        _ emit: (LLVMTypes, LLVMModuleRef) -> Void
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
        emit(LLVMTypes(context), module)
        let object = try object(of: module, subject, cpu, effort, pipeline)
        if let problem = problems.first { throw KernelError(.compiler, "LLVM: \(problem)") }
        return object
    }

    private static func object(
        of module: LLVMModuleRef, _ subject: String, _ cpu: TargetCPU, _ effort: Effort, _ pipeline: String
    ) throws(KernelError) -> [UInt8] {
        let machine = try targetMachine(cpu, effort)
        defer { LLVMDisposeTargetMachine(machine) }
        let triple = LLVMGetTargetMachineTriple(machine)
        defer { LLVMDisposeMessage(triple) }
        LLVMSetTarget(module, triple)
        let dataLayout = LLVMCreateTargetDataLayout(machine)
        LLVMSetModuleDataLayout(module, dataLayout)
        LLVMDisposeTargetData(dataLayout)
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
        let bytes = UnsafeRawBufferPointer(start: LLVMGetBufferStart(buffer), count: LLVMGetBufferSize(buffer))
        return [UInt8](bytes)
    }

    private static func targetMachine(_ cpu: TargetCPU, _ effort: Effort) throws(KernelError) -> LLVMTargetMachineRef {
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
                target, triple, cpu.name, cpu.features,
                effort == .none ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess, LLVMRelocPIC, LLVMCodeModelSmall)
        else { throw KernelError(.compiler, "LLVM cannot target '\(cpu.name)'") }
        return machine
    }

    private final class DiagnosticSink {
        var first: String?
    }
}
