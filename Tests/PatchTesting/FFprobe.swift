import Foundation

/// What ffprobe says of a file or stream: an opinion of a media file that is not ours.
public enum FFprobe {
    public struct Stream: Decodable, Sendable {
        public var index: Int
        public var codec_type: String
        public var codec_name: String?
        public var profile: String?
        public var pix_fmt: String?
        public var width: Int?
        public var height: Int?
        public var r_frame_rate: String?
        public var avg_frame_rate: String?
        public var time_base: String?
        public var color_space: String?
        public var color_range: String?
        public var sample_rate: String?
        public var channels: Int?
        public var nb_read_packets: String?
        public var nb_read_frames: String?
        public var duration: String?
        public var bit_rate: String?
    }
    public struct Container: Decodable, Sendable {
        public var format_name: String?
        public var duration: String?
        public var nb_streams: Int?
        public var bit_rate: String?
    }
    public struct Report: Decodable, Sendable {
        public var streams: [Stream]
        public var format: Container?

        public var video: Stream? { streams.first { $0.codec_type == "video" } }
        public var audio: Stream? { streams.first { $0.codec_type == "audio" } }
    }
    /// A packet or frame of one stream; times in seconds, nil where unknown.
    public struct Moment: Sendable {
        public var pts: Double?
        public var duration: Double?
        public var isKey: Bool
    }

    /// Streams and container.
    /// - Parameter counting: decodes everything, so that `nb_read_frames` is known.
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
                var pts_time: String?
                var best_effort_timestamp_time: String?
                var duration_time: String?
                var pkt_duration_time: String?
                var key_frame: Int?
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
                pts: ($0.pts_time ?? $0.best_effort_timestamp_time).flatMap(Double.init),
                duration: ($0.duration_time ?? $0.pkt_duration_time).flatMap(Double.init), isKey: $0.key_frame == 1)
        }
    }

    /// The packets of a stream in file order, not decoded.
    public static func packets(
        _ url: String, stream: String = "v:0", seconds: Double? = nil, timeout: Double = 60
    ) throws -> [Moment] {
        struct Answer: Decodable {
            struct Entry: Decodable {
                var pts_time: String?
                var duration_time: String?
                var flags: String?
            }
            var packets: [Entry]
        }
        var arguments = ["-v", "error", "-of", "json", "-select_streams", stream, "-show_packets"]
        arguments += ["-show_entries", "packet=pts_time,duration_time,flags"]
        if let seconds { arguments += ["-read_intervals", "%+\(seconds)"] }
        return try decode(run(arguments, url, timeout), as: Answer.self).packets.map {
            Moment(
                pts: $0.pts_time.flatMap(Double.init), duration: $0.duration_time.flatMap(Double.init),
                isKey: $0.flags?.contains("K") ?? false)
        }
    }

    private static func run(_ arguments: [String], _ url: String, _ timeout: Double) throws -> ProgramOutcome {
        // A live stream has no index to tell its codecs: without a limit ffprobe reads for five seconds to be sure.
        let isLive = ["rtmp:", "srt:", "udp:", "rtsp:", "tcp:"].contains { url.hasPrefix($0) }
        return try Program.run(
            "ffprobe", (isLive ? ["-analyzeduration", "1M"] : []) + arguments + [url], timeout: timeout)
    }

    private static func decode<T: Decodable>(_ outcome: ProgramOutcome, as type: T.Type) throws -> T {
        do {
            return try JSONDecoder().decode(type, from: Data(outcome.output))
        } catch {
            throw TestProblem("ffprobe's answer cannot be read: \(error)\n\(outcome.text.prefix(2000))")
        }
    }
}
