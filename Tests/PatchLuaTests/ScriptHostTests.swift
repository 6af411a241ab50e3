import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Handlers, edits and reloads, against an engine that only remembers.
@Suite(.serialized) struct ScriptHostTests {
    private static let graph = """
        local cam, view = camera{"cam"}, display{"view"}
        local look = filter.brightness{"look", brightness = 0.5}
        local on = toggle{"on", true}
        local gain = param{"gain", 0.25}
        state.loads = (state.loads or 0) + 1
        state.note = state.note or {}
        state.note[#state.note + 1] = "load " .. state.loads
        local function wire(on)
          cam:removeAllTargets()
          look:removeAllTargets()
          if on then cam:addTarget(look) look:addTarget(view) else cam:addTarget(view) end
        end
        wire(on.value)
        on:onChange(wire)
        gain:onChange(function(v) look.brightness = v end)
        onKey("b", function() on.value = not on.value end)
        onKey("x", function() cam:removeAllTargets() error("no") end)
        onKey("l", function() while true do end end)
        onKey("r", function() look:ramp("brightness", 1, 0.5, "easeInOut") end)
        onKey("s", function() log(table.concat(state.note, ",")) end)
        button{"flash"}:onPress(function() log("flash") end)
        cam:onLost(function(why) log("lost: " .. why) end)
        cam:onBack(function() log("back") end)
        onUnload(function() log("unload " .. state.loads) end)
        """

    private func started(_ text: String) throws -> (Workspace, FakeHost, ScriptHost) {
        let (workspace, engine) = (Workspace(), FakeHost())
        let path = workspace.write("graph.lua", text)
        let host = ScriptHost(
            path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: engine.options)
        try host.start(engine)
        return (workspace, engine, host)
    }

    private func wires(_ patch: Patch) -> [String] { patch.wires.map { "\($0.from)>\($0.to)" } }

    @Test func handlersEditTheGraph() throws {
        let (workspace, engine, host) = try started(Self.graph)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        #expect(engine.record.withLock { wires($0.patches[0].patch) } == ["cam>look", "look>view"])

        host.post(.control("on", .bool(false)))
        let off = try #require(engine.wait { $0.patches.count == 2 ? $0.patches[1] : nil })
        #expect(wires(off.patch) == ["cam>view"] && !off.reload)

        // A key sets the control, and its handler rewires: one edit.
        host.post(.node("view", .key("b")))
        let on = try #require(engine.wait { $0.patches.count == 3 && $0.controls["on"] != nil ? $0.patches[2] : nil })
        #expect(wires(on.patch) == ["cam>look", "look>view"])
        #expect(engine.record.withLock { $0.controls["on"] } == .bool(true))

        host.post(.control("gain", .number(0.75)))
        host.post(.key("r"))
        let parameters = try #require(engine.wait { $0.parameters.count == 2 ? $0.parameters : nil })
        #expect(parameters[0].node == "look" && parameters[0].name == "brightness")
        #expect(parameters[0].value == .constant([0.75]))
        #expect(parameters[1].value == .ramp(to: [1], seconds: 0.5, easing: .easeInOut))

        host.post(.press("flash"))
        host.post(.node("cam", .lost(PatchError(.media, "unplugged"))))
        host.post(.node("cam", .back))
        let logs = try #require(engine.wait { $0.logs.count == 3 ? $0.logs : nil })
        #expect(logs == ["flash", "lost: unplugged", "back"])
        #expect(engine.record.withLock { $0.patches.count } == 3)
    }

    @Test func failingHandlersChangeNothing() throws {
        let (workspace, engine, host) = try started(Self.graph)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        host.post(.key("x"))
        let first = try #require(engine.wait { $0.errors.first })
        #expect(first.description == "\(workspace.folder)/graph.lua:17: no")
        host.post(.key("l"))
        let second = try #require(engine.wait { $0.errors.count == 2 ? $0.errors[1] : nil })
        #expect(second.code == .budget && second.location?.line == 18)

        // An engine that refuses: the wiring stays too.
        engine.record.notify { $0.refusal = PatchError(.graph, "cannot be planned") }
        host.post(.control("on", .bool(false)))
        let third = try #require(engine.wait { $0.errors.count == 3 ? $0.errors[2] : nil })
        #expect(third.code == .graph)
        engine.record.notify { $0.refusal = nil }

        // The script still works, from the wiring it had.
        host.post(.key("r"))
        _ = try #require(engine.wait { $0.parameters.first })
        #expect(engine.record.withLock { $0.patches.count } == 1)
        #expect(host.statistics.failedHandlers == 3)
        host.post(.control("on", .bool(true)))
        host.post(.control("on", .bool(false)))
        let last = try #require(engine.wait { $0.patches.count >= 2 ? $0.patches.last : nil })
        #expect(wires(last.patch) == ["cam>view"])
    }

    @Test func timersAndFrames() throws {
        let (workspace, engine, host) = try started(
            """
            local n = 0
            every(0.005, function() n = n + 1 if n == 3 then log("three") end end)
            after(0.001, function() log("once") end)
            onFrame(function(time, tick) if tick == 7 then log("tick " .. tick .. " at " .. time) end end)
            """)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        host.post(.frame(tick: 7, time: 0.25))
        let logs = try #require(engine.wait { $0.logs.count == 3 ? Set($0.logs) : nil })
        #expect(logs == ["once", "three", "tick 7 at 0.25"])
    }

