import Glibc
import PatchMedia
import Testing

/// One case of a fixture file under Fixtures/filters: inputs of a filter, and what must come out.
///
/// ```
/// filter blend.multiply
/// note   half of it, over a see-through picture
/// set    opacity 0.5
/// option size 4x2
/// input  image 2x1
/// 0.5 0.25 0 1 | 1
/// input  overlay 2x1
/// 1 0 0 0.5 | 0.25 0.5 0.75
/// output 2x1 within 1
/// 0.5 0.25 0 1 | 1 0 0
/// ```
///
/// `filter` begins a case. `set` gives a parameter's floats; `option` is a word of the node's table, as Lua reads it.
/// A pixel is r g b a, straight; r g b is opaque; one number is an opaque grey. `output` says the size and how many 255ths
/// a premultiplied value may differ; more than 2 need a reason: `within 3: why`. Several pictures of one port are those of
/// the ticks 0, 1, … at 30 fps, the last one staying; `tick N` takes the result of that tick, else it is the last picture's.
struct FilterCase: Sendable, CustomTestStringConvertible {
    var filter: String
    var note = ""
    var parameters: [String: [Float]] = [:]
    var options: [(name: String, text: String)] = []
    /// For each port its pictures in time.
    var inputs: [(port: String, pictures: [FilterPicture])] = []
    var output = FilterPicture(width: 0, height: 0, pixels: [])
    /// 255ths.
    var limit: Float = 1
    var tick: Int?
    var place: String

    var testDescription: String { "\(place) \(filter) \(note)" }
    var ticks: Int { tick.map { $0 + 1 } ?? inputs.map(\.pictures.count).max() ?? 1 }

    static let folder: String = {
        "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Fixtures/filters"
    }()

    /// All cases of all files, and what is wrong with files that cannot be read, which a test looks at.
    static let read: (cases: [FilterCase], problems: [String]) = {
        var (cases, problems): ([FilterCase], [String]) = ([], [])
        // names.txt lists filters: it has no cases.
        for name in names(folder) where name.hasSuffix(".txt") && name != "names.txt" {
            do { cases += try parse(text(of: "\(folder)/\(name)"), file: name) } catch { problems.append("\(error)") }
        }
        return (cases, problems)
    }()

    static var all: [FilterCase] { read.cases }

    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    static func parse(_ text: String, file: String) throws -> [FilterCase] {
        var cases: [FilterCase] = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var at = 0
        func fail(_ what: String) -> Malformed { Malformed(description: "\(file):\(at): \(what)") }
        func size(_ word: Substring) throws -> (Int, Int) {
            let sides = word.split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2, sides[0] > 0, sides[1] > 0 else { throw fail("'\(word)' is no size") }
            return (sides[0], sides[1])
        }
        func picture(_ word: Substring) throws -> FilterPicture {
            let (width, height) = try size(word)
            var pixels: [[Float]] = []
            for _ in 0..<height {
                guard at < lines.count else { throw fail("the picture ends early") }
                let row = lines[at].split(separator: "|")
                at += 1
                guard row.count == width else { throw fail("\(row.count) pixels in a row of \(width)") }
                for pixel in row {
                    let words = pixel.split(separator: " ")
                    let floats = words.compactMap { Float($0) }
                    guard floats.count == words.count else { throw fail("'\(pixel)' is no pixel") }
                    switch floats.count {
                    case 1: pixels.append([floats[0], floats[0], floats[0], 1])
                    case 3: pixels.append(floats + [1])
                    case 4: pixels.append(floats)
                    default: throw fail("'\(pixel)' is no pixel")
                    }
                }
            }
            return FilterPicture(width: width, height: height, pixels: pixels)
        }
        while at < lines.count {
            let line = lines[at]
            at += 1
            let words = line.split(separator: " ")
            guard let word = words.first, !word.hasPrefix("#") else { continue }
            if word == "filter", words.count == 2 {
                cases.append(FilterCase(filter: String(words[1]), place: "\(file):\(at)"))
                continue
            }
            guard !cases.isEmpty else { throw fail("'\(word)' before the first filter") }
            let last = cases.count - 1
            switch (word, words.count) {
            case ("note", _): cases[last].note = words.dropFirst().joined(separator: " ")
            case ("set", 3...):
                let floats = words.dropFirst(2).compactMap { Float($0) }
                guard floats.count == words.count - 2 else { throw fail("a parameter that is no number") }
                cases[last].parameters[String(words[1])] = floats
            case ("option", 3...):
                cases[last].options.append((String(words[1]), words.dropFirst(2).joined(separator: " ")))
            case ("tick", 2):
                guard let tick = Int(words[1]) else { throw fail("a tick is a whole number") }
                cases[last].tick = tick
            case ("input", 3):
                let picture = try picture(words[2])
                if let port = cases[last].inputs.firstIndex(where: { $0.port == words[1] }) {
                    cases[last].inputs[port].pictures.append(picture)
                } else {
                    cases[last].inputs.append((String(words[1]), [picture]))
                }
            case ("output", 4...) where words[2] == "within":
                let number = words[3].hasSuffix(":") ? words[3].dropLast() : words[3]
                guard let limit = Float(number), limit > 0 else { throw fail("within how many 255ths?") }
                guard limit <= 2 || words.count > 5 else { throw fail("a limit above 2 needs its reason") }
                cases[last].limit = limit
                cases[last].output = try picture(words[1])
            default: throw fail("'\(line)' is not understood")
            }
        }
        for test in cases where test.inputs.isEmpty || test.output.pixels.isEmpty {
            throw Malformed(description: "\(test.place): a case without input or output")
        }
        return cases
    }

    private static func names(_ folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.sorted()
    }

    private static func text(of path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw Malformed(description: "cannot read \(path)") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
