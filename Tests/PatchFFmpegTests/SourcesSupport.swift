import PatchFFmpeg
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// What a source reported, and waiting for it.
final class SourceEvents: Sendable {
    private let events = Monitor<[NodeEvent]>([])
    func add(_ event: NodeEvent) { events.notify { $0.append(event) } }

    var problems: [PatchError] {
        events.withLock { $0.compactMap { if case .problem(let error) = $0 { error } else { nil } } }
    }
    var notices: [String] {
        events.withLock { $0.compactMap { if case .notice(let text) = $0 { text } else { nil } } }
    }
    func wait(seconds: Double, _ isWanted: (NodeEvent) -> Bool) -> Bool {
        events.wait(until: monotonicNanoseconds() + Int64(seconds * 1e9)) { $0.contains(where: isWanted) ? true : nil }
            ?? false
    }
    func waitForLost(seconds: Double) -> Bool { wait(seconds: seconds) { if case .lost = $0 { true } else { false } } }
    func waitForBack(seconds: Double) -> Bool { wait(seconds: seconds) { if case .back = $0 { true } else { false } } }
}

/// Makes a source as a patch would.
func makeSource(
    _ kind: String, _ options: [String: OptionValue] = [:], named name: String = "guest",
    bindings: [String: String] = [:], offline: Bool = true, events: SourceEvents = SourceEvents()
) throws -> any MediaSource {
    let found = try #require(MediaSources.kinds.first { $0.schema.kind == kind })
    guard case .source(let make) = found.factory else { throw TestProblem("\(kind) is no source") }
    return try make(
        NodeOptions(options),
        NodeEnvironment(
            nodeID: name, location: SourceLocation(file: "test.lua", line: 3), bindings: bindings, isOffline: offline,
            report: { events.add($0) }))
}

/// What an offline run of one source gave.
struct SourceRun {
    var format: SourceFormat
    /// The frame of each tick before the end.
    var frames: [Shown] = []
    /// Channel by channel.
    var sound: [[Float]] = []
    var ended = false

    struct Shown {
        var pts: MediaTime
        var format: VideoFormat
        var sequence: Int64
        /// As ffmpeg's framecrc prints it, of the tightly packed planes.
        var checksum: UInt32
    }

    /// Runs ticks at `rate` until the source ends, at most `limit`.
    init(_ source: any MediaSource, rate: FrameRate, limit: Int64, withSound: Bool = true) throws {
        format = try source.open()
        defer { source.stop() }
        try source.start()
        let audio = withSound ? format.audio : nil
        sound = audio.map { Array(repeating: [], count: $0.channels) } ?? []
        for index in 0..<limit {
            let tick = Tick(index: index, rate: rate, hostTime: monotonicNanoseconds(), isOffline: true)
            switch source.frame(at: tick) {
            case .frame(let frame):
                frames.append(
                    Shown(
                        pts: frame.pts, format: frame.format, sequence: frame.sequence, checksum: frame.checksum))
            case .waiting: break
            case .ended: ended = true
            }
            if let audio {
                let next = rate.time(ofFrame: index + 1).floored(to: 48_000)
                let count = Int(next - tick.time.floored(to: 48_000))
                let block = AudioBlock(format: audio, capacity: count)
                block.count = count
                _ = source.sound(at: tick, into: block)
                for channel in 0..<audio.channels {
                    sound[channel] += UnsafeBufferPointer(start: block.channel(channel), count: count)
                }
            }
            if ended { break }
        }
    }
}

extension Frame {
    /// Adler-32 from 0 of the planes without padding, as ffmpeg's framecrc prints it for raw video.
    var checksum: UInt32 {
        var (low, high): (UInt32, UInt32) = (0, 0)
        for index in 0..<format.pixelFormat.planeCount {
            let layout = format.pixelFormat.layout(ofPlane: index)
            let count = layout.width(of: width) * layout.bytesPerPixel
            for y in 0..<layout.height(of: height) {
                let row = UnsafeRawBufferPointer(start: plane(index).row(y), count: count)
                var offset = 0
                while offset < count {
                    let end = min(count, offset + 2048)
                    for position in offset..<end {
                        low &+= UInt32(row[position])
                        high &+= low
                    }
                    low %= 65521
                    high %= 65521
                    offset = end
                }
            }
        }
        return high << 16 | low
    }

    /// R, G, B, A of one pixel of an RGBA or BGRA frame.
    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let bytes = (0..<4).map { plane(0).row(y).load(fromByteOffset: 4 * x + $0, as: UInt8.self) }
        return format.pixelFormat == .bgra ? [bytes[2], bytes[1], bytes[0], bytes[3]] : bytes
    }
}

/// What ffmpeg itself decodes, in presentation order.
struct ReferenceFrame {
    var pts: Int64
    var size: Int
    var checksum: UInt32

    /// - Parameters:
    ///   - pixelFormat: converts first, when given.
    ///   - arguments: options before the input.
    static func all(
        of file: String, pixelFormat: String? = nil, before arguments: [String] = [], after: [String] = []
    ) throws -> [ReferenceFrame] {
        let outcome = try Program.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-noautorotate"] + arguments + [
                "-i", file, "-map", "0:v:0", "-fps_mode", "passthrough",
            ]
                + after + (pixelFormat.map { ["-pix_fmt", $0] } ?? []) + ["-f", "framecrc", "-"])
        return try outcome.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let fields = line.split(separator: ",").map { $0.drop { $0 == " " } }
            guard fields.count >= 6, let pts = Int64(fields[2]), let size = Int(fields[4]),
                let checksum = UInt32(fields[5].dropFirst(2), radix: 16)
            else { throw TestProblem("framecrc line: \(line)") }
            return ReferenceFrame(pts: pts, size: size, checksum: checksum)
        }
    }
}

/// Raw 32-bit float samples of a file as ffmpeg decodes and mixes them, channel by channel at 48 kHz.
func referenceSound(_ file: String, channels: Int) throws -> [[Float]] {
    let outcome = try Program.run(
        "ffmpeg",
        [
            "-v", "error", "-nostdin", "-i", file, "-map", "0:a:0", "-ac", "\(channels)", "-ar", "48000", "-f", "f32le",
            "-",
        ])
    let samples = outcome.output.withUnsafeBytes { bytes in
        (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
    }
    return (0..<channels).map { channel in
        stride(from: channel, to: samples.count, by: channels).map { samples[$0] }
    }
}

/// Makes a file with the ffmpeg program.
@discardableResult
func ffmpeg(_ arguments: [String]) throws -> ProgramOutcome {
    try Program.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments, timeout: 120)
}

/// The error that making or opening a source gives.
func failure(_ make: () throws -> any MediaSource) -> PatchError? {
    do {
        let source = try make()
        defer { source.stop() }
        _ = try source.open()
        return nil
    } catch {
        return error as? PatchError
    }
}
