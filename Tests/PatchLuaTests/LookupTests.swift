import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Tables of colours: what is wrong with a file is said with its line and the graph's; pictures as tables.
@Suite struct LookupTests {
    private static let cube2 = ["0 0 0", "1 0 0", "0 1 0", "1 1 0", "0 0 1", "1 0 1", "0 1 1", "1 1 1"]

    struct Bad: Sendable, CustomStringConvertible {
        var description: String
        var name: String
        var text: String
        var says: String
    }

    private static func cube(_ head: [String], _ rows: [String] = cube2) -> String {
        (head + rows).joined(separator: "\n") + "\n"
    }

    static let bad = [
        Bad(
            description: "cut off", name: "a.cube", text: cube(["LUT_3D_SIZE 2"], Array(cube2.prefix(5))),
            says: "'a.cube' line 6: the file ends after 5 of 8 entries"),
        Bad(
            description: "cut off in a number", name: "a.cube", text: cube(["LUT_3D_SIZE 2"], ["0 0 0", "1 0"]),
            says: "'a.cube' line 3"),
        Bad(
            description: "too many", name: "a.cube", text: cube(["LUT_3D_SIZE 2"], cube2 + ["1 1 1"]),
            says: "'a.cube' line 10: more than 8 entries"),
        Bad(description: "no size", name: "a.cube", text: cube(["TITLE \"x\""]), says: "line 2: numbers before"),
        Bad(description: "empty", name: "a.cube", text: "", says: "has no LUT_1D_SIZE"),
        Bad(description: "size 1", name: "a.cube", text: "LUT_3D_SIZE 1\n0 0 0\n", says: "line 1: LUT_3D_SIZE is 1"),
        Bad(
            description: "a giant", name: "a.cube", text: "LUT_3D_SIZE 100000\n", says: "it goes from 2 to 256"),
        Bad(
            description: "NaN", name: "a.cube", text: cube(["LUT_3D_SIZE 2"], ["nan 0 0"]), says: "line 2"),
        Bad(
            description: "an infinity", name: "a.cube", text: cube(["LUT_3D_SIZE 2"], ["1e999 0 0"]), says: "line 2"),
        Bad(
            description: "an unknown word", name: "a.cube", text: cube(["# hello", "SIZE_3D 2"]),
            says: "line 2: 'SIZE_3D' is no word"),
        Bad(
            description: "an empty domain", name: "a.cube",
            text: cube(["LUT_3D_SIZE 2", "DOMAIN_MIN 1 0 0", "DOMAIN_MAX 1 1 1"]), says: "empty domain"),
        Bad(
            description: "two tables", name: "a.cube", text: cube(["LUT_1D_SIZE 2", "LUT_3D_SIZE 2"]),
            says: "line 2: both a 1D and a 3D table"),
        Bad(description: "binary", name: "a.cube", text: "\u{7F}ELF\u{1}\u{2}\n\u{3}", says: "line 1"),
        Bad(
            description: "3dl cut off", name: "a.3dl", text: "0 512 1023\n0 0 0\n0 0 1\n",
            says: "'a.3dl' line 3: the file ends after 2 of 27 entries"),
        Bad(
            description: "3dl uneven", name: "a.3dl", text: "0 100 1023 2047\n0 0 0\n",
            says: "line 1: the grid's positions are not evenly spaced"),
        Bad(description: "3dl word", name: "a.3dl", text: "MESH 3\n", says: "line 1: 'MESH' is no word"),
        Bad(description: "3dl empty", name: "a.3dl", text: "", says: "has no table"),
    ]

    @Test(arguments: bad) func brokenTablesNameTheirLineAndTheGraphs(_ bad: Bad) {
        let workspace = Workspace()
        workspace.write(bad.name, bad.text)
        let error = workspace.errorText(
            "local cam = camera{\"cam\"}\ncam >> filter.lut3d{ \"look\", file = \"\(bad.name)\" } >> display{\"d\"}")
        #expect(error.hasPrefix("graph.lua:2:"), "\(error)")
        #expect(error.contains(bad.says), "\(error)")
        #expect(error.contains("; "), "a remedy: \(error)")
    }

