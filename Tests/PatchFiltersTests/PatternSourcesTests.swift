import Foundation
import PatchFilters
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// `color` and `testPattern`.
@Suite struct PatternSourcesTests {
    private func source(
        _ kind: String, _ options: [String: OptionValue] = [:], width: Int = 64, height: Int = 48
    ) throws -> any MediaSource {
        let found = try #require(PatternSources.kinds.first { $0.schema.kind == kind })
        guard case .source(let make) = found.factory else { throw TestProblem("\(kind) is no source") }
        return try make(NodeOptions(options), NodeEnvironment(nodeID: "n", width: width, height: height))
    }

    private func frame(_ source: any MediaSource, _ index: Int64, rate: FrameRate = FrameRate(30)) throws -> Frame {
        let tick = Tick(index: index, rate: rate, hostTime: 0, isOffline: true)
        guard case .frame(let frame) = source.frame(at: tick) else { throw TestProblem("no frame at tick \(index)") }
        return frame
    }

    private func luma(_ frame: Frame, _ x: Int, _ y: Int) -> Int {
        Int(frame.plane(0).row(y).load(fromByteOffset: x, as: UInt8.self))
    }
    private func codes(_ frame: Frame, _ x: Int, _ y: Int) -> [Int] {
        [luma(frame, x, y)]
            + [1, 2].map { Int(frame.plane($0).row(y / 2).load(fromByteOffset: x / 2, as: UInt8.self)) }
    }

    @Test func colorIsPremultiplied() throws {
        let color = try source("color", ["rgba": .vector([1, 0.5, 0, 0.5])])
        #expect(try color.open().video == VideoFormat(.rgba, width: 64, height: 48))
        let frame = try frame(color, 0)
        // 0.5·255 = 127.5 → 128; 0.25·255 = 63.75 → 64.
        for (x, y) in [(0, 0), (63, 47), (31, 20)] {
            let row = frame.plane(0).row(y)
            #expect((0..<4).map { row.load(fromByteOffset: 4 * x + $0, as: UInt8.self) } == [128, 64, 0, 128])
        }
        #expect(try self.frame(color, 500) === frame)
    }

    @Test func nonsenseIsRefused() {
        #expect(throws: PatchError.self) { try source("color", ["rgba": .vector([1, 2, 0])]) }
        #expect(throws: PatchError.self) { try source("color", ["rgba": .vector([.nan, 0, 0, 1])]) }
        #expect(throws: PatchError.self) { try source("testPattern", ["size": .vector([0, 10])]) }
        #expect(throws: PatchError.self) { try source("testPattern", ["size": .vector([20000, 10])]) }
    }

    /// 75 % bars: published code values (ITU-R BT.601 and BT.709 studio range, 8 bits).
    @Test(arguments: [
        (
            480,
            [
                [180, 128, 128], [162, 44, 142], [131, 156, 44], [112, 72, 58], [84, 184, 198], [65, 100, 212],
                [35, 212, 114],
            ]
        ),
        (
            720,
            [
                [180, 128, 128], [168, 44, 136], [145, 147, 44], [133, 63, 52], [63, 193, 204], [51, 109, 212],
                [28, 212, 120],
            ]
        ),
    ])
    func barsHaveTheStandardsCodes(height: Int, expected: [[Int]]) throws {
        let width = height * 4 / 3
        let bars = try source("testPattern", ["size": .vector([Double(width), Double(height)])])
        let frame = try frame(bars, 0)
        for index in 0..<7 {
            #expect(codes(frame, width * (2 * index + 1) / 14, height / 2) == expected[index], "bar \(index)")
        }
    }

