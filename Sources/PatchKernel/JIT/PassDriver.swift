import Glibc
import PatchMedia
import Synchronization

/// Calls a pass's machine code for the rows of a picture.
///
/// The code reads and writes whole chunks of columns. Where a chunk and its surroundings lie inside the planes, it
/// works on them directly; at the left and right edges it works on small copies whose missing columns are filled by
/// the edge mode, so that one body of code serves all widths and never touches a byte outside a row. The chunks of an
/// edge are done in one call (`PassDriver+Edges`).
///
/// Thread-safety: all members may be called from any thread.
final class PassDriver: @unchecked Sendable {
    // Unchecked: `slots` is written in init only; workspaces are handed out by a mutex, each to one thread at a time.

    /// What the row loop needs of a read slot, in plain numbers.
    struct Slot {
        var input: Int
        var plane: Int
        var dy: Int
        var edge: EdgeMode
        var rule: ReadSlot.RowRule
        var isCositedVertically: Bool
        var log2Width: Int
        var bytes: Int
        var chunkColumns: Int
        /// Read from the right end of the row, or from the lowest row.
        var reversesColumns: Bool
        var reversesRows: Bool
        var left: Int
        var right: Int
        /// Where the slot's copies begin in the workspace, one of `copyBytes` a row.
        var copyOffset: Int
        var copyBytes: Int
        /// Rows of a chunk that have a pointer.
        var rows: Int
    }

    /// One plane of the output.
    struct OutputPlane {
        var plane: Int
        var log2Width: Int
        var log2Height: Int
        var bytes: Int
        var chunkColumns: Int
        var copyOffset: Int
        var copyBytes: Int
    }

    /// What the row loop needs to step a slot through a band, in the workspace: one load instead of many.
    struct Cursor {
        /// Row 0 of the plane, at the first chunk that is worked on in place.
        var base: UnsafeMutableRawPointer
        var stride: Int
        var dy: Int
        var lastRow: Int
        /// Rows of the picture to one of the plane, as a power of two.
        var log2Height: Int
        /// Its rows follow from the picture's by `dy` and `log2Height` alone, while they lie inside.
        var isPlain: Bool
        var rows: Int
        /// Of its first row's pointer.
        var word: Int
        /// The chunks that are worked on in place.
        var direct: Range<Int>
    }

    let layout: PassLayout
    let entries: JITLinker.Code
    let slots: UnsafeMutableBufferPointer<Slot>
    let outputs: UnsafeMutableBufferPointer<OutputPlane>
    /// The most chunks of an edge that there is room for in the copies.
    let edgeChunks: Int
    private let hoistedOffset: Int
    private let carryOffset: Int
    /// Cursors of the slots, then of the output planes.
    private let cursorOffset: Int
    let workspaceBytes: Int
    private let workspaces = Mutex<[UInt]>([])
    private static let mostEdgeChunks = 16

