internal import CLLVM
import PatchMedia

/// Machine code for rows of samples that no kernel can say: reducing, resampling, laying over planes, and what Gaussian
/// pyramids are made of.
///
/// Rows of 8-bit pictures hold 16-bit samples between two steps: codes times 128, 0…32640. `count` is how many pixels are
/// written, unless said otherwise; no source may overlap the target.
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
    public typealias Blurred = @convention(c) (Target, Samples, UnsafeRawPointer, Int) -> Void
    /// Target, rows, weights, samples.
    public typealias BlurredRows =
        @convention(c) (
            Target, UnsafePointer<Samples>, UnsafeRawPointer, Int
        ) -> Void
    /// Rows (the planes' targets, then what these hold, copied, then rows of packed pixels), weights, samples of a plane.
    public typealias Laid = @convention(c) (UnsafePointer<Samples>, UnsafePointer<Int16>, Int) -> Void
    /// Codes in place, what is added to them, alpha, samples.
    public typealias Kept = @convention(c) (Target, Samples, Samples, Int) -> Void
    /// Packed pixels in place, two words of colour and opacity, pixels.
    public typealias Settled = @convention(c) (Target, UnsafePointer<UInt16>, Int) -> Void

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

    /// For a mixer: packed pixels of premultiplied R'G'B' with alpha over planes of Y'CbCr, and over one colour.
    ///
    /// A plane's code becomes the weighted sum of the pixels' four components, and of what it was as much as is left of
    /// 1 − alpha · opacity. `weights` has for each plane those of components 0, 2, 1, 3 in 32768ths of a pixel's share, times
    /// opacity, and at last opacity in 65535ths.
    public struct Laying: Sendable {
        /// One plane of the pixels' own size.
        public let luma: Laid
        /// Two planes: of pixels' own size; of pixels 2i and 2i + 1; of pixels 2i − 1, 2i, 2i + 1 weighed 1 2 1.
        public let whole: Laid
        public let pairs: ByRows
        public let triples: ByRows
        /// Over one colour, in place: nothing is written where pixels are opaque. The colour's components 0 and 2, and 1 and 3,
        /// in 65535ths, then opacity in 65535ths.
        public let settle: Settled
        /// What was laid over black before, with its alpha in the same rounding: code · (255 − alpha) / 255, rounded, and what is
        /// added, limited to 255, in place.
        public let lay: Kept

        /// By the rows of pixels that one row of chroma is made of; three are weighed 1 2 1.
        public struct ByRows: Sendable {
            public let one: Laid
            public let two: Laid
            public let three: Laid
        }
    }

    /// For Gaussian pyramids of 8-bit pictures, or of planes of half floats, which are halves between steps, too: finite ones.
    public struct Pyramid: Sendable {
        /// Bytes of a sample of the pictures that come and go: 1, or 2 for half floats.
        public let sampleBytes: Int
        /// Samples of a picture as those between steps (of halves that are none or infinite, 0 or the largest), and of 8-bit
        /// pictures back again, rounded.
        public let widen: One
        public let narrow: One?
        /// (1 3 3 1) / 8 of four rows, of a picture or from between steps; `count` samples.
        public let shrinkSource: Four
        public let shrinkRows: Four
        /// (1 3 3 1) / 8 of pixels 2i … 2i + 3 of a row.
        public let shrinkAcross: ByComponents<One>
        /// The pixels up to 4 or 8 away on both sides, weighed by distance, the centre first: in 65536ths, or floats.
        public let blurAcross4: ByComponents<Blurred>
        public let blurAcross8: ByComponents<Blurred>
        /// The same for 9 or 17 rows, the uppermost first; `count` samples.
        public let blurRows4: BlurredRows
        public let blurRows8: BlurredRows
        /// ¾ of the first row and ¼ of the second; `count` samples.
        public let growRows: Two
        /// Two pixels for each of `count`: ¾ of pixel i + 1 and ¼ of pixel i, then ¾ of pixel i + 1 and ¼ of pixel i + 2.
        public let growAcross: ByComponents<One>
        /// The same, as samples of a picture.
        public let growAcrossToResult: ByComponents<One>
    }

    /// For guided filters of planes of half floats, besides a `Pyramid` of such.
    public struct Guided: Sendable {
        /// Targets of slopes and rises; means and means of squares; epsilon, above 0; samples.
        public typealias Lines = @convention(c) (Target, Target, Samples, Samples, Float, Int) -> Void
        /// Target, slopes, rises, what they are applied to.
        public typealias Applied = @convention(c) (Target, Samples, Samples, Samples, Int) -> Void

        /// `Pyramid.widen` and `.shrinkSource` of a row's squares; at most what a half holds.
        public let widenSquares: One
        public let shrinkSquares: Four
        /// slope = v / (v + epsilon), v = max(squares' mean − mean², 0); rise = mean · (1 − slope).
        public let lines: Lines
        /// slope · sample + rise.
        public let apply: Applied
        /// The same, two samples for each of `count`: slopes and rises are grown as by `Pyramid.growAcross`.
        public let growAndApply: Applied
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

    /// Code that lays pictures over planes; made once in a process for each processor.
    /// - Throws: `KernelError` of code `compiler` or `unsupported`.
    public func layingRows() throws(KernelError) -> RowCode.Laying {
        try requireRunnable()
        let code = try RowLibrary.laying.code(for: cpu)
        func function<T>(_ name: String) -> T { unsafeBitCast(code[name]!, to: T.self) }
        func byRows(_ name: String) -> RowCode.Laying.ByRows {
            .init(one: function(name + "1"), two: function(name + "2"), three: function(name + "3"))
        }
        return RowCode.Laying(
            luma: function("luma"), whole: function("whole"), pairs: byRows("pairs"), triples: byRows("triples"),
            settle: function("settle"), lay: function("lay"))
    }

    /// Code for Gaussian pyramids of 8-bit pictures; made once in a process for each processor.
    /// - Throws: `KernelError` of code `compiler` or `unsupported`.
    public func pyramidRows() throws(KernelError) -> RowCode.Pyramid {
        try requireRunnable()
        let code = try RowLibrary.pyramid.code(for: cpu)
        func function<T>(_ name: String) -> T { unsafeBitCast(code[name]!, to: T.self) }
        func both<T>(_ name: String) -> RowCode.ByComponents<T> {
            .init(one: function(name + "1"), four: function(name + "4"))
        }
        return RowCode.Pyramid(
            sampleBytes: 1, widen: function("widen"), narrow: function("narrow"),
            shrinkSource: function("shrinkBytes"), shrinkRows: function("shrinkRows"),
            shrinkAcross: both("shrinkAcross"), blurAcross4: both("blurAcrossBy4of"),
            blurAcross8: both("blurAcrossBy8of"), blurRows4: function("blurRowsBy4"),
            blurRows8: function("blurRowsBy8"), growRows: function("growRows"), growAcross: both("growAcross"),
            growAcrossToResult: both("growAcrossToBytes"))
    }

    /// The same for planes of half floats: `components` is 1.
    /// - Throws: `KernelError` of code `compiler` or `unsupported`.
    public func halfPyramidRows() throws(KernelError) -> RowCode.Pyramid {
        try requireRunnable()
        let code = try RowLibrary.halfPyramid.code(for: cpu)
        func function<T>(_ name: String) -> T { unsafeBitCast(code[name]!, to: T.self) }
        func alone<T>(_ name: String) -> RowCode.ByComponents<T> { .init(one: function(name), four: function(name)) }
        return RowCode.Pyramid(
            sampleBytes: 2, widen: function("widen"), narrow: nil, shrinkSource: function("shrinkSource"),
            shrinkRows: function("shrinkRows"), shrinkAcross: alone("shrinkAcross"),
            blurAcross4: alone("blurAcrossBy4"),
            blurAcross8: alone("blurAcrossBy8"), blurRows4: function("blurRowsBy4"),
            blurRows8: function("blurRowsBy8"), growRows: function("growRows"), growAcross: alone("growAcross"),
            growAcrossToResult: alone("growAcross"))
    }

    /// Code for guided filters of planes of half floats; made once in a process for each processor.
    /// - Throws: `KernelError` of code `compiler` or `unsupported`.
    public func guidedRows() throws(KernelError) -> RowCode.Guided {
        try requireRunnable()
        let code = try RowLibrary.guided.code(for: cpu)
        func function<T>(_ name: String) -> T { unsafeBitCast(code[name]!, to: T.self) }
        return RowCode.Guided(
            widenSquares: function("widenSquares"), shrinkSquares: function("shrinkSquares"),
            lines: function("lines"), apply: function("apply"), growAndApply: function("growAndApply"))
    }
}

/// A set of functions over rows, compiled when somebody first asks for it and kept for the life of the process.
///
/// Thread-safety: all members may be called from any thread.
final class RowLibrary: Sendable {
    static let resizing = RowLibrary("resizing") { $0.emitResizing() }
    static let laying = RowLibrary("laying") { $0.emitLaying() }
    static let pyramid = RowLibrary("pyramid") { $0.emitPyramid() }
    static let halfPyramid = RowLibrary("halfPyramid") { $0.emitHalfPyramid() }
    static let guided = RowLibrary("guided") { $0.emitGuided() }

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
