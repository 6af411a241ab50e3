import PatchTesting
import Testing

/// What people type, and the exit codes that scripts rely on.
@Suite struct CommandLineTests {
    @Test func helpNamesEveryCommandAndExitCode() throws {
        let outcome = try Executable.run(["--help"])
        #expect(outcome.exitCode == 0)
        for word in ["run", "render", "check", "devices", "filters", "graph", "130"] {
            #expect(outcome.text.contains(word))
        }
        for command in ["run", "render", "check", "devices", "filters", "graph"] {
            let help = try Executable.run([command, "--help"])
            #expect(help.exitCode == 0)
            #expect(help.text.contains("Usage: patchbay \(command)"))
            #expect(try Executable.run(["help", command]).text == help.text)
        }
    }

    @Test(arguments: [
        (["rnu"], "did you mean 'patchbay run'?"),
        (["graphs/x.lua"], "did you mean 'patchbay run graphs/x.lua'?"),
        (["run"], "GRAPH is missing"),
        (["run", "a.lua", "b.lua"], "'b.lua' is one argument too many"),
        (["run", "a.lua", "--bidn", "x=y"], "did you mean '--bind'?"),
        (["run", "a.lua", "--bind"], "--bind needs a value"),
        (["run", "a.lua", "--bind", "cam"], "is not NAME=VALUE"),
        (["run", "a.lua", "--duration", "soon"], "is not a length of time"),
        (["run", "a.lua", "--duration", "0"], "is not a length of time"),
        (["run", "a.lua", "--duration", "nan"], "is not a length of time"),
        (["run", "a.lua", "--size", "1280"], "is not a size"),
        (["run", "a.lua", "--size", "99999x2"], "is not a size"),
        (["run", "a.lua", "--fps", "0"], "is not a frame rate"),
        (["run", "a.lua", "--threads", "65"], "is not a whole number in 1…64"),
        (["run", "a.lua", "--json=yes"], "--json takes no value"),
        (["run", "a.lua", "--fps", "1", "--fps", "2"], "--fps is given twice"),
        (["graph", "a.lua", "--dot", "--passes"], "exclude each other"),
        (["filters", "--source"], "needs the NAME"),
        ([], "Usage: patchbay COMMAND"),
    ])
    func wrongCommandLinesSayWhatIsWrong(_ arguments: [String], _ words: String) throws {
        let outcome = try Executable.run(arguments)
        #expect(outcome.exitCode == 2)
        #expect(outcome.errorText.contains(words), "\(outcome.errorText)")
        #expect(outcome.output.isEmpty)
    }

    @Test func checkTellsNodesControlsAndPasses() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            """
            local amount = param { "amount", 0.25, min = 0, max = 1, label = "How much" }
            local bars = testPattern { "bars", kind = "bars", size = "320x180", fps = 25 }
            bars >> filter.brightness { "bright", brightness = amount } >> filter.contrast { "more" }
              >> rawDataOutput { "raw", file = "out.y4m" }
            """)
        let text = try Executable.run(["check", "graph.lua"], directory: directory.path)
        #expect(text.exitCode == 0, "\(text.errorText)")
        for word in ["bars", "bright", "graph.lua:3", "How much", "pass 1", "estimated cost", "25 frames/s"] {
            #expect(text.text.contains(word), "no '\(word)' in \(text.text)")
        }
        let json = try Executable.run(["check", "graph.lua", "--json"], directory: directory.path)
        #expect(json.text.contains("\"ok\": true"))
        #expect(json.text.contains("\"node\": \"bright\""))
        let dot = try Executable.run(["graph", "graph.lua", "--dot"], directory: directory.path)
        #expect(dot.text.contains("\"bars\" -> \"bright\""))
        let passes = try Executable.run(["graph", "graph.lua", "--passes"], directory: directory.path)
        // Two neighbouring point filters and the output's conversion are one pass.
        #expect(passes.text.contains("bright + more"), "\(passes.text)")
    }

    @Test func checkReportsFileAndLine() throws {
        let directory = try TemporaryDirectory()
        try directory.write("graph.lua", "local a = color { \"a\" }\nlocal b = filter.brightnes { amount = 0.1 }\n")
        let text = try Executable.run(["check", "graph.lua"], directory: directory.path)
        #expect(text.exitCode == 3)
        #expect(text.errorText.contains("graph.lua:2"), "\(text.errorText)")
        #expect(text.errorText.contains("did you mean filter.brightness?"), "\(text.errorText)")
        let json = try Executable.run(["check", "graph.lua", "--json"], directory: directory.path)
        #expect(json.exitCode == 3)
        #expect(json.text.contains("\"ok\": false"))
        #expect(json.text.contains("\"line\": 2"))
    }

    @Test func filtersAreListedDescribedAndPrinted() throws {
        let list = try Executable.run(["filters"])
        #expect(list.exitCode == 0)
        for name in ["brightness", "contrast", "saturation", "grayscale", "invert", "opacity"] {
            #expect(list.text.contains("  \(name) "), "no \(name) in \(list.text)")
        }
        let one = try Executable.run(["filters", "brightness"])
        #expect(one.text.contains("brightness = 0  (-1…1)"))
        let source = try Executable.run(["filters", "brightness", "--source"])
        #expect(source.text.contains("kernel"))
        let wrong = try Executable.run(["filters", "brightnes"])
        #expect(wrong.exitCode != 0)
        #expect(wrong.errorText.contains("'brightness'"), "\(wrong.errorText)")
    }

    @Test func devicesListsTheVirtualScreen() throws {
        let screen = try VirtualScreen(width: 320, height: 240)
        let outcome = try Executable.run(["devices", "--json"], environment: screen.environment)
        #expect(outcome.exitCode == 0)
        #expect(outcome.text.contains("\"\(screen.display)\""), "\(outcome.text)")
    }
}
