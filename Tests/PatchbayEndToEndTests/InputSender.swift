import Glibc
import PatchTesting

/// An ffmpeg program that sends a bright moving picture and a tone to one input, well or badly.
final class InputSender {
    enum Way: String, CaseIterable { case srt, rtmp, pipe }
    enum Manner {
        case well
        /// At half the speed of the clock.
        case slowly
        /// One byte in 2000 is wrong: of each packet, or, through the pipe, of everything.
        case corruptly
        /// Another size, pixel format, frame rate, sample rate and number of channels.
        case otherwise
    }
    let way: Way
    private let target: String
    private var program: Program?

    init(_ way: Way, to target: String) {
        self.way = way
        self.target = target
    }

    /// Ends the sender that runs and starts another one.
    func start(_ manner: Manner = .well) throws {
        stop()
        let isOther = manner == .otherwise
        let pace = ["-readrate", manner == .slowly ? "0.5" : "1", "-f", "lavfi", "-i"]
        var arguments = ["-v", "error", "-nostdin"]
        arguments += pace + ["testsrc2=size=\(isOther ? "192x108" : "160x90"):rate=\(isOther ? 30 : 25)"]
        arguments += pace + ["sine=frequency=500:sample_rate=\(isOther ? 44_100 : 48_000)"]
        arguments += ["-vf", "lutyuv=y=128+val/2", "-pix_fmt", isOther ? "yuv422p" : "yuv420p"]
        arguments += ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "12", "-threads", "1"]
        arguments += ["-c:a", way == .rtmp ? "aac" : "mp2", "-ac", isOther ? "2" : "1"]
        if manner == .corruptly, way != .pipe {
            arguments += ["-bsf:v", "noise=amount=2000", "-bsf:a", "noise=amount=2000"]
        }
        arguments += ["-flush_packets", "1", "-y", "-f", way == .rtmp ? "flv" : "mpegts"]
        guard manner == .corruptly, way == .pipe else {
            program = try Program("ffmpeg", arguments + [target])
            return
        }
        program = try Program(
            "sh", ["-c", #"ffmpeg "$@" - | python3 -c "$FLIP" > "$TARGET""#, "sh"] + arguments,
            environment: ["FLIP": Self.flip, "TARGET": target])
    }

    func stop() {
        program?.signal(SIGCONT)
        program?.signal(SIGKILL)
        _ = try? program?.waitForEnd(within: 5)
        program = nil
    }
    func pause() { program?.signal(SIGSTOP) }
    func resume() { program?.signal(SIGCONT) }
    deinit { stop() }

    private static let flip = """
        import os, random
        random.seed(1)
        while data := bytearray(os.read(0, 8192)):
            for _ in range(len(data) // 2000 + (random.random() < len(data) % 2000 / 2000)):
                data[random.randrange(len(data))] ^= random.randrange(1, 256)
            os.write(1, data)
        """
}
