import Glibc
import PatchGraph
import PatchKernel
import PatchMedia

/// A Gaussian of any width on pictures of half floats, at a cost that hardly depends on the width.
///
/// Up to a standard deviation of 2.6 pixels it is the exact sum. Beyond, the picture is halved until 2.6 pixels of the small
/// one are enough, blurred there, and doubled again; halving (1 3 3 1)/8 and doubling (¾, ¼) blur as well, which the
/// Gaussian between them makes up for: variances add, and each of the two has ¾ of a pixel of the larger picture.
/// Pictures are halved across once less, because doubling and halving along a row are gathers, and the sum across has up to
/// 16 taps on each side in exchange.
/// Small pictures have a margin, in which the edge's pixels go on, so that an edge is as if it went on for ever.
/// docs/decisions/blur.md has errors and times; 8-bit pictures have `BytePyramid`.
///
/// Thread-safety: used by its operator alone; all memory is allocated in `init`.
final class GaussianPyramid {
    /// The widest Gaussian that is computed as a sum; 8 taps on each side are 3.08 of it.
    static let widestSum: Float = 2.6
    private static let radius = 8
    /// Sums of small Gaussians need fewer taps.
    static let smallSum: Float = 1.3
    private static let smallRadius = 4
    private static let margin = 4

    /// One halving.
    private struct Level {
        /// The margins of the level above.
        var marginAbove: (x: Int, y: Int)
        var halvesAcross: Bool
        /// Half as high as the level above, and as wide: what comes down, and what goes up again. The picture itself where
        /// it is not halved across.
        var rows: Frame
        /// The small picture, and one of its kind for the blur.
        var picture: Frame
        var spare: Frame
    }

    private struct Passes {
        var across: CompiledPass
        var down: CompiledPass
    }

    private let full: Frame
    private var levels: [Level] = []
    private let small: Passes
    private let wide: Passes
    private let shrink: Passes
    private let joinRows: CompiledPass
    /// Sums across of up to 12 and 16 taps on each side.
    private let long: [(radius: Int, pass: CompiledPass)]
    private let growAcross: CompiledPass
    private let splitRows: CompiledPass
    private let uniforms: UnsafeMutablePointer<Float>
    private let images: UnsafeMutablePointer<ImageReference>

    /// - Parameters:
    ///   - format: of input and output: half floats.
    ///   - widest: the largest standard deviation that will be asked for, in pixels.
    /// - Throws: `PatchError.kernel`.
    init(_ format: VideoFormat, widest: Float, request: OperatorRequest) throws {
        func pass(_ kernel: () throws(KernelError) -> Kernel) throws -> CompiledPass {
            let made: Kernel
            do { made = try kernel() } catch {
                throw PatchError(.kernel, error.message, remedy: error.remedy)
            }
            return try request.compile(
                made, inputs: [VideoFormat](repeating: format, count: made.inputs.count), output: format)
        }
        func blur(_ direction: GaussianKernels.Direction, _ radius: Int) throws -> CompiledPass {
            try pass { () throws(KernelError) in try GaussianKernels.blur(direction, radius: radius) }
        }
        func shrink(_ direction: GaussianKernels.Direction) throws -> CompiledPass {
            try pass { () throws(KernelError) in try GaussianKernels.shrink(direction) }
        }
        full = Frame(allocating: format)
        small = Passes(across: try blur(.across, Self.smallRadius), down: try blur(.down, Self.smallRadius))
        wide = Passes(across: try blur(.across, Self.radius), down: try blur(.down, Self.radius))
        self.shrink = Passes(across: try shrink(.across), down: try shrink(.down))
        joinRows = try pass(GaussianKernels.joinRows)
        long = try [12, 16].map { ($0, try blur(.across, $0)) }
        growAcross = try pass { () throws(KernelError) in try GaussianKernels.grow(.across) }
        splitRows = try pass(GaussianKernels.splitRows)

        var (width, marginAbove) = (format.width, (x: 0, y: 0))
        var inner = (format.width, format.height)
        for index in 0..<Self.level(of: widest) {
            let halvesAcross = index > 0
            inner = (halvesAcross ? (inner.0 + 1) / 2 : inner.0, (inner.1 + 1) / 2)
            func picture(_ width: Int) -> Frame {
                var size = format
                (size.width, size.height) = (width, inner.1 + 2 * Self.margin)
                return Frame(allocating: size)
            }
            let small = picture(halvesAcross ? inner.0 + 2 * Self.margin : width)
            levels.append(
                Level(
                    marginAbove: marginAbove, halvesAcross: halvesAcross, rows: halvesAcross ? picture(width) : small,
                    picture: small, spare: picture(small.width)))
            (width, marginAbove) = (small.width, (halvesAcross ? Self.margin : 0, Self.margin))
        }
        uniforms = .allocate(capacity: 32)
        uniforms.initialize(repeating: 0, count: 32)
        images = .allocate(capacity: 2)
        images.initialize(repeating: ImageReference(full), count: 2)
    }

