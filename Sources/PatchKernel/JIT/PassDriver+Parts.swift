import PatchMedia

/// The parts of a row: the chunks at its left edge, those that are worked on in place, and those at its right edge.
///
/// Rows, columns and bytes are bounded by the planes' sizes, so that sums of them cannot overflow: the loops over slots say
/// so by operators that do not check.
extension PassDriver {
    enum Side: Int {
        case left, right, inside

        static let count = 3
    }

    /// A call of `run`.
    struct Call {
        let workspace: UnsafeMutableRawPointer
        let inputs: UnsafeBufferPointer<ImageReference>
        let output: ImageReference
        /// The band's end; rows from there on are written onto its last row, before that row itself.
        let end: Int

        var words: UnsafeMutablePointer<Int> { workspace.assumingMemoryBound(to: Int.self) }
    }

    /// Where a part reads a strip, for all rows of a band.
    struct Source {
        /// Row 0 of the plane: at the part's first chunk where it is read in place, else at its first column.
        var base: UnsafeMutableRawPointer
        var stride: Int
        /// Of the picture.
        var lastRow: Int
        var isDirect: Bool
        /// The copies of rows, and which rows they are of; -1 is none.
        var copies: UnsafeMutableRawPointer
        var numbers: UnsafeMutablePointer<Int>
        /// The first chunk's place in a copy.
        var inset: Int
        /// The row's column that a copy begins at, and the row's width.
        var begin: Int
        var width: Int
        /// Bytes of a copy before the row's begin, inside the row and after its end.
        var before: Int
        var within: Int
        var after: Int
    }

    /// Where a part writes a plane, for all rows of a band.
    struct Target {
        /// Row 0 of the plane, at the part's first chunk.
        var base: UnsafeMutableRawPointer
        var stride: Int
        /// Bytes of a row that are copied out; negative where it is written in place.
        var copied: Int
    }

    /// The chunks of a part.
    struct Part {
        var column: Int
        var count: Int
    }

    private func part(_ side: Side, _ call: Call) -> UnsafeMutablePointer<Part> {
        (call.workspace + partOffset).assumingMemoryBound(to: Part.self) + side.rawValue
    }

    private func sources(_ side: Side, _ call: Call) -> UnsafeMutablePointer<Source> {
        (call.workspace + sourceOffset).assumingMemoryBound(to: Source.self) + side.rawValue * strips.count
    }

    private func targets(_ side: Side, _ call: Call) -> UnsafeMutablePointer<Target> {
        (call.workspace + targetOffset).assumingMemoryBound(to: Target.self) + side.rawValue * outputs.count
    }

    /// Says which chunks a part has, and forgets the copies that were made for it.
    func set(_ side: Side, _ chunks: Range<Int>, _ call: Call) {
        if chunks.isEmpty { return }
        let sources = self.sources(side, call)
        for (index, strip) in strips.enumerated() {
            let picture = call.inputs[strip.input]
            let plane = picture.plane(strip.plane)
            let width = (picture.width + (1 << strip.log2Width) - 1) >> strip.log2Width
            let column = firstColumn(strip, chunk: chunks.lowerBound, picture.width)
            let begin = min(column, firstColumn(strip, chunk: chunks.upperBound - 1, picture.width)) - strip.left
            let count = strip.left + chunks.count * strip.chunkColumns + strip.right
            let isDirect = begin >= 0 && begin + count <= width
            let lower = min(count, max(0, -begin))
            let upper = max(lower, min(count, width - begin))
            let edge = side == .right ? strip.copies : 0
            let numbers =
                (call.workspace + strip.numberOffset).assumingMemoryBound(to: Int.self) + edge
            if !isDirect { numbers.update(repeating: -1, count: strip.copies) }
            (sources + index).initialize(
                to: Source(
                    base: plane.base + (isDirect ? column * strip.bytes : 0), stride: plane.stride,
                    lastRow: picture.height - 1, isDirect: isDirect,
                    copies: call.workspace + strip.copyOffset + edge * strip.copyBytes, numbers: numbers,
                    inset: (column - begin) * strip.bytes, begin: begin, width: width, before: lower * strip.bytes,
                    within: (upper - lower) * strip.bytes, after: (count - upper) * strip.bytes))
        }
        let targets = self.targets(side, call)
        for (index, output) in outputs.enumerated() {
            let plane = call.output.plane(output.plane)
            let width = (call.output.width + (1 << output.log2Width) - 1) >> output.log2Width
            let column = chunks.lowerBound * output.chunkColumns
            let isDirect = chunks.upperBound * output.chunkColumns <= width
            (targets + index).initialize(
                to: Target(
                    base: plane.base + column * output.bytes, stride: plane.stride,
                    copied: isDirect ? -1 : max(0, width - column) * output.bytes))
        }
        part(side, call).initialize(to: Part(column: chunks.lowerBound * layout.columns, count: chunks.count))
    }

