import Foundation

/// Writes a Swift file that holds the texts of all `LIBRARY/CATEGORY/NAME.lua`, and those of `LOOKS/NAME.lua` as the category
/// `looks`: `EmbedFiltersTool LIBRARY LOOKS OUTPUT`.
@main
struct EmbedFiltersTool {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            FileHandle.standardError.write(Data("usage: EmbedFiltersTool LIBRARY LOOKS OUTPUT\n".utf8))
            exit(2)
        }
        let library = URL(fileURLWithPath: arguments[1])
        let manager = FileManager.default
        var swift = """
            // Made by the EmbedFilters plugin from Library/CATEGORY/NAME.lua and graphs/looks/NAME.lua.

            extension FilterLibrary {
                static let entries: [Entry] = [

            """
        var folders = try manager.contentsOfDirectory(atPath: library.path).sorted().filter { !$0.hasPrefix(".") }
            .map { (category: $0, folder: library.appending(path: $0)) }
        folders.append(("looks", URL(fileURLWithPath: arguments[2])))
        for (category, folder) in folders {
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
        try swift.write(toFile: arguments[3], atomically: true, encoding: .utf8)
    }
}
