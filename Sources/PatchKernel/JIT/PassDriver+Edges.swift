import Glibc
import PatchMedia

/// The chunks at the left and right edges of a row.
extension PassDriver {
    /// Chunks of one edge, as many in a call as there is room for.
    func runEdge(
        _ chunks: Range<Int>, _ y: Int, end: Int, workspace: UnsafeMutableRawPointer,
        cursors: UnsafeMutablePointer<Cursor>, inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference
    ) {
        var first = chunks.lowerBound
        while first < chunks.upperBound {
            let next = min(chunks.upperBound, first + edgeChunks)
            runEdgeChunks(
                first..<next, y, end: end, workspace: workspace, cursors: cursors, inputs: inputs, output: output)
            first = next
        }
    }

    /// Some chunks in one call, on copies where the planes end inside them.
    private func runEdgeChunks(
        _ chunks: Range<Int>, _ y: Int, end: Int, workspace: UnsafeMutableRawPointer,
        cursors: UnsafeMutablePointer<Cursor>, inputs: UnsafeBufferPointer<ImageReference>, output: ImageReference
    ) {
        let words = workspace.assumingMemoryBound(to: Int.self)
        words[PassLayout.Word.column] = chunks.lowerBound * layout.columns
        words[PassLayout.Word.chunkCount] = chunks.count
        for index in slots.indices {
            let slot = slots[index]
            let pictureWidth = inputs[slot.input].width
            let column = firstColumn(slot, chunk: chunks.lowerBound, pictureWidth)
            let begin = min(column, firstColumn(slot, chunk: chunks.upperBound - 1, pictureWidth)) - slot.left
            let direct = cursors[index].direct
            let isDirect = chunks.lowerBound >= direct.lowerBound && chunks.upperBound <= direct.upperBound
            for row in 0..<slot.rows {
                let source = sourceRow(slot, y: y + row, inputs: inputs, height: output.height)
                let pointer: UnsafeMutableRawPointer
                if isDirect {
                    pointer = source + column * slot.bytes
                } else {
                    let copy = workspace + slot.copyOffset + row * slot.copyBytes
                    copyColumns(
                        from: source, width: (pictureWidth + (1 << slot.log2Width) - 1) >> slot.log2Width,
                        begin: begin, count: slot.left + chunks.count * slot.chunkColumns + slot.right,
                        bytes: slot.bytes, edge: slot.edge, to: copy)
                    pointer = copy + (column - begin) * slot.bytes
                }
                words[layout.slotWord(row: row, slot: index)] = Int(bitPattern: pointer)
            }
        }
        for index in outputs.indices {
            let plane = outputs[index]
            let width = (output.width + (1 << plane.log2Width) - 1) >> plane.log2Width
            let column = chunks.lowerBound * plane.chunkColumns
            let isDirect = chunks.upperBound * plane.chunkColumns <= width
            for row in 0..<layout.rows {
                let pointer =
                    isDirect
                    ? targetRow(plane, y: min(y + row, end - 1), output: output) + column * plane.bytes
                    : workspace + plane.copyOffset + row * plane.copyBytes
                words[layout.outputWord(row: row, plane: plane.plane)] = Int(bitPattern: pointer)
            }
        }
        entries.span(workspace)
        // The first row last, as the machine code does.
        for row in (0..<layout.rows).reversed() {
            for index in outputs.indices {
                let plane = outputs[index]
                let width = (output.width + (1 << plane.log2Width) - 1) >> plane.log2Width
                let column = chunks.lowerBound * plane.chunkColumns
                // A row of halved height is written with the chunk's first row.
                guard chunks.upperBound * plane.chunkColumns > width, column < width,
                    row == 0 || plane.log2Height == 0
                else { continue }
                memcpy(
                    targetRow(plane, y: min(y + row, end - 1), output: output) + column * plane.bytes,
                    workspace + plane.copyOffset + row * plane.copyBytes, (width - column) * plane.bytes)
            }
        }
    }

    /// Columns `begin` … of a row of `width`; what lies beside it by the edge mode.
    private func copyColumns(
        from source: UnsafeMutableRawPointer, width: Int, begin: Int, count: Int, bytes: Int, edge: EdgeMode,
        to copy: UnsafeMutableRawPointer
    ) {
        let lower = min(count, max(0, -begin))
        let upper = max(lower, min(count, width - begin))
        memcpy(copy + lower * bytes, source + (begin + lower) * bytes, (upper - lower) * bytes)
        func fill(_ places: Range<Int>) {
            switch bytes {
            case 1: copyOutside(UInt8.self, places, source, width, begin, edge, copy)
            case 2: copyOutside(UInt16.self, places, source, width, begin, edge, copy)
            case 4: copyOutside(UInt32.self, places, source, width, begin, edge, copy)
            default: copyOutside(UInt64.self, places, source, width, begin, edge, copy)
            }
        }
        fill(0..<lower)
        fill(upper..<count)
    }

    @inline(__always)
    private func copyOutside<Pixel: BitwiseCopyable>(
        _ type: Pixel.Type, _ places: Range<Int>, _ source: UnsafeMutableRawPointer, _ width: Int, _ begin: Int,
        _ edge: EdgeMode, _ copy: UnsafeMutableRawPointer
    ) {
        let size = MemoryLayout<Pixel>.size
        for place in places {
            let pixel = source.loadUnaligned(fromByteOffset: edge.mapped(begin + place, width) * size, as: type)
            copy.storeBytes(of: pixel, toByteOffset: place * size, as: type)
        }
    }
}