    deinit {
        uniforms.deallocate()
        images.deallocate()
    }

    /// How often a picture is halved for a standard deviation.
    static func level(of sigma: Float) -> Int {
        var (level, rest) = (0, sigma)
        while rest > widestSum, level < 12 { (level, rest) = (level + 1, rest / 2) }
        return level
    }

    /// Blurs `input` into `output`. `sigma` is cut to what the pyramid was made for.
    func run(sigma: Float, from input: ImageReference, to output: ImageReference, _ call: OperatorCall) {
        let count = min(Self.level(of: sigma), levels.count)
        if count == 0 {
            let sigma = min(sigma, Self.widestSum)
            let radius = sigma <= Self.smallSum ? Self.smallRadius : Self.radius
            setWeights(sigma, radius)
            let passes = radius == Self.radius ? wide : small
            run(passes.across, input, ImageReference(full), call)
            run(passes.down, ImageReference(full), output, call)
            return
        }
        for index in 0..<count { halve(index, input, call) }
        let last = levels[count - 1]
        let across = Self.rest(sigma, count - 1)
        let longer = long.first { across <= Self.widestSum / Float(Self.radius) * Float($0.radius) } ?? long.last
        setWeights(across, across <= Self.widestSum ? Self.radius : longer?.radius ?? Self.radius)
        run(
            across <= Self.widestSum ? wide.across : longer?.pass ?? wide.across, ImageReference(last.picture),
            ImageReference(last.spare), call)
        setWeights(Self.rest(sigma, count), Self.radius)
        run(wide.down, ImageReference(last.spare), ImageReference(last.picture), call)
        for index in (1..<count).reversed() { double(index, call) }
        finish(output, call)
    }

    /// What the sum in a picture that was halved so often must add. Each halving and doubling adds ¾ · 4^k; the sum of 4^k is
    /// (4^count − 1) / 3.
    static func rest(_ sigma: Float, _ count: Int) -> Float {
        let scale = Float(1 << count)
        let sum = sigma / scale
        return max(0.25, sum * sum - 0.5 * (1 - 1 / (scale * scale))).squareRoot()
    }

