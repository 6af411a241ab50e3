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
