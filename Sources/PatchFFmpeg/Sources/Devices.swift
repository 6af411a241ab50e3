internal import CFFmpeg
import Glibc
import PatchMedia

/// A camera, display or microphone of this machine.
///
/// Thread-safety: a value.
public struct DeviceDescription: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable { case camera, display, microphone }
    public var kind: Kind
    /// What `device=` or `display=` takes: `/dev/video0`, `:0`.
    public var name: String
    /// The maker's words.
    public var title: String
    /// For cameras: pixel formats with sizes and rates, such as `YUYV 640x480 30, 15`.
    public var formats: [String]
}

/// What is connected to this machine.
///
/// Thread-safety: all members may be called from any thread.
public enum Devices {
    /// Cameras in the order of their numbers, then X displays, then microphones. Opens cameras for a moment.
    public static func list() -> [DeviceDescription] { cameras() + displays() + microphones() }

    static func cameras() -> [DeviceDescription] {
        numbers(in: "/dev", prefix: "video").compactMap { number in
            let path = "/dev/video\(number)"
            guard let title = title(of: path) else { return nil }
            return DeviceDescription(kind: .camera, name: path, title: title, formats: modes(of: path))
        }
    }

    static func displays() -> [DeviceDescription] {
        numbers(in: "/tmp/.X11-unix", prefix: "X").map {
            DeviceDescription(kind: .display, name: ":\($0)", title: "X11 display", formats: [])
        }
    }

    /// PulseAudio's sources, then ALSA's capture devices.
    static func microphones() -> [DeviceDescription] { (hasPulseServer ? pulseSources() : []) + alsaDevices() }

    /// Whether a PulseAudio server (or PipeWire's stand-in) can be asked.
    static var hasPulseServer: Bool {
        if getenv("PULSE_SERVER") != nil { return true }
        let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/run/user/\(getuid())"
        return access(folder + "/pulse/native", F_OK) == 0
    }

    /// The sources of the PulseAudio server (avdevice_list_input_sources); monitors of outputs are among them.
    private static func pulseSources() -> [DeviceDescription] {
        FFmpegLog.silence()
        avdevice_register_all()
        var list: UnsafeMutablePointer<AVDeviceInfoList>?
        guard avdevice_list_input_sources(av_find_input_format("pulse"), nil, nil, &list) >= 0, let found = list else {
            return []
        }
        defer { avdevice_free_list_devices(&list) }
        return (0..<Int(found.pointee.nb_devices)).compactMap { index in
            guard let device = found.pointee.devices[index], let name = device.pointee.device_name else { return nil }
            return DeviceDescription(
                kind: .microphone, name: String(cString: name),
                title: device.pointee.device_description.map { String(cString: $0) } ?? "", formats: [])
        }
    }

    /// As the kernel lists them.
    private static func alsaDevices() -> [DeviceDescription] {
        guard let text = contents(of: "/proc/asound/pcm") else { return [] }
        // 00-00: ALC257 Analog : ALC257 Analog : playback 1 : capture 1
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":").map { trim($0) }
            guard fields.count >= 3, fields.contains(where: { $0.hasPrefix("capture") }) else { return nil }
            let numbers = fields[0].split(separator: "-").compactMap { Int($0) }
            guard numbers.count == 2 else { return nil }
            return DeviceDescription(
                kind: .microphone, name: "hw:\(numbers[0]),\(numbers[1])", title: fields[1], formats: [])
        }
    }

    /// The four-letter names of a camera's pixel formats.
    static func formats(of path: String) -> [String] {
        withDevice(path) { descriptor in
            var names: [String] = []
            var format = v4l2_fmtdesc()
            while patch_v4l2_format(descriptor, UInt32(names.count), &format) == 0, names.count < 64 {
                names.append(fourLetters(format.pixelformat))
            }
            return names
        } ?? []
    }

    /// nil when the device does not capture pictures: many cameras have a second node for metadata.
    private static func title(of path: String) -> String? {
        withDevice(path) { descriptor in
            var capability = v4l2_capability()
            guard patch_v4l2_capability(descriptor, &capability) == 0 else { return nil }
            let flags =
                capability.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0
                ? capability.device_caps : capability.capabilities
            guard flags & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0 else { return nil }
            return withUnsafeBytes(of: capability.card) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
    }

    private static func modes(of path: String) -> [String] {
        withDevice(path) { descriptor in
            var lines: [String] = []
            var format = v4l2_fmtdesc()
            var index: UInt32 = 0
            while index < 64, patch_v4l2_format(descriptor, index, &format) == 0 {
                index += 1
                var size: UInt32 = 0
                var (width, height): (UInt32, UInt32) = (0, 0)
                while size < 64, patch_v4l2_size(descriptor, format.pixelformat, size, &width, &height) == 0 {
                    size += 1
                    var rates: [String] = []
                    var (numerator, denominator): (UInt32, UInt32) = (0, 0)
                    while rates.count < 16,
                        patch_v4l2_rate(
                            descriptor, format.pixelformat, width, height, UInt32(rates.count), &numerator, &denominator
                        )
                            == 0, numerator > 0, denominator > 0
                    {
                        rates.append("\(FrameRate(Int64(denominator), over: Int64(numerator)))")
                    }
                    lines.append(
                        "\(fourLetters(format.pixelformat)) \(width)x\(height) \(rates.joined(separator: ", "))")
                }
            }
            return lines
        } ?? []
    }

    private static func withDevice<R>(_ path: String, _ body: (Int32) -> R?) -> R? {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return body(descriptor)
    }

    private static func fourLetters(_ code: UInt32) -> String {
        String(decoding: (0..<4).map { UInt8(truncatingIfNeeded: code >> (8 * $0)) }, as: UTF8.self)
    }

    /// The numbers n of entries `prefix` + n in a folder, in order.
    private static func numbers(in folder: String, prefix: String) -> [Int] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)) { numbers.append(number) }
        }
        return numbers.sorted()
    }

    private static func contents(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func trim(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
