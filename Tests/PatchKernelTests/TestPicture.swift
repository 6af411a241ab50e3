import Glibc
import PatchKernel
import PatchMedia

/// A picture in memory whose every plane ends at a page that can neither be read nor written, and begins after one:
/// code that leaves a plane by a byte dies at once.
final class TestPicture {
    let format: PixelFormat
    let width: Int
    let height: Int
    private(set) var reference: ImageReference
    private var mappings: [(UnsafeMutableRawPointer, Int)] = []

    /// Strides are as small as can be; `bottomUp` makes them negative, `padding` adds samples to each row.
    init(_ format: PixelFormat, _ width: Int, _ height: Int, bottomUp: Bool = false, padding: Int = 0) {
        self.format = format
        self.width = width
        self.height = height
        var planes: [Plane] = []
        let page = 4096
        for index in 0..<format.planeCount {
            let layout = format.layout(ofPlane: index)
            let rowBytes = layout.width(of: width) * layout.bytesPerPixel
            let stride = rowBytes + padding * format.bytesPerSample
            let rows = layout.height(of: height)
            let bytes = stride * (rows - 1) + rowBytes
            let pages = (bytes + page - 1) / page
            let total = (pages + 2) * page
            let memory = mmap(nil, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
            mprotect(memory, page, PROT_NONE)
            mprotect(memory + (pages + 1) * page, page, PROT_NONE)
            mappings.append((memory, total))
            let start = memory + (pages + 1) * page - bytes
            planes.append(
                bottomUp
                    ? Plane(base: start + stride * (rows - 1), stride: -stride) : Plane(base: start, stride: stride))
        }
        while planes.count < 4 { planes.append(planes[0]) }
        reference = ImageReference(
            planes: (planes[0], planes[1], planes[2], planes[3]), width: width, height: height)
    }

    deinit {
        for (memory, bytes) in mappings { munmap(memory, bytes) }
    }

    func plane(_ index: Int) -> Plane {
        [reference.planes.0, reference.planes.1, reference.planes.2, reference.planes.3][index]
    }

    /// Samples in one row of a plane, interleaved ones counted one by one.
    func samples(inPlane index: Int) -> Int {
        let layout = format.layout(ofPlane: index)
        return layout.width(of: width) * layout.bytesPerPixel / format.bytesPerSample
    }
    func rows(inPlane index: Int) -> Int { format.layout(ofPlane: index).height(of: height) }

    /// A sample's code (10-bit formats: 0…1023; floats: the bits).
    subscript(plane: Int, x: Int, y: Int) -> Int {
        get {
            let row = self.plane(plane).row(y)
            if format.bitDepth == 8 { return Int(row.load(fromByteOffset: x, as: UInt8.self)) }
            if format.bytesPerSample == 4 { return Int(row.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self)) }
            let word = Int(row.loadUnaligned(fromByteOffset: 2 * x, as: UInt16.self))
            return word >> format.lowBits
        }
        set {
            let row = self.plane(plane).row(y)
            if format.bitDepth == 8 {
                row.storeBytes(of: UInt8(newValue), toByteOffset: x, as: UInt8.self)
            } else if format.bytesPerSample == 4 {
                row.storeBytes(of: UInt32(newValue), toByteOffset: 4 * x, as: UInt32.self)
            } else {
                row.storeBytes(
                    of: UInt16(newValue << format.lowBits), toByteOffset: 2 * x, as: UInt16.self)
            }
        }
    }

    func fill(_ value: (_ plane: Int, _ x: Int, _ y: Int) -> Int) {
        for plane in 0..<format.planeCount {
            for y in 0..<rows(inPlane: plane) {
                for x in 0..<samples(inPlane: plane) { self[plane, x, y] = value(plane, x, y) }
            }
        }
    }

    /// Random codes over the whole range; floats between 0 and 1; premultiplied pictures have colour ≤ alpha.
    func fillRandom(_ random: inout SeededRandom) {
        for plane in 0..<format.planeCount {
            for y in 0..<rows(inPlane: plane) {
                for x in 0..<samples(inPlane: plane) {
                    if format.bytesPerSample == 4 {
                        // The first are as likely as the last: exponents from 2^−127 to 1.
                        self[plane, x, y] = Int(random.next() % 0x3f80_0001)
                    } else if format.isFloat {
                        self[plane, x, y] = Int(random.next() % 0x3c01)
                    } else {
                        self[plane, x, y] = Int(random.next() % (format.bitDepth == 8 ? 256 : 1024))
                    }
                }
            }
        }
        if format == .half4 || format == .float4 {
            for y in 0..<height {
                for x in 0..<width { for c in 0..<3 { self[c, x, y] = min(self[c, x, y], self[3, x, y]) } }
            }
        }
        guard format == .rgba || format == .bgra else { return }
        for y in 0..<height {
            for x in 0..<width {
                let alpha = self[0, 4 * x + 3, y]
                for channel in 0..<3 { self[0, 4 * x + channel, y] = self[0, 4 * x + channel, y] * alpha / 255 }
            }
        }
    }
}

