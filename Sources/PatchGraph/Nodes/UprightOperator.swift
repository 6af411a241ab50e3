import Glibc
import PatchKernel
import PatchMedia

/// Turns and mirrors a source's 8-bit pictures, plane by plane, so that everything after it reads them as they stand.
///
/// Samples are moved, not converted. Subsampled chroma that would sit elsewhere between its luma samples afterwards is moved
/// back by the half or quarter of a sample that it is off (the mean of two), by a kernel on the chroma planes.
/// Thread-safety: as `NativeOperator`.
final class UprightOperator: NativeOperator, @unchecked Sendable {
    // Unchecked: `planes` and `images` are used in `process` alone, which runs once at a time.
    let output: VideoFormat
    private let turn: Turn
    private let formats: [PlaneLayout]
    private let planes: UnsafeMutableBufferPointer<TurnedPlane>
    /// Moves chroma to where it belongs; nil where it is.
    private let shift: CompiledPass?
    /// Chroma before that.
    private let turned: Frame?
    private let placeholder: Frame
    private let images: UnsafeMutablePointer<ImageReference>
    private let uniforms: UnsafeMutablePointer<Float>

    /// Whether pictures of this format can be turned so that the format stays: 8 bits, and chroma subsampled alike both ways
    /// where axes change places.
    static func supports(_ format: VideoFormat) -> Bool {
        let pixelFormat = format.pixelFormat
        return format.orientation != .identity && pixelFormat.bitDepth == 8
            && (!format.orientation.swapsAxes || pixelFormat.log2ChromaWidth == pixelFormat.log2ChromaHeight)
    }

    /// - Throws: `PatchError.kernel` when the chroma kernel cannot be compiled.
    init(_ input: VideoFormat, compiler: KernelCompiler) throws {
        var output = input
        output.orientation = .identity
        (output.width, output.height) = input.displaySize
        self.output = output
        turn = Turn(input.orientation)
        formats = input.pixelFormat.planes
        planes = .allocate(capacity: formats.count)
        // Stands for pictures until there are some.
        placeholder = Frame(allocating: VideoFormat(.gray8, width: 1, height: 1))
        let nothing = placeholder.plane(0)
        planes.initialize(
            repeating: TurnedPlane(source: nothing, target: nothing, sourceWidth: 0, sourceHeight: 0, bytes: 1))
        let (right, down) = Self.shift(input, turn)
        if right != 0 || down != 0 {
            shift = try Self.shiftPass(right, down, output, compiler)
            turned = Frame(allocating: output)
        } else {
            (shift, turned) = (nil, nil)
        }
        images = .allocate(capacity: 1)
        images.initialize(to: ImageReference(placeholder))
        uniforms = .allocate(capacity: 1)
        uniforms.initialize(to: 0)
    }

    deinit {
        planes.deallocate()
        images.deallocate()
        uniforms.deallocate()
    }

    // MARK: Chroma's place

    /// How far chroma must move, in pixels of the upright picture, so that it sits as the format says.
    private static func shift(_ input: VideoFormat, _ turn: Turn) -> (right: Float, down: Float) {
        let siting = input.color.siting
        /// From where a sample sits after turning to where it should: in luma pixels after sample 0.
        func along(_ log2: Int, from: Bool, to: Bool, isReversed: Bool, extent: Int) -> Float {
            guard log2 > 0 else { return 0 }
            let before: Float = from ? 0 : 0.5
            let after = isReversed ? (extent % 2 == 0 ? 1 : 0) - before : before
            return (to ? 0 : 0.5) - after
        }
        let (across, upright) = (siting.isCositedAcross, siting.isCositedDown)
        let (log2Width, log2Height) = (input.pixelFormat.log2ChromaWidth, input.pixelFormat.log2ChromaHeight)
        return turn.swapsAxes
            ? (
                along(
                    log2Width, from: upright, to: across, isReversed: turn.reversesColumns, extent: input.height),
                along(log2Height, from: across, to: upright, isReversed: turn.reversesRows, extent: input.width)
            )
            : (
                along(log2Width, from: across, to: across, isReversed: turn.reversesColumns, extent: input.width),
                along(log2Height, from: upright, to: upright, isReversed: turn.reversesRows, extent: input.height)
            )
    }

