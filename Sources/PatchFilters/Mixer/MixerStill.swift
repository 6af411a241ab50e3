import PatchGraph
import PatchKernel
import PatchMedia

/// A picture that stays as it is, where it is: what it adds to each plane of the canvas, and its alpha there.
///
/// A logo, a line of text, a frame around something are the same for thousands of ticks. Once such a picture has been the same for
/// some, it is converted to the canvas's planes a last time; from then on a tick reads two bytes a sample.
/// Where alpha is neither 0 nor 255, codes differ from those of a picture that is converted at each tick by at most 1.5.
/// Thread-safety: `next` is called by the operator's thread before the bands, which write disjoint rows.
final class MixerStill: @unchecked Sendable {
    // Unchecked: see above; the system gives memory to what is touched.

    /// All that a kept picture depends on; versions are as `OperatorCall.versions` has them.
    struct Key: Equatable {
        var picture: UInt64
        /// nil where nothing masks it.
        var mask: UInt64?
        var placed: PlacedSlot
    }
    enum Step {
        /// Drawn from its pixels.
        case draw
        /// Converted, then drawn from what was kept.
        case keep
        /// Drawn from what was kept.
        case reuse
    }

    /// Ticks in a row without a change before it is worth keeping: more than those for which a slow camera shows a picture.
    private static let patience = 5

    let color: Frame
    let alpha: Frame
    private var key: Key?
    private var ticks = 0

    init(_ canvas: VideoFormat) {
        color = Frame(allocating: canvas)
        // Luma's and chroma's, in the planes of Y and Cb; the code that sums alpha for chroma fills two planes.
        alpha = Frame(allocating: canvas)
    }

    /// What to do in this tick; asked once in each in which the picture is drawn.
    func next(_ key: Key) -> Step {
        guard key.picture != 0, key.mask != 0, self.key == key else {
            self.key = key
            ticks = 0
            return .draw
        }
        if ticks > Self.patience { return .reuse }
        ticks += 1
        return ticks > Self.patience ? .keep : .draw
    }
}
