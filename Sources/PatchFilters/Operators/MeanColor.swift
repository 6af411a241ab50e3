import PatchGraph
import PatchMedia

/// `meanColor`: the mean of a picture as one pixel, `half4`, and as data: `color` (R'G'B'A, straight) and `luminance`.
///
/// The mean of the stored codes, encoded and premultiplied, exact before it becomes a half float. Y'CbCr pictures are summed
/// plane by plane and converted once. Luminance weighs R'G'B' by .2125 .7154 .0721, as the library's filters do.
/// Thread-safety: as `NativeOperator`.
final class MeanColor: NativeOperator, @unchecked Sendable {
    // Unchecked: `sums` is written by the bands of one `process`, each its own part, and read after they are done.
    static let kind = OperatorKind(
        name: "meanColor", summary: "The mean colour of a picture, as one pixel.",
        formats: [.rgba, .bgra, .yuv420p, .yuv422p, .yuv444p, .nv12, .gray8],
        data: [OperatorData.Field("color", width: 4), OperatorData.Field("luminance")]
    ) { MeanColor($0.inputs[0]) }

    private static let bands = 16

    let output = VideoFormat(.half4, width: 1, height: 1, color: .srgb)
    private let input: VideoFormat
    private let sums: UnsafeMutableBufferPointer<SIMD4<UInt64>>

    init(_ input: VideoFormat) {
        self.input = input
        sums = .allocate(capacity: Self.bands)
        sums.initialize(repeating: SIMD4())
    }

    deinit { sums.deallocate() }

    func process(_ call: OperatorCall) -> OperatorResult {
        let format = input.pixelFormat
        var mean = SIMD4<Double>(0, 0, 0, 255)
        // Component 0…3 of the mean, and how many interleaved components each plane has.
        var component = 0
        for index in 0..<format.planeCount {
            let layout = format.layout(ofPlane: index)
            let (width, height) = (layout.width(of: input.width), layout.height(of: input.height))
            let plane = call.inputs[0].plane(index)
            call.workers.run(
                ByteSums(
                    plane: plane, rowBytes: width * layout.bytesPerPixel, rows: height, sums: sums,
                    bands: Self.bands), bands: Self.bands, isSmall: width * height < 65_536)
            var total = SIMD4<UInt64>()
            for sum in sums { total &+= sum }
            let count = Double(width) * Double(height)
            switch layout.bytesPerPixel {
            case 4: for lane in 0..<4 { mean[lane] = Double(total[lane]) / count }
            case 2:
                mean[component] = Double(total[0] &+ total[2]) / count
                mean[component + 1] = Double(total[1] &+ total[3]) / count
                component += 2
            default:
                mean[component] = Double(total[0] &+ total[1] &+ total[2] &+ total[3]) / count
                component += 1
            }
        }
        let color = rgb(mean)
        for channel in 0..<4 {
            call.output.plane(channel).base.storeBytes(of: Float16(color[channel]), as: Float16.self)
        }
        if call.data.count == 5 {
            let alpha = color[3]
            for channel in 0..<3 { call.data[channel] = alpha > 0 ? color[channel] / alpha : 0 }
            call.data[3] = alpha
            call.data[4] = 0.2125 * call.data[0] + 0.7154 * call.data[1] + 0.0721 * call.data[2]
        }
        return .filled
    }

    /// Mean codes as R'G'B'A in 0…1.
    private func rgb(_ codes: SIMD4<Double>) -> SIMD4<Float> {
        switch input.pixelFormat {
        case .rgba: return SIMD4<Float>(codes / 255)
        case .bgra: return SIMD4<Float>(SIMD4(codes[2], codes[1], codes[0], codes[3]) / 255)
        case .gray8:
            let isFull = input.color.range == .full
            let grey = Float(isFull ? codes[0] / 255 : (codes[0] - 16) / 219)
            return SIMD4(grey, grey, grey, 1)
        default:
            let isFull = input.color.range == .full
            let luma = isFull ? codes[0] / 255 : (codes[0] - 16) / 219
            let scale = isFull ? 255.0 : 224
            let (cb, cr) = ((codes[1] - 128) / scale, (codes[2] - 128) / scale)
            let (kr, kb) = input.color.lumaCoefficients
            let red = luma + 2 * (1 - kr) * cr
            let blue = luma + 2 * (1 - kb) * cb
            let green = (luma - kr * red - kb * blue) / (1 - kr - kb)
            return SIMD4(Float(red), Float(green), Float(blue), 1)
        }
    }
}

/// Sums of the bytes of a plane at columns 0, 1, 2, 3 modulo 4, a band of rows at a time.
struct ByteSums: BandWork {
    let plane: Plane
    let rowBytes: Int
    let rows: Int
    let sums: UnsafeMutableBufferPointer<SIMD4<UInt64>>
    let bands: Int

    func run(band: Int) {
        var total = SIMD4<UInt64>()
        for y in rows * band / bands..<rows * (band + 1) / bands {
            let row = plane.row(y)
            var x = 0
            while x + 8 <= rowBytes {
                // Eight bytes at a time in four 16-bit lanes each of two words, which hold 256 bytes a lane.
                var (even, odd): (UInt64, UInt64) = (0, 0)
                let end = min(rowBytes & ~7, x + 8 * 256)
                while x < end {
                    let word = row.loadUnaligned(fromByteOffset: x, as: UInt64.self)
                    even &+= word & 0x00FF_00FF_00FF_00FF
                    odd &+= (word >> 8) & 0x00FF_00FF_00FF_00FF
                    x += 8
                }
                total[0] &+= (even & 0xFFFF) &+ (even >> 32 & 0xFFFF)
                total[1] &+= (odd & 0xFFFF) &+ (odd >> 32 & 0xFFFF)
                total[2] &+= (even >> 16 & 0xFFFF) &+ (even >> 48)
                total[3] &+= (odd >> 16 & 0xFFFF) &+ (odd >> 48)
            }
            while x < rowBytes {
                total[x & 3] &+= UInt64(row.load(fromByteOffset: x, as: UInt8.self))
                x += 1
            }
        }
        sums[band] = total
    }
}
