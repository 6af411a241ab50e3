internal import CLLVM
import PatchMedia

/// Machine code for rows of 8-bit samples that no kernel can say: reducing, resampling, and what Gaussian pyramids are
/// made of. All in integers of 16 bits.
///
/// Rows between two steps hold 16-bit samples: codes times 128, 0…32640. `count` is how many pixels are written, unless said
/// otherwise; no source may overlap the target.
/// Thread-safety: values; the functions may be called by several threads at once.
public enum RowCode {
    public typealias Samples = UnsafeRawPointer
    public typealias Target = UnsafeMutableRawPointer
    /// Target and two sources.
    public typealias Two = @convention(c) (Target, Samples, Samples, Int) -> Void
    /// Target and one source.
    public typealias One = @convention(c) (Target, Samples, Int) -> Void
    /// Target and four sources.
    public typealias Four = @convention(c) (Target, Samples, Samples, Samples, Samples, Int) -> Void
    /// Target, rows, a weight each, how many rows, and samples of each.
    public typealias Weighted =
        @convention(c) (
            Target, UnsafePointer<Samples>, UnsafePointer<UInt16>, Int, Int
        ) -> Void
    /// Target, source, for each pixel the first sample that it reads, weights, pairs of weights of each pixel, and pixels.
    public typealias Across =
        @convention(c) (
            Target, Samples, UnsafePointer<Int32>, UnsafePointer<Int16>, Int, Int
        ) -> Void
    /// Target, source, weights, pixels.
    public typealias Blurred = @convention(c) (Target, Samples, UnsafePointer<UInt16>, Int) -> Void
    /// Target, rows, weights, samples.
    public typealias BlurredRows =
        @convention(c) (
            Target, UnsafePointer<Samples>, UnsafePointer<UInt16>, Int
        ) -> Void

    /// By the number of components that a pixel interleaves.
    public struct ByComponents<Function: Sendable>: Sendable {
        public let one: Function
        public let four: Function

        /// - Parameter components: 1 or 4.
        public subscript(components: Int) -> Function { components == 4 ? four : one }
    }

    /// For a mixer: pictures at other sizes.
    public struct Resizing: Sendable {
        /// Half a row: the rounded means (a + b + c + d + 2) / 4 of 2×2 pixels of two rows of bytes, as bytes.
        public let halve: ByComponents<Two>
        public let halvePairs: Two
        /// The weighted sum of rows of bytes, as 16-bit samples; weights are 32768ths and sum to 32768.
        public let weigh: Weighted
        /// Weighted sums along a row of 16-bit samples, as bytes. Pixel x reads pixels from `first[x]` samples on; its pair k
        /// of weights, in 16384ths which sum to 16384, is pair k · count + x of `weights`. All pixels of all pairs must
        /// be readable, whatever their weight.
        public let across: ByComponents<Across>
        public let acrossPairs: Across
    }

    /// For Gaussian pyramids.
    public struct Pyramid: Sendable {
        /// Bytes as 16-bit samples, and back, rounded.
        public let widen: One
        public let narrow: One
        /// (1 3 3 1) / 8 of four rows, of bytes or 16-bit samples; `count` samples.
        public let shrinkBytes: Four
        public let shrinkRows: Four
        /// (1 3 3 1) / 8 of pixels 2i … 2i + 3 of a row.
        public let shrinkAcross: ByComponents<One>
        /// The pixels up to 4 or 8 away on both sides, weighed by distance, the centre first, in 65536ths.
        public let blurAcross4: ByComponents<Blurred>
        public let blurAcross8: ByComponents<Blurred>
        /// The same for 9 or 17 rows, the uppermost first; `count` samples.
        public let blurRows4: BlurredRows
        public let blurRows8: BlurredRows
        /// ¾ of the first row and ¼ of the second; `count` samples.
        public let growRows: Two
        /// Two pixels for each of `count`: ¾ of pixel i + 1 and ¼ of pixel i, then ¾ of pixel i + 1 and ¼ of pixel i + 2.
        public let growAcross: ByComponents<One>
        /// The same, as bytes.
        public let growAcrossToBytes: ByComponents<One>
    }
}

