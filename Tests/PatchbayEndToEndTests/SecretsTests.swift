import Foundation
import PatchTesting
import Testing

/// Stream keys and passphrases are in nothing that the program writes.
@Suite(.serialized) struct SecretsTests {
    private static let key = "xk9-stream-key-7731"
    private static let passphrase = "horse-battery-4242"
    private static let password = "open-password-9917"

    private static let graph = """
        graph { fps = 30 }
        local bars = testPattern { "bars", kind = "bars", size = "320x180" }
        local key, pass = secret "STREAM_KEY", secret "PATCHBAY_PASS"
        log("the key is", key, tostring(pass))
        bars >> publisher { "live", url = secret "PATCHBAY_SERVER" .. "/" .. key, speed = "ultrafast" }
        bars >> publisher { "bad", url = "rtmp://127.0.0.1:9/live/" .. key, required = false }
        bars >> publisher { "srt", url = "srt://127.0.0.1:9?passphrase=" .. pass, required = false }
        bars >> publisher { "open", url = "srt://127.0.0.1:9?passphrase=\(password)", required = false }
        bars >> publisher { "hls", url = "out/live.m3u8", keyframe = 0.5 }
        bars >> recorder { "rec", file = "out/rec.mkv" }
        bars >> frei0r { "invert0r", name = "guest" } >> rawDataOutput { "raw", file = "/dev/null", format = "rgba" }
        after(1, function() error("broken " .. tostring(key)) end)
        """

