import PatchMedia
import Testing

@Suite struct MediaTimeTests {
    @Test func ntscFramesAreExact() {
        let rate = FrameRate(30000, over: 1001)
        #expect(rate.time(ofFrame: 30000) == MediaTime(value: 1001, timescale: 1))
        #expect(rate.frame(at: MediaTime(value: 1001, timescale: 1)) == 30000)
        #expect(rate.frame(at: rate.time(ofFrame: 123_457)) == 123_457)
        #expect(FrameRate(approximating: 29.97) == rate)
        #expect(FrameRate(approximating: 25) == FrameRate(25))
        #expect(FrameRate(approximating: 0) == nil)
        #expect(FrameRate(approximating: .nan) == nil)
    }

    @Test func sumsOfUnlikeTimescalesAreExact() {
        let sum = MediaTime(value: 1, timescale: 48_000) + MediaTime(value: 1, timescale: 30)
        #expect(sum == MediaTime(value: 1601, timescale: 48_000))
        #expect(MediaTime(value: 1, timescale: 3) - MediaTime(value: 1, timescale: 3) == .zero)
    }

    @Test func roundingIsToTheNearestOrDown() {
        #expect(MediaTime(value: 1, timescale: 3).converted(to: 10) == 3)
        #expect(MediaTime(value: 1, timescale: 2).converted(to: 1) == 1)
        #expect(MediaTime(value: -1, timescale: 3).floored(to: 1) == -1)
        #expect(MediaTime(value: 5, timescale: 3).floored(to: 1) == 1)
    }

    @Test func hugeValuesClampAndDoNotTrap() {
        #expect(MediaTime(value: .max, timescale: 1).converted(to: 1_000_000_000) == .max)
        #expect(MediaTime(seconds: .infinity) == .zero)
        #expect(MediaTime(value: .max, timescale: 1) > MediaTime(value: .max, timescale: 2))
    }
}

@Suite struct OrientationTests {
    /// Composition agrees with applying one after the other to every pixel of a small picture.
    @Test func compositionIsApplicationInOrder() {
        let all = (0..<4).flatMap { [Orientation(quarterTurns: $0), Orientation(quarterTurns: $0, mirrored: true)] }
        let (width, height) = (3, 2)
        for first in all {
            for second in all {
                let both = first.then(second)
                let middle = first.size(width: width, height: height)
                let end = second.size(width: middle.width, height: middle.height)
                #expect(both.size(width: width, height: height) == end)
                for y in 0..<end.height {
                    for x in 0..<end.width {
                        let inner = second.source(x: x, y: y, width: middle.width, height: middle.height)
                        let outer = first.source(x: inner.x, y: inner.y, width: width, height: height)
                        #expect(both.source(x: x, y: y, width: width, height: height) == outer)
                    }
                }
            }
        }
    }

    @Test func aQuarterTurnIsClockwise() {
        // The stored top-left pixel comes to stand top right.
        let turn = Orientation(quarterTurns: 1)
        #expect(turn.source(x: 1, y: 0, width: 3, height: 2) == (0, 0))
        #expect(turn.source(x: 0, y: 0, width: 3, height: 2) == (0, 1))
    }
}

@Suite struct FramePoolTests {
    @Test func aFrameComesBackWhenNobodyHoldsIt() {
        let pool = FramePool(format: VideoFormat(.yuv420p, width: 5, height: 3), limit: 2)
        var first = pool.take()
        let second = pool.take()
        #expect(first !== second)
        #expect(pool.take() == nil)
        let address = first.map { UInt(bitPattern: $0.plane(0).base) }
        first = nil
        let third = pool.take()
        #expect(third.map { UInt(bitPattern: $0.plane(0).base) } == address)
        #expect(pool.count == 2)
        _ = second
    }

    @Test func oddSizesRoundChromaUp() {
        let layout = PixelFormat.yuv420p.layout(ofPlane: 1)
        #expect(layout.width(of: 5) == 3 && layout.height(of: 3) == 2)
        #expect(PixelFormat.p010.layout(ofPlane: 1).bytesPerPixel == 4)
        #expect(PixelFormat.yuv422p10.layout(ofPlane: 2).log2Height == 0)
    }

    @Test func borrowedMemoryIsReleasedBeforeItIsFilledAgain() {
        final class Storage: FrameStorage, @unchecked Sendable {
            // Unchecked: used on the test's thread only.
            var releases = 0
            func release() { releases += 1 }
        }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
        defer { memory.deallocate() }
        let storages = [Storage(), Storage()]
        nonisolated(unsafe) var made = 0  // Only the pool's own calls on this thread write it.
        let pool = BorrowedFramePool<Storage>(limit: 2) {
            defer { made += 1 }
            return storages[made]
        }
        let plane = Plane(base: memory, stride: 4)
        func wrap() -> Frame? {
            pool.wrap { _ in (VideoFormat(.gray8, width: 4, height: 4), (plane, plane, plane, plane)) }
        }
        var a = wrap()
        let b = wrap()
        #expect(a != nil && b != nil && wrap() == nil)
        a = nil
        #expect(storages[0].releases == 0)
        a = wrap()
        #expect(a != nil && storages[0].releases == 1)
    }
}

@Suite struct ErrorTests {
    @Test func anErrorReadsAsOneLine() {
        let error = PatchError(
            .notFound, "no such file 'a.mp4'", remedy: "check the path", node: "cam",
            at: SourceLocation(file: "x.lua", line: 3), cause: "ENOENT")
        #expect(error.description == "x.lua:3: node 'cam': no such file 'a.mp4' (ENOENT); check the path")
    }

    @Test func spellingFindsSlipsAndNothingElse() {
        let names = ["brightness", "contrast", "saturation"]
        #expect(Spelling.nearest(to: "brigthness", in: names) == "brightness")
        #expect(Spelling.nearest(to: "Contrast", in: names) == "contrast")
        #expect(Spelling.nearest(to: "zzz", in: names) == nil)
        #expect(Spelling.nearest(to: "", in: names) == nil)
    }
}
