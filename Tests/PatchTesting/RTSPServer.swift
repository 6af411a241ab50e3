import Glibc
import PatchMedia

/// A real RTSP server on 127.0.0.1: GStreamer's, which takes streams (RECORD) and gives one (PLAY).
///
/// What is published to `/take` becomes a Matroska file a session; `/cam` is a moving picture of 320×180 at 30 a second, in
/// H.264, with a tone in Opus. Ended when nobody holds it any more.
/// Thread-safety: use from one thread at a time.
public final class RTSPServer {
    public let port: Int
    private let directory: TemporaryDirectory
    private var program: Program?

    /// - Throws: `TestProblem` when GStreamer's server is missing or does not come up.
    public init() throws {
        directory = try TemporaryDirectory()
        port = try Ports.freeTCP()
        try start()
    }

    public func url(_ mount: String) -> String { "rtsp://127.0.0.1:\(port)/\(mount)" }

    /// What was published so far, by file, oldest first.
    public var taken: [String] {
        guard let listing = try? Program.run("ls", ["-tr", directory.path]).text else { return [] }
        return listing.split(separator: "\n").filter { $0.hasSuffix(".mkv") }.map { directory.file(String($0)) }
    }

    /// Starts the server, also again after `crash`, on the same port.
    /// - Throws: `TestProblem` when it does not accept connections within 10 s.
    public func start() throws {
        guard program == nil else { return }
        // The system's Python: GStreamer's bindings are a Debian package.
        let program = try Program("/usr/bin/python3", ["-c", Self.script, "\(port)", directory.path])
        self.program = program
        let port = port
        try eventually("the RTSP server accepts connections") {
            guard program.isRunning else {
                throw TestProblem("it ended: \(String(decoding: program.outputSoFar.errors, as: UTF8.self))")
            }
            return Ports.accepts(port)
        }
    }

    /// Ends the server as a power cut does.
    public func crash() {
        program?.signal(SIGKILL)
        _ = try? program?.waitForEnd(within: 10)
        program = nil
    }

    deinit { crash() }

    private static let script = """
        import os, sys
        import gi
        gi.require_version("Gst", "1.0")
        gi.require_version("GstRtspServer", "1.0")
        from gi.repository import GLib, Gst, GstRtspServer
        Gst.init(None)
        port, folder = sys.argv[1:]
        class Take(GstRtspServer.RTSPMediaFactory):
            count = 0
            def do_create_element(self, url):
                Take.count += 1
                name = f"{folder}/{os.getpid()}-{Take.count}.mkv"
                return Gst.parse_launch(
                    "( rtph264depay name=depay0 ! h264parse ! queue ! matroskamux name=mux streamable=true"
                    f" ! filesink location={name} buffer-mode=unbuffered sync=false rtpmp4gdepay name=depay1 ! aacparse ! queue ! mux. )")
        take = Take()
        take.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
        cam = GstRtspServer.RTSPMediaFactory()
        cam.set_launch(
            "( videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=180,framerate=30/1"
            " ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=30 ! rtph264pay name=pay0 pt=96 config-interval=1"
            " audiotestsrc is-live=true freq=500 ! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay name=pay1 pt=97 )")
        server = GstRtspServer.RTSPServer()
        server.set_address("127.0.0.1")
        server.set_service(port)
        server.get_mount_points().add_factory("/take", take)
        server.get_mount_points().add_factory("/cam", cam)
        if server.attach(None) == 0: sys.exit("no port")
        GLib.MainLoop().run()
        """
}