    @Test func missingAndForeignFilesAreRefused() {
        let workspace = Workspace()
        func error(_ line: String) -> String { workspace.errorText("camera{'c'} >> \(line) >> display{'d'}") }
        #expect(error("filter.lut3d{ 'look' }").contains("needs file ="))
        #expect(error("filter.lut3d{ 'look', file = 'none.cube' }").contains("there is no file 'none.cube'"))
        #expect(error("filter.lut3d{ 'look', file = '/etc/passwd' }").contains("outside the graph's folder"))
        // A script cannot use a filter's word to read files that no option named.
        #expect(
            error("kernel{ passes = function() lookupTable('/etc/passwd') return {} end } { 'k' }").contains(
                "takes a file option"))
    }

    /// Sizes up to 129 and beyond, line ends of three kinds, and no number lost.
    @Test(arguments: [2, 33, 65, 129, 130]) func largeTablesAreReadWhole(size: Int) throws {
        let workspace = Workspace()
        var text = "LUT_3D_SIZE \(size)\r\n"
        let last = Float(size - 1)
        for b in 0..<size {
            for g in 0..<size {
                for r in 0..<size { text += "\(Float(g) / last) \(Float(b) / last) \(Float(r) / last)\r\n" }
            }
        }
        let table = try LookupTables().table(workspace.write("turned.cube", text))
        #expect(table.size == size && table.entries.count == size * size * size)
        let frame = table.picture(.half4)
        #expect(frame.width <= VideoFormat.maximumSide && frame.height <= VideoFormat.maximumSide)
        // The entry of r, g, b is g, b, r, wherever it lies in the picture.
        let layout = ColorTable.layout(.cube, size: size)
        for (r, g, b) in [(0, 0, 0), (size - 1, 0, 1), (1, size - 1, size - 1), (size / 2, size / 3, size - 1)] {
            let (x, y) = (b % layout.across * size + r, b / layout.across * size + g)
            let entry = (0..<3).map { Float(frame.plane($0).row(y).load(fromByteOffset: 2 * x, as: Float16.self)) }
            for (value, expected) in zip(entry, [g, b, r]) {
                #expect(abs(value - Float(expected) / last) < 0.001)
            }
        }
    }

    /// What the words `tiles` and `hald` mean, on pictures drawn here by their own definition.
    @Test func picturesAreTables() throws {
        func picture(_ side: Int, _ color: (Int, Int) -> (Int, Int, Int)) throws -> Frame {
            let frame = try #require(FramePool(format: VideoFormat(.rgba, width: side, height: side)).take())
            for y in 0..<side {
                for x in 0..<side {
                    let (r, g, b) = color(x, y)
                    let row = frame.plane(0).row(y)
                    for (index, code) in [r, g, b, 255].enumerated() {
                        row.storeBytes(of: UInt8(code), toByteOffset: 4 * x + index, as: UInt8.self)
                    }
                }
            }
            return frame
        }
        // GPUImage's neutral lookup picture with red and blue swapped.
        let tiles = try picture(512) { x, y in
            ((x / 64 + 8 * (y / 64)) * 255 / 63, y % 64 * 255 / 63, x % 64 * 255 / 63)
        }
        let hald = try picture(8) { x, y in
            let index = x + 8 * y
            return (255 - index % 4 * 85, index / 4 % 4 * 85, index / 16 * 85)
        }
        let small = try picture(100) { _, _ in (0, 0, 0) }
        let tables = LookupTables { path in path.hasSuffix("tiles.png") ? tiles : path.hasSuffix("h.png") ? hald : small
        }
        let swapped = try tables.table("/tiles.png", layout: .tiles)
        #expect(swapped.size == 64)
        let entry = swapped.entries[(5 * 64 + 20) * 64 + 63]
        #expect(abs(entry.x - 5.0 / 63) < 0.004 && abs(entry.y - 20.0 / 63) < 0.004 && entry.z == 1)
        let negative = try tables.table("/h.png")
        #expect(negative.size == 4 && negative.entries.count == 64)
        #expect(negative.entries[1] == SIMD3(2.0 / 3, 0, 0) && negative.entries[63] == SIMD3(0, 1, 1))
        for layout in ColorTable.PictureLayout.allCases {
            let error = #expect(throws: PatchError.self) { try tables.table("/other.png", layout: layout) }
            #expect(error?.message.contains("100x100") == true && error?.remedy.isEmpty == false)
        }
        let none = #expect(throws: PatchError.self) { try LookupTables().table("/x.png") }
        #expect(none?.remedy.contains(".cube") == true)
    }

    /// A table that is written anew is read anew.
    @Test func savedTablesAreReadAgain() throws {
        let workspace = Workspace()
        let tables = LookupTables()
        let path = workspace.write("a.cube", Self.cube(["LUT_3D_SIZE 2"]))
        #expect(try tables.table(path).entries[7] == SIMD3(1, 1, 1))
        workspace.write("a.cube", Self.cube(["LUT_3D_SIZE 2"], Array(Self.cube2.prefix(7)) + ["0.5 0.25 0.125"]))
        #expect(try tables.table(path).entries[7] == SIMD3(0.5, 0.25, 0.125))
    }
}
