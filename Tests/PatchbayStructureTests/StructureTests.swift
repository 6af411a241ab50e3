import PatchTesting
import Testing

/// The package's own rules, checked on its sources.
@Suite struct StructureTests {
    /// What each module may import of ours: the arrows of docs/architecture.md.
    static let arrows: [String: Set<String>] = [
        "PatchMedia": [],
        "PatchKernel": ["PatchMedia", "CLLVM"],
        "PatchGraph": ["PatchKernel", "PatchMedia"],
        "PatchFilters": ["PatchGraph", "PatchKernel", "PatchMedia"],
        "PatchFFmpeg": ["PatchGraph", "PatchMedia", "CFFmpeg"],
        "PatchFrei0r": ["PatchGraph", "PatchMedia", "CFrei0r"],
        "PatchDisplay": ["PatchGraph", "PatchMedia", "CSDL"],
        "PatchSound": ["PatchGraph", "PatchMedia", "CSpeexDSP", "CEBUR128"],
        "PatchText": ["PatchGraph", "PatchMedia", "CPango"],
        "PatchLua": ["PatchFilters", "PatchGraph", "PatchKernel", "PatchMedia", "CLua"],
        "PatchStudio": ["PatchGraph", "PatchMedia"],
        "Patchbay": [
            "PatchMedia", "PatchKernel", "PatchGraph", "PatchFilters", "PatchFFmpeg", "PatchFrei0r", "PatchDisplay",
            "PatchSound", "PatchText", "PatchLua", "PatchStudio",
        ],
        "PatchbayCLI": ["Patchbay", "CGlibc", "CMicrohttpd"],
        "PatchbayExample": ["Patchbay"],
    ]
    /// Modules of the data plane: neither Foundation in any form nor a C library except libc.
    static let lean: Set = ["PatchMedia", "PatchKernel", "PatchGraph", "PatchFilters"]
    static let system: Set = ["Glibc", "Synchronization", "Swift"]

    @Test func modulesImportOnlyWhatTheArrowsAllow() throws {
        for file in try SourceTree.files(below: "Sources") {
            let allowed = try #require(Self.arrows[file.module], "\(file.path): a module without arrows in this test")
            for name in file.imports where !Self.system.contains(name) {
                if name.hasPrefix("Foundation") {
                    #expect(!Self.lean.contains(file.module), "\(file.path) imports \(name)")
                } else {
                    #expect(allowed.contains(name), "\(file.path) imports \(name)")
                }
            }
        }
    }

    @Test func theArrowsStandInTheArchitecture() throws {
        let text = String(decoding: try Fixtures.package("docs/architecture.md").contentsOfFile(), as: UTF8.self)
        for (module, allowed) in Self.arrows where module != "PatchStudio" {
            let line = text.split(separator: "\n").first { $0.hasPrefix("| `\(module)` |") }
            let cells = try #require(line, "docs/architecture.md has no row for \(module)").split(separator: "|")
            let listed = Set(cells[1].split { $0 == "," || $0 == " " || $0 == "`" }.map(String.init))
            #expect(listed.subtracting(["–"]) == allowed.subtracting(["PatchStudio"]), "row of \(module)")
        }
    }

    @Test func eachCLibraryHasOneOwnerThatHidesIt() throws {
        for file in try SourceTree.files(below: "Sources") {
            for (number, line) in file.code where line.contains("import C") && !line.hasPrefix("internal import C") {
                let name = line.split(separator: " ").last ?? ""
                #expect(
                    ![
                        "CLua", "CEBUR128", "CFFmpeg", "CFrei0r", "CGlibc", "CLLVM", "CMicrohttpd", "CPango", "CSDL",
                        "CSpeexDSP",
                    ].contains(name),
                    "\(file.path):\(number): \(line)")
            }
        }
    }

    /// Outside input never traps; a bug may, by `precondition`.
    @Test func nothingGivesUpTheProcess() throws {
        for file in try SourceTree.files(below: "Sources") {
            for (number, line) in file.code {
                for word in ["fatalError(", "try!", "as! ", "-Ounchecked"] where line.contains(word) {
                    Issue.record("\(file.path):\(number): \(word) in \(line)")
                }
            }
        }
    }

    @Test func everyPublicTypeSaysItsThreadSafety() throws {
        for file in try SourceTree.files(below: "Sources") {
            for problem in Self.typesWithoutThreadSafety(file) { Issue.record("\(problem)") }
        }
    }

    @Test func everyUncheckedPromiseCarriesItsProof() throws {
        for file in try SourceTree.files(below: "Sources") {
            for (number, line) in file.code
            where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
                // The proof stands on the line, above it or below it (inside the type).
                let near = file.lines[max(0, number - 6)..<min(file.lines.count, number + 4)]
                #expect(near.contains { $0.contains("// ") }, "\(file.path):\(number): no comment proves it")
            }
        }
    }

    /// A long file has more than one subject.
    @Test func filesAreShort() throws {
        for file in try SourceTree.files(below: "Sources") where !file.path.contains("Generated") {
            #expect(file.lines.count <= 500, "\(file.path) has \(file.lines.count) lines; split it by subject")
        }
    }

    @Test func theRulesCatchWhatTheyShould() {
        let bad = SourceFile(
            path: "Sources/PatchMedia/Bad.swift",
            lines: ["internal import CLua", "/// A thing.", "public final class Thing {}", "let x = try! y()"])
        #expect(bad.imports == ["CLua"])
        #expect(Self.typesWithoutThreadSafety(bad).count == 1)
        let good = SourceFile(
            path: "Sources/PatchMedia/Good.swift",
            lines: ["/// A thing.", "///", "/// Thread-safety: a value.", "@frozen", "public struct Thing {}"])
        #expect(Self.typesWithoutThreadSafety(good).isEmpty)
    }

    /// Top-level public types whose comment lacks a `Thread-safety:` line. Types inside another type share its line, and
    /// so do small values beside the type that a file is named after; enumerations are values or mere namespaces.
    static func typesWithoutThreadSafety(_ file: SourceFile) -> [String] {
        var problems: [String] = []
        for (index, line) in file.lines.enumerated() where line.hasPrefix("public ") || line.hasPrefix("@") {
            let words = line.split(separator: " ")
            guard words.first == "public" || words.contains("public"),
                let kind = words.first(where: { ["class", "struct", "enum", "protocol", "actor"].contains($0) }),
                let at = words.firstIndex(of: kind), at + 1 < words.count
            else { continue }
            let name = words[at + 1].prefix { $0.isLetter || $0.isNumber }
            let fileName = file.path.split(separator: "/").last?.prefix { $0 != "." && $0 != "+" } ?? ""
            if kind == "enum" || kind == "struct" && name != fileName { continue }
            var above = index - 1
            while above >= 0, file.lines[above].hasPrefix("@") { above -= 1 }
            var comment: [Substring] = []
            while above >= 0, file.lines[above].hasPrefix("///") {
                comment.append(file.lines[above])
                above -= 1
            }
            if !comment.contains(where: { $0.contains("Thread-safety:") }) {
                problems.append("\(file.path):\(index + 1): \(name) has no 'Thread-safety:' line")
            }
        }
        return problems
    }
}