    init(description: PassDescription, layout: PassLayout, hoistedCount: Int, entries: JITLinker.Code) {
        self.layout = layout
        self.entries = entries
        var offset = (layout.wordCount * 8 + 63) / 64 * 64
        func reserve(_ bytes: Int) -> Int {
            let start = offset
            offset += (bytes + 63) / 64 * 64
            return start
        }
        hoistedOffset = reserve(hoistedCount * 4)
        carryOffset = reserve(64)
        cursorOffset = reserve(
            MemoryLayout<Cursor>.stride * (layout.slots.count + description.output.format.planeCount))
        // What lies beside the chunks that are read in place, and the last one, which the picture may end in.
        var edgeChunks = 1
        for (index, key) in layout.slots.enumerated() {
            let log2Width = description.inputs[key.input].format.layout(ofPlane: key.plane).log2Width
            let (columns, halo) = (layout.columns >> (log2Width + (key.rule.isHalf ? 1 : 0)), layout.halos[index])
            edgeChunks = max(edgeChunks, (max(halo.left, halo.right) + columns - 1) / columns + 1)
        }
        edgeChunks = min(edgeChunks, Self.mostEdgeChunks)
        self.edgeChunks = edgeChunks
        slots = .allocate(capacity: layout.slots.count)
        for (index, key) in layout.slots.enumerated() {
            let stored = description.inputs[key.input]
            let plane = stored.format.layout(ofPlane: key.plane)
            let halo = layout.halos[index]
            let columns = layout.columns >> (plane.log2Width + (key.rule.isHalf ? 1 : 0))
            let copyBytes = ((halo.left + edgeChunks * columns + halo.right) * plane.bytesPerPixel + 63) / 64 * 64
            slots.initializeElement(
                at: index,
                to: Slot(
                    input: key.input, plane: key.plane, dy: key.dy, edge: key.edge, rule: key.rule,
                    isCositedVertically: stored.color.siting.isCositedVertically, log2Width: plane.log2Width,
                    bytes: plane.bytesPerPixel, chunkColumns: columns,
                    reversesColumns: stored.reversesColumns, reversesRows: stored.reversesRows, left: halo.left,
                    right: halo.right,
                    copyOffset: reserve(copyBytes * layout.rows), copyBytes: copyBytes,
                    rows: layout.isBlocked && key.rule == .direct ? 1 : layout.rows))
        }
        let format = description.output.format
        let written = description.planes.written(of: format)
        outputs = .allocate(capacity: written.count)
        for (index, number) in written.enumerated() {
            let plane = format.layout(ofPlane: number)
            let columns = layout.columns >> plane.log2Width
            let copyBytes = (edgeChunks * columns * plane.bytesPerPixel + 63) / 64 * 64
            outputs.initializeElement(
                at: index,
                to: OutputPlane(
                    plane: number, log2Width: plane.log2Width, log2Height: plane.log2Height, bytes: plane.bytesPerPixel,
                    chunkColumns: columns, copyOffset: reserve(copyBytes * layout.rows), copyBytes: copyBytes))
        }
        workspaceBytes = offset
        workspaces.withLock { $0.reserveCapacity(64) }
    }

    deinit {
        slots.deinitialize()
        slots.deallocate()
        outputs.deinitialize()
        outputs.deallocate()
        workspaces.withLock { free in
            for address in free { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
        }
    }

    func run(
        inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference, uniforms: UnsafePointer<Float>,
        context: FrameContext, rows: Range<Int>
    ) {
        precondition(inputs.count == layout.inputCount, "a pass reads as many pictures as its kernel has inputs")
        let end = min(rows.upperBound, output.height)
        guard output.width > 0, rows.lowerBound >= 0, rows.lowerBound < end else { return }
        precondition(
            layout.isBlocked || rows.lowerBound % layout.rows == 0, "a band begins on a multiple of rowAlignment")
        for input in inputs { guard input.width > 0, input.height > 0 else { return } }

        let workspace = takeWorkspace()
        defer { workspaces.withLock { $0.append(UInt(bitPattern: workspace)) } }
        let words = workspace.assumingMemoryBound(to: Int.self)
        typealias Word = PassLayout.Word
        words[Word.width] = output.width
        words[Word.height] = output.height
        words[Word.uniforms] = Int(bitPattern: uniforms)
        words[Word.hoisted] = Int(bitPattern: workspace + hoistedOffset)
        words[Word.time] = Int(Float(context.time).bitPattern)
        words[Word.frame] = Int(context.frame)
        words[Word.ditherTable] = Int(bitPattern: ditherTable)
        words[Word.carry] = Int(bitPattern: workspace + carryOffset)
        words[Word.pictureWidth] = output.pictureWidth
        words[Word.pictureHeight] = output.pictureHeight
        for (index, input) in inputs.enumerated() {
            let base = layout.inputWord(index)
            words[base] = input.width
            words[base + 1] = input.height
            for plane in 0..<4 {
                words[base + 2 + 2 * plane] = Int(bitPattern: input.plane(plane).base)
                words[base + 3 + 2 * plane] = input.plane(plane).stride
            }
            words[base + PassLayout.pictureWord] = input.pictureWidth
            words[base + PassLayout.pictureWord + 1] = input.pictureHeight
        }
        entries.prepare(workspace)

        let chunks = (output.width + layout.columns - 1) / layout.columns
        var first = 0
        var last = output.width / layout.columns
        for slot in slots {
            let direct = directChunks(slot, inputs[slot.input].width)
            first = max(first, direct.lowerBound)
            last = min(last, direct.upperBound)
        }
        if last < first { (first, last) = (chunks, chunks) }
        let cursors = (workspace + cursorOffset).assumingMemoryBound(to: Cursor.self)
        setCursors(cursors, chunk: first, inputs: inputs, output: output)
        var row = rows.lowerBound
        while row < end {
            runRow(
                row, end: end, workspace: workspace, cursors: cursors, inputs: inputs, output: output,
                direct: first..<last, chunks: chunks)
            row += layout.rows
        }
    }

    private func takeWorkspace() -> UnsafeMutableRawPointer {
        if let address = workspaces.withLock({ $0.popLast() }), let known = UnsafeMutableRawPointer(bitPattern: address)
        {
            return known
        }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: workspaceBytes, alignment: 64)
        memset(memory, 0, workspaceBytes)
        return memory
    }