/// The float that half bits mean, by the definition of IEEE 754 binary16.
func half(_ bits: Int) -> Float {
    let sign: Float = bits & 0x8000 == 0 ? 1 : -1
    let exponent = (bits >> 10) & 31
    let fraction = Float(bits & 1023)
    if exponent == 0 { return sign * fraction / 16_777_216 }
    if exponent == 31 { return fraction == 0 ? sign * .infinity : .nan }
    return sign * (1 + fraction / 1024) * Float(sign: .plus, exponent: exponent - 15, significand: 1)
}

/// What the bits of a half or a float mean.
private func meaning(ofBits bits: Int, isHalf: Bool) -> Float { isHalf ? half(bits) : Float(bitPattern: UInt32(bits)) }

extension PixelFormat {
    /// What the bits of a half or a float mean.
    func number(_ bits: Int) -> Double { Double(meaning(ofBits: bits, isHalf: bytesPerSample == 2)) }
}

/// SplitMix64: the same numbers on every run.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Runs a pass over a whole picture, in `bands` bands of rows.
func run(
    _ pass: CompiledPass, _ inputs: [TestPicture], _ output: TestPicture, uniforms: [Float] = [],
    context: FrameContext = FrameContext(), bands: Int = 1
) {
    let references = inputs.map(\.reference)
    let uniforms = uniforms.isEmpty ? [0] : uniforms
    let align = pass.rowAlignment
    references.withUnsafeBufferPointer { references in
        uniforms.withUnsafeBufferPointer { uniforms in
            for band in 0..<bands {
                let start = output.height * band / bands / align * align
                let end = band == bands - 1 ? output.height : output.height * (band + 1) / bands / align * align
                pass.run(
                    inputs: references, output: output.reference, uniforms: uniforms.baseAddress!, context: context,
                    rows: start..<max(start, end))
            }
        }
    }
}

/// The same with each band on a thread of its own, all at once.
func runOnThreads(
    _ count: Int, _ pass: CompiledPass, _ inputs: [TestPicture], _ output: TestPicture, uniforms: [Float] = [],
    context: FrameContext = FrameContext()
) {
    let align = pass.rowAlignment
    let bounds = (0...count).map { $0 == count ? output.height : output.height * $0 / count / align * align }
    let references = inputs.map(\.reference)
    let target = output.reference
    let uniforms = uniforms.isEmpty ? [0] : uniforms
    let threads = (1..<count).map { band in
        try? PosixThread(name: "band") {
            runBand(pass, references, target, uniforms, context, bounds[band]..<bounds[band + 1])
        }
    }
    runBand(pass, references, target, uniforms, context, bounds[0]..<bounds[1])
    for (index, thread) in threads.enumerated() {
        // Where no thread could be had, the band is still due.
        guard let thread else {
            runBand(pass, references, target, uniforms, context, bounds[index + 1]..<bounds[index + 2])
            continue
        }
        thread.join()
    }
}

private func runBand(
    _ pass: CompiledPass, _ inputs: [ImageReference], _ output: ImageReference, _ uniforms: [Float],
    _ context: FrameContext, _ rows: Range<Int>
) {
    guard !rows.isEmpty else { return }
    inputs.withUnsafeBufferPointer { inputs in
        uniforms.withUnsafeBufferPointer { uniforms in
            guard let base = uniforms.baseAddress else { return }
            pass.run(inputs: inputs, output: output, uniforms: base, context: context, rows: rows)
        }
    }
}

func interpret(
    _ description: PassDescription, _ inputs: [TestPicture], _ output: TestPicture, uniforms: [Float] = [],
    context: FrameContext = FrameContext()
) {
    let references = inputs.map(\.reference)
    let uniforms = uniforms.isEmpty ? [0] : uniforms
    references.withUnsafeBufferPointer { references in
        uniforms.withUnsafeBufferPointer { uniforms in
            Interpreter.run(
                description, inputs: references, output: output.reference, uniforms: uniforms.baseAddress!,
                context: context, rows: 0..<output.height)
        }
    }
}

/// The largest difference between two pictures of one format, in codes (floats: in thousandths), and where.
func difference(_ a: TestPicture, _ b: TestPicture) -> (codes: Double, place: String) {
    var worst = (codes: 0.0, place: "")
    for plane in 0..<a.format.planeCount {
        for y in 0..<a.rows(inPlane: plane) {
            for x in 0..<a.samples(inPlane: plane) {
                let (p, q) = (a[plane, x, y], b[plane, x, y])
                let distance: Double
                if a.format.isFloat {
                    let (u, v) = (a.format.number(p), a.format.number(q))
                    distance = 1000 * abs(u - v) / max(1, abs(u))
                } else {
                    distance = Double(abs(p - q))
                }
                if !(distance <= worst.codes) {
                    worst = (distance, "plane \(plane) sample \(x) row \(y): \(p) and \(q)")
                }
            }
        }
    }
    return worst
}
