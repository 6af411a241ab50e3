import PatchGraph
import PatchMedia
import PatchTesting

/// A clip whose every second begins with a white picture and a beep, made by ffmpeg, and an eye and an ear for it.
struct FlashAndBeep {
    static let flash = "drawbox=color=white:t=fill:enable='lt(mod(t,1),0.1)'"

    /// A transport stream of so many seconds whose time stamps begin at `offset` s.
    /// - Parameters:
    ///   - picture, sound: options in front of each of the two inputs.
    ///   - after: options of the output.
    static func make(
        _ folder: TemporaryDirectory, _ name: String, seconds: Int, offset: Double, size: String = "64x48",
        soundRate: Int = 48_000, picture: [String] = [], sound: [String] = [], after: [String] = []
    ) throws -> String {
        let file = folder.file(name)
        var arguments = picture + ["-f", "lavfi", "-i", "color=black:size=\(size):rate=25:duration=\(seconds)"]
        arguments +=
            sound + [
                "-f", "lavfi", "-i",
                "aevalsrc='if(lt(mod(t\\,1)\\,0.1)\\,0.5*sin(2*PI*1000*t)\\,0)':s=\(soundRate):d=\(seconds)", "-vf",
                flash,
                "-c:v", "mpeg2video", "-g", "10", "-bf", "0", "-q:v", "3", "-c:a", "mp2", "-b:a", "128k",
            ]
        try ffmpeg(
            arguments + after + [
                "-muxdelay", "0", "-muxpreload", "0", "-output_ts_offset", "\(offset)", "-f", "mpegts", file,
            ])
        return file
    }

    static func joined(_ folder: TemporaryDirectory, _ name: String, _ files: [String]) throws -> String {
        try folder.write(name, bytes: try files.flatMap { try $0.contentsOfFile() })
    }

    /// When flashes and beeps began, in seconds.
    private(set) var flashes: [Double] = []
    private(set) var beeps: [Double] = []
    private var wasWhite = false
    private var lastLoud = -1.0

    /// What was shown and heard from `time` on.
    mutating func look(_ frame: Frame, _ block: AudioBlock, at time: Double) {
        let isWhite = frame.plane(0).row(frame.height / 2).load(fromByteOffset: 8, as: UInt8.self) > 128
        if isWhite, !wasWhite { flashes.append(time) }
        wasWhite = isWhite
        for place in 0..<block.count where abs(block.channel(0)[place]) > 0.1 {
            let at = time + Double(place) / 48_000
            if at - lastLoud > 0.3 { beeps.append(at) }
            lastLoud = at
        }
    }

    /// Seconds from each flash to the beep nearest to it.
    var offsets: [Double] {
        flashes.compactMap { flash in beeps.map { $0 - flash }.min { abs($0) < abs($1) } }
    }
}
