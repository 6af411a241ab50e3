import Glibc
import Patchbay

/// Answers Prometheus: `GET /metrics` over HTTP/1.1, one request after the other, on a thread of its own.
///
/// Thread-safety: all members may be called from any thread.
final class MetricsServer: Sendable {
    /// The port that it listens on; the one asked for, or a free one.
    let port: Int
    private let descriptor: Int32
    private let thread: PosixThread
    private static let requestLimit = 8192

    /// - Parameters:
    ///   - address: a port, which is on 127.0.0.1 only, or ADDRESS:PORT with an IPv4 address.
    ///   - metrics: makes the text, at each request.
    /// - Throws: `PatchError.usage` for what is no address, `.network` when it cannot be listened on.
    init(_ address: String, _ metrics: @escaping @Sendable () -> String) throws {
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
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard descriptor >= 0, status else {
            let cause = String(cString: strerror(errno))
            close(descriptor)
            throw PatchError(
                .network, "cannot listen on \(address) for --metrics", remedy: "choose another port", cause: cause)
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: place.sin_port))
        thread = try PosixThread(name: "metrics") {
            while true {
                let peer = accept(descriptor, nil, nil)
                if peer < 0 {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                Self.answer(peer, metrics)
                close(peer)
            }
        }
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        thread.join()
        close(descriptor)
    }

    /// A peer that is slow loses its answer, not the others theirs.
    private static func answer(_ peer: Int32, _ metrics: () -> String) {
        var limit = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let deadline = monotonicNanoseconds() + 4_000_000_000
        var request: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1024)
        while !ends(request), request.count < requestLimit, monotonicNanoseconds() < deadline {
            let count = recv(peer, &chunk, chunk.count, 0)
            guard count > 0 else { return }
            request += chunk[..<count]
        }
        let line = String(decoding: request.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self).split(separator: " ")
        let isMetrics = line.count >= 2 && line[0] == "GET" && (line[1] == "/metrics" || line[1] == "/")
        let body = isMetrics ? metrics() : "GET /metrics\n"
        let text =
            "HTTP/1.1 \(isMetrics ? "200 OK" : "404 Not Found")\r\n"
            + "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Connection: close\r\n\r\n" + body
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty, monotonicNanoseconds() < deadline {
            let count = bytes.withUnsafeBytes { send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func ends(_ request: [UInt8]) -> Bool {
        request.suffix(4) == [13, 10, 13, 10] || request.suffix(2) == [10, 10]
    }
}
