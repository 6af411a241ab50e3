import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Options that may change on air: `title.string = "…"`.
@Suite(.serialized) struct LiveOptionTests {
    private func started(_ text: String) throws -> (Workspace, FakeHost, ScriptHost) {
        let (workspace, engine) = (Workspace(), FakeHost())
        let path = workspace.write("graph.lua", text)
        let host = ScriptHost(
            path: path, registry: FakeGraph.registry, catalog: FakeGraph.catalog, options: engine.options)
        try host.start(engine)
        return (workspace, engine, host)
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
