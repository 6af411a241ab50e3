// Patchbay from Swift: a graph wired in code, a filter of our own, raw frames in a closure.
//
//   swift run -c release PatchbayExample [clip.mp4]
//
// Without a clip it uses the built-in test pattern. It runs for two seconds and prints what it saw.
import Patchbay
import Synchronization

/// Blackens the top of the picture, and drops every tenth frame, to show that it can.
final class Letterbox: VideoProcessor {
    var pixelFormat: PixelFormat? { .rgba }

    func process(_ frame: Frame, at time: MediaTime) -> Frame? {
        if FrameRate(30).frame(at: time) % 10 == 9 { return nil }
        // In place: the frame is ours, and each row lies `stride` bytes after the one before.
        for y in 0..<frame.height / 8 {
            let row = frame.plane(0).row(y).assumingMemoryBound(to: UInt8.self)
            for x in 0..<frame.width {
                (row[x * 4], row[x * 4 + 1], row[x * 4 + 2]) = (0, 0, 0)
            }
        }
        return frame
    }
}

@main struct PatchbayExample {
    static func main() throws {
        let graph = Graph(size: (640, 360), rate: FrameRate(30))
        let source =
            CommandLine.arguments.count > 1
            ? graph.video("clip", file: CommandLine.arguments[1], loop: true) : graph.testPattern("bars")
        let grey = try graph.filter("grayscale", "grey")
        let letterbox = graph.processor("letterbox", Letterbox())

        let frames = Atomic(0)
        let raw = graph.rawDataOutput("raw", size: (320, 180), format: .bgra) { frame in
            // Runs on the output's own thread; the pixels are valid until it returns.
            let first = frame.row(0)[0], middle = frame.row(frame.height / 2)
            if frames.add(1, ordering: .relaxed).oldValue == 0 {
                print(
                    "first frame: \(frame.width)x\(frame.height) \(frame.format.rawValue), stride \(frame.stride(ofPlane: 0))"
                )
                print(
                    "top is black: \(first == 0), middle is grey: \(middle[0] == middle[1] && middle[1] == middle[2])")
            }
        }
        source --> grey --> letterbox --> raw

        var configuration = EngineConfiguration()
        configuration.clock = .offline
        configuration.duration = MediaTime(value: 2, timescale: 1)
        try graph.start(configuration)
        graph.waitUntilFinished()
        graph.stop()
        print("frames: \(frames.load(ordering: .relaxed)) of 60, every tenth dropped by the filter")
    }
}
