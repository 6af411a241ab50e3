import Foundation

/// What ffprobe says of a file or stream: an opinion of a media file that is not ours.
public enum FFprobe {
    public struct Stream: Decodable, Sendable {
        public var index: Int
        public var codecType: String
        public var codecName: String?
        public var profile: String?
        public var pixFmt: String?
        public var width: Int?
        public var height: Int?
        public var rFrameRate: String?
        public var avgFrameRate: String?
        public var timeBase: String?
        public var colorSpace: String?
        public var colorRange: String?
        public var sampleRate: String?
        public var channels: Int?
        public var nbReadPackets: String?
        public var nbReadFrames: String?
        public var duration: String?
        public var bitRate: String?
    }
    public struct Container: Decodable, Sendable {
        public var formatName: String?
        public var duration: String?
        public var nbStreams: Int?
        public var bitRate: String?
    }
    public struct Report: Decodable, Sendable {
        public var streams: [Stream]
        public var format: Container?

        public var video: Stream? { streams.first { $0.codecType == "video" } }
        public var audio: Stream? { streams.first { $0.codecType == "audio" } }
    }
    /// A packet or frame of one stream; times in seconds, nil where unknown.
    public struct Moment: Sendable {
        public var pts: Double?
        public var duration: Double?
        public var isKey: Bool
    }

    /// Streams and container.
    /// - Parameter counting: decodes everything, so that `nbReadFrames` is known.
    /// - Throws: `TestProblem` when ffprobe cannot read it.
    public static func report(_ url: String, counting: Bool = false, timeout: Double = 60) throws -> Report {
        var arguments = ["-v", "error", "-of", "json", "-show_streams", "-show_format"]
        if counting { arguments += ["-count_frames", "-count_packets"] }
        return try decode(run(arguments, url, timeout), as: Report.self)
    }

    /// The frames of a stream in presentation order, decoded.
    /// - Parameters:
    ///   - stream: "v:0", "a:0", …
    ///   - seconds: how much to read, from the first packet on; nil reads to the end (a live stream has none).
    public static func frames(
        _ url: String, stream: String = "v:0", seconds: Double? = nil, timeout: Double = 60
    ) throws -> [Moment] {
        struct Answer: Decodable {
            struct Entry: Decodable {
                var ptsTime: String?
                var bestEffortTimestampTime: String?
                var durationTime: String?
                var pktDurationTime: String?
                var keyFrame: Int?
            }
            var frames: [Entry]
        }
        var arguments = ["-v", "error", "-of", "json", "-select_streams", stream, "-show_frames"]
        arguments += [
            "-show_entries",
            "frame=pts_time,best_effort_timestamp_time,duration_time,pkt_duration_time,key_frame",
        ]
        if let seconds { arguments += ["-read_intervals", "%+\(seconds)"] }
        return try decode(run(arguments, url, timeout), as: Answer.self).frames.map {
            Moment(
                pts: ($0.ptsTime ?? $0.bestEffortTimestampTime).flatMap(Double.init),
                duration: ($0.durationTime ?? $0.pktDurationTime).flatMap(Double.init), isKey: $0.keyFrame == 1)
        }
    }

    /// The packets of a stream in file order, not decoded.
    public static func packets(
        _ url: String, stream: String = "v:0", seconds: Double? = nil, timeout: Double = 60
    ) throws -> [Moment] {
        struct Answer: Decodable {
            struct Entry: Decodable {
                var ptsTime: String?
                var durationTime: String?
                var flags: String?
            }
            var packets: [Entry]
        }
        var arguments = ["-v", "error", "-of", "json", "-select_streams", stream, "-show_packets"]
        arguments += ["-show_entries", "packet=pts_time,duration_time,flags"]
        if let seconds { arguments += ["-read_intervals", "%+\(seconds)"] }
        return try decode(run(arguments, url, timeout), as: Answer.self).packets.map {
            Moment(
                pts: $0.ptsTime.flatMap(Double.init), duration: $0.durationTime.flatMap(Double.init),
                isKey: $0.flags?.contains("K") ?? false)
        }
    }

    private static func run(_ arguments: [String], _ url: String, _ timeout: Double) throws -> ProgramOutcome {
        // A live stream has no index to tell its codecs: without a limit ffprobe reads for five seconds to be sure. A
        // keyframe comes every two.
        let isLive = ["rtmp:", "srt:", "udp:", "rtsp:", "tcp:"].contains { url.hasPrefix($0) }
        return try Program.run(
            "ffprobe", (isLive ? ["-analyzeduration", "3M"] : []) + arguments + [url], timeout: timeout)
    }

    private static func decode<T: Decodable>(_ outcome: ProgramOutcome, as type: T.Type) throws -> T {
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return try decoder.decode(type, from: Data(outcome.output))
        } catch {
            throw TestProblem("ffprobe's answer cannot be read: \(error)\n\(outcome.text.prefix(2000))")
        }
    }
}
