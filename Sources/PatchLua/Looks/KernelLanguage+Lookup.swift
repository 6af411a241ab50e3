internal import CLua
import PatchFilters
import PatchGraph
import PatchMedia

/// `lookupTable(p.file [, layout])`: what a filter file must know of a table while it is traced.
extension KernelLanguage {
    func defineLookup() {
        define("lookupTable") { language, call in
            var layout = ColorTable.PictureLayout.hald
            if !call.isAbsent(2) {
                guard let word = call.string(2), let known = ColorTable.PictureLayout(rawValue: word) else {
                    throw call.error("the layout is \(call.describe(2))", "it is \"hald\" or \"tiles\"")
                }
                layout = known
            }
            language.push(try language.lookupTable(layout, call), call)
            return 1
        }
    }

    private func lookupTable(_ layout: ColorTable.PictureLayout, _ call: LuaCall) throws -> ColorTable {
        if call.isAbsent(1) { return .identity }
        // Only files that the graph's rules for assets have let through.
        guard let path = call.string(1), lookupFiles.contains(path) else {
            throw call.error("lookupTable takes a file option, not \(call.describe(1))", "write lookupTable(p.file)")
        }
        do { return try lookups.table(path, layout: layout) } catch let error as PatchError {
            // The graph's line is where the file was named; the filter's own line helps nobody.
            lookupProblem = error
            throw error
        }
    }

    private func push(_ table: ColorTable, _ call: LuaCall) {
        func set(_ name: String, _ color: SIMD3<Float>) {
            call.pushTable()
            for channel in 0..<3 {
                call.push(natural: Double(color[channel]))
                call.setElement(channel + 1)
            }
            call.setField(name)
        }
        let layout = ColorTable.layout(table.shape, size: table.size)
        call.pushTable()
        call.push(table.shape.rawValue)
        call.setField("shape")
        for (name, number) in [
            ("size", table.size), ("across", layout.across), ("width", layout.width), ("height", layout.height),
        ] {
            call.push(natural: Double(number))
            call.setField(name)
        }
        set("low", table.low)
        set("high", table.high)
    }
}