    /// From the level above (the input for the first) to `levels[index].picture`.
    private func halve(_ index: Int, _ input: ImageReference, _ call: OperatorCall) {
        let level = levels[index]
        let above = index == 0 ? input : ImageReference(levels[index - 1].picture)
        let rows = ImageReference(level.rows)
        func gather(_ from: Int, _ to: Int) {
            guard from < to else { return }
            uniforms[0] = Float(from - Self.margin)
            uniforms[1] = Float(level.marginAbove.y)
            run(shrink.down, above, rows.rows(from, to - from), call)
        }
        // Plain reads in the middle, gathers where rows beyond the edge are asked for. The first row of the middle has row 1 of
        // the level above as its uppermost one, the last one has the last or the last but one as its lowest.
        let first = Self.margin + 1 - level.marginAbove.y / 2
        let count = min((above.height - 3) / 2, rows.height - first)
        if count > 0 {
            images[0] = above.everySecondRow(from: 1)
            images[1] = above.everySecondRow(from: 2)
            call.workers.run(
                joinRows, inputs: UnsafeBufferPointer(start: images, count: 2),
                output: rows.rows(first, count), uniforms: uniforms, context: call.context)
            gather(0, first)
            gather(first + count, rows.height)
        } else {
            gather(0, rows.height)
        }
        guard level.halvesAcross else { return }
        uniforms[0] = Float(-Self.margin)
        uniforms[1] = Float(level.marginAbove.x)
        run(shrink.across, rows, ImageReference(level.picture), call)
    }

    /// From a level's picture to that of the one above.
    private func double(_ index: Int, _ call: OperatorCall) {
        let level = levels[index]
        uniforms[0] = Float(-level.marginAbove.x)
        uniforms[1] = Float(Self.margin)
        run(growAcross, ImageReference(level.picture), ImageReference(level.rows), call)
        split(ImageReference(level.rows), ImageReference(levels[index - 1].picture), level.marginAbove.y, call)
    }

    /// From the first level's picture, which is as wide as the output.
    private func finish(_ output: ImageReference, _ call: OperatorCall) {
        split(ImageReference(levels[0].picture), output, 0, call)
    }

    /// Twice as many rows: row 2i is ¼ of row i − 1 and ¾ of row i, row 2i + 1 is ¾ of row i and ¼ of row i + 1.
    private func split(
        _ rows: ImageReference, _ output: ImageReference, _ margin: Int, _ call: OperatorCall
    ) {
        for odd in 0..<min(2, output.height) {
            (uniforms[0], uniforms[1]) = odd == 0 ? (0.25, 0.75) : (0.75, 0.25)
            let first = Self.margin - 1 - margin / 2 + odd
            run(splitRows, rows.rows(first, rows.height - first), output.everySecondRow(from: odd), call)
        }
    }

    private func run(_ pass: CompiledPass, _ input: ImageReference, _ output: ImageReference, _ call: OperatorCall) {
        images[0] = input
        call.workers.run(
            pass, inputs: UnsafeBufferPointer(start: images, count: 1), output: output, uniforms: uniforms,
            context: call.context)
    }

    /// The Gaussian's weights, which sum to 1, into the uniforms.
    private func setWeights(_ sigma: Float, _ radius: Int) {
        var total: Float = 0
        for away in 0...radius {
            let distance = Float(away)
            let weight = sigma < 0.05 ? (away == 0 ? 1 : 0) : expf(-distance * distance / (2 * sigma * sigma))
            uniforms[away] = weight
            total += away == 0 ? weight : 2 * weight
        }
        for away in 0...radius { uniforms[away] /= total }
    }
}

extension ImageReference {
    /// Some of the rows as a picture of its own. For formats without subsampled planes.
    func rows(_ first: Int, _ count: Int) -> ImageReference {
        func moved(_ plane: Plane) -> Plane { Plane(base: plane.row(first), stride: plane.stride) }
        return ImageReference(
            planes: (moved(planes.0), moved(planes.1), moved(planes.2), moved(planes.3)), width: width, height: count)
    }

    /// Rows `first`, `first` + 2 … as a picture of its own. For formats without subsampled planes.
    func everySecondRow(from first: Int) -> ImageReference {
        func thinned(_ plane: Plane) -> Plane { Plane(base: plane.row(first), stride: 2 * plane.stride) }
        return ImageReference(
            planes: (thinned(planes.0), thinned(planes.1), thinned(planes.2), thinned(planes.3)), width: width,
            height: (height - first + 1) / 2)
    }
}
