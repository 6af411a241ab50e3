internal import CFFmpeg
import Glibc
import PatchGraph
import PatchMedia

extension InputAddress {
    /// A V4L2 camera.
    /// - Parameter device: nil is the first that captures pictures.
    /// - Throws: `PatchError` when there is none, or no such one.
    static func camera(_ device: String?, size: (width: Int, height: Int)?, fps: Double?) throws -> InputAddress {
        guard let path = device ?? Devices.list().first(where: { $0.kind == .camera })?.name else {
            throw PatchError(
                .notFound, "no camera found (/dev/video*)",
                remedy: "connect one, or use input{} with --bind, video{} or testPattern{}")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw PatchError(
                .notFound, "camera '\(path)' does not exist",
                remedy: "see `patchbay devices`; without a camera use input{} with --bind, video{} or testPattern{}",
                cause: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFCHR else {
            throw PatchError(
                .notFound, "'\(path)' is not a camera", remedy: "see `patchbay devices`, or use video{ file = … }")
        }
        var address = InputAddress(kind: .camera, name: Secret(value: path, redacted: path))
        address.demuxer = "video4linux2"
        address.timeout = 10_000_000_000
        if let size { address.options.append(("video_size", "\(size.width)x\(size.height)")) }
        if let fps { address.options.append(("framerate", rateText(fps))) }
        // Larger pictures pass USB at full rate only when compressed.
        if let size, size.width * size.height > 640 * 480, Devices.formats(of: path).contains("MJPG") {
            address.options.append(("input_format", "mjpeg"))
        }
        return address
    }

    /// An X11 display (x11grab).
    /// - Parameters:
    ///   - display: nil is `$DISPLAY`.
    ///   - region: x, y, width, height; nil is the whole screen.
    static func screen(_ display: String?, region: [Double]?, fps: Double?, cursor: Bool) throws -> InputAddress {
        guard let name = display ?? getenv("DISPLAY").map({ String(cString: $0) }), !name.isEmpty else {
            throw PatchError(
                .notFound, "no X display to capture", remedy: "name one, such as display = \":0\", or set $DISPLAY")
        }
        var address = InputAddress(kind: .screen, name: Secret(value: name, redacted: name))
        address.demuxer = "x11grab"
        address.timeout = 10_000_000_000
        address.options = [("framerate", rateText(fps ?? 30)), ("draw_mouse", cursor ? "1" : "0")]
        if let region {
            let whole = region.compactMap { Int(exactly: $0) }
            guard whole.count == 4, whole[0] >= 0, whole[1] >= 0, whole[2] > 0, whole[3] > 0,
                max(whole[2], whole[3]) <= VideoFormat.maximumSide
            else {
                throw PatchError(
                    .usage, "region must be four whole numbers, not \(region)",
                    remedy: "write region = {x, y, width, height} with a size of at least 1x1")
            }
            address.options += [
                ("grab_x", "\(whole[0])"), ("grab_y", "\(whole[1])"), ("video_size", "\(whole[2])x\(whole[3])"),
            ]
        }
        return address
    }

    /// A microphone or line input.
    /// - Parameters:
    ///   - device: ALSA's or PulseAudio's name; nil is the default one.
    ///   - system: "alsa", "pulse"; nil is PulseAudio where a server runs, else ALSA.
    ///   - channels: to ask for.
    static func microphone(_ device: String?, system: String?, channels: Int) -> InputAddress {
        let system = system ?? (Devices.hasPulseServer ? "pulse" : "alsa")
        let name = device ?? "default"
        var address = InputAddress(kind: .microphone, name: Secret(value: name, redacted: name))
        address.demuxer = system
        address.timeout = 10_000_000_000
        address.options = [("sample_rate", "48000"), ("channels", "\(channels)")]
        // The server would else collect two seconds before it hands the first samples over: 10 ms of floats or 16-bit.
        if system == "pulse" { address.options.append(("fragment_size", "\(480 * 2 * channels)")) }
        return address
    }

    private static func rateText(_ fps: Double) -> String {
        FrameRate(approximating: fps).map { "\($0.numerator)/\($0.denominator)" } ?? "30"
    }
}
