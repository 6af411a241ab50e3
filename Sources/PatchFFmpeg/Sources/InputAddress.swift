internal import CFFmpeg
import Glibc
import PatchGraph
import PatchMedia

/// Where a source reads from, and with which of FFmpeg's options.
struct InputAddress: Sendable {
    enum Kind: Sendable { case file, stream, camera, screen, microphone }

    var kind: Kind
    /// The path, URL, device or display as FFmpeg wants it, and as people may see it.
    var name: Secret
    /// The name is that of a named pipe.
    var isPipe = false
    /// The demuxer's name, when it must not be guessed.
    var demuxer: String?
    var options: [(name: String, value: String)] = []
    /// Options of the picture's decoder.
    var decoderOptions: [(String, String)] = []
    /// How long opening, and later the wait for one packet, may take, in nanoseconds; nil for files.
    var timeout: Int64?

    /// Frames come by the world's clock.
    var isLive: Bool { kind != .file }
    /// A URL with a key inside: FFmpeg's own words could show it.
    var isSecret: Bool { name.value != name.redacted && kind != .file || shown != name.redacted }
    /// For messages.
    var shown: String { Self.withoutPassword(name.redacted) }

    /// `user:password@` becomes `user:***@`.
    static func withoutPassword(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return url
        }
        return url[..<colon] + ":***" + url[at...]
    }
}

extension InputAddress {
    /// A file, checked for what FFmpeg would only say in riddles.
    /// - Throws: `PatchError` when there is no such file, or nothing in it.
    static func file(_ path: String) throws -> InputAddress {
        try checkFile(path)
        // With the protocol in front, no name is taken for a URL.
        var address = InputAddress(kind: .file, name: Secret(value: "file:" + path, redacted: path))
        // Nor is a % in an image's name taken for a numbered series.
        // Tracks whose beginning lies far inside are still found; reading stops as soon as all are known.
        address.options = [("pattern_type", "none"), ("probesize", "50000000"), ("analyzeduration", "60000000")]
        return address
    }

    /// A named pipe that somebody else writes: live, and opened again when the writer is gone.
    static func pipe(_ path: String) -> InputAddress {
        var address = InputAddress(kind: .stream, name: Secret(value: path, redacted: path))
        address.isPipe = true
        address.timeout = defaultTimeout
        address.options = [("analyzeduration", "1000000")]
        return address
    }

