import PatchGraph
import PatchMedia
import PatchTesting
import PatchText
import Testing

/// `text{ … }` as a node: its size, its parts, changes on air, and strings that nobody would write.
@Suite struct TextSourceTests {
    private let white: OptionValue = .vector([1, 1, 1, 1])

    // MARK: Parts

    @Test func alphaIsPremultiplied() throws {
        let frame = try TextRun.draw("Ag", ["color": .vector([1, 0.5, 0.25, 0.5]), "size": .number(80)])
        #expect(frame.format.pixelFormat == .bgra && frame.format.premultiplied)
        var full = 0
        for y in 0..<frame.height {
            for x in 0..<frame.width {
                let bytes = (0..<4).map { frame.plane(0).row(y).load(fromByteOffset: 4 * x + $0, as: UInt8.self) }
                #expect(bytes[0] <= bytes[3] && bytes[1] <= bytes[3] && bytes[2] <= bytes[3])
                // Inside a letter: alpha 0.5 · 255 = 127.5, red as much, green half of it.
                if bytes[3] >= 127 {
                    full += 1
                    #expect(
                        abs(Int(bytes[2]) - 128) <= 1 && abs(Int(bytes[1]) - 64) <= 1 && abs(Int(bytes[0]) - 32) <= 1)
                }
            }
        }
        #expect(full > 200)
    }

    @Test func paddingAndBackgroundGoAround() throws {
        let plain = try TextRun.draw("Hello", ["size": .number(40)])
        let padded = try TextRun.draw(
            "Hello",
            [
                "size": .number(40), "padding": .number(20), "background": .vector([0, 0, 1, 1]),
                "cornerRadius": .number(12),
            ])
        #expect(padded.width == plain.width + 40 && padded.height == plain.height + 40)
        let (alpha, red) = (GrayPicture(padded, channel: 3), GrayPicture(padded, channel: 0))
        #expect(alpha[padded.width / 2, 0] == 255 && alpha[0, padded.height / 2] == 255, "edges are background")
        #expect(alpha[0, 0] == 0 && alpha[padded.width - 1, padded.height - 1] == 0, "corners are round")
        // The corner's arc passes at (1 − 1/√2) · 12 = 3.5 px on the diagonal.
        #expect(alpha[2, 2] < 60 && alpha[5, 5] == 255)
        let ink = try #require(red.bounds(above: 100))
        #expect(ink.left >= 20 && ink.top >= 20 && ink.right < padded.width - 20 && ink.bottom < padded.height - 20)
    }

    @Test func outlinesReachAsFarAsTheySay() throws {
        let plain = try TextRun.draw("H", ["size": .number(100)])
        let outlined = try TextRun.draw(
            "H",
            [
                "size": .number(100),
                "outline": .record(["width": .number(6), "color": .vector([1, 0, 0, 1])]),
            ])
        let (before, after) = (GrayPicture(plain, channel: 3), GrayPicture(outlined, channel: 3))
        let (b, a) = (try #require(before.bounds(above: 127)), try #require(after.bounds(above: 127)))
        #expect(abs((a.right - a.left) - (b.right - b.left) - 12) <= 1)
        #expect(abs((a.bottom - a.top) - (b.bottom - b.top) - 12) <= 1)
        #expect(outlined.width == plain.width + 12)
        // The letter itself stays white, the line around it is red.
        let green = try #require(GrayPicture(outlined, channel: 1).bounds(above: 127))
        #expect(abs((green.right - green.left) - (b.right - b.left)) <= 1)
    }

    @Test func shadowsMoveAndBlurWithoutLosingInk() throws {
        func shadow(_ blur: Double, x: Double = 0, y: Double = 0) throws -> GrayPicture {
            let frame = try TextRun.draw(
                "O",
                [
                    "size": .number(120), "color": .vector([1, 1, 1, 1]), "padding": .number(80),
                    "shadow": .record([
                        "x": .number(x), "y": .number(y), "blur": .number(blur), "color": .vector([1, 0, 0, 1]),
                    ]),
                ])
            return GrayPicture(frame, channel: 3)
        }
        let sharp = try shadow(0, x: 0, y: 150)
        let letter = try #require(
            GrayPicture(try TextRun.draw("O", ["size": .number(120)]), channel: 3).bounds(above: 127))
        let bounds = try #require(sharp.bounds(above: 127))
        // The shadow lies 150 px below the letter.
        #expect(abs((bounds.bottom - bounds.top) - (letter.bottom - letter.top) - 150) <= 1)
        let soft = try shadow(30, x: 0, y: 150)
        #expect(abs(soft.sum / sharp.sum - 1) < 0.02, "blurring keeps the sum")
        func edge(_ picture: GrayPicture) -> Int { picture.values.count { (20..<200).contains($0) } }
        #expect(edge(soft) > 5 * edge(sharp), "\(edge(soft)) pixels of soft edge, \(edge(sharp)) of a sharp one")
    }

    @Test func aFixedSizeStaysWhateverTheText() throws {
        let options: [String: OptionValue] = [
            "width": .number(320), "height": .number(90), "size": .number(40), "align": .string("center"),
        ]
        for text in ["", "I", "Hello", String(repeating: "many words ", count: 40)] {
            let frame = try TextRun.draw(text, options)
            #expect(frame.width == 320 && frame.height == 90, "\(text.prefix(20))")
        }
        // Centred, and in the middle of the height.
        let bounds = try #require(GrayPicture(try TextRun.draw("H", options), channel: 3).bounds(above: 100))
        #expect(abs(bounds.left + bounds.right - 319) <= 3)
        #expect(abs(bounds.top + bounds.bottom - 89) <= 16)
        // What does not fit ends in an ellipsis, inside the picture.
        let long = GrayPicture(try TextRun.draw(String(repeating: "word ", count: 100), options), channel: 3)
        let ink = try #require(long.bounds(above: 20))
        #expect(ink.bottom < 90 && ink.right < 320)
    }

    @Test func sizesAreInPixels() throws {
        // Noto Sans' capital H is 714/1000 em high.
        let frame = try TextRun.draw("H", ["font": .string("Noto Sans"), "size": .number(200)])
        let bounds = try #require(GrayPicture(frame, channel: 3).bounds(above: 127))
        #expect(abs(bounds.bottom - bounds.top + 1 - 143) <= 1)
    }

    // MARK: Fonts

    @Test func aMissingFontIsReplacedAndSaid() throws {
        let events = TextEvents()
        let frame = try TextRun.draw("Hello", ["font": .string("No Such Font 7"), "size": .number(40)], events: events)
        #expect(GrayPicture(frame, channel: 3).sum > 10_000, "something is drawn")
        let notice = try #require(events.notices.first)
        #expect(notice.contains("No Such Font") && notice.contains("not installed") && notice.contains("stands in"))
        let quiet = TextEvents()
        _ = try TextRun.draw("Hello", ["font": .string("No Such Font, Noto Sans Bold")], events: quiet)
        _ = try TextRun.draw("Hello", ["font": .string("Sans")], events: quiet)
        #expect(quiet.notices.isEmpty, "\(quiet.notices)")
    }

    @Test func lettersThatNoFontHasAreSaid() throws {
        let events = TextEvents()
        // A private-use character.
        _ = try TextRun.draw("a\u{10FFFD}b", events: events)
        #expect(events.notices.contains { $0.contains("no installed font has 1 of") }, "\(events.notices)")
    }

    @Test func theCheckNamesAMissingFont() throws {
        let registry = NodeRegistry(TextSource.kinds + [RawDataOutput.kind(handlers: RawDataHandlers())])
        var patch = Patch()
        patch.nodes = [
            PatchNode(
                id: "title", kind: "text",
                options: NodeOptions(["string": .string("x"), "font": .string("No Such Font")]),
                at: SourceLocation(file: "graph.lua", line: 4)),
            PatchNode(id: "raw", kind: "rawDataOutput"),
        ]
        patch.wires = [Wire(from: "title", to: "raw")]
        let plan = try PatchRehearsal(registry: registry, graphDirectory: ".").plan(patch)
        let note = try #require(plan.notes.first { $0.message.contains("No Such Font") })
        #expect(note.node == "title" && note.location?.line == 4)
    }

    // MARK: Strings that nobody would write

    struct Bad: Sendable, CustomStringConvertible {
        var description: String
        var text: String
        var options: [String: OptionValue] = [:]
        var says: String
    }

    static let bad = [
        Bad(description: "too many bytes", text: String(repeating: "a", count: 20_001), says: "20001 bytes"),
        Bad(
            description: "one endless line", text: String(repeating: "a", count: 20_000),
            options: ["size": .number(48)], says: "pixels"),
        Bad(
            description: "many large letters", text: String(repeating: "W", count: 20_000),
            options: ["size": .number(2000), "width": .number(1000)], says: "too many"),
        Bad(
            description: "nothing but line breaks", text: String(repeating: "\n", count: 20_000),
            options: ["size": .number(500)], says: "pixels"),
        Bad(description: "an open mark", text: "<b>x", options: ["markup": .bool(true)], says: "marks"),
        Bad(description: "an unknown mark", text: "<q>x</q>", options: ["markup": .bool(true)], says: "marks"),
        Bad(description: "a lone <", text: "a < b", options: ["markup": .bool(true)], says: "marks"),
        Bad(
            description: "a giant by marks", text: "<span size='99999999'>x</span>", options: ["markup": .bool(true)],
            says: "more than 2000 px"),
        Bad(
            description: "a giant by nesting",
            text: String(repeating: "<big>", count: 900) + "x" + String(repeating: "</big>", count: 900),
            options: ["markup": .bool(true)], says: "more than 2000 px"),
        Bad(description: "size 0", text: "x", options: ["size": .number(0)], says: "size of text is 0"),
        Bad(description: "size NaN", text: "x", options: ["size": .number(.nan)], says: "size of text"),
        Bad(
            description: "no room", text: "x", options: ["width": .number(30), "padding": .number(20)],
            says: "no room"),
        Bad(description: "a wide picture", text: "x", options: ["width": .number(20_000)], says: "width of text"),
        Bad(
            description: "a large picture", text: "x", options: ["width": .number(16_000), "height": .number(16_000)],
            says: "16000x16000"),
        Bad(description: "a font without name", text: "x", options: ["font": .string("")], says: "font"),
        Bad(description: "a bad colour", text: "x", options: ["color": .vector([2, 0, 0, 1])], says: "color"),
        Bad(
            description: "a bad outline", text: "x", options: ["outline": .record(["width": .number(-1)])],
            says: "outline.width"),
    ]

    @Test(arguments: bad)
    func badTextsAreRefusedInWords(_ bad: Bad) throws {
        let begin = monotonicNanoseconds()
        let error = try #require(TextRun.failure(bad.text, bad.options))
        #expect(error.description.contains(bad.says), "\(error)")
        #expect(!error.remedy.isEmpty && error.node == "title" && error.location?.line == 7, "\(error)")
        #expect(monotonicNanoseconds() - begin < 10_000_000_000)
    }

    @Test func oddTextsAreDrawn() throws {
        let events = TextEvents()
        #expect(try TextRun.draw("", events: events).width == 1)
        _ = try TextRun.draw(String(repeating: "e\u{301}\u{302}\u{303}\u{304}", count: 500), ["width": .number(400)])
        _ = try TextRun.draw("\u{202E}abc\u{2066}def\u{202C}\u{2069}", events: events)
        _ = try TextRun.draw("a\r\nb\rc\u{2028}d\te", events: events)
        #expect(events.notices.isEmpty, "\(events.notices)")
        let plain = try TextRun.draw("bell", ["size": .number(40)])
        let controls = try TextRun.draw("be\0l\u{7}l\u{1B}", ["size": .number(40)], events: events)
        #expect(controls.width == plain.width)
        #expect(events.notices.contains { $0.contains("control characters") })
    }

    // MARK: On air

    @Test func aTextIsDrawnOnlyWhenItChanges() throws {
        let events = TextEvents()
        let source = try TextRun.source("one", ["width": .number(200)], events: events)
        defer { source.stop() }
        _ = try source.open()
        let first = try TextRun.frame(of: source)
        #expect(try TextRun.frame(of: source, tick: 50) === first && source.counters.received == 1)
        var options = NodeOptions(["string": .string("two"), "width": .number(200)])
        source.adopt(options)
        let second = try TextRun.frame(of: source, tick: 51)
        #expect(second !== first && second.sequence == 1 && second.format == first.format)
        // What cannot be drawn is said, and the picture stays.
        options.values["markup"] = .bool(true)
        options.values["string"] = .string("<i>two")
        source.adopt(options)
        #expect(try TextRun.frame(of: source, tick: 52) === second)
        #expect(events.problems.contains { $0.message.contains("marks") && $0.node == "title" })
        options.values["size"] = .number(-1)
        source.adopt(options)
        #expect(try TextRun.frame(of: source, tick: 53) === second)
        #expect(events.problems.count == 2)
    }

    /// A change before tick 5 is in the frame of tick 5, the graph runs on, and an option that is fixed says so.
    @Test func stringsChangeOnAirAtATick() throws {
        let sums = Monitor<[Float]>([])
        let handlers = RawDataHandlers()
        handlers.onFrame(of: "raw") { raw in
            let sum = GrayPicture(raw.frame, channel: 3).sum
            sums.notify { $0.append(sum) }
        }
        let registry = NodeRegistry(TextSource.kinds + [RawDataOutput.kind(handlers: handlers)])
        var patch = Patch()
        patch.nodes = [
            PatchNode(
                id: "title", kind: "text",
                options: NodeOptions([
                    "string": .string("i"), "width": .number(200), "height": .number(60), "size": .number(40),
                ])),
            PatchNode(
                id: "raw", kind: "rawDataOutput", options: NodeOptions(["format": .string("bgra")])),
        ]
        patch.wires = [Wire(from: "title", to: "raw")]
        let engineBox = Monitor<Engine?>(nil)
        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.duration = FrameRate(30).time(ofFrame: 10)
        configuration.beforeTick = { tick in
            guard tick.index == 5 else { return }
            try? engineBox.withLock { $0 }?.setOption(node: "title", name: "string", .string("WWWW"))
        }
        let engine = try Engine(configuration, registry: registry)
        engineBox.withLock { $0 = engine }
        try engine.load(patch)
        let generation = engine.statistics.generation
        try engine.start()
        _ = engine.waitUntilFinished()
        engine.stop()
        let seen = sums.withLock { $0 }
        #expect(seen.count == 10)
        #expect(Set(seen[..<5]).count == 1 && Set(seen[5...]).count == 1)
        #expect(seen[5] > 4 * seen[4])
        #expect(engine.statistics.generation == generation, "no new plan")
        #expect(throws: PatchError.self) { try engine.setOption(node: "titel", name: "string", .string("x")) }
    }

    /// A reload that says the same leaves what was set on air; one that says something new sets it.
    @Test func reloadsKeepWhatWasSetOnAir() throws {
        let registry = NodeRegistry(TextSource.kinds + [RawDataOutput.kind(handlers: RawDataHandlers())])
        func patch(_ string: String) -> Patch {
            var patch = Patch()
            patch.nodes = [
                PatchNode(
                    id: "title", kind: "text",
                    options: NodeOptions(["string": .string(string), "width": .number(300)])),
                PatchNode(id: "raw", kind: "rawDataOutput"),
            ]
            patch.wires = [Wire(from: "title", to: "raw")]
            return patch
        }
        let engine = try Engine(registry: registry)
        defer { engine.stop() }
        try engine.load(patch("file"))
        let source = try #require(engine.source("title", as: TextSource.self))
        try engine.setOption(node: "title", name: "string", .string("air"))
        try engine.load(patch("file"))
        #expect(engine.options(of: "title")?.string("string") == "air")
        #expect(engine.source("title", as: TextSource.self) === source, "it goes on running")
        try engine.load(patch("new"))
        #expect(engine.options(of: "title")?.string("string") == "new")
        #expect(throws: PatchError.self) { try engine.setOption(node: "raw", name: "format", .string("rgba")) }
    }
}
