import Glibc

/// Ports on 127.0.0.1 that nobody uses at this moment.
public enum Ports {
    /// - Throws: `TestProblem` when the system gives none.
    public static func freeTCP() throws -> Int { try free(Int32(SOCK_STREAM.rawValue)) }
    /// - Throws: `TestProblem` when the system gives none.
    public static func freeUDP() throws -> Int { try free(Int32(SOCK_DGRAM.rawValue)) }

    private static func free(_ kind: Int32) throws -> Int {
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw TestProblem("socket: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else { throw TestProblem("bind: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Whether somebody accepts connections on this TCP port.
    public static func accepts(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = loopback(port: port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return address
    }
}

/// Tries `condition` every 10 ms until it holds, for what gives no event to wait for (another program's port, a file).
/// - Throws: `TestProblem` with `what` when it does not hold within `timeout` seconds.
public func eventually(_ what: String, within timeout: Double = 10, _ condition: () throws -> Bool) throws {
    var waited = 0.0
    while try !condition() {
        guard waited < timeout else { throw TestProblem("not within \(timeout) s: \(what)") }
        usleep(10_000)
        waited += 0.01
    }
}
