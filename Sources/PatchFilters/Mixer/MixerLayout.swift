import PatchGraph
import PatchMedia

/// A rectangle in pixels of the canvas; the first pixel spans 0…1.
struct MixerRect: Equatable {
    var x0: Float, y0: Float, x1: Float, y1: Float

    var width: Float { x1 - x0 }
    var height: Float { y1 - y0 }
    var isEmpty: Bool { !(x1 > x0 && y1 > y0) }
    var isWhole: Bool { self == MixerRect(x0: x0.rounded(), y0: y0.rounded(), x1: x1.rounded(), y1: y1.rounded()) }

    func grown(_ by: Float) -> MixerRect { MixerRect(x0: x0 - by, y0: y0 - by, x1: x1 + by, y1: y1 + by) }
    func moved(_ by: SIMD2<Float>) -> MixerRect {
        MixerRect(x0: x0 + by.x, y0: y0 + by.y, x1: x1 + by.x, y1: y1 + by.y)
    }
}

/// A rectangle of whole pixels.
struct PixelRect: Equatable {
    var x0: Int, y0: Int, x1: Int, y1: Int

    var width: Int { x1 - x0 }
    var height: Int { y1 - y0 }
    var isEmpty: Bool { x1 <= x0 || y1 <= y0 }

    init(_ x0: Int, _ y0: Int, _ x1: Int, _ y1: Int) { (self.x0, self.y0, self.x1, self.y1) = (x0, y0, x1, y1) }

    /// The pixels that a rectangle touches, or with `inside` those that lie in it wholly, cut to the canvas.
    init(_ rect: MixerRect, inside: Bool = false, width: Int, height: Int) {
        func side(_ value: Float, _ limit: Int, up: Bool) -> Int {
            let whole = value.rounded(up ? .up : .down)
            return whole >= Float(limit) ? limit : whole > 0 ? Int(whole) : 0
        }
        x0 = side(rect.x0, width, up: inside)
        y0 = side(rect.y0, height, up: inside)
        x1 = side(rect.x1, width, up: !inside)
        y1 = side(rect.y1, height, up: !inside)
    }

    func contains(_ other: PixelRect) -> Bool {
        x0 <= other.x0 && y0 <= other.y0 && x1 >= other.x1 && y1 >= other.y1
    }

    func intersection(_ other: PixelRect) -> PixelRect {
        PixelRect(max(x0, other.x0), max(y0, other.y0), min(x1, other.x1), min(y1, other.y1))
    }
}

/// A slot that is to be drawn in this tick.
struct PlacedSlot: Equatable {
    var index: Int
    /// What the slot takes on the canvas, and what the picture takes of it.
    var outer: MixerRect
    var picture: MixerRect
    /// What is shown of the source, in its pixels.
    var source: MixerRect
    var values: SlotValues
    /// Pixels that it may change, shadow included, cut to the canvas.
    var bounds: PixelRect
    /// Pixels that it hides whatever is below; empty when it hides none.
    var solid: PixelRect
}

/// Where each slot goes, and which are seen: worked out from the parameters alone, twice a tick.
///
/// Thread-safety: as the operator that owns it.
final class MixerLayout {
    let width: Int
    let height: Int
    private let sources: [(width: Int, height: Int)]
    /// Slots whose picture has no transparent pixel, and nothing else that would let through what is below.
    private let isOpaque: [Bool]
    /// Back to front; the first `count` are to be drawn.
    let placed: UnsafeMutableBufferPointer<PlacedSlot>
    private(set) var count = 0

    init(width: Int, height: Int, sources: [(width: Int, height: Int)], isOpaque: [Bool]) {
        self.width = width
        self.height = height
        self.sources = sources
        self.isOpaque = isOpaque
        placed = .allocate(capacity: max(1, sources.count))
    }

    deinit { placed.deallocate() }

