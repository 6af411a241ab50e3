import PatchMedia

/// A pass as machine code for another processor, which somebody else runs: an emulator, in a test.
///
/// Thread-safety: as `CompiledPass`, if the entry points are.
package final class ForeignPass: Sendable {
    package typealias EntryPoint = @convention(c) (UnsafeMutableRawPointer) -> Void

    /// ELF objects with the functions `patchbay_span_pass` and `patchbay_prepare_pass`, which take the workspace.
    package let objects: [[UInt8]]
    /// 8-byte words at the workspace's begin, some of them pointers into it.
    package let wordCount: Int
    /// Which word points to the dither table, of `ditherBytes` bytes.
    package let ditherWord = PassLayout.Word.ditherTable
    package let ditherBytes = 8 * PassLayout.ditherStride * MemoryLayout<Float>.stride
    package var workspaceBytes: Int { driver.workspaceBytes }
    private let driver: PassDriver

    /// - Parameters:
    ///   - triple: LLVM's, such as `aarch64-linux-gnu`.
    ///   - prepare, span: called in place of the object's functions.
    /// - Throws: `KernelError` of code `unsupported`, `budget` or `compiler`.
    package init(
        _ description: PassDescription, triple: String, processor: String, prepare: @escaping EntryPoint,
        span: @escaping EntryPoint
    ) throws(KernelError) {
        let cpu = TargetCPU(name: processor, features: "", triple: triple)
        let code = try CompileThread.run {
            do throws(KernelError) {
                return .success(
                    try CodeGenerator.generate(
                        description, name: "pass", cpu: cpu, budget: CompilerOptions().instructionBudget,
                        pipeline: KernelCompiler.defaultPipeline))
            } catch {
                return .failure(error)
            }
        }
        objects = code.objects
        wordCount = code.layout.wordCount
        driver = PassDriver(
            description: description, layout: code.layout, hoistedCount: code.hoistedCount,
            entries: JITLinker.Code(prepare: prepare, span: span))
    }

    /// As `CompiledPass.run`.
    package func run(
        inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference, uniforms: UnsafePointer<Float>,
        context: FrameContext, rows: Range<Int>
    ) {
        driver.run(inputs: inputs, output: output, uniforms: uniforms, context: context, rows: rows)
    }
}
