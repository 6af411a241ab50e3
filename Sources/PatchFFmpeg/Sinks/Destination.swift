import PatchGraph
import PatchMedia

/// Where a publisher sends its stream, and in what form that place wants it.
struct Destination: Sendable {
    var container: Container
    var target: MuxTarget
    /// Options beside the target's when a broken connection is opened again.
    var retryOptions: [(String, String)] = []
    /// Players or servers expect a sound track even when there is no sound.
    var needsSoundTrack = false
    /// Sound must not begin before the picture: the encoder's first packet, which holds only its delay, is left out.
    var dropsEncoderDelay = false
    /// The send buffer of the socket can be chosen.
    var usesTCP = false
    /// HLS: the master playlist that lists this one.
    var master: String?
    /// HLS: seconds that stay listed; 0 keeps all.
    var window = 0.0

    /// What `url` may begin with.
    static let schemes = ["rtmp://", "rtmps://", "srt://", "udp://", "tcp://", "rtp://", "rtsp://"]

    /// - Parameters:
    ///   - window: seconds of HLS that stay listed; 0 keeps all.
    /// - Throws: `PatchError.usage` for a URL that no protocol here can serve. Never shows the secret part.
    init(_ url: Secret, window: Double, segments: String, caFile: String?, master: String? = nil) throws {
        let text = url.value
        guard let separator = text.range(ofCharacters: "://") else {
            let path = text.hasPrefix("file:") ? String(text.dropFirst(5)) : text
            guard path.lowercased().hasSuffix(".m3u8") else { throw Destination.unusable(url) }
            self = Destination.hls(path, shown: url.redacted, window: window, fragmented: segments == "fmp4")
            self.master = master
            if let master { try Rendition.check(path, in: master) }
            return
        }
        guard master == nil else {
            throw PatchError(.usage, "master is for HLS, not for '\(url.redacted)'", remedy: "leave it out")
        }
        let scheme = text[..<separator.lowerBound].lowercased()
        var authority = text[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        // "udp://@:port" and SRT's listener have no host.
        guard !authority.isEmpty else {
            throw PatchError(
                .usage, "'\(url.redacted)' names no host", remedy: "write \(scheme)://host:port/…")
        }
        if let port = authority.split(separator: ":", omittingEmptySubsequences: false).dropFirst().last,
            !authority.hasSuffix("]"), UInt16(port) == nil
        {
            throw PatchError(.usage, "'\(url.redacted)' has no valid port", remedy: "ports are 1 to 65535")
        }
        let mpegts = Container(muxer: "mpegts", videoCodecs: [.h264, .h265])
        switch scheme {
        case "rtmp", "rtmps":
            container = Container(
                muxer: "flv", videoCodecs: [.h264], options: [("flvflags", "no_duration_filesize")])
            // FFmpeg does not check certificates unless told to.
            if scheme == "rtmps" { container.options.append(("tls_verify", "1")) }
            if let caFile { container.options.append(("ca_file", caFile)) }
            needsSoundTrack = true
            usesTCP = true
        case "srt":
            container = mpegts
            container.options = [("connect_timeout", "5000"), ("pkt_size", "1316")]
        case "udp":
            container = mpegts
            container.options = [("pkt_size", "1316")]
        case "tcp":
            container = mpegts
            usesTCP = true
        case "rtp":
            container = mpegts
            container.muxer = "rtp_mpegts"
        case "rtsp":
            container = Container(
                muxer: "rtsp", videoCodecs: [.h264, .h265], options: [("rtsp_transport", "tcp")])
            // RTP receivers take the first packets of all streams as simultaneous until the first sender report.
            dropsEncoderDelay = true
        default: throw Destination.unusable(url)
        }
        target = MuxTarget(
            muxer: container.muxer, url: text, shown: url.redacted, options: container.options, isNetwork: true,
            isListener: scheme == "srt" && text.contains("mode=listener"))
    }

    /// The target of the first connection. Makes ready what lies on the disk.
    /// - Parameters:
    ///   - bitrate: bits a second of the stream.
    ///   - group: seconds from one keyframe to the next.
    /// - Throws: `PatchError.output` when a folder cannot be made.
    func opened(bitrate: Int, group: Double) throws -> MuxTarget {
        var target = target
        if target.muxer == "hls" {
            try makeFolder(forOutput: target.url)
            target.options += cutting(group) + (HLSPlaylist(target.url)?.succeeded(by: self) ?? [])
        }
        // A socket that holds half a second hides no more from the queue, which knows what to drop.
        if usesTCP { target.options.append(("send_buffer_size", "\(max(131_072, bitrate / 16))")) }
        return target
    }

    init(container: Container, target: MuxTarget) {
        self.container = container
        self.target = target
    }

    private static func unusable(_ url: Secret) -> PatchError {
        PatchError(
            .usage, "cannot publish to '\(url.redacted)'",
            remedy: "use \(schemes.joined(separator: ", ")), or a path that ends in .m3u8; recorder writes other files")
    }
}

extension String {
    /// The first occurrence of a short text, without Foundation.
    fileprivate func range(ofCharacters wanted: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(wanted) { return start..<index(start, offsetBy: wanted.count) }
            start = index(after: start)
        }
        return nil
    }
}
