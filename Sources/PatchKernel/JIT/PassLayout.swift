import PatchMedia

/// One row of one plane that the machine code reads through a pointer: which row, and how far beyond the chunk.
struct ReadSlot: Hashable {
    enum RowRule: Hashable {
        /// Row y + dy of the picture.
        case direct
        /// The chroma row nearest to picture row y + dy, and the other one that it is interpolated with.
        case chromaNear, chromaFar
        /// The same of a picture of half the size, of which all planes are so.
        case halfNear, halfFar

        var isHalf: Bool { self == .halfNear || self == .halfFar }
    }
    var input: Int
    var plane: Int
    var dy: Int
    var edge: EdgeMode
    var rule: RowRule
}

/// The memory through which the driver and the machine code of one pass talk: 8-byte words, the same in both.
///
/// Words: width, height, first column, first row, chunks, uniforms, hoisted values, time, frame, dither table, carried
/// chroma, the whole picture's width and height, then for each input its stored width and height, (base, stride) of four
/// planes and the whole picture's width and height, then for each row of a chunk the pointers of its read slots and of its
/// output planes.
struct PassLayout {
    enum Word {
        static let width = 0
        static let height = 1
        static let column = 2
        static let row = 3
        static let chunkCount = 4
        static let uniforms = 5
        static let hoisted = 6
        static let time = 7
        static let frame = 8
        static let ditherTable = 9
        static let carry = 10
        static let pictureWidth = 11
        static let pictureHeight = 12
        static let inputs = 16
    }
    static let wordsPerInput = 12
    /// Where an input's words say its whole picture's size.
    static let pictureWord = 10
    /// Floats from one row of the dither table to the next: eight columns repeated, so that reads may begin anywhere.
    static let ditherStride = 80

    let inputCount: Int
    /// Columns and rows that the machine code handles at a time.
    let columns: Int
    let rows: Int
    private(set) var slots: [ReadSlot] = []
    /// Plane columns before and after a chunk that a slot reads.
    private(set) var halos: [(left: Int, right: Int)] = []
    let outputPlanes: Int
    /// Rows are taken several at a time only to share what vertical neighbours read: a row of a `direct` slot is found
    /// by its distance from the chunk's first row, so that only the first row's pointers are set.
    let isBlocked: Bool

    init(description: PassDescription, columns: Int, rows: Int) {
        inputCount = description.inputs.count
        self.columns = columns
        self.rows = rows
        outputPlanes = description.output.format.planeCount
        isBlocked = rows > description.rowAlignment
    }

    mutating func slot(_ slot: ReadSlot, shift: Int) -> Int {
        let index: Int
        if let known = slots.firstIndex(of: slot) {
            index = known
        } else {
            index = slots.count
            slots.append(slot)
            halos.append((0, 0))
        }
        halos[index].left = max(halos[index].left, -shift)
        halos[index].right = max(halos[index].right, shift)
        return index
    }

    func inputWord(_ input: Int) -> Int { Word.inputs + input * Self.wordsPerInput }
    private var pointerBase: Int { Word.inputs + inputCount * Self.wordsPerInput }
    /// Output pointers come first, so that they do not move while slots are still being added.
    func outputWord(row: Int, plane: Int) -> Int { pointerBase + row * outputPlanes + plane }
    func slotWord(row: Int, slot: Int) -> Int { pointerBase + rows * outputPlanes + slot * rows + row }
    var wordCount: Int { pointerBase + rows * outputPlanes + slots.count * rows }
}
