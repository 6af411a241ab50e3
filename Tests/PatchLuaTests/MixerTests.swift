import Glibc
import PatchGraph
import PatchLua
import PatchMedia
import Synchronization
import Testing

/// Mixers put pixels where the script says, at the cost of what is seen.
@Suite struct MixerTests {
    @Test func thereAreCases() { #expect(MixerCase.all.count >= 29) }

    @Test(arguments: MixerCase.all) func putsPixelsWhereTheScriptSays(test: MixerCase) throws {
        let text = """
            local mix = mixer{ "mix", size = {\(test.size.width), \(test.size.height)}, fill = "\(test.fill)" }
            \(test.lines.joined(separator: "\n"))
            mix >> out
            """
        let output = VideoFormat(test.format, width: test.size.width, height: test.size.height)
        for threads in [1, 3] {
            // Later ticks take still pictures from what was kept of them.
            let (pictures, _) = try MixerRunner.run(test.sources, text, output: output, ticks: 9, threads: threads)
            #expect(pictures.count == 9)
            for picture in pictures {
                #expect(picture.count == test.rows.count)
                var worst = (difference: 0, row: 0, column: 0)
                for (row, (made, expected)) in zip(picture, test.rows).enumerated() {
                    #expect(made.count == expected.count)
                    for (column, (a, b)) in zip(made, expected).enumerated()
                    where abs(Int(a) - Int(b)) > worst.difference {
                        worst = (abs(Int(a) - Int(b)), row, column)
                    }
                }
                #expect(
                    worst.difference <= test.limit,
                    """
                    row \(worst.row), byte \(worst.column): \(picture[worst.row][worst.column]), not \
                    \(test.rows[worst.row][worst.column])
                    """)
            }
        }
    }

    private func source(_ name: String, _ width: Int = 16, _ height: Int = 10, _ kind: String = "rgba")
        -> MixerCase.Source
    {
        MixerCase.Source(name: name, kind: kind, width: width, height: height, seed: 1)
    }

