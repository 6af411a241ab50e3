import Glibc
import PatchGraph
import PatchKernel
import PatchMedia

/// `native = "hough"`: straight lines through the white pixels of a `half1` picture, drawn into another one and as data.
///
/// Every white pixel (at least one half) votes for all lines x cos a + y sin a = r through it, in steps of one degree and one
/// pixel (Hough; Duda, Hart 1972). A line with at least `threshold` · (width + height) / 2 votes that is the greatest of the
/// 5×5 around it is kept, 64 at most, the strongest. Of more than 131,072 white pixels the first ones vote.
/// Data: `lines`, {x1, y1, x2, y2} in 0…1 from the upper left, strongest first; `count`.
/// Thread-safety: as `NativeOperator`.
final class HoughOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: `votes` is written by the bands of one `process`, each its own angles, and read after they are done.
    static let limit = 64
    static let kind = OperatorKind(
        name: "hough", summary: "Straight lines through white pixels.", formats: [.half1],
        parameters: [OperatorParameter("threshold", default: [0.2])],
        data: [OperatorData.Field("lines", width: 4, listOf: limit), OperatorData.Field("count")]
    ) { HoughOperator($0.inputs[0]) }

    static let angles = 180
    private static let mostPoints = 1 << 17

    private struct Line {
        var votes: Int32
        var angle: Int
        /// Index of the distance: `reach` is 0 to 1 pixels.
        var distance: Int
    }

    let output: VideoFormat
    /// Distances from −reach to reach pixels.
    private let reach: Int
    private let points: UnsafeMutableBufferPointer<SIMD2<Int32>>
    private let votes: UnsafeMutableBufferPointer<Int32>
    private let lines: UnsafeMutableBufferPointer<Line>

    init(_ input: VideoFormat) {
        output = VideoFormat(.half1, width: input.width, height: input.height, color: .srgb)
        reach = Int((Double(input.width * input.width + input.height * input.height)).squareRoot()) + 2
        points = .allocate(capacity: min(Self.mostPoints, input.width * input.height))
        points.initialize(repeating: SIMD2())
        votes = .allocate(capacity: Self.angles * (2 * reach + 1))
        votes.initialize(repeating: 0)
        lines = .allocate(capacity: Self.limit)
        lines.initialize(repeating: Line(votes: 0, angle: 0, distance: 0))
    }

    deinit {
        points.deallocate()
        votes.deallocate()
        lines.deallocate()
    }

    func process(_ call: OperatorCall) -> OperatorResult {
        let image = call.inputs[0]
        let found = collect(image)
        call.workers.run(
            Vote(points: UnsafeBufferPointer(rebasing: points[0..<found]), votes: votes, reach: reach),
            bands: Self.angles,
            isSmall: found < 64)
        let asked = call.parameters[0]
        let least = max(2, (asked.isFinite ? asked : 1) * Float(image.width + image.height) / 2)
        let count = select(least: Int32(min(least, 1e9)))
        for y in 0..<image.height { memset(call.output.planes.0.row(y), 0, 2 * image.width) }
        let hasData = call.data.count == 4 * Self.limit + 2
        if hasData {
            call.data[0] = Float(count)
            call.data[4 * Self.limit + 1] = Float(count)
        }
        for index in 0..<count {
            let ends = ends(lines[index], Float(image.width), Float(image.height))
            draw(ends, call.output)
            guard hasData else { continue }
            call.data[1 + 4 * index] = ends[0] / Float(image.width)
            call.data[2 + 4 * index] = ends[1] / Float(image.height)
            call.data[3 + 4 * index] = ends[2] / Float(image.width)
            call.data[4 + 4 * index] = ends[3] / Float(image.height)
        }
        return .filled
    }

    private func collect(_ image: ImageReference) -> Int {
        var count = 0
        for y in 0..<image.height {
            let row = image.planes.0.row(y).assumingMemoryBound(to: UInt16.self)
            for x in 0..<image.width where row[x] >= 0x3800 && row[x] < 0x8000 {
                guard count < points.count else { return count }
                points[count] = SIMD2(Int32(x), Int32(y))
                count += 1
            }
        }
        return count
    }

    private struct Vote: BandWork {
        let points: UnsafeBufferPointer<SIMD2<Int32>>
        let votes: UnsafeMutableBufferPointer<Int32>
        let reach: Int

        func run(band angle: Int) {
            let size = 2 * reach + 1
            guard let base = votes.baseAddress else { return }
            let own = base + angle * size
            own.update(repeating: 0, count: size)
            let turn = Float(angle) * .pi / Float(HoughOperator.angles)
            let (cosine, sine, middle) = (cosf(turn), sinf(turn), Float(reach))
            for point in points {
                // Pixels' centres lie halfway between whole distances, so a cell goes from one to the next. Never below 0.
                let distance = (Float(point.x) + 0.5) * cosine + (Float(point.y) + 0.5) * sine + middle
                own[max(0, min(size - 1, Int(distance)))] &+= 1
            }
        }
    }

    /// The strongest local maxima into `lines`, strongest first; how many.
    private func select(least: Int32) -> Int {
        let size = 2 * reach + 1
        var count = 0
        for angle in 0..<Self.angles {
            for distance in 0..<size where votes[angle * size + distance] >= least {
                let here = votes[angle * size + distance]
                guard isPeak(here, angle, distance) else { continue }
                // Insertion: there are few.
                guard count < lines.count || here > lines[count - 1].votes else { continue }
                var place = min(count, lines.count - 1)
                while place > 0, lines[place - 1].votes < here {
                    lines[place] = lines[place - 1]
                    place -= 1
                }
                lines[place] = Line(votes: here, angle: angle, distance: distance)
                count = min(count + 1, lines.count)
            }
        }
        return count
    }

    private func isPeak(_ here: Int32, _ angle: Int, _ distance: Int) -> Bool {
        let size = 2 * reach + 1
        for da in -2...2 {
            for dd in -2...2 where da != 0 || dd != 0 {
                var (a, d) = (angle + da, distance + dd)
                // Beyond 180 degrees the same lines come again, with the other sign.
                if a < 0 || a >= Self.angles { (a, d) = (a < 0 ? a + Self.angles : a - Self.angles, size - 2 - d) }
                guard d >= 0, d < size else { continue }
                let other = votes[a * size + d]
                // The first of several that are alike.
                if other > here || other == here && (a, d) < (angle, distance) { return false }
            }
        }
        return true
    }

    /// x1, y1, x2, y2 in pixels: where the line meets the picture's border.
    private func ends(_ line: Line, _ width: Float, _ height: Float) -> SIMD4<Float> {
        let turn = Float(line.angle) * .pi / Float(Self.angles)
        let (cosine, sine, distance) = (cosf(turn), sinf(turn), Float(line.distance - reach) + 0.5)
        // A point of the line, and how far one can go from it in both directions.
        let (px, py) = (distance * cosine, distance * sine)
        var (first, last) = (-Float.greatestFiniteMagnitude, Float.greatestFiniteMagnitude)
        func cut(_ at: Float, _ step: Float, _ limit: Float) {
            guard abs(step) > 1e-6 else { return }
            let (a, b) = (-at / step, (limit - at) / step)
            first = max(first, min(a, b))
            last = min(last, max(a, b))
        }
        cut(px, -sine, width)
        cut(py, cosine, height)
        return SIMD4(px - sine * first, py + cosine * first, px - sine * last, py + cosine * last)
    }

    private func draw(_ ends: SIMD4<Float>, _ image: ImageReference) {
        let (dx, dy) = (ends[2] - ends[0], ends[3] - ends[1])
        let steps = max(1, Int(max(abs(dx), abs(dy)).rounded(.up)))
        guard steps < 1 << 20 else { return }
        for step in 0...steps {
            let along = Float(step) / Float(steps)
            let (x, y) = (Int(ends[0] + along * dx), Int(ends[1] + along * dy))
            guard x >= 0, y >= 0, x < image.width, y < image.height else { continue }
            image.planes.0.row(y).storeBytes(of: 0x3C00, toByteOffset: 2 * x, as: UInt16.self)
        }
    }
}