    /// Whether a path names a pipe.
    static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    static func checkFile(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let reason = errno
            throw PatchError(
                .notFound, reason == ENOENT ? "file '\(path)' does not exist" : "file '\(path)' cannot be opened",
                remedy: reason == EACCES ? "make it readable" : "check the path",
                cause: String(cString: strerror(reason)))
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw PatchError(.media, "'\(path)' is a folder, not a media file", remedy: "name a file in it")
        }
        if status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 {
            throw PatchError(.media, "file '\(path)' is empty (0 bytes)", remedy: "replace it with a complete file")
        }
        guard access(path, R_OK) == 0 else {
            throw PatchError(
                .notFound, "file '\(path)' cannot be read", remedy: "make it readable",
                cause: String(cString: strerror(errno)))
        }
    }

    /// A file behind a URL that is read like one: looped, started anywhere, every frame.
    static func remoteFile(_ url: Secret) throws -> InputAddress {
        try checkScheme(url)
        var address = InputAddress(kind: .file, name: url)
        address.timeout = defaultTimeout
        address.options = [("protocol_whitelist", networkProtocols), ("reconnect", "1"), ("reconnect_streamed", "1")]
        return address
    }

    /// A live stream.
    /// - Parameter timeout: seconds; nil is 10.
    /// - Throws: `PatchError` when FFmpeg knows no such protocol, or a script may not use it.
    static func stream(_ url: Secret, timeout: Double? = nil) throws -> InputAddress {
        let scheme = try checkScheme(url)
        var address = InputAddress(kind: .stream, name: url)
        address.timeout = timeout.map { Int64($0 * 1e9) } ?? defaultTimeout
        // A second is enough to know the tracks; FFmpeg's 5 s would delay each start.
        address.options = [("protocol_whitelist", networkProtocols), ("analyzeduration", "1000000")]
        switch scheme {
        case "rtsp", "rtsps": address.options.append(("rtsp_flags", "prefer_tcp"))
        case "rtmp", "rtmps", "rtmpt", "rtmpe": address.options.append(("rtmp_live", "live"))
        // 4 MB between two reads, or the kernel drops packets of a key frame.
        case "udp", "rtp": address.options += [("buffer_size", "4194304"), ("overrun_nonfatal", "1")]
        default: break
        }
        return address
    }

    /// Protocols that an untrusted script may open: none that reads this machine's files.
    private static let schemes: Set<String> = [
        "http", "https", "rtmp", "rtmps", "rtmpt", "rtmpe", "rtsp", "rtsps", "srt", "udp", "rtp", "tcp", "tls",
    ]
    private static let networkProtocols =
        "http,https,httpproxy,tcp,tls,crypto,data,rtmp,rtmps,rtmpt,rtmpts,rtmpe,rtmpte,ffrtmphttp,ffrtmpcrypt,"
        + "rtp,srtp,udp,udplite,srt"
    private static let defaultTimeout: Int64 = 10_000_000_000

    @discardableResult
    private static func checkScheme(_ url: Secret) throws -> String {
        let shown = withoutPassword(url.redacted)
        guard let end = url.value.firstRange(of: "://") else {
            throw PatchError(
                .usage, "'\(shown)' is not a URL", remedy: "write PROTOCOL://HOST/…, or use file= for a file")
        }
        let scheme = url.value[..<end.lowerBound].lowercased()
        guard schemes.contains(scheme) else {
            throw PatchError(
                .usage, "'\(shown)': protocol '\(scheme)' cannot be read here",
                remedy: "use one of \(schemes.sorted().joined(separator: ", "))"
                    + (scheme == "file" ? ", or file= for a file below the graph's folder" : ""))
        }
        return scheme
    }
}

extension InputAddress {
    /// Turns a code of avformat_open_input, avformat_find_stream_info or av_read_frame into words.
    func error(_ code: Int32, deadline: InterruptDeadline, doing what: String = "open") -> PatchError {
        let seconds = (timeout ?? 0) / 1_000_000_000
        let cause = isSecret ? AVError.text(code) : FFmpegLog.lastLine ?? AVError.text(code)
        if code == AVError.exit || AVError.isErrno(code, ETIMEDOUT), deadline.hasExpired || !deadline.isCancelled {
            return PatchError(
                .network, "'\(shown)' did not deliver anything for \(seconds) s",
                remedy: "check the address and that the sender is running", cause: AVError.text(code))
        }
        switch kind {
        case .camera:
            return PatchError(
                .notFound, "camera '\(shown)' cannot be used",
                remedy: AVError.isErrno(code, EBUSY)
                    ? "close the program that uses it"
                    : AVError.isErrno(code, EACCES)
                        ? "add the user to group 'video'" : "see `patchbay devices` for cameras, sizes and rates",
                cause: cause)
        case .microphone:
            return PatchError(
                .notFound, "microphone '\(shown)' cannot be used",
                remedy: AVError.isErrno(code, EBUSY)
                    ? "close the program that uses it"
                    : "see `patchbay devices` for microphones; system = \"alsa\" or \"pulse\" chooses who is asked",
                cause: cause)
        case .screen:
            return PatchError(
                .notFound, "X display '\(shown)' cannot be captured",
                remedy: "check display= and that an X server runs there; see `patchbay devices`", cause: cause)
        case .stream:
            return PatchError(
                .network, "stream '\(shown)' cannot be \(what == "open" ? "opened" : "read")",
                remedy: "check the address, the network, and that the sender is running", cause: cause)
        case .file where timeout != nil:
            return PatchError(
                .network, "'\(shown)' cannot be \(what == "open" ? "opened" : "read")", remedy: "check the address",
                cause: cause)
        case .file:
            return PatchError(
                .media, "'\(shown)' is not a picture, film or sound that can be read",
                remedy: "check it with `ffprobe`, or export it again", cause: cause)
        }
    }
}
