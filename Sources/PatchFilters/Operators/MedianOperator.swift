import PatchGraph
import PatchKernel
import PatchMedia

/// `native = "median"`: each colour of a picture becomes the median of the square of (2 radius + 1)² pixels around it, channel
/// by channel; beyond the picture its edge goes on. Alpha is taken for 255 and becomes 255.
///
/// Option: `radius`, 1…64 pixels. The cost hardly depends on it.
/// Thread-safety: as `NativeOperator`.
final class MedianOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: `memory` is written by the bands of one `process`, each its own part.
    static let kind = OperatorKind(
        name: "median", summary: "The median of a square of pixels.", formats: [.rgba, .bgra]
    ) { request in
        guard let radius = request.options.integer("radius"), (1...widest).contains(radius) else {
            throw PatchError(
                .graph, "native 'median' needs a radius of 1 to \(widest)", remedy: "write options = { radius = 8 }")
        }
        return MedianOperator(request.inputs[0], radius: radius)
    }

    static let widest = 64
    /// Each counts the rows above its first one anew, so that more of them would cost more.
    private static let bands = 4

    let output: VideoFormat
    private let radius: Int
    private let memory: UnsafeMutableBufferPointer<ColumnCounts>
    private let steps = UnsafeMutablePointer<ColumnCounts.Counts>.allocate(capacity: 16)

    private init(_ input: VideoFormat, radius: Int) {
        output = input
        self.radius = radius
        memory = .allocate(capacity: Self.bands * MedianTile.columns(radius))
        memory.initialize(repeating: ColumnCounts())
        for place in 0..<16 {
            var step = ColumnCounts.Counts()
            for index in place..<16 { step[index] = 1 }
            (steps + place).initialize(to: step)
        }
    }

    deinit {
        memory.deallocate()
        steps.deallocate()
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        call.workers.run(
            Job(input: call.inputs[0], output: call.output, radius: radius, memory: memory, steps: steps),
            bands: Self.bands)
        return .filled
    }

    private struct Job: BandWork {
        let input: ImageReference
        let output: ImageReference
        let radius: Int
        let memory: UnsafeMutableBufferPointer<ColumnCounts>
        let steps: UnsafePointer<ColumnCounts.Counts>

        func run(band: Int) {
            let rows = input.height * band / MedianOperator.bands..<input.height * (band + 1) / MedianOperator.bands
            guard !rows.isEmpty, let base = memory.baseAddress else { return }
            let columns = base + band * MedianTile.columns(radius)
            for left in stride(from: 0, to: input.width, by: MedianTile.width) {
                for channel in 0..<3 {
                    MedianTile(
                        input: input, output: output, radius: radius, left: left, channel: channel, columns: columns,
                        steps: steps
                    ).run(rows)
                }
            }
        }
    }
}

/// How many of a column's pixels have at most each value: by 16 ranges of 16 values, and by the values of each range. Sums of such
/// counts are such counts too, and where a median lies is the number of counts that are too small, without a scan.
struct ColumnCounts {
    typealias Counts = SIMD16<UInt16>
    var ranges = Counts()
    var values = InlineArray<16, Counts>(repeating: Counts())
}

/// Some columns of one channel: medians in constant time (Perreault and Hébert, Median filtering in constant time, 2007).
///
/// Each column has a histogram of the 2 radius + 1 rows around the present one, which moves down by a row; the window's
/// histogram is the sum of its columns' and moves right by a column. Of the 256 values only the range that holds the median is
/// brought up to date.
struct MedianTile {
    private typealias Counts = ColumnCounts.Counts
    /// Columns of a tile: few, so that their histograms stay in the cache.
    static let width = 128
    static func columns(_ radius: Int) -> Int { width + 2 * radius }

    let input: ImageReference
    let output: ImageReference
    let radius: Int
    /// The first column, and the byte of its pixels.
    let left: Int
    let channel: Int
    /// Histograms of the columns from `left` − radius on; what lies beyond the picture is its edge.
    let columns: UnsafeMutablePointer<ColumnCounts>
    /// What a value in place n of 16 adds to each of them: 1 from n on.
    let steps: UnsafePointer<ColumnCounts.Counts>

    func run(_ rows: Range<Int>) {
        let width = min(Self.width, input.width - left)
        let count = width + 2 * radius
        for column in 0..<count { columns[column] = ColumnCounts() }
        for y in rows.lowerBound - radius..<rows.lowerBound + radius { add(y, count) }
        for y in rows {
            add(y + radius, count)
            medians(y, width)
            remove(y - radius, count)
        }
    }

    private func row(_ y: Int) -> UnsafeMutableRawPointer {
        input.planes.0.row(max(0, min(y, input.height - 1))) + channel
    }

    private func value(_ column: Int, _ row: UnsafeMutableRawPointer) -> Int {
        Int(row.load(fromByteOffset: 4 * max(0, min(left - radius + column, input.width - 1)), as: UInt8.self))
    }

    private func add(_ y: Int, _ count: Int) {
        let row = row(y)
        for column in 0..<count {
            let value = value(column, row)
            columns[column].ranges &+= steps[value >> 4]
            columns[column].values[value >> 4] &+= steps[value & 15]
        }
    }

    private func remove(_ y: Int, _ count: Int) {
        let row = row(y)
        for column in 0..<count {
            let value = value(column, row)
            columns[column].ranges &-= steps[value >> 4]
            columns[column].values[value >> 4] &-= steps[value & 15]
        }
    }

    private func medians(_ y: Int, _ width: Int) {
        let side = 2 * radius + 1
        // Pixels of the window that are below the median, at most.
        let half = side * side / 2
        let target = output.planes.0.row(y) + 4 * left
        var window = ColumnCounts()
        for column in 0..<side { window.ranges &+= columns[column].ranges }
        // The first column of the window that each range's values are those of; none yet.
        var places = InlineArray<16, Int>(repeating: -2 * side)
        for x in 0..<width {
            if x > 0 { window.ranges &+= columns[x + side - 1].ranges &- columns[x - 1].ranges }
            let range = Self.rank(of: half, in: window.ranges)
            let below = range == 0 ? 0 : Int(window.ranges[range - 1])
            var values = window.values[range]
            let place = places[range]
            if 2 * (x - place) > side {
                values = Counts()
                for column in x..<x + side { values &+= columns[column].values[range] }
            } else if x > place {
                for moved in place..<x {
                    values &+= columns[moved + side].values[range] &- columns[moved].values[range]
                }
            }
            window.values[range] = values
            places[range] = x
            let median = 16 * range + Self.rank(of: half - below, in: values)
            target.storeBytes(of: UInt8(truncatingIfNeeded: median), toByteOffset: 4 * x + channel, as: UInt8.self)
            if channel == 0 { target.storeBytes(of: 255, toByteOffset: 4 * x + 3, as: UInt8.self) }
        }
    }

    /// The first place up to which there are more than `half`.
    @inline(__always)
    private static func rank(of half: Int, in counts: Counts) -> Int {
        let limit = Counts(repeating: UInt16(truncatingIfNeeded: half))
        return Int(Counts().replacing(with: 1, where: counts .<= limit).wrappedSum())
    }
}
