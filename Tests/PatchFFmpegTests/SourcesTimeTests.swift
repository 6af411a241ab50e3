import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Files whose time stamps wrap, jump or begin late: sound and picture stay together.
@Suite struct SourcesTimeTests {
    private static let rate = FrameRate(25)

    /// Plays a file for so many seconds in virtual time.
    private func watch(
        _ file: String, seconds: Int, options: [String: OptionValue] = [:]
    ) throws -> (flashes: [Double], offsets: [Double]) {
        let source = try makeSource("video", options.merging(["file": .string(file)]) { $1 })
        let format = try source.open()
        defer { source.stop() }
        try source.start()
        let block = AudioBlock(format: try #require(format.audio), capacity: 1920)
        var seen = FlashAndBeep()
        for index: Int64 in 0..<Int64(seconds * 25) {
            let tick = Tick(index: index, rate: Self.rate, hostTime: 0, isOffline: true)
            guard case .frame(let frame) = source.frame(at: tick) else { break }
            block.count = 1920
            _ = source.sound(at: tick, into: block)
            seen.look(frame, block, at: tick.time.seconds)
        }
        return (seen.flashes, seen.offsets)
    }

    private func expect(
        _ file: String, flashes count: Int, seconds: Int, options: [String: OptionValue] = [:],
        within limit: Double = 0.02, sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let (flashes, offsets) = try watch(file, seconds: seconds, options: options)
        #expect(flashes.count == count, "\(flashes)", sourceLocation: sourceLocation)
        #expect(offsets.count == count, sourceLocation: sourceLocation)
        #expect(offsets.allSatisfy { abs($0) < limit }, "\(offsets)", sourceLocation: sourceLocation)
        for (one, other) in zip(flashes, flashes.dropFirst()) {
            #expect(abs(other - one - 1) < 0.05, "\(flashes)", sourceLocation: sourceLocation)
        }
    }

    /// Two clips of 4 s, the second of which begins `jump` s later than it should.
    private func jumping(_ folder: TemporaryDirectory, by jump: Double) throws -> String {
        let first = try FlashAndBeep.make(folder, "a.ts", seconds: 4, offset: 100)
        let second = try FlashAndBeep.make(folder, "b.ts", seconds: 4, offset: 104 + jump)
        return try FlashAndBeep.joined(folder, "joined.ts", [first, second])
    }

    /// 33 bits of 90 kHz are over after 95,443.7 s.
    @Test func timeStampsThatWrap() throws {
        let folder = try TemporaryDirectory()
        let file = try FlashAndBeep.make(folder, "wrap.ts", seconds: 8, offset: 95_440)
        try expect(file, flashes: 8, seconds: 9)
    }

    /// After a jump pictures no longer begin with the ticks, which show them up to a tick later. Forwards by less than ten
    /// minutes is a long still in a file.
    @Test(arguments: [3600.0, -50])
    func timeStampsThatJump(_ jump: Double) throws {
        let folder = try TemporaryDirectory()
        try expect(try jumping(folder, by: jump), flashes: 8, seconds: 9, within: 0.041)
    }

    /// Played again and again: each round takes as long as the first.
    @Test(arguments: [3600.0, -50])
    func timeStampsThatJumpInALoop(_ jump: Double) throws {
        let folder = try TemporaryDirectory()
        let file = try jumping(folder, by: jump)
        try expect(file, flashes: 20, seconds: 20, options: ["loop": .bool(true)], within: 0.041)
    }

    @Test func soundThatBeginsLate() throws {
        let folder = try TemporaryDirectory()
        let file = try FlashAndBeep.make(folder, "late.ts", seconds: 6, offset: 10, sound: ["-itsoffset", "2"])
        let (flashes, offsets) = try watch(file, seconds: 8)
        // There is no beep for the first two flashes.
        #expect(flashes.count == 6)
        #expect(offsets.dropFirst(2).allSatisfy { abs($0) < 0.02 }, "\(offsets)")
    }

    /// The graph begins with the first picture, and the sound with it.
    @Test func aPictureThatBeginsLate() throws {
        let folder = try TemporaryDirectory()
        let file = try FlashAndBeep.make(folder, "late.ts", seconds: 6, offset: 10, picture: ["-itsoffset", "2"])
        let (flashes, offsets) = try watch(file, seconds: 4)
        #expect(flashes.count == 4)
        #expect(offsets.allSatisfy { abs($0) < 0.02 }, "\(offsets)")
    }

    @Test func soundThatStopsForAWhile() throws {
        let folder = try TemporaryDirectory()
        let file = try FlashAndBeep.make(
            folder, "gap.ts", seconds: 8, offset: 10, after: ["-af", "aselect='not(between(t,2.5,4.5))'"])
        let (flashes, offsets) = try watch(file, seconds: 9)
        #expect(flashes.count == 8)
        // Those at 3 s and 4 s have no beep.
        for (index, offset) in offsets.enumerated() where ![3, 4].contains(index) {
            #expect(abs(offset) < 0.02, "\(index): \(offsets)")
        }
    }

    @Test func aPictureThatStopsForAWhile() throws {
        let folder = try TemporaryDirectory()
        let file = try FlashAndBeep.make(
            folder, "gap.ts", seconds: 8, offset: 10,
            after: ["-vf", "\(FlashAndBeep.flash),select='not(between(t,2.5,4.5))'", "-fps_mode", "passthrough"])
        let (flashes, offsets) = try watch(file, seconds: 9)
        // Those at 3 s and 4 s are not seen.
        #expect(flashes.count == 6)
        #expect(offsets.allSatisfy { abs($0) < 0.02 }, "\(offsets)")
    }

    /// Another size, pixel format and frame rate, another rate and number of channels of the sound, in the middle: the source
    /// goes on, in step.
    @Test func formatsThatChange() throws {
        let folder = try TemporaryDirectory()
        let first = try FlashAndBeep.make(folder, "a.ts", seconds: 4, offset: 100)
        let second = try FlashAndBeep.make(
            folder, "b.ts", seconds: 4, offset: 104, size: "96x64", soundRate: 44_100,
            after: ["-pix_fmt", "yuv422p", "-r", "50", "-ac", "2"])
        try expect(try FlashAndBeep.joined(folder, "joined.ts", [first, second]), flashes: 8, seconds: 9)
    }
}
