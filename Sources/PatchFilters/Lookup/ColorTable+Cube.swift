import PatchMedia

extension ColorTable {
    /// Reads a .cube file: Adobe's "Cube LUT Specification" 1.0 (2013), and Resolve's `LUT_1D_INPUT_RANGE` and
    /// `LUT_3D_INPUT_RANGE`.
    /// - Throws: `PatchError.media` with the file's line.
    init(cube bytes: [UInt8], name: String) throws {
        var text = TableText(bytes, name: name)
        var table: (shape: Shape, size: Int)?
        var (low, high): (SIMD3<Float>, SIMD3<Float>) = (.zero, .one)
        var entries: [SIMD3<Float>] = []
        var count = 0
        while let words = text.nextLine() {
            if let color = text.color(words) {
                guard table != nil else {
                    throw text.error(
                        "numbers before the table's size", "write LUT_3D_SIZE 33 (or LUT_1D_SIZE) above them")
                }
                guard entries.count < count else {
                    throw text.error("more than \(count) entries", "take lines away, or correct the size")
                }
                entries.append(color)
                continue
            }
            let word = text.text(words[0])
            switch word {
            case "TITLE": continue
            case "LUT_1D_SIZE", "LUT_3D_SIZE":
                let shape: Shape = word == "LUT_1D_SIZE" ? .curves : .cube
                guard table == nil else {
                    throw text.error(
                        table?.shape == shape ? "a second size" : "both a 1D and a 3D table",
                        "a .cube file holds one of them: export a 3D table of 33 or 65 points without a shaper")
                }
                let limit = shape == .curves ? Self.curveLimit : Self.cubeLimit
                guard words.count == 2, let size = text.integer(words[1]), (2...limit).contains(size) else {
                    throw text.error(
                        "\(word) is \(words.count > 1 ? text.text(words[1]) : "missing")", "it goes from 2 to \(limit)")
                }
                guard entries.isEmpty else { throw text.error("the size comes after entries", "put it above them") }
                table = (shape, size)
                count = Self.count(shape, size)
                entries.reserveCapacity(count)
            case "DOMAIN_MIN", "DOMAIN_MAX":
                guard let color = text.color(Array(words.dropFirst())) else {
                    throw text.error("\(word) needs three numbers", "write \(word) 0 0 0")
                }
                if word == "DOMAIN_MIN" { low = color } else { high = color }
            case "LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE":
                guard words.count == 3, let first = text.number(words[1]), let last = text.number(words[2]) else {
                    throw text.error("\(word) needs two numbers", "write \(word) 0 1")
                }
                (low, high) = (SIMD3(repeating: Float(first)), SIMD3(repeating: Float(last)))
            default:
                let isNumbers = text.number(words[0]) != nil
                throw text.error(
                    isNumbers
                        ? "'\(words.map { text.text($0) }.joined(separator: " ").prefix(60))' is no colour"
                        : "'\(word)' is no word of a .cube file",
                    isNumbers ? "an entry is three numbers" : "export it again; comments begin with #")
            }
        }
        guard let table else {
            throw text.fileError("has no LUT_1D_SIZE and no LUT_3D_SIZE", "export it again as a .cube file")
        }
        guard entries.count == count else {
            throw text.error("the file ends after \(entries.count) of \(count) entries", "it is cut off: copy it again")
        }
        for channel in 0..<3 where !(high[channel] > low[channel]) {
            throw text.fileError("has an empty domain", "DOMAIN_MAX must be above DOMAIN_MIN in each channel")
        }
        self.init(table.shape, size: table.size, entries: entries, low: low, high: high)
    }
}
