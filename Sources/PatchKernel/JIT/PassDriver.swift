import Glibc
import PatchMedia
import Synchronization

/// Calls a pass's machine code for the rows of a picture.
///
/// The code reads and writes whole chunks of columns. Where a chunk and its surroundings lie inside the planes, it
/// works on them directly; at the left and right edges it works on small copies whose missing columns are filled by
/// the edge mode, so that one body of code serves all widths and never touches a byte outside a row. The chunks of an
/// edge are done in one call (`PassDriver+Parts`).
///
/// Thread-safety: all members may be called from any thread.
final class PassDriver: @unchecked Sendable {
    // Unchecked: what init allocates is written there only; workspaces are handed out by a mutex, each to one thread at
    // a time.

    let layout: PassLayout
    let entries: JITLinker.Code
    let slots: UnsafeMutableBufferPointer<Slot>
    let strips: UnsafeMutableBufferPointer<Strip>
    let outputs: UnsafeMutableBufferPointer<OutputPlane>
    /// The most chunks of an edge that there is room for in the copies.
    let edgeChunks: Int
    private let hoistedOffset: Int
    private let carryOffset: Int
    /// For each part of a row: its chunks, sources of the strips, then targets of the output planes.
    let partOffset: Int
    let sourceOffset: Int
    let targetOffset: Int
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
        var (slots, strips) = Self.slotsAndStrips(description, layout)
        // What lies beside the chunks that are read in place, and the last one, which the picture may end in.
        let edgeChunks = min(
            Self.mostEdgeChunks,
            strips.reduce(1) { max($0, (max($1.left, $1.right) + $1.chunkColumns - 1) / $1.chunkColumns + 1) })
        self.edgeChunks = edgeChunks
        for index in strips.indices {
            let strip = strips[index]
            let columns = strip.left + edgeChunks * strip.chunkColumns + strip.right
            // What is filled beside a row may go on for less than a vector.
            strips[index].copyBytes = (columns * strip.bytes + Self.vectorBytes + 63) / 64 * 64
            strips[index].copyOffset = reserve(2 * strip.copies * strips[index].copyBytes)
            strips[index].numberOffset = reserve(2 * strip.copies * MemoryLayout<Int>.stride)
        }
        let format = description.output.format
        let outputs = description.planes.written(of: format).map { number in
            let plane = format.layout(ofPlane: number)
            let columns = layout.columns >> plane.log2Width
            let copyBytes = (edgeChunks * columns * plane.bytesPerPixel + 63) / 64 * 64
            return OutputPlane(
                plane: number, log2Width: plane.log2Width, log2Height: plane.log2Height, bytes: plane.bytesPerPixel,
                chunkColumns: columns, word: layout.outputWord(row: 0, plane: number),
                copyOffset: reserve(copyBytes * layout.rows), copyBytes: copyBytes)
        }
        partOffset = reserve(Side.count * MemoryLayout<Part>.stride)
        sourceOffset = reserve(Side.count * MemoryLayout<Source>.stride * strips.count)
        targetOffset = reserve(Side.count * MemoryLayout<Target>.stride * outputs.count)
        workspaceBytes = offset
        self.slots = .allocate(capacity: slots.count)
        _ = self.slots.initialize(from: slots)
        self.strips = .allocate(capacity: strips.count)
        _ = self.strips.initialize(from: strips)
        self.outputs = .allocate(capacity: outputs.count)
        _ = self.outputs.initialize(from: outputs)
        workspaces.withLock { $0.reserveCapacity(64) }
    }

    deinit {
        slots.deinitialize()
        slots.deallocate()
        strips.deinitialize()
        strips.deallocate()
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
        for strip in strips {
            let direct = directChunks(strip, inputs[strip.input].width)
            first = max(first, direct.lowerBound)
            last = min(last, direct.upperBound)
        }
        if last < first { (first, last) = (chunks, chunks) }
        let call = Call(workspace: workspace, inputs: inputs, output: output, end: end)
        let (left, right) = (0..<first, last..<chunks)
        if left.count <= edgeChunks { set(.left, left, call) }
        set(.inside, first..<last, call)
        if right.count <= edgeChunks { set(.right, right, call) }
        var row = rows.lowerBound
        while row < end {
            words[Word.row] = row
            runEdge(.left, left, row, call)
            if first < last { runPart(.inside, row, call) }
            runEdge(.right, right, row, call)
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

    /// The chunks for which a strip can be read in place.
    private func directChunks(_ strip: Strip, _ pictureWidth: Int) -> Range<Int> {
        let width = (pictureWidth + (1 << strip.log2Width) - 1) >> strip.log2Width
        if strip.reversesColumns {
            let whole = pictureWidth >> strip.log2Width
            let begin = (max(0, whole + strip.right - width) + strip.chunkColumns - 1) / strip.chunkColumns
            return begin..<max(begin, max(0, whole - strip.left) / strip.chunkColumns)
        }
        let begin = (strip.left + strip.chunkColumns - 1) / strip.chunkColumns
        let room = width - strip.right - strip.chunkColumns
        return begin..<max(begin, room < 0 ? 0 : room / strip.chunkColumns + 1)
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
