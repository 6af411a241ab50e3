import Glibc
import PatchMedia
import Synchronization

/// A TCP connection through 127.0.0.1 that passes on at most so many bytes a second towards the server, and all that comes back.
///
/// Thread-safety: all members may be called from any thread.
public final class ThrottlingProxy: Sendable {
    public let port: Int
    /// Bytes a second towards the server; 0 passes nothing.
    public let rate: Atomic<Int>
    /// Bytes that went towards the server.
    public let passed = Atomic<Int>(0)
    private let listener: Int32
    private let isStopped = Atomic(false)

    public init(to server: Int, rate: Int) throws {
        self.rate = Atomic(rate)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        // A small window, as a slow link has; accepted sockets inherit it.
        var size: Int32 = 32_768
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, 4)
        // Loopback's segments would be larger than the window, which then opens five times a second only.
        var segment: Int32 = 1400
        setsockopt(listener, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, 4)
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) + listen(listener, 4) + getsockname(listener, $0, &length)
            }
        }
        guard status == 0 else { throw TestProblem("no listening socket") }
        port = Int(UInt16(bigEndian: address.sin_port))
        _ = try PosixThread(name: "proxy") { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                serve(client, server)
            }
        }
    }

    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ client: Int32, _ server: Int) {
        let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(server)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(client)
            close(upstream)
            return
        }
        let back = try? PosixThread(name: "proxy-back") {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = read(upstream, &buffer, buffer.count)
                guard count > 0, write(client, buffer, count) == count else { break }
            }
            shutdown(client, Int32(SHUT_RDWR))
        }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var (tokens, last) = (0.0, monotonicNanoseconds())
        while !isStopped.load(ordering: .relaxed) {
            let now = monotonicNanoseconds()
            // A tenth of a second may be made up for, so that a busy machine does not make the link slower than it says.
            let perSecond = Double(rate.load(ordering: .relaxed))
            tokens = min(tokens + Double(now - last) / 1e9 * perSecond, perSecond / 10)
            last = now
            guard tokens >= 1000 else {
                usleep(5000)
                continue
            }
            let count = read(client, &buffer, min(buffer.count, Int(tokens)))
            guard count > 0, write(upstream, buffer, count) == count else { break }
            passed.add(count, ordering: .relaxed)
            tokens -= Double(count)
        }
        shutdown(upstream, Int32(SHUT_RDWR))
        back?.join()
        close(client)
        close(upstream)
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return address
    }
}
