import Glibc
import PatchMedia

extension Destination {
    /// An HLS playlist with its segments beside it.
    /// - Parameter window: seconds that stay listed and on the disk; 0 keeps all.
    static func hls(
        _ path: String, shown: String, keyframeInterval: Double, window: Double, fragmented: Bool
    ) -> Destination {
        let base = String(path.dropLast(5))
        let name = base.split(separator: "/").last.map(String.init) ?? base
        // FFmpeg numbers segments by a printf pattern, in which a percent sign of the path must be doubled.
        let pattern = base.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
        var flags = "independent_segments+temp_file"
        // Every keyframe starts a segment: a little less than the interval leaves no room for rounding.
        var options = [
            ("hls_time", "\(keyframeInterval * 0.9)"), ("hls_segment_type", fragmented ? "fmp4" : "mpegts"),
            ("hls_segment_filename", "\(pattern)-%05d.\(fragmented ? "m4s" : "ts")"),
            ("hls_fmp4_init_filename", "\(name)-init.mp4"),
        ]
        if window > 0 {
            flags += "+delete_segments"
            options.append(("hls_list_size", "\(max(2, Int((window / keyframeInterval).rounded(.up))))"))
        } else {
            options += [("hls_list_size", "0"), ("hls_playlist_type", "event")]
        }
        let container = Container(
            muxer: "hls", videoCodecs: fragmented ? [.h264, .h265, .av1] : [.h264, .h265], audioCodec: .aac)
        var destination = Destination(
            container: container,
            target: MuxTarget(muxer: "hls", url: path, shown: shown, options: options + [("hls_flags", flags)]))
        // FFmpeg marks the discontinuity where it goes on in a list.
        destination.retryOptions = [("hls_flags", flags + "+append_list")]
        destination.needsSoundTrack = true
        return destination
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
        if !isFinished, !isFragmented { return destination.retryOptions }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let name = path.dropFirst(folder.count).dropLast(5)
        for segment in segments where segment.hasPrefix(name + "-") { unlink(folder + segment) }
        return isFinished ? [] : [("start_number", "\(sequence + segments.count)")]
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
