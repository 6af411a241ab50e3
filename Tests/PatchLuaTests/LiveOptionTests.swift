import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Options that may change on air: `title.string = "…"`.
@Suite(.serialized) struct LiveOptionTests {
    private func started(
        _ text: String, files: [String: String] = [:]
    ) throws -> (Workspace, FakeHost, ScriptHost) {
        let (workspace, engine) = (Workspace(), FakeHost())
        for (name, text) in files { workspace.write(name, text) }
        let path = workspace.write("graph.lua", text)
        let host = ScriptHost(
            path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: engine.options)
        try host.start(engine)
        return (workspace, engine, host)
    }

    /// What is shown while an input delivers nothing: nodes and colours by what they are, changed on air too.
    @Test func policiesNameNodesAndColours() throws {
        let (workspace, engine, host) = try started(
            """
            local spare, card = camera{"spare"}, image{"card", file = "card.png"}
            local dim = filter.brightness{"dim", brightness = -0.5}
            card >> dim
            local a = stream{"a", url = "srt://host:1", policy = "freeze", freeze = 3, slate = dim, offset = -40}
            local b = stream{"b", url = "srt://host:2", policy = "branch", branch = spare}
            local c = stream{"c", url = "srt://host:3", policy = "freeze", slate = "#ff8000"}
            a >> display{"view"}
            onKey("d", function() b.policy = "drop" end)
            onKey("n", function() b.branch = a end)
            onKey("o", function() a.offset = 25 end)
            onKey("e", function() b.branch = "spare" end)
            onKey("f", function() a.slate = 7 end)
            """, files: ["card.png": "a picture"])
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        let patch = try #require(engine.record.withLock { $0.patches.first?.patch })
        func policy(_ id: String) -> InputPolicy? { patch.node(id).map { InputPolicy($0.options) } }
        #expect(policy("a") == InputPolicy(.freeze, freeze: 3, standIn: .node("dim")))
        #expect(policy("b") == InputPolicy(.branch, standIn: .node("spare")))
        #expect(policy("c") == InputPolicy(.freeze, standIn: .color([1, Float(128.0 / 255), 0, 1])))
        #expect(policy("spare") == InputPolicy())
        for key in ["d", "n", "o", "e", "f"] { host.post(.key(key)) }
        #expect(engine.waits { $0.options.count == 3 && $0.errors.count == 2 })
        let set = engine.record.withLock { $0.options }
        #expect(set.map(\.value) == [.string("drop"), .string("a"), .number(25)])
        let errors = engine.record.withLock { $0.errors }.map(\.description)
        #expect(errors[0].contains("branch of stream") && errors[0].contains("a node"), "\(errors)")
        #expect(errors[1].contains("slate of stream") && errors[1].contains("a node or a colour"), "\(errors)")
    }

    @Test func handlersSetOptionsWithoutANewPlan() throws {
        let (workspace, engine, host) = try started(
            """
            local title = text{"title", string = "one", outline = { width = 2, color = "#ff0000" }}
            title >> display{"view"}
            onKey("a", function() title.string = title.string .. "!" end)
            onKey("o", function() title.outline = { width = title.outline.width + 1 } end)
            onKey("n", function() title.outline = nil end)
            onKey("e", function() title.string = "two" error("no") end)
            """)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        let options = try #require(engine.record.withLock { $0.patches[0].patch.node("title")?.options })
        #expect(options.record("outline")?.vector("color") == [1, 0, 0, 1])
        host.post(.key("a"))
        host.post(.key("a"))
        host.post(.key("o"))
        host.post(.key("n"))
        host.post(.key("e"))
        host.post(.key("a"))
        #expect(engine.waits { $0.options.count == 5 && $0.errors.count == 1 })
        let set = engine.record.withLock { $0.options }
        #expect(set.map(\.node) == Array(repeating: "title", count: 5))
        #expect(set[0].value == .string("one!") && set[1].value == .string("one!!"))
        #expect(set[2].name == "outline" && set[2].value == .record(["width": .number(3)]))
        #expect(set[3].value == nil)
        // The handler that raised changed nothing.
        #expect(set[4].value == .string("one!!!"))
        #expect(engine.record.withLock { $0.patches.count } == 1, "no new plan")
    }

    @Test func groupsPassOptionsOn() throws {
        let (workspace, engine, host) = try started(
            """
            local title = text{"title", string = "one"}
            local g = group{ "g", output = title, params = { words = { title, "string" } } }
            g >> display{"view"}
            onKey("a", function() g.words = g.words .. "!" end)
            """)
        defer { host.stop() }
        defer { withExtendedLifetime(workspace) {} }
        host.post(.key("a"))
        #expect(engine.waits { $0.options.last?.value == .string("one!") })
    }

    @Test func wrongValuesAreRefusedWithTheirLine() {
        let workspace = Workspace()
        func error(_ line: String) -> String {
            workspace.errorText("local title = text{\"title\", string = \"one\"}\ntitle >> display{\"v\"}\n\(line)")
        }
        #expect(error("title.string = 5").hasPrefix("graph.lua:3: string of text is 5"))
        #expect(error("title.string = nil").contains("string of text cannot be nil"))
        #expect(error("title.font = 'x'").contains("fixed when the node is made"))
        #expect(error("title.outline = { widht = 2 }").contains("did you mean 'width'?"))
        #expect(error("title.outline = { width = 200 }").contains("outline.width of text is 200"))
        #expect(error("title.outline = 3").contains("outline = { width = …, color = … }"))
        #expect(error("title.outline = { 2 }").contains("position 1"))
        #expect(error("title.outline = false") == "no error")
        #expect(error("group{ output = title, params = { f = { title, 'font' } } }").contains("leads nowhere"))
    }
}
