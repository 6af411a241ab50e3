import Foundation
import PatchGraph
import PatchMedia
import PatchTesting
import Testing

/// Streams as an independent receiver gets them: ffmpeg, which listens before the publisher comes.
@Suite("publisher, transports", .serialized)
struct SinksTransportTests {
    enum Receiver: String, CaseIterable {
        case srt, udp, rtp, rtsp
        /// RTP as a receiver is told of it by a session description (RFC 4566): MPEG-TS is payload type 33.
        case described

        var isTCP: Bool { self == .rtsp }
        /// What a publisher is given.
        func url(_ port: Int) -> String {
            let scheme = self == .described ? "rtp" : rawValue
            return "\(scheme)://127.0.0.1:\(port)" + (self == .rtsp ? "/live" : "")
        }
        /// ffmpeg's arguments.
        func input(_ port: Int, in folder: TemporaryDirectory) throws -> [String] {
            switch self {
            case .srt: return ["-i", url(port) + "?mode=listener"]
            case .rtsp: return ["-rtsp_flags", "listen", "-i", url(port)]
            case .udp, .rtp: return ["-i", url(port)]
            case .described:
                let lines = [
                    "v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=Patchbay", "c=IN IP4 127.0.0.1", "t=0 0",
                    "m=video \(port) RTP/AVP 33",
                ]
                try folder.write("stream.sdp", lines.joined(separator: "\r\n") + "\r\n")
                return ["-protocol_whitelist", "file,udp,rtp", "-i", folder.file("stream.sdp")]
            }
        }
    }

    @Test("every transport arrives at ffmpeg: cadence to the frame, sound in its place", arguments: Receiver.allCases)
    func arrives(at receiver: Receiver) throws {
        let folder = try TemporaryDirectory()
        let (port, file) = (try receiver.isTCP ? Ports.freeTCP() : evenPort(), folder.file("got.ts"))
        let program = try Program(
            "ffmpeg",
            ["-v", "error", "-y", "-analyzeduration", "1M"] + receiver.input(port, in: folder)
                + ["-t", "3", "-c", "copy", file])
        // A listener shows in the kernel's table; connecting to it would use it up.
        let digits = String(port, radix: 16, uppercase: true)
        let entry = ":" + String(repeating: "0", count: 4 - digits.count) + digits + " "
        try eventually("ffmpeg listens") {
            String(decoding: try "/proc/net/\(receiver.isTCP ? "tcp" : "udp")".contentsOfFile(), as: UTF8.self)
                .contains(entry)
        }
        let reports = Reports()
        let sink = try makeSink(
            "publisher",
            ["url": .string(receiver.url(port)), "speed": .string("ultrafast"), "keyframe": .number(0.5)],
            reports: reports)
        let feed = try LiveFeed(sink, flashes: true)
        try program.waitForEnd(within: 30)
        try feed.stop()
        #expect(reports.states.starts(with: ["connecting", "live"]))
        let times = try pictureTimes(file)
        #expect(times.count >= 60)
        expectCadence(times, rate: FrameRate(30), tolerance: 0.0002)
        #expect(try probe(file, "packet=flags", stream: "v").first?.hasPrefix("K") == true)
        // RTSP counts sound and picture from different moments until the first report of the sender.
        let offsets = try soundOffsets(file)
        #expect(!offsets.isEmpty)
        for offset in offsets { #expect(abs(offset) < (receiver == .rtsp ? 0.040 : 0.005), "\(offset) s") }
    }

    /// RTP takes an even port and the one above it.
    private func evenPort() throws -> Int {
        for _ in 0..<100 {
            let port = try Ports.freeUDP()
            if port % 2 == 0 { return port }
        }
        throw TestProblem("no even port")
    }
}
