/// A clip's pictures as ffmpeg decodes them: what tests compare ours with.
public struct DecodedVideo: Sendable {
    public let width: Int
    public let height: Int
    /// One a frame, R G B in turn, `width * height * 3` bytes, full range.
    public let frames: [[UInt8]]

    /// Decodes a file or a stretch of a live stream with the ffmpeg program.
    /// - Parameters:
    ///   - size: scales to this size (bilinear); nil keeps the stream's.
    ///   - arguments: options for ffmpeg's output, such as `["-t", "5"]` or `["-frames:v", "10"]`.
    /// - Throws: `TestProblem` when ffmpeg fails.
    public init(
        _ url: String, size: (width: Int, height: Int)? = nil, arguments: [String] = [], timeout: Double = 60
    ) throws {
        if let size {
            (width, height) = size
        } else {
            guard let video = try FFprobe.report(url).video, let w = video.width, let h = video.height else {
                throw TestProblem("\(url) has no picture")
            }
            (width, height) = (w, h)
        }
        let scale = size.map { ["-vf", "scale=\($0.width):\($0.height):flags=bilinear"] } ?? []
        let outcome = try Program.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", url] + scale + arguments
                + ["-map", "0:v:0", "-f", "rawvideo", "-pix_fmt", "rgb24", "-fps_mode", "passthrough", "-"],
            timeout: timeout)
        let size = width * height * 3
        frames = stride(from: 0, to: outcome.output.count / size * size, by: size).map {
            Array(outcome.output[$0..<$0 + size])
        }
    }

    /// Mean R, G, B of a frame, 0…255.
    public func meanColor(ofFrame index: Int) -> (red: Double, green: Double, blue: Double) {
        var sums = (0, 0, 0)
        let frame = frames[index]
        for pixel in stride(from: 0, to: frame.count, by: 3) {
            sums.0 += Int(frame[pixel])
            sums.1 += Int(frame[pixel + 1])
            sums.2 += Int(frame[pixel + 2])
        }
        let count = Double(frame.count / 3)
        return (Double(sums.0) / count, Double(sums.1) / count, Double(sums.2) / count)
    }
}

/// Checksums of decoded frames, for "the same, bit by bit".
public enum FrameChecksums {
    /// MD5 of each frame of a stream in presentation order, in the stream's own pixel or sample format.
    /// - Parameter stream: "v:0", "a:0", …
    public static func md5(_ url: String, stream: String = "v:0", timeout: Double = 60) throws -> [String] {
        let outcome = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", url, "-map", "0:\(stream)", "-fps_mode", "passthrough", "-f",
                "framemd5", "-",
            ],
            timeout: timeout)
        return outcome.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap {
            $0.split(separator: ",").last.map { String($0.drop { $0 == " " }) }
        }
    }

    /// FNV-1a, 64 bits: for bytes that are in memory.
    public static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
