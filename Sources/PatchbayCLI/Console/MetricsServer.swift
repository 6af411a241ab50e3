internal import CMicrohttpd
import Glibc
import Patchbay

/// Answers Prometheus: `GET /metrics` over HTTP/1.1, by libmicrohttpd on a thread of its own.
///
/// Thread-safety: all members may be called from any thread; `stop` once.
final class MetricsServer: @unchecked Sendable {
    // Unchecked: `server` is libmicrohttpd's, which may be called from any thread.

    /// The port that it listens on; the one asked for, or a free one.
    let port: Int
    private let server: OpaquePointer
    /// What the server's thread is given; it lives until the server has stopped.
    private let page: MetricsPage

    /// - Parameters:
    ///   - address: a port, which is on 127.0.0.1 only, or ADDRESS:PORT with an IPv4 address.
    ///   - metrics: makes the text, at each request.
    /// - Throws: `PatchError.usage` for what is no address, `.network` when it cannot be listened on.
    init(_ address: String, _ metrics: @escaping @Sendable () -> String) throws {
        var place = try Self.place(address)
        let page = MetricsPage(metrics)
        guard let server = patch_http_start(&place, answer, Unmanaged.passUnretained(page).toOpaque()) else {
            throw PatchError(
                .network, "cannot listen on \(address) for --metrics", remedy: "choose another port",
                cause: String(cString: strerror(errno)))
        }
        self.page = page
        self.server = server
        port = Int(patch_http_port(server))
    }

    /// Waits until a request at hand is answered; then there are no more.
    func stop() { MHD_stop_daemon(server) }

    private static func place(_ address: String) throws -> sockaddr_in {
        let parts = address.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let last = parts.last, let number = UInt16(last) else {
            throw PatchError(
                .usage, "--metrics '\(address)' is no address",
                remedy: "write a port, or ADDRESS:PORT such as 0.0.0.0:9100")
        }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = number.bigEndian
        guard inet_pton(AF_INET, parts.count == 2 ? String(parts[0]) : "127.0.0.1", &place.sin_addr) == 1 else {
            throw PatchError(
                .usage, "--metrics '\(address)' has no IPv4 address", remedy: "write one such as 127.0.0.1:9100")
        }
        return place
    }
}

/// Makes what is answered.
private final class MetricsPage: Sendable {
    let text: @Sendable () -> String
    init(_ text: @escaping @Sendable () -> String) { self.text = text }
}

/// libmicrohttpd has a request: its headers at the first call, what it carries at others, its end at the last one.
private let answer: MHD_AccessHandlerCallback = { context, connection, path, method, _, _, uploadSize, seen in
    guard let context, let connection, let path, let method, let seen, let uploadSize else { return .NO }
    let isReading = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0
    // What comes with a question is not wanted; an answer before its end would close the connection.
    if isReading, seen.pointee == nil || uploadSize.pointee > 0 {
        (seen.pointee, uploadSize.pointee) = (context, 0)
        return .YES
    }
    let isMetrics = strcmp(path, "/metrics") == 0 || strcmp(path, "/") == 0
    let page = Unmanaged<MetricsPage>.fromOpaque(context).takeUnretainedValue()
    var body = isReading && isMetrics ? page.text() : "GET /metrics\n"
    let response = body.withUTF8 {
        MHD_create_response_from_buffer($0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let response else { return .NO }
    defer { MHD_destroy_response(response) }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")
    if !isReading { MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") }
    let status = isReading ? (isMetrics ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND) : MHD_HTTP_METHOD_NOT_ALLOWED
    return MHD_queue_response(connection, UInt32(status), response)
}
