import PatchGraph
import PatchKernel
import PatchMedia

/// `native = "points"`: lists the pixels of a `half1` picture that are above 0; the picture itself goes on as it is.
///
/// Data: `points`, at most 512 of {x, y} in 0…1 from the upper left, row by row; `count`, how many there are.
/// Thread-safety: as `NativeOperator`.
final class PointsOperator: NativeOperator {
    static let limit = 512
    static let kind = OperatorKind(
        name: "points", summary: "Lists the pixels that are not black.", formats: [.half1],
        data: [OperatorData.Field("points", width: 2, listOf: limit), OperatorData.Field("count")]
    ) { PointsOperator($0.inputs[0]) }

    let output: VideoFormat
    init(_ input: VideoFormat) { output = input }

    func process(_ call: OperatorCall) -> OperatorResult {
        let image = call.inputs[0]
        guard call.data.count == 2 * Self.limit + 2 else { return .input(0) }
        var count = 0
        for y in 0..<image.height {
            let row = image.planes.0.row(y)
            var x = 0
            while x < image.width {
                // Four pixels at a time: nearly all are 0.
                if x + 4 <= image.width, row.loadUnaligned(fromByteOffset: 2 * x, as: UInt64.self) == 0 {
                    x += 4
                    continue
                }
                let bits = row.load(fromByteOffset: 2 * x, as: UInt16.self)
                if bits > 0, bits < 0x8000 {
                    if count < Self.limit {
                        call.data[1 + 2 * count] = (Float(x) + 0.5) / Float(image.width)
                        call.data[2 + 2 * count] = (Float(y) + 0.5) / Float(image.height)
                    }
                    count += 1
                }
                x += 1
            }
        }
        call.data[0] = Float(min(count, Self.limit))
        call.data[2 * Self.limit + 1] = Float(count)
        return .input(0)
    }
}

/// `native = "centroid"`: where the white pixels of a `half1` picture are, as one `half3` pixel x, y, amount and as data.
///
/// White is at least one half. Data: `amount`, their share of all pixels; `centroid`, the middle of them in 0…1 from the upper
/// left, {0.5, 0.5} when there is none.
/// Thread-safety: as `NativeOperator`.
final class CentroidOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: `sums` is written by the bands of one `process`, each its own part, and read after they are done.
    static let kind = OperatorKind(
        name: "centroid", summary: "Where white pixels are, and how many.", formats: [.half1],
        data: [OperatorData.Field("amount"), OperatorData.Field("centroid", width: 2)]
    ) { _ in CentroidOperator() }

    private static let bands = 16
    let output = VideoFormat(.half3, width: 1, height: 1, color: .srgb)
    /// Pixels, sum of columns, sum of rows.
    private let sums: UnsafeMutableBufferPointer<SIMD4<Int64>>

    init() {
        sums = .allocate(capacity: Self.bands)
        sums.initialize(repeating: SIMD4())
    }

    deinit { sums.deallocate() }

    func process(_ call: OperatorCall) -> OperatorResult {
        let image = call.inputs[0]
        call.workers.run(
            Job(image: image, sums: sums), bands: Self.bands, isSmall: image.width * image.height < 65_536)
        var sum = SIMD4<Int64>()
        for part in sums { sum &+= part }
        let (width, height) = (Float(image.width), Float(image.height))
        let amount = Float(sum[0]) / (width * height)
        let count = Float(max(1, sum[0]))
        let x = sum[0] == 0 ? 0.5 : (Float(sum[1]) / count + 0.5) / width
        let y = sum[0] == 0 ? 0.5 : (Float(sum[2]) / count + 0.5) / height
        let values = SIMD3(x, y, amount)
        for channel in 0..<3 {
            call.output.plane(channel).base.storeBytes(of: Float16(values[channel]), as: Float16.self)
        }
        if call.data.count == 3 { (call.data[0], call.data[1], call.data[2]) = (amount, x, y) }
        return .filled
    }

    private struct Job: BandWork {
        let image: ImageReference
        let sums: UnsafeMutableBufferPointer<SIMD4<Int64>>

        func run(band: Int) {
            var total = SIMD4<Int64>()
            for y in image.height * band / CentroidOperator.bands..<image.height * (band + 1) / CentroidOperator.bands {
                let row = image.planes.0.row(y).assumingMemoryBound(to: UInt16.self)
                var (count, columns): (Int64, Int64) = (0, 0)
                for x in 0..<image.width {
                    // A half of at least 0.5, by its bits.
                    let isWhite: Int64 = row[x] >= 0x3800 && row[x] < 0x8000 ? 1 : 0
                    count &+= isWhite
                    columns &+= isWhite &* Int64(x)
                }
                total &+= SIMD4(count, columns, count &* Int64(y), 0)
            }
            sums[band] = total
        }
    }
}
