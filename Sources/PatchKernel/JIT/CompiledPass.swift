import PatchMedia
import Synchronization

/// A pass as machine code.
///
/// Thread-safety: all members may be called from any thread; `run` by several at once on disjoint rows.
public final class CompiledPass: Sendable {
    /// Where the code came from. (A pass that is still in memory is simply returned again.)
    public enum Origin: String, Sendable { case compiled, diskCache }

    public let description: PassDescription
    /// Bands must begin on a multiple of this row.
    public var rowAlignment: Int { description.rowAlignment }
    public let origin: Origin
    /// Time that making or loading the code took.
    public let compileNanoseconds: Int64
    /// In which numbers the pass computes, and why.
    public let arithmetic: Arithmetic
    /// Size of the machine code's objects.
    public let codeBytes: Int

    let driver: PassDriver
    private let name: String
    private let linker: JITLinker

    init(
        description: PassDescription, origin: Origin, compileNanoseconds: Int64, code: PassCode, name: String,
        linker: JITLinker, entries: JITLinker.Code
    ) {
        self.description = description
        self.origin = origin
        self.compileNanoseconds = compileNanoseconds
        self.name = name
        self.linker = linker
        arithmetic = code.arithmetic
        codeBytes = code.objects.reduce(0) { $0 + $1.count }
        driver = PassDriver(
            description: description, layout: code.layout, hoistedCount: code.hoistedCount, entries: entries)
    }

    deinit { linker.unload(name: name) }

    /// Computes the output's rows `rows` (of the stored output picture). Allocates nothing once as many threads as run
    /// now have run before.
    ///
    /// - Parameters:
    ///   - inputs: one picture for each of the description's inputs, of their formats, any size from 1×1.
    ///   - output: of the description's output format. It may be the very memory of an input (same format, planes,
    ///     strides and size) that the kernel reads only at the pixel itself (`Footprint.point`), unturned, and whose
    ///     chroma is not subsampled; it must share no memory with other inputs. All that a chunk of pixels reads is
    ///     read before any of it is written, and no chunk reads another's pixels of such an input.
    ///   - uniforms: the kernel's `uniformFloatCount` floats.
    ///   - rows: begins on a multiple of `rowAlignment`; is cut to the output's height.
    public func run(
        inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference, uniforms: UnsafePointer<Float>,
        context: FrameContext, rows: Range<Int>
    ) {
        driver.run(inputs: inputs, output: output, uniforms: uniforms, context: context, rows: rows)
    }
}