    /// Chroma as it is `right` and `down` pixels away.
    private static func shiftPass(
        _ right: Float, _ down: Float, _ format: VideoFormat, _ compiler: KernelCompiler
    ) throws -> CompiledPass {
        var builder = KernelBuilder(
            name: "shift", inputs: [InputDeclaration(name: "image", alpha: .premultiplied)], alpha: .premultiplied,
            space: .any)
        let (dx, dy) = (right > 0 ? 1 : right < 0 ? -1 : 0, down > 0 ? 1 : down < 0 ? -1 : 0)
        do {
            var sum = builder.constant(Float(0))
            for (x, wx) in [(0, 1 - abs(right)), (dx, abs(right))] where wx > 0 {
                for (y, wy) in [(0, 1 - abs(down)), (dy, abs(down))] where wy > 0 {
                    let part = try builder.apply(.mul, [builder.tap(0, dx: x, dy: y), builder.constant(wx * wy)])
                    sum = try builder.apply(.add, [sum, part])
                }
            }
            let description = PassDescription(
                kernel: try builder.finish(sum), inputs: [PassInput(format)],
                output: PassOutput(format: format.pixelFormat, color: format.color))
            guard case .apart(let parts) = description.planePasses(), parts.count == 2 else {
                throw KernelError(.unsupported, "chroma of \(format.pixelFormat.rawValue) cannot be moved")
            }
            return try compiler.compile(parts[1])
        } catch let error as KernelError {
            throw PatchError(.kernel, error.message, remedy: error.remedy)
        }
    }

    // MARK: A tick

    func process(_ call: OperatorCall) -> OperatorResult {
        let source = call.inputs[0]
        for index in planes.indices {
            let layout = formats[index]
            let isMoved = index > 0 && shift != nil
            planes[index] = TurnedPlane(
                source: source.plane(at: index),
                target: isMoved ? turned?.plane(index) ?? call.output.plane(at: index) : call.output.plane(at: index),
                sourceWidth: layout.width(of: source.width), sourceHeight: layout.height(of: source.height),
                bytes: layout.bytesPerPixel)
        }
        let isSmall = output.width * output.height < Workers.smallestShared
        let bands = isSmall ? 1 : call.workers.count * 4
        call.workers.run(
            TurnJob(planes: UnsafeBufferPointer(planes), turn: turn, bands: bands), bands: bands, isSmall: isSmall)
        if let shift, let turned {
            let view = shift.description.planes
            images[0] = ImageReference(turned).showing(view, of: output.pixelFormat)
            call.workers.run(
                shift, inputs: UnsafeBufferPointer(start: images, count: 1),
                output: call.output.showing(view, of: output.pixelFormat), uniforms: uniforms, context: call.context)
        }
        return .filled
    }
}

/// An orientation as what becomes of rows and columns.
struct Turn {
    var swapsAxes: Bool
    /// The first column of the result is the last one (or row, where axes change places) of what is stored.
    var reversesColumns: Bool
    var reversesRows: Bool

    init(_ orientation: Orientation) {
        swapsAxes = orientation.swapsAxes
        switch orientation.quarterTurns {
        case 0: (reversesColumns, reversesRows) = (orientation.mirrored, false)
        case 1: (reversesColumns, reversesRows) = (!orientation.mirrored, false)
        case 2: (reversesColumns, reversesRows) = (!orientation.mirrored, true)
        default: (reversesColumns, reversesRows) = (orientation.mirrored, true)
        }
    }
}

/// One plane on its way from the stored to the upright picture.
struct TurnedPlane {
    var source: Plane
    var target: Plane
    /// In samples of `bytes` bytes (1, 2 or 4).
    var sourceWidth: Int
    var sourceHeight: Int
    var bytes: Int
}

/// Moves a band of rows of each plane.
struct TurnJob: BandWork {
    let planes: UnsafeBufferPointer<TurnedPlane>
    let turn: Turn
    let bands: Int

    func run(band: Int) {
        for plane in planes {
            let height = turn.swapsAxes ? plane.sourceWidth : plane.sourceHeight
            // Whole blocks of eight rows.
            let blocks = (height + 7) / 8
            let rows = min(height, blocks * band / bands * 8)..<min(height, blocks * (band + 1) / bands * 8)
            if turn.swapsAxes {
                turned(plane, rows)
            } else {
                for y in rows { row(plane, y) }
            }
        }
    }

    private func row(_ plane: TurnedPlane, _ y: Int) {
        let source = plane.source.row(turn.reversesRows ? plane.sourceHeight - 1 - y : y)
        let target = plane.target.row(y)
        let bytes = plane.sourceWidth * plane.bytes
        guard turn.reversesColumns else {
            memcpy(target, source, bytes)
            return
        }
        var at = 0
        while at + 8 <= bytes {
            let word = source.loadUnaligned(fromByteOffset: bytes - 8 - at, as: UInt64.self)
            target.storeBytes(of: Self.reversed(word, plane.bytes), toByteOffset: at, as: UInt64.self)
            at += 8
        }
        while at < bytes {
            for byte in 0..<plane.bytes {
                let from = bytes - plane.bytes - at + byte
                target.storeBytes(
                    of: source.load(fromByteOffset: from, as: UInt8.self), toByteOffset: at + byte, as: UInt8.self)
            }
            at += plane.bytes
        }
    }

