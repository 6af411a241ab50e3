import PatchGraph
import PatchLua
import PatchMedia
import Testing

/// Graph files make the patches that they describe.
@Suite struct GraphLanguageTests {
    private func wires(_ patch: Patch) -> [String] {
        patch.wires.map { "\($0.from)>\($0.to):\($0.port)" + ($0.media == .both ? "" : "/\($0.media.rawValue)") }
    }

    @Test func broadcastExample() throws {
        let workspace = Workspace()
        var options = ScriptOptions()
        options.secret = { $0 == "PATCHBAY_URL" ? "rtmp://host/live/hunter2" : nil }
        let patch = try workspace.build(
            """
            local cam   = camera        { "cam", size = "640x480", fps = 30, orientation = "portrait", mirror = true }
            local raw   = rawDataOutput { "raw", size = "480x640", format = "bgra" }
            local view  = display       { "local" }
            local live  = publisher     { "live", url = secret "PATCHBAY_URL", preset = "standard-portrait" }

            local smooth  = param  { "smooth", 0.5, min = 0, max = 1, label = "Skin smoothing" }
            local enabled = toggle { "beautify", true, label = "Beautify" }
            local beauty  = filter.beautify { smooth = smooth }

            raw:addTarget(live)
            local function wire(on)
              cam:removeAllTargets()
              if on then
                cam:addTarget(beauty)
                beauty:addTarget(view); beauty:addTarget(raw)
              else
                cam:addTarget(raw); cam:addTarget(view)
              end
            end
            wire(enabled.value)
            enabled:onChange(wire)
            """, options: options)
        #expect(patch.nodes.map(\.id) == ["cam", "raw", "local", "live", "filter.beautify#1"])
        #expect(
            wires(patch) == [
                "raw>live:0", "cam>filter.beautify#1:0", "filter.beautify#1>local:0", "filter.beautify#1>raw:0",
            ])
        #expect(patch.nodes[0].options.values["size"] == .vector([640, 480]))
        #expect(patch.nodes[0].options.bool("mirror") == true)
        #expect(patch.nodes[0].location == SourceLocation(file: workspace.folder + "/graph.lua", line: 1))
        #expect(patch.nodes[4].parameters == ["smooth": .control("smooth")])
        #expect(patch.nodes[4].isNamed == false)
        #expect(patch.nodes[3].options.secret("url")?.value == "rtmp://host/live/hunter2")
        #expect(!"\(patch.nodes)".contains("hunter2"))
        #expect(patch.controls.map(\.name) == ["smooth", "beautify"])
        #expect(patch.controls[0].label == "Skin smoothing")
        #expect(patch.wires[0].location?.line == 10)
    }

    /// The demo's switch, thrown both ways: a branch that was cut off upstream gives way.
    @Test func aDryBranchGivesItsPortAway() throws {
        let patch = try Workspace().build(
            """
            local cam, raw = color { "cam" }, rawDataOutput { "raw" }
            local view, beauty = display { "local" }, filter.invert { "beauty" }
            local function wire(on)
              cam:removeAllTargets()
              if on then
                cam:addTarget(beauty)
                beauty:addTarget(view); beauty:addTarget(raw)
              else
                cam:addTarget(raw); cam:addTarget(view)
              end
            end
            for i = 1, 10 do wire(i % 2 == 1) end
            """)
        #expect(wires(patch) == ["cam>raw:0", "cam>local:0"])
    }

    @Test func operatorsPortsAndGroups() throws {
        let patch = try Workspace().build(
            """
            graph { fps = 25, size = "1920x1080", light = "linear", crossfade = 0.2 }
            local a, b = camera{"a"}, color{"b", rgba = "#f00"}
            local over = blend.normal{"over", opacity = 0.5}
            local view, rec = display{"view", fill = "preserveAspectRatioAndFill"}, recorder{"rec", file = "out/x.mkv"}
            b >> over.overlay
            a >> over >> { view, rec }
            a.audio >> rec.audio
            local two = blend.normal{"two"};
            { a, b } >> two
            blend.normal{ "three", image = a, overlay = b }
            local dim = filter.brightness{"dim"}
            local g = group{ "g", inputs = { image = dim }, output = filter.invert{"inv", image = dim}, params = { light = {dim, "brightness"} } }
            a >> g >> display{"second"}
            g.light = -0.5
            assert(g.light == -0.5 and over.opacity == 0.5 and a.name == "a" and #over.targets == 2 and over.targets[1] == view)
            color{"#00ff0080"} >> display{"third"}
            """)
        #expect(
            wires(patch) == [
                "b>over:1", "a>over:0", "over>view:0", "over>rec:0", "a>rec:0/audio", "a>two:0", "b>two:1", "a>three:0",
                "b>three:1", "dim>inv:0", "a>dim:0", "inv>second:0", "color#1>third:0",
            ])
        #expect(patch.settings.rate == FrameRate(25))
        #expect(patch.settings.width == 1920 && patch.settings.crossfade == 0.2)
        #expect(patch.settings.light == .linear)
        #expect(patch.node("dim")?.parameters["brightness"] == .constant([-0.5]))
        #expect(patch.node("view")?.options.string("fill") == "fill")
        #expect(patch.node("color#1")?.options.vector("rgba") == [0, 1, 0, 128.0 / 255])
    }

    @Test func animationsAndControls() throws {
        var options = ScriptOptions()
        options.overrides = ["gain": "1.5", "mode": "cold"]
        let patch = try Workspace().build(
            """
            local gain = param{"gain", 1, min = 0, max = 2, step = 0.1, unit = "x"}
            local mode = choice{"mode", "warm", options = {"warm", "cold"}}
            local tint = color{"tint", "#ff8000"}
            local spot = point{"spot", {0.25, 0.75}}
            button{"flash"}:onPress(function() end)
            assert(gain.value == 1.5 and mode.value == "cold" and spot.value[1] == 0.25)
            local v = filter.vignette{ "v", center = spot, color = tint, amount = lfo{ frequency = 0.5, min = 0, max = 1 } }
            local c = filter.contrast{ "c", contrast = gain }
            local b = filter.brightness{ "b", brightness = keyframes{ {0, 0}, {1, 0.5, "easeIn"}, loop = true } }
            b:ramp("brightness", 0.25, 2, "easeOut")
            camera{"a"} >> v >> c >> b >> display{"d"}
            """, options: options)
        let v = try #require(patch.node("v"))
        #expect(v.parameters["center"] == .control("spot"))
        #expect(v.parameters["amount"] == .oscillation(Oscillation(frequency: 0.5, center: 0.5, amplitude: 0.5)))
        #expect(patch.node("b")?.parameters["brightness"] == .ramp(to: [0.25], seconds: 2, easing: .easeOut))
        #expect(patch.controls.map(\.name) == ["gain", "mode", "tint", "spot", "flash"])
        // What was set from outside is where it begins.
        #expect(patch.controls[0].defaultValue == .number(1.5))
    }

    @Test func modulesAndLooks() throws {
        let workspace = Workspace()
        workspace.write(
            "looks/warm.lua",
            """
            return kernel {
              summary = "Warms or cools the picture.",
              params  = { amount = { 0.3, min = -1, max = 1, neutral = 0, label = "Warmth" } },
              pixel   = function(c, p) return vec4(c.r * (1 + 0.2*p.amount), c.g, c.b * (1 - 0.2*p.amount), c.a) end,
            }
            """)
        workspace.write("lib/names.lua", "return { cam = 'front' }")
        let patch = try workspace.build(
            """
            local names = require "lib.names"
            local warm = require "looks.warm"
            assert(warm == require "looks.warm")
            local cam = camera{ names.cam }
            cam >> warm{ amount = 0.4 } >> display{"a"}
            cam >> kernel{ "grey", pixel = function(c) return vec4(c.ggg, c.a) end } >> display{"b"}
            cam >> require "filter.invert" {} >> display{"c"}
            cam >> transformer{"sharpenHard", strength = 2} >> display{"d"}
            """)
        #expect(patch.nodes.map(\.kind).contains("looks.warm"))
        let warm = try #require(patch.nodes.first { $0.kind == "looks.warm" })
        #expect(warm.parameters == ["amount": .constant([0.4])])
        guard case .kernels(let filter) = warm.body else {
            Issue.record("a look is made of kernels")
            return
        }
        #expect(filter.parameters[0].label == "Warmth" && filter.parameters[0].range == -1...1)
        #expect(filter.parameters[0].neutral == [0])
        #expect(wires(patch).contains("sharpenHard>d:0"))
        #expect(patch.nodes.contains { $0.kind == "grey" })
    }

    /// Each mistake, and how the message begins.
    @Test(arguments: [
        (#"camra{"a"}"#, "graph.lua:1: unknown name 'camra'; did you mean 'camera'?"),
        (#"camera{"a", sise = "1x1"}"#, "graph.lua:1: camera has no 'sise'; did you mean 'size'?"),
        ("\ncamera{\"a\", fps = 500}", "graph.lua:2: fps of camera is 500; it goes from 1 to 240 1/s"),
        (#"camera{"a", fps = "fast"}"#, "graph.lua:1: fps of camera is \"fast\"; give it a number"),
        (
            #"camera{"a", size = "640*480"}"#,
            "graph.lua:1: size of camera is \"640*480\"; give it \"640x480\" or {640, 480}"
        ),
        (
            #"camera{"a", size = {0, 5}}"#,
            "graph.lua:1: size of camera is 0; each side is whole and goes from 1 to 16384 px"
        ),
        (
            #"camera{"a", orientation = "portait"}"#,
            "graph.lua:1: orientation of camera is \"portait\"; did you mean \"portrait\"?"
        ),
        (#"camera{"a"} camera{"a"}"#, "graph.lua:1: there is a node 'a' already at "),
        (#"image{"a"}"#, "graph.lua:1: image needs file ="),
        (#"image{"a", file = "nope.png"}"#, "graph.lua:1: there is no file 'nope.png' below the graph's folder"),
        (#"image{"a", file = "/etc/passwd"}"#, "graph.lua:1: '/etc/passwd' is outside the graph's folder"),
        (#"image{"a", file = "../../etc/passwd"}"#, "graph.lua:1: '../../etc/passwd' is outside the graph's folder"),
        (#"video{"a", url = "file:///etc/passwd"}"#, "graph.lua:1: url of video uses the scheme 'file'"),
        (#"video{"a", url = "concat:/etc/passwd"}"#, "graph.lua:1: url of video is no URL"),
        (
            #"recorder{"a", file = "/etc/passwd"}"#,
            "graph.lua:1: '/etc/passwd' is outside the folders that scripts may write to"
        ),
        (#"input{"a", default = "/etc/passwd"}"#, "graph.lua:1: '/etc/passwd' is outside the graph's folder"),
        (#"input{"a", default = "file:///etc/passwd"}"#, "graph.lua:1: default of input uses the scheme 'file'"),
        (#"filter.brighness{}"#, "graph.lua:1: there is no filter.brighness; did you mean filter.brightness?"),
        (
            #"filter.brightness{ brigthness = 1 }"#,
            "graph.lua:1: filter.brightness has no 'brigthness'; did you mean 'brightness'?"
        ),
        (
            #"filter.brightness{ brightness = 3 }"#,
            "graph.lua:1: brightness of filter.brightness is 3; it goes from -1 to 1"
        ),
        (
            #"filter.brightness{ brightness = "x" }"#,
            "graph.lua:1: brightness of filter.brightness is \"x\"; give it a number"
        ),
        (
            #"filter.brightness{ brightness = param{"p", 1, max = 5} }"#,
            "graph.lua:1: 'p' goes from 0 to 5, and brightness of filter.brightness only from -1 to 1"
        ),
        (
            #"filter.brightness{ brightness = toggle{"p"} }.brightnes = 1"#,
            "graph.lua:1: filter.brightness 'filter.brightness#1' has no 'brightnes'; did you mean 'brightness'?"
        ),
        (
            #"filter.brightness{ brightness = lfo{ min = 0, max = 3 } }"#,
            "graph.lua:1: brightness of filter.brightness is 3"
        ),
        (#"display{"d"} >> display{"e"}"#, "graph.lua:1: display 'd' is a sink: it sends no frames on"),
        (#"camera{"a"} >> camera{"b"}"#, "graph.lua:1: camera 'b' is a source: it takes no frames"),
        (#"camera{"a"} >> filter.invert >> nothing"#, "graph.lua:1: unknown name 'nothing'"),
        (#"local x; camera{"a"} >> x"#, "graph.lua:1: the right side of >> is nil"),
        (#"camera{"a"} >> 5"#, "graph.lua:1: 5 takes no frames; give a node, a port or a group"),
        (
            #"camera{"a"}:addTarge(display{"d"})"#,
            "graph.lua:1: camera 'a' has no 'addTarge'; did you mean 'addTarget'?"
        ),
        (
            #"camera{"a"}:addTarget(blend.normal{"b"}, "ovrlay")"#,
            "graph.lua:1: blend.normal 'b' has no port 'ovrlay'; did you mean 'overlay'?"
        ),
        (
            #"camera{"a"}:addTarget(blend.normal{"b"}, 4)"#,
            "graph.lua:1: blend.normal 'b' has no port 4; it has 3: image, overlay, mask"
        ),
        (
            #"local d = display{"d"} camera{"a"} >> d camera{"b"} >> d"#,
            "graph.lua:1: node 'd': port 'image' of display 'd' has a source already: 'a'"
        ),
        (#"camera{"a"}.fps = 3"#, "graph.lua:1: fps of camera 'a' is fixed when the node is made"),
        (#"speed = 3"#, "graph.lua:1: 'speed' is not a local variable; write `local speed = …`"),
        (#"camera = nil"#, "graph.lua:1: 'camera' is a word of the graph language and cannot be changed"),
        (#"param{"p", 2}"#, "graph.lua:1: param 'p' begins with 2; it goes from 0 to 1"),
        (#"param{"p"} param{"p"}"#, "graph.lua:1: there is a control 'p' already at "),
        (#"local p = param{"p"} filter.brightness{ brightness = p * 2 }"#, "graph.lua:1: control 'p' is no number"),
        (#"dofile("m")"#, "graph.lua:1: this version has no 'dofile'; "),
        (#"require "looks.nope""#, "graph.lua:1: there is no module \"looks.nope\""),
        (#"input{ "a", default = "hots" }"#, "graph.lua:1: default of input is \"hots\"; did you mean \"host\"?"),
        (#"input{ "a", default = "none.mp4" }"#, "graph.lua:1: there is no file 'none.mp4' below the graph's folder"),
        (#"input{ "a", default = "../x.mp4" }"#, "graph.lua:1: '../x.mp4' is outside the graph's folder"),
        (#"require "../secrets""#, "graph.lua:1: require \"../secrets\" is no module name"),
        (#"secret "AWS_SECRET""#, "graph.lua:1: secret 'AWS_SECRET' is not set"),
        (#"graph{} graph{}"#, "graph.lua:1: graph{ … } is there twice"),
        (#"graph{ fsp = 3 }"#, "graph.lua:1: graph has no 'fsp'; did you mean 'fps'?"),
        (#"every(0, function() end)"#, "graph.lua:1: every wants seconds, not 0"),
        (#"onKey("b")"#, "graph.lua:1: onKey takes a function, not nil"),
        (#"filter{}"#, "graph.lua:1: filter is a family of filters; write filter.name{ … }"),
        (#"camera{"a"}:onState(print)"#, "graph.lua:1: camera 'a' is no publisher"),
        ("local t = {}\nt.x.y = 1", "graph.lua:2: attempt to index a nil value (field 'x')"),
        ("camera{\"a\"\nfps = 3}", "graph.lua:2: syntax error: '}' expected (to close '{' at line 1) near 'fps'"),
    ])
    func mistakesAreExplained(text: String, begins: String) {
        let error = Workspace().errorText(text)
        let unwrapped = error.replacing(begins, with: "", maxReplacements: 1)
        #expect(error.hasPrefix(begins), "\(error) | \(unwrapped)")
    }

    @Test func modulesStayInsideTheFolder() throws {
        let workspace = Workspace()
        let outside = Workspace()
        outside.write("evil.lua", "return 1")
        symlinkFile(outside.folder + "/evil.lua", workspace.folder + "/evil.lua")
        symlinkFile(outside.folder + "/evil.lua", workspace.folder + "/evil.png")
        #expect(workspace.errorText("require 'evil'").contains("lies outside the graph's folder"))
        #expect(workspace.errorText("image{'i', file = 'evil.png'}").contains("is outside the graph's folder"))
        workspace.write("a.lua", "return require 'b'")
        workspace.write("b.lua", "return require 'a'")
        #expect(
            workspace.errorText("require 'a'").hasPrefix("b.lua:1: modules require each other in a ring: a → b → a"))
        workspace.write("broken.lua", "local x =\n\nreturn x x")
        #expect(workspace.errorText("require 'broken'").hasPrefix("broken.lua:3: syntax error"))
    }

    @Test func secretsStaySecret() throws {
        var options = ScriptOptions()
        options.secret = { _ in "s3cr3t" }
        let workspace = Workspace()
        let patch = try workspace.build(
            """
            local key = secret "PATCHBAY_KEY"
            assert(tostring(key) == "<secret PATCHBAY_KEY>")
            local url = "rtmp://host/live/" .. key .. "?x=" .. 1
            assert(tostring(url) == "rtmp://host/live/<secret PATCHBAY_KEY>?x=1")
            local live = publisher{ "live", url = url }
            assert(live.url == "rtmp://host/live/<secret PATCHBAY_KEY>?x=1")
            camera{"cam"} >> live
            """, options: options)
        #expect(patch.node("live")?.options.secret("url")?.value == "rtmp://host/live/s3cr3t?x=1")
        for attempt in [
            "error(secret 'PATCHBAY_A')", "local x = #secret 'PATCHBAY_A'", "local x = secret 'PATCHBAY_A' < 'a'",
            "text{'t', string = secret 'PATCHBAY_A'}", "string.format('%d', secret 'PATCHBAY_A')",
            "error(string.format('%s', secret 'PATCHBAY_A'))", "publisher{'p', url = secret 'PATCHBAY_A'}",
            "local s = secret 'PATCHBAY_A' return s.value",
        ] {
            let text = workspace.errorText(attempt, options: options)
            #expect(text != "no error" && !text.contains("s3cr3t"), "\(attempt): \(text)")
        }
        #expect(workspace.errorText("assert(secret('PATCHBAY_NONE', {optional = true}) == nil)") == "no error")
    }

    @Test func wrongOverridesAreExplained() {
        var options = ScriptOptions()
        options.overrides = ["smoth": "1"]
        #expect(Workspace().errorText("param{'smooth'}", options: options).contains("did you mean 'smooth'?"))
        options.overrides = ["smooth": "7"]
        #expect(
            Workspace().errorText("param{'smooth'}", options: options)
                == "graph.lua:1: --set smooth=7 does not fit; 'smooth' goes from 0 to 1")
    }

    @Test func aMillionNodesAreRefused() {
        let text = Workspace().errorText("for i = 1, 1e6 do filter.invert{} end")
        #expect(text.hasPrefix("graph.lua:1: the graph has more than 4096 nodes"), "\(text)")
    }
}
