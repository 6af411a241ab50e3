import Glibc
import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// What docs/graph-language.md shows can be built.
@Suite struct GuideTests {
    private static let blocks: [String] = {
        let path = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/graph-language.md"
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&buffer, 1, buffer.count, file)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return text.split(separator: "```lua\n").dropFirst().compactMap { part in
            part.firstRange(of: "```").map { String(part[..<$0.lowerBound]) }
        }
    }()

    @Test func everyBlockBuilds() throws {
        #expect(Self.blocks.count == 15)
        var options = ScriptOptions()
        options.secret = { _ in "rtmp://host/live/key" }
        for block in Self.blocks {
            let workspace = Workspace()
            workspace.write("logo.png", "a picture")
            workspace.write("film.cube", "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n")
            let patch = try workspace.build(block, options: options)
            #expect(!patch.wires.isEmpty)
        }
    }
}