extension KernelCompiler {
    /// Code that reduces and resamples rows; made once in a process for each processor.
    /// - Throws: `KernelError` of code `compiler` or `unsupported`.
    public func resizingRows() throws(KernelError) -> RowCode.Resizing {
        try requireRunnable()
        let code = try RowLibrary.resizing.code(for: cpu)
        func function<T>(_ name: String) -> T { unsafeBitCast(code[name]!, to: T.self) }
        return RowCode.Resizing(
            halve: .init(one: function("halve1"), four: function("halve4")), halvePairs: function("halve2"),
            weigh: function("weigh"), across: .init(one: function("across1"), four: function("across4")),
            acrossPairs: function("across2"))
    }

    /// Code for Gaussian pyramids; made once in a process for each processor.
    /// - Throws: `KernelError` of code `compiler` or `unsupported`.
    public func pyramidRows() throws(KernelError) -> RowCode.Pyramid {
        try requireRunnable()
        let code = try RowLibrary.pyramid.code(for: cpu)
        func function<T>(_ name: String) -> T { unsafeBitCast(code[name]!, to: T.self) }
        func both<T>(_ name: String) -> RowCode.ByComponents<T> {
            .init(one: function(name + "1"), four: function(name + "4"))
        }
        return RowCode.Pyramid(
            widen: function("widen"), narrow: function("narrow"), shrinkBytes: function("shrinkBytes"),
            shrinkRows: function("shrinkRows"), shrinkAcross: both("shrinkAcross"),
            blurAcross4: both("blurAcrossBy4of"), blurAcross8: both("blurAcrossBy8of"),
            blurRows4: function("blurRowsBy4"), blurRows8: function("blurRowsBy8"),
            growRows: function("growRows"), growAcross: both("growAcross"),
            growAcrossToBytes: both("growAcrossToBytes"))
    }
}

/// A set of functions over rows, compiled when somebody first asks for it and kept for the life of the process.
///
/// Thread-safety: all members may be called from any thread.
final class RowLibrary: Sendable {
    static let resizing = RowLibrary("resizing") { $0.emitResizing() }
    static let pyramid = RowLibrary("pyramid") { $0.emitPyramid() }

    private let name: String
    private let emit: @Sendable (inout RowEmitter) -> [String]
    private let known = Monitor<[TargetCPU: [String: UnsafeRawPointer]]>([:])

    private init(_ name: String, _ emit: @escaping @Sendable (inout RowEmitter) -> [String]) {
        self.name = name
        self.emit = emit
    }

    /// Entry points by name.
    func code(for cpu: TargetCPU) throws(KernelError) -> [String: UnsafeRawPointer] {
        let result: Result<[String: UnsafeRawPointer], KernelError> = known.withLock { known in
            if let code = known[cpu] { return .success(code) }
            do throws(KernelError) {
                let code = try make(cpu, number: known.count)
                known[cpu] = code
                return .success(code)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func make(_ cpu: TargetCPU, number: Int) throws(KernelError) -> [String: UnsafeRawPointer] {
        let linker = try JITLinker.shared.get()
        let made = try object(cpu, suffix: "_\(name)_\(number)")
        var code: [String: UnsafeRawPointer] = [:]
        let addresses = try linker.keep(object: made.object, symbols: made.symbols)
        for (symbol, address) in zip(made.symbols, addresses) {
            code[String(symbol.prefix { $0 != "_" })] = address
        }
        return code
    }

    /// The object file and its symbols: each function's name and the suffix.
    func object(_ cpu: TargetCPU, suffix: String) throws(KernelError) -> (object: [UInt8], symbols: [String]) {
        let (name, emit) = (name, emit)
        return try CompileThread.run {
            do throws(KernelError) {
                var symbols: [String] = []
                let object = try CodeGenerator.object(of: "the rows of \(name)", cpu: cpu, pipeline: "") {
                    types, module in
                    var emitter = RowEmitter(cpu, types, module)
                    defer { emitter.asm.dispose() }
                    symbols = emit(&emitter).map { function in
                        if let value = LLVMGetNamedFunction(module, function) {
                            LLVMSetValueName2(value, function + suffix, (function + suffix).utf8.count)
                        }
                        return function + suffix
                    }
                }
                return .success((object, symbols))
            } catch {
                return .failure(error)
            }
        }
    }
}
