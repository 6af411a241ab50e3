import Glibc
import PatchFrei0r
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// frei0r plugins as nodes: what they compute, and that nothing they do harms the rest.
@Suite(.serialized) struct Frei0rTests {
    private let size = VideoFormat(.rgba, width: 19, height: 13)

    @Test func parametersHaveNamesTypesAndDefaults() throws {
        _ = try makeNode("misbehave", [:], Events())
        let schema = try Frei0rGuests.family.kind("misbehave").schema
        #expect(schema.parameters.map(\.name) == ["crashNow1", "hang", "invert", "tint", "spot"])
        #expect(schema.parameters.map(\.form) == [.float, .float, .bool, .color, .vec2])
        #expect(schema.parameters.map(\.defaultValue) == [[0], [0], [1], [0, 0, 0, 1], [0.25, 0.25]])
        // A text is an option: it makes a new node. "name" itself is every node's.
        #expect(schema.options.map(\.name) == ["plugin", "nameValue"])
        #expect(schema.ports == ["image"])
        #expect(schema.summary.hasPrefix("Does what it should not"))
    }

    @Test func knownParametersHaveTheirOwnUnits() throws {
        _ = try makeNode("brightness", [:], Events())
        let brightness = try #require(try Frei0rGuests.family.kind("brightness").schema.parameters.first)
        #expect(brightness.range == -1...1)
        #expect(brightness.neutral == [0])
        #expect(abs(brightness.defaultValue[0]) < 1e-6)
        // In the middle of its 0…1 the plugin changes nothing.
        let run = try TestRun("brightness", Events(), sizes: [VideoFormat(.rgba, width: 16, height: 8)])
        let input = Frame(VideoFormat(.rgba, width: 16, height: 8)) { x, y in
            [UInt8(x * 16), UInt8(y * 30), UInt8(x + y), 255]
        }
        let output = try #require(run.frame([input], tick: 0))
        for y in 0..<8 { for x in 0..<16 { #expect(output.pixel(x, y) == input.pixel(x, y)) } }
    }

    /// Odd sizes are padded to multiples of 8 and cut again; colours go in straight and come out premultiplied.
    @Test func picturesOfAnySizeGoThroughExactly() throws {
        let events = Events()
        var run = try TestRun("misbehave", events, sizes: [size])
        #expect(run.run.output == VideoFormat(.rgba, width: 19, height: 13))
        let input = Frame(size) { x, y in [UInt8(x * 13), UInt8(y * 19), UInt8(x ^ y), 255] }
        let output = try #require(run.frame([input], tick: 3))
        #expect(output.pixel(0, 0) == [UInt8(ascii: "h"), 3, 0, 255])
        // The plugin sees 24x16: a quarter of 23 and 15, cut off.
        #expect(output.pixel(5, 3) == [255, 255, 255, 255])
        for (x, y) in [(1, 0), (18, 0), (0, 12), (18, 12), (9, 6)] {
            let p = input.pixel(x, y)
            #expect(output.pixel(x, y) == [255 - p[0], 255 - p[1], 255 - p[2], 255])
        }
        try run.set("invert", [0])
        try run.set("tint", [1, 0, 0, 1])
        try run.set("spot", [0, 0])
        let tinted = try #require(run.frame([input], tick: 4))
        #expect(tinted.pixel(9, 6) == [255, 114, 9 ^ 6, 255])
        // Half transparent white, premultiplied: 128 of 255 is white, its negative black, and the tint red at half.
        let veil = Frame(size) { _, _ in [128, 128, 128, 128] }
        try run.set("invert", [1])
        let negative = try #require(run.frame([veil], tick: 5))
        #expect(negative.pixel(9, 6) == [128, 0, 0, 128])
        #expect(events.problems.isEmpty, "\(events.problems)")
    }

    @Test func aMixerReadsBothInputsAndAlphaComesBack() throws {
        let format = VideoFormat(.bgra, width: 16, height: 8)
        let run = try TestRun("cover", Events(), sizes: [format, VideoFormat(.rgba, width: 40, height: 30)])
        #expect(run.run.inputs == [format, format])
        let one = Frame(format) { _, _ in [1, 2, 3, 255] }
        let two = Frame(format) { _, _ in [7, 8, 9, 255] }
        let output = try #require(run.frame([one, two], tick: 0))
        #expect(output.pixel(7, 4) == [1, 2, 3, 255])
        #expect(output.pixel(8, 4) == [7, 8, 9, 255])
    }

    /// A crash is the node's error; its input goes on; and the plugin is tried again.
    @Test func aCrashIsTheNodesErrorAndThePluginComesBack() throws {
        let events = Events()
        var run = try TestRun("misbehave", events, sizes: [size])
        let input = Frame(size) { _, _ in [10, 20, 30, 255] }
        #expect(try #require(run.frame([input], tick: 0)).pixel(9, 6) == [245, 235, 225, 255])
        try run.set("crashNow1", [1])
        #expect(try #require(run.frame([input], tick: 1)).pixel(9, 6) == [10, 20, 30, 255])
        let error = try #require(events.problems.first)
        #expect(error.code == .media)
        #expect(error.message.contains("misbehave"))
        #expect(error.cause?.contains("segmentation fault") == true, "\(error)")
        try run.set("crashNow1", [0])
        #expect(try #require(run.frame([input], tick: 2)).pixel(9, 6) == [245, 235, 225, 255])
        #expect(events.problems.count == 1)
        // Again and again it is given up, and that is said.
        try run.set("crashNow1", [1])
        for tick in 3..<9 as Range<Int64> { #expect(run.frame([input], tick: tick)?.pixel(9, 6) == [10, 20, 30, 255]) }
        #expect(events.problems.last?.message.contains("switched off") == true)
        #expect(events.problems.count == 4)
        var statistics = NodeStatistics(id: "guest", kind: "native")
        run.run.fill(&statistics)
        #expect(statistics.state == "off")
    }

    /// Live, a plugin that hangs costs the clock nothing.
    @Test func aPluginThatHangsIsEnded() throws {
        let events = Events()
        var run: TestRun? = try TestRun("misbehave", events, sizes: [size])
        let input = Frame(size) { _, _ in [10, 20, 30, 255] }
        _ = run?.frame([input], tick: 0)
        try run?.set("hang", [1])
        let begin = monotonicNanoseconds()
        var longest: Int64 = 0
        var tick: Int64 = 1
        while events.problems.isEmpty, monotonicNanoseconds() - begin < 20_000_000_000 {
            let before = monotonicNanoseconds()
            #expect(run?.frame([input], tick: tick, offline: false) != nil)
            longest = max(longest, monotonicNanoseconds() - before)
            tick += 1
            usleep(20_000)
        }
        #expect(longest < 50_000_000, "a tick waited \(longest / 1_000_000) ms for a plugin that hangs")
        #expect(events.problems.first?.cause?.contains("no picture within") == true, "\(events.problems)")
        // While it hangs, the node can go.
        try run?.set("hang", [1])
        let end = monotonicNanoseconds()
        run = nil
        #expect(monotonicNanoseconds() - end < 4_000_000_000)
    }

    @Test func brokenPluginsAreRefusedWithTheReason() throws {
        #expect(throws: PatchError.self) { try makeNode("crashAtLoad", [:], Events()) }
        for (name, words) in [
            ("crashAtLoad", "segmentation fault"), ("noPlugin", "no frei0r plugin"), ("cartoom", "'cartoon'"),
            ("../cartoon", "is no name"), ("", "is no name"),
        ] {
            do {
                _ = try makeNode(name, [:], Events())
                Issue.record("\(name) was taken")
            } catch let error as PatchError {
                #expect(error.description.contains(words), "\(error)")
            }
        }
        do {
            _ = try makeNode("misbehave", ["nameValue": .string("/etc/passwd")], Events())
            Issue.record("a script named a file to a plugin")
        } catch let error as PatchError {
            #expect(error.location == SourceLocation(file: "test.lua", line: 3))
            #expect(error.message.contains("has a / in it"))
        }
    }

    /// Debian's plugins: nearly all describe themselves, and those that do work on a picture.
    @Test func installedPluginsDescribeThemselves() throws {
        _ = try makeNode("misbehave", [:], Events())
        let all = Frei0rGuests.plugins()
        #expect(all.count > 80)
        let usable = all.filter { $0.refusal == nil }
        #expect(
            usable.count >= all.count - 6,
            "\(all.filter { $0.refusal != nil }.map { "\($0.name): \($0.refusal ?? "")" })")
        #expect(all.first { $0.name == "cartoon" }?.parameters.map(\.name) == ["triplevel", "diffspace"])
    }
}
