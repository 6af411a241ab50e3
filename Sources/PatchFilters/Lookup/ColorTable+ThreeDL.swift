import PatchMedia

extension ColorTable {
    /// Reads a .3dl file as Autodesk's Lustre and Flame write them: perhaps `3DMESH` and `Mesh IN OUT` (IN gives 2^IN + 1
    /// entries an axis, OUT the bits of a number), the positions of the grid in one line, then whole numbers, blue fastest.
    ///
    /// Without `Mesh` the depth is the least of 8, 10, 12, 14 and 16 bits that holds the largest number.
    /// - Throws: `PatchError.media` with the file's line.
    init(threeDL bytes: [UInt8], name: String) throws {
        var text = TableText(bytes, name: name)
        var grid: [Double] = []
        var bits: Int?
        var entries: [SIMD3<Float>] = []
        while let words = text.nextLine() {
            let word = text.text(words[0])
            if text.number(words[0]) == nil {
                switch word {
                case "3DMESH", "LUT8", "gamma": continue
                case "Mesh":
                    guard words.count == 3, let axis = text.integer(words[1]), let depth = text.integer(words[2]),
                        (1...8).contains(axis), (8...16).contains(depth)
                    else { throw text.error("Mesh needs two whole numbers", "such as Mesh 5 12") }
                    bits = depth
                default:
                    throw text.error("'\(word)' is no word of a .3dl file", "export it again; comments begin with #")
                }
                continue
            }
            let numbers = words.compactMap { text.integer($0) }.map(Double.init)
            guard numbers.count == words.count, numbers.allSatisfy({ (0...65_535).contains($0) }) else {
                throw text.error("an entry that is no whole number from 0 to 65535", "export it again")
            }
            if grid.isEmpty {
                guard numbers.count > 3 || numbers.count >= 2 && numbers[0] == 0 && numbers == numbers.sorted() else {
                    throw text.error("the line with the grid's positions is missing", "such as 0 64 128 … 1023")
                }
                guard numbers.count <= Self.cubeLimit, Self.isEven(numbers) else {
                    throw text.error("the grid's positions are not evenly spaced", "export it with an even grid")
                }
                grid = numbers
                entries.reserveCapacity(Self.count(.cube, grid.count))
                continue
            }
            guard numbers.count == 3 else { throw text.error("\(numbers.count) numbers", "an entry is three numbers") }
            guard entries.count < Self.count(.cube, grid.count) else {
                throw text.error("more than \(Self.count(.cube, grid.count)) entries", "take lines away")
            }
            entries.append(SIMD3(Float(numbers[0]), Float(numbers[1]), Float(numbers[2])))
        }
        let size = grid.count
        guard size >= 2 else { throw text.fileError("has no table", "export it again as a .3dl file") }
        guard entries.count == Self.count(.cube, size) else {
            throw text.error(
                "the file ends after \(entries.count) of \(Self.count(.cube, size)) entries",
                "it is cut off: copy it again")
        }
        let largest = entries.map { $0.max() }.max() ?? 0
        let depth = bits ?? [8, 10, 12, 14].first { largest <= Float(1 << $0 - 1) } ?? 16
        let scale = 1 / Float(1 << depth - 1)
        var sorted = entries
        for (index, entry) in entries.enumerated() {
            let (blue, green, red) = (index % size, index / size % size, index / size / size)
            sorted[(blue * size + green) * size + red] = entry * scale
        }
        self.init(.cube, size: size, entries: sorted)
    }

    /// Positions are whole numbers, so that an even grid has steps that differ by one.
    private static func isEven(_ positions: [Double]) -> Bool {
        guard let last = positions.last, last > 0, positions[0] == 0 else { return false }
        let step = last / Double(positions.count - 1)
        return positions.enumerated().allSatisfy { abs($1 - Double($0) * step) <= 1.5 }
    }
}