    /// The chunks for which a slot can be read in place.
    private func directChunks(_ slot: Slot, _ pictureWidth: Int) -> Range<Int> {
        let width = (pictureWidth + (1 << slot.log2Width) - 1) >> slot.log2Width
        if slot.reversesColumns {
            let whole = pictureWidth >> slot.log2Width
            let begin = (max(0, whole + slot.right - width) + slot.chunkColumns - 1) / slot.chunkColumns
            return begin..<max(begin, max(0, whole - slot.left) / slot.chunkColumns)
        }
        let begin = (slot.left + slot.chunkColumns - 1) / slot.chunkColumns
        let room = width - slot.right - slot.chunkColumns
        return begin..<max(begin, room < 0 ? 0 : room / slot.chunkColumns + 1)
    }

    /// The stored column that a chunk's samples begin at.
    @inline(__always)
    func firstColumn(_ slot: Slot, chunk: Int, _ pictureWidth: Int) -> Int {
        slot.reversesColumns
            ? (pictureWidth >> slot.log2Width) - (chunk + 1) * slot.chunkColumns : chunk * slot.chunkColumns
    }

    private func setCursors(
        _ cursors: UnsafeMutablePointer<Cursor>, chunk: Int, inputs: UnsafeBufferPointer<ImageReference>,
        output: ImageReference
    ) {
        for (index, slot) in slots.enumerated() {
            let picture = inputs[slot.input]
            let plane = picture.plane(slot.plane)
            (cursors + index).initialize(
                to: Cursor(
                    base: plane.base + firstColumn(slot, chunk: chunk, picture.width) * slot.bytes,
                    stride: plane.stride, dy: slot.dy, lastRow: picture.height - 1,
                    log2Height: slot.rule == .direct ? 0 : 1,
                    isPlain: (slot.rule == .direct || slot.rule == .chromaNear) && !slot.reversesRows,
                    rows: slot.rows, word: layout.slotWord(row: 0, slot: index),
                    direct: directChunks(slot, picture.width)))
        }
        for (index, target) in outputs.enumerated() {
            let plane = output.plane(target.plane)
            (cursors + slots.count + index).initialize(
                to: Cursor(
                    base: plane.base + chunk * target.chunkColumns * target.bytes, stride: plane.stride, dy: 0,
                    lastRow: output.height - 1, log2Height: target.log2Height, isPlain: true, rows: layout.rows,
                    word: layout.outputWord(row: 0, plane: target.plane), direct: 0..<0))
        }
    }

