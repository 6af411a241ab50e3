import Glibc
import PatchMedia

/// A real nginx with its RTMP module on 127.0.0.1, the service that a broadcast goes to.
///
/// `rtmp://127.0.0.1:PORT/live/KEY` takes any key; `/guarded/KEY` takes only the key that `init` was given and refuses
/// others as a streaming service does (on_publish answers 403). Ended when nobody holds it any more.
/// Thread-safety: use from one thread at a time.
public final class MediaServer {
    public let port: Int
    private let notifyPort: Int
    private let directory: TemporaryDirectory
    private var program: Program?

    /// - Throws: `TestProblem` when nginx or its module is missing or does not come up.
    public init(streamKey: String = "right-key") throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        port = try Ports.freeTCP()
        var second = try Ports.freeTCP()
        while second == port { second = try Ports.freeTCP() }
        notifyPort = second
        let module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
        guard access(module, R_OK) == 0 else { throw TestProblem("\(module) is missing: run scripts/setup") }
        try directory.write(
            "nginx.conf",
            """
            load_module \(module);
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid \(directory.file("nginx.pid"));
            error_log \(directory.file("error.log")) info;
            events { worker_connections 64; }
            rtmp {
                access_log off;
                server {
                    listen 127.0.0.1:\(port);
                    chunk_size 4096;
                    notify_method get;
                    application live { live on; wait_key on; }
                    application guarded { live on; on_publish http://127.0.0.1:\(notifyPort)/publish; }
                }
            }
            http {
                access_log off;
                client_body_temp_path \(directory.file("body"));
                proxy_temp_path \(directory.file("proxy"));
                fastcgi_temp_path \(directory.file("fastcgi"));
                uwsgi_temp_path \(directory.file("uwsgi"));
                scgi_temp_path \(directory.file("scgi"));
                server {
                    listen 127.0.0.1:\(notifyPort);
                    location /publish {
                        if ($arg_name = "\(streamKey)") { return 200; }
                        return 403;
                    }
                }
            }
            """)
        try start()
    }

    /// The address to publish to and to play from.
    public func url(_ key: String = "stream", application: String = "live") -> String {
        "rtmp://127.0.0.1:\(port)/\(application)/\(key)"
    }

    /// Starts the server again after `stop` or `crash`, on the same port.
    /// - Throws: `TestProblem` when it does not accept connections within 10 s.
    public func start() throws {
        guard program == nil else { return }
        let program = try Program(
            "nginx",
            [
                "-p", directory.path, "-c", directory.file("nginx.conf"), "-e", directory.file("error.log"), "-g",
                "daemon off;",
            ],
            environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        self.program = program
        try eventually("nginx accepts connections (\(log()))") {
            guard program.isRunning else { throw TestProblem("nginx ended: \(log())") }
            return Ports.accepts(port)
        }
    }

    /// Ends the server as an operator would: connections are closed.
    public func stop() {
        program?.signal(SIGTERM)
        _ = try? program?.waitForEnd(within: 10)
        program = nil
    }

    /// Ends the server as a power cut does for the process: at once.
    public func crash() {
        program?.signal(SIGKILL)
        _ = try? program?.waitForEnd(within: 10)
        program = nil
    }

    /// Freezes the server without closing connections, as a stalled network does; `thaw` lets it go on.
    public func freeze() { program?.signal(SIGSTOP) }
    public func thaw() { program?.signal(SIGCONT) }

    /// The server's own log.
    public func log() -> String {
        (try? String(decoding: directory.file("error.log").contentsOfFile(), as: UTF8.self)) ?? "no log"
    }

    deinit { crash() }
}