    @Test func nothingThatIsWrittenHoldsThem() throws {
        let server = try MediaServer(streamKey: Self.key)
        let directory = try TemporaryDirectory()
        try directory.write("graph.lua", Self.graph)
        try directory.write("secrets", "# keys\nSTREAM_KEY=\(Self.key)\n")
        chmod(directory.file("secrets"), 0o600)
        try FileManager.default.createDirectory(atPath: directory.file("out"), withIntermediateDirectories: true)
        let environment: [String: String?] = [
            "PATCHBAY_SERVER": "rtmp://127.0.0.1:\(server.port)/guarded", "PATCHBAY_PASS": Self.passphrase,
            "DISPLAY": nil,
        ]
        var written: [String: [UInt8]] = [:]
        func keep(_ name: String, _ outcome: ProgramOutcome) {
            written[name] = outcome.output + outcome.errorOutput
        }
        let secrets = ["--secrets", "secrets"]
        for words in [
            ["check", "graph.lua"], ["check", "graph.lua", "--json"], ["graph", "graph.lua"],
            ["graph", "graph.lua", "--passes"],
        ] {
            keep(
                words.joined(separator: " "),
                try Executable.run(words + secrets, environment: environment, directory: directory.path))
        }
        for form in [["--json"], []] {
            let program = try Executable.start(
                ["run", "graph.lua", "--stats", "json", "--metrics", "0"] + secrets + form, environment: environment,
                directory: directory.path)
            try program.waitForOutput("on port", within: 30)
            try eventually("all is under way", within: 30) {
                let soFar = program.outputSoFar
                let text = String(decoding: soFar.output + soFar.errors, as: UTF8.self)
                return text.contains("broken") && text.contains("retrying") && text.contains("live")
            }
            let said = program.outputSoFar
            let port = try #require(
                String(decoding: said.output + said.errors, as: UTF8.self).firstMatch(of: /on port ([0-9]+)/)?.1)
            written["metrics"] = try Program.run(
                "python3",
                [
                    "-c", "import sys, urllib.request as u; sys.stdout.write(u.urlopen(sys.argv[1]).read().decode())",
                    "http://127.0.0.1:\(port)/metrics",
                ]
            ).output
            let process = "/proc/\(program.processID)"
            written["title"] = try (process + "/cmdline").contentsOfFile()
            // Nor in the titles and environments of the guests' processes.
            let guests = try children(of: program.processID)
            #expect(!guests.isEmpty)
            for guest in guests {
                for file in ["cmdline", "environ"] {
                    written["guest's \(file)"] = try "/proc/\(guest)/\(file)".contentsOfFile()
                }
            }
            for thread in try FileManager.default.contentsOfDirectory(atPath: process + "/task") {
                written["title"]? += (try? "\(process)/task/\(thread)/comm".contentsOfFile()) ?? []
            }
            // A core dump holds no memory.
            #expect(
                String(decoding: try (process + "/coredump_filter").contentsOfFile(), as: UTF8.self) == "00000000\n")
            program.signal(SIGINT)
            keep("run \(form)", try program.waitForEnd(within: 40))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.file("out"))
        #expect(files.contains("rec.mkv") && files.contains("live.m3u8"))
        for file in files { written[file] = try directory.file("out/" + file).contentsOfFile() }
        #expect(written.count > 10)
        for (name, bytes) in written {
            let data = Data(bytes)
            for secret in [Self.key, Self.passphrase, Self.password] {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(name) holds \(secret)")
            }
        }
        // They were in use all the same: the guarded application takes this key alone.
        let said = String(decoding: written["run [\"--json\"]"] ?? [], as: UTF8.self)
        #expect(said.contains("\"node\": \"live\"") && said.contains("\"state\": \"live\""))
        #expect(String(decoding: written["graph graph.lua"] ?? [], as: UTF8.self).contains("digraph"))
    }

    /// Joined texts are whole wherever they are joined: Lua 5.4.4 lost parts when its stack moved meanwhile.
    @Test func joinedTextsAreWhole() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            """
            local a, b = secret "PATCHBAY_A", secret "PATCHBAY_B"
            local wanted, wrong = "<secret PATCHBAY_A>/<secret PATCHBAY_B>?", 0
            local function join(depth)
              if depth > 0 then return (join(depth - 1)) end
              return a .. "/" .. b .. "?"
            end
            local function all()
              for depth = 0, 150 do if tostring(join(depth)) ~= wanted then wrong = wrong + 1 end end
            end
            all()
            for i = 1, 20 do coroutine.wrap(all)() end
            log(wrong .. " are wrong")
            testPattern { "bars", size = "64x48" } >> snapshot { "still", file = "still.png" }
            """)
        let outcome = try Executable.run(
            ["render", "graph.lua", "--duration", "0.1"], environment: ["PATCHBAY_A": "one", "PATCHBAY_B": "two"],
            directory: directory.path)
        #expect((outcome.text + outcome.errorText).contains(": 0 are wrong"), "\(outcome.text) \(outcome.errorText)")
    }

    /// The process's children (proc(5)).
    private func children(of process: pid_t) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { entry in
            guard Int(entry) != nil, let stat = try? "/proc/\(entry)/stat".contentsOfFile() else { return false }
            // The fields after the name, which is in parentheses: state and parent.
            let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
            return fields?.dropFirst().first.map { $0 == "\(process)" } ?? false
        }
    }

    /// A real core dump, where the system writes one into the working directory.
    @Test func aCoreDumpHoldsNone() throws {
        let server = try MediaServer(streamKey: Self.key)
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            """
            testPattern { "bars", size = "160x90" }
              >> publisher { "live", url = secret "PATCHBAY_SERVER" .. "/" .. secret "STREAM_KEY", speed = "ultrafast" }
            """)
        try directory.write("secrets", "STREAM_KEY=\(Self.key)\n")
        chmod(directory.file("secrets"), 0o600)
        let program = try Program(
            "sh",
            ["-c", "ulimit -c unlimited; exec \(Executable.path()) run graph.lua --json --secrets secrets"],
            environment: ["PATCHBAY_SERVER": "rtmp://127.0.0.1:\(server.port)/guarded", "DISPLAY": nil],
            directory: directory.path)
        try program.waitForOutput("\"state\": \"live\"", within: 30)
        program.signal(SIGABRT)
        let outcome = try program.waitForEnd(within: 30)
        #expect(outcome.signal == Int(SIGABRT) && !outcome.errorText.contains("crashed"), "\(outcome.errorText)")
        var written = ["output": outcome.output + outcome.errorOutput]
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) where file.hasPrefix("core") {
            written[file] = try directory.file(file).contentsOfFile()
        }
        let pattern = String(decoding: try "/proc/sys/kernel/core_pattern".contentsOfFile(), as: UTF8.self)
        if pattern.hasPrefix("core") { #expect(written.count == 2, "no core dump") }
        for (name, bytes) in written {
            #expect(Data(bytes).range(of: Data(Self.key.utf8)) == nil, "\(name) holds the key")
        }
    }

    @Test func aSecretsFileIsForItsOwnerAlone() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "graph.lua",
            "testPattern { \"bars\" } >> recorder { \"rec\", file = tostring(secret \"NAME\") .. \".mkv\" }")
        try directory.write("secrets", "NAME=value\n")
        for mode in [0o644, 0o640, 0o602] as [mode_t] {
            chmod(directory.file("secrets"), mode)
            let refused = try Executable.run(["check", "graph.lua", "--secrets", "secrets"], directory: directory.path)
            #expect(refused.exitCode != 0)
            #expect(refused.errorText.contains("may be read or written by others than you"), "\(refused.errorText)")
            #expect(refused.errorText.contains("chmod 600"))
        }
        chmod(directory.file("secrets"), 0o600)
        let taken = try Executable.run(
            ["check", "graph.lua"], environment: ["PATCHBAY_SECRETS": "secrets"], directory: directory.path)
        #expect(taken.exitCode == 0, "\(taken.errorText)")
        let missing = try Executable.run(["check", "graph.lua", "--secrets", "none"], directory: directory.path)
        #expect(missing.errorText.contains("cannot read 'none'"))
    }
}
