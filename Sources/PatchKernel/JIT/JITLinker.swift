internal import CLLVM
import PatchMedia

/// The process's one code loader: links objects into memory and unloads them.
///
/// Thread-safety: all members may be called from any thread.
final class JITLinker: @unchecked Sendable {
    // Unchecked: LLVM's execution session locks itself; our table is behind a mutex.

    typealias EntryPoint = @convention(c) (UnsafeMutableRawPointer) -> Void
    struct Code {
        var prepare: EntryPoint
        var span: EntryPoint
    }

    private struct Loaded {
        var code: Code
        var tracker: LLVMOrcResourceTrackerRef
        var users: Int
    }

    private let jit: LLVMOrcLLJITRef
    private let loaded = Monitor<[String: Loaded]>([:])

    /// The loader, or why there is none.
    static let shared: Result<JITLinker, KernelError> = {
        do throws(KernelError) { return .success(try JITLinker()) } catch { return .failure(error) }
    }()

    private init() throws(KernelError) {
        LLVMHost.initialize()
        var jit: LLVMOrcLLJITRef?
        try Self.check(LLVMOrcCreateLLJIT(&jit, nil), "cannot start the code loader")
        guard let jit else { throw KernelError(.compiler, "cannot start the code loader") }
        self.jit = jit
    }

    static func check(_ error: LLVMErrorRef?, _ what: String) throws(KernelError) {
        guard let error else { return }
        let text = LLVMGetErrorMessage(error)
        defer { LLVMDisposeErrorMessage(text) }
        throw KernelError(.compiler, "\(what): \(text.map { String(cString: $0) } ?? "unknown error")")
    }

    /// Links objects whose entry points are `patchbay_prepare_NAME` and `patchbay_span_NAME`. Each load of a name
    /// needs one `unload`; loading a name again shares the code.
    func load(name: String, objects: [[UInt8]]) throws(KernelError) -> Code {
        // Held across the link: links of different passes are rare and short, and LLVM serialises them anyway.
        let result: Result<Code, KernelError> = loaded.withLock { table in
            if let known = table[name] {
                table[name]?.users += 1
                return .success(known.code)
            }
            do throws(KernelError) {
                let entry = try link(name: name, objects: objects)
                table[name] = entry
                return .success(entry.code)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Links an object that stays for the life of the process.
    /// - Returns: the addresses of its symbols.
    func keep(object: [UInt8], symbols: [String]) throws(KernelError) -> [UnsafeRawPointer] {
        let result: Result<[UnsafeRawPointer], KernelError> = loaded.withLock { _ in
            let buffer = object.withUnsafeBytes {
                LLVMCreateMemoryBufferWithMemoryRangeCopy(
                    $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, "rows")
            }
            guard let buffer else { return .failure(KernelError(.compiler, "cannot load machine code: out of memory")) }
            do throws(KernelError) {
                try Self.check(
                    LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer),
                    "cannot load machine code")
                var addresses: [UnsafeRawPointer] = []
                for symbol in symbols { addresses.append(try pointer(symbol)) }
                return .success(addresses)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func link(name: String, objects: [[UInt8]]) throws(KernelError) -> Loaded {
        let dylib = LLVMOrcLLJITGetMainJITDylib(jit)
        guard let tracker = LLVMOrcJITDylibCreateResourceTracker(dylib) else {
            throw KernelError(.compiler, "cannot load machine code: out of memory")
        }
        do throws(KernelError) {
            for object in objects {
                let buffer = object.withUnsafeBytes {
                    LLVMCreateMemoryBufferWithMemoryRangeCopy(
                        $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, name)
                }
                guard let buffer else { throw KernelError(.compiler, "cannot load machine code: out of memory") }
                try Self.check(LLVMOrcLLJITAddObjectFileWithRT(jit, tracker, buffer), "cannot load machine code")
            }
            let prepare = try address("patchbay_prepare_\(name)")
            let span = try address("patchbay_span_\(name)")
            return Loaded(code: Code(prepare: prepare, span: span), tracker: tracker, users: 1)
        } catch {
            remove(tracker)
            throw error
        }
    }

    private func address(_ symbol: String) throws(KernelError) -> EntryPoint {
        unsafeBitCast(try pointer(symbol), to: EntryPoint.self)
    }

    private func pointer(_ symbol: String) throws(KernelError) -> UnsafeRawPointer {
        var address: LLVMOrcExecutorAddress = 0
        try Self.check(LLVMOrcLLJITLookup(jit, &address, symbol), "cannot link machine code")
        guard let pointer = UnsafeRawPointer(bitPattern: UInt(address)) else {
            throw KernelError(.compiler, "machine code has no '\(symbol)'")
        }
        return pointer
    }

    /// Frees the code when its last user is gone.
    func unload(name: String) {
        loaded.withLock { table in
            guard var entry = table[name] else { return }
            entry.users -= 1
            table[name] = entry.users > 0 ? entry : nil
            if entry.users == 0 { remove(entry.tracker) }
        }
    }

    private func remove(_ tracker: LLVMOrcResourceTrackerRef) {
        if let error = LLVMOrcResourceTrackerRemove(tracker) { LLVMConsumeError(error) }
        LLVMOrcReleaseResourceTracker(tracker)
        LLVMOrcSymbolStringPoolClearDeadEntries(
            LLVMOrcExecutionSessionGetSymbolStringPool(LLVMOrcLLJITGetExecutionSession(jit)))
    }

    /// Objects in memory now.
    var count: Int { loaded.withLock { $0.count } }
}

/// Process-wide facts about LLVM.
enum LLVMHost {
    static let version: String = {
        var (major, minor, patch): (UInt32, UInt32, UInt32) = (0, 0, 0)
        LLVMGetVersion(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }()

    private static let once: Bool = {
        LLVMInitializeNativeTarget()
        LLVMInitializeNativeAsmPrinter()
        return true
    }()

    static func initialize() { _ = once }

    private static let allTargets: Bool = {
        LLVMInitializeAArch64TargetInfo()
        LLVMInitializeAArch64Target()
        LLVMInitializeAArch64TargetMC()
        LLVMInitializeAArch64AsmPrinter()
        return true
    }()

    /// Makes targets known besides this machine's: 64-bit ARM.
    static func initializeAllTargets() { _ = allTargets }
}
