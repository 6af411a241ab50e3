import PatchGraph
import PatchLua
import PatchMedia
import Synchronization
import Testing

/// Overlays, transitions and zooms as scripts drive them.
@Suite(.serialized) struct CompositionTests {
    private func source(_ name: String, seed: Int = 1) -> MixerCase.Source {
        MixerCase.Source(name: name, kind: "yuv420p", width: 16, height: 10, seed: seed)
    }

    private let output = VideoFormat(.yuv420p, width: 16, height: 10)

    /// An overlay moves on air, and what it left behind is the picture again.
    @Test func anOverlayMovesOnAir() throws {
        let text = """
            local over = overlay{ "over", x = 2, y = 1 }
            a >> over
            b >> over.overlay
            over >> out
            """
        let sources = [
            MixerCase.Source(name: "a", kind: "rgba", width: 12, height: 8, seed: 1),
            MixerCase.Source(name: "b", kind: "rgba", width: 3, height: 2, seed: 2),
        ]
        let (pictures, _) = try MixerRunner.run(
            sources, text, output: VideoFormat(.rgba, width: 12, height: 8), ticks: 4
        ) { tick, engine in
            if tick.index == 2 {
                engine?.setParameter(node: "over", name: "x", .constant([8]))
                engine?.setParameter(node: "over", name: "y", .constant([5]))
            }
        }
        func pattern(_ x: Int, _ y: Int, _ c: Int, _ seed: Int) -> UInt8 {
            c == 3 ? 255 : UInt8((x * 37 + y * 59 + c * 83 + seed * 101 + x * y * 7 / 2) & 255)
        }
        for (tick, picture) in pictures.enumerated() {
            let (left, top) = tick < 2 ? (2, 1) : (8, 5)
            for y in 0..<8 {
                for x in 0..<12 {
                    for c in 0..<4 {
                        let isOver = (left..<left + 3).contains(x) && (top..<top + 2).contains(y)
                        let expected = isOver ? pattern(x - left, y - top, c, 2) : pattern(x, y, c, 1)
                        #expect(abs(Int(picture[y][4 * x + c]) - Int(expected)) <= 1, "tick \(tick), \(x), \(y), \(c)")
                    }
                }
            }
        }
    }

    /// Before it begins and after it has ended a transition shows its inputs bit by bit, and computes neither itself nor
    /// what feeds only the other one.
    @Test func aFinishedBranchCostsNothing() throws {
        let text = """
            local fa, fb = filter.exposure{ "fa", exposure = 0.1 }, filter.exposure{ "fb", exposure = 0.2 }
            a >> fa
            b >> fb
            local t = transition(fa, fb, 10 / 30, "wipe")
            t >> out
            """
        let sources = [source("a"), source("b", seed: 2)]
        let (pictures, engine) = try MixerRunner.run(sources, text, output: output, ticks: 30)
        let (plain, _) = try MixerRunner.run(
            sources, "b >> filter.exposure{ 'fb', exposure = 0.2 } >> out", output: output, ticks: 1)
        // The ramp begins at tick 0 and has ended at tick 10.
        #expect(pictures[10...].allSatisfy { $0 == plain[0] })
        #expect(pictures[5] != pictures[10] && pictures[0] != pictures[5])
        let ran = Dictionary(
            engine.statistics.nodes.map { ($0.id, $0.frames) }, uniquingKeysWith: { first, _ in first })
        #expect(ran["fa"] == 10, "\(ran)")
        // Tick 0 shows the first picture alone.
        #expect(ran["fb"] == 29, "\(ran)")
        #expect(ran["transition.wipe#1"] == 9, "\(ran)")
    }

    private func started(_ text: String) throws -> (Workspace, FakeHost, ScriptHost) {
        let (workspace, engine) = (Workspace(), FakeHost())
        let host = ScriptHost(
            path: workspace.write("graph.lua", text), registry: FakeGraph.registry, catalog: FakeGraph.catalog,
            options: engine.options)
        try host.start(engine)
        return (workspace, engine, host)
    }

    @Test func transitionsGoThereAndBackAndToOthers() throws {
        let (workspace, engine, host) = try started(
            """
            local a, b, c, view = camera{"a"}, camera{"b"}, camera{"c"}, display{"view"}
            local t = transition(a, b, 2, "fade", "easeInOut")
            t >> view
            onKey("b", function() t:back(1) end)
            onKey("s", function() t:start(0.5, "easeIn") end)
            onKey("c", function() t:switchTo(c, 3) end)
            """)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        let first = engine.record.withLock { $0.patches[0].patch }
        let t = try #require(first.nodes.first { $0.kind == "transition.fade" })
        #expect(t.parameters["progress"] == .ramp(to: [1], seconds: 2, easing: .easeInOut))
        #expect(first.wires.filter { $0.to == t.id }.map { "\($0.from):\($0.port)" } == ["a:0", "b:1"])
        host.post(.key("b"))
        #expect(engine.waits { $0.parameters.last?.value == .ramp(to: [0], seconds: 1, easing: .linear) })
        host.post(.key("s"))
        #expect(engine.waits { $0.parameters.last?.value == .ramp(to: [1], seconds: 0.5, easing: .easeIn) })
        // It shows the second picture, so the third camera takes the first one's place.
        host.post(.key("c"))
        #expect(engine.waits { $0.parameters.last?.value == .ramp(to: [0], seconds: 3, easing: .linear) })
        let last = try #require(engine.record.withLock { $0.patches.last?.patch })
        #expect(Set(last.wires.filter { $0.to == t.id }.map { "\($0.from):\($0.port)" }) == ["c:0", "b:1"])
    }

    /// factor' = clamp(factor + atan2(velocity, 15), 1, max).
    @Test func pinchesFollowTheRule() throws {
        let (workspace, engine, host) = try started(
            """
            local cam, z, view = camera{"cam"}, filter.zoom{"z", factor = 2}, display{"view"}
            cam >> z >> view
            onKey("i", function() log(z:pinch(15)) end)
            onKey("o", function() log(z:pinch(-1000)) z:pinch(-1000) end)
            """)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        host.post(.key("i"))
        // atan2(15, 15) is π/4.
        #expect(engine.waits { $0.parameters.count == 1 })
        guard case .constant(let first) = engine.record.withLock({ $0.parameters[0].value }) else { return }
        #expect(abs(first[0] - 2.785398) < 1e-5)
        host.post(.key("o"))
        #expect(engine.waits { $0.parameters.count == 3 })
        guard case .constant(let last) = engine.record.withLock({ $0.parameters[2].value }) else { return }
        // 2.785 − 1.556 = 1.230; then below 1, which is the least.
        #expect(last == [1])
        #expect(workspace.errorText("camera{'cam'}:pinch(1)").contains("pinch is a method of zooms"))
        #expect(
            workspace.errorText("transition(camera{'a'}, camera{'b'}, 1, 'wype')").contains("did you mean \"wipe\"?"))
        #expect(workspace.errorText("camera{'a'}:start(1)").contains("start is a method of transitions"))
    }
}
