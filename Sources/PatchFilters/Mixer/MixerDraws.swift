import PatchGraph
import PatchKernel
import PatchMedia

/// What a mixer draws in a tick, back to front. It is listed first and then drawn band by band, so that what lies over
/// something finds it in the cache, and so that threads meet once a tick.
///
/// Thread-safety: filled by the operator's thread; bands only read it.
final class MixerDraws: @unchecked Sendable {
    // Unchecked: see above.

    enum Work {
        /// One value all over: of one byte or so many.
        case fill(value: UInt32, bytes: Int)
        /// A plane of the canvas from a reader of the same components.
        case place(PlaneReader)
        /// A pass; its pictures begin at `images`, of which one may be a strip.
        case pass(CompiledPass, uniforms: Int, images: Int, count: Int, strip: Strip?)
    }

    /// A picture that is made row by row: a reader for each plane.
    struct Strip {
        var readers: (PlaneReader, PlaneReader?, PlaneReader?)
        /// Which picture of the pass it is.
        var image: Int
        var format: PixelFormat
        /// The draw before made the same rows.
        var isRepeated = false
    }

    struct Draw {
        var work: Work
        /// What of the canvas, in samples of its plane (of its first, for a pass over all planes).
        var area: PixelRect
        /// log2 of the pixels that a row spans.
        var log2Rows: Int
        /// `fill`, `place`: the canvas's plane. `pass`: the first of `output`'s planes.
        var plane: Plane
        var output: ImageReference
    }

    private(set) var count = 0
    private(set) var imageCount = 0
    private(set) var uniformCount = 0
    let draws: UnsafeMutableBufferPointer<Draw>
    let images: UnsafeMutableBufferPointer<ImageReference>
    let uniforms: UnsafeMutableBufferPointer<Float>
    private let nothing: Draw

    /// - Parameter slots: of the mixer.
    init(slots: Int, backgroundParts: Int) {
        let blank = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        nothing = Draw(
            work: .fill(value: 0, bytes: 1), area: PixelRect(0, 0, 0, 0), log2Rows: 0, plane: blank.plane(0),
            output: ImageReference(blank))
        // A shadow, what is beside the picture, and the picture: three planes each.
        let passes = 9 * slots
        draws = .allocate(capacity: passes + 3 * backgroundParts)
        draws.initialize(repeating: nothing)
        images = .allocate(capacity: max(1, 3 * passes))
        images.initialize(repeating: ImageReference(blank))
        uniforms = .allocate(capacity: max(1, MixerKernels.mostFloats * passes))
        uniforms.initialize(repeating: 0)
    }

    deinit {
        draws.deinitialize()
        draws.deallocate()
        images.deallocate()
        uniforms.deallocate()
    }

    func removeAll() { (count, imageCount, uniformCount) = (0, 0, 0) }

    func append(_ work: Work, _ area: PixelRect, log2Rows: Int, plane: Plane) {
        guard count < draws.count, !area.isEmpty else { return }
        draws[count] = nothing
        (draws[count].work, draws[count].area) = (work, area)
        (draws[count].log2Rows, draws[count].plane) = (log2Rows, plane)
        count += 1
    }

    /// A pass over a part of the canvas.
    /// - Parameters:
    ///   - output: the part; `area` says where it is.
    ///   - values: the pass's uniforms.
    func append(
        _ pass: CompiledPass, _ output: ImageReference, _ area: PixelRect, log2Rows: Int, canvas: Bool,
        source: ImageReference? = nil, mask: ImageReference? = nil, strip: Strip? = nil, values: SIMD16<Float>
    ) {
        guard count < draws.count, !area.isEmpty, uniformCount + MixerKernels.mostFloats <= uniforms.count,
            imageCount + 3 <= images.count
        else { return }
        var number = imageCount
        func add(_ picture: ImageReference?) {
            guard let picture else { return }
            images[number] = picture
            number += 1
        }
        add(canvas ? output : nil)
        add(source)
        add(mask)
        for place in 0..<MixerKernels.mostFloats { uniforms[uniformCount + place] = values[place] }
        draws[count] = Draw(
            work: .pass(pass, uniforms: uniformCount, images: imageCount, count: number - imageCount, strip: strip),
            area: area, log2Rows: log2Rows, plane: output.plane(0), output: output)
        count += 1
        imageCount = number
        uniformCount += MixerKernels.mostFloats
    }
}
