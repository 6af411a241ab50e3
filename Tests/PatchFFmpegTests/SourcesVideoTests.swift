import Foundation
import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// `video{}` against what the ffmpeg program decodes.
@Suite struct SourcesVideoTests {
    @Test(arguments: [
        (Fixtures.Clip.bigBuckBunny, FrameRate(25), 132), (.bikes, FrameRate(25), 250),
        (.carphone, FrameRate(30000, over: 1001), 120), (.pedestrians, FrameRate(10), 795),
    ])
    func everyFrameOfARealClipIsExact(clip: Fixtures.Clip, rate: FrameRate, count: Int) throws {
        let path = try Fixtures.path(clip)
        let run = try SourceRun(makeSource("video", ["file": .string(path)]), rate: rate, limit: 1000)
        let reference = try ReferenceFrame.all(of: path)
        #expect(run.ended)
        #expect(run.format.rate == rate)
        #expect(reference.count == count)
        #expect(run.frames.count == count)
        #expect(run.frames.map(\.checksum) == reference.map(\.checksum))
        #expect(run.frames.map(\.sequence) == (0..<Int64(count)).map { $0 })
    }

    @Test func soundIsFfmpegsSample() throws {
        let path = try Fixtures.path(.bigBuckBunny)
        let run = try SourceRun(makeSource("video", ["file": .string(path)]), rate: FrameRate(25), limit: 1000)
        #expect(run.format.audio == AudioFormat(sampleRate: 48_000, channels: 2))
        let reference = try referenceSound(path, channels: 2)
        // The first frame is at 0, as the sound is; both are cut at the picture's end.
        for channel in 0..<2 {
            let count = min(reference[channel].count, 132 * 1920)
            #expect(run.sound[channel].count >= count)
            let worst = (0..<count).map { abs(run.sound[channel][$0] - reference[channel][$0]) }.max() ?? 1
            #expect(worst < 1e-4, "channel \(channel)")
        }
    }

    @Test func monoStaysMonoAndASoundFileHasNoPicture() throws {
        let path = try Fixtures.path(.frontCenter)
        let run = try SourceRun(makeSource("video", ["file": .string(path)]), rate: FrameRate(30), limit: 300)
        #expect(run.format.video == nil)
        #expect(run.format.audio?.channels == 1)
        #expect(run.ended)
        let reference = try referenceSound(path, channels: 1)[0]
        #expect(run.sound[0].count >= reference.count)
        #expect(run.sound[0].prefix(reference.count).elementsEqual(reference))
        #expect(run.sound[0].dropFirst(reference.count).allSatisfy { $0 == 0 })
    }

    @Test func loopsWithoutAGap() throws {
        let path = try Fixtures.path(.carphone)
        let source = try makeSource("video", ["file": .string(path), "loop": .bool(true)])
        let run = try SourceRun(source, rate: FrameRate(30000, over: 1001), limit: 300)
        let reference = try ReferenceFrame.all(of: path).map(\.checksum)
        #expect(!run.ended)
        #expect(run.frames.map(\.checksum) == (0..<300).map { reference[$0 % 120] })
        #expect(run.format.duration == nil)
    }

    @Test func loopKeepsTheSoundInSync() throws {
        let folder = try TemporaryDirectory()
        // 25 frames a second; each second begins with a white frame and a beep.
        let file = try flashes(folder, seconds: 2)
        let source = try makeSource("video", ["file": .string(file), "loop": .bool(true)])
        let run = try SourceRun(source, rate: FrameRate(25), limit: 250)
        #expect(run.frames.count == 250)
        for second in 0..<10 {
            let onset = run.sound[0][max(0, second * 48_000 - 12_000)..<second * 48_000 + 12_000]
                .firstIndex { abs($0) > 0.1 }
            let offset = try #require(onset) - second * 48_000
            #expect(abs(offset) < 1920, "second \(second): the beep is \(offset) samples off")
        }
    }

    @Test func startAndRate() throws {
        let path = try Fixtures.path(.bikes)
        let reference = try ReferenceFrame.all(of: path).map(\.checksum)
        let late = try SourceRun(
            makeSource("video", ["file": .string(path), "start": .number(4)]), rate: FrameRate(25), limit: 400)
        #expect(late.frames.map(\.checksum) == Array(reference[100...]))
        let fast = try SourceRun(
            makeSource("video", ["file": .string(path), "rate": .number(2)]), rate: FrameRate(25), limit: 400)
        #expect(fast.frames.map(\.checksum) == stride(from: 0, to: 250, by: 2).map { reference[$0] })
        #expect(fast.format.rate == FrameRate(50))
        let slow = try SourceRun(
            makeSource("video", ["file": .string(path), "rate": .number(0.5)]), rate: FrameRate(25), limit: 600)
        #expect(slow.frames.map(\.checksum) == (0..<500).map { reference[$0 / 2] })
    }

