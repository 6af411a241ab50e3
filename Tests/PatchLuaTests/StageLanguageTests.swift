import PatchGraph
import PatchKernel
import PatchLua
import PatchMedia
import Testing

/// Filters that are more than one kernel: options, sizes, earlier pictures, native stages, and numbers for handlers.
@Suite(.serialized) struct StageLanguageTests {
    private func filter(_ text: String, _ workspace: Workspace = Workspace()) throws -> KernelFilter {
        let patch = try workspace.build("local c, d = camera{'c'}, display{'d'}\n" + text)
        for node in patch.nodes { if case .kernels(let filter) = node.body { return filter } }
        throw PatchError(.kernel, "no kernel")
    }

    private let box = """
        local box = kernel{ "box",
          options = { radius = { 1, min = 1, max = 8 }, shape = { "row", "column" }, gain = { 1.0, min = 0, max = 4 }, on = true },
          sample = function(src, pos, p)
            local sum = vec4(0)
            for i = -p.radius, p.radius do
              sum = sum + (p.shape == "row" and src:at(i, 0) or src:at(0, i))
            end
            return p.on and sum * (p.gain / (2 * p.radius + 1)) or src:at(0, 0)
          end }

        """

    @Test func optionsAreKnownWhileAKernelIsTraced() throws {
        func footprint(_ arguments: String) throws -> Footprint {
            let filter = try filter(box + "c >> box{\(arguments)} >> d")
            return try #require(filter.stages[0].kernel).footprint(ofInput: 0)
        }
        #expect(try footprint("") == .stencil(left: 1, right: 1, up: 0, down: 0))
        #expect(try footprint("radius = 3") == .stencil(left: 3, right: 3, up: 0, down: 0))
        #expect(try footprint("radius = 2, shape = 'column'") == .stencil(left: 0, right: 0, up: 2, down: 2))
        #expect(try footprint("on = false") == .point)
        // Values: (0.25 + 0.5 + 0.75) / 3 · 0.5.
        let half = try filter(box + "c >> box{ gain = 0.5 } >> d")
        let row: [[Float]] = [[0.25, 0, 0, 1], [0.5, 0, 0, 1], [0.75, 0, 0, 1]]
        let result = try FilterRunner.run(half, row, width: 3)
        // All four channels are halved, alpha too.
        FilterRunner.expect([result[1]], [[0.25, 0, 0, 0.5]])
    }

    @Test func nodesOfOneKernelMayHaveDifferentOptions() throws {
        let patch = try Workspace().build(
            box + "camera{'c'} >> box{ 'a', radius = 2 } >> box{ 'b' } >> box{ 'x', radius = 5 } >> display{'d'}")
        let reaches = patch.nodes.compactMap { node -> Int? in
            guard case .kernels(let filter) = node.body, let kernel = filter.stages[0].kernel,
                case .stencil(let left, _, _, _) = kernel.footprint(ofInput: 0)
            else { return nil }
            return left
        }
        #expect(reaches == [2, 1, 5])
        #expect(patch.node("a")?.options.integer("radius") == 2)
        #expect(patch.node("b")?.options.values.isEmpty == true)
    }

