import Glibc
import PatchMedia

extension Destination {
    /// An HLS playlist with its segments beside it.
    /// - Parameter window: seconds that stay listed; 0 keeps all.
    static func hls(_ path: String, shown: String, window: Double, fragmented: Bool) -> Destination {
        let base = String(path.dropLast(5))
        let name = base.split(separator: "/").last.map(String.init) ?? base
        // FFmpeg numbers segments by a printf pattern, in which a percent sign of the path must be doubled.
        let pattern = base.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
        let flags = "independent_segments+temp_file" + (window > 0 ? "+delete_segments" : "")
        var options = [
            ("hls_segment_type", fragmented ? "fmp4" : "mpegts"),
            ("hls_segment_filename", "\(pattern)-%05d.\(fragmented ? "m4s" : "ts")"),
            ("hls_fmp4_init_filename", "\(name)-init.mp4"), ("hls_flags", flags),
        ]
        if window <= 0 { options += [("hls_list_size", "0"), ("hls_playlist_type", "event")] }
        let container = Container(
            muxer: "hls", videoCodecs: fragmented ? [.h264, .h265, .av1] : [.h264, .h265])
        var destination = Destination(
            container: container, target: MuxTarget(muxer: "hls", url: path, shown: shown, options: options))
        destination.window = window
        // FFmpeg marks the discontinuity where it goes on in a list.
        destination.retryOptions = [("hls_flags", flags + "+append_list")]
        destination.needsSoundTrack = true
        return destination
    }

    /// How segments are cut and how many are listed, for groups of pictures of so many seconds.
    func cutting(_ group: Double) -> [(String, String)] {
        let segment = HLSSegment(group)
        var options = [("hls_time", segment.time)]
        if window > 0 {
            let count = segment.count(in: window)
            // Who was just told of a segment may still fetch it for as long as the list is (RFC 8216, 6.2.2).
            options += [("hls_list_size", "\(count)"), ("hls_delete_threshold", "\(count)")]
        }
        return options
    }
}

/// How groups of pictures become segments.
///
/// FFmpeg 5.1 rounds half a second to the even number where it states the target duration, so that segments of 0.5 s would get
/// the duration 0, and those of 2.5 s one that is too short: then two or more groups make a segment.
/// A value.
struct HLSSegment: Sendable {
    /// Seconds.
    let duration: Double
    /// What FFmpeg will state, in seconds.
    let target: Double
    /// `hls_time`: after how many seconds a keyframe begins the next segment.
    let time: String

    /// - Parameter group: seconds from one keyframe to the next.
    init(_ group: Double) {
        var groups = 1.0
        while (groups * group).rounded(.toNearestOrEven) < max(1, (groups * group).rounded()) { groups += 1 }
        duration = groups * group
        target = duration.rounded(.toNearestOrEven)
        // Each keyframe cuts, also one that was asked for between two others; or each second, third, … one, less 20 µs for the
        // rounding of time stamps.
        time = groups == 1 ? "0.001" : "\(duration - 0.00002)"
    }

    /// Segments that are listed; a list has at least three target durations (RFC 8216, 6.2.2).
    func count(in window: Double) -> Int {
        Int((max(window, 3 * target) / duration - 0.001).rounded(.up))
    }
}

/// What an earlier run left of a playlist.
///
/// A value.
struct HLSPlaylist: Sendable {
    private let path: String
    /// The files of the listed segments, beside the playlist.
    let segments: [String]
    /// The number of the first one.
    let sequence: Int
    /// Nothing was to come any more.
    let isFinished: Bool

    /// nil when there is no playlist.
    init?(_ path: String) {
        guard let text = HLSPlaylist.read(path), text.hasPrefix("#EXTM3U") else { return nil }
        self.path = path
        let lines = text.split(separator: "\n")
        segments = lines.filter { !$0.hasPrefix("#") && !$0.contains("/") }.map(String.init)
        let tag = "#EXT-X-MEDIA-SEQUENCE:"
        sequence = lines.first { $0.hasPrefix(tag) }.flatMap { Int($0.dropFirst(tag.count)) } ?? 0
        isFinished = lines.contains("#EXT-X-ENDLIST")
    }

    /// What a new run sets so that players of an unfinished playlist can follow: MPEG-TS goes on in the list, after a mark of
    /// discontinuity; fMP4, whose header may differ, begins a new list with the next number. What is not listed any more
    /// is taken off the disk.
    func succeeded(by destination: Destination) -> [(String, String)] {
        let isFragmented = destination.target.options.contains { $0 == ("hls_segment_type", "fmp4") }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let name = path.dropFirst(folder.count).dropLast(5)
        removeFiles(before: sequence, "\(folder)\(name)-", isFragmented ? ".m4s" : ".ts")
        if !isFinished, !isFragmented { return destination.retryOptions }
        for segment in segments where segment.hasPrefix(name + "-") { unlink(folder + segment) }
        return isFinished ? [] : [("start_number", "\(sequence + segments.count)")]
    }

    /// Takes off the disk what was kept for those who read slowly.
    private func removeFiles(before number: Int, _ prefix: String, _ suffix: String) {
        var number = number - 1
        while number >= 0 {
            let digits = "\(number)"
            let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
            guard unlink(prefix + padded + suffix) == 0 else { return }
            number -= 1
        }
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
