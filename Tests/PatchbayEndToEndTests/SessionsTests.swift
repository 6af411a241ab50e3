import Glibc
import PatchTesting
import Testing

/// Connect, publish, play, stop, disconnect against a real server.
@Suite(.serialized) struct SessionsTests {
    @Test func aSessionPublishesAndPlaysBack() throws {
        let server = try MediaServer()
        // Somebody else is on air already.
        let theirs = try Program(
            "ffmpeg",
            [
                "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=30", "-c:v", "libx264", "-preset",
                "ultrafast", "-g", "15", "-pix_fmt", "yuv420p", "-f", "flv", server.url("theirs"),
            ])
        let directory = try TemporaryDirectory()
        let run = try GraphRun(
            """
            graph { fps = 30 }
            local bars = testPattern { "bars", kind = "bars", size = "320x180" }
            local service = session { "studio", url = secret "PATCHBAY_SERVER" }
            service:onState(function(word, stream) log(stream .. " is " .. word) end)
            service:onError(function(why, stream) log(stream .. " says " .. why) end)
            local mine = service:publish("mine", { speed = "ultrafast", keyframe = 0.5 })
            bars >> mine
            bars >> rawDataOutput { "raw", file = "out.y4m", container = "y4m" }
            local back = rawDataOutput { "back", file = "back.y4m", container = "y4m" }
            after(1, function() service:connect() log("connected") end)
            after(4, function() service:play("theirs"):addTarget(back) log("plays") end)
            -- Nobody of that name: nothing waits for it, and that it is not there is told.
            after(5, function() service:play("nobody") log("asked") end)
            after(5.5, function() log("goes on") end)
            after(9, function() service:stop("theirs") service:stop("nobody") log("stopped") end)
            after(10, function() service:disconnect() log("disconnected") end)
            after(12, function() service:connect() log("again") end)
            """, environment: ["PATCHBAY_SERVER": "rtmp://127.0.0.1:\(server.port)/live"], directory: directory)
        func wait(_ text: String, from start: Int) throws -> Int {
            try run.wait(for: text, from: start, within: 40) { $0.text == text }.next
        }
        var next = try run.waitUntilOnAir()
        // Not connected: nothing was opened.
        next = try wait("connected", from: next)
        #expect(!run.events[..<next].contains { $0.node == "studio/publish/mine" })
        next = try wait("mine is live", from: next)
        #expect(try FFprobe.report(server.url("mine"), timeout: 20).video?.width == 320)
        next = try wait("plays", from: next)
        next = try wait("theirs is live", from: next)
        let asked = try run.wait(for: "asked") { $0.text == "asked" }.event
        let goesOn = try run.wait(for: "goes on") { $0.text == "goes on" }.event
        #expect(goesOn.time - asked.time < 2)
        next = try wait("stopped", from: next)
        _ = try wait("mine is ended", from: next)
        next = try wait("again", from: next)
        next = try wait("mine is live", from: next)
        // A server that goes away is an event, and the picture goes on.
        server.crash()
        next = try wait("mine is retrying", from: next)
        try eventually("the reason is told") {
            run.events.contains { $0.text?.hasPrefix("mine says") == true }
        }
        let (_, statistics) = try run.interrupt()
        #expect(
            !run.events.contains { $0.event == "scriptError" }, "\(run.events.filter { $0.event == "scriptError" })")
        let raw = try #require(statistics.nodes.first { $0.node == "raw" })
        #expect(raw.drops == 0 && raw.frames == statistics.ticks)
        // What was played back moves; bars would not.
        let played = try DecodedVideo(directory.file("back.y4m"), size: (16, 9))
        #expect(played.frames.count > 60)
        #expect(Set(played.frames.map { $0.hashValue }).count > 10)
        theirs.signal(SIGKILL)
    }

    @Test func whatASessionCannotDoIsSaid() throws {
        let directory = try TemporaryDirectory()
        for (line, message) in [
            ("session { \"s\" }", "session needs url ="), ("session { \"s\", uri = \"x\" }", "session has no 'uri'"),
            ("session { \"s\", url = \"rtmp://h/a\" }:stop(\"x\")", "session 's' has no stream 'x'"),
            ("session { \"s\", url = \"rtmp://h/a\" }:publish()", "publish needs a stream's name"),
            ("session { \"s\", url = \"rtmp://h/a\" }:publish(\"x\", { sped = 1 })", "publisher has no 'sped'"),
        ] {
            try directory.write("graph.lua", line)
            let outcome = try Executable.run(["check", "graph.lua"], directory: directory.path)
            #expect(outcome.errorText.contains("graph.lua:1: " + message), "\(line): \(outcome.errorText)")
        }
    }
}