    @Test func graphTimeDrivesTimersOffline() throws {
        let (workspace, engine) = (Workspace(), FakeHost())
        var options = engine.options
        options.usesGraphTime = true
        let path = workspace.write("graph.lua", "local n = 0 every(1, function() n = n + 1 log(n) end)")
        let host = ScriptHost(path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: options)
        try host.start(engine)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        host.post(.frame(tick: 30, time: 1))
        #expect(engine.waits { $0.logs.count == 1 })
        host.post(.frame(tick: 60, time: 2))
        #expect(engine.waits { $0.logs.count == 2 })
        host.post(.frame(tick: 70, time: 2.3))
        host.post(.frame(tick: 150, time: 5.5))
        // Missed beats are skipped: one call, not three.
        #expect(engine.waits { $0.logs.count == 3 })
        #expect(host.handleFrame(tick: 180, time: 6, limit: 10))
        #expect(engine.record.withLock { $0.logs.count } == 4)
    }

    @Test func savingReloads() throws {
        let (workspace, engine, host) = try started(Self.graph)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        engine.record.withLock { $0.controls["gain"] = .number(0.5) }
        for (index, inPlace) in [false, true].enumerated() {
            workspace.write("graph.lua", Self.graph + "\nlog('gain ' .. gain.value)", inPlace: inPlace)
            let record = try #require(engine.wait { $0.reloads.count == index + 1 ? $0 : nil })
            #expect(record.reloads[index].error == nil)
            #expect(record.patches.count == index + 2 && record.patches[index + 1].reload)
            #expect(record.logs.suffix(2) == ["gain 0.5", "unload \(index + 1)"])
        }
        host.post(.key("s"))
        #expect(engine.waits { $0.logs.last == "load 1,load 2,load 3" })
        #expect(host.statistics.reloads == 2)
    }

    @Test(arguments: [
        ("local x = ", ":1: syntax error: unexpected symbol near <eof>"),
        ("filter.brighness{}", ":1: there is no filter.brighness; did you mean filter.brightness?"),
        ("image{file = 'x.png'}", ":1: there is no file 'x.png' below the graph's folder"),
        ("filter.brightness{brightness = 7}", ":1: brightness of filter.brightness is 7"),
        ("\nwhile true do end", ":2: the script ran longer than 1 s"),
        ("local t = nil\nt.x = 1", ":2: attempt to index a nil value"),
    ])
    func brokenSavesKeepTheOldScript(text: String, message: String) throws {
        let (workspace, engine, host) = try started(Self.graph)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        workspace.write("graph.lua", text)
        let report = try #require(engine.wait { $0.reloads.first })
        let error = try #require(report.error)
        #expect(error.description.contains("graph.lua" + message), "\(error)")
        // The old script lives.
        host.post(.key("s"))
        #expect(engine.waits { $0.logs.last == "load 1" })
        #expect(engine.record.withLock { $0.patches.count } == 1)
        // And the next good save is taken.
        workspace.write("graph.lua", Self.graph)
        #expect(engine.waits { $0.patches.count == 2 })
    }

    @Test func modulesAndAssetsAreWatched() throws {
        let workspace = Workspace()
        let engine = FakeHost()
        workspace.write("looks/dim.lua", "return kernel{ pixel = function(c) return vec4(c.rgb * 0.5, c.a) end }")
        workspace.write("logo.png", "1")
        let path = workspace.write(
            "graph.lua", "image{'logo', file = 'logo.png'} >> require 'looks.dim' {} >> display{'d'}")
        let host = ScriptHost(
            path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: engine.options)
        try host.start(engine)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        workspace.write("looks/dim.lua", "return kernel{ pixel = function(c) return vec4(c.rgb * 0.25, c.a) end }")
        #expect(engine.waits { $0.reloads.count == 1 })
        workspace.write("logo.png", "2")
        #expect(engine.waits { $0.reloads.count == 2 })
        // A module that is missing is waited for, even where its folder does not exist yet.
        workspace.write("graph.lua", "image{'logo', file = 'logo.png'} >> require 'more.bright' {} >> display{'d'}")
        let missing = try #require(engine.wait { $0.reloads.count == 3 ? $0.reloads[2] : nil })
        #expect(missing.error?.message.hasPrefix("there is no module \"more.bright\"") == true)
        workspace.write("more/bright.lua", "return kernel{ pixel = function(c) return c end }")
        #expect(engine.waits { $0.reloads.contains { $0.error == nil } && $0.patches.count == 4 })
    }

    @Test func aDeletedGraphIsWaitedFor() throws {
        let (workspace, engine, host) = try started(Self.graph)
        defer { host.stop() }
        workspace.remove("graph.lua")
        host.post(.reload)
        let report = try #require(engine.wait { $0.reloads.first })
        #expect(report.error?.code == .notFound)
        workspace.write("graph.lua", Self.graph)
        #expect(engine.waits { $0.patches.count == 2 })
        #expect(engine.waits { $0.reloads.count == 2 })
    }

    @Test func aThousandReloadsLeaveNothingBehind() throws {
        let (workspace, engine, host) = try started(Self.graph)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        let states = liveLuaStates
        var memory: [Int] = []
        for index in 1...1000 {
            host.post(.reload)
            #expect(engine.waits { $0.reloads.count == index })
            engine.record.withLock { $0.patches.removeAll() }
            if index % 250 == 0 { memory.append(residentKilobytes()) }
        }
        // Other tests of this process come and go, so a few states more or less are theirs.
        #expect(abs(liveLuaStates - states) < 20)
        #expect(memory[3] - memory[1] < 8192, "\(memory) KiB")
    }
}