    /// ffmpeg's own `smptebars` agrees in every pixel of the bars between the number and the moving square.
    @Test func barsAgreeWithFfmpeg() throws {
        let frame = try frame(source("testPattern", ["size": .vector([720, 480])]), 0)
        let reference = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "smptebars=size=720x480", "-frames:v", "1", "-pix_fmt", "yuv420p",
                "-f",
                "rawvideo", "-",
            ]
        ).output
        var different = 0
        for y in 100..<320 {
            for x in 0..<720 where luma(frame, x, y) != Int(reference[y * 720 + x]) { different += 1 }
        }
        for plane in 1...2 {
            let base = 720 * 480 + (plane - 1) * 360 * 240
            for y in 50..<160 {
                let row = frame.plane(plane).row(y)
                for x in 0..<360 where row.load(fromByteOffset: x, as: UInt8.self) != reference[base + y * 360 + x] {
                    different += 1
                }
            }
        }
        #expect(different == 0)
    }

    @Test func rampRunsFromBlackToWhite() throws {
        // 220 columns: one code value each.
        let frame = try frame(source("testPattern", ["kind": .string("ramp"), "size": .vector([220, 480])]), 0)
        #expect((0..<220).map { luma(frame, $0, 470) } == Array(16...235))
        #expect(codes(frame, 100, 470)[1...] == [128, 128])
    }

    @Test func zonePlateIsSymmetricAndReachesNyquist() throws {
        let frame = try frame(source("testPattern", ["kind": .string("zonePlate"), "size": .vector([400, 480])]), 0)
        // Below the square's band; rows 239 and 240 are the middle.
        for x in 0..<400 { #expect(luma(frame, x, 240) == luma(frame, 399 - x, 240)) }
        // Middle: r² = 0.5 there, cos(π·0.5/400) ≈ 1.
        #expect(luma(frame, 199, 240) == 235)
        // Near the edge the phase turns by about π a pixel: neighbours lie on opposite sides of the mean.
        #expect((luma(frame, 396, 240) - 125) * (luma(frame, 397, 240) - 125) < 0)
    }

    @Test(arguments: ["bars", "ramp", "zonePlate"], [(640, 480), (1280, 720), (321, 243), (64, 48)])
    func theNumberReadsBack(kind: String, size: (Int, Int)) throws {
        let (width, height) = size
        let pattern = try source(
            "testPattern",
            ["kind": .string(kind), "size": .vector([Double(width), Double(height)]), "fps": .number(30)])
        for index: Int64 in [0, 1, 2, 77, 1234, 9999] {
            let frame = try frame(pattern, index)
            #expect(frame.sequence == index)
            let number = TestPattern.frameNumber(width: width, height: height) { luma(frame, $0, $1) }
            #expect(number == Int(index))
        }
        #expect(TestPattern.frameNumber(width: width, height: height) { _, _ in 128 } == nil)
    }

    @Test func framesFollowTheRateAndMove() throws {
        let pattern = try source("testPattern", ["size": .vector([640, 480]), "fps": .number(25)])
        #expect(try pattern.open().rate == FrameRate(25))
        // At 50 ticks a second each frame is shown twice, and is the same object.
        let first = try frame(pattern, 0, rate: FrameRate(50))
        #expect(try frame(pattern, 1, rate: FrameRate(50)) === first)
        let second = try frame(pattern, 2, rate: FrameRate(50))
        #expect(second.sequence == 1)
        // The square is 40 pixels wide at (4n, 320).
        #expect(luma(first, 0, 330) == 235 && luma(first, 39, 330) == 235 && luma(first, 40, 330) == 16)
        #expect(luma(second, 3, 330) == 16 && luma(second, 4, 330) == 235 && luma(second, 43, 330) == 235)
    }

    @Test func theSameFrameIsTheSamePicture() throws {
        let (one, two) = (TestPattern(.bars, width: 320, height: 240), TestPattern(.bars, width: 320, height: 240))
        let (a, b) = (Frame(allocating: one.format), Frame(allocating: two.format))
        one.draw(3, into: a)
        one.draw(41, into: a)
        two.draw(41, into: b)
        for plane in 0..<3 {
            for y in 0..<(plane == 0 ? 240 : 120) {
                #expect(memcmp(a.plane(plane).row(y), b.plane(plane).row(y), plane == 0 ? 320 : 160) == 0)
            }
        }
    }
}
