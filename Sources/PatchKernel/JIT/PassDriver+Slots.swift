import PatchMedia

/// What a pass reads and writes, in plain numbers.
extension PassDriver {
    /// What the row loop needs of a read slot.
    struct Slot {
        var strip: Int
        var dy: Int
        var edge: EdgeMode
        var rule: ReadSlot.RowRule
        var isCositedVertically: Bool
        /// Read from the lowest row upwards.
        var reversesRows: Bool
        /// Its rows follow from the picture's by `dy` and `log2Height` alone, while they lie inside.
        var isPlain: Bool
        /// Rows of the picture to one of the plane, as a power of two.
        var log2Height: Int
        /// Rows of a chunk that have a pointer.
        var rows: Int
        /// Of its first row's pointer.
        var word: Int
        /// Where its first row's copy stands among its strip's, where they are not shared.
        var place: Int
    }

    /// The slots that read one plane by one edge mode, whatever their rows: they share copies of the rows' ends.
    struct Strip {
        var input: Int
        var plane: Int
        var edge: EdgeMode
        var log2Width: Int
        var bytes: Int
        var chunkColumns: Int
        /// Read from the right end of the row.
        var reversesColumns: Bool
        /// Plane columns before and after a chunk that any of its slots reads.
        var left: Int
        var right: Int
        /// A row's copy stands at these bits of its number; negative where every slot has copies of its own, because rows
        /// that are read together may be the same in these bits.
        var mask: Int
        /// How many copies an edge has, of how many bytes. They, and the numbers of the rows they were made of, are in the
        /// workspace, those of the left edge before those of the right.
        var copies: Int
        var copyBytes: Int
        var copyOffset: Int
        var numberOffset: Int
    }

    /// One plane of the output.
    struct OutputPlane {
        var plane: Int
        var log2Width: Int
        var log2Height: Int
        var bytes: Int
        var chunkColumns: Int
        /// Of its first row's pointer.
        var word: Int
        var copyOffset: Int
        var copyBytes: Int
    }

    /// The slots of a layout, and the strips that they share, which have no place in the workspace yet.
    static func slotsAndStrips(_ description: PassDescription, _ layout: PassLayout) -> ([Slot], [Strip]) {
        var slots: [Slot] = []
        var strips: [Strip] = []
        /// How the rows of each strip's first slot are found.
        var rules: [ReadSlot.RowRule] = []
        for (index, key) in layout.slots.enumerated() {
            let stored = description.inputs[key.input]
            let plane = stored.format.layout(ofPlane: key.plane)
            let columns = layout.columns >> (plane.log2Width + (key.rule.isHalf ? 1 : 0))
            let number =
                strips.indices.first {
                    strips[$0].input == key.input && strips[$0].plane == key.plane && strips[$0].edge == key.edge
                        && rules[$0].isHalf == key.rule.isHalf && (rules[$0] == .direct) == (key.rule == .direct)
                } ?? strips.count
            if number == strips.count {
                rules.append(key.rule)
                strips.append(
                    Strip(
                        input: key.input, plane: key.plane, edge: key.edge, log2Width: plane.log2Width,
                        bytes: plane.bytesPerPixel, chunkColumns: columns, reversesColumns: stored.reversesColumns,
                        left: 0, right: 0, mask: -1, copies: 0, copyBytes: 0, copyOffset: 0, numberOffset: 0))
            }
            let rows = layout.isBlocked && key.rule == .direct ? 1 : layout.rows
            slots.append(
                Slot(
                    strip: number, dy: key.dy, edge: key.edge, rule: key.rule,
                    isCositedVertically: stored.color.siting.isCositedVertically, reversesRows: stored.reversesRows,
                    isPlain: (key.rule == .direct || key.rule == .chromaNear) && !stored.reversesRows,
                    log2Height: key.rule == .direct ? 0 : 1, rows: rows, word: layout.slotWord(row: 0, slot: index),
                    place: strips[number].copies))
            strips[number].left = max(strips[number].left, layout.halos[index].left)
            strips[number].right = max(strips[number].right, layout.halos[index].right)
            strips[number].copies += rows
        }
        for number in strips.indices where strips[number].edge != .wrap {
            // All rows that are read together lie within the reach of the slots (clamping and mirroring bring none from
            // further away), or within half of it and the other row of chroma on both sides. So no two of them have the
            // same place when there are as many places as that.
            let readers = slots.filter { $0.strip == number }
            let top = readers.reduce(Int.max) { min($0, $1.dy) }
            let reach = readers.reduce(Int.min) { max($0, $1.dy + $1.rows) } - top
            let most = reach + (readers.contains { $0.rule != .direct } ? 3 : 0)
            var copies = 1
            while copies < most { copies *= 2 }
            strips[number].copies = copies
            strips[number].mask = copies - 1
        }
        return (slots, strips)
    }
}
