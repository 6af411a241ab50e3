import PatchGraph
import PatchKernel
import PatchMedia
import Testing

@Suite struct PlannerTests {
    let engineRegistry = registry(
        sources: ["count": counter(), "other": counter()],
        sinks: ["view": CollectingSink(small), "view2": CollectingSink(small)])

    private func plan(_ patch: Patch) throws -> Plan {
        try PatchRehearsal(registry: engineRegistry, graphDirectory: ".").plan(patch)
    }

    private func message(_ patch: Patch) -> String {
        do {
            _ = try plan(patch)
            return "no error"
        } catch { return "\(error)" }
    }

    @Test func tenPointFiltersBecomeOnePass() throws {
        var patch = Patch()
        patch.add("in", "count")
        for index in 0..<10 { patch.add("f\(index)", try scaleFilter()) }
        patch.add("out", "view")
        patch.wire("in", "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "out")
        let plan = try plan(patch)
        #expect(plan.passes.count == 1)
        #expect(plan.passes[0].nodes == (0..<10).map { "f\($0)" })
        #expect(plan.parameters.count == 20)
    }

    @Test func aSourceInTheSinksFormatIsPassedThroughWithoutACopy() throws {
        var patch = Patch()
        patch.add("in", "count")
        patch.add("out", "view")
        patch.wire("in", "out")
        #expect(try plan(patch).passes.isEmpty)
    }

    @Test func aStencilEndsThePassBeforeIt() throws {
        var patch = Patch()
        patch.add("in", "count")
        patch.add("a", try scaleFilter())
        patch.add("s", try smearFilter())
        patch.add("b", try scaleFilter())
        patch.add("out", "view")
        patch.wire("in", "a", "s", "b", "out")
        let passes = try plan(patch).passes
        #expect(passes.map(\.nodes) == [["a"], ["s", "b"]])
    }

    @Test func wideStencilsReadVideoConvertedOnce() throws {
        var builder = KernelBuilder(name: "wide", inputs: [InputDeclaration(name: "image")], uniforms: [])
        var sum = builder.current(0)
        for dx in 1...4 { sum = try builder.apply(.add, [sum, try builder.tap(0, dx: dx, dy: 0)]) }
        let kernel = try builder.finish(sum)
        let wide = KernelFilter(
            name: "wide", summary: "", ports: ["image"], parameters: [],
            stages: [.init(kernel: kernel, inputs: [.port(0)], uniforms: [])])
        let video = counter(VideoFormat(.yuv420p, width: 16, height: 8))
        let nodes = registry(
            sources: ["video": video, "count": counter()],
            sinks: ["view": CollectingSink(small), "view2": CollectingSink(small)])
        var patch = Patch()
        patch.add("in", "video")
        patch.add("a", wide)
        patch.add("b", wide)
        patch.add("out", "view")
        patch.add("out2", "view2")
        patch.wire("in", "a", "out")
        patch.wire("in", "b", "out2")
        let rehearsal = PatchRehearsal(registry: nodes, graphDirectory: ".")
        #expect(try rehearsal.plan(patch).passes.map(\.nodes) == [[], ["a"], ["b"]])
        // RGBA the right way up is read as it is.
        patch.nodes[0].kind = "count"
        #expect(try rehearsal.plan(patch).passes.map(\.nodes) == [["a"], ["b"]])
    }

    @Test func twoSinksOfOneFormatShareOnePass() throws {
        var patch = Patch()
        patch.add("in", "count")
        patch.add("a", try scaleFilter())
        patch.add("out", "view")
        patch.add("out2", "view2")
        patch.wire("in", "a", "out")
        patch.wire("a", "out2")
        let plan = try plan(patch)
        #expect(plan.passes.count == 1)
        #expect(plan.sinks[0].slot == plan.sinks[1].slot)
    }

    @Test func sinksOfUnlikeFormatsShareTheDearPart() throws {
        let yuv = VideoFormat(.yuv420p, width: 16, height: 8)
        let nodes = registry(
            sources: ["count": counter()], sinks: ["view": CollectingSink(small), "enc": CollectingSink(yuv)])
        var patch = Patch()
        patch.add("in", "count")
        var chain = ["in"]
        for index in 0..<20 {
            patch.add("f\(index)", try scaleFilter())
            chain.append("f\(index)")
        }
        for (from, to) in zip(chain, chain.dropFirst()) { patch.wires.append(Wire(from: from, to: to)) }
        patch.add("out", "view")
        patch.add("out2", "enc")
        patch.wire("f19", "out")
        patch.wire("f19", "out2")
        let passes = try PatchRehearsal(registry: nodes, graphDirectory: ".").plan(patch).passes
        #expect(passes.map(\.nodes.count) == [20, 0, 0])
    }

    @Test func aPictureUsedTwiceByOnePassIsReadOnce() throws {
        var patch = Patch()
        patch.add("in", "count")
        patch.add("a", try scaleFilter())
        patch.add("over", overFilter())
        patch.add("out", "view")
        patch.wire("in", "a")
        patch.wires.append(Wire(from: "in", to: "over", port: 0))
        patch.wires.append(Wire(from: "a", to: "over", port: 1))
        patch.wire("over", "out")
        let passes = try plan(patch).passes
        #expect(passes.count == 1)
        #expect(passes[0].inputs.count == 1)
    }

    @Test func nodesThatReachNoSinkAreDroppedAndNamed() throws {
        var patch = Patch()
        patch.add("in", "count")
        patch.add("lost", try scaleFilter())
        patch.add("out", "view")
        patch.wire("in", "out")
        patch.wire("in", "lost")
        let plan = try plan(patch)
        #expect(plan.passes.isEmpty)
        #expect(plan.notes.contains { $0.node == "lost" })
    }

    @Test func errorsNameTheNodeItsLineAndTheRemedy() throws {
        var loop = Patch()
        loop.add("in", "count")
        loop.add("a", "filter.over", body: .kernels(overFilter()), line: 3)
        loop.add("b", try scaleFilter())
        loop.add("out", "view")
        loop.wires = [
            Wire(from: "in", to: "a", port: 0), Wire(from: "b", to: "a", port: 1), Wire(from: "a", to: "b"),
            Wire(from: "b", to: "out"),
        ]
        let text = message(loop)
        #expect(text.contains("loop") && text.contains("a -> b -> a") || text.contains("b -> a -> b"), "\(text)")

        var unknown = Patch()
        unknown.add("x", "vieww", line: 7)
        #expect(message(unknown) == "test.lua:7: node 'x': there is no node 'vieww'; did you mean 'view'?")

        var twice = Patch()
        twice.add("in", "count")
        twice.add("other", "other")
        twice.add("out", "view", line: 9)
        twice.wire("in", "out")
        twice.wire("other", "out")
        #expect(
            message(twice)
                == "test.lua:9: node 'out': input 'image' is already fed by 'in'; remove that wire first, or name another port"
        )

        var missing = Patch()
        missing.add("in", "count")
        missing.add("mix", "filter.over", body: .kernels(overFilter()), line: 4)
        missing.add("out", "view")
        missing.wire("in", "mix", "out")
        #expect(message(missing).hasPrefix("test.lua:4: node 'mix': input 'overlay' of filter.over has no source"))

        var port = Patch()
        port.add("in", "count")
        port.add("out", "view", line: 5)
        port.wires = [Wire(from: "in", to: "out", port: 2)]
        #expect(message(port) == "test.lua:5: node 'out': view has no input 3; its inputs: image")

        var duplicate = Patch()
        duplicate.add("in", "count", line: 1)
        duplicate.add("in", "count", line: 2)
        #expect(message(duplicate).contains("two nodes are named 'in'"))
        #expect(message(duplicate).contains("test.lua:1"))
    }

    @Test func dotQuotesNames() {
        var patch = Patch()
        patch.add("a\"b", "count")
        patch.add("out", "view")
        patch.wire("a\"b", "out")
        let dot = patch.dot(registry: engineRegistry)
        #expect(dot.contains("\"a\\\"b\" -> \"out\";"))
    }
}
