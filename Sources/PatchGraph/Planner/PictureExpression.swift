import PatchKernel
import PatchMedia

/// A picture that lies in a slot.
struct StoredPicture: Hashable {
    var slot: Int
    var format: VideoFormat

    var size: (width: Int, height: Int) { format.displaySize }
    var passInput: PassInput {
        PassInput(
            format: format.pixelFormat, color: format.color, orientation: format.orientation,
            premultiplied: format.premultiplied)
    }
}

/// Where the floats of a uniform come from.
enum UniformSource {
    case parameter(storeIndex: Int, count: Int)
    case constant([Float])

    var count: Int {
        switch self {
        case .parameter(_, let count): count
        case .constant(let floats): floats.count
        }
    }
}

/// A picture that is not computed yet: a kernel over stored pictures. Kernels are joined to it as long as they may run in
/// the same pass.
struct PictureExpression {
    var kernel: Kernel
    var inputs: [StoredPicture]
    /// One for each uniform of the kernel.
    var uniforms: [UniformSource]
    var width: Int
    var height: Int
    /// How an intermediate of this picture is stored, which says how many channels matter and how exactly.
    var storage = PixelFormat.half4
    /// Whose work this is, upstream first.
    var nodes: [NodeID]
}

/// What a node's output is while planning.
enum Picture {
    case stored(StoredPicture)
    case expression(PictureExpression)

    var size: (width: Int, height: Int) {
        switch self {
        case .stored(let stored): stored.size
        case .expression(let expression): (expression.width, expression.height)
        }
    }
}

/// Where a picture goes in a frame of another shape.
struct Placement {
    /// Destination rectangle and source crop as (x, y, width, height) in 0…1.
    var destination: [Float]
    var crop: [Float]

    init(from source: (width: Int, height: Int), to target: (width: Int, height: Int), fill: FillMode) {
        destination = [0, 0, 1, 1]
        crop = [0, 0, 1, 1]
        let sourceShape = Float(source.width) / Float(source.height)
        let targetShape = Float(target.width) / Float(target.height)
        switch fill {
        case .stretch: break
        case .fit where sourceShape > targetShape:
            let height = targetShape / sourceShape
            destination = [0, (1 - height) / 2, 1, height]
        case .fit:
            let width = sourceShape / targetShape
            destination = [(1 - width) / 2, 0, width, 1]
        case .fill where sourceShape > targetShape:
            let width = targetShape / sourceShape
            crop = [(1 - width) / 2, 0, width, 1]
        case .fill:
            let height = sourceShape / targetShape
            crop = [0, (1 - height) / 2, 1, height]
        }
    }

    /// Target pixels that one source pixel covers, the other way round: how much the picture shrinks, per axis.
    func shrink(from source: (width: Int, height: Int), to target: (width: Int, height: Int)) -> (Float, Float) {
        (
            Float(source.width) * crop[2] / max(1, Float(target.width) * destination[2]),
            Float(source.height) * crop[3] / max(1, Float(target.height) * destination[3])
        )
    }
}
