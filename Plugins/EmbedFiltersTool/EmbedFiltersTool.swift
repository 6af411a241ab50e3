import Foundation

/// Writes a Swift file that holds the texts of all `Library/CATEGORY/NAME.lua`: `EmbedFiltersTool LIBRARY OUTPUT`.
@main
struct EmbedFiltersTool {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            FileHandle.standardError.write(Data("usage: EmbedFiltersTool LIBRARY OUTPUT\n".utf8))
            exit(2)
        }
        let library = URL(fileURLWithPath: arguments[1])
        let manager = FileManager.default
        var swift = """
            // Made by the EmbedFilters plugin from Library/CATEGORY/NAME.lua.

            extension FilterLibrary {
                static let entries: [Entry] = [

            """
        for category in try manager.contentsOfDirectory(atPath: library.path).sorted() where !category.hasPrefix(".") {
            let folder = library.appending(path: category)
            for file in try manager.contentsOfDirectory(atPath: folder.path).sorted() where file.hasSuffix(".lua") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                // Two families have words of their own in scripts: blend.NAME and transition.NAME.
                let name = String(file.dropLast(4))
                let word = ["blend", "transition"].contains(category) ? "\(category).\(name)" : name
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { $0.isEmpty ? "" : "            " + $0 }.joined(separator: "\n")
                swift += """
                            Entry(
                                name: "\(word)", category: "\(category)",
                                source: ###\"""
                    \(lines)
                                \"""###),

                    """
            }
        }
        swift += "    ]\n}\n"
        try swift.write(toFile: arguments[2], atomically: true, encoding: .utf8)
    }
}