    /// The samples of a word in the other order.
    @inline(__always)
    private static func reversed(_ word: UInt64, _ bytes: Int) -> UInt64 {
        if bytes == 1 { return word.byteSwapped }
        let halves = word >> 32 | word << 32
        if bytes == 4 { return halves }
        return (halves & 0x0000_ffff_0000_ffff) << 16 | (halves >> 16) & 0x0000_ffff_0000_ffff
    }

    /// Rows of the result from columns of what is stored, in blocks of 8 × 8.
    private func turned(_ plane: TurnedPlane, _ rows: Range<Int>) {
        let width = plane.sourceHeight
        var y = rows.lowerBound
        while y < rows.upperBound {
            let blockRows = min(8, rows.upperBound - y)
            var x = 0
            while x < width {
                let blockColumns = min(8, width - x)
                if plane.bytes == 1, blockRows == 8, blockColumns == 8 {
                    block(plane, x, y)
                } else {
                    for dy in 0..<blockRows {
                        for dx in 0..<blockColumns { sample(plane, x + dx, y + dy) }
                    }
                }
                x += 8
            }
            y += 8
        }
    }

    @inline(__always)
    private func sample(_ plane: TurnedPlane, _ x: Int, _ y: Int) {
        let row = plane.source.row(turn.reversesColumns ? plane.sourceHeight - 1 - x : x)
        let column = turn.reversesRows ? plane.sourceWidth - 1 - y : y
        let target = plane.target.row(y)
        switch plane.bytes {
        case 1: target.storeBytes(of: row.load(fromByteOffset: column, as: UInt8.self), toByteOffset: x, as: UInt8.self)
        case 2:
            target.storeBytes(
                of: row.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self), toByteOffset: 2 * x, as: UInt16.self
            )
        default:
            target.storeBytes(
                of: row.loadUnaligned(fromByteOffset: 4 * column, as: UInt32.self), toByteOffset: 4 * x, as: UInt32.self
            )
        }
    }

    /// Eight rows of eight bytes become eight columns.
    private func block(_ plane: TurnedPlane, _ x: Int, _ y: Int) {
        let column = turn.reversesRows ? plane.sourceWidth - 8 - y : y
        func load(_ index: Int) -> UInt64 {
            let row = turn.reversesColumns ? plane.sourceHeight - 1 - x - index : x + index
            return plane.source.row(row).loadUnaligned(fromByteOffset: column, as: UInt64.self)
        }
        var (a, b, c, d) = (load(0), load(1), load(2), load(3))
        var (e, f, g, h) = (load(4), load(5), load(6), load(7))
        @inline(__always)
        func exchange(_ p: inout UInt64, _ q: inout UInt64, _ shift: UInt64, _ mask: UInt64) {
            let moved = (p >> shift ^ q) & mask
            q ^= moved
            p ^= moved << shift
        }
        let (bytes, pairs, quads): (UInt64, UInt64, UInt64) = (
            0x00ff_00ff_00ff_00ff, 0x0000_ffff_0000_ffff, 0x0000_0000_ffff_ffff
        )
        exchange(&a, &b, 8, bytes)
        exchange(&c, &d, 8, bytes)
        exchange(&e, &f, 8, bytes)
        exchange(&g, &h, 8, bytes)
        exchange(&a, &c, 16, pairs)
        exchange(&b, &d, 16, pairs)
        exchange(&e, &g, 16, pairs)
        exchange(&f, &h, 16, pairs)
        exchange(&a, &e, 32, quads)
        exchange(&b, &f, 32, quads)
        exchange(&c, &g, 32, quads)
        exchange(&d, &h, 32, quads)
        func store(_ word: UInt64, _ index: Int) {
            plane.target.row(turn.reversesRows ? y + 7 - index : y + index)
                .storeBytes(of: word, toByteOffset: x, as: UInt64.self)
        }
        store(a, 0)
        store(b, 1)
        store(c, 2)
        store(d, 3)
        store(e, 4)
        store(f, 5)
        store(g, 6)
        store(h, 7)
    }
}

extension ColorSpec.ChromaSiting {
    fileprivate var isCositedAcross: Bool { self != .center }
    fileprivate var isCositedDown: Bool { self == .topLeft }
}

extension ImageReference {
    fileprivate func plane(at index: Int) -> Plane {
        switch index {
        case 0: planes.0
        case 1: planes.1
        case 2: planes.2
        default: planes.3
        }
    }
}
