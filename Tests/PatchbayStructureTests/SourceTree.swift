import Foundation
import PatchTesting

/// One Swift file of the package, without comments and string literals where that matters.
struct SourceFile {
    /// Relative to the package, such as "Sources/PatchMedia/Frame.swift".
    var path: String
    var lines: [Substring]

    /// The folder below Sources or Tests: the target's name.
    var module: String { String(path.split(separator: "/").dropFirst().first ?? "") }

    /// Modules that the file imports, whatever stands before `import` on the line.
    var imports: [String] {
        lines.compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard let at = words.firstIndex(of: "import"), at + 1 < words.count,
                words[..<at].allSatisfy({ $0.hasPrefix("@") || Self.accessWords.contains(String($0)) })
            else { return nil }
            // `import struct Foundation.Data` names the module after the kind.
            let name = words.dropFirst(at + 1).first { !Self.importKinds.contains(String($0)) }
            return name?.split(separator: ".").first.map(String.init)
        }
    }

    private static let accessWords: Set = ["public", "package", "internal", "fileprivate", "private"]
    private static let importKinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]

    /// The lines with their numbers, `//` comments cut off, and nothing of the lines inside `"""` literals.
    var code: [(number: Int, text: Substring)] {
        var isInsideLiteral = false
        var result: [(Int, Substring)] = []
        for (index, line) in lines.enumerated() {
            let quotes = line.components(separatedBy: "\"\"\"").count - 1
            if !isInsideLiteral {
                let trimmed = line.drop { $0 == " " }
                if !trimmed.hasPrefix("//") { result.append((index + 1, line)) }
            }
            if quotes % 2 == 1 { isInsideLiteral.toggle() }
        }
        return result
    }
}

enum SourceTree {
    /// All Swift files below a folder of the package, by path.
    static func files(below folder: String) throws -> [SourceFile] {
        let root = Fixtures.packageRoot
        guard let walker = FileManager.default.enumerator(atPath: root + "/" + folder) else {
            throw TestProblem("no folder \(folder)")
        }
        var files: [SourceFile] = []
        for case let name as String in walker where name.hasSuffix(".swift") {
            let path = folder + "/" + name
            let text = String(decoding: try (root + "/" + path).contentsOfFile(), as: UTF8.self)
            files.append(SourceFile(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false)))
        }
        guard !files.isEmpty else { throw TestProblem("no Swift file below \(folder)") }
        return files.sorted { $0.path < $1.path }
    }
}