    @Test func pitchFollowsTheSpeed() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("tone.wav")
        try ffmpeg(["-f", "lavfi", "-i", "sine=frequency=300:sample_rate=44100:duration=4", file])
        let run = try SourceRun(
            makeSource("video", ["file": .string(file), "rate": .number(2)]), rate: FrameRate(25), limit: 200)
        let sound = run.sound[0]
        // Four seconds take two; 300 Hz become 600: 2 · 2 · 600 changes of sign.
        let changes = zip(sound[..<95_000], sound[1..<95_001]).count { $0 < 0 && $1 >= 0 }
        #expect(abs(changes - 95_000 * 600 / 48_000) <= 2)
        #expect(abs(run.frames.count) == 0 && sound.count <= 52 * 1920)
    }

    @Test func otherRatesRepeatAndSkipByTime() throws {
        let path = try Fixtures.path(.bikes)
        let reference = try ReferenceFrame.all(of: path).map(\.checksum)
        let run = try SourceRun(makeSource("video", ["file": .string(path)]), rate: FrameRate(60), limit: 1000)
        // Tick n shows the latest frame that began: floor(n·25/60).
        #expect(run.frames.map(\.checksum) == (0..<600).map { reference[$0 * 25 / 60] })
    }

    @Test func millisecondClocksDoNotStutter() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("ntsc.mkv")
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=30000/1001", "-frames:v", "200", "-c:v", "ffv1", file,
        ])
        let run = try SourceRun(
            makeSource("video", ["file": .string(file)]), rate: FrameRate(30000, over: 1001), limit: 400)
        #expect(run.frames.count == 200)
        #expect(run.frames.map(\.checksum) == (try ReferenceFrame.all(of: file)).map(\.checksum))
    }

    @Test func variableFrameRateShowsEachFrameForItsTime() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("vfr.mkv")
        // Frames 0…9 stay 40 ms, then every fourth frame only: 160 ms each.
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-frames:v", "14", "-vf",
            "setpts=N*40*TB*1000/1000/TB/1000+max(N-10\\,0)*120/1000/TB", "-fps_mode", "vfr", "-c:v", "ffv1", file,
        ])
        let times = try FFprobe.frames(file).compactMap(\.pts)
        try #require(times.count == 14)
        let reference = try ReferenceFrame.all(of: file).map(\.checksum)
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(25), limit: 100)
        let expected = run.frames.indices.map { tick in
            reference[times.lastIndex { $0 - times[0] <= Double(tick) * 0.04 + 0.0011 } ?? 0]
        }
        #expect(run.frames.map(\.checksum) == expected)
        #expect(run.frames.count >= 10 + 3 * 4)
    }

    @Test(arguments: [
        ("yuv420p", PixelFormat.yuv420p), ("yuv422p", .yuv422p), ("yuv444p", .yuv444p),
        ("nv12", .nv12), ("yuv420p10le", .yuv420p10), ("yuv422p10le", .yuv422p10), ("yuv444p10le", .yuv444p10),
        ("gray", .gray8),
    ])
    func formatsArriveAsStored(name: String, format: PixelFormat) throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("clip.nut")
        // Odd sizes: planes round up.
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=159x87:rate=25", "-frames:v", "3", "-pix_fmt", name, "-c:v", "rawvideo",
            file,
        ])
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(25), limit: 10)
        #expect(run.format.video?.pixelFormat == format)
        #expect(run.frames.map(\.checksum) == (try ReferenceFrame.all(of: file)).map(\.checksum))
    }

    @Test func coloursAreWhatTheFileSays() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("clip.mkv")
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-frames:v", "3", "-c:v", "libx264", "-color_range",
            "pc",
            "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", "arib-std-b67", file,
        ])
        let events = SourceEvents()
        let run = try SourceRun(
            makeSource("video", ["file": .string(file)], events: events), rate: FrameRate(25), limit: 10)
        #expect(
            run.format.video?.color
                == ColorSpec(matrix: .bt2020, range: .full, primaries: .bt2020, transfer: .hlg, siting: .left))
        #expect(events.notices.isEmpty)
        // This clip says nothing.
        let bare = SourceEvents()
        let other = try SourceRun(
            makeSource("video", ["file": .string(Fixtures.path(.carphone))], events: bare),
            rate: FrameRate(30000, over: 1001), limit: 10)
        #expect(other.format.video?.color.matrix == .bt601)
        #expect(bare.notices.filter { $0.contains("assuming bt601, limited") }.count == 1)
    }

    @Test(arguments: [
        ("yuyv422", PixelFormat.yuv422p, "yuv422p"), ("rgb24", .rgba, "rgba"), ("bgr0", .bgra, "bgra"),
        ("yuv440p", .yuv444p, ""), ("gbrp", .rgba, "rgba"), ("yuv411p", .yuv422p, ""), ("gray10le", .gray8, ""),
    ])
    func otherFormatsAreConvertedOnceAndSaid(name: String, format: PixelFormat, exactAs: String) throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("clip.nut")
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x88:rate=25", "-frames:v", "3", "-pix_fmt", name, "-c:v", "rawvideo",
            file,
        ])
        let events = SourceEvents()
        let run = try SourceRun(
            makeSource("video", ["file": .string(file)], events: events), rate: FrameRate(25), limit: 10)
        #expect(run.format.video?.pixelFormat == format)
        #expect(events.notices.filter { $0.contains(name) && $0.contains(format.rawValue) }.count == 1)
        #expect(run.frames.count == 3)
        if !exactAs.isEmpty {
            let reference = try ReferenceFrame.all(of: file, pixelFormat: exactAs)
            #expect(run.frames.map(\.checksum) == reference.map(\.checksum))
        }
    }

    @Test func phonesVideoStandsUpright() throws {
        let folder = try TemporaryDirectory()
        let plain = folder.file("plain.mp4")
        let turned = folder.file("turned.mp4")
        try ffmpeg(["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-frames:v", "3", "-c:v", "libx264", plain])
        try ffmpeg(["-i", plain, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned])
        let source = try makeSource("video", ["file": .string(turned)])
        let format = try #require(try source.open().video)
        source.stop()
        // ffmpeg turns the picture upright itself: the independent opinion on the direction.
        let upright = try ffmpeg(["-i", turned, "-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo", "-"]).output
        let stored = try ffmpeg([
            "-noautorotate", "-i", turned, "-frames:v", "1", "-pix_fmt", "gray", "-f", "rawvideo", "-",
        ]).output
        #expect(format.displaySize == (90, 160))
        try #require(upright.count == 90 * 160)
        var different = 0
        for y in 0..<160 {
            for x in 0..<90 {
                let (fromX, fromY) = format.orientation.source(x: x, y: y, width: 160, height: 90)
                if upright[y * 90 + x] != stored[fromY * 160 + fromX] { different += 1 }
            }
        }
        #expect(different == 0)
    }

    @Test func orientationWords() throws {
        let path = try Fixtures.path(.carphone)
        let words: [(String, Int)] = [
            ("landscapeRight", 0), ("portrait", 1), ("landscapeLeft", 2), ("portraitUpsideDown", 3),
        ]
        for (word, turns) in words {
            let source = try makeSource(
                "video", ["file": .string(path), "orientation": .string(word), "mirror": .bool(true)])
            #expect(try source.open().video?.orientation == Orientation(quarterTurns: turns, mirrored: true))
            source.stop()
        }
    }

    @Test func aSizeThatChangesInTheStreamArrives() throws {
        let folder = try TemporaryDirectory()
        let (small, large, both) = (folder.file("a.ts"), folder.file("b.ts"), folder.file("both.ts"))
        for (file, size) in [(small, "160x90"), (large, "320x180")] {
            try ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25", "-frames:v", "25", "-c:v", "mpeg2video", file,
            ])
        }
        try folder.write("both.ts", bytes: small.contentsOfFile() + large.contentsOfFile())
        let run = try SourceRun(makeSource("video", ["file": .string(both)]), rate: FrameRate(25), limit: 200)
        // Sizes in bytes of 4:2:0 pictures, as ffmpeg finds them.
        let sizes = try ReferenceFrame.all(of: both, after: ["-autoscale", "0"]).map(\.size)
        #expect(run.frames.map { $0.format.width * $0.format.height * 3 / 2 } == sizes)
        #expect(sizes.count >= 49)
        #expect(Set(sizes) == [160 * 90 * 3 / 2, 320 * 180 * 3 / 2])
    }

    @Test func corruptPacketsAreCountedAndPlayedOver() throws {
        let folder = try TemporaryDirectory()
        var bytes = try Fixtures.path(.bikes).contentsOfFile()
        // In the middle of the media data, far from the index.
        for start in stride(from: bytes.count / 3, to: bytes.count / 2, by: 4000) {
            for offset in 0..<200 { bytes[start + offset] = UInt8(truncatingIfNeeded: offset &* 73) }
        }
        let file = try folder.write("broken.mp4", bytes: bytes)
        let source = try makeSource("video", ["file": .string(file)])
        let run = try SourceRun(source, rate: FrameRate(25), limit: 1000)
        #expect(run.frames.count > 200)
        #expect(run.ended)
    }

    @Test func badlyInterleavedTracksAreStillExact() throws {
        let folder = try TemporaryDirectory()
        let near = folder.file("near.ts")
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=20", "-f", "lavfi", "-i",
            "sine=frequency=440:duration=20:sample_rate=48000", "-c:v", "mpeg2video", "-c:a", "mp2", near,
        ])
        // All picture first, then all sound: the worst order there is. Packets of 188 bytes; ffmpeg's muxer gives the
        // picture PID 256 and the sound PID 257.
        let bytes = try near.contentsOfFile()
        let packets = stride(from: 0, to: bytes.count, by: 188).map { bytes[$0..<$0 + 188] }
        func isSound(_ packet: ArraySlice<UInt8>) -> Bool {
            let start = packet.startIndex
            return Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2]) == 257
        }
        let apart = packets.filter { !isSound($0) } + packets.filter(isSound)
        let file = try folder.write("apart.ts", bytes: apart.flatMap { $0 })
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(25), limit: 1000)
        #expect(run.frames.map(\.checksum) == (try ReferenceFrame.all(of: near)).map(\.checksum))
        // A sine of 1/8 (ffmpeg's): above 0.05 for three quarters of the time.
        let loud = try #require(run.sound.first).filter { abs($0) > 0.05 }.count
        #expect(loud > 20 * 48_000 * 7 / 10)
    }

    @Test func aRecordsCoverIsShownForItsSound() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("song.mp3")
        try ffmpeg([
            "-f", "lavfi", "-i", "sine=frequency=300:sample_rate=48000:duration=2", "-i", Fixtures.path(.astronaut),
            "-map",
            "0", "-map", "1", "-c:v", "png", "-disposition:v", "attached_pic", file,
        ])
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(25), limit: 200)
        #expect(run.ended)
        #expect((49...54).contains(run.frames.count), "\(run.frames.count) frames")
        #expect(Set(run.frames.map(\.checksum)).count == 1)
        #expect(run.format.video?.width == 512)
        #expect(run.sound[0].filter { abs($0) > 0.05 }.count > 48_000)
    }

    @Test(arguments: [Int64(4_000_000_000_000), 9_000_000_000_000_000_000])
    func timeStampsBeyondReasonAreNoTrap(first: Int64) throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("huge.nut")
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-frames:v", "10", "-c:v", "mpeg4", "-bsf:v",
            "setts=ts=N*2048+\(first)", file,
        ])
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(25), limit: 400)
        #expect(run.ended)
        #expect(Set(run.frames.map(\.checksum)).count >= 9)
    }

    @Test func missingTimeStampsFollowTheRate() throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("raw.h264")
        try ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-frames:v", "50", "-c:v", "libx264", "-bf", "2", file,
        ])
        let run = try SourceRun(makeSource("video", ["file": .string(file)]), rate: FrameRate(25), limit: 400)
        let reference = try ReferenceFrame.all(of: file).map(\.checksum)
        #expect(run.frames.map(\.checksum) == reference)
    }

    /// Black picture, white in the first frame of each second, with a beep that begins with it.
    private func flashes(_ folder: TemporaryDirectory, seconds: Int) throws -> String {
        let file = folder.file("flashes.mkv")
        try ffmpeg([
            "-f", "lavfi", "-i", "color=black:size=160x90:rate=25:duration=\(seconds)", "-f", "lavfi", "-i",
            "aevalsrc=if(lt(mod(t\\,1)\\,0.1)\\,0.5*sin(2*PI*1000*t)\\,0):s=48000:d=\(seconds)", "-vf",
            "drawbox=color=white:t=fill:enable='lt(mod(t,1),0.04)'", "-c:v", "ffv1", "-c:a", "pcm_s16le", file,
        ])
        return file
    }
}