    /// - Parameter end: the band's end; rows from there on are written onto its last row, before that row itself.
    private func runRow(
        _ y: Int, end: Int, workspace: UnsafeMutableRawPointer, cursors: UnsafeMutablePointer<Cursor>,
        inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference, direct: Range<Int>, chunks: Int
    ) {
        let words = workspace.assumingMemoryBound(to: Int.self)
        words[PassLayout.Word.row] = y
        runEdge(
            0..<direct.lowerBound, y, end: end, workspace: workspace, cursors: cursors, inputs: inputs, output: output)
        if !direct.isEmpty {
            words[PassLayout.Word.column] = direct.lowerBound * layout.columns
            words[PassLayout.Word.chunkCount] = direct.count
            let lastRow = output.height - 1
            for index in 0..<slots.count {
                let cursor = cursors + index
                for row in 0..<cursor.pointee.rows {
                    let at = min(y + row, lastRow) + cursor.pointee.dy
                    let pointer: UnsafeMutableRawPointer
                    if cursor.pointee.isPlain, at >= 0, at <= cursor.pointee.lastRow {
                        pointer = cursor.pointee.base + (at >> cursor.pointee.log2Height) * cursor.pointee.stride
                    } else {
                        let slot = slots[index]
                        let column = firstColumn(slot, chunk: direct.lowerBound, inputs[slot.input].width)
                        pointer =
                            sourceRow(slot, y: y + row, inputs: inputs, height: output.height) + column * slot.bytes
                    }
                    words[cursor.pointee.word + row] = Int(bitPattern: pointer)
                }
            }
            for index in slots.count..<slots.count + outputs.count {
                let cursor = cursors + index
                for row in 0..<layout.rows {
                    let at = min(y + row, end - 1, lastRow) >> cursor.pointee.log2Height
                    words[cursor.pointee.word + row * layout.outputPlanes] = Int(
                        bitPattern: cursor.pointee.base + at * cursor.pointee.stride)
                }
            }
            entries.span(workspace)
        }
        runEdge(
            direct.upperBound..<chunks, y, end: end, workspace: workspace, cursors: cursors, inputs: inputs,
            output: output)
    }

    /// Where a slot's row begins for picture row `y` of the output.
    @inline(__always)
    func sourceRow(
        _ slot: Slot, y: Int, inputs: UnsafeBufferPointer<ImageReference>, height: Int
    ) -> UnsafeMutableRawPointer {
        let picture = inputs[slot.input]
        let plane = picture.plane(slot.plane)
        if slot.rule.isHalf {
            let at = min(y, height - 1)
            let row = (at >> 1) + (slot.rule == .halfNear ? 0 : at & 1 == 1 ? 1 : -1)
            return plane.row(max(0, min(picture.height - 1, row)))
        }
        let at = min(y, height - 1) + slot.dy
        let row = slot.edge.mapped(slot.reversesRows ? picture.height - 1 - at : at, picture.height)
        switch slot.rule {
        case .direct, .halfNear, .halfFar: return plane.row(row)
        case .chromaNear: return plane.row(row >> 1)
        case .chromaFar:
            let last = (picture.height - 1) >> 1
            let near = row >> 1
            if slot.isCositedVertically { return plane.row(min((row + 1) >> 1, last)) }
            return plane.row(max(0, min(last, row & 1 == 1 ? near + 1 : near - 1)))
        }
    }

    @inline(__always)
    func targetRow(_ plane: OutputPlane, y: Int, output: ImageReference) -> UnsafeMutableRawPointer {
        output.plane(plane.plane).row(min(y, output.height - 1) >> plane.log2Height)
    }
}

extension EdgeMode {
    /// A row or column anywhere, moved into 0 ..< extent.
    @inline(__always)
    func mapped(_ index: Int, _ extent: Int) -> Int {
        if index >= 0 && index < extent { return index }
        switch self {
        case .clamp, .transparent: return max(0, min(extent - 1, index))
        case .wrap:
            let rest = index % extent
            return rest < 0 ? rest + extent : rest
        case .mirror:
            var rest = index % (2 * extent)
            if rest < 0 { rest += 2 * extent }
            return rest < extent ? rest : 2 * extent - 1 - rest
        }
    }
}

/// The Bayer matrix with its columns repeated, one row every `PassLayout.ditherStride` floats; lives for ever.
nonisolated(unsafe) private let ditherTable: UnsafeMutablePointer<Float> = {
    // Safe: written once here, before anybody can read it.
    let table = UnsafeMutablePointer<Float>.allocate(capacity: 8 * PassLayout.ditherStride)
    for y in 0..<8 {
        for x in 0..<PassLayout.ditherStride { table[y * PassLayout.ditherStride + x] = bayerMatrix[y * 8 + x % 8] }
    }
    return table
}()
