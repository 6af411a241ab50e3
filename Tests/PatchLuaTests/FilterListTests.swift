import Glibc
import PatchGraph
import PatchLua
import Testing

/// docs/filters.md is made from the library.
@Suite struct FilterListTests {
    private static func text() throws -> String {
        var text = """
            # The filter library

            Made from the filters' own files by a test; each file says formula, working light and what lies beyond the ranges.
            `filter.NAME{ … }` makes a node; names with a dot stand for themselves (`blend.normal{ … }`). The pictures show the
            same card, with values at which the filter does something (FilterPicturesTests makes them).

            """
        let catalog = FakeGraph.catalog
        let categories = Set(catalog.names.compactMap { catalog.category($0) }).sorted()
        for category in categories {
            text += "\n## \(category)\n\n| | filter | what it does | parameters |\n|---|---|---|---|\n"
            for name in catalog.names where catalog.category(name) == category {
                let filter = try catalog.filter(name)
                var parameters = filter.parameters.map { parameter in
                    var words = "`\(parameter.name)` \(list(parameter.defaultValue))"
                    if let range = parameter.range, parameter.form != .color {
                        words += " in \(number(range.lowerBound))…\(number(range.upperBound))"
                    }
                    if !parameter.unit.isEmpty { words += " \(parameter.unit)" }
                    if let neutral = parameter.neutral { words += ", neutral \(list(neutral))" }
                    return words
                }
                parameters += filter.options.map { option in
                    "option `\(option.name)` \(option.isRequired ? "(must be given)" : option.defaultText)"
                }
                if filter.sizing != .input {
                    parameters.append("`size` \(filter.sizing == .required ? "(must be given)" : "")")
                }
                let ports = filter.ports.enumerated().map { index, port in
                    filter.portDefaults[index] == nil ? "`\(port)`" : "`\(port)` (optional)"
                }
                let inputs = ports.count > 1 ? " Inputs: \(ports.joined(separator: ", "))." : ""
                let cell = parameters.isEmpty ? "–" : parameters.joined(separator: "; ")
                text += "| \(picture(of: name)) | `\(name)` | \(filter.summary)\(inputs) | \(cell) |\n"
            }
        }
        return text
    }

    private static func picture(of name: String) -> String {
        access("/" + root + "/docs/filters/\(name).jpg", R_OK) == 0 ? "![](filters/\(name).jpg)" : ""
    }
    private static let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private static func list(_ floats: [Float]) -> String {
        floats.count == 1 ? number(floats[0]) : "{" + floats.map(number).joined(separator: ", ") + "}"
    }

    private static func number(_ float: Float) -> String {
        let rounded = (Double(float) * 10_000).rounded() / 10_000
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
    }

    @Test func listIsFresh() throws {
        let path = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/filters.md"
        let text = try Self.text()
        if getenv("PATCHBAY_RECORD") != nil, let file = fopen(path, "w") {
            fputs(text, file)
            fclose(file)
        }
        var stored = ""
        if let file = fopen(path, "r") {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&buffer, 1, buffer.count, file)
            stored = String(decoding: buffer[..<count], as: UTF8.self)
            fclose(file)
        }
        #expect(
            stored == text, "docs/filters.md is stale: PATCHBAY_RECORD=1 swift test --filter FilterListTests")
    }
}