    /// The stored column that a chunk's samples begin at.
    private func firstColumn(_ strip: Strip, chunk: Int, _ pictureWidth: Int) -> Int {
        strip.reversesColumns
            ? (pictureWidth >> strip.log2Width) - (chunk + 1) * strip.chunkColumns : chunk * strip.chunkColumns
    }

    /// Chunks of one edge in picture row `y`, as many in a call as there is room for.
    func runEdge(_ side: Side, _ chunks: Range<Int>, _ y: Int, _ call: Call) {
        if chunks.isEmpty { return }
        if chunks.count <= edgeChunks { return runPart(side, y, call) }
        var first = chunks.lowerBound
        while first < chunks.upperBound {
            let next = min(chunks.upperBound, first + edgeChunks)
            set(side, first..<next, call)
            runPart(side, y, call)
            first = next
        }
    }

    /// One part of picture row `y`, and of those that are computed with it.
    func runPart(_ side: Side, _ y: Int, _ call: Call) {
        let words = call.words
        let part = self.part(side, call).pointee
        words[PassLayout.Word.column] = part.column
        words[PassLayout.Word.chunkCount] = part.count
        let sources = self.sources(side, call)
        let lastRow = call.output.height &- 1
        var index = 0
        while index < slots.count {
            let source = sources + slots[index].strip
            var row = 0
            repeat {
                let at = min(y &+ row, lastRow) &+ slots[index].dy
                let number =
                    slots[index].isPlain && at >= 0 && at <= source.pointee.lastRow
                    ? at &>> slots[index].log2Height : planeRow(slots[index], at, source.pointee.lastRow)
                let pointer: UnsafeMutableRawPointer
                if source.pointee.isDirect {
                    pointer = source.pointee.base + number &* source.pointee.stride
                } else {
                    let strip = slots[index].strip
                    let place =
                        strips[strip].mask >= 0 ? number & strips[strip].mask : slots[index].place &+ row
                    let copy = source.pointee.copies + place &* strips[strip].copyBytes
                    if source.pointee.numbers[place] != number {
                        source.pointee.numbers[place] = number
                        copyRow(number, of: source, strips[strip].bytes, strips[strip].edge, to: copy)
                    }
                    pointer = copy + source.pointee.inset
                }
                words[slots[index].word &+ row] = Int(bitPattern: pointer)
                row &+= 1
            } while row < slots[index].rows
            index &+= 1
        }
        let targets = self.targets(side, call)
        var isCopied = false
        for index in outputs.indices {
            let target = targets + index
            for row in 0..<layout.rows {
                let pointer: UnsafeMutableRawPointer
                if target.pointee.copied < 0 {
                    pointer = targetRow(target, outputs[index], y + row, call)
                } else {
                    pointer = call.workspace + outputs[index].copyOffset + row * outputs[index].copyBytes
                    isCopied = true
                }
                words[outputs[index].word + row * layout.outputPlanes] = Int(bitPattern: pointer)
            }
        }
        entries.span(call.workspace)
        if isCopied { copyOut(targets, y, call) }
    }

    /// What was written beyond a plane's last column is left out.
    private func copyOut(_ targets: UnsafeMutablePointer<Target>, _ y: Int, _ call: Call) {
        // The first row last, as the machine code does.
        for row in (0..<layout.rows).reversed() {
            for index in outputs.indices {
                let target = targets + index
                // A row of halved height is written with the chunk's first row.
                guard target.pointee.copied > 0, row == 0 || outputs[index].log2Height == 0 else { continue }
                copyBytes(
                    from: call.workspace + outputs[index].copyOffset + row * outputs[index].copyBytes,
                    to: targetRow(target, outputs[index], y + row, call), count: target.pointee.copied)
            }
        }
    }

    @inline(__always)
    private func targetRow(
        _ target: UnsafeMutablePointer<Target>, _ plane: OutputPlane, _ y: Int, _ call: Call
    ) -> UnsafeMutableRawPointer {
        let at = min(y, call.end &- 1) &>> plane.log2Height
        return target.pointee.base + at &* target.pointee.stride
    }

    /// The row of its plane that a slot reads.
    /// - Parameters:
    ///   - at: the picture's row that it asks for.
    ///   - lastRow: of the picture.
    private func planeRow(_ slot: Slot, _ at: Int, _ lastRow: Int) -> Int {
        if slot.rule.isHalf {
            let row = (at >> 1) + (slot.rule == .halfNear ? 0 : at & 1 == 1 ? 1 : -1)
            return max(0, min(lastRow, row))
        }
        let row = slot.edge.mapped(slot.reversesRows ? lastRow - at : at, lastRow + 1)
        switch slot.rule {
        case .direct, .halfNear, .halfFar: return row
        case .chromaNear: return row >> 1
        case .chromaFar:
            let (near, last) = (row >> 1, lastRow >> 1)
            if slot.isCositedVertically { return min((row + 1) >> 1, last) }
            return max(0, min(last, row & 1 == 1 ? near + 1 : near - 1))
        }
    }
}
