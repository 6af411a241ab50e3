import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Files whose time stamps wrap, jump or begin late: sound and picture stay together. Each second begins with a white
/// picture and a beep, made by ffmpeg.
@Suite struct SourcesTimeTests {
    private static let rate = FrameRate(25)

    /// A transport stream of so many seconds whose time stamps begin at `offset` s.
    private func make(
        _ folder: TemporaryDirectory, _ name: String, seconds: Int, offset: Double, size: String = "64x48",
        soundRate: Int = 48_000, before: [String] = [], after: [String] = []
    ) throws -> String {
        let file = folder.file(name)
        try ffmpeg(
            ["-f", "lavfi", "-i", "color=black:size=\(size):rate=25:duration=\(seconds)"] + before + [
                "-f", "lavfi", "-i",
                "aevalsrc='if(lt(mod(t\\,1)\\,0.1)\\,0.5*sin(2*PI*1000*t)\\,0)':s=\(soundRate):d=\(seconds)", "-vf",
                "drawbox=color=white:t=fill:enable='lt(mod(t,1),0.1)'", "-c:v", "mpeg2video", "-g", "10", "-bf", "0",
                "-q:v", "3", "-c:a", "mp2", "-b:a", "128k",
            ] + after + ["-muxdelay", "0", "-muxpreload", "0", "-output_ts_offset", "\(offset)", "-f", "mpegts", file])
        return file
    }

    private func joined(_ folder: TemporaryDirectory, _ files: [String]) throws -> String {
        try folder.write("joined.ts", bytes: try files.flatMap { try $0.contentsOfFile() })
    }

    /// Seconds from each flash to the beep nearest to it, and when the flashes are.
    private func watch(_ file: String, seconds: Int) throws -> (flashes: [Double], offsets: [Double]) {
        let source = try makeSource("video", ["file": .string(file)])
        let format = try source.open()
        defer { source.stop() }
        try source.start()
        let audio = try #require(format.audio)
        let block = AudioBlock(format: audio, capacity: 1920)
        var (flashes, beeps): ([Double], [Double]) = ([], [])
        var (wasWhite, lastLoud) = (false, -1.0)
        for index: Int64 in 0..<Int64(seconds * 25) {
            let tick = Tick(index: index, rate: Self.rate, hostTime: 0, isOffline: true)
            guard case .frame(let frame) = source.frame(at: tick) else { break }
            let time = tick.time.seconds
            let isWhite = frame.plane(0).row(frame.height / 2).load(fromByteOffset: 8, as: UInt8.self) > 128
            if isWhite, !wasWhite { flashes.append(time) }
            wasWhite = isWhite
            block.count = 1920
            _ = source.sound(at: tick, into: block)
            for place in 0..<1920 where abs(block.channel(0)[place]) > 0.1 {
                let at = time + Double(place) / 48_000
                if at - lastLoud > 0.3 { beeps.append(at) }
                lastLoud = at
            }
        }
        let offsets = flashes.compactMap { flash in beeps.map { $0 - flash }.min { abs($0) < abs($1) } }
        return (flashes, offsets)
    }

    private func expect(
        _ file: String, flashes count: Int, seconds: Int, within limit: Double = 0.02,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) throws {
        let (flashes, offsets) = try watch(file, seconds: seconds)
        #expect(flashes.count == count, "\(flashes)", sourceLocation: sourceLocation)
        #expect(offsets.count == count, sourceLocation: sourceLocation)
        #expect(offsets.allSatisfy { abs($0) < limit }, "\(offsets)", sourceLocation: sourceLocation)
        for (one, other) in zip(flashes, flashes.dropFirst()) {
            #expect(abs(other - one - 1) < 0.05, "\(flashes)", sourceLocation: sourceLocation)
        }
    }

    /// 33 bits of 90 kHz are over after 95,443.7 s.
    @Test func timeStampsThatWrap() throws {
        let folder = try TemporaryDirectory()
        try expect(try make(folder, "wrap.ts", seconds: 8, offset: 95_440), flashes: 8, seconds: 9)
    }

    /// After a jump pictures no longer begin with the ticks, which show them up to a tick later. Forwards by less than ten minutes is a long still in a file.
    @Test(arguments: [3600.0, -50])
    func timeStampsThatJump(_ jump: Double) throws {
        let folder = try TemporaryDirectory()
        let first = try make(folder, "a.ts", seconds: 4, offset: 100)
        let second = try make(folder, "b.ts", seconds: 4, offset: 104 + jump)
        let file = try joined(folder, [first, second])
        // Backwards, pictures go on, but sound is lost from there on: not yet understood.
        try withKnownIssue(isIntermittent: true) {
            try expect(file, flashes: 8, seconds: 9, within: 0.041)
        } when: {
            jump < 0
        }
    }

    @Test func soundThatBeginsLate() throws {
        let folder = try TemporaryDirectory()
        let file = try make(folder, "late.ts", seconds: 6, offset: 10, before: ["-itsoffset", "2"])
        let (flashes, offsets) = try watch(file, seconds: 8)
        // There is no beep for the first two flashes.
        #expect(flashes.count == 6)
        #expect(offsets.dropFirst(2).allSatisfy { abs($0) < 0.02 }, "\(offsets)")
    }

    @Test func soundThatStopsForAWhile() throws {
        let folder = try TemporaryDirectory()
        let file = try make(
            folder, "gap.ts", seconds: 8, offset: 10,
            after: ["-af", "aselect='not(between(t,2.5,4.5))'"])
        let (flashes, offsets) = try watch(file, seconds: 9)
        #expect(flashes.count == 8)
        // Those at 3 s and 4 s have no beep.
        for (index, offset) in offsets.enumerated() where ![3, 4].contains(index) {
            #expect(abs(offset) < 0.02, "\(index): \(offsets)")
        }
    }

    /// Another size, another rate of the sound, in the middle: the source goes on, in step.
    @Test func formatsThatChange() throws {
        let folder = try TemporaryDirectory()
        let first = try make(folder, "a.ts", seconds: 4, offset: 100)
        let second = try make(folder, "b.ts", seconds: 4, offset: 104, size: "96x64", soundRate: 44_100)
        try expect(try joined(folder, [first, second]), flashes: 8, seconds: 9)
    }
}