    @Test func optionsAreCheckedAndExplained() {
        let workspace = Workspace()
        func text(_ arguments: String) -> String { workspace.errorText(box + "camera{'c'} >> box{\(arguments)}") }
        #expect(text("radius = 9").contains("radius of box is 9; it goes from 1 to 8"))
        #expect(text("radius = 2.5").contains("radius of box is 2.5; give it a whole number"))
        #expect(text("shape = 'colum'").contains("did you mean \"column\"?"))
        #expect(text("radios = 2").contains("box has no 'radios'; did you mean 'radius'?"))
        #expect(
            workspace.errorText("kernel{ options = { a = 'fiel' }, pixel = function(c) return c end }")
                .contains("option 'a' is \"fiel\"; did you mean \"file\"?"))
        #expect(
            workspace.errorText("kernel{ options = { a = { 3, min = 5, max = 9 } }, pixel = function(c) return c end }")
                .contains("option 'a' begins with 3"))
        #expect(
            workspace.errorText(
                "kernel{ params = { a = 1 }, options = { a = { 3, min = 1, max = 9 } }, pixel = function(c) return c end }"
            ).contains("'a' is both a parameter and an option"))
        #expect(
            workspace.errorText(box + "local n = box{ 'n' }\nn.radius = 3").contains(
                "radius of box 'n' is fixed when the node is made"))
    }

    /// What only the operator knows, it says when the graph is loaded.
    @Test func aGuidedStageCannotLeaveMorePlanesPlainThanItHas() {
        func text(_ plain: Int) -> String {
            let look = """
                kernel{ params = { sigma = { 2, min = 1, max = 9 }, epsilon = { 0.01, min = 0.001, max = 1 } }, passes = {
                  { name = "two", channels = 2, pixel = function(c) return c end },
                  { native = "guided", inputs = { "two" }, options = { plain = \(plain) }, params = { sigma = "sigma",
                    epsilon = "epsilon" } } } }
                """
            do {
                _ = try ByteEngine.run(
                    look.replacing("\n", with: " "), [UInt8](repeating: 99, count: 64), width: 4, height: 4)
                return "no error"
            } catch { return "\(error)" }
        }
        #expect(text(3).contains("native 'guided' has 2 planes and cannot leave 3 plain"))
        #expect(text(3).contains("give plain a number of 0 to 2"))
        #expect(text(-1).contains("cannot leave -1 plain"))
        #expect(text(2) == "no error")
    }

    @Test func fileOptionsStayBelowTheGraphsFolder() throws {
        let workspace = Workspace()
        workspace.write("luts/warm.txt", "x")
        let look = """
            local look = kernel{ "look", options = { file = "file" }, passes = function(p)
              return { { native = "meanColor", options = { file = p.file } }, { inputs = { "image" }, pixel = function(c) return c end } }
            end }

            """
        let made = try filter(look + "c >> look{ file = 'luts/warm.txt' } >> d", workspace)
        guard case .native(let native) = made.stages[0].work else {
            Issue.record("no native stage")
            return
        }
        #expect(native.options.string("file")?.hasSuffix("/luts/warm.txt") == true)
        #expect(
            workspace.errorText(look + "camera{'c'} >> look{ file = '/etc/passwd' }").contains(
                "outside the graph's folder"))
        #expect(
            workspace.errorText(look + "camera{'c'} >> look{ file = 'luts/worm.txt' }").contains(
                "did you mean 'luts/warm.txt'?"))
        #expect(workspace.errorText(look + "camera{'c'} >> look{}").contains("look needs file ="))
    }

    @Test func passesHaveSizesAndEarlierPictures() throws {
        let made = try filter(
            """
            c >> kernel{ "k", params = { s = { 0.5, min = 0, max = 1 } }, passes = {
              { name = "half", scale = 1/2, pixel = function(c) return c end },
              { name = "table", size = {256, 1}, scale = nil, inputs = { "half" }, pixel = function(c) return c end },
              { name = "mean", native = "meanColor", inputs = { "table" }, scale = {1/4, 1} },
              { inputs = { "image", "previous", "image@3", "half@previous", "mean" },
                pixel = function(a, b, c, d, e, p) return mix(a, b, p.s) + c + d + e end },
            } } >> d
            """)
        #expect(
            made.stages.map(\.size) == [
                .scaled(x: 0.5, y: 0.5), .pixels(width: 256, height: 1), .scaled(x: 0.25, y: 1), .filter,
            ])
        #expect(
            made.stages[3].inputs == [
                .port(0), .pastStage(3, ticks: 1), .pastPort(0, ticks: 3), .pastStage(0, ticks: 1), .stage(2),
            ])
        #expect(made.stages[2].work == .native(.init("meanColor")))
    }

    /// 0.5 + v / 1000 between the passes: halves there are 1/2048 apart.
    @Test func numbersBetweenPassesAreHalvesOrFloats() throws {
        func text(_ word: String) -> String {
            """
            source_image { "image" } >> kernel{ "fine", passes = {
              { name = "small", channels = 1, \(word) pixel = function(c) return vec4(0.5 + c.r / 1000) end },
              { sample = function(small) return vec4(vec3(1000 * (small:at(1, 0).r - 0.5)), 1) end },
            } } >> pictures { "out" }
            """
        }
        let values: [Float] = [0.125, 0.25, 0.375, 0.75]
        let picture = FilterPicture(values.map { [$0, 0, 0, 1] }, width: 4)
        func worst(_ word: String) throws -> Float {
            let result = try #require(try FilterEngine.run(text(word), inputs: [("image", [picture])]).last)
            return zip(result.pixels, values.dropFirst() + [0.75]).map { abs($0[0] - $1) }.max() ?? 9
        }
        #expect(try worst("floats = true,") < 0.001)
        #expect(try worst("") > 0.1)
    }

    @Test func mistakesInPassesNameWhatThereIs() {
        let workspace = Workspace()
        func text(_ pass: String) -> String { workspace.errorText("kernel{ 'k', passes = { \(pass) } }") }
        #expect(text("{ inputs = { 'imagr@2' }, pixel = function(c) return c end }").contains("did you mean 'image'?"))
        #expect(text("{ inputs = { 'image@121' }, pixel = function(c) return c end }").contains("1 to 120"))
        #expect(text("{ native = 'x', pixel = function(c) return c end }").contains("both native and pixel"))
        #expect(text("{ native = 'x', params = { a = 'b' } }").contains("which is no parameter"))
        #expect(
            text("{ params = { a = 1 }, pixel = function(c) return c end }").contains("only native passes have them"))
        #expect(text("{ scale = 0, pixel = function(c) return c end }").contains("write scale = 1/2"))
        #expect(text("{ floats = 32, pixel = function(c) return c end }").contains("it is true for 32 bits a number"))
        #expect(text("{ size = {0, 1}, pixel = function(c) return c end }").contains("write size = {256, 1}"))
        #expect(
            workspace.errorText("kernel{ inputs = { 'previous' }, pixel = function(c) return c end }").contains(
                "that word means an earlier picture"))
        #expect(
            workspace.errorText("kernel{ inputs = { 'a', 'b' }, ends = 'p', pixel = function(a, b) return a end }")
                .contains("name one of its parameters"))
    }

    @Test func handlersHearTheNumbersOfANode() throws {
        let (workspace, engine) = (Workspace(), FakeHost())
        let path = workspace.write(
            "graph.lua",
            """
            local cam, mean = camera{"cam"}, filter.averageColor{"mean"}
            cam >> mean
            mean:onData(function(d)
              log(d.tick .. " " .. d.luminance .. " " .. #d.color .. " " .. d.color[4] .. " " .. #d.points .. " " .. d.points[2][1])
            end)
            """)
        let host = ScriptHost(
            path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: engine.options)
        try host.start(engine)
        defer { host.stop() }
        #expect(engine.record.withLock { $0.patches[0].patch.node("mean")?.isWatched } == true)
        var snapshot = OperatorData.Snapshot(
            tick: 4,
            values: [
                "luminance": .number(0.5), "color": .vector([0, 0, 0, 1]), "points": .vectors([[1, 2], [3, 4]]),
            ])
        engine.record.notify { $0.data["mean"] = snapshot }
        host.post(.frame(tick: 5, time: 0))
        #expect(engine.waits { $0.logs == ["4 0.5 4 1.0 2 3.0"] })
        // The same tick is told once.
        host.post(.frame(tick: 6, time: 0))
        host.post(.key("x"))
        snapshot.tick = 6
        pause(20_000_000)
        engine.record.notify { $0.data["mean"] = snapshot }
        host.post(.frame(tick: 7, time: 0))
        #expect(engine.waits { $0.logs.count == 2 && $0.logs[1].hasPrefix("6 ") })
        #expect(
            workspace.errorText("camera{'c'}:onData(function() end)").contains("camera 'c' publishes no numbers"))
    }

    private func pause(_ nanoseconds: Int64) {
        let never = Monitor(())
        _ = never.wait(until: monotonicNanoseconds() + nanoseconds) { _ in nil as Bool? }
    }
}
