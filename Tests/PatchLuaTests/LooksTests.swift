import Glibc
import PatchFilters
import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// The looks and graphs that the product comes with can be loaded.
@Suite struct LooksTests {
    private static let graphs: String = {
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/") + "/graphs"
    }()

    static func names(_ folder: String, suffix: String = ".lua") -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(suffix) { names.append(String(name.dropLast(suffix.count))) }
        }
        return names.sorted()
    }

    @Test func everyLookIsWhatItSays() throws {
        let looks = Self.names(Self.graphs + "/looks")
        #expect(looks.contains("warm"))
        let workspace = Workspace()
        #expect(FilterLibrary.builtIn.lookNames == looks)
        for name in looks {
            // Groups, and what they are made of: PatchTextTests and the end-to-end tests run them.
            if ["clock", "timer", "ticker", "lowerThird", "place", "stinger"].contains(name) { continue }
            let wires = name == "inset" ? "{ camera{'c'}, camera{'e'} }" : "camera{'c'}"
            let patch = try workspace.build("\(wires) >> require 'looks.\(name)' {'look'} >> display{'d'}")
            guard case .kernels(let filter)? = patch.node("look")?.body else {
                Issue.record("\(name) is no look")
                continue
            }
            let pixels: [[Float]] = [[0, 0, 0, 1], [1, 1, 1, 1], [0.25, 0.5, 0.75, 1], [0.9, 0.1, 0.3, 1]]
            let neutral = filter.parameters.filter { $0.neutral != nil }
            let parameters = Dictionary(uniqueKeysWithValues: neutral.map { ($0.name, $0.neutral ?? []) })
            let second = filter.ports.count > 1 ? pixels.map { $0.map { 1 - $0 } } : nil
            let result = try FilterRunner.run(filter, pixels, width: 2, second: second, parameters: parameters)
            FilterRunner.expect(result, pixels, within: 0.002, name)
        }
    }

    /// Red · 1.2 and blue · 0.8 at full warmth.
    @Test func warmIsWarm() throws {
        let workspace = Workspace()
        let patch = try workspace.build("camera{'c'} >> require 'looks.warm' {'look', amount = 1} >> display{'d'}")
        guard case .kernels(let filter)? = patch.node("look")?.body else { return }
        let result = try FilterRunner.run(filter, [[0.5, 0.5, 0.5, 1]], width: 1, parameters: ["amount": [1]])
        FilterRunner.expect(result, [[0.6, 0.5, 0.4, 1]])
    }

    /// Looks come with the program; a file of the same name beside the graph takes its place.
    @Test func aLookBesideTheGraphComesFirst() throws {
        let workspace = Workspace()
        let text = "camera{'c'} >> require 'looks.warm' {'look'} >> display{'d'}"
        #expect(try workspace.build(text).node("look")?.kind == "looks.warm")
        workspace.write("looks/warm.lua", "return kernel{ pixel = function(c) return vec4(c.bgr, c.a) end }")
        guard case .kernels(let own)? = try workspace.build(text).node("look")?.body else { return }
        let result = try FilterRunner.run(own, [[0.25, 0.5, 0.75, 1]], width: 1, parameters: [:])
        FilterRunner.expect(result, [[0.75, 0.5, 0.25, 1]])
        let error = workspace.errorText("require 'looks.wram'")
        #expect(error.contains("did you mean \"looks.warm\"?"), "\(error)")
    }
}
