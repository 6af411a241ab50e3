import PatchMedia
import Synchronization

/// How passes are compiled.
///
/// Thread-safety: a value.
public struct CompilerOptions: Hashable, Sendable {
    /// Where machine code is kept between runs of the program; nil keeps none.
    public var cacheDirectory: String?
    /// Scalar operations that a pass may have at most.
    public var instructionBudget: Int
    /// LLVM's name of the processor to compile for; nil is this machine. For tests. `compile` refuses a level of x86-64
    /// that this machine cannot run; `object` makes code for any.
    public var processor: String?
    /// Bits of a machine vector: 128, 256 or 512, at most what the processor has, which nil takes. For tests and measurements.
    public var vectorBits: Int?
    /// Machine vectors that one value spans: 1, 2 or 4; nil chooses by the pass.
    public var interleave: Int?
    /// LLVM's pass pipeline; nil is the measured best.
    public var pipeline: String?
    /// Passes that stay compiled though nobody uses them.
    public var memoryCacheLimit: Int

    public init(
        cacheDirectory: String? = nil, instructionBudget: Int = 20_000, processor: String? = nil,
        vectorBits: Int? = nil, interleave: Int? = nil, pipeline: String? = nil, memoryCacheLimit: Int = 32
    ) {
        self.cacheDirectory = cacheDirectory
        self.instructionBudget = instructionBudget
        self.processor = processor
        self.vectorBits = vectorBits
        self.interleave = interleave
        self.pipeline = pipeline
        self.memoryCacheLimit = memoryCacheLimit
    }
}

/// Makes passes: looks in memory, then on disk, then compiles.
///
/// Thread-safety: all members may be called from any thread.
public final class KernelCompiler: Sendable {
    private struct Weak {
        weak var pass: CompiledPass?
    }
    private struct State {
        var known: [PassDescription: Weak] = [:]
        var underWay: Set<PassDescription> = []
        /// The most recently used, kept alive; newest last.
        var recent: [CompiledPass] = []
    }

    public let options: CompilerOptions
    let cpu: TargetCPU
    private let state = Monitor(State())

    /// None: the lowering already folds, shares and hoists (docs/decisions/kernel-jit.md).
    static let defaultPipeline = ""

    public init(_ options: CompilerOptions = .init()) {
        self.options = options
        var cpu = TargetCPU.host
        let bits = options.vectorBits.flatMap { [128, 256, 512].contains($0) ? $0 : nil }
        if let name = options.processor {
            cpu = TargetCPU(name: name, features: "", vectorBits: bits)
        } else if let bits {
            cpu = TargetCPU(name: cpu.name, features: cpu.features, vectorBits: bits)
        }
        if let interleave = options.interleave, [1, 2, 4].contains(interleave) { cpu.interleave = interleave }
        self.cpu = cpu
    }

    /// The machine code of a pass. Equal descriptions share one `CompiledPass`; a description that another thread
    /// compiles is waited for.
    /// - Throws: `KernelError` of code `unsupported`, `budget` or `compiler`.
    public func compile(_ description: PassDescription) throws(KernelError) -> CompiledPass {
        // Names are for messages only.
        let key = description.nameless
        let known: CompiledPass?? = state.wait { state in
            if let pass = state.known[key]?.pass {
                Self.touch(pass, &state, self.options.memoryCacheLimit)
                return .some(pass)
            }
            guard !state.underWay.contains(key) else { return nil }
            state.underWay.insert(key)
            return .some(nil)
        }
        if case .some(.some(let pass)) = known { return pass }
        do throws(KernelError) {
            let pass = try make(description)
            // What falls out of the cache is freed after the lock.
            let dropped = state.notify { state -> [CompiledPass] in
                state.underWay.remove(key)
                state.known[key] = Weak(pass: pass)
                if state.known.count > 4 * (self.options.memoryCacheLimit + 16) {
                    state.known = state.known.filter { $0.value.pass != nil }
                }
                return Self.touch(pass, &state, self.options.memoryCacheLimit)
            }
            _ = dropped
            return pass
        } catch {
            state.notify { state in _ = state.underWay.remove(key) }
            throw error
        }
    }

    @discardableResult
    private static func touch(_ pass: CompiledPass, _ state: inout State, _ limit: Int) -> [CompiledPass] {
        if let index = state.recent.firstIndex(where: { $0 === pass }) { state.recent.remove(at: index) }
        state.recent.append(pass)
        guard state.recent.count > limit else { return [] }
        let count = state.recent.count - limit
        let dropped = Array(state.recent[..<count])
        state.recent.removeFirst(count)
        return dropped
    }

    /// The object file of what a pass does for every chunk of pixels: for looking at its instructions.
    public func object(of description: PassDescription) throws(KernelError) -> [UInt8] {
        try generate(description, name: "pass").objects[0]
    }

    private func generate(_ description: PassDescription, name: String) throws(KernelError) -> PassCode {
        let cpu = self.cpu
        let options = self.options
        return try CompileThread.run {
            do throws(KernelError) {
                return .success(
                    try CodeGenerator.generate(
                        description, name: name, cpu: cpu, budget: options.instructionBudget,
                        pipeline: options.pipeline ?? Self.defaultPipeline))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Passes whose code is in memory, of all compilers of the process. For tests.
    package static var loadedCodeCount: Int { (try? JITLinker.shared.get().count) ?? 0 }

    private func make(_ description: PassDescription) throws(KernelError) -> CompiledPass {
        let start = monotonicNanoseconds()
        try requireRunnable()
        let linker = try JITLinker.shared.get()
        let key = CodeKey(
            description: description.nameless, cpu: cpu, budget: options.instructionBudget,
            pipeline: options.pipeline ?? Self.defaultPipeline)
        let cache = options.cacheDirectory.map { DiskCache(directory: $0) }
        if let code = cache?.load(key, description: description),
            let pass = try? link(description, code, key, .diskCache, start, linker)
        {
            return pass
        }
        let code = try generate(description, name: key.name)
        let pass = try link(description, code, key, .compiled, start, linker)
        cache?.store(code, key)
        return pass
    }

    /// - Throws: `KernelError` of code `unsupported` for a level of x86-64 that this machine cannot run.
    func requireRunnable() throws(KernelError) {
        if let name = options.processor, !TargetCPU.hostRuns(name) {
            throw KernelError(.unsupported, "this machine cannot run code for '\(name)'; leave the processor out")
        }
    }

    private func link(
        _ description: PassDescription, _ code: PassCode, _ key: CodeKey, _ origin: CompiledPass.Origin,
        _ start: Int64, _ linker: JITLinker
    ) throws(KernelError) -> CompiledPass {
        let entries = try linker.load(name: key.name, objects: code.objects)
        return CompiledPass(
            description: description, origin: origin, compileNanoseconds: monotonicNanoseconds() - start,
            code: code, name: key.name, linker: linker, entries: entries)
    }
}
