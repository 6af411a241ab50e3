import Foundation
import PatchTesting
import Testing

/// Colour tables by file, in a graph, on a real picture: pixels against Fixtures/lookup/lookup.txt, which NumPy made.
@Suite struct LookupGraphTests {
    static let tables = [
        ("lookup", "look.png"), ("lut3d", "hald.png"), ("lut3d", "look.cube"), ("lut3d", "look.3dl"),
        ("lut3d", "curves.cube"),
    ]

    @Test func tablesOfEveryFormGiveTheExpectedPixels() throws {
        let directory = try TemporaryDirectory()
        try Program.run("cp", [Fixtures.path(.astronaut), directory.file("astronaut.png")])
        var script = "local pic = image { \"pic\", file = \"astronaut.png\" }\n"
        for (filter, file) in Self.tables {
            let table = try Fixtures.package("Tests/PatchbayEndToEndTests/Fixtures/lookup/\(file)")
            try Program.run("cp", [table, directory.file(file)])
            script += "pic >> filter.\(filter) { \"\(file)\", file = \"\(file)\" } >> "
            script += "snapshot { \"shot \(file)\", file = \"\(file).shot.png\", at = 0.2 }\n"
        }
        try directory.write("graph.lua", script)
        let outcome = try Executable.run(
            ["render", "graph.lua", "--duration", "0.4"], timeout: 120, directory: directory.path)
        #expect(outcome.exitCode == 0, "\(outcome.errorText)")
        let text = try Fixtures.package("Tests/PatchbayEndToEndTests/Fixtures/lookup/lookup.txt").contentsOfFile()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        for (_, file) in Self.tables {
            let made = try #require(try DecodedVideo(directory.file("\(file).shot.png")).frames.first)
            var (worst, count) = (0.0, 0)
            for line in lines where line.hasPrefix(file + " ") {
                let numbers = line.split(separator: " ").dropFirst().compactMap { Double($0) }
                try #require(numbers.count == 5)
                let at = 3 * (Int(numbers[1]) * 512 + Int(numbers[0]))
                for channel in 0..<3 { worst = max(worst, abs(Double(made[at + channel]) - numbers[2 + channel])) }
                count += 1
            }
            #expect(count == 250)
            // Half a code by the result's rounding; cubes in text files are held as codes too, another half.
            #expect(worst <= 1.01, "\(file): off by \(worst)/255")
        }
    }
}