    private func frames(_ engine: Engine) -> [NodeID: Int64] {
        Dictionary(engine.statistics.nodes.map { ($0.id, $0.frames) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sixteen slots, of which the last covers all others: what feeds those is not computed.
    @Test func whatIsCoveredCostsNothing() throws {
        var lines = ["local mix = mixer{ 'mix', size = {16, 10} }"]
        for index in 1...16 {
            lines.append("local f\(index) = filter.exposure{ 'f\(index)', exposure = \(index) / 10 }")
            lines.append("a >> f\(index)")
            lines.append("mix.slots.s\(index) = { source = f\(index), size = {16, 10}, z = \(index) }")
        }
        lines.append("mix >> out")
        let (_, engine) = try MixerRunner.run(
            [source("a", 16, 10, "yuv420p")], lines.joined(separator: "\n"),
            output: VideoFormat(.yuv420p, width: 16, height: 10), ticks: 8)
        let ran = frames(engine)
        for index in 1...15 { #expect(ran["f\(index)"] == 0, "f\(index)") }
        #expect(ran["f16"] == 8)
        #expect(ran["mix"] == 8)
    }

    /// The same by the clock of the one thread that draws, which other work of the machine does not count on.
    @Test func sixteenSlotsOfWhichOneIsSeenCostNoMoreThanOne() throws {
        func engine(_ slots: Int) throws -> Engine {
            let (width, height) = (1280, 720)
            let lines = (1...slots).map {
                "mix.slots.s\($0) = { source = a, position = {0, 0}, size = {640, 360}, z = \($0) }"
            }
            let text = "local mix = mixer{ 'mix', size = {\(width), \(height)} }\n" + lines.joined(separator: "\n")
            return try MixerRunner.loaded(
                [source("a", width, height, "yuv420p")], text + "\nmix >> out",
                output: VideoFormat(.yuv420p, width: width, height: height), threads: 1)
        }
        let engines = try [1, 16].map { try engine($0) }
        defer { for engine in engines { engine.stop(drainLimit: 0) } }
        var times: [[Double]] = [[], []]
        for tick in 0..<41 {
            for (index, engine) in engines.enumerated() {
                var (start, end) = (timespec(), timespec())
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
                try engine.renderOnce(tick: Int64(tick))
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
                times[index].append(
                    Double(end.tv_sec - start.tv_sec) * 1e3 + Double(end.tv_nsec - start.tv_nsec) / 1e6)
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        #expect(medians[1] <= 1.2 * medians[0], "\(medians[1]) ms, not \(medians[0])")
    }

    @Test func hiddenAndFarSlotsCostNothingAndAClearTopUncoversThem() throws {
        for (line, expected) in [
            ("mix.slots.b = { source = fb, size = {16, 10}, visible = false }", ["fa": Int64(4), "fb": 0]),
            ("mix.slots.b = { source = fb, position = {16, 0}, size = {16, 10} }", ["fa": 4, "fb": 0]),
            ("mix.slots.b = { source = fb, size = {16, 10}, transparency = 1 }", ["fa": 4, "fb": 0]),
            ("mix.slots.b = { source = fb, size = {16, 10}, transparency = 0.5 }", ["fa": 4, "fb": 4]),
            ("mix.slots.b = { source = fb, size = {16, 10}, cornerRadius = 3 }", ["fa": 4, "fb": 4]),
            ("mix.slots.b = { source = fb, position = {1, 0}, size = {16, 10} }", ["fa": 4, "fb": 4]),
            ("mix.slots.b = { source = fb, position = {-4, -4}, size = {40, 40} }", ["fa": 0, "fb": 4]),
        ] {
            let (_, engine) = try MixerRunner.run(
                [source("a", 16, 10, "yuv420p")],
                """
                local mix = mixer{ "mix", size = {16, 10} }
                local fa, fb = filter.exposure{ "fa", exposure = 0.1 }, filter.exposure{ "fb", exposure = 0.2 }
                a >> fa
                a >> fb
                mix.slots.a = { source = fa, size = {16, 10} }
                \(line)
                mix >> out
                """, output: VideoFormat(.yuv420p, width: 16, height: 10), ticks: 4)
            let ran = frames(engine)
            #expect(["fa": ran["fa"] ?? -1, "fb": ran["fb"] ?? -1] == expected, "\(line)")
        }
    }

    /// One opaque picture over the whole canvas is handed on, not copied.
    @Test func aFullPictureIsHandedOn() throws {
        let text = """
            local mix = mixer{ "mix", size = {16, 10} }
            mix.slots.a = { source = a, size = {16, 10} }
            mix >> out
            """
        let (pictures, engine) = try MixerRunner.run(
            [source("a", 16, 10, "yuv420p")], text, output: VideoFormat(.yuv420p, width: 16, height: 10), ticks: 2)
        #expect(engine.plan?.passes.isEmpty == true)
        let direct = try MixerRunner.run(
            [source("a", 16, 10, "yuv420p")], "a >> out", output: VideoFormat(.yuv420p, width: 16, height: 10), ticks: 2
        )
        #expect(pictures == direct.pictures)
    }

    /// What a mixer keeps of a still picture is given up with the first tick in which the picture, its place or its shape differs.
    @Test func aPictureThatWasKeptIsDrawnAnewWhenItChanges() throws {
        let output = VideoFormat(.yuv420p, width: 30, height: 20)
        func text(_ slot: String) -> String {
            """
            local mix = mixer{ "mix", size = {30, 20} }
            mix.slots.v = { source = v, size = {30, 20} }
            mix.slots.a = { source = a, position = {3, 5}, size = {16, 10}, z = 1, \(slot) }
            mix >> out
            """
        }
        func direct(_ kind: String, seed: Int, _ slot: String) throws -> [[UInt8]] {
            let sources = [
                source("v", 30, 20, "yuv420p"),
                MixerCase.Source(name: "a", kind: kind, width: 16, height: 10, seed: seed),
            ]
            return try #require(try MixerRunner.run(sources, text(slot), output: output).pictures.first)
        }
        func worst(_ a: [[UInt8]], _ b: [[UInt8]]) -> Int {
            zip(a.joined(), b.joined()).map { abs(Int($0) - Int($1)) }.max() ?? 0
        }
        for slot in ["", "cornerRadius = 3"] {
            let (pictures, _) = try MixerRunner.run(
                [source("v", 30, 20, "yuv420p"), source("a", 16, 10, "changing")], text(slot), output: output, ticks: 40
            ) { tick, engine in
                if tick.index == 20 { engine?.setParameter(node: "mix", name: "a.transparency", .constant([0.5])) }
                if tick.index == 30 { engine?.setParameter(node: "mix", name: "a.position", .constant([8, 2])) }
            }
            try #require(pictures.count == 40)
            let first = try direct("clear", seed: 1, slot)
            #expect(pictures[0] == first)
            #expect(worst(pictures[11], first) <= 2)
            #expect(pictures[8] == pictures[11])
            let second = try direct("clear", seed: 2, slot)
            #expect(worst(first, second) > 20)
            #expect(pictures[12] == second)
            #expect(worst(pictures[19], second) <= 2)
            let comma = slot.isEmpty ? "" : slot + ", "
            let faded = try direct("clear", seed: 2, comma + "transparency = 0.5")
            #expect(pictures[20] == faded)
            #expect(worst(pictures[29], faded) <= 2)
            let moved = try direct("clear", seed: 2, comma + "transparency = 0.5, position = {8, 2}")
            #expect(pictures[30] == moved)
            #expect(worst(pictures[39], moved) <= 2)
        }
    }

    /// A ramp that is interrupted goes on from where the slot is, and never jumps.
    @Test func anInterruptedTransitionGoesOnFromWhereItIs() throws {
        let places = Mutex<[Float]>([])
        _ = try MixerRunner.run(
            [source("a", 4, 4)],
            """
            local mix = mixer{ "mix", size = {64, 8}, fill = "#000000" }
            mix.slots.a = { source = a, position = {0, 0}, size = {4, 4} }
            mix >> out
            """, output: VideoFormat(.rgba, width: 64, height: 8), ticks: 40
        ) { tick, engine in
            if let now = engine?.parameterFloats(node: "mix", name: "a.position") {
                places.withLock { $0.append(now[0]) }
            }
            // One pixel a tick to the right; after ten ticks back, at a fifth of a pixel a tick.
            if tick.index == 5 {
                engine?.setParameter(
                    node: "mix", name: "a.position", .ramp(to: [30, 0], seconds: 1, easing: .linear))
            }
            if tick.index == 16 {
                engine?.setParameter(
                    node: "mix", name: "a.position", .ramp(to: [5, 0], seconds: 25.0 / 30, easing: .linear))
            }
        }
        let seen = places.withLock { $0 }
        #expect(seen.count == 40)
        // Before tick n the value is that of tick n - 1; the ramp begins at tick 5.
        for tick in 6...16 { #expect(abs(seen[tick] - Float(tick - 6)) < 0.01, "tick \(tick): \(seen[tick])") }
        for tick in 17..<40 {
            #expect(abs(seen[tick] - (10 - 0.2 * Float(tick - 17))) < 0.01, "tick \(tick): \(seen[tick])")
        }
    }

    // MARK: What scripts say

    private func patch(_ text: String) throws -> Patch {
        try Workspace().build("local cam, call, view = camera{'cam'}, camera{'call'}, display{'view'}\n" + text)
    }

    @Test func slotsArePortsAndParameters() throws {
        let patch = try patch(
            """
            local mix = mixer{ "mix", size = "1280x720", fill = "#101010" }
            mix.slots.host = { source = cam, position = {0, 0}, size = {1280, 720}, aspect = "fill", z = 0 }
            mix.slots.guest = { source = call, position = {880, 440}, size = {360, 240}, aspect = "fit", z = 1,
              border = { 2, "#ffffff" }, shadow = { blur = 8, color = "#00000080" }, blend = "screen" }
            mix.slots.guest.position = {100, 50}
            mix.slots.guest.transparency = param{ "fade", 0.5, min = 0, max = 1 }
            mix.slots.host.cornerRadius = keyframes{ {0, 0}, {1, 20} }
            assert(mix.slots.guest.position[1] == 100 and mix.slots.host.aspect == "fill" and mix.slots.guest.source.name == "call")
            assert(mix.slots.guest.blend == "screen" and mix.slots.guest.visible and mix.slots.guest.borderWidth == 2)
            mix >> view
            """)
        let mix = try #require(patch.node("mix"))
        guard case .kernels(let filter) = mix.body else {
            Issue.record("no filter")
            return
        }
        #expect(filter.ports == ["host", "guest"])
        #expect(mix.parameters["guest.position"] == .constant([100, 50]))
        #expect(mix.parameters["guest.transparency"] == .control("fade"))
        #expect(mix.parameters["guest.aspect"] == .constant([1]))
        #expect(mix.parameters["guest.shadowBlur"] == .constant([8]))
        #expect(patch.wires.map { "\($0.from)>\($0.to):\($0.port)" } == ["cam>mix:0", "call>mix:1", "mix>view:0"])
    }

    @Test func slotsComeAndGoWithTheirWires() throws {
        let patch = try patch(
            """
            local mix = mixer{ "mix" }
            mix.slots.a = { source = cam }
            mix.slots.b = { source = call, mask = cam }
            mix.slots.c = { source = cam }
            mix.slots.a = nil
            mix.slots.c.source = call
            mix.slots.b = cam
            mix >> view
            """)
        let mix = try #require(patch.node("mix"))
        guard case .kernels(let filter) = mix.body else { return }
        #expect(filter.ports == ["b", "c"])
        let wires = patch.wires.filter { $0.to == "mix" }.map { "\($0.from):\($0.port)" }
        #expect(Set(wires) == ["cam:0", "call:1"] && wires.count == 2)
    }

    @Test func layoutsPlaceSlots() throws {
        func places(_ text: String, _ count: Int = 3) throws -> [[Float]] {
            let slots = (1...count).map { "mix.slots.s\($0) = { source = cam }" }.joined(separator: "\n")
            let patch = try patch("local mix = mixer{ 'mix', size = {640, 360} }\n\(slots)\n\(text)\nmix >> view")
            return (1...count).map { index in
                ["position", "size"].flatMap { field -> [Float] in
                    guard case .constant(let floats)? = patch.node("mix")?.parameters["s\(index).\(field)"] else {
                        return []
                    }
                    return floats
                }
            }
        }
        #expect(
            try places("mix:layout('sideBySide', { gap = 10 })")
                == [[0, 0, 206, 360], [216, 0, 208, 360], [434, 0, 206, 360]])
        #expect(
            try places("mix:layout('grid')") == [[0, 0, 320, 180], [320, 0, 320, 180], [160, 180, 320, 180]])
        #expect(
            try places("mix:layout('spotlight', { part = 0.25 })")
                == [[0, 0, 480, 360], [480, 0, 160, 180], [480, 180, 160, 180]])
        #expect(
            try places("mix:layout('pictureInPicture', { margin = 20, slots = {'s2', 's1'} })", 2)
                == [[460, 250, 160, 90], [0, 0, 640, 360]])
    }

    @Test func mistakesAreExplained() {
        let workspace = Workspace()
        func text(_ line: String) -> String {
            workspace.errorText(
                """
                local cam, mix = camera{"cam"}, mixer{ "mix", size = {640, 360} }
                mix.slots.guest = { source = cam }
                \(line)
                """)
        }
        #expect(
            text("mix.slots.gest.z = 1").hasPrefix("graph.lua:3: mixer 'mix' has no slot 'gest'; did you mean 'guest'?")
        )
        #expect(
            text("mix.slots.guest.positon = {0, 0}").contains("slot 'guest' has no 'positon'; did you mean 'position'?")
        )
        #expect(
            text("mix.slots.guest.position = 5").contains("position of slot 'guest' is 5; give it a table of 2 numbers")
        )
        #expect(
            text("mix.slots.guest.transparency = 2").contains("transparency of slot 'guest' is 2; it goes from 0 to 1"))
        #expect(text("mix.slots.guest.aspect = 'fil'").contains("did you mean \"fill\"?"))
        #expect(text("mix.slots.guest.blend = 'multiplay'").contains("did you mean \"multiply\"?"))
        #expect(text("mix.slots.guest.source = 5").contains("cannot be wired"))
        #expect(text("mix.slots['a.b'] = { source = cam }").contains("is no name for a slot"))
        #expect(text("mix:transition('guest', { source = cam }, 1)").contains("source of a slot cannot be animated"))
        #expect(text("mix:transition('guest', { z = 1 })").contains("give it seconds"))
        #expect(text("mix:layout('gird')").contains("did you mean \"grid\"?"))
        #expect(text("local m = mixer{ 'm', sise = {1, 1} }").contains("did you mean 'size'?"))
        #expect(text("for i = 1, 30 do mix.slots['s' .. i] = { source = cam } end").contains("that is the limit"))
        #expect(text("mix.slots.guest = nil\nmix.slots.guest.z = 1").contains("has no slot 'guest'"))
    }

    @Test func transitionsAreRampsOnAir() throws {
        let (workspace, engine) = (Workspace(), FakeHost())
        let path = workspace.write(
            "graph.lua",
            """
            local cam, mix, view = camera{"cam"}, mixer{"mix", size = {640, 360}}, display{"view"}
            mix.slots.guest = { source = cam, size = {320, 180} }
            mix >> view
            onKey("t", function() mix:transition("guest", { position = {10, 20}, visible = true }, 0.5, "easeInOut") end)
            onKey("b", function() mix.slots.guest.blend = "screen" end)
            onKey("n", function() mix.slots.new = { source = cam } end)
            """)
        let host = ScriptHost(
            path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: engine.options)
        try host.start(engine)
        defer { host.stop() }
        host.post(.key("t"))
        #expect(engine.waits { $0.parameters.count == 2 })
        let edits = engine.record.withLock { $0.parameters }
        #expect(
            edits[0].name == "guest.position"
                && edits[0].value == .ramp(to: [10, 20], seconds: 0.5, easing: .easeInOut))
        #expect(edits[1].name == "guest.visible" && edits[1].value == .constant([1]))
        #expect(engine.record.withLock { $0.patches.count } == 1)
        // Another blend or another slot is another plan.
        host.post(.key("b"))
        #expect(engine.waits { $0.patches.count == 2 })
        host.post(.key("n"))
        #expect(engine.waits { $0.patches.count == 3 && $0.patches[2].patch.wires.count == 3 })
    }
}
