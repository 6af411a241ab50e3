import PatchGraph
import PatchKernel
import PatchMedia
import Testing

/// Sources whose pictures are stored turned or mirrored.
@Suite struct UprightTests {
    private static let orientations = (0..<4).flatMap { turns in
        [false, true].map { Orientation(quarterTurns: turns, mirrored: $0) }
    }

    /// Luma (or bytes) without pattern; chroma that rises slowly, so that it may be compared between its samples.
    private static func code(_ plane: Int, _ x: Int, _ y: Int, _ isChroma: Bool) -> Int {
        isChroma ? 60 + 3 * x + 2 * y + 9 * plane : (x * 57 + y * 113 + x * y * 7) % 251
    }

    private func source(_ format: VideoFormat) -> CountingSource {
        CountingSource(format, frames: 1) { frame, _ in
            let pixelFormat = frame.format.pixelFormat
            for plane in 0..<pixelFormat.planeCount {
                let layout = pixelFormat.layout(ofPlane: plane)
                let isPair = pixelFormat == .nv12 && plane == 1
                for y in 0..<layout.height(of: frame.height) {
                    let row = frame.plane(plane).row(y).assumingMemoryBound(to: UInt8.self)
                    for x in 0..<layout.width(of: frame.width) * layout.bytesPerPixel {
                        let (number, column) = isPair ? (1 + x % 2, x / 2) : (plane, x)
                        row[x] = UInt8(Self.code(number, column, y, pixelFormat.isYCbCr && plane > 0))
                    }
                }
            }
        }
    }

    private func render(_ format: VideoFormat, to target: VideoFormat) throws -> Frame {
        let sink = CollectingSink(target)
        let engine = try makeEngine(registry(sources: ["cam": source(format)], sinks: ["view": sink]))
        var patch = Patch()
        patch.add("in", "cam")
        patch.add("out", "view")
        patch.wire("in", "out")
        try engine.load(patch)
        try engine.start()
        #expect(engine.waitUntilFinished(deadline: monotonicNanoseconds() + 20_000_000_000))
        engine.stop()
        return try #require(sink.lastFrame.withLock { $0 })
    }

    /// Every sample of luma, grey and packed colour is where the orientation says; chroma has the value that its place has.
    @Test(arguments: [PixelFormat.yuv420p, .nv12, .yuv444p, .yuv422p, .gray8, .rgba], orientations)
    func samplesStandWhereTheyShould(pixelFormat: PixelFormat, orientation: Orientation) throws {
        for (width, height) in [(38, 22), (21, 13), (8, 8), (3, 5)] {
            for siting in [ColorSpec.ChromaSiting.left, .center, .topLeft] {
                let isSubsampled = pixelFormat.log2ChromaWidth > 0
                if !isSubsampled, siting != .left { continue }
                if pixelFormat == .yuv422p, orientation.swapsAxes { continue }
                var color: ColorSpec = pixelFormat.isYCbCr ? .bt709 : .srgb
                color.siting = siting
                let stored = VideoFormat(
                    pixelFormat, width: width, height: height, color: color, orientation: orientation)
                var wanted = stored
                wanted.orientation = .identity
                (wanted.width, wanted.height) = stored.displaySize
                let frame = try render(stored, to: wanted)
                let label = "\(pixelFormat) \(width)x\(height) \(orientation) \(siting)"
                var wrong = 0
                var worst = 0.0
                let bytes = pixelFormat.layout(ofPlane: 0).bytesPerPixel
                for y in 0..<wanted.height {
                    for x in 0..<wanted.width {
                        let from = orientation.source(x: x, y: y, width: width, height: height)
                        for byte in 0..<bytes {
                            let found = frame.plane(0).row(y).load(fromByteOffset: bytes * x + byte, as: UInt8.self)
                            let expected = Self.code(0, bytes * from.x + byte, from.y, false)
                            if Int(found) != expected { wrong += 1 }
                        }
                    }
                }
                #expect(wrong == 0, "\(label): \(wrong) samples")
                guard pixelFormat.isYCbCr, width > 8, height > 8 else { continue }
                worst = chromaError(frame, stored, orientation)
                #expect(worst <= 0.76, "\(label): chroma is \(worst) off")
            }
        }
    }

    /// Largest difference of inner chroma samples from the rising plane at their place in the stored picture.
    private func chromaError(_ frame: Frame, _ stored: VideoFormat, _ orientation: Orientation) -> Double {
        let format = stored.pixelFormat
        let layout = format.layout(ofPlane: 1)
        let siting = stored.color.siting
        let offsetX = layout.log2Width == 0 || siting != .center ? 0.0 : 0.5
        let offsetY = layout.log2Height == 0 || siting == .topLeft ? 0.0 : 0.5
        let (scaleX, scaleY) = (Double(1 << layout.log2Width), Double(1 << layout.log2Height))
        var worst = 0.0
        let (width, height) = (layout.width(of: frame.width), layout.height(of: frame.height))
        for y in 2..<height - 2 {
            for x in 2..<width - 2 {
                // Luma coordinates in the upright picture, then in the stored one.
                let (px, py) = (Double(x) * scaleX + offsetX, Double(y) * scaleY + offsetY)
                let column = orientation.mirrored ? Double(frame.width - 1) - px : px
                let place: (x: Double, y: Double) =
                    switch orientation.quarterTurns {
                    case 0: (column, py)
                    case 1: (py, Double(stored.height - 1) - column)
                    case 2: (Double(stored.width - 1) - column, Double(stored.height - 1) - py)
                    default: (Double(stored.width - 1) - py, column)
                    }
                let sample = ((place.x - offsetX) / scaleX, (place.y - offsetY) / scaleY)
                for number in 1...2 {
                    let isPair = format.planeCount == 2
                    let found = frame.plane(isPair ? 1 : number).row(y)
                        .load(fromByteOffset: isPair ? 2 * x + number - 1 : x, as: UInt8.self)
                    let expected = 60 + 3 * sample.0 + 2 * sample.1 + 9 * Double(number)
                    worst = max(worst, abs(Double(found) - expected))
                }
            }
        }
        return worst
    }
}
