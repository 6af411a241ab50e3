import PatchGraph
import PatchKernel
import PatchMedia

/// `native = "histogram"`: how often each of 256 values occurs, as a table of 256×1 pixels and as data.
///
/// The table (`half4`, straight) has red, green, blue in r, g, b and luma in a. Red, green and blue are divided by the greatest
/// count of the three, luma by its own. Data: `red`, `green`, `blue`, `luminance`, 256 shares each, which sum to 1.
/// Thread-safety: as `NativeOperator`.
final class HistogramOperator: NativeOperator {
    static let kind = OperatorKind(
        name: "histogram", summary: "How often each of 256 values occurs.", formats: [.rgba, .bgra],
        data: ["red", "green", "blue", "luminance"].map { OperatorData.Field($0, listOf: 256) }
    ) { HistogramOperator($0.inputs[0]) }

    let output = VideoFormat(.half4, width: 256, height: 1, color: .srgb, premultiplied: false)
    private let isBGRA: Bool
    private let counts = PixelCounts()

    init(_ input: VideoFormat) { isBGRA = input.pixelFormat == .bgra }

    func process(_ call: OperatorCall) -> OperatorResult {
        counts.count(call.inputs[0], isBGRA: isBGRA, call.workers)
        let pixels = Float(call.inputs[0].width) * Float(call.inputs[0].height)
        var (mostColor, mostLuma): (UInt32, UInt32) = (1, 1)
        for index in 0..<768 { mostColor = max(mostColor, counts.totals[index]) }
        for index in 768..<1024 { mostLuma = max(mostLuma, counts.totals[index]) }
        for channel in 0..<4 {
            let row = call.output.plane(channel).base.assumingMemoryBound(to: Float16.self)
            let most = Float(channel < 3 ? mostColor : mostLuma)
            for value in 0..<256 { row[value] = Float16(Float(counts.totals[256 * channel + value]) / most) }
        }
        if call.data.count == 4 * 257 {
            for channel in 0..<4 {
                call.data[257 * channel] = 256
                for value in 0..<256 {
                    call.data[257 * channel + 1 + value] = Float(counts.totals[256 * channel + value]) / pixels
                }
            }
        }
        return .filled
    }
}

/// `native = "equalize"`: the curves that spread each channel's values evenly, as a table of 256×1 pixels.
///
/// Value v becomes (N(v) − N0) / (N − N0): N(v) counts the pixels of at most v, N0 those of the least value that occurs, N all.
/// A channel with a single value keeps it. The table (`half4`, straight) has luma's curve in a.
/// Thread-safety: as `NativeOperator`.
final class EqualizeOperator: NativeOperator {
    static let kind = OperatorKind(
        name: "equalize", summary: "Curves that spread brightness evenly.", formats: [.rgba, .bgra]
    ) { EqualizeOperator($0.inputs[0]) }

    let output = VideoFormat(.half4, width: 256, height: 1, color: .srgb, premultiplied: false)
    private let isBGRA: Bool
    private let counts = PixelCounts()

    init(_ input: VideoFormat) { isBGRA = input.pixelFormat == .bgra }

    func process(_ call: OperatorCall) -> OperatorResult {
        counts.count(call.inputs[0], isBGRA: isBGRA, call.workers)
        let all = call.inputs[0].width * call.inputs[0].height
        for channel in 0..<4 {
            let row = call.output.plane(channel).base.assumingMemoryBound(to: Float16.self)
            var (sum, least) = (0, 0)
            for value in 0..<256 {
                sum += Int(counts.totals[256 * channel + value])
                if least == 0 { least = sum }
                let isFlat = least == all
                let spread = Float(max(0, sum - least)) / Float(max(1, all - least))
                row[value] = Float16(isFlat ? Float(value) / 255 : spread)
            }
        }
        return .filled
    }
}

/// `native = "clahe"`: the curves of contrast limited adaptive equalization, one of 256 values for each of 8×8 tiles, as a
/// picture of 256×64 `half1` pixels, tiles row by row.
///
/// A tile's histogram of luma is cut at `clipLimit` times its mean; what was cut is spread over all values; the curve is the
/// share of pixels of at most each value. (Zuiderveld 1994, as OpenCV does it, but the spread is exact.)
/// Thread-safety: as `NativeOperator`.
final class ClaheOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: `counts` is written by the bands of one `process`, each its own part.
    static let kind = OperatorKind(
        name: "clahe", summary: "Curves that spread brightness evenly, tile by tile.", formats: [.rgba, .bgra],
        parameters: [OperatorParameter("clipLimit", default: [3])]
    ) { ClaheOperator($0.inputs[0]) }

    private static let side = 8

    let output = VideoFormat(.half1, width: 256, height: ClaheOperator.side * ClaheOperator.side, color: .srgb)
    private let isBGRA: Bool
    private let counts: UnsafeMutableBufferPointer<UInt32>

    init(_ input: VideoFormat) {
        isBGRA = input.pixelFormat == .bgra
        counts = .allocate(capacity: Self.side * Self.side * 256)
        counts.initialize(repeating: 0)
    }

    deinit { counts.deallocate() }

    func process(_ call: OperatorCall) -> OperatorResult {
        let asked = call.parameters[0]
        call.workers.run(
            Tiles(
                image: call.inputs[0], isBGRA: isBGRA, limit: asked.isFinite ? max(1, asked) : 1, counts: counts,
                curves: call.output.plane(0)), bands: Self.side * Self.side)
        return .filled
    }

    private struct Tiles: BandWork {
        let image: ImageReference
        let isBGRA: Bool
        let limit: Float
        let counts: UnsafeMutableBufferPointer<UInt32>
        let curves: Plane

        func run(band tile: Int) {
            guard let base = counts.baseAddress else { return }
            func range(_ index: Int, _ extent: Int) -> Range<Int> {
                let first = extent * index / ClaheOperator.side
                return first..<max(first + 1, extent * (index + 1) / ClaheOperator.side)
            }
            let columns = range(tile % ClaheOperator.side, image.width)
            let rows = range(tile / ClaheOperator.side, image.height)
            let own = base + 256 * tile
            own.update(repeating: 0, count: 256)
            for y in rows {
                let row = image.planes.0.row(y)
                for x in columns {
                    let pixel = row.loadUnaligned(fromByteOffset: 4 * x, as: UInt32.self)
                    let (first, green, third) = (Int(pixel & 255), Int(pixel >> 8 & 255), Int(pixel >> 16 & 255))
                    own[isBGRA ? PixelCounts.luma(third, green, first) : PixelCounts.luma(first, green, third)] &+= 1
                }
            }
            let pixels = Float(columns.count * rows.count)
            let most = limit * pixels / 256
            var cut: Float = 0
            for value in 0..<256 { cut += max(0, Float(own[value]) - most) }
            var sum: Float = 0
            let curve = curves.row(tile).assumingMemoryBound(to: Float16.self)
            for value in 0..<256 {
                sum += min(Float(own[value]), most) + cut / 256
                curve[value] = Float16(min(1, sum / pixels))
            }
        }
    }
}