    /// - Parameters:
    ///   - parameters: the canvas's colour, then each slot's values.
    ///   - present: the slots whose picture there is, one bit each.
    func update(_ parameters: UnsafePointer<Float>, present: UInt64) {
        count = 0
        for index in sources.indices where present & (1 << UInt64(index)) != 0 {
            let values = SlotValues(parameters + MixerSchema.canvasFloats + index * MixerSchema.slotFloats)
            guard let slot = place(index, values) else { continue }
            // Insertion by z; equal heights keep the order of the slots.
            var place = count
            while place > 0, placed[place - 1].values.z > slot.values.z {
                placed[place] = placed[place - 1]
                place -= 1
            }
            placed[place] = slot
            count += 1
        }
        dropHidden()
    }

    private func place(_ index: Int, _ values: SlotValues) -> PlacedSlot? {
        // A sum is finite when all its parts are.
        let sum = values.position.x + values.position.y + values.size.x + values.size.y + values.z
        guard values.isVisible, values.opacity > 0, sum.isFinite else { return nil }
        let outer = MixerRect(
            x0: values.position.x, y0: values.position.y, x1: values.position.x + values.size.x,
            y1: values.position.y + values.size.y)
        guard !outer.isEmpty else { return nil }
        let (width, height) = (Float(sources[index].width), Float(sources[index].height))
        let crop = values.crop
        var source = MixerRect(
            x0: max(0, min(1, crop.x)) * width, y0: max(0, min(1, crop.y)) * height,
            x1: max(0, min(1, crop.x + crop.z)) * width, y1: max(0, min(1, crop.y + crop.w)) * height)
        guard !source.isEmpty else { return nil }
        var picture = outer
        let scale = SIMD2(outer.width / source.width, outer.height / source.height)
        switch values.aspect {
        case 1:
            let factor = min(scale.x, scale.y)
            var (w, h) = (source.width * factor, source.height * factor)
            if outer.isWhole { (w, h) = (max(1, w.rounded()), max(1, h.rounded())) }
            var (x, y) = (outer.x0 + (outer.width - w) / 2, outer.y0 + (outer.height - h) / 2)
            if outer.isWhole { (x, y) = (x.rounded(.down), y.rounded(.down)) }
            picture = MixerRect(x0: x, y0: y, x1: x + w, y1: y + h)
        case 2:
            let factor = max(scale.x, scale.y)
            let (w, h) = (outer.width / factor, outer.height / factor)
            let (x, y) = (source.x0 + (source.width - w) / 2, source.y0 + (source.height - h) / 2)
            source = MixerRect(x0: x, y0: y, x1: x + w, y1: y + h)
        default: break
        }
        var bounds = PixelRect(outer, width: self.width, height: self.height)
        let hasShadow = values.shadowColor.w > 0
        if hasShadow {
            let shadow = PixelRect(
                outer.moved(values.shadowOffset).grown(values.shadowBlur), width: self.width, height: self.height)
            bounds =
                bounds.isEmpty
                ? shadow
                : PixelRect(
                    min(bounds.x0, shadow.x0), min(bounds.y0, shadow.y0), max(bounds.x1, shadow.x1),
                    max(bounds.y1, shadow.y1))
        }
        guard !bounds.isEmpty else { return nil }
        var solid = PixelRect(0, 0, 0, 0)
        if isOpaque[index], values.opacity >= 1, values.cornerRadius <= 0,
            values.borderWidth <= 0 || values.borderColor.w >= 1
        {
            let covered = values.fill.w >= 1 ? outer : picture
            solid = PixelRect(covered, inside: true, width: self.width, height: self.height)
        }
        return PlacedSlot(
            index: index, outer: outer, picture: picture, source: source, values: values, bounds: bounds, solid: solid)
    }

    /// Takes out slots that lie wholly under a solid one.
    private func dropHidden() {
        var kept = 0
        for index in 0..<count {
            var isHidden = false
            for above in index + 1..<max(index + 1, count)
            where !placed[above].solid.isEmpty && placed[above].solid.contains(placed[index].bounds) {
                isHidden = true
                break
            }
            if !isHidden {
                placed[kept] = placed[index]
                kept += 1
            }
        }
        count = kept
    }
}
